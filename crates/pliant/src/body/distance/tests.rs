use super::*;
use crate::asset::{Joint, Local, Part, RawCharacter, Skeleton, Surface};
use crate::rig::weights::slots;
use glam::DAffine3;
use proptest::prelude::*;

/// Cubes of side `side` where `filled` says so, each cut into five tets, every other one mirrored so that they fit.
fn cubes(counts: [u32; 3], side: f64, filled: impl Fn([u32; 3]) -> bool) -> TetMesh {
    let [nx, ny, nz] = counts;
    let corner = |[x, y, z]: [u32; 3]| (z * (ny + 1) + y) * (nx + 1) + x;
    let all = |[nx, ny, nz]: [u32; 3]| {
        (0..nz).flat_map(move |z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])))
    };
    let at = |c: [u32; 3]| (DVec3::from_array(c.map(f64::from)) * side).as_vec3();
    let positions = all([nx + 1, ny + 1, nz + 1]).map(at).collect();
    let mut tets = Vec::new();
    for [x, y, z] in all(counts).filter(|&cell| filled(cell)) {
        let odd = (x + y + z) % 2;
        let at = |i: u32| corner([x + ((i & 1) ^ odd), y + ((i >> 1) & 1), z + (i >> 2)]);
        let five = [[0, 1, 2, 4], [3, 1, 2, 7], [5, 1, 4, 7], [6, 2, 4, 7], [1, 2, 4, 7]];
        tets.extend(five.map(|tet| tet.map(at)));
    }
    TetMesh::new(positions, tets).unwrap()
}

fn chains(chains: &[&[DVec3]]) -> Skeleton {
    let mut joints: Vec<Joint> = Vec::new();
    for chain in chains {
        for (i, &at) in chain.iter().enumerate() {
            let parent = (i > 0).then(|| joints.len() as u32 - 1);
            let above = if i > 0 { chain[i - 1] } else { DVec3::ZERO };
            joints.push(Joint {
                name: String::new(),
                parent,
                local: Local::offset(at - above),
                world_from_rest: DAffine3::from_translation(at),
                deforms: i + 1 < chain.len(),
                tails: Vec::new(),
            });
        }
        let last = joints.len() - 1;
        joints[last - 1].tails = vec![chain[chain.len() - 1] - chain[chain.len() - 2]];
    }
    Skeleton::new(joints).unwrap()
}

fn measure(mesh: &TetMesh, skeleton: &Skeleton, skin: &[Vec3]) -> (BoneDistances, InsideDistances) {
    let bones = BoneDistances::new(skeleton, rest_size(mesh.positions(), skeleton)).unwrap();
    let embedding = Embedding::new(mesh, &topology::surface(mesh), skin);
    let distances = InsideDistances::new(mesh, &embedding, skin, &bones, 16).unwrap();
    (bones, distances)
}

fn to_slot(near: &NearBones, point: usize, slot: u16) -> f64 {
    f64::from(near.of(point).iter().find(|n| n.slot == slot).map_or(f32::INFINITY, |n| n.distance))
}

/// Mean of the errors over the expected distances, and the largest; distances below `least` count as that.
fn errors(both: impl Iterator<Item = (f64, f64)>, least: f64) -> (f64, f64) {
    let errors: Vec<f64> =
        both.map(|(found, expected)| (found - expected).abs() / expected.max(least)).collect();
    (errors.iter().sum::<f64>() / errors.len() as f64, errors.iter().copied().fold(0.0, f64::max))
}

