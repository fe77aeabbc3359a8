//! The springs of a VRM as soft regions, and springs that are none.

mod common;

use common::damage::{extended, glb, split};
use common::data::{data, files_below};
use pliant::method::{Place, Region, Settings};
use pliant_io::files::NoFiles;
use pliant_io::gltf::{self, Loaded};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The sample has nodes 0 "hip", 1 without a name, and 2, the mesh.
fn load(name: &str, extension: &Value) -> Loaded {
    gltf::read(extended(name, &extension.to_string()), &NoFiles).unwrap()
}

fn springs(springs: Value) -> Loaded {
    load("VRMC_springBone", &json!({"specVersion": "1.0", "springs": springs}))
}

fn groups(groups: Value) -> Loaded {
    load("VRM", &json!({"secondaryAnimation": {"boneGroups": groups, "colliderGroups": []}}))
}

fn joints(region: &Region) -> Vec<&str> {
    let Place::Weights(joints) = &region.on else { panic!("{region:?}") };
    joints.iter().map(String::as_str).collect()
}

fn one(loaded: &Loaded) -> &Region {
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let [region] = &loaded.regions[..] else { panic!("{:?}", loaded.regions) };
    region
}

#[test]
fn springs_of_vrm_1_are_regions() {
    let loaded = springs(json!([{"name": "hair", "joints": [
        {"node": 0, "stiffness": 1.0, "dragForce": 0.5, "gravityPower": 0.0, "hitRadius": 0.02},
        {"node": 1},
    ]}]));
    let region = one(&loaded);
    assert_eq!((&region.name[..], joints(region)), ("hair", vec!["hip", "#1"]));
    // The standard's defaults are about fat.
    let tissue = region.resolved();
    assert!((tissue.softness - 0.8).abs() < 1e-12 && (tissue.damping - 1.5).abs() < 1e-12, "{tissue:?}");
    assert!((tissue.stretch - 0.17).abs() < 0.01 && tissue.bind == tissue.stretch, "{tissue:?}");
    // All of the sample's skin hangs on these two joints.
    let choice = region.choice(&loaded.character).unwrap();
    assert!(choice.iter().all(|c| (c - 1.0).abs() < 1e-6), "{choice:?}");
    let mut settings = Settings::default();
    settings.add_regions_of(&loaded.character, loaded.regions.clone());
    assert_eq!((settings.check(), settings.check_on(&loaded.character)), (Ok(()), Ok(())));
    assert_eq!(loaded.summary.soft_regions.len(), 1);
}

#[test]
fn springs_of_vrm_0_swing_all_that_is_under_them() {
    let group = json!({"comment": "skirt", "stiffiness": 1, "gravityPower": 0, "dragForce": 0.5, "center": -1,
        "gravityDir": {"x": 0, "y": -1, "z": 0}, "bones": [0], "colliderGroups": []});
    let loaded = groups(json!([group]));
    assert_eq!((&one(&loaded).name[..], joints(one(&loaded))), ("skirt", vec!["hip", "#1"]));
    // In version 1 joints are named one by one.
    let loaded = springs(json!([{"joints": [{"node": 0}]}]));
    assert_eq!((&one(&loaded).name[..], joints(one(&loaded))), ("springs", vec!["hip"]));
}

fn swing(stiffness: f64, gravity: f64, drag: f64) -> pliant::method::Tissue {
    let group = json!({"stiffiness": stiffness, "gravityPower": gravity, "dragForce": drag, "bones": [0]});
    one(&groups(json!([group]))).resolved()
}

