//! Which way the fibres run, and what flesh along a drawn one is like.

use crate::body::{FrameField, near_curves};
use crate::method::flesh::Flesh;
use crate::method::{Fibre, PrepareError, Settings};
use crate::rig::weights::{self, BoneDistances, KEEP, Near, NearBones, rest_size};
use glam::Quat;

/// How far outside the body a curve may be drawn, over the character's size: on the skin, or a little off it.
const REACH: f64 = 0.03;
/// How far a fibre's own material reaches where it does not say, over the character's size: a limb's thickness.
const RADIUS: f64 = 0.05;
/// Over what share of that it fades.
const FALLOFF: f64 = 0.5;
/// Joints with at least this share of a node's largest weight have a say in which bone is its nearest: an arm that hangs
/// beside a thigh does not follow that.
const SAY: f32 = 0.1;

/// The fibres of a body.
pub(super) struct Fibres {
    pub(super) frames: Vec<Quat>,
    /// For each fibre how much of each tet it has; nothing where it has no material of its own.
    shares: Vec<Vec<f32>>,
}

impl Fibres {
    pub(super) fn new(flesh: &Flesh<'_>, warnings: &mut Vec<String>) -> Result<Self, PrepareError> {
        let Flesh { character, body, settings, .. } = flesh;
        let (mesh, size) = (body.tets(), character.diagonal());
        let (mut names, mut curves, mut shares) = (Vec::new(), Vec::new(), Vec::new());
        for (index, fibre) in settings.fibres.iter().enumerate() {
            let own = fibre.curves().map_err(|e| e.under(&format!("fibre[{index}]")))?;
            let first = curves.len();
            for (name, curve) in own {
                names.push(if name.is_empty() { format!("fibre[{index}]") } else { format!("'{name}'") });
                curves.push(curve);
            }
            let radius = fibre.radius.unwrap_or(RADIUS * size);
            let falloff = fibre.falloff.unwrap_or(FALLOFF * radius);
            let material = has_material(fibre);
            shares.push(if material { near_curves(mesh, &curves[first..], radius, falloff) } else { vec![] });
        }
        let skeleton = character.skeleton();
        let bones = BoneDistances::new(skeleton, rest_size(mesh.positions(), skeleton))?;
        let field = FrameField::new(mesh, &bones, &near_bones(flesh, &bones), &curves, REACH * size);
        warnings.extend(field.missed.iter().map(|&curve| {
            let reach = REACH * size;
            format!("the fibre {} is farther than {reach:.3} from the flesh and counts nothing", names[curve])
        }));
        Ok(Self { frames: field.frames, shares })
    }

    /// The stiffnesses of a tet: what the method gives, or what the fibres near it have in place of that, the later
    /// fibre over the earlier one.
    pub(super) fn given(&self, settings: &Settings, tet: usize, given: [f64; 7]) -> [f64; 7] {
        let mut result = given;
        for (fibre, shares) in settings.fibres.iter().zip(&self.shares).filter(|(_, s)| !s.is_empty()) {
            let share = f64::from(shares[tet]);
            let stretch = fibre.stretch.into_iter().flatten().enumerate();
            let shear = fibre.shear.into_iter().flatten().enumerate().map(|(k, own)| (3 + k, own));
            for (k, own) in stretch.chain(shear).chain(fibre.volume.map(|own| (6, own))) {
                result[k] += (own - result[k]) * share;
            }
        }
        result
    }
}

fn has_material(fibre: &Fibre) -> bool {
    fibre.stretch.is_some() || fibre.shear.is_some() || fibre.volume.is_some()
}

/// Whether fibres change in nothing but their material's numbers.
pub(super) fn is_live(old: &[Fibre], new: &[Fibre]) -> bool {
    let place = |fibre: &Fibre| Fibre { stretch: None, shear: None, volume: None, ..fibre.clone() };
    let alike = |(a, b): (&Fibre, &Fibre)| place(a) == place(b) && has_material(a) == has_material(b);
    old.len() == new.len() && old.iter().zip(new).all(alike)
}

/// The bones near each node, of those that its weights name.
fn near_bones(flesh: &Flesh<'_>, bones: &BoneDistances) -> NearBones {
    let Flesh { character, body, rig, .. } = flesh;
    let mut bones_of_joint: Vec<Vec<u32>> = vec![Vec::new(); character.skeleton().len()];
    bones.bones().iter().zip(0..).for_each(|((_, b), index)| bones_of_joint[b.joint as usize].push(index));
    let nodes = body.tets().positions();
    let mut near = NearBones::new(nodes.len(), KEEP);
    near.for_each_mut(|node, entries| {
        let (place, own) = (nodes[node].as_dvec3(), rig.weights.of(node));
        let least = SAY * own.first().map_or(0.0, |w| w.1);
        for &(slot, _) in own.iter().filter(|w| w.1 >= least) {
            for &bone in &bones_of_joint[character.slots()[slot as usize].joint as usize] {
                let (slot, segment) = &bones.bones()[bone as usize];
                let distance = segment.distance(place).max(bones.smallest()).min(f64::from(f32::MAX)) as f32;
                weights::add(entries, Near { distance, bone, slot: *slot });
            }
        }
        if !entries[0].distance.is_finite() {
            weights::straight(place, bones, entries);
        }
    });
    near
}
