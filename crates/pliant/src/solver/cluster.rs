//! Constraints that share nodes, four at a time.
//!
//! Fetching nodes and giving them back takes longer than projecting a constraint. So edges are taken in rings of four,
//! on 4 nodes instead of 8, and tets in strips of four, each sharing a face with the one before, on 7 nodes instead of
//! 16. What is left over is taken one by one.

use crate::body::topology::{Adjacency, NONE};

/// Constraints of a cluster.
pub(super) const FOUR: usize = 4;

/// Nodes of the largest cluster.
pub(super) const MOST_NODES: usize = 7;

/// Most edges of a node in a ring. Looking for rings takes the square of it, and few nodes have half as many.
const MOST_EDGES: usize = 64;

/// A cluster, or one constraint; the rest is [`NONE`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Cluster {
    /// Which constraints, in the order of the steps.
    pub items: [u32; FOUR],
    /// On which nodes.
    pub nodes: [u32; MOST_NODES],
}

/// How four constraints on `N` nodes each share the nodes of a cluster: for each, which of them it is on.
pub(super) type Steps<const N: usize> = [[usize; N]; FOUR];

/// The edges of a ring, opposite ones first since neither waits for the other.
pub(super) const RING: Steps<2> = [[0, 1], [2, 3], [1, 2], [3, 0]];

/// The tets of a strip: each puts a new node in the place of one of the first tet's.
pub(super) const STRIP: Steps<4> = [[0, 1, 2, 3], [4, 1, 2, 3], [4, 5, 2, 3], [4, 5, 6, 3]];

/// Constraints that can be clustered.
pub(super) trait Clustering<const N: usize>: Sized {
    /// How clusters share nodes.
    const STEPS: Steps<N>;
    /// How many nodes a cluster has.
    const NODES: usize;

    /// Clusters of these constraints on `count` nodes, and the constraints that are in none.
    fn clusters(items: &[Self], count: usize) -> (Vec<Cluster>, Vec<Cluster>);
}

impl Cluster {
    fn new(items: &[u32], nodes: impl IntoIterator<Item = u32>) -> Self {
        let mut cluster = Self { items: [NONE; FOUR], nodes: [NONE; MOST_NODES] };
        cluster.items[..items.len()].copy_from_slice(items);
        cluster.nodes.iter_mut().zip(nodes).for_each(|(to, node)| *to = node);
        cluster
    }
}

impl Clustering<2> for [u32; 2] {
    const STEPS: Steps<2> = RING;
    const NODES: usize = 4;

    /// Rings through the edges in their order. Where there is a choice, by the nodes with fewest edges left: later they
    /// might be in no ring.
    fn clusters(items: &[Self], count: usize) -> (Vec<Cluster>, Vec<Cluster>) {
        // Edges left at each node: the other end, and which.
        let mut left: Vec<Vec<[u32; 2]>> = vec![Vec::new(); count];
        let mut edges_at = vec![0; count];
        items.iter().flatten().for_each(|&node| edges_at[node as usize] += 1);
        for (edge, &[a, b]) in items.iter().enumerate() {
            if edges_at[a as usize].max(edges_at[b as usize]) <= MOST_EDGES {
                left[a as usize].push([b, edge as u32]);
                left[b as usize].push([a, edge as u32]);
            }
        }
        let (mut rings, mut ones) = (Vec::new(), Vec::new());
        let mut used = vec![false; items.len()];
        // The edge from the node in question to each other one.
        let mut edge_to = vec![NONE; count];
        for (edge, &[a, b]) in items.iter().enumerate() {
            if used[edge] {
                continue;
            }
            left[a as usize].iter().for_each(|&[other, edge]| edge_to[other as usize] = edge);
            let mut best: Option<(usize, [u32; FOUR], [u32; 4])> = None;
            for &[c, bc] in left[b as usize].iter().filter(|[c, _]| *c != a) {
                for &[d, cd] in left[c as usize].iter().filter(|[d, _]| *d != a && *d != b) {
                    let da = edge_to[d as usize];
                    let left = left[c as usize].len() + left[d as usize].len();
                    if da != NONE && best.is_none_or(|best| left < best.0) {
                        best = Some((left, [edge as u32, cd, bc, da], [a, b, c, d]));
                    }
                }
            }
            left[a as usize].iter().for_each(|&[other, _]| edge_to[other as usize] = NONE);
            match best {
                Some((_, edges, nodes)) => {
                    edges.iter().for_each(|&edge| used[edge as usize] = true);
                    for node in nodes {
                        left[node as usize].retain(|[_, edge]| !edges.contains(edge));
                    }
                    rings.push(Cluster::new(&edges, nodes));
                }
                None => ones.push(Cluster::new(&[edge as u32], [a, b])),
            }
        }
        (rings, ones)
    }
}

