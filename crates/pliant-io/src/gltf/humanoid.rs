//! The joints that a VRM says are a human body's, by the standard's names of bones.

use super::json::{Str, Whole};
use super::schema::Root;
use super::skin::Rig;
use crate::text::named;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Text that is looked at: models have some kilobytes of it.
const LONGEST_TEXT: usize = 8 << 20;
/// Bones that are taken: the standard has 55.
const MOST_BONES: usize = 256;

/// VRM 0.x: a list of bones; of 1.0: bones by name.
#[derive(Deserialize)]
struct Vrm<'a> {
    #[serde(borrow)]
    humanoid: Option<Humanoid<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Humanoid<'a> {
    #[serde(borrow)]
    human_bones: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Bone<'a> {
    #[serde(borrow)]
    bone: Str<'a>,
    node: Whole,
}

#[derive(Deserialize)]
struct Place {
    node: Whole,
}

/// Joints and the bones that they are. What cannot be understood is passed over: names are left to go by.
pub(crate) fn bones(root: &Root<'_>, rig: &Rig) -> Vec<(u32, String)> {
    let extensions = [root.extensions.vrmc, root.extensions.vrm];
    let text = extensions.into_iter().flatten().find(|text| text.get().len() <= LONGEST_TEXT);
    let vrm = text.and_then(|text| serde_json::from_str::<Vrm<'_>>(text.get()).ok());
    let Some(bones) = vrm.and_then(|vrm| vrm.humanoid?.human_bones) else { return Vec::new() };
    let listed = || {
        let list: Vec<Bone<'_>> = serde_json::from_str(bones.get()).ok()?;
        Some(list.iter().map(|b| (b.node.0, b.bone.to_string())).collect::<Vec<_>>())
    };
    let by_name = || {
        let map: BTreeMap<String, Place> = serde_json::from_str(bones.get()).ok()?;
        Some(map.iter().map(|(name, place)| (place.node.0, name.clone())).collect())
    };
    let found = listed().or_else(by_name).unwrap_or_default();
    let joint = |node: usize| rig.joint_of_node.get(node).copied().flatten();
    let joints = found.iter().take(MOST_BONES).filter_map(|(node, name)| Some((joint(*node)?, named(name))));
    joints.collect()
}
