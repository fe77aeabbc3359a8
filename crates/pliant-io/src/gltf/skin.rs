//! Skins to a skeleton and the slots that weights refer to.

use super::accessor::Store;
use super::schema::{Node, Root};
use super::tree::Tree;
use crate::text::named;
use crate::{Problem, ReadError};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use pliant::asset::{Joint, Local, Skeleton, Slot};
use std::collections::HashMap;

/// A matrix whose columns span less than this part of the box of their lengths is flat: it cannot be undone.
const FLAT: f64 = 1e-9;

/// All skins of a file as one skeleton.
pub(crate) struct Rig {
    pub(crate) skeleton: Skeleton,
    pub(crate) joint_nodes: Vec<usize>,
    pub(crate) joint_of_node: Vec<Option<u32>>,
    pub(crate) slots: Vec<Slot>,
    /// For each skin that a node uses.
    pub(crate) skins: Vec<Option<SkinRig>>,
}

/// How the meshes of one skin go to rest.
pub(crate) struct SkinRig {
    /// `G`: from the mesh's own coordinates to rest, in scene space.
    pub(crate) rest_from_mesh: DAffine3,
    /// For each joint of the skin.
    pub(crate) slots: Vec<u16>,
}

fn affine(m: [f64; 16]) -> DAffine3 {
    let column = |c: usize| DVec3::new(m[c * 4], m[c * 4 + 1], m[c * 4 + 2]);
    DAffine3 { matrix3: DMat3::from_cols(column(0), column(1), column(2)), translation: column(3) }
}

/// The inverse, unless the matrix is flat.
pub(crate) fn inverse(m: DAffine3) -> Option<DAffine3> {
    let box_of_columns = m.matrix3.x_axis.length() * m.matrix3.y_axis.length() * m.matrix3.z_axis.length();
    if m.matrix3.determinant().abs() <= FLAT * box_of_columns {
        return None;
    }
    Some(m.inverse()).filter(|i| i.is_finite())
}

fn local(node: &Node<'_>, animated: bool) -> Option<Local> {
    if let Some(m) = &node.matrix {
        let m = affine(**m);
        if !animated {
            return Some(Local::Matrix(m));
        }
        inverse(m)?;
        let (scale, rotation, translation) = m.to_scale_rotation_translation();
        return Some(Local::Trs { translation, rotation, scale });
    }
    let rotation = node.rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    Some(Local::Trs {
        translation: node.translation.map_or(DVec3::ZERO, DVec3::from_array),
        rotation: rotation / rotation.length(),
        scale: node.scale.map_or(DVec3::ONE, DVec3::from_array),
    })
}

/// The default transforms of the nodes: local and global.
fn transforms(root: &Root<'_>, tree: &Tree) -> Result<(Vec<Local>, Vec<DAffine3>), ReadError> {
    let mut animated = vec![false; root.nodes.len()];
    for channel in root.animations.iter().flat_map(|a| a.channels.iter()) {
        if matches!(&*channel.target.path, "translation" | "rotation" | "scale")
            && let Some(mark) = channel.target.node.and_then(|n| animated.get_mut(n.0))
        {
            *mark = true;
        }
    }
    let mut locals = Vec::with_capacity(root.nodes.len());
    for (n, node) in root.nodes.iter().enumerate() {
        let flat = || {
            Problem::new(
                format!("nodes[{n}].matrix"),
                "an animated node has a matrix that cannot be taken apart",
            )
            .hint("export with translation, rotation and scale")
        };
        locals.push(local(node, animated[n]).ok_or_else(flat)?);
    }
    let mut globals = vec![DAffine3::IDENTITY; root.nodes.len()];
    for &n in &tree.order {
        let local = locals[n].to_affine();
        globals[n] = tree.parent[n].map_or(local, |p| globals[p] * local);
    }
    Ok((locals, globals))
}

/// Bit pattern of a matrix: equal for equal matrices.
fn bits(m: &DAffine3) -> [u64; 12] {
    m.to_cols_array().map(f64::to_bits)
}

