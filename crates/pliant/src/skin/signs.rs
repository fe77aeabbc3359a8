//! Which of a rotation's two quaternions to blend.
//!
//! Signs must be aligned to each vertex's largest influence (its lead). Signs that suit all vertices at once nearly
//! always exist: one walk over the joints that meet in vertices finds them, each against one met before. Only where
//! three or more joints that meet are turned far apart can the walk contradict itself; the few vertices concerned are
//! listed beforehand, and done again by the plain code.

use super::influences::Influences;
use super::plain::opposed;
use super::rigid::Rigid;
use std::ops::Range;

/// Joints that meet in vertices: a forest that gives signs, and what it leaves out.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// A slot, and one before it in this list (or itself, at a root).
    forest: Vec<[u16; 2]>,
    /// Pairs of a lead and another slot that the forest does not join, with their vertices.
    loose: Vec<Loose>,
    vertices: Vec<u32>,
}

#[derive(Debug)]
struct Loose {
    slots: [u16; 2],
    vertices: Range<usize>,
}

impl Signs {
    pub(super) fn new(influences: &Influences, slot_count: usize) -> Self {
        // Lead and slot, either way round, and vertex.
        let mut met: Vec<([u16; 2], u32)> = Vec::new();
        for vertex in 0..influences.vertex_count() {
            let lead = influences.lead(vertex);
            let others = influences.of(vertex).map(|(slot, _)| slot).filter(|&slot| slot != lead);
            met.extend(others.map(|slot| ([lead.min(slot), lead.max(slot)], vertex as u32)));
        }
        met.sort_unstable();
        // Pairs that most vertices have come first, so that the fewest are left out.
        let mut pairs: Vec<&[([u16; 2], u32)]> = met.chunk_by(|a, b| a.0 == b.0).collect();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.len()));

        let mut tree_of: Vec<u16> = (0..slot_count).map(|slot| slot as u16).collect();
        let mut edges: Vec<Vec<u16>> = vec![Vec::new(); slot_count];
        let mut signs = Self::default();
        for pair in pairs {
            let slots = pair[0].0;
            let [a, b] = slots.map(|slot| root(&mut tree_of, slot));
            if a == b {
                let start = signs.vertices.len();
                signs.vertices.extend(pair.iter().map(|met| met.1));
                signs.loose.push(Loose { slots, vertices: start..signs.vertices.len() });
            } else {
                tree_of[usize::from(b)] = a;
                edges[usize::from(slots[0])].push(slots[1]);
                edges[usize::from(slots[1])].push(slots[0]);
            }
        }
        let mut seen = vec![false; slot_count];
        for slot in 0..slot_count {
            if seen[slot] {
                continue;
            }
            seen[slot] = true;
            let mut next = signs.forest.len();
            signs.forest.push([slot as u16; 2]);
            while let Some(&[from, _]) = signs.forest.get(next) {
                for &to in &edges[usize::from(from)] {
                    if !std::mem::replace(&mut seen[usize::from(to)], true) {
                        signs.forest.push([to, from]);
                    }
                }
                next += 1;
            }
        }
        signs
    }

    /// Gives every quaternion the sign that suits the others it is blended with.
    pub(super) fn align(&self, rigids: &mut [Rigid]) {
        for &[slot, before] in &self.forest {
            let [slot, before] = [slot, before].map(usize::from);
            if opposed(&rigids[before], &rigids[slot]) {
                let rigid = &mut rigids[slot];
                rigid.rotation = rigid.rotation.map(|x| -x);
                rigid.dual = rigid.dual.map(|x| -x);
            }
        }
    }

    /// Lists the pairs that the signs do not suit; how many vertices they have.
    pub(super) fn find_unsuited(&self, rigids: &[Rigid], unsuited: &mut Vec<u32>) -> usize {
        unsuited.clear();
        // At once, so that a pose that suits fewer than the last allocates nothing.
        unsuited.reserve(self.loose.len());
        let mut vertices = 0;
        for (index, pair) in self.loose.iter().enumerate() {
            let [a, b] = pair.slots.map(|slot| &rigids[usize::from(slot)]);
            if opposed(a, b) {
                unsuited.push(index as u32);
                vertices += pair.vertices.len();
            }
        }
        vertices
    }

    /// The vertices, among these, of listed pairs.
    pub(super) fn vertices(&self, unsuited: &[u32], among: Range<usize>) -> impl Iterator<Item = usize> {
        unsuited.iter().flat_map(move |&pair| {
            let vertices = &self.vertices[self.loose[pair as usize].vertices.clone()];
            let first = vertices.partition_point(|&v| (v as usize) < among.start);
            let last = vertices.partition_point(|&v| (v as usize) < among.end);
            vertices[first..last].iter().map(|&v| v as usize)
        })
    }
}

/// The tree that a slot is in, by its root; paths are halved on the way.
fn root(tree_of: &mut [u16], mut slot: u16) -> u16 {
    while tree_of[usize::from(slot)] != slot {
        let above = tree_of[usize::from(slot)];
        tree_of[usize::from(slot)] = tree_of[usize::from(above)];
        slot = above;
    }
    slot
}
