//! Balls on bones, skin on balls, and the springs between them: what is found once.

use super::spread::spread;
use super::{BallWeights, MetaballsSettings};
use crate::asset::{AssetError, Bone, Character, Slot, Weights};
use crate::body::{Ball, Balls, Body, Embedding, InsideDistances, prune};
use crate::parallel;
use crate::rig::weights::{self, BoneDistances, KEEP, Near, rest_size};
use glam::Vec3;
use std::borrow::Cow;

/// Distance from a ball's centre to a bone counts as no less than this share of its radius: without it balls on the axis
/// of a limb make a step.
const SOFTENED: f64 = 0.5;
/// Distance from a ball's skin counts as no less than this share of its radius.
const FLOOR: f64 = 0.15;

/// Bones of a ball or vertex, and balls of a vertex.
pub(super) const BONES: usize = 4;
const VERTEX_BALLS: usize = 6;
/// Balls near a vertex or ball that are looked at.
const NEAR_BALLS: usize = 16;
/// Weights below this share of the largest are none: it is taken off all, so that they still fade. Without it a limb is a
/// little bent far from its joints.
const LEAST: f32 = 0.01;
/// Weights with this much in common give a vertex to the same bones; so it must be with this share of them.
const SAME: f32 = 0.5;
const AGREED: f64 = 0.97;
/// Balls whose bones are this alike (shares in common), and more, are a vertex's own.
const ALIKE: f32 = 0.3;
/// Springs that a ball asks for, and how much farther than the sum of radii they go.
const SPRINGS: usize = 6;
const SPRING_REACH: f64 = 1.15;
/// How much longer than straight the way through the inside may be, for two balls to be neighbours.
const STRAIGHT: f64 = 1.1;

pub(super) type Bound = Vec<(u16, f32)>;

/// Balls in a character.
pub(super) struct BallRig<'c> {
    /// With the weights that tie its skin to the bones.
    pub(super) character: Cow<'c, Character>,
    pub(super) packing: Balls,
    /// Slots and weights of each ball, the largest first.
    pub(super) on_bones: Vec<Bound>,
    /// Balls of each vertex, and how much of it goes with them: the rest follows its bones.
    pub(super) on_balls: Vec<Bound>,
    pub(super) share: Vec<f32>,
    /// Springs between balls, the lower first, in order.
    pub(super) springs: Vec<[u32; 2]>,
}

impl<'c> BallRig<'c> {
    pub(super) fn new(
        character: &'c Character,
        body: &Body,
        settings: &MetaballsSettings,
    ) -> Result<Self, AssetError> {
        let rest = character.rest_positions();
        let used = weights::only_used(character.clone())?;
        let bones = BoneDistances::new(used.skeleton(), rest_size(&rest, used.skeleton()))?;
        let segments: Vec<Bone> = bones.bones().iter().map(|b| b.1).collect();
        let triangles = character.surface().triangles();
        let packing = Balls::fill(body, &rest, triangles, &segments, settings.balls);
        let centers: Vec<Vec3> = packing.balls().iter().map(|b| b.center).collect();
        let points: Vec<Vec3> = rest.iter().chain(&centers).copied().collect();
        let of_centers = Embedding::new(body.tets(), body.surface(), &centers);
        let embedding = body.embedding().clone().and(&of_centers);
        let places = BoneDistances::of_places(&centers, character.diagonal())?;
        let near_balls = InsideDistances::new(body.tets(), &embedding, &points, &places, NEAR_BALLS)?;
        let near_balls = |point: usize| near_balls.vertices().of(point);

        let count = rest.len();
        let near = InsideDistances::new(body.tets(), &embedding, &points, &bones, KEEP)?;
        // What has no flesh of its own keeps the weights that it came with.
        let thickness = |vertex: usize| match near.vertices().of(vertex).first() {
            Some(nearest) if !body.rides(vertex) => f64::from(nearest.distance),
            _ => 0.0,
        };
        let inside = match settings.weights {
            BallWeights::File => None,
            BallWeights::Auto | BallWeights::Inside => {
                let radius = |point: usize| match point.checked_sub(count) {
                    Some(ball) => f64::from(packing.balls()[ball].radius),
                    None => 0.0,
                };
                let mut bound =
                    parallel::map(points.len(), |p| by_distance(near.vertices().of(p), radius(p)));
                let on_bones = bound.split_off(count);
                let own = own_weights(character, &used);
                let agrees = settings.weights == BallWeights::Inside || agree(&bound, &own, body);
                ride(own, body, &mut bound);
                agrees.then_some((bound, on_bones))
            }
        };
        let (character, on_bones) = match inside {
            Some((bound, on_bones)) => {
                let weights = Weights::new(&bound, bones.slot_count())?;
                (spread(weights::bind(used, weights)?, thickness)?, on_bones)
            }
            None => {
                let character = spread(character.clone(), thickness)?;
                let on_bones = averaged(&character, packing.balls(), near_balls);
                (character, on_bones)
            }
        };
        let character: Cow<'c, Character> = Cow::Owned(character);
        let balls = packing.balls();
        let of_vertex = |vertex: usize| -> (Bound, f32) {
            if body.rides(vertex) {
                return (Vec::new(), 0.0);
            }
            let own: Bound = character.weights().of(vertex).collect();
            on_balls(near_balls(vertex), balls, &own, &on_bones)
        };
        let (on_balls, share) = parallel::map(count, of_vertex).into_iter().unzip();
        let springs = springs(balls, |ball| near_balls(count + ball));
        Ok(Self { character, packing, on_bones, on_balls, share, springs })
    }