#[test]
fn stiffer_is_less_soft_heavier_sags_more_drag_damps() {
    let mut before = swing(0.0, 0.0, 0.5);
    assert_eq!(before.softness, 1.0);
    for stiffness in [0.1, 0.5, 1.0, 2.0, 4.0, 100.0] {
        let now = swing(stiffness, 0.0, 0.5);
        assert!(now.softness < before.softness && now.stretch > before.stretch && now.bind > before.bind);
        assert!(now.softness > 0.0 && now.stretch < 1.0 && now.damping == before.damping);
        before = now;
    }
    let mut before = swing(1.0, 0.0, 0.5);
    for gravity in [0.2, 1.0, 2.0] {
        let now = swing(1.0, gravity, 0.5);
        assert!(now.bind < before.bind && now.stretch == before.stretch);
        before = now;
    }
    let mut before = swing(1.0, 0.0, 0.0);
    assert_eq!(before.damping, 0.0);
    for drag in [0.1, 0.4, 0.9, 0.99, 1.0] {
        let now = swing(1.0, 0.0, drag);
        assert!(now.damping > before.damping && now.damping <= 20.0, "{drag}: {now:?}");
        before = now;
    }
}

/// Strands of hair share vertices: alike, they are one region, or the skin between them would be half as soft.
#[test]
fn springs_that_swing_alike_are_one_region() {
    let spring = |name: &str, node: usize, stiffness: f64| json!({"name": name, "joints": [{"node": node, "stiffness": stiffness}]});
    let all = springs(json!([
        spring("a", 0, 1.0),
        spring("b", 1, 1.0),
        spring("c", 1, 2.0),
        spring("d", 0, 1.0),
        spring("e", 0, 1.0),
    ]));
    assert_eq!(all.regions.iter().map(|r| &r.name[..]).collect::<Vec<_>>(), ["a, b, d and 1 more", "c"]);
    assert_eq!(all.regions.iter().map(joints).collect::<Vec<_>>(), [vec!["hip", "#1"], vec!["#1"]]);
}

/// A chain swings by the mean of its joints; its last only says where it ends.
#[test]
fn a_chain_has_one_swing() {
    let joint = |node: usize, drag: f64| json!({"node": node, "dragForce": drag});
    let chain = springs(json!([{"joints": [joint(0, 0.4), joint(1, 0.6), joint(1, 0.99)]}]));
    let plain = springs(json!([{"joints": [joint(0, 0.5), joint(1, 0.5)]}]));
    assert!((one(&chain).resolved().damping - one(&plain).resolved().damping).abs() < 1e-12);
}

#[test]
fn hostile_springs_are_warnings() {
    let good = json!({"name": "good", "joints": [{"node": 0}]});
    for (bad, why) in [
        (json!({"joints": [{"node": 99}]}), "there is no node 99"),
        (json!({"joints": [{"node": 2}]}), "no skin is bound"),
        (json!({"joints": []}), "no skin is bound"),
        (json!({"joints": [{"node": -1}]}), "passed over"),
        (json!({"joints": [{"node": 18446744073709551615u64}]}), "there is no node"),
        (json!({"joints": [{"node": "hip"}]}), "string"),
        (json!({"joints": [{"node": 0, "stiffness": "soft"}]}), "string"),
        (json!({"joints": [{"node": 0, "stiffness": [1]}]}), "sequence"),
        (json!({"joints": [{}]}), "node"),
        (json!({"joints": 3}), "passed over"),
        (json!({}), "joints"),
        (json!("hair"), "passed over"),
        (json!(null), "passed over"),
        (json!({"joints": [{"node": 0, "dragForce": -3}]}), "cut"),
        (json!({"joints": [{"node": 1, "stiffness": -1e308}]}), "cut"),
    ] {
        let loaded = springs(json!([bad, good]));
        let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 1, "{bad}: {warnings:?}");
        let place = "extensions.VRMC_springBone.springs[0]: ";
        assert!(warnings[0].starts_with(place) && warnings[0].contains(why), "{bad}: {warnings:?}");
        assert!(loaded.regions.iter().any(|r| r.name.contains("good")), "{bad}");
        for region in &loaded.regions {
            let settings = Settings { regions: vec![region.clone()], ..Settings::default() };
            assert_eq!(settings.check(), Ok(()), "{bad}");
        }
    }
    // A number that is none is no JSON, or none that can be held.
    for (text, reads) in [("NaN", false), ("1e999", true)] {
        let spring = format!(r#"{{"springs":[{{"joints":[{{"node":0,"stiffness":{text}}}]}}]}}"#);
        let loaded = gltf::read(extended("VRMC_springBone", &spring), &NoFiles);
        assert_eq!(loaded.is_ok(), reads, "{text}");
        assert!(loaded.is_ok_and(|l| l.regions.is_empty() && l.warnings.len() == 1) || !reads);
    }
    // The same node over and over, and the root of everything.
    let loop_of = springs(json!([{"joints": vec![json!({"node": 1}); 1000]}]));
    assert_eq!(joints(one(&loop_of)), ["#1"]);
    for extension in [json!({}), json!({"springs": 3}), json!({"springs": {}}), json!({"springs": [[]]})] {
        assert!(load("VRMC_springBone", &extension).regions.is_empty(), "{extension}");
    }
    for extension in [
        json!({}),
        json!({"secondaryAnimation": 3}),
        json!({"secondaryAnimation": {"boneGroups": [3, {"bones": "all"}, {"bones": [77]}]}}),
    ] {
        assert!(load("VRM", &extension).regions.is_empty(), "{extension}");
    }
    // An extension that is no object is an error of the file, as for any other.
    assert!(gltf::read(extended("VRMC_springBone", "3"), &NoFiles).is_err());
    assert!(gltf::read(extended("VRM", "[]"), &NoFiles).is_err());
}

