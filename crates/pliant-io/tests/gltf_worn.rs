//! Flesh under rigid parts is firm, whatever the rest of the body is like.

mod common;

use common::damage::{glb, sample, split};
use pliant::method::{Place, Settings};
use pliant_io::files::NoFiles;
use pliant_io::gltf::{self, Loaded};
use serde_json::{Value, json};

/// The sample, whose nodes 0 "hip" and 1 under it are joints, with more nodes under one of its nodes.
fn with_nodes(under: usize, more: &[Value]) -> Loaded {
    let bytes = sample();
    let (json, bin) = split(&bytes);
    let mut root: Value = serde_json::from_slice(&json).unwrap();
    let nodes = root["nodes"].as_array_mut().unwrap();
    let first = nodes.len();
    nodes.extend(more.iter().cloned());
    let mut children = nodes[under]["children"].as_array().cloned().unwrap_or_default();
    children.push(first.into());
    nodes[under]["children"] = children.into();
    root["meshes"]
        .as_array_mut()
        .unwrap()
        .push(json!({"primitives": [{"attributes": {"POSITION": 0}, "mode": 5}]}));
    gltf::read(glb(root.to_string().as_bytes(), &bin), &NoFiles).unwrap()
}

#[test]
fn flesh_under_a_rigid_part_is_firm() {
    // A helmet on a plain node under joint 1.
    let loaded = with_nodes(1, &[json!({"name": "slot", "children": [4]}), json!({"mesh": 1})]);
    let [region] = &loaded.regions[..] else { panic!("{:?}", loaded.regions) };
    assert!(!region.is_soft() && loaded.summary.soft_regions.is_empty(), "{region:?}");
    let choice = region.choice(&loaded.character).unwrap();
    // The sample's weights of joint 1.
    assert_eq!(choice, [0.0, 0.5, 1.0, 0.75]);
    let mut settings = Settings::default();
    let notes = settings.add_regions_of(&loaded.character, loaded.regions.clone());
    assert!(notes.is_empty() && settings.regions.len() == 1, "{notes:?}");
    assert_eq!((settings.check(), settings.check_on(&loaded.character)), (Ok(()), Ok(())));
}

#[test]
fn each_part_counts_for_the_joint_next_above_it() {
    let on = |loaded: &Loaded| match loaded.regions.first().map(|r| &r.on) {
        Some(Place::Weights(joints)) => joints.len(),
        _ => 0,
    };
    // Without a mesh, and on what is no joint: nothing.
    assert_eq!(on(&with_nodes(1, &[json!({"name": "slot"})])), 0);
    assert_eq!(on(&with_nodes(2, &[json!({"mesh": 1})])), 0);
    let hip = with_nodes(0, &[json!({"mesh": 1})]);
    assert_eq!(on(&hip), 1);
    assert_eq!(hip.regions[0].choice(&hip.character).unwrap(), [1.0, 0.5, 0.0, 0.25]);
}
