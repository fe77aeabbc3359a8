//! A session as the page has it: bytes in, JSON out.

use pliant::zoo;
use pliant_io::gltf;
use pliant_web::Session;
use serde_json::{Value, json};
use std::path::PathBuf;

fn ask(session: &mut Session, command: &Value) -> Result<Value, String> {
    let text = command.to_string();
    session.reserve(text.len()).copy_from_slice(text.as_bytes());
    let is_well = session.call();
    let answer = String::from_utf8(session.answer().to_vec()).expect("text");
    if is_well { Ok(serde_json::from_str(&answer).expect("JSON")) } else { Err(answer) }
}

fn value(session: &mut Session, command: &Value) -> Value {
    ask(session, command).expect("it can be done")["value"].clone()
}

fn put(session: &mut Session, name: &str, bytes: &[u8]) {
    let whole = [bytes, name.as_bytes()].concat();
    session.reserve(whole.len()).copy_from_slice(&whole);
    session.put(name.len());
}

/// Numbers in an array of an answer.
fn count(answer: &Value, array: &str) -> u64 {
    answer["arrays"][array][1].as_u64().expect(array) / 4
}

/// A small limb as a GLB.
fn limb() -> Vec<u8> {
    gltf::write_character(&zoo::character("cylinder", Some(600)).unwrap()).unwrap()
}

fn opened(settings: &Value) -> Session {
    let mut session = Session::default();
    put(&mut session, "limb.glb", &limb());
    value(&mut session, &json!({ "do": "open", "source": { "main": "limb.glb" }, "settings": settings }));
    value(&mut session, &json!({ "do": "prepare", "settings": settings }));
    session
}

