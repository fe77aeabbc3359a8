//! The springs of a VRM, which swing hair, skirts and chests in its players, as soft regions.

use super::buffers::{NAME, shorten};
use super::json::{RootExtensions, Str, Whole};
use super::schema::Root;
use super::skin::Rig;
use super::tree::Tree;
use crate::Warning;
use crate::text::named;
use pliant::method::{Place, Region};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Regions that a file may bring: springs of the same kind are one region.
const MOST_REGIONS: usize = 64;
/// Joints in all of them, and nodes walked to find them: models have some hundred.
const MOST_JOINTS: usize = 16_384;
const MOST_STEPS: usize = 1 << 22;
/// Text that is looked at: a list of nothing but commas takes ten times its length in memory. Models have some hundred
/// kilobytes.
const LONGEST_TEXT: usize = 8 << 20;
/// Springs that are told of each by itself where they cannot be used.
const MOST_WARNINGS: usize = 8;
/// Springs that lend their names to a region.
const NAMED: usize = 3;

/// VRM 1.0: `VRMC_springBone`. What may be wrong in one spring is kept from the others.
#[derive(Deserialize)]
struct SpringBone<'a> {
    #[serde(borrow, default)]
    springs: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Spring<'a> {
    #[serde(borrow)]
    name: Option<Str<'a>>,
    joints: Vec<SpringJoint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpringJoint {
    node: Whole,
    stiffness: Option<f64>,
    gravity_power: Option<f64>,
    drag_force: Option<f64>,
}

/// VRM 0.x: `VRM`, of which only this is of use.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vrm<'a> {
    #[serde(borrow)]
    secondary_animation: Option<Secondary<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Secondary<'a> {
    #[serde(borrow, default)]
    bone_groups: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BoneGroup<'a> {
    #[serde(borrow)]
    comment: Option<Str<'a>>,
    /// The standard's own spelling.
    stiffiness: Option<f64>,
    gravity_power: Option<f64>,
    drag_force: Option<f64>,
    /// Each with all that is under it.
    #[serde(default)]
    bones: Vec<Whole>,
}

/// How a spring swings.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Swing {
    stiffness: f64,
    gravity: f64,
    drag: f64,
}

impl Swing {
    /// What the standard says of a spring that says nothing.
    const DEFAULT: Self = Self { stiffness: 1.0, gravity: 0.0, drag: 0.5 };

    fn new(stiffness: Option<f64>, gravity: Option<f64>, drag: Option<f64>) -> Self {
        let Self { stiffness: s, gravity: g, drag: d } = Self::DEFAULT;
        Self { stiffness: stiffness.unwrap_or(s), gravity: gravity.unwrap_or(g), drag: drag.unwrap_or(d) }
    }

    fn mean(all: &[Self]) -> Self {
        let mean = |of: fn(&Self) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        if all.is_empty() {
            return Self::DEFAULT;
        }
        Self { stiffness: mean(|s| s.stiffness), gravity: mean(|s| s.gravity), drag: mean(|s| s.drag) }
    }

    /// Numbers that a player could use.
    fn clamped(self) -> Self {
        Self {
            stiffness: self.stiffness.clamp(0.0, 1e6),
            gravity: self.gravity.clamp(0.0, 1e6),
            drag: self.drag.clamp(0.0, 1.0),
        }
    }

