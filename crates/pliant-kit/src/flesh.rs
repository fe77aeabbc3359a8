//! The body under a skin, made or read from a file, and the weights that it gives.

use crate::host::{Host, in_steps};
use crate::input::{self, Format, Request, WeightsWish};
use anyhow::{Context, Result, bail};
use glam::Vec3;
use pliant::asset::{Character, Part, TetMesh};
use pliant::body::{self, Body, BodyError, DistanceWarning, Fineness};
use pliant::rig::weights::{self, DistanceSettings, GeodesicSettings, WeightKind};
use pliant::zoo;
use pliant_io::{Warning, gltf, obj, rigging, tet};
use std::path::Path;

/// A skin alone, at rest: all that a body needs.
pub struct Skin {
    /// Where its vertices are.
    pub positions: Vec<Vec3>,
    /// Its triangles.
    pub triangles: Vec<[u32; 3]>,
    /// What the file calls its pieces (parts of a glTF, groups of an OBJ).
    names: Vec<String>,
    /// Which of them each vertex is of; `None` where no triangle has it.
    name_of_vertex: Vec<Option<u32>>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}

impl Skin {
    /// The skin of a file, rigged or not.
    pub fn open(path: &Path, host: &dyn Host) -> Result<Self> {
        if let Some(name) = input::sample_name(path) {
            return Ok(Self::of(&zoo::character(name, None)?, vec![]));
        }
        let named = || path.display().to_string();
        match Format::of(path).ok_or_else(|| input::unknown_format(path))? {
            Format::Gltf => {
                let loaded = gltf::read(host.bytes(path)?, host.beside(path).as_ref()).with_context(named)?;
                Ok(Self::of(&loaded.character, loaded.warnings))
            }
            Format::Obj => {
                let mesh = obj::read(&host.bytes(path)?).with_context(named)?;
                let mut warnings = mesh.warnings.clone();
                let triangles = rigging::skin_triangles(&mesh, &mut warnings);
                let mut name_of_vertex = vec![None; mesh.positions.len()];
                let mut is_skin = vec![false; mesh.positions.len()];
                triangles.iter().flatten().for_each(|&v| is_skin[v as usize] = true);
                for (triangle, &group) in mesh.triangles.iter().zip(&mesh.triangle_groups) {
                    for &v in triangle.iter().filter(|v| is_skin[**v as usize]) {
                        name_of_vertex[v as usize].get_or_insert(group);
                    }
                }
                Ok(Self {
                    positions: mesh.positions,
                    triangles,
                    names: mesh.groups,
                    name_of_vertex,
                    warnings,
                })
            }
            Format::Bvh => bail!("{}: a BVH is a motion; it has no skin to fill", named()),
        }
    }

    /// The skin of a character.
    fn of(character: &Character, warnings: Vec<Warning>) -> Self {
        let surface = character.surface();
        let mut name_of_vertex = vec![None; surface.positions().len()];
        for (index, part) in character.parts().iter().enumerate() {
            let own = &surface.triangles()[part.triangles.start as usize..part.triangles.end as usize];
            own.iter().flatten().for_each(|&v| name_of_vertex[v as usize] = Some(index as u32));
        }
        Self {
            positions: surface.positions().to_vec(),
            triangles: surface.triangles().to_vec(),
            names: character.parts().iter().map(|p| p.name.clone()).collect(),
            name_of_vertex,
            warnings,
        }
    }

    /// What the file calls the piece that a vertex is of; `None` where no triangle has the vertex.
    pub fn name_of(&self, vertex: usize) -> Option<&str> {
        let name = self.name_of_vertex[vertex]?;
        Some(self.names.get(name as usize).map_or("", |n| n))
    }
}

/// Makes a body, and tells how far that is.
pub fn make(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    fineness: Fineness,
    host: &dyn Host,
) -> Result<Body, BodyError> {
    Body::of_skin(positions, triangles, fineness, &mut in_steps(host, "filling the skin with tets"))
}

/// Vertices this far outside the tets, as a share of the tets' size, are of another character, or in another unit.
const FAR: f32 = 0.1;

/// A body read from a file, with a skin embedded in it.
pub fn read(
    path: &Path,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    host: &dyn Host,
    warnings: &mut Vec<Warning>,
) -> Result<Body> {
    let named = || path.display().to_string();
    let tets = tet::read(&path.to_string_lossy(), &host.bytes(path)?, host.beside(path).as_ref())
        .with_context(named)?;
    warnings.extend(tets.warnings);
    let nodes = tets.mesh.positions().iter();
    let (low, high) =
        nodes.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| (low.min(p), high.max(p)));
    let body = Body::of_tets(tets.mesh, positions);
    let outside = body.outside(positions);
    let mut far: Vec<u32> = triangles.as_flattened().to_vec();
    far.retain(|&v| outside[v as usize] > FAR * (high - low).length());
    far.sort_unstable();
    far.dedup();
    if !far.is_empty() {
        let what = "a vertex lies far outside these tets; are they of this character, in its units?";
        warnings.push(Warning::new(named(), what, far.len()));
    }
    Ok(body)
}

/// What weights are said to come from that are the file's own.
pub const FROM_FILE: &str = "file";