#[test]
fn every_method_plays_and_shows_what_it_says_it_can() {
    for method in pliant::method::NAMES {
        let settings = json!({ "method": method, "body": { "tets": 600 } });
        let mut session = Session::default();
        put(&mut session, "limb.glb", &limb());
        let opened = ask(
            &mut session,
            &json!({ "do": "open", "source": { "main": "limb.glb" }, "settings": settings }),
        )
        .unwrap();
        let about = &opened["value"];
        let vertices = about["vertices"].as_u64().unwrap();
        assert_eq!(count(&opened, "positions"), 3 * vertices);
        assert_eq!(count(&opened, "triangles"), 3 * about["triangles"].as_u64().unwrap());
        let prepared = value(&mut session, &json!({ "do": "prepare", "settings": settings }));
        assert_eq!(prepared["method"], json!(method));
        assert!(prepared["settings"]["simulation"]["iterations"].is_u64());
        let (heats, drawings) = (&prepared["heats"], &prepared["drawings"]);
        for heat in heats.as_array().unwrap() {
            let show = json!({ "do": "show", "heat": heat, "drawing": null, "cut": 0.0, "eye": [0, 0, 1] });
            value(&mut session, &show);
            let frame = ask(&mut session, &json!({ "do": "seek", "clip": 0, "seconds": 0.3 })).unwrap();
            assert_eq!(count(&frame, "heat"), vertices, "{method} {heat}");
            assert!(value(&mut session, &json!({ "do": "heat-scale", "heat": heat }))["high"].is_f64());
        }
        for drawing in drawings.as_array().unwrap() {
            let show =
                json!({ "do": "show", "heat": null, "drawing": drawing, "cut": 0.5, "eye": [0, 0, 1] });
            value(&mut session, &show);
            let frame =
                ask(&mut session, &json!({ "do": "play", "clip": 0, "seconds": 0.4, "loop": true })).unwrap();
            let drawn: u64 =
                ["lines", "dots", "facets", "balls"].iter().map(|array| count(&frame, array)).sum();
            assert!(drawn > 0, "{method} {drawing}");
        }
        let has = |list: &Value, what: &str| list.as_array().unwrap().iter().any(|item| item == what);
        assert_eq!(has(drawings, "pins"), method == "strain");
        assert_eq!(has(drawings, "balls"), method == "metaballs");
        assert_eq!(has(heats, "residual"), ["position", "strain"].contains(&method));
        let numbers = value(&mut session, &json!({ "do": "vertex", "index": 7 }));
        let weights = numbers["weights"].as_array().unwrap().iter();
        let sum: f64 = weights.map(|w| w["weight"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5);
    }
}

#[test]
fn a_moment_is_the_same_whichever_way_it_is_come_by_and_what_a_bake_gives() {
    let mut session = opened(&json!({ "method": "position", "preset": "fat", "body": { "tets": 600 } }));
    let mut at = |seconds: f64| {
        value(&mut session, &json!({ "do": "seek", "clip": 0, "seconds": seconds }));
        value(&mut session, &json!({ "do": "hash" }))
    };
    let (early, late) = (at(0.4), at(1.1));
    assert_ne!(early, late);
    assert_eq!((at(0.4), at(1.1), at(0.4)), (early.clone(), late, early));
    let baked = ask(&mut session, &json!({ "do": "bake", "clip": 0, "format": "glb" })).unwrap();
    assert_eq!(baked["value"]["names"], json!(["limb.glb"]));
    let again = ask(&mut session, &json!({ "do": "bake", "clip": 0, "format": "pc2" })).unwrap();
    assert_eq!(baked["value"]["stateHash"], again["value"]["stateHash"]);
}

#[test]
fn numbers_are_tuned_or_prepared_anew() {
    let mut session = opened(&json!({ "method": "position", "body": { "tets": 600 } }));
    let mut tuned = |settings: Value| value(&mut session, &json!({ "do": "tune", "settings": settings }));
    let position = |stretch: f64, tets: u32| json!({ "method": "position", "body": { "tets": tets }, "position": { "stretch": stretch } });
    assert_eq!(tuned(position(0.2, 600)), json!(true));
    assert_eq!(tuned(position(0.2, 700)), json!(false));
    assert_eq!(tuned(json!({ "method": "lbs", "body": { "tets": 600 } })), json!(false));
    let paint = json!([{ "name": "_SOFTNESS", "vertices": [1], "values": [1.0] }]);
    assert_eq!(tuned(json!({ "method": "position", "body": { "tets": 600 }, "paint": paint })), json!(false));
}

#[test]
fn paint_makes_flesh_soft() {
    let vertices: Vec<u32> = (0..300).collect();
    let paint = json!([{ "name": "_SOFTNESS", "vertices": vertices, "values": vec![1.0; 300] }]);
    let settings = json!({ "method": "position", "body": { "tets": 600 }, "paint": paint });
    let (mut plain, mut painted) =
        (opened(&json!({ "method": "position", "body": { "tets": 600 } })), opened(&settings));
    let shake = json!({ "do": "seek", "clip": 2, "seconds": 0.5 });
    let hash = |session: &mut Session| {
        value(session, &shake);
        value(session, &json!({ "do": "hash" }))
    };
    assert_ne!(hash(&mut plain), hash(&mut painted));
    assert_eq!(value(&mut painted, &json!({ "do": "vertex", "index": 5 }))["softness"], json!(1.0));
    assert_eq!(value(&mut plain, &json!({ "do": "vertex", "index": 5 }))["softness"], json!(0.0));
}

#[test]
fn what_cannot_be_done_is_said_and_the_session_goes_on() {
    let mut session = opened(&json!({}));
    put(&mut session, "broken.glb", b"glTF\x02\0\0\0");
    put(&mut session, "lone.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    let open = |main: &str| json!({ "do": "open", "source": { "main": main } });
    for (command, word) in [
        (open("broken.glb"), "broken.glb"),
        (open("lone.obj"), "skeleton"),
        (open("missing.glb"), "not dropped"),
        (open("strange.xyz"), "unknown kind"),
        (json!({ "do": "open", "source": { "sample": "dragon" } }), "dragon"),
        (json!({ "do": "prepare", "settings": { "method": "lsb" } }), "lbs"),
        (json!({ "do": "prepare", "settings": { "region": [{ "on": { "painted": "_X" } }] } }), "_X"),
        (json!({ "do": "vertex", "index": 1_000_000 }), "no vertex"),
        (json!({ "do": "bake", "clip": 99, "format": "glb" }), "clip"),
        (json!({ "do": "dance" }), "no command"),
        (json!({ "do": "read-settings", "toml": "metod = 1" }), "line 1"),
    ] {
        let error = ask(&mut session, &command).unwrap_err();
        assert!(error.contains(word), "{command}: {error}");
    }
    // Turns that are none, joints that are not there, moments that are not numbers in range.
    for command in [
        json!({ "do": "pose", "turns": [{ "joint": 99, "quaternion": [0, 0, 0, 0] }], "seconds": 0.01 }),
        json!({ "do": "seek", "clip": 99, "seconds": -5.0 }),
        json!({ "do": "seek", "clip": 0, "seconds": 1e300 }),
        json!({ "do": "play", "clip": 0, "seconds": 0.1, "loop": true }),
    ] {
        assert!(ask(&mut session, &command).is_ok(), "{command}");
    }
}

/// A glTF of several files, and every hostile file there is: an answer or words, no panic.
#[test]
fn real_and_hostile_files() {
    let beside = || Some(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let Some(data) =
        std::env::var_os("PLIANT_DATA").map(PathBuf::from).or_else(beside).filter(|d| d.is_dir())
    else {
        println!("no real files here: PLIANT_DATA names their folder");
        return;
    };
    let mut session = Session::default();
    for file in ["Fox.gltf", "Fox.bin", "Texture.png"] {
        let bytes = std::fs::read(data.join("gltf/Fox").join(file)).expect(file);
        put(&mut session, &format!("Fox/{file}"), &bytes);
    }
    let about = value(&mut session, &json!({ "do": "open", "source": { "main": "Fox/Fox.gltf" } }));
    assert_eq!((about["vertices"].as_u64(), about["clips"].as_array().map(Vec::len)), (Some(1728), Some(3)));
    let mut folders = vec![data.join("bad")];
    let (mut refused, mut read) = (0, 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if ["glb", "gltf", "vrm", "obj", "bvh"].iter().any(|e| name.ends_with(&format!(".{e}"))) {
                put(&mut session, &name, &std::fs::read(&path).unwrap());
                match ask(&mut session, &json!({ "do": "open", "source": { "main": name } })) {
                    Ok(_) => read += 1,
                    Err(error) => {
                        assert!(!error.is_empty() && !error.contains('\n'), "{name}: {error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 20, "{refused} refused, {read} read");
}
