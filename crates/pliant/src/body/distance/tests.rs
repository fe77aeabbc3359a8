use super::*;
use crate::asset::{Joint, Local, Part, RawCharacter, Skeleton, Surface};
use crate::rig::weights::{GeodesicSettings, slots};
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

/// Mean and largest error over expected distances, which are over some least distance.
fn errors(found: impl Iterator<Item = (f64, f64)>, least: f64) -> (f64, f64, f64) {
    let (mut count, mut sum, mut high, mut low) = (0, 0.0, 0.0f64, 0.0f64);
    for (found, expected) in found {
        let error = (found - expected) / expected.max(least);
        count += 1;
        sum += error.abs();
        high = high.max(error);
        low = low.min(error);
    }
    (sum / f64::from(count), high, low)
}

#[test]
fn straight_in_a_convex_body() {
    let mesh = cubes([12, 7, 5], 0.1, |_| true);
    let bones = [
        [DVec3::new(0.23, 0.31, 0.22), DVec3::new(0.91, 0.44, 0.27)],
        [DVec3::new(0.2, 0.3, 0.2), DVec3::new(0.8, 0.3, 0.2)],
        [DVec3::new(0.5, 0.1, 0.1), DVec3::new(0.5, 0.1, 0.11)],
    ];
    let skeleton = chains(&bones.each_ref().map(|b| &b[..]));
    let (bones, distances) = measure(&mesh, &skeleton, &[]);
    for (slot, bone) in bones.bones() {
        let at =
            |n: usize| (to_slot(distances.nodes(), n, *slot), bone.distance(mesh.positions()[n].as_dvec3()));
        let e = errors((0..mesh.positions().len()).map(at), 0.01);
        println!("box {slot}: {e:?}");
    }
}

/// In the plane, around the slot of a U between x 2 and 3 above y 2.
fn around_slot(from: DVec3, to: DVec3) -> f64 {
    let flat = |p: DVec3| glam::DVec2::new(p.x, p.y);
    let crosses = |a: glam::DVec2, b: glam::DVec2| {
        (0..=2000).any(|i| {
            let p = a + (b - a) * (f64::from(i) / 2000.0);
            p.x > 2.0 + 1e-6 && p.x < 3.0 - 1e-6 && p.y > 2.0 + 1e-6
        })
    };
    let (a, b) = (flat(from), flat(to));
    let corners = [glam::DVec2::new(2.0, 2.0), glam::DVec2::new(3.0, 2.0)];
    let mut best = f64::INFINITY;
    let mut take = |way: &[glam::DVec2]| {
        if way.windows(2).all(|w| !crosses(w[0], w[1])) {
            best = best.min(way.windows(2).map(|w| w[0].distance(w[1])).sum());
        }
    };
    take(&[a, b]);
    take(&[a, corners[0], b]);
    take(&[a, corners[1], b]);
    take(&[a, corners[0], corners[1], b]);
    take(&[a, corners[1], corners[0], b]);
    (best * best + (from.z - to.z) * (from.z - to.z)).sqrt()
}

#[test]
fn around_the_corner_in_a_u() {
    for cells in [1, 2, 3, 4] {
        let side = 1.0 / f64::from(cells);
        let mesh = cubes([5, 7, 2].map(|n| n * cells), side, |c| !(c[0] / cells == 2 && c[1] / cells >= 2));
        let bones = [
            [DVec3::new(0.9, 6.1, 1.03), DVec3::new(0.901, 6.1, 1.03)],
            [DVec3::new(4.02, 5.1, 0.03), DVec3::new(4.02, 5.101, 0.03)],
        ];
        let skeleton = chains(&bones.each_ref().map(|b| &b[..]));
        let (bones, distances) = measure(&mesh, &skeleton, &[]);
        for (slot, bone) in bones.bones() {
            let at = |n: usize| {
                (
                    to_slot(distances.nodes(), n, *slot),
                    around_slot(bone.start, mesh.positions()[n].as_dvec3()),
                )
            };
            let e = errors((0..mesh.positions().len()).map(at), 0.1);
            println!("u {cells} {slot} {} tets: {e:?}", mesh.tets().len());
        }
    }
}