    /// As a region. With stiffness `s` (0 to 4 in editors, 1 by default), gravity `g` (0 to 2) and drag `d` (0 to 1, 0.5
    /// by default):
    ///
    /// - softness `1 / (1 + s/4)`: a stiffer spring follows its bone more;
    /// - stretch `0.05 + 0.95 s/(s + 7)`: at 1 that of fat, at 0 that of jelly, never above the body's own;
    /// - bind the same over `1 + g`: what is heavier sags more;
    /// - damping `1.5 log2(1/(1 - d))`, at most 20 a second: at 0.5 that of fat, and as much again for every halving of
    ///   the motion that drag leaves.
    fn region(self, name: String, joints: Vec<String>) -> Region {
        let Self { stiffness: s, gravity: g, drag: d } = self;
        let stretch = 0.05 + 0.95 * s / (s + 7.0);
        Region {
            name,
            on: Place::Weights(joints),
            preset: None,
            softness: Some(1.0 / (1.0 + s / 4.0)),
            stretch: Some(stretch),
            volume: None,
            bind: Some(stretch / (1.0 + g)),
            along: None,
            shear: None,
            damping: Some((-1.5 * libm::log2(1.0 - d)).clamp(0.0, 20.0)),
            start: None,
            end: None,
        }
    }
}

/// Springs that swing alike.
struct Group {
    swing: Swing,
    names: Vec<String>,
    springs: usize,
    joints: BTreeSet<u32>,
}

struct Reader<'r> {
    tree: &'r Tree,
    rig: &'r Rig,
    groups: Vec<Group>,
    joints: usize,
    steps: usize,
    warnings: &'r mut Vec<Warning>,
    /// Springs that cannot be used.
    refused: usize,
}

/// The soft regions that a VRM's springs describe. What is wrong with a spring is warned of, and it is passed over.
pub(crate) fn regions(root: &Root<'_>, tree: &Tree, rig: &Rig, warnings: &mut Vec<Warning>) -> Vec<Region> {
    let mut reader = Reader { tree, rig, groups: Vec::new(), joints: 0, steps: 0, warnings, refused: 0 };
    let RootExtensions { spring_bone, vrm, .. } = root.extensions;
    if spring_bone.or(vrm).is_some_and(|text| text.get().len() > LONGEST_TEXT) {
        reader.refuse("extensions".into(), "over 8 MB of springs");
    } else if let Some(text) = spring_bone {
        reader.spring_bone(text);
    } else if let Some(text) = vrm {
        reader.secondary_animation(text);
    }
    reader.finish()
}

