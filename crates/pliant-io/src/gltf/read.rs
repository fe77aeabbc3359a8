use super::accessor::Store;
use super::buffers::shorten;
use super::build::{self, Built};
use super::document::{Bytes, Document};
use super::glb::{self, Container};
use super::place::path_at;
use super::schema::Root;
use super::summary::{self, RegionSummary, Summary};
use super::tree::Tree;
use super::{buffers, data, paint, validate};
use crate::{Files, Problem, ReadError, Warning};
use pliant::asset::Character;
use pliant::method::Region;

/// A character read from a glTF file, the file itself, and what was odd about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The character: all skinned meshes of the file.
    pub character: Character,
    /// The file it came from.
    pub document: Document,
    /// What is in the file.
    pub summary: Summary,
    /// What was mended or passed over.
    pub warnings: Vec<Warning>,
    /// Regions that the file describes: the springs of a VRM are soft, flesh under rigid parts is firm.
    pub regions: Vec<Region>,
    /// Joints of the character that a VRM says are bones of a human body, by the standard's names.
    pub bones: Vec<(u32, String)>,
}

/// Reads a `.glb`, `.gltf` or `.vrm` with at least one skinned mesh. `files` finds what it refers to.
///
/// Everything is checked before it is used; the error holds all that is wrong, each with its place in the JSON.
pub fn read(file: Vec<u8>, files: &dyn Files) -> Result<Loaded, ReadError> {
    let Opened { container, buffers, decoded, summary, warnings, built, blocker } = open(&file, files)?;
    if let Some(blocker) = blocker {
        return Err(blocker.into());
    }
    let Some(built) = built else { return Err(summary::no_skin().into()) };
    let document = Document {
        file,
        json: container.json,
        buffers,
        decoded_views: decoded,
        parts: built.parts,
        joint_nodes: built.joint_nodes,
        clip_animations: built.clip_animations,
    };
    Ok(Loaded {
        character: built.character,
        document,
        summary,
        warnings,
        regions: built.regions,
        bones: built.bones,
    })
}

/// Says what is in a file, even in one without a skin. An error where the file is not valid.
pub fn inspect(file: Vec<u8>, files: &dyn Files) -> Result<Summary, ReadError> {
    Ok(open(&file, files)?.summary)
}

/// All that comes out of a file.
struct Opened {
    container: Container,
    buffers: Vec<Bytes>,
    decoded: Vec<Option<Vec<u8>>>,
    summary: Summary,
    warnings: Vec<Warning>,
    built: Option<Built>,
    blocker: Option<Problem>,
}

fn open(file: &[u8], files: &dyn Files) -> Result<Opened, ReadError> {
    let mut warnings = Vec::new();
    let container = glb::split(file, &mut warnings)?;
    let json = &file[container.json.clone()];
    // Checked once here, the text need not be checked again string by string.
    let text = std::str::from_utf8(json).map_err(|e| {
        Problem::new("", format!("the JSON is not UTF-8 text from byte {} on", e.valid_up_to()))
            .hint("the file is damaged: export it again")
    })?;
    let root: Root<'_> = serde_json::from_str(text).map_err(|e| not_json(&e, json, container.is_glb))?;
    if may_be_deep(json)
        && let Some(at) = too_deep(json)
    {
        let what = format!("the JSON is nested too deep: more than {DEEPEST} levels");
        return Err(Problem::new(path_at(json, 1, at), what)
            .hint("take out what is nested (extras?)")
            .into());
    }
    let tree = Tree::new(&root);
    let mut found = validate::structure(&root, &tree);
    warnings.append(&mut found.warnings);
    let buffers = buffers::load(&root, &container, files, &mut found.problems, &mut warnings);
    ReadError::check(found.problems)?;

    let mut problems = Vec::new();
    let bytes = Store { file, buffers: &buffers, decoded: &[] };
    let decoded = buffers::decompress(&root, file.len(), |b| bytes.buffer(b), &mut problems);
    ReadError::check(problems)?;
    let store = Store { file, buffers: &buffers, decoded: &decoded };
    let mut numbers = data::check(&root, &store, &found.uses);
    ReadError::check(numbers.problems)?;
    warnings.append(&mut numbers.warnings);

    let mut summary = summary::summarise(&root, &store, files, &found.blockers, &mut warnings);
    let blocker = found.blockers.into_iter().next().or_else(|| summary::missing_data(&root, &store));
    let built =
        if summary.bakeable { Some(build::build(&root, &tree, &store, &mut warnings)?) } else { None };
    if let Some(built) = built.as_ref().filter(|b| b.has_weights) {
        summary.influences_max = built.character.weights().max_influences();
    }
    if let Some(built) = &built {
        summary.painted = paint::names(&root);
        summary.soft_regions = RegionSummary::all(&built.character, &built.regions);
    }
    summary.warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(Opened { container, buffers, decoded, summary, warnings, built, blocker })
}

/// Levels of arrays and objects in the JSON: what is baked is all read and written again, level within level.
const DEEPEST: usize = 100;

/// Whether a closer look is due: counts brackets a block at a time, which costs a tenth of a walk through the text.
/// Brackets in strings count too; enough closing ones would hide a nest, which the writer then refuses instead.
fn may_be_deep(json: &[u8]) -> bool {
    // A block's counts must fit a byte.
    let mut depth = 0usize;
    json.chunks(128).any(|block| {
        let count = |a: u8, b: u8| {
            usize::from(block.iter().map(|&byte| u8::from(byte == a) + u8::from(byte == b)).sum::<u8>())
        };
        let opened = depth + count(b'[', b'{');
        depth = opened.saturating_sub(count(b']', b'}'));
        opened > DEEPEST
    })
}

/// Where sound JSON is nested too deep.
fn too_deep(json: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = json.get(at) {
        at += 1;
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => loop {
                at += json[at..].iter().position(|&b| b == b'"' || b == b'\\')?;
                // What follows a backslash closes nothing.
                match json[at] {
                    b'"' => break at += 1,
                    _ => at = (at + 2).min(json.len()),
                }
            },
            _ => {}
        }
        if depth > DEEPEST {
            return Some(at);
        }
    }
    None
}

/// A JSON error, in words for people.
fn not_json(error: &serde_json::Error, json: &[u8], is_glb: bool) -> ReadError {
    let looks_like_json = json.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    if !is_glb && !looks_like_json {
        return Problem::new("", "this is neither a GLB nor glTF JSON")
            .hint("give a .glb, .gltf or .vrm file")
            .into();
    }
    let path = path_at(json, error.line(), error.column());
    let text = error.to_string();
    let what = shorten(text.split(" at line ").next().unwrap_or(&text), 120);
    let what = format!("{what} (JSON line {}, column {})", error.line(), error.column());
    Problem::new(path, what).into()
}