impl Clustering<4> for [u32; 4] {
    const STEPS: Steps<4> = STRIP;
    const NODES: usize = 7;

    /// Strips that start at the tet with fewest neighbours left and go where there are fewest: later those might be in
    /// no strip.
    fn clusters(items: &[Self], count: usize) -> (Vec<Cluster>, Vec<Cluster>) {
        let across = Adjacency::of(items, count).across;
        let neighbours = |tet: u32| across[tet as usize].into_iter().filter(|&other| other != NONE);
        let mut search = Search {
            items,
            across: &across,
            free: (0..items.len() as u32).map(|tet| neighbours(tet).count()).collect(),
            used: vec![false; items.len()],
            best: None,
        };
        // Tets by how many neighbours they have left. A tet is put in again when that changes.
        let mut queues: [Vec<u32>; 5] = Default::default();
        (0..items.len()).rev().for_each(|tet| queues[search.free[tet]].push(tet as u32));
        let (mut strips, mut ones) = (Vec::new(), Vec::new());
        while let Some(fewest) = queues.iter().position(|queue| !queue.is_empty()) {
            let Some(first) = queues[fewest].pop() else { continue };
            if search.used[first as usize] || search.free[first as usize] != fewest {
                continue;
            }
            search.best = None;
            search.extend(Strip::new(first), 1);
            let tet = items[first as usize];
            let cluster = match &search.best {
                Some(strip) => {
                    let kept = tet.iter().filter(|node| !strip.dropped.contains(node));
                    let nodes = strip.dropped.iter().chain(kept).chain(&strip.added);
                    Cluster::new(&strip.tets, nodes.copied())
                }
                None => Cluster::new(&[first], tet),
            };
            if search.best.is_some() { &mut strips } else { &mut ones }.push(cluster);
            for tet in cluster.items.into_iter().filter(|&tet| tet != NONE) {
                search.used[tet as usize] = true;
                for other in neighbours(tet) {
                    let free = &mut search.free[other as usize];
                    *free -= 1;
                    queues[*free].push(other);
                }
            }
        }
        (strips, ones)
    }
}

/// Tets in a row: each after the first drops a node of the first, and adds one that none before has.
#[derive(Debug, Clone, Copy)]
struct Strip {
    tets: [u32; FOUR],
    dropped: [u32; FOUR - 1],
    added: [u32; FOUR - 1],
    /// Neighbours that its tets have left.
    free: usize,
}

impl Strip {
    fn new(first: u32) -> Self {
        Self { tets: [first; FOUR], dropped: [NONE; FOUR - 1], added: [NONE; FOUR - 1], free: 0 }
    }
}

/// A search for the strip of four whose tets have fewest neighbours left.
struct Search<'a> {
    items: &'a [[u32; 4]],
    across: &'a [[u32; 4]],
    free: Vec<usize>,
    used: Vec<bool>,
    best: Option<Strip>,
}

impl Search<'_> {
    /// Tries all ways to go on with a strip of this length.
    fn extend(&mut self, strip: Strip, length: usize) {
        if length == FOUR {
            if self.best.is_none_or(|best| strip.free < best.free) {
                self.best = Some(strip);
            }
            return;
        }
        let last = strip.tets[length - 1] as usize;
        let tet = self.items[last];
        for face in 0..4 {
            let next = self.across[last][face];
            if next == NONE || self.used[next as usize] || strip.tets.contains(&next) {
                continue;
            }
            // Two tets on the same four nodes add none.
            let Some(&new) = self.items[next as usize].iter().find(|node| !tet.contains(node)) else {
                continue;
            };
            if strip.added.contains(&tet[face]) || strip.dropped.contains(&new) {
                continue;
            }
            let mut longer = strip;
            longer.tets[length] = next;
            longer.dropped[length - 1] = tet[face];
            longer.added[length - 1] = new;
            longer.free += self.free[next as usize];
            self.extend(longer, length + 1);
        }
    }
}