impl Reader<'_> {
    fn spring_bone(&mut self, text: &RawValue) {
        const PLACE: &str = "extensions.VRMC_springBone";
        let springs = match serde_json::from_str::<SpringBone<'_>>(text.get()) {
            Ok(found) => found.springs,
            Err(error) => return self.refuse(PLACE.into(), error),
        };
        for (index, text) in springs.iter().enumerate() {
            let place = format!("{PLACE}.springs[{index}]");
            match serde_json::from_str::<Spring<'_>>(text.get()) {
                Err(error) => self.refuse(place, error),
                Ok(spring) => {
                    let swings: Vec<Swing> = spring
                        .joints
                        .iter()
                        .map(|j| Swing::new(j.stiffness, j.gravity_power, j.drag_force))
                        .collect();
                    // The last joint only says where the one before it ends.
                    let swing =
                        Swing::mean(if swings.len() > 1 { &swings[..swings.len() - 1] } else { &swings });
                    let nodes: Vec<usize> = spring.joints.iter().map(|j| j.node.0).collect();
                    self.add(place, spring.name.as_deref().unwrap_or(""), swing, &nodes, false);
                }
            }
        }
    }

    fn secondary_animation(&mut self, text: &RawValue) {
        const PLACE: &str = "extensions.VRM.secondaryAnimation";
        let groups = match serde_json::from_str::<Vrm<'_>>(text.get()) {
            Ok(found) => found.secondary_animation.map_or(Vec::new(), |s| s.bone_groups),
            Err(error) => return self.refuse(PLACE.into(), error),
        };
        for (index, text) in groups.iter().enumerate() {
            let place = format!("{PLACE}.boneGroups[{index}]");
            match serde_json::from_str::<BoneGroup<'_>>(text.get()) {
                Err(error) => self.refuse(place, error),
                Ok(group) => {
                    let swing = Swing::new(group.stiffiness, group.gravity_power, group.drag_force);
                    let nodes: Vec<usize> = group.bones.iter().map(|b| b.0).collect();
                    self.add(place, group.comment.as_deref().unwrap_or(""), swing, &nodes, true);
                }
            }
        }
    }

    fn refuse(&mut self, place: String, why: impl ToString) {
        self.refused += 1;
        if self.refused <= MOST_WARNINGS {
            let why = why.to_string();
            let why = why.split(" at line ").next().unwrap_or(&why);
            let what = format!("{}: the spring is passed over", shorten(why, 2 * NAME));
            self.warnings.push(Warning::new(place, what, 1));
        }
    }

    /// Adds a spring on some nodes, `with_all_under` them or alone.
    fn add(&mut self, place: String, name: &str, swing: Swing, nodes: &[usize], with_all_under: bool) {
        let count = self.tree.parent.len();
        if let Some(node) = nodes.iter().find(|&&n| n >= count) {
            return self.refuse(place, format!("there is no node {node}: the file has {count}"));
        }
        let clamped = swing.clamped();
        if clamped != swing {
            let what = "stiffness and gravity below 0, or drag beyond 0 to 1, are cut to that";
            self.warn_once(place.clone(), what);
        }
        let mut joints = BTreeSet::new();
        for node in nodes {
            let under = self.tree.under(*node);
            let swung = if with_all_under { under } else { &under[..1] };
            self.steps += swung.len();
            if self.steps > MOST_STEPS {
                return self.refuse(place, "the springs name too many nodes");
            }
            let bound = swung.iter().filter_map(|&n| self.rig.joint_of_node[n]);
            joints.extend(bound.filter(|&j| self.rig.skeleton.joints()[j as usize].deforms));
        }
        if joints.is_empty() {
            return self.refuse(place, "no skin is bound to its nodes");
        }
        let known = self.groups.iter().position(|g| g.swing == clamped);
        if known.is_none() && self.groups.len() == MOST_REGIONS {
            return self.refuse(place, format!("there are over {MOST_REGIONS} kinds of springs"));
        }
        let index = known.unwrap_or_else(|| {
            let group = Group { swing: clamped, names: Vec::new(), springs: 0, joints: BTreeSet::new() };
            self.groups.push(group);
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        let fresh = joints.difference(&group.joints).count();
        if self.joints + fresh > MOST_JOINTS {
            return self.refuse(place, format!("the springs swing over {MOST_JOINTS} joints"));
        }
        self.joints += fresh;
        group.joints.extend(joints);
        group.springs += 1;
        if group.names.len() < NAMED && !name.is_empty() {
            group.names.push(named(name));
        }
    }

    /// A warning that is given once, with a count.
    fn warn_once(&mut self, place: String, what: &str) {
        match self.warnings.iter_mut().find(|w| w.what == what) {
            Some(warning) => warning.count += 1,
            None => self.warnings.push(Warning::new(place, what, 1)),
        }
    }

    fn finish(self) -> Vec<Region> {
        if self.refused > MOST_WARNINGS {
            let what = "more springs are passed over";
            self.warnings.push(Warning::new("extensions", what, self.refused - MOST_WARNINGS));
        }
        if self.groups.is_empty() {
            return Vec::new();
        }
        let joints = self.rig.skeleton.joints();
        let mut count_of: BTreeMap<&str, usize> = BTreeMap::new();
        joints.iter().for_each(|j| *count_of.entry(&j.name).or_default() += 1);
        let called = |&joint: &u32| {
            let name = &joints[joint as usize].name;
            if name.is_empty() || count_of[&name[..]] > 1 { format!("#{joint}") } else { name.clone() }
        };
        let region = |group: &Group| {
            let more = group.springs - group.names.len();
            let name = match (&group.names[..], more) {
                ([], _) => "springs".to_owned(),
                (names, 0) => names.join(", "),
                (names, more) => format!("{} and {more} more", names.join(", ")),
            };
            group.swing.region(name, group.joints.iter().map(called).collect())
        };
        self.groups.iter().map(region).collect()
    }
}
