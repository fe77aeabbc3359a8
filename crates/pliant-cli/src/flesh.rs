//! The body under a skin, made or read from a file, and the weights that it gives.

use crate::args::{Common, InputArgs, WeightsArg};
use crate::load::{self, Format};
use crate::progress::Progress;
use anyhow::{Context, Result, bail};
use glam::Vec3;
use pliant::asset::{Character, Part, TetMesh};
use pliant::body::{self, Body, BodyError, DistanceWarning, Fineness};
use pliant::rig::weights::{self, DistanceSettings, GeodesicSettings, WeightKind};
use pliant::zoo;
use pliant_io::files::Folder;
use pliant_io::{Warning, gltf, obj, rigging, tet};
use std::path::Path;

/// A skin alone, at rest: all that a body needs.
pub(crate) struct Skin {
    pub(crate) positions: Vec<Vec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// What the file calls its pieces (parts of a glTF, groups of an OBJ).
    names: Vec<String>,
    /// Which of them each vertex is of; `None` where no triangle has it.
    name_of_vertex: Vec<Option<u32>>,
    pub(crate) warnings: Vec<Warning>,
}

impl Skin {
    /// The skin of a file, rigged or not.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        if let Some(name) = load::sample_name(path) {
            return Ok(Self::of(&zoo::character(name, None)?, vec![]));
        }
        let named = || path.display().to_string();
        match Format::of(path).ok_or_else(|| load::unknown_format(path))? {
            Format::Gltf => {
                let loaded = gltf::read(load::bytes(path)?, &Folder::of(path)).with_context(named)?;
                Ok(Self::of(&loaded.character, loaded.warnings))
            }
            Format::Obj => {
                let mesh = obj::read(&load::bytes(path)?).with_context(named)?;
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
    pub(crate) fn name_of(&self, vertex: usize) -> Option<&str> {
        let name = self.name_of_vertex[vertex]?;
        Some(self.names.get(name as usize).map_or("", |n| n))
    }
}

/// Makes a body, with a bar where that takes long. Interrupted, the whole command ends (see `main`).
pub(crate) fn make(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    fineness: Fineness,
    common: &Common,
) -> Result<Body, BodyError> {
    const STEPS: usize = 100;
    let mut bar = Progress::new("filling the skin with tets", STEPS, common.quiet);
    let mut shown = 0;
    Body::of_skin(positions, triangles, fineness, &mut |share| {
        while shown < (share * STEPS as f32) as usize {
            shown += 1;
            bar.step();
        }
        true
    })
}

/// Vertices this far outside the tets, as a share of the tets' size, are of another character, or in another unit.
const FAR: f32 = 0.1;

/// A body read from a file, with a skin embedded in it.
pub(crate) fn read(
    path: &Path,
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    warnings: &mut Vec<Warning>,
) -> Result<Body> {
    let named = || path.display().to_string();
    let tets =
        tet::read(&path.to_string_lossy(), &load::bytes(path)?, &Folder::of(path)).with_context(named)?;
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
pub(crate) const FROM_FILE: &str = "file";

/// A character with the weights that were asked for.
pub(crate) struct Fleshed {
    pub(crate) character: Character,
    /// Where the weights come from, in words.
    pub(crate) weights: &'static str,
    /// The tets that were given for its body.
    pub(crate) tets: Option<TetMesh>,
}

/// Gives a character its weights: its own where it has any and no others are asked for.
pub(crate) fn weigh(
    character: Character,
    has_weights: bool,
    args: &InputArgs,
    common: &Common,
    warnings: &mut Vec<Warning>,
) -> Result<Fleshed> {
    let surface = character.surface();
    let (positions, triangles) = (surface.positions(), surface.triangles());
    let given = args.tets.as_ref().map(|path| read(path, positions, triangles, warnings)).transpose()?;
    let kind = match args.weights {
        Some(WeightsArg::File) if !has_weights => {
            let file = args.file.display();
            bail!(
                "{file}: it has no weights; choose another kind of --weights, or give an OBJ --weights-file"
            )
        }
        Some(WeightsArg::Segment) => WeightKind::Segment,
        Some(WeightsArg::Distance) => WeightKind::Distance(DistanceSettings::default()),
        Some(WeightsArg::Angle) => WeightKind::Angle,
        None if !has_weights => args.usual_weights.unwrap_or_default(),
        Some(WeightsArg::Geodesic) => WeightKind::Geodesic(GeodesicSettings::default()),
        Some(WeightsArg::File) | None => {
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
        (None, _) => match make(positions, triangles, Fineness::default(), common) {
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