#[test]
fn straight_in_a_convex_body() {
    let mesh = cubes([12, 7, 5], 0.1, |_| true);
    // Across tets, along their edges, and hardly longer than a point on a node.
    let pairs = [
        [DVec3::new(0.23, 0.31, 0.22), DVec3::new(0.91, 0.44, 0.27)],
        [DVec3::new(0.2, 0.3, 0.2), DVec3::new(0.8, 0.3, 0.2)],
        [DVec3::new(0.5, 0.1, 0.1), DVec3::new(0.5, 0.1, 0.11)],
    ];
    let skin: Vec<Vec3> = (0..500u32)
        .map(|i| Vec3::new((i % 10) as f32 * 0.13, (i / 10 % 10) as f32 * 0.075, (i / 100) as f32 * 0.12))
        .collect();
    let (bones, distances) = measure(&mesh, &chains(&pairs.each_ref().map(|b| &b[..])), &skin);
    assert_eq!(distances.warnings(&bones), []);
    for (slot, bone) in bones.bones() {
        let pair =
            |near: &NearBones, i: usize, p: Vec3| (to_slot(near, i, *slot), bone.distance(p.as_dvec3()));
        let nodes = mesh.positions().iter().enumerate().map(|(n, &p)| pair(distances.nodes(), n, p));
        let (mean, largest) = errors(nodes, 0.01);
        assert!(mean < 1e-5 && largest < 1e-3, "slot {slot}: {mean} {largest}");
        // Points of the skin inside tets, on them and outside.
        let skin = skin.iter().enumerate().map(|(v, &p)| pair(distances.vertices(), v, p));
        let (mean, largest) = errors(skin, 0.01);
        assert!(mean < 2e-3 && largest < 5e-2, "skin, slot {slot}: {mean} {largest}");
    }
}

/// A U whose arms are 2 wide, with a gap of 1 between x 2 and 3 above y 2; `cells` to each unit of length.
fn u(cells: u32) -> TetMesh {
    let filled = |c: [u32; 3]| c[0] / cells != 2 || c[1] / cells < 2;
    cubes([5, 7, 2].map(|n| n * cells), 1.0 / f64::from(cells), filled)
}

/// The length of the shortest way in the U: seen along z it bends at the gap's corners, and z grows evenly along it.
fn length_in_u(from: DVec3, to: DVec3) -> f64 {
    let clear = |a: DVec3, b: DVec3| {
        let at = |i: u32| a + (b - a) * (f64::from(i) / 1000.0);
        !(0..=1000).map(at).any(|p| p.x > 2.001 && p.x < 2.999 && p.y > 2.001)
    };
    let flat = |p: DVec3| DVec3::new(p.x, p.y, 0.0);
    let (a, b) = (flat(from), flat(to));
    let (left, right) = (DVec3::new(2.0, 2.0, 0.0), DVec3::new(3.0, 2.0, 0.0));
    let ways =
        [vec![a, b], vec![a, left, b], vec![a, right, b], vec![a, left, right, b], vec![a, right, left, b]];
    let clear = ways.iter().filter(|way| way.windows(2).all(|w| clear(w[0], w[1])));
    let length = |way: &Vec<DVec3>| way.windows(2).map(|w| w[0].distance(w[1])).sum::<f64>();
    let shortest = clear.map(length).fold(f64::INFINITY, f64::min);
    (shortest * shortest + (from.z - to.z) * (from.z - to.z)).sqrt()
}

#[test]
fn around_the_corners_of_a_u() {
    let along = DVec3::new(1e-4, 0.0, 0.0);
    let starts = [DVec3::new(0.9, 6.1, 1.03), DVec3::new(4.02, 5.1, 0.03)];
    let pairs = starts.map(|s| [s, s + along]);
    for cells in 1..4 {
        let mesh = u(cells);
        let (bones, distances) = measure(&mesh, &chains(&pairs.each_ref().map(|b| &b[..])), &[]);
        for (slot, bone) in bones.bones() {
            let nodes = mesh.positions().iter().enumerate();
            let pair = |(n, p): (usize, &Vec3)| {
                (to_slot(distances.nodes(), n, *slot), length_in_u(bone.start, p.as_dvec3()))
            };
            let (mean, largest) = errors(nodes.map(pair), 0.1);
            println!(
                "U of {} tets: {:.2} % off on average, {:.2} % at most",
                mesh.tets().len(),
                mean * 100.0,
                largest * 100.0
            );
            assert!(mean < 0.01 && largest < 0.05, "{mean} {largest}");
        }
    }
}

#[test]
fn the_arms_of_a_u_are_far_apart() {
    let mesh = u(2);
    let skin = [Vec3::new(2.0, 6.0, 1.0), Vec3::new(3.0, 6.0, 1.0)];
    let arm = |x: f64| [DVec3::new(x, 6.5, 1.0), DVec3::new(x, 5.0, 1.0)];
    let (left, right) = (arm(1.0), arm(4.0));
    let (_, distances) = measure(&mesh, &chains(&[&left, &right]), &skin);
    let near = distances.vertices();
    assert!((to_slot(near, 0, 0) - 1.0).abs() < 1e-3 && (to_slot(near, 1, 1) - 1.0).abs() < 1e-3);
    assert!(to_slot(near, 0, 1) > 7.0 && to_slot(near, 1, 0) > 7.0, "a straight line is 2 long");
}

