//! An independent evaluation of the glTF 2.0 standard in f64: what a file says its vertices are at a moment.
//!
//! It shares nothing with the engine or the reader, so that a mistake cannot hide in both. It is written for plainness,
//! not speed, takes the platform's sines, and uses no more of the standard than geometry, skins and motion need.

#![allow(dead_code, reason = "each test file uses its own part of it")]
#![allow(clippy::disallowed_methods, reason = "the judge need not give the same bits everywhere")]

pub(crate) mod build;
#[path = "../common/data.rs"]
pub(crate) mod data;
pub(crate) mod file;
pub(crate) mod hostile;
pub(crate) mod matrix;
mod motion;

use file::{File, index, list, numbers};
use matrix::{Matrix, Quat, Vec3};
use motion::{Animation, Property, quat};
use serde_json::Value;
use std::path::Path;

/// One primitive of one node, deformed, in scene space.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Primitive {
    pub(crate) node: usize,
    pub(crate) primitive: usize,
    pub(crate) positions: Vec<Vec3>,
    pub(crate) normals: Option<Vec<Vec3>>,
    /// Vertices without any weight: the standard does not say where they are.
    pub(crate) zero_weight: Vec<bool>,
}

/// A file, opened.
pub(crate) struct Judge {
    pub(crate) json: Value,
    nodes: Vec<Node>,
    /// Parents before children.
    order: Vec<usize>,
    meshes: Vec<Vec<Geometry>>,
    skins: Vec<Skin>,
    animations: Vec<Animation>,
}

struct Node {
    local: Local,
    parent: Option<usize>,
    mesh: Option<usize>,
    skin: Option<usize>,
    /// Default weights of its mesh's targets.
    weights: Vec<f64>,
}

#[derive(Clone, Copy)]
enum Local {
    Matrix(Matrix),
    Trs(Vec3, Quat, Vec3),
}

/// A primitive as stored.
struct Geometry {
    positions: Vec<Vec3>,
    normals: Option<Vec<Vec3>>,
    targets: Vec<Shift>,
    /// Per vertex, of all sets, weights above zero only and summing to one.
    influences: Vec<Vec<(usize, f64)>>,
    triangles: Vec<[usize; 3]>,
}

/// What a morph target adds.
struct Shift {
    positions: Option<Vec<Vec3>>,
    normals: Option<Vec<Vec3>>,
}

struct Skin {
    joints: Vec<usize>,
    inverse_bind: Vec<Matrix>,
}

/// Everything that moves, at one moment.
struct Moment {
    globals: Vec<Matrix>,
    weights: Vec<Vec<f64>>,
}

