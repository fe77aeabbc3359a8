//! A body filled with balls: inscribed ones at the middle of the flesh, chosen so that together they cover as much of its
//! volume as so many can, some on every bone.

mod lattice;

use super::{Body, Bvh};
use crate::asset::Bone;
use crate::parallel;
use glam::{DVec3, Vec3};
use lattice::{Lattice, Marks};
use std::collections::BinaryHeap;

/// Samples of the volume that coverage is told by.
const SAMPLES: f64 = 30_000.0;
/// A ball whose neighbour on the lattice holds all but this share of the step more is no candidate: it is within that.
const WITHIN: f64 = 0.9;
/// How often balls are moved, one after the other, to where they cover more.
const MOVES: usize = 2;
/// Share of the balls that bones may ask for, and how many each does.
const ON_BONES: f64 = 0.5;
const ON_BONE: usize = 2;
/// How far beyond the skin's nearest place a ball reaches, over its radius. Inscribed ones leave every corner bare.
const PROUD: f64 = 0.04;

/// A ball of flesh at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Its middle.
    pub center: Vec3,
    /// Its radius.
    pub radius: f32,
}

/// Balls that fill a body.
#[derive(Debug, Clone, PartialEq)]
pub struct Balls {
    balls: Vec<Ball>,
    coverage: f64,
    gap: f64,
}

impl Balls {
    /// Fills the body of a skin at `positions` with about `count` balls: more where that many bones ask for one each.
    pub fn fill(
        body: &Body,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        bones: &[Bone],
        count: usize,
    ) -> Self {
        let fleshy = body.fleshy(triangles);
        let points: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
        let skin = Bvh::new(&points, &fleshy);
        let lattice = Lattice::new(body, &skin, SAMPLES);
        let mut filling = Filling::new(&lattice);
        let each = if bones.len() * ON_BONE <= (ON_BONES * count as f64) as usize { ON_BONE } else { 1 };
        for bone in bones {
            for k in 0..each {
                let share = (k as f64 + 0.5) / each as f64;
                if let Some(sample) = lattice.middle_near(bone.start + (bone.end - bone.start) * share) {
                    filling.add(sample);
                }
            }
        }
        let fixed = filling.chosen.len();
        filling.choose(count);
        for _ in 0..MOVES {
            (fixed..filling.chosen.len()).for_each(|k| filling.move_on(k));
        }
        let balls: Vec<Ball> = filling.chosen.iter().map(|&s| lattice.ball(s)).collect();
        let gap = gap(&balls, &points, &fleshy);
        Self { coverage: filling.coverage(), balls, gap }
    }

    /// The balls: those on bones first.
    pub fn balls(&self) -> &[Ball] {
        &self.balls
    }

    /// The share of the volume that is within any of them.
    pub fn coverage(&self) -> f64 {
        self.coverage
    }

    /// The mean distance from the skin's vertices to the nearest ball, in the character's units.
    pub fn gap(&self) -> f64 {
        self.gap
    }
}

/// The mean distance of skin from the balls.
fn gap(balls: &[Ball], points: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
    let mut is_skin = vec![false; points.len()];
    triangles.iter().flatten().for_each(|&v| is_skin[v as usize] = true);
    let off = |vertex: usize| {
        if !is_skin[vertex] {
            return 0.0;
        }
        let at = points[vertex].as_vec3();
        let all = balls.iter().map(|b| b.center.distance(at) - b.radius);
        f64::from(all.fold(f32::INFINITY, f32::min).max(0.0))
    };
    let count = is_skin.iter().filter(|&&is| is).count();
    parallel::map(points.len(), off).iter().sum::<f64>() / count.max(1) as f64
}

/// Balls that are being chosen. Each is a sample of the lattice, with the distance of the skin there for its radius.
struct Filling<'l> {
    lattice: &'l Lattice,
    candidates: Vec<u32>,
    /// How many balls hold each sample, and which none does.
    held: Vec<u16>,
    bare: Marks,
    chosen: Vec<u32>,
}

impl<'l> Filling<'l> {
    fn new(lattice: &'l Lattice) -> Self {
        let is_candidate = parallel::map(lattice.len(), |s| {
            let radius = lattice.radius(s as u32);
            let mut within = false;
            lattice.for_neighbours(s as u32, |n, step| within |= lattice.radius(n) >= radius + WITHIN * step);
            !within
        });
        let candidates = (0..lattice.len() as u32).filter(|&s| is_candidate[s as usize]).collect();
        let held = vec![0; lattice.len()];
        Self { lattice, candidates, held, bare: lattice.marks(), chosen: Vec::new() }
    }

    /// How many samples a ball there would add.
    fn gain(&self, sample: u32) -> u32 {
        self.lattice.count_within(&self.bare, sample)
    }

    fn hold(&mut self, sample: u32) {
        let Self { lattice, held, bare, .. } = self;
        lattice.for_each_within(sample, |s| {
            held[s as usize] += 1;
            if held[s as usize] == 1 {
                lattice.mark(bare, s, false);
            }
        });
    }

    fn release(&mut self, sample: u32) {
        let Self { lattice, held, bare, .. } = self;
        lattice.for_each_within(sample, |s| {
            held[s as usize] -= 1;
            if held[s as usize] == 0 {
                lattice.mark(bare, s, true);
            }
        });
    }

    fn add(&mut self, sample: u32) {
        if !self.chosen.contains(&sample) {
            self.hold(sample);
            self.chosen.push(sample);
        }
    }

    /// The one that adds most, again and again: gains only fall, so that the last one that was worked out is an upper bound.
    fn choose(&mut self, count: usize) {
        let gains = parallel::map(self.candidates.len(), |k| self.gain(self.candidates[k]));
        let ranked = gains.into_iter().zip(&self.candidates).map(|(gain, &s)| (gain, std::cmp::Reverse(s)));
        let mut queue: BinaryHeap<(u32, std::cmp::Reverse<u32>)> = ranked.collect();
        while self.chosen.len() < count {
            let Some((_, std::cmp::Reverse(sample))) = queue.pop() else { return };
            let gain = self.gain(sample);
            if gain == 0 {
                continue;
            }
            let entry = (gain, std::cmp::Reverse(sample));
            if queue.peek().is_none_or(|next| entry >= *next) {
                self.add(sample);
            } else {
                queue.push(entry);
            }
        }
    }

    /// Moves one to where it covers more, within its own reach.
    fn move_on(&mut self, index: usize) {
        let own = self.chosen[index];
        self.release(own);
        let reach = self.lattice.radius(own);
        let near = |&&s: &&u32| self.lattice.at(s).distance(self.lattice.at(own)) <= reach;
        let mut best = (self.gain(own), own);
        for &s in self.candidates.iter().filter(near) {
            let gain = self.gain(s);
            if gain > best.0 && !self.chosen.contains(&s) {
                best = (gain, s);
            }
        }
        self.chosen[index] = best.1;
        self.hold(best.1);
    }

    fn coverage(&self) -> f64 {
        let held = self.held.iter().filter(|&&h| h > 0).count();
        held as f64 / self.held.len().max(1) as f64
    }
}