#[test]
fn a_mirrored_body_has_mirrored_distances() {
    // Even numbers of cubes: the mirrored tets are the tets.
    let filled = |c: [u32; 3]| !(3..=4).contains(&c[0]) || c[1] < 2;
    let mesh = cubes([8, 6, 2], 0.5, filled);
    let arm = |x: f64| [DVec3::new(x, 2.7, 0.4), DVec3::new(x + (2.0 - x) * 0.1, 1.2, 0.6)];
    let (left, right) = (arm(0.8), arm(3.2));
    let (_, distances) = measure(&mesh, &chains(&[&left, &right]), &[]);
    for (n, p) in mesh.positions().iter().enumerate() {
        let mirrored = Vec3::new(4.0 - p.x, p.y, p.z);
        let other = mesh.positions().iter().position(|q| *q == mirrored).unwrap();
        let (a, b) = (to_slot(distances.nodes(), n, 0), to_slot(distances.nodes(), other, 1));
        assert!((a - b).abs() < 0.005 * a.max(0.1), "{p}: {a} {b}");
    }
}

/// Legs 1 long and 0.2 thick, 0.02 apart below a hip, a bone in each and one in the hip.
fn legs(scale: f64) -> (TetMesh, Character) {
    let mesh = cubes([21, 60, 10], 0.02 * scale, |c| c[0] != 10 || c[1] >= 50);
    let at = |x: f64, y: f64| DVec3::new(x, y, 0.1) * scale;
    let hip = [at(0.21, 1.02), at(0.21, 1.18)];
    let (left, right) = ([at(0.1, 0.95), at(0.1, 0.05)], [at(0.32, 0.95), at(0.32, 0.05)]);
    (mesh.clone(), character(&mesh, chains(&[&hip, &left, &right])))
}

/// A character whose skin is the surface of the tets.
fn character(mesh: &TetMesh, skeleton: Skeleton) -> Character {
    let triangles: Vec<[u32; 3]> = topology::surface(mesh).iter().map(|t| t.0).collect();
    let surface = Surface::new(mesh.positions().to_vec(), None, triangles).unwrap();
    let part = Part {
        name: String::new(),
        mesh: 0,
        vertices: 0..surface.positions().len() as u32,
        triangles: 0..surface.triangles().len() as u32,
        has_normals: false,
        color: [0.5; 3],
    };
    let slots = slots(&skeleton);
    let weights = Weights::new(&vec![vec![(0, 1.0)]; surface.positions().len()], slots.len()).unwrap();
    let (morphs, clips, paint) = (Vec::new(), Vec::new(), Vec::new());
    Character::new(RawCharacter {
        skeleton,
        surface,
        parts: vec![part],
        slots,
        weights,
        morphs,
        clips,
        paint,
    })
    .unwrap()
}

fn weigh_whole(mesh: &TetMesh, character: &Character, kind: WeightKind) -> Weighed {
    let positions = character.surface().positions();
    let embedding = Embedding::new(mesh, &topology::surface(mesh), positions);
    weigh(character, mesh, &embedding, kind).unwrap()
}

fn weight(weights: &Weights, vertex: usize, slot: u16) -> f32 {
    weights.of(vertex).find(|w| w.0 == slot).map_or(0.0, |w| w.1)
}

#[test]
fn legs_do_not_bleed_into_each_other() {
    let (mesh, character) = legs(1.0);
    for kind in [WeightKind::Segment, WeightKind::default()] {
        let weighed = weigh_whole(&mesh, &character, kind);
        assert_eq!(weighed.warnings, []);
        for (v, p) in mesh.positions().iter().enumerate() {
            let sum: f32 = weighed.weights.of(v).map(|w| w.1).sum();
            assert!((sum - 1.0).abs() < 1e-5);
            let other = if p.x < 0.21 { 2 } else { 1 };
            // The legs part at y 1; nothing is left of the other at twice a leg's thickness below.
            assert!(p.y > 0.6 || weight(&weighed.weights, v, other) < 1e-3, "{kind:?} {p}");
        }
    }
    // Along straight lines they do.
    let straight = weights::weigh_straight(&character, WeightKind::default()).unwrap();
    let inner =
        mesh.positions().iter().position(|p| (*p - Vec3::new(0.2, 0.5, 0.1)).length() < 1e-4).unwrap();
    assert!(weight(&straight, inner, 2) > 0.1);
}