    /// The mean radius of the balls that go with a bone, by their volume: the limb's.
    pub(super) fn limb_radius(&self, slot: u16) -> f64 {
        let own = self.balls().iter().zip(&self.on_bones);
        let own = own.filter(|(_, on)| on.first().is_some_and(|b| b.0 == slot));
        let (sum, weight) = own.fold((0.0, 0.0), |(sum, weight), (ball, _)| {
            let radius = f64::from(ball.radius);
            (sum + radius.powi(4), weight + radius.powi(3))
        });
        if weight > 0.0 { sum / weight } else { 0.0 }
    }

    pub(super) fn balls(&self) -> &[Ball] {
        self.packing.balls()
    }
}

/// The fourth power.
fn fourth(x: f64) -> f64 {
    (x * x) * (x * x)
}

/// `(1/d)^8`, with `d` softened by the radius.
fn by_distance(near: &[Near], radius: f64) -> Bound {
    let soft = SOFTENED * radius;
    let squared = |n: &Near| (f64::from(n.distance).powi(2) + soft * soft).max(f64::MIN_POSITIVE);
    let first = near.iter().map(squared).fold(f64::INFINITY, f64::min);
    let weigh = |n: &Near| (n.slot, fourth(first / squared(n)) as f32 - LEAST);
    let mut bound: Bound = near.iter().map(weigh).filter(|w| w.1 > 0.0).collect();
    prune(&mut bound, BONES);
    bound
}

/// The weights that vertices came with, by the slots of the joints that they use.
fn own_weights(character: &Character, used: &Character) -> Vec<Bound> {
    let slots = weights::slots(used.skeleton());
    let slot_of = |slot: &Slot| slots.iter().position(|s| s.joint == slot.joint).map(|s| s as u16);
    let new_slots: Vec<Option<u16>> = character.slots().iter().map(slot_of).collect();
    let of_vertex = |vertex: usize| {
        let own = character.weights().of(vertex).filter_map(|(s, w)| Some((new_slots[s as usize]?, w)));
        let mut own: Bound = own.collect();
        prune(&mut own, usize::MAX);
        own
    };
    (0..character.weights().vertex_count()).map(of_vertex).collect()
}

/// Whether two sets of weights give nearly all skin to the same bones.
fn agree(inside: &[Bound], own: &[Bound], body: &Body) -> bool {
    let (mut same, mut all) = (0u32, 0u32);
    for (_, (a, b)) in inside.iter().zip(own).enumerate().filter(|(v, _)| !body.rides(*v)) {
        let of = |slot: u16| b.iter().find(|w| w.0 == slot).map_or(0.0, |w| w.1);
        let shared: f32 = a.iter().map(|&(slot, weight)| weight.min(of(slot))).sum();
        (same, all) = (same + u32::from(shared >= SAME), all + 1);
    }
    f64::from(same) >= AGREED * f64::from(all)
}

/// What has no flesh of its own keeps the weights that it came with.
fn ride(own: Vec<Bound>, body: &Body, bound: &mut [Bound]) {
    for (vertex, own) in own.into_iter().enumerate().filter(|(v, own)| body.rides(*v) && !own.is_empty()) {
        bound[vertex] = own;
    }
}