/// A character with the weights that were asked for.
pub struct Fleshed {
    /// The character.
    pub character: Character,
    /// Where the weights come from, in words.
    pub weights: &'static str,
    /// The tets that were given for its body.
    pub tets: Option<TetMesh>,
}

/// Gives a character its weights: its own where it has any and no others are asked for.
pub fn weigh(
    character: Character,
    has_weights: bool,
    args: &Request,
    host: &dyn Host,
    warnings: &mut Vec<Warning>,
) -> Result<Fleshed> {
    let surface = character.surface();
    let (positions, triangles) = (surface.positions(), surface.triangles());
    let given =
        args.tets.as_ref().map(|path| read(path, positions, triangles, host, warnings)).transpose()?;
    let kind = match args.weights {
        Some(WeightsWish::File) if !has_weights => {
            let file = args.file.display();
            bail!(
                "{file}: it has no weights; choose another kind of --weights, or give an OBJ --weights-file"
            )
        }
        Some(WeightsWish::Segment) => WeightKind::Segment,
        Some(WeightsWish::Distance) => WeightKind::Distance(DistanceSettings::default()),
        Some(WeightsWish::Angle) => WeightKind::Angle,
        None if !has_weights => args.usual_weights.unwrap_or_default(),
        Some(WeightsWish::Geodesic) => WeightKind::Geodesic(GeodesicSettings::default()),
        Some(WeightsWish::File) | None => {
            let tets = given.map(|body| body.tets().clone());
            return Ok(Fleshed { character, weights: FROM_FILE, tets });
        }
    };
    let named = || args.file.display().to_string();
    let character = if has_weights { weights::only_used(character).with_context(named)? } else { character };
    let (positions, triangles) = (character.surface().positions(), character.surface().triangles());
    let tets = given.as_ref().map(|body| body.tets().clone());
    let body = match (given, kind) {
        (None, WeightKind::Distance(_)) => None,
        (Some(body), _) => Some(body),
        (None, _) => match make(positions, triangles, Fineness::default(), host) {
            Ok(body) => Some(body),
            Err(BodyError::NoVolume { why }) => {
                let what =
                    format!("the skin encloses no volume ({why}): distances to bones are straight lines");
                warnings.push(Warning::new("weights", what, 1));
                None
            }
            Err(error) => return Err(error).with_context(named),
        },
    };
    let made = match &body {
        Some(body) => {
            let weighed = body::weigh(&character, body.tets(), body.embedding(), kind).with_context(named)?;
            warnings.extend(explained(&weighed.warnings, &character));
            weighed.weights
        }
        None => weights::weigh_straight(&character, kind).with_context(named)?,
    };
    let weights = match (kind, &body) {
        (WeightKind::Distance(_), _) => "distance",
        (WeightKind::Segment, Some(_)) => "segment",
        (WeightKind::Segment, None) => "segment, in straight lines",
        (WeightKind::Geodesic(_), Some(_)) => "geodesic",
        (WeightKind::Geodesic(_), None) => "geodesic, in straight lines",
        (WeightKind::Angle, _) => "angle",
    };
    let character = weights::bind(character, made).with_context(named)?;
    Ok(Fleshed { character, weights, tets })
}

/// What was odd about bones and tets, by name: one line for bones, and one for pieces where there are many.
fn explained(odd: &[DistanceWarning], character: &Character) -> Vec<Warning> {
    /// Joints and pieces that are listed by name.
    const NAMED: usize = 8;
    /// Pieces that get a line each.
    const LINES: usize = 2;
    let joint = |index: u32| &character.skeleton().joints()[index as usize].name[..];
    let listed = |names: &[String]| {
        let first = names[..names.len().min(NAMED)].join(", ");
        if names.len() > NAMED { format!("{first} and {} more", names.len() - NAMED) } else { first }
    };
    let (mut outside, mut islands, mut bound) = (Vec::new(), Vec::new(), Vec::new());
    for warning in odd {
        match *warning {
            DistanceWarning::Outside { joint: index } => outside.push(format!("'{}'", joint(index))),
            DistanceWarning::Island { vertex, vertices, joint: to, .. } => {
                let part = character.parts().iter().find(|p: &&Part| p.vertices.contains(&vertex));
                let part = part.map_or("", |p| &p.name);
                islands.push(format!(
                    "no bone lies in a piece of '{part}' of {vertices} vertices from vertex {vertex} on: \
                     it moves with '{}', the nearest",
                    joint(to)
                ));
                bound.push(format!("{vertices} vertices of '{part}' with '{}'", joint(to)));
            }
        }
    }
    let mut explained = Vec::new();
    match &outside[..] {
        [] => {}
        [one] => explained.push(format!("bones lie outside the skin: {one}")),
        all => explained.push(format!("bones of {} joints lie outside the skin: {}", all.len(), listed(all))),
    }
    if islands.len() <= LINES {
        explained.extend(islands);
    } else {
        let what = format!("no bone lies in {} pieces, they move with the nearest", bound.len());
        explained.push(format!("{what}: {}", listed(&bound)));
    }
    explained.into_iter().map(|what| Warning::new("weights", what, 1)).collect()
}