#[test]
fn weights_do_not_depend_on_the_scale() {
    let [(small, a), (large, b)] = [1.0, 300.0].map(legs);
    for kind in [WeightKind::Segment, WeightKind::default()] {
        let (a, b) = (weigh_whole(&small, &a, kind).weights, weigh_whole(&large, &b, kind).weights);
        let differ = |v: usize| (0..3).any(|slot| (weight(&a, v, slot) - weight(&b, v, slot)).abs() > 1e-3);
        // Vertices as near to two bones may fall either way by rounding.
        let count = (0..small.positions().len()).filter(|&v| differ(v)).count();
        assert!(count * 100 < small.positions().len(), "{kind:?}: {count}");
    }
}

#[test]
fn weights_change_little_along_an_edge() {
    let (mesh, character) = legs(1.0);
    let weights = weigh_whole(&mesh, &character, WeightKind::default()).weights;
    // Edges are 0.02 long (0.03 across), limbs 0.2 thick and bend over about as much.
    for [a, b, c] in character.surface().triangles().iter().map(|t| t.map(|v| v as usize)) {
        for (from, to) in [(a, b), (b, c), (c, a)] {
            for slot in 0..3 {
                let change = (weight(&weights, from, slot) - weight(&weights, to, slot)).abs();
                assert!(change < 0.25, "{} {}: {change}", mesh.positions()[from], mesh.positions()[to]);
            }
        }
    }
}

#[test]
fn a_bone_outside_and_an_island_are_told_and_bound() {
    // A long bar, and a cube beside its far end that no bone is in.
    let mesh = cubes([12, 3, 1], 1.0, |c| c[1] == 0 || (c[1] == 2 && c[0] == 11));
    let inside = [DVec3::new(0.5, 0.5, 0.5), DVec3::new(6.0, 0.5, 0.5)];
    let outside = [DVec3::new(9.0, 1.5, 0.5), DVec3::new(11.0, 1.5, 0.5)];
    let character = character(&mesh, chains(&[&inside, &outside]));
    for kind in [WeightKind::Segment, WeightKind::default()] {
        let weighed = weigh_whole(&mesh, &character, kind);
        let island = DistanceWarning::Island { piece: 1, vertex: 0, vertices: 8, joint: 2 };
        let [DistanceWarning::Outside { joint: 2 }, DistanceWarning::Island { piece, vertices, joint, .. }] =
            weighed.warnings[..]
        else {
            panic!("{:?}", weighed.warnings)
        };
        let found = DistanceWarning::Island { piece, vertex: 0, vertices, joint };
        assert_eq!(found, island);
        for (v, p) in mesh.positions().iter().enumerate().filter(|(_, p)| p.y > 1.5) {
            assert!(weight(&weighed.weights, v, 1) > 0.999, "{p}");
        }
    }
    let (bones, distances) = measure(&mesh, character.skeleton(), &[]);
    let below = mesh.positions().iter().position(|p| *p == Vec3::new(10.0, 1.0, 0.0)).unwrap();
    let gap = bones.bones()[1].1.distance(mesh.positions()[below].as_dvec3());
    assert!((to_slot(distances.nodes(), below, 1) - gap).abs() < 0.1 * gap, "the gap is counted");
}

#[test]
fn overlapping_parts_do_not_share_a_bone() {
    // Two fingers on a palm, the second moved over most of the first: the bones of one lie in both.
    let mesh = cubes([5, 8, 2], 1.0, |c| c[1] < 2 || c[0] != 2);
    let shift = |p: &Vec3| if p.x > 2.5 && p.y > 2.5 { *p - Vec3::X * 2.2 } else { *p };
    let mesh = TetMesh::new(mesh.positions().iter().map(shift).collect(), mesh.tets().to_vec()).unwrap();
    let finger = [DVec3::new(1.0, 1.0, 1.0), DVec3::new(1.0, 3.0, 1.0), DVec3::new(1.0, 7.5, 1.0)];
    let (_, distances) = measure(&mesh, &chains(&[&finger]), &[]);
    let tip =
        |x: f32| mesh.positions().iter().position(|p| (*p - Vec3::new(x, 8.0, 1.0)).length() < 1e-3).unwrap();
    // The second finger's near side lies within the first, but to get there one goes by the palm.
    assert!(to_slot(distances.nodes(), tip(1.0), 1) < 0.6);
    assert!(to_slot(distances.nodes(), tip(0.8), 1) > 5.0);
}