impl Rig {
    pub(crate) fn new(root: &Root<'_>, tree: &Tree, store: &Store<'_>) -> Result<Self, ReadError> {
        let (locals, globals) = transforms(root, tree)?;
        let mut wanted = vec![false; root.nodes.len()];
        // Joints, and the nodes that carry rigid meshes: pictures show what rides on the skeleton.
        let joints = root.skins.iter().flat_map(|s| s.joints.iter().map(|j| j.0));
        let is_prop =
            |n: &usize| root.nodes[*n].mesh.is_some() && root.nodes[*n].skin.is_none() && tree.in_scene[*n];
        for node in joints.chain((0..root.nodes.len()).filter(is_prop)) {
            let mut at = Some(node);
            while let Some(n) = at.filter(|&n| !wanted[n]) {
                wanted[n] = true;
                at = tree.parent[n];
            }
        }
        let joint_nodes: Vec<usize> = tree.order.iter().copied().filter(|&n| wanted[n]).collect();
        let mut joint_of_node = vec![None; root.nodes.len()];
        for (joint, &node) in joint_nodes.iter().enumerate() {
            joint_of_node[node] = Some(joint as u32);
        }

        let mut used = vec![false; root.skins.len()];
        for node in root.nodes.iter().filter(|n| n.mesh.is_some()) {
            if let Some(skin) = node.skin {
                used[skin.0] = true;
            }
        }
        let mut slots: Vec<Slot> = Vec::new();
        let mut known: HashMap<(u32, [u64; 12]), u16> = HashMap::new();
        let mut skins = Vec::with_capacity(root.skins.len());
        for (s, skin) in root.skins.iter().enumerate() {
            if !used[s] {
                skins.push(None);
                continue;
            }
            let mut binds = match skin.inverse_bind_matrices {
                None => Vec::new(),
                Some(a) => store
                    .elements(root, a.0)
                    .ok_or_else(|| Problem::new(format!("skins[{s}].inverseBindMatrices"), "has no data"))?
                    .rows::<f32, 16>()
                    .take(skin.joints.len())
                    .map(|m| affine(m.map(f64::from)))
                    .collect(),
            };
            binds.resize(skin.joints.len(), DAffine3::IDENTITY);
            let mut topmost: Vec<usize> = (0..skin.joints.len()).collect();
            topmost.sort_by_key(|&k| tree.depth[skin.joints[k].0]);
            let rest = topmost.iter().find_map(|&k| {
                let rest_from_mesh = globals[skin.joints[k].0] * binds[k];
                Some((rest_from_mesh, inverse(rest_from_mesh)?)).filter(|r| r.0.is_finite())
            });
            // Where all joints are folded away by default (scale 0), the mesh's own space serves as rest.
            let (rest_from_mesh, mesh_from_rest) = rest.unwrap_or((DAffine3::IDENTITY, DAffine3::IDENTITY));
            let mut skin_slots = Vec::with_capacity(skin.joints.len());
            for (joint, bind) in skin.joints.iter().zip(&binds) {
                let joint = joint_of_node[joint.0].unwrap_or(0);
                let joint_from_rest = *bind * mesh_from_rest;
                let next = slots.len();
                let slot = match known.entry((joint, bits(&joint_from_rest))) {
                    std::collections::hash_map::Entry::Occupied(found) => *found.get(),
                    std::collections::hash_map::Entry::Vacant(free) => {
                        let slot = u16::try_from(next).map_err(|_| {
                            Problem::new("skins", "the skins bind joints in more than 65536 ways")
                        })?;
                        slots.push(Slot { joint, joint_from_rest });
                        *free.insert(slot)
                    }
                };
                skin_slots.push(slot);
            }
            skins.push(Some(SkinRig { rest_from_mesh, slots: skin_slots }));
        }

        let mut bind_of_joint: Vec<Option<DAffine3>> = vec![None; joint_nodes.len()];
        for slot in &slots {
            bind_of_joint[slot.joint as usize].get_or_insert(slot.joint_from_rest);
        }
        let mut joints: Vec<Joint> = Vec::with_capacity(joint_nodes.len());
        for (&n, bind) in joint_nodes.iter().zip(&bind_of_joint) {
            let parent = tree.parent[n].and_then(|p| joint_of_node[p]);
            let local = locals[n];
            // What no skin binds rides on its parent.
            let carried = parent.map_or(DAffine3::IDENTITY, |p| joints[p as usize].world_from_rest);
            joints.push(Joint {
                name: named(root.nodes[n].name.as_deref().unwrap_or("")),
                parent,
                local,
                world_from_rest: bind.and_then(inverse).unwrap_or(carried * local.to_affine()),
                deforms: bind.is_some(),
                tails: tails(root, &locals, n, |child| joint_of_node[child].is_none()),
            });
        }
        let skeleton = Skeleton::new(joints).map_err(|e| Problem::new("nodes", e.to_string()))?;
        Ok(Self { skeleton, joint_nodes, joint_of_node, slots, skins })
    }
}

/// What exporters call the end of a bone that ends in no joint.
const ENDS: [&str; 3] = ["_end", "_nub", "end site"];

/// Where bones of a joint end in no joint: nodes below it that hold nothing and are called an end.
fn tails(root: &Root<'_>, locals: &[Local], node: usize, is_free: impl Fn(usize) -> bool) -> Vec<DVec3> {
    let is_end = |child: usize| {
        let end = &root.nodes[child];
        let name = end.name.as_deref().unwrap_or("").to_lowercase();
        is_free(child)
            && ENDS.iter().any(|ending| name.ends_with(ending))
            && end.children.is_empty()
            && end.mesh.is_none()
            && end.camera.is_none()
    };
    let children = root.nodes[node].children.iter().map(|child| child.0);
    let places = children.filter(|&child| is_end(child)).map(|child| locals[child].to_affine().translation);
    places.filter(|place| place.is_finite() && place.length_squared() > 0.0).collect()
}