/// The mean of the weights of the skin around each ball.
fn averaged<'n>(
    character: &Character,
    balls: &[Ball],
    near_balls: impl Fn(usize) -> &'n [Near],
) -> Vec<Bound> {
    let mut sums: Vec<Bound> = vec![Vec::new(); balls.len()];
    for vertex in 0..character.weights().vertex_count() {
        for near in near_balls(vertex) {
            let off = over_ball(near, balls) / f64::from(balls[near.slot as usize].radius);
            let share = (0.5 - off).max(0.0) as f32;
            if share > 0.0 {
                for (slot, weight) in character.weights().of(vertex) {
                    let sum = &mut sums[near.slot as usize];
                    match sum.iter_mut().find(|s| s.0 == slot) {
                        Some(entry) => entry.1 += share * weight,
                        None => sum.push((slot, share * weight)),
                    }
                }
            }
        }
    }
    for (ball, sum) in sums.iter_mut().enumerate() {
        if sum.is_empty() {
            // No skin is near: that of the nearest vertex.
            let at = balls[ball].center;
            let distance = |v: &usize| character.surface().positions()[*v].distance(at);
            let all = 0..character.weights().vertex_count();
            let nearest = all.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            sum.extend(nearest.into_iter().flat_map(|v| character.weights().of(v)));
        }
        prune(sum, BONES);
    }
    sums
}

/// How far a point is from a ball's surface, no less than its floor.
fn over_ball(near: &Near, balls: &[Ball]) -> f64 {
    let radius = f64::from(balls[near.slot as usize].radius);
    (f64::from(near.distance) - radius).max(FLOOR * radius)
}

/// Balls of a vertex by `(1/d)^4`, those that its bones move; and how much of it they carry.
fn on_balls(near: &[Near], balls: &[Ball], own: &[(u16, f32)], on_bones: &[Bound]) -> (Bound, f32) {
    let alike = |ball: u16| -> f32 {
        let of_ball = |slot: u16| on_bones[ball as usize].iter().find(|b| b.0 == slot).map_or(0.0, |b| b.1);
        own.iter().map(|&(slot, weight)| weight.min(of_ball(slot))).sum()
    };
    let first = near.iter().map(|n| over_ball(n, balls)).fold(f64::INFINITY, f64::min);
    let mut most = 0.0f32;
    let mut bound: Bound = Vec::with_capacity(near.len());
    for n in near {
        let likeness = (alike(n.slot) / ALIKE).min(1.0);
        let weight = fourth(first / over_ball(n, balls)) as f32;
        most = most.max(likeness * weight.min(1.0));
        bound.push((n.slot, weight * likeness));
    }
    bound.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    // The last one fades out as the next takes its place.
    let next = bound.get(VERTEX_BALLS).map_or(0.0, |b| b.1);
    bound.iter_mut().for_each(|b| b.1 -= next);
    let least = 0.1 * LEAST * bound.first().map_or(0.0, |b| b.1);
    bound.retain(|b| b.1 > least);
    prune(&mut bound, VERTEX_BALLS);
    let share = if bound.is_empty() { 0.0 } else { (10.0 * most).min(1.0) };
    (bound, share)
}

/// Between balls that touch, or nearly do, without a gap between: through the inside, and straight.
fn springs<'n>(balls: &[Ball], near_balls: impl Fn(usize) -> &'n [Near]) -> Vec<[u32; 2]> {
    let mut springs = Vec::new();
    for (index, ball) in balls.iter().enumerate() {
        let others = near_balls(index).iter().filter(|n| n.slot as usize != index).filter_map(|n| {
            let other = &balls[n.slot as usize];
            let straight = f64::from(ball.center.distance(other.center));
            let radii = f64::from(ball.radius + other.radius);
            let way = f64::from(n.distance);
            let joined = way <= SPRING_REACH * radii && way <= STRAIGHT * straight && straight > 0.0;
            joined.then_some((way / radii, n.slot))
        });
        let mut others: Vec<(f64, u16)> = others.collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, other) in others.iter().take(SPRINGS) {
            let (a, b) = (index as u32, u32::from(other));
            springs.push([a.min(b), a.max(b)]);
        }
    }
    springs.sort_unstable();
    springs.dedup();
    springs
}