/// Weights that sum to one, of joints that there are, whatever the skeleton.
fn check_whole(what: &str, weighed: &Weighed, slots: usize) {
    for v in 0..weighed.weights.vertex_count() {
        let sum: f32 = weighed.weights.of(v).map(|w| w.1).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{what}: {sum} at {v}");
        assert!(weighed.weights.of(v).all(|w| w.1 > 0.0 && usize::from(w.0) < slots), "{what}: {v}");
    }
}

#[test]
fn odd_skeletons_bind_every_vertex() {
    // Two pieces: a bar and a cube.
    let mesh = cubes([12, 3, 1], 1.0, |c| c[1] == 0 || (c[1] == 2 && c[0] == 11));
    let bone = |x: f64, length: f64| [DVec3::new(x, 0.4, 0.5), DVec3::new(x + length, 0.4, 0.5)];
    let away = |by: f64| bone(1.0, 2.0).map(|p| p + DVec3::splat(by));
    let many = |bones: Vec<[DVec3; 2]>| {
        let skeleton = chains(&bones.iter().map(|b| &b[..]).collect::<Vec<_>>());
        character(&mesh, skeleton)
    };
    let cases = [
        ("all in one place", vec![bone(3.0, 1.0); 40]),
        ("all at one point", vec![bone(3.0, 0.0); 40]),
        ("far away", vec![away(1e4), away(1e4 + 1.0)]),
        ("farther than squares of f32 reach", vec![away(1e30), away(-1e30)]),
        ("hundreds", (0..300).map(|i| bone(f64::from(i) * 0.04, 0.05)).collect()),
    ];
    for (what, bones) in cases {
        let (count, character) = (bones.len(), many(bones));
        for kind in [WeightKind::Segment, WeightKind::default()] {
            let weighed = weigh_whole(&mesh, &character, kind);
            check_whole(what, &weighed, count);
            let outside =
                weighed.warnings.iter().filter(|w| matches!(w, DistanceWarning::Outside { .. })).count();
            assert_eq!(outside, if what.starts_with("far") { count } else { 0 }, "{what}");
        }
    }
}

#[test]
fn bones_in_one_place_are_all_as_near() {
    let mesh = cubes([6, 2, 2], 1.0, |_| true);
    let (one, two) =
        ([DVec3::new(1.0, 1.1, 0.9), DVec3::new(2.0, 1.1, 0.9)], [DVec3::ONE * 0.3, DVec3::ONE * 0.9]);
    let (_, distances) = measure(&mesh, &chains(&[&one, &two, &one]), &[]);
    for n in 0..mesh.positions().len() {
        let [first, other, third] = [0, 1, 2].map(|slot| to_slot(distances.nodes(), n, slot));
        assert!(first == third && first.is_finite() && other.is_finite());
    }
}

#[test]
fn a_joint_with_one_bone_inside_is_not_told_of() {
    let mesh = cubes([6, 2, 2], 1.0, |_| true);
    let mut joints = chains(&[&[DVec3::ONE, DVec3::new(3.0, 1.0, 1.0)]]).joints().to_vec();
    let bones = |joints: Vec<Joint>| {
        let (bones, distances) = measure(&mesh, &Skeleton::new(joints).unwrap(), &[]);
        distances.warnings(&bones)
    };
    joints[0].local = Local::offset(DVec3::new(1.0, 5.0, 1.0));
    joints[0].world_from_rest = DAffine3::from_translation(DVec3::new(1.0, 5.0, 1.0));
    joints[0].tails = vec![DVec3::X];
    assert_eq!(bones(joints.clone()), [DistanceWarning::Outside { joint: 0 }]);
    joints[0].tails.push(DVec3::new(0.0, -4.0, 0.0));
    assert_eq!(bones(joints), []);
}