#[test]
fn many_springs_take_no_time_and_say_little() {
    let group = |i: usize| json!({"stiffiness": i, "bones": vec![0; 50]});
    for (extension, most) in [
        (json!((0..20_000).map(group).collect::<Vec<_>>()), 64),
        (json!((0..200_000).map(|_| json!({"bones": [0, 1]})).collect::<Vec<_>>()), 1),
        (json!(vec![json!({"bones": [9]}); 100_000]), 0),
        (json!(vec![0; 500_000]), 0),
    ] {
        let file = extended("VRM", &json!({"secondaryAnimation": {"boneGroups": extension}}).to_string());
        let started = Instant::now();
        let loaded = gltf::read(file, &NoFiles).unwrap();
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
        assert_eq!(loaded.regions.len(), most);
        assert!(loaded.warnings.len() < 12, "{} warnings", loaded.warnings.len());
        assert!(loaded.warnings.iter().all(|w| w.to_string().len() < 400));
    }
    let long = format!(r#"{{"springs":[{}0]}}"#, "0,".repeat(5 << 20));
    let loaded = gltf::read(extended("VRMC_springBone", &long), &NoFiles).unwrap();
    assert!(loaded.warnings[0].what.contains("8 MB"), "{:?}", loaded.warnings);
}

#[test]
fn real_vrms_are_read() {
    let Some(data) = data() else { return };
    let files = files_below(&data.join("gltf"), &["vrm"]);
    assert_eq!(files.len(), 2);
    for path in files {
        let loaded = common::read(&path).unwrap();
        assert!(loaded.regions.is_empty(), "both have no springs");
        // With springs on the head and all under it, the skin that the head moves is soft.
        let (text, bin) = split(&std::fs::read(&path).unwrap());
        let mut json: Value = serde_json::from_slice(&text).unwrap();
        let nodes = json["nodes"].as_array().unwrap();
        let head =
            nodes.iter().position(|n| n["name"].as_str().is_some_and(|n| n.eq_ignore_ascii_case("head")));
        let group = json!({"comment": "hair", "stiffiness": 0.5, "dragForce": 0.4, "bones": [head.unwrap()]});
        json["extensions"]["VRM"]["secondaryAnimation"]["boneGroups"] = json!([group]);
        let loaded = gltf::read(glb(json.to_string().as_bytes(), &bin), &NoFiles).unwrap();
        assert_eq!(loaded.regions.len(), 1, "{:?}", loaded.warnings);
        let choice = loaded.regions[0].choice(&loaded.character).unwrap();
        assert_eq!(choice.len(), loaded.character.surface().positions().len());
        assert!(choice.iter().all(|c| (0.0..=1.0).contains(c)));
    }
}