impl Judge {
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        Self::parse(&bytes, path.parent().unwrap_or(Path::new(".")))
    }

    /// A file in memory; `folder` holds the files beside it.
    pub(crate) fn parse(bytes: &[u8], folder: &Path) -> Result<Self, String> {
        let file = File::parse(bytes, folder)?;
        let json = &file.json;
        let meshes: Vec<_> = list(json, "meshes")
            .iter()
            .enumerate()
            .map(|(m, mesh)| {
                let primitives = list(mesh, "primitives").iter().map(|p| Geometry::read(&file, p));
                primitives.collect::<Result<Vec<_>, _>>().map_err(|e| format!("mesh {m}: {e}"))
            })
            .collect::<Result<_, _>>()?;
        let mut nodes: Vec<Node> =
            list(json, "nodes").iter().map(|n| Node::read(json, n, &meshes)).collect::<Result<_, _>>()?;
        for (parent, node) in list(json, "nodes").iter().enumerate() {
            for child in list(node, "children") {
                let child =
                    file::whole(child).and_then(|c| nodes.get_mut(c)).ok_or("a child that is not there")?;
                if child.parent.replace(parent).is_some() {
                    return Err("a node with two parents".into());
                }
            }
        }
        let order = parents_first(&nodes)?;
        let skins: Vec<_> = list(json, "skins")
            .iter()
            .map(|s| Skin::read(&file, s, nodes.len()))
            .collect::<Result<_, _>>()?;
        let animations: Vec<Animation> =
            list(json, "animations").iter().map(|a| Animation::read(&file, a)).collect::<Result<_, _>>()?;
        for channel in animations.iter().flat_map(|a| &a.channels) {
            let node = nodes.get(channel.node).ok_or("a channel of a node that is not there")?;
            if channel.property != Property::Weights && matches!(node.local, Local::Matrix(_)) {
                return Err(format!("node {} has a matrix and is animated", channel.node));
            }
        }
        let judge = Self { json: file.json, nodes, order, meshes, skins, animations };
        for node in judge.nodes.iter().filter(|n| n.skin.is_some()) {
            let skin = node.skin.and_then(|s| judge.skins.get(s)).ok_or("a skin that is not there")?;
            let bound = node.mesh.map_or(&[][..], |m| &judge.meshes[m]).iter().flat_map(|g| &g.influences);
            if bound.flatten().any(|&(joint, _)| joint >= skin.joints.len()) {
                return Err("a weighted joint that is not in the skin".into());
            }
        }
        Ok(judge)
    }

    /// Name and time of the last key of each animation.
    pub(crate) fn animations(&self) -> Vec<(&str, f64)> {
        self.animations.iter().map(|a| (a.name.as_str(), a.duration)).collect()
    }

    /// Every primitive of every node that has a mesh and a skin, by node, then primitive.
    pub(crate) fn skinned(&self, animation: Option<usize>, time: f64) -> Vec<Primitive> {
        let moment = self.moment(animation, time);
        self.each(true, |node, geometry| {
            let skin = &self.skins[self.nodes[node].skin.unwrap_or(0)];
            let matrices: Vec<Matrix> = skin
                .joints
                .iter()
                .zip(&skin.inverse_bind)
                .map(|(&j, ibm)| moment.globals[j].times(ibm))
                .collect();
            let blend = |influences: &Vec<(usize, f64)>| {
                if influences.is_empty() {
                    return Matrix::IDENTITY;
                }
                let mut blend = Matrix::ZERO;
                influences.iter().for_each(|&(joint, weight)| blend.add(&matrices[joint], weight));
                blend
            };
            geometry.moved(&moment.weights[node], |v| blend(&geometry.influences[v]))
        })
    }

    /// Every primitive of every node that has a mesh and no skin, by node, then primitive.
    pub(crate) fn unskinned(&self, animation: Option<usize>, time: f64) -> Vec<Primitive> {
        let moment = self.moment(animation, time);
        self.each(false, |node, geometry| geometry.moved(&moment.weights[node], |_| moment.globals[node]))
    }

    /// The bind shape `G v` of what is skinned, in scene space, morphs at their defaults: `G` is the topmost joint's
    /// global times inverse bind matrix in the default pose.
    pub(crate) fn rest(&self) -> Vec<Primitive> {
        let moment = self.moment(None, 0.0);
        self.each(true, |node, geometry| {
            let skin = &self.skins[self.nodes[node].skin.unwrap_or(0)];
            let top = (0..skin.joints.len()).min_by_key(|&k| self.depth(skin.joints[k]));
            let g =
                top.map_or(Matrix::IDENTITY, |k| moment.globals[skin.joints[k]].times(&skin.inverse_bind[k]));
            geometry.moved(&moment.weights[node], |_| g)
        })
    }

    /// Scene from node, for each node.
    pub(crate) fn globals(&self, animation: Option<usize>, time: f64) -> Vec<Matrix> {
        self.moment(animation, time).globals
    }

    /// Triangles of a primitive, as listed by `skinned` and `unskinned`.
    pub(crate) fn triangles(&self, of: &Primitive) -> &[[usize; 3]] {
        self.nodes[of.node].mesh.map_or(&[], |m| &self.meshes[m][of.primitive].triangles)
    }

    fn depth(&self, mut node: usize) -> usize {
        let mut depth = 0;
        while let Some(parent) = self.nodes[node].parent {
            (node, depth) = (parent, depth + 1);
        }
        depth
    }

    fn each(
        &self,
        skinned: bool,
        deform: impl Fn(usize, &Geometry) -> (Vec<Vec3>, Option<Vec<Vec3>>),
    ) -> Vec<Primitive> {
        let mut out = Vec::new();
        for (node, about) in self.nodes.iter().enumerate() {
            let Some(mesh) = about.mesh.filter(|_| about.skin.is_some() == skinned) else { continue };
            for (primitive, geometry) in self.meshes[mesh].iter().enumerate() {
                let (positions, normals) = deform(node, geometry);
                let zero_weight = geometry.influences.iter().map(Vec::is_empty).collect();
                out.push(Primitive { node, primitive, positions, normals, zero_weight });
            }
        }
        out
    }

    fn moment(&self, animation: Option<usize>, time: f64) -> Moment {
        let mut locals: Vec<Local> = self.nodes.iter().map(|n| n.local).collect();
        let mut weights: Vec<Vec<f64>> = self.nodes.iter().map(|n| n.weights.clone()).collect();
        for channel in animation.map_or(&[][..], |a| &self.animations[a].channels) {
            let value = channel.at(time);
            let vector = || -> Vec3 { std::array::from_fn(|k| value[k]) };
            if channel.property == Property::Weights {
                weights[channel.node].clone_from(&value);
            } else if let Local::Trs(t, r, s) = &mut locals[channel.node] {
                match channel.property {
                    Property::Translation => *t = vector(),
                    Property::Rotation => *r = quat(&value),
                    Property::Scale => *s = vector(),
                    Property::Weights => {}
                }
            }
        }
        let mut globals = vec![Matrix::IDENTITY; self.nodes.len()];
        for &node in &self.order {
            let local = match locals[node] {
                Local::Matrix(m) => m,
                Local::Trs(t, r, s) => Matrix::from_trs(t, r, s),
            };
            globals[node] = self.nodes[node].parent.map_or(local, |p| globals[p].times(&local));
        }
        Moment { globals, weights }
    }
}

