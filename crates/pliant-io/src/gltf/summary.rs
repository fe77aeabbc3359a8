//! What is in a file.

use super::accessor::Store;
use super::buffers::{NAME, Uri, shorten, uri};
use super::schema::Root;
use crate::{Files, Problem, Warning};
use pliant::asset::Character;
use pliant::method::{Place, Region, Settings, Tissue};
use serde::Serialize;
use std::io::ErrorKind;

/// What is in a glTF file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The program that wrote it.
    pub generator: String,
    /// The glTF version.
    pub version: String,
    /// How many scenes there are.
    pub scenes: usize,
    /// How many nodes.
    pub nodes: usize,
    /// How many meshes.
    pub meshes: usize,
    /// How many primitives in all meshes.
    pub primitives: usize,
    /// Nodes with a mesh and a skin.
    pub skinned_nodes: usize,
    /// The skins.
    pub skins: Vec<SkinSummary>,
    /// The animations.
    pub clips: Vec<ClipSummary>,
    /// Vertices as stored, in all meshes.
    pub vertices: usize,
    /// Triangles in all meshes.
    pub triangles: usize,
    /// The most joints that move one vertex by the file's weights; 0 where it has none or it cannot be told.
    pub influences_max: usize,
    /// Morph targets of all meshes.
    pub morph_targets: usize,
    /// Extensions that the file uses.
    pub extensions_used: Vec<String>,
    /// Extensions that the file cannot do without.
    pub extensions_required: Vec<String>,
    /// What is painted on the skin, by the names that settings have for it.
    pub painted: Vec<String>,
    /// Soft regions where settings name none: springs of a VRM, and painted `_SOFTNESS`.
    pub soft_regions: Vec<RegionSummary>,
    /// How many materials.
    pub materials: usize,
    /// Where the images are.
    pub images: Images,
    /// Whether the character can be deformed.
    pub bakeable: bool,
    /// Why not, if it cannot; else empty.
    pub reason: String,
    /// What is odd.
    pub warnings: Vec<String>,
}

/// A skin of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkinSummary {
    /// Its name; may be empty.
    pub name: String,
    /// How many joints it has.
    pub joints: usize,
}

/// An animation of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipSummary {
    /// Its name; may be empty.
    pub name: String,
    /// Time of its last key.
    pub seconds: f64,
    /// How many channels it has.
    pub channels: usize,
}

/// A soft region that a file brings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegionSummary {
    /// What it is called.
    pub name: String,
    /// The joints whose weights it follows; none where it is painted.
    pub joints: Vec<String>,
    /// How far the flesh follows its own inertia, 0 to 1.
    pub softness: f64,
    /// Times the method's stretch stiffness.
    pub stretch: f64,
    /// Times the method's bind stiffness.
    pub bind: f64,
    /// Rate at which motion against the bones is lost.
    pub damping: f64,
}

impl RegionSummary {
    /// All soft ones that a character brings, given what its file describes.
    pub fn all(character: &Character, described: &[Region]) -> Vec<Self> {
        let mut settings = Settings::default();
        settings.add_regions_of(character, described.to_vec());
        let summed = settings.regions.into_iter().filter(Region::is_soft).map(|region| {
            let Tissue { softness, stretch, bind, damping, .. } = region.resolved();
            let joints = if let Place::Weights(joints) = region.on { joints } else { Vec::new() };
            Self { name: region.name, joints, softness, stretch, bind, damping }
        });
        summed.collect()
    }
}

/// Where the images of a file are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Images {
    /// Within the file.
    pub embedded: usize,
    /// Files beside it.
    pub external: usize,
    /// Files that are not there.
    pub missing: usize,
}

/// Triangles of a primitive by its mode and number of corners.
fn triangle_count(mode: usize, corners: usize) -> usize {
    match mode {
        4 => corners / 3,
        5 | 6 => corners.saturating_sub(2),
        _ => 0,
    }
}