#[test]
fn a_bone_is_followed_through_all_its_tets() {
    // Out of the body and in again, thrice.
    let mesh = cubes([40, 1, 1], 1.0, |c| c[0] % 12 < 8);
    let bone = [DVec3::new(0.3, 0.41, 0.52), DVec3::new(39.7, 0.47, 0.55)];
    let skin: Vec<Vec3> =
        (0..40).filter(|x| x % 12 < 8).map(|x| Vec3::new(x as f32 + 0.5, 0.2, 0.2)).collect();
    let (bones, distances) = measure(&mesh, &chains(&[&bone]), &skin);
    assert_eq!(distances.warnings(&bones), [], "the bone lies in every piece");
    let embedded = topology::tets_of_nodes(&mesh);
    for (n, p) in mesh.positions().iter().enumerate().filter(|(n, _)| !embedded.of(*n).is_empty()) {
        let straight = bones.bones()[0].1.distance(p.as_dvec3());
        assert!((to_slot(distances.nodes(), n, 0) - straight).abs() < 0.05 * straight, "{p}");
    }
}

#[test]
fn an_embedding_of_another_skin_or_body_is_an_error() {
    let (mesh, character) = legs(1.0);
    let positions = character.surface().positions();
    let embedding = Embedding::new(&mesh, &topology::surface(&mesh), positions);
    let short = Embedding::new(&mesh, &topology::surface(&mesh), &positions[1..]);
    assert!(weigh(&character, &mesh, &short, WeightKind::default()).is_err());
    let small = cubes([1, 1, 1], 1.0, |_| true);
    assert!(weigh(&character, &small, &embedding, WeightKind::default()).is_err());
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (mesh, character) = legs(1.0);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            [WeightKind::Segment, WeightKind::default()].map(|k| weigh_whole(&mesh, &character, k))
        })
    };
    let one = run(1);
    assert!([2, 4].iter().all(|&threads| run(threads) == one));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    /// No way is shorter than a straight line, and remembering fewer bones changes none of the nearest: neither their
    /// distances nor, where others are not as near, which they are.
    #[test]
    fn few_remembered_bones_are_those_of_many(
        cells in 1u32..4,
        points in proptest::collection::vec(proptest::array::uniform3(0.02f64..0.98), 12..40),
    ) {
        let mesh = u(cells);
        let inside = |p: &[f64; 3]| {
            let p = DVec3::new(p[0] * 5.0, p[1] * 7.0, p[2] * 2.0);
            if p.x > 2.0 && p.x < 3.0 { DVec3::new(p.x, p.y * 2.0 / 7.0, p.z) } else { p }
        };
        let pairs: Vec<[DVec3; 2]> = points.iter().map(|p| [inside(p), inside(p) + DVec3::Z * 0.01]).collect();
        let skeleton = chains(&pairs.iter().map(|p| &p[..]).collect::<Vec<_>>());
        let bones = BoneDistances::new(&skeleton, rest_size(mesh.positions(), &skeleton)).unwrap();
        let skin: Vec<Vec3> = mesh.positions().iter().map(|p| *p * 0.97 + Vec3::splat(0.02)).collect();
        let embedding = Embedding::new(&mesh, &topology::surface(&mesh), &skin);
        let [few, all] =
            [8, 64].map(|keep| InsideDistances::new(&mesh, &embedding, &skin, &bones, keep).unwrap());
        let both = [(few.nodes(), all.nodes(), mesh.positions()), (few.vertices(), all.vertices(), &skin[..])];
        for (few, all, positions) in both {
            for (n, p) in positions.iter().enumerate() {
                for (few, nth) in few.of(n).iter().zip(all.of(n)) {
                    let straight = bones.bones()[few.bone as usize].1.distance(p.as_dvec3());
                    prop_assert!(f64::from(few.distance) >= straight * 0.9999);
                    let off = (few.distance - nth.distance).abs() / nth.distance;
                    let of_slot = to_slot(all, n, few.slot);
                    let off_slot = (f64::from(few.distance) - of_slot).abs() / of_slot;
                    prop_assert!(off <= 0.02, "{p}: {few:?} {nth:?}");
                    prop_assert!(off_slot <= 0.02, "{p}: {few:?} {of_slot}");
                }
            }
        }
    }
}