impl Node {
    fn read(document: &Value, json: &Value, meshes: &[Vec<Geometry>]) -> Result<Self, String> {
        let several = |key: &str, default: &[f64]| match json.get(key) {
            None => Ok(default.to_vec()),
            Some(value) => numbers(value)
                .filter(|n| n.len() == default.len())
                .ok_or(format!("a node's {key} is {value}")),
        };
        let local = if json.get("matrix").is_some() {
            Local::Matrix(Matrix::from_columns(&several("matrix", &[0.0; 16])?).ok_or("a node's matrix")?)
        } else {
            let vector = |v: Vec<f64>| -> Vec3 { std::array::from_fn(|k| v[k]) };
            let rotation = quat(&several("rotation", &[0.0, 0.0, 0.0, 1.0])?);
            Local::Trs(
                vector(several("translation", &[0.0; 3])?),
                rotation,
                vector(several("scale", &[1.0; 3])?),
            )
        };
        let mesh = index(json, "mesh")?;
        let mut weights = Vec::new();
        if let Some(mesh) = mesh {
            let targets =
                meshes.get(mesh).ok_or("a mesh that is not there")?.iter().map(|g| g.targets.len()).max();
            let of_mesh = list(document, "meshes").get(mesh).and_then(|m| m.get("weights"));
            weights = match json.get("weights").or(of_mesh) {
                None => vec![0.0; targets.unwrap_or(0)],
                Some(given) => numbers(given).ok_or("morph weights")?,
            };
        }
        Ok(Self { local, parent: None, mesh, skin: index(json, "skin")?, weights })
    }
}

impl Skin {
    fn read(file: &File, json: &Value, nodes: usize) -> Result<Self, String> {
        let joints: Vec<usize> =
            list(json, "joints").iter().map(file::whole).collect::<Option<_>>().ok_or("a skin's joints")?;
        if joints.iter().any(|&j| j >= nodes) {
            return Err("a joint that is not there".into());
        }
        let mut inverse_bind = vec![Matrix::IDENTITY; joints.len()];
        if let Some(accessor) = index(json, "inverseBindMatrices")? {
            let rows = file.accessor(accessor)?.rows::<16>()?;
            if rows.len() < joints.len() {
                return Err("fewer bind matrices than joints".into());
            }
            for (matrix, row) in inverse_bind.iter_mut().zip(&rows) {
                *matrix = Matrix::from_columns(row).ok_or("a bind matrix")?;
            }
        }
        Ok(Self { joints, inverse_bind })
    }
}

impl Geometry {
    fn read(file: &File, json: &Value) -> Result<Self, String> {
        let vectors =
            |of: &Value, name: &str| index(of, name)?.map(|a| file.accessor(a)?.rows::<3>()).transpose();
        let attributes = json.get("attributes").ok_or("a primitive without attributes")?;
        let positions = vectors(attributes, "POSITION")?.unwrap_or_default();
        let normals = vectors(attributes, "NORMAL")?;
        let targets = list(json, "targets")
            .iter()
            .map(|t| Ok(Shift { positions: vectors(t, "POSITION")?, normals: vectors(t, "NORMAL")? }))
            .collect::<Result<Vec<_>, String>>()?;

        let mut influences = vec![Vec::new(); positions.len()];
        let mut sets = 0;
        while let Some(joints) = index(attributes, &format!("JOINTS_{sets}"))? {
            let weights = index(attributes, &format!("WEIGHTS_{sets}"))?.ok_or("joints without weights")?;
            let (joints, weights) =
                (file.accessor(joints)?.rows::<4>()?, file.accessor(weights)?.rows::<4>()?);
            if joints.len() != positions.len() || weights.len() != positions.len() {
                return Err("as many joints and weights as positions belong here".into());
            }
            for (v, entries) in influences.iter_mut().enumerate() {
                let pairs = joints[v].iter().zip(&weights[v]);
                entries.extend(pairs.filter(|p| *p.1 != 0.0).map(|(&j, &w)| (j as usize, w)));
            }
            sets += 1;
        }
        for entries in &mut influences {
            let sum: f64 = entries.iter().map(|e| e.1).sum();
            entries.iter_mut().for_each(|e| e.1 /= sum);
        }
        let counts = normals.iter().chain(targets.iter().flat_map(|t| t.positions.iter().chain(&t.normals)));
        if counts.map(Vec::len).any(|n| n != positions.len()) {
            return Err("attributes of different lengths".into());
        }

        let corners: Vec<usize> = match index(json, "indices")? {
            Some(accessor) => file.accessor(accessor)?.values.iter().map(|&i| i as usize).collect(),
            None => (0..positions.len()).collect(),
        };
        let triangles = match index(json, "mode")?.unwrap_or(4) {
            4 => corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
            5 => (2..corners.len())
                .map(|i| [corners[i - 2], corners[i - 1 + i % 2], corners[i - i % 2]])
                .collect(),
            6 => (2..corners.len()).map(|i| [corners[i - 1], corners[i], corners[0]]).collect(),
            _ => Vec::new(),
        };
        if triangles.iter().flatten().any(|&v| v >= positions.len()) {
            return Err("a triangle of vertices that are not there".into());
        }
        Ok(Self { positions, normals, targets, influences, triangles })
    }