/// Counts what is there. Missing images are warned of.
pub(crate) fn summarise(
    root: &Root<'_>,
    store: &Store<'_>,
    files: &dyn Files,
    blockers: &[Problem],
    warnings: &mut Vec<Warning>,
) -> Summary {
    let name = |n: &Option<super::json::Str<'_>>| n.as_deref().unwrap_or("").to_owned();
    let count = |index: usize| root.accessors.get(index).map_or(0, |a| a.count.0);
    let mut images = Images::default();
    for (i, image) in root.images.iter().enumerate() {
        let Some(text) = &image.uri else {
            images.embedded += 1;
            continue;
        };
        if text.starts_with("data:") {
            images.embedded += 1;
            continue;
        }
        // Asking for no byte of a file tells whether it is there.
        let found = match uri(text) {
            Ok(Uri::Beside(name)) => {
                files.read(&name, 0).map_or_else(|e| e.kind() == ErrorKind::FileTooLarge, |_| true)
            }
            _ => false,
        };
        if found {
            images.external += 1;
        } else {
            images.missing += 1;
            let what = format!("the image \"{}\" is not there", shorten(text, NAME));
            warnings.push(Warning::new(format!("images[{i}].uri"), what, 1));
        }
    }
    let mut summary = Summary {
        generator: name(&root.asset.generator),
        version: (*root.asset.version).to_owned(),
        scenes: root.scenes.len(),
        nodes: root.nodes.len(),
        meshes: root.meshes.len(),
        skinned_nodes: root.nodes.iter().filter(|n| n.mesh.is_some() && n.skin.is_some()).count(),
        skins: root
            .skins
            .iter()
            .map(|s| SkinSummary { name: name(&s.name), joints: s.joints.len() })
            .collect(),
        extensions_used: root.extensions_used.iter().map(|e| (**e).to_owned()).collect(),
        extensions_required: root.extensions_required.iter().map(|e| (**e).to_owned()).collect(),
        materials: root.materials.len(),
        images,
        ..Summary::default()
    };
    for mesh in root.meshes.iter() {
        summary.primitives += mesh.primitives.len();
        summary.morph_targets += mesh.primitives.first().map_or(0, |p| p.targets.len());
        for primitive in mesh.primitives.iter() {
            let vertices = primitive.attributes.get("POSITION").map_or(0, |a| count(a.0));
            let corners = primitive.indices.map_or(vertices, |i| count(i.0));
            summary.vertices = summary.vertices.saturating_add(vertices);
            summary.triangles =
                summary.triangles.saturating_add(triangle_count(primitive.mode.map_or(4, |m| m.0), corners));
        }
    }
    // The accessors of key times must have bounds: the last key need not be looked up.
    for animation in root.animations.iter() {
        let last = |s: &super::schema::Sampler| {
            root.accessors
                .get(s.input.0)
                .and_then(|a| a.max.as_ref())
                .and_then(|m| m.first().copied())
                .unwrap_or(0.0)
        };
        summary.clips.push(ClipSummary {
            name: name(&animation.name),
            seconds: animation.samplers.iter().map(last).fold(0.0, f64::max),
            channels: animation.channels.len(),
        });
    }
    let missing = missing_data(root, store);
    if let Some(problem) = &missing {
        warnings.push(Warning::new(problem.place.clone(), problem.what.clone(), 1));
    }
    let reason = blockers.first().cloned().or(missing).or_else(|| (summary.skinned_nodes == 0).then(no_skin));
    summary.bakeable = reason.is_none();
    summary.reason = reason.map_or(String::new(), |r| r.to_string());
    summary
}

/// The error for a file without a skinned mesh.
pub(crate) fn no_skin() -> Problem {
    Problem::new("nodes", "there is no skinned mesh: no node has both a mesh and a skin")
        .hint("bind the mesh to a skeleton and export it with its skin")
}

/// A buffer that something needs and that has no bytes.
pub(crate) fn missing_data(root: &Root<'_>, store: &Store<'_>) -> Option<Problem> {
    let needed = |view: usize| store.view(root, view).is_none();
    let lost = root.accessors.iter().position(|a| {
        let sparse = a.sparse.as_ref().map(|s| (s.indices.buffer_view.0, s.values.buffer_view.0));
        a.buffer_view.is_some_and(|v| needed(v.0)) || sparse.is_some_and(|(i, v)| needed(i) || needed(v))
    })?;
    let what = "its buffer has no data: neither a URI nor a binary chunk";
    Some(Problem::new(format!("accessors[{lost}]"), what).hint("export the file again"))
}
