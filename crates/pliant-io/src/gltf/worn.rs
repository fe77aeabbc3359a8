//! Meshes without a skin that ride on joints: helmets, armour, what hands hold.
//!
//! They move with their bone to the point. Flesh under them that followed its own inertia would swing out through them,
//! so a file that has such parts says that it is firm there.

use super::schema::Root;
use super::skin::Rig;
use super::tree::Tree;
use pliant::method::{Place, Preset, Region};
use std::collections::BTreeSet;

/// The flesh of all joints that rigid parts ride on, as a region.
pub(crate) fn region(root: &Root<'_>, tree: &Tree, rig: &Rig) -> Option<Region> {
    let deforms = |joint: &u32| rig.skeleton.joints()[*joint as usize].deforms;
    let mut bearers: Vec<Option<u32>> = vec![None; root.nodes.len()];
    let mut bearing = BTreeSet::new();
    // Parents come first.
    for &n in &tree.order {
        let above = tree.parent[n].and_then(|p| bearers[p]);
        bearers[n] = rig.joint_of_node[n].filter(deforms).or(above);
        if root.nodes[n].mesh.is_some() && root.nodes[n].skin.is_none() {
            bearing.extend(bearers[n]);
        }
    }
    let named = bearing.iter().map(|joint| format!("#{joint}")).collect();
    (!bearing.is_empty()).then(|| Region::new("under rigid parts", Place::Weights(named), Preset::Firm))
}