    /// Morphed, then moved by each vertex's matrix.
    fn moved(&self, weights: &[f64], matrix: impl Fn(usize) -> Matrix) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
        let morphed = |base: &[Vec3], of: fn(&Shift) -> &Option<Vec<Vec3>>| {
            let mut out = base.to_vec();
            for (target, &weight) in self.targets.iter().zip(weights).filter(|t| *t.1 != 0.0) {
                for (p, d) in out.iter_mut().zip(of(target).iter().flatten()) {
                    (0..3).for_each(|k| p[k] += weight * d[k]);
                }
            }
            out
        };
        let mut positions = morphed(&self.positions, |t| &t.positions);
        let mut normals = self.normals.as_ref().map(|n| morphed(n, |t| &t.normals));
        for (v, p) in positions.iter_mut().enumerate() {
            let matrix = matrix(v);
            *p = matrix.point(*p);
            if let Some(normals) = &mut normals {
                normals[v] = matrix.normal(normals[v]);
            }
        }
        (positions, normals)
    }
}

fn parents_first(nodes: &[Node]) -> Result<Vec<usize>, String> {
    let mut order: Vec<usize> = (0..nodes.len()).filter(|&n| nodes[n].parent.is_none()).collect();
    let mut children = vec![Vec::new(); nodes.len()];
    for (node, about) in nodes.iter().enumerate() {
        if let Some(parent) = about.parent {
            children[parent].push(node);
        }
    }
    let mut done = 0;
    while let Some(&node) = order.get(done) {
        order.extend(&children[node]);
        done += 1;
    }
    if done < nodes.len() { Err("nodes in a loop".into()) } else { Ok(order) }
}

/// Length of the diagonal of the box around all positions.
pub(crate) fn diagonal(primitives: &[Primitive]) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    for p in primitives.iter().flat_map(|p| &p.positions) {
        for k in 0..3 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    if low[0] <= high[0] { matrix::distance(low, high) } else { 0.0 }
}

/// How far a point is from where it belongs, over `size`; infinitely, where it is no number.
pub(crate) fn off(found: Vec3, truth: Vec3, size: f64) -> f64 {
    let off = matrix::distance(found, truth) / size;
    if off.is_nan() { f64::INFINITY } else { off }
}

/// Files of the set that are compressed, which the judge does not know, and the extension that they require.
const COMPRESSED: [(&str, &str); 2] = [
    ("CesiumMan-Draco/CesiumMan.gltf", "KHR_draco_mesh_compression"),
    ("MeshoptCubeTest/MeshoptCubeTest.gltf", "KHR_meshopt_compression"),
];

/// A file of the set; `None` where it is one of the compressed. No other file may fail to open.
pub(crate) fn open(path: &Path) -> Result<Option<Judge>, String> {
    let extension = COMPRESSED.iter().find(|(name, _)| path.ends_with(name)).map(|c| c.1);
    match (Judge::open(path), extension) {
        (Ok(judge), None) => Ok(Some(judge)),
        (Err(why), Some(extension)) if why == format!("requires {extension:?}") => Ok(None),
        (Err(why), _) => Err(format!("the judge does not open it: {why}")),
        (Ok(_), Some(extension)) => Err(format!("it is listed as one that requires {extension}")),
    }
}

/// As [`open`], and `None` also where no node of the file has a skin.
pub(crate) fn open_skinned(path: &Path) -> Result<Option<Judge>, String> {
    let Some(judge) = open(path)? else { return Ok(None) };
    let has_skin = list(&judge.json, "nodes").iter().any(|n| n.get("skin").is_some());
    match (has_skin, judge.rest().is_empty()) {
        (true, false) => Ok(Some(judge)),
        (false, true) => Ok(None),
        _ => Err("a node has a skin, but the judge skins nothing".into()),
    }
}
