//! Which joint of a recording moves which joint of a character, where names do not say: TOML lines
//! `"recording's joint" = "character's joint"`, with `""` for a joint that is to move nothing.

use crate::settings::{line_of, table};
use crate::{Problem, ReadError};
use pliant::asset::Skeleton;
use pliant::method::nearest;
use toml::de::DeValue;

/// A file of joint names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JointMap {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    from: String,
    to: String,
    place: String,
}

/// Reads a file of joint names.
pub fn read(bytes: &[u8]) -> Result<JointMap, ReadError> {
    let (text, root) = table(bytes, "a file of joints")?;
    let mut entries = Vec::new();
    for (key, value) in &root {
        let place = line_of(text, key.span().start);
        let DeValue::String(to) = value.get_ref() else {
            let what = format!("'{}' is not given a joint's name in quotes", key.get_ref());
            return Err(Problem::new(place, what)
                .hint("write \"joint of the motion\" = \"joint of the character\"")
                .into());
        };
        entries.push(Entry { from: key.get_ref().to_string(), to: to.to_string(), place });
    }
    Ok(JointMap { entries })
}

impl JointMap {
    /// The joints that are named: of the recording's skeleton, and of the character's.
    pub fn joints(&self, from: &Skeleton, to: &Skeleton) -> Result<Vec<(u32, Option<u32>)>, ReadError> {
        let mut pairs = Vec::new();
        for Entry { from: name, to: other, place } in &self.entries {
            let joint = find(from, name, "the motion", place)?;
            let moved = if other.is_empty() { None } else { Some(find(to, other, "the character", place)?) };
            pairs.push((joint, moved));
        }
        Ok(pairs)
    }
}

fn find(skeleton: &Skeleton, name: &str, whose: &str, place: &str) -> Result<u32, ReadError> {
    let joints = skeleton.joints();
    if let Some(joint) = joints.iter().position(|j| j.name == name) {
        return Ok(joint as u32);
    }
    let known = nearest(name, joints.iter().map(|j| &j.name[..]));
    let problem = Problem::new(place, format!("{whose} has no joint '{name}'"));
    Err(match known {
        Some(known) => problem.hint(format!("did you mean '{known}'?")),
        None => problem.hint("`pliant inspect` with --motion lists the joints"),
    }
    .into())
}
