//! Real characters: every one loads, or is refused for a reason that is true of it.

mod common;

use pliant::rig::Pose;

#[test]
fn every_file_loads_or_is_refused_with_a_reason() {
    let Some(data) = common::data() else { return };
    for path in common::files_below(&data.join("gltf"), &["gltf", "glb", "vrm"]) {
        let name = path.strip_prefix(&data).unwrap().display().to_string();
        let summary = common::inspect(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        println!(
            "{name}: {} vertices, {} triangles, influences {}, {:?} {:?} {:?}",
            summary.vertices,
            summary.triangles,
            summary.influences_max,
            summary.skins,
            summary.clips.len(),
            summary.warnings
        );
        match common::read(&path) {
            Ok(loaded) => {
                let c = &loaded.character;
                assert!(summary.bakeable, "{name}");
                assert_eq!(loaded.summary, summary);
                assert_eq!(c.clips().len(), summary.clips.len(), "{name}");
                assert!(c.diagonal() > 0.0 && !c.slots().is_empty());
                for clip in c.clips().iter().map(Some).chain([None]) {
                    let pose = Pose::sample(c, clip, 0.3);
                    assert!(pose.world_from_joint.iter().all(|m| m.is_finite()), "{name}");
                }
            }
            Err(error) => {
                let text = error.to_string();
                let draco = summary.extensions_required.iter().any(|e| e.contains("draco"));
                assert!(!summary.bakeable && summary.reason == text, "{name}: {text}");
                assert!(
                    if draco { text.contains("Draco") } else { text.contains("no skinned mesh") },
                    "{name}: {text}"
                );
                assert!(draco || summary.skins.is_empty(), "{name}");
            }
        }
    }
}
