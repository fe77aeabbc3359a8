//! Weights spread over the skin. A joint's ball turns skin by its weights: where they go from one bone to another in less than
//! the flesh is thick, as in an armpit, skin is torn there, and stray weights of a file are a notch. Spread, they change over
//! a length that the flesh sets, whatever the mesh; where it is coarser than that they stay.

use super::rig::{BONES, Bound};
use crate::asset::{AssetError, Character, Weights};
use crate::body::prune;
use crate::parallel;
use crate::skin::mesh::Mesh;

/// How far weights are spread, over the way from the skin to its nearest bone. With none a shoulder's edges are stretched eight
/// times where linear blending has five; with 0.5 a twisted wrist loses a tenth of its section.
const FAR: f64 = 0.3;
/// Sweeps, there and back, at most, and the change of a weight below which there is none to make.
const SWEEPS: usize = 40;
const SETTLED: f64 = 1e-4;
/// Weights lose this much, so that a limb is rigid away from its joints.
const LEAST: f32 = 0.02;

/// A character with its weights spread. `thickness` is how far inside of a vertex its nearest bone is: 0 where it keeps the
/// weights that it has.
pub(super) fn spread(
    character: Character,
    thickness: impl Fn(usize) -> f64,
) -> Result<Character, AssetError> {
    let own = |vertex: usize| character.weights().of(vertex).collect();
    let mut weights: Vec<Bound> = (0..character.weights().vertex_count()).map(own).collect();
    Spread::new(&character, thickness).over(&mut weights, character.slots().len());
    let mut raw = character.into_raw();
    raw.weights = Weights::new(&weights, raw.slots.len())?;
    Character::new(raw)
}

/// The skin, as weights are spread over it.
struct Spread {
    mesh: Mesh,
    /// For each point where its neighbours start, and one more.
    starts: Vec<u32>,
    /// Neighbours, and how much of them there is to one part of the point's own.
    around: Vec<(u32, f64)>,
}

impl Spread {
    fn new(character: &Character, thickness: impl Fn(usize) -> f64) -> Self {
        let mesh = Mesh::new(character);
        let (mut starts, mut around) = (vec![0], Vec::new());
        for point in 0..mesh.len() {
            let vertex = mesh.vertex_of_point[point] as usize;
            let far = FAR * thickness(vertex);
            let mut ring = Vec::new();
            mesh.for_neighbours(point, |n| ring.push(n as u32));
            ring.sort_unstable();
            ring.dedup();
            // In the plane the Laplacian is 4 / h^2 times the way to the neighbours' mean.
            let by = 4.0 * far * far / ring.len().max(1) as f64;
            let squares = ring.iter().map(|&n| mesh.points[point].distance_squared(mesh.points[n as usize]));
            let own = ring.iter().zip(squares).map(|(&n, square)| (n, by / square));
            around.extend(own.filter(|n| n.1 > 0.0 && n.1.is_finite()));
            starts.push(around.len() as u32);
        }
        Self { mesh, starts, around }
    }

    fn around(&self, point: u32) -> &[(u32, f64)] {
        &self.around[self.starts[point as usize] as usize..self.starts[point as usize + 1] as usize]
    }

    /// Spreads the weights of all vertices.
    fn over(&self, weights: &mut [Bound], slots: usize) {
        let of = |vertex: u32, slot: usize| {
            let own = weights[vertex as usize].iter().find(|w| w.0 as usize == slot);
            own.map_or(0.0, |w| f64::from(w.1))
        };
        let fields = parallel::map(slots, |slot| {
            self.field(self.mesh.vertex_of_point.iter().map(|&v| of(v, slot)).collect())
        });
        for (vertex, bound) in weights.iter_mut().enumerate() {
            let point = self.mesh.point_of_vertex[vertex];
            if self.around(point).is_empty() {
                continue;
            }
            let own = fields.iter().enumerate().map(|(slot, field)| {
                (slot as u16, field.get(point as usize).map_or(0.0, |&w| w as f32) - LEAST)
            });
            *bound = own.filter(|w| w.1 > 0.0).collect();
            bound.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            // The last one fades out as the next takes its place.
            let next = bound.get(BONES).map_or(0.0, |w| w.1);
            bound.iter_mut().for_each(|w| w.1 -= next);
            bound.retain(|w| w.1 > 0.0);
            prune(bound, BONES);
        }
    }

    /// Solves `w - far^2 laplacian(w) = first` for one slot, from where it changes outwards; nothing where it has no weight.
    fn field(&self, first: Vec<f64>) -> Vec<f64> {
        if first.iter().all(|&w| w == 0.0) {
            return Vec::new();
        }
        let mut field = first.clone();
        let differs = |field: &[f64], p: u32| {
            self.around(p).iter().any(|n| (field[n.0 as usize] - field[p as usize]).abs() > SETTLED)
        };
        let mut active: Vec<u32> = (0..first.len() as u32).filter(|&p| differs(&first, p)).collect();
        let mut is_active = vec![false; first.len()];
        active.iter().for_each(|&p| is_active[p as usize] = true);
        for _ in 0..SWEEPS {
            let mut most = 0.0f64;
            for &p in active.iter().chain(active.iter().rev()) {
                let own = self.around(p).iter();
                let (sum, whole) = own.fold((first[p as usize], 1.0), |(sum, whole), &(n, by)| {
                    (sum + by * field[n as usize], whole + by)
                });
                let now = sum / whole;
                most = most.max((now - field[p as usize]).abs());
                field[p as usize] = now;
            }
            let reached = active.len();
            for k in 0..reached {
                for &(n, _) in self.around(active[k]) {
                    if !is_active[n as usize] && differs(&field, n) {
                        is_active[n as usize] = true;
                        active.push(n);
                    }
                }
            }
            if most < SETTLED && active.len() == reached {
                break;
            }
            active.sort_unstable();
        }
        field
    }
}
