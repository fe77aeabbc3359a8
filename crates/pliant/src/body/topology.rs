//! Who touches whom in a tet mesh. Everything here counts instead of sorting, and is linear in the tets.

use crate::asset::TetMesh;

/// The four faces of a positive tet as its corners, wound to be seen anticlockwise from outside. Face `f` is opposite
/// corner `f`.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// No tet: beyond a face that only one tet has, or a layer that no seed reaches.
pub const NONE: u32 = u32::MAX;

/// Least share of its tets' volume that a node stands for. A node of tets with nothing in them must still have a mass
/// that the solver can divide by; much more than this 2 %, and thin parts get heavier than their skin.
const LEAST_FILL: f64 = 0.02;

/// Lists of indices, one per element, laid end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Puts each item in the lists that it names; a list's items are in order.
    pub(crate) fn group<const N: usize>(lists: usize, items: &[[u32; N]]) -> Self {
        let mut starts = vec![0u32; lists + 1];
        items.iter().flatten().for_each(|&list| starts[list as usize + 1] += 1);
        for i in 0..lists {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut grouped = vec![0u32; items.len() * N];
        for (item, of) in items.iter().enumerate() {
            for &list in of {
                grouped[next[list as usize] as usize] = item as u32;
                next[list as usize] += 1;
            }
        }
        Self { starts, items: grouped }
    }

    /// The same lists of other items.
    pub(crate) fn with(mut self, item: impl Fn(u32) -> u32) -> Self {
        self.items.iter_mut().for_each(|i| *i = item(*i));
        self
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list of an element.
    pub fn of(&self, index: usize) -> &[u32] {
        &self.items[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// All lists end to end.
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}

/// The tets of each node, in order.
pub fn tets_of_nodes(mesh: &TetMesh) -> Lists {
    Lists::group(mesh.positions().len(), mesh.tets())
}

/// The nodes that share an edge with each node, in order.
pub fn neighbours(mesh: &TetMesh) -> Lists {
    let tets_of = tets_of_nodes(mesh);
    let mut lists = Lists { starts: vec![0], items: Vec::with_capacity(mesh.tets().len() * 3) };
    let mut seen_by = vec![NONE; mesh.positions().len()];
    for node in 0..tets_of.len() {
        let first = lists.items.len();
        seen_by[node] = node as u32;
        for &tet in tets_of.of(node) {
            for other in mesh.tets()[tet as usize] {
                if seen_by[other as usize] != node as u32 {
                    seen_by[other as usize] = node as u32;
                    lists.items.push(other);
                }
            }
        }
        lists.items[first..].sort_unstable();
        lists.starts.push(lists.items.len() as u32);
    }
    lists
}

/// Every edge once, lower node first, in order.
pub fn edges(mesh: &TetMesh) -> Vec<[u32; 2]> {
    edges_of(&neighbours(mesh))
}

/// As [`edges`], from [`neighbours`].
pub fn edges_of(neighbours: &Lists) -> Vec<[u32; 2]> {
    let mut edges = Vec::with_capacity(neighbours.items().len() / 2);
    for node in 0..neighbours.len() {
        let above = neighbours.of(node).iter().filter(|&&other| other as usize > node);
        edges.extend(above.map(|&other| [node as u32, other]));
    }
    edges
}

/// What lies across the faces of tets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adjacency {
    /// For each tet and each of its [`FACES`] the tet on the other side, or [`NONE`]. Where more than two tets share a
    /// face, the next of them, so that a walk still reaches all.
    pub across: Vec<[u32; 4]>,
    /// Faces shared by more than two tets: 0 in a sound mesh.
    pub crowded: usize,
}

impl Adjacency {
    /// Finds what lies across each face.
    pub fn new(mesh: &TetMesh) -> Self {
        Self::of(mesh.tets(), mesh.positions().len())
    }

    /// The same for tets that are no mesh yet.
    pub(crate) fn of(tets: &[[u32; 4]], nodes: usize) -> Self {
        let corners = |tet: u32, face: u32| {
            let mut nodes = FACES[face as usize].map(|c| tets[tet as usize][c]);
            nodes.sort_unstable();
            nodes
        };
        // Faces that are one have one lowest node: after counting by it, few are left to compare.
        let lowest: Vec<[u32; 1]> =
            (0..tets.len() as u32 * 4).map(|slot| [corners(slot / 4, slot % 4)[0]]).collect();
        let by_lowest = Lists::group(nodes, &lowest);
        let mut adjacency = Self { across: vec![[NONE; 4]; tets.len()], crowded: 0 };
        let mut faces: Vec<([u32; 3], u32)> = Vec::new();
        for node in 0..by_lowest.len() {
            faces.clear();
            faces.extend(by_lowest.of(node).iter().map(|&slot| (corners(slot / 4, slot % 4), slot)));
            faces.sort_unstable();
            for group in faces.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
                adjacency.crowded += usize::from(group.len() > 2);
                for (k, &(_, slot)) in group.iter().enumerate() {
                    let next = group[(k + 1) % group.len()].1;
                    adjacency.across[slot as usize / 4][slot as usize % 4] = next / 4;
                }
            }
        }
        adjacency
    }

    /// The triangles that only one tet has, seen anticlockwise from outside, with that tet; in order of tets.
    pub fn surface(&self, mesh: &TetMesh) -> Vec<([u32; 3], u32)> {
        let mut surface = Vec::new();
        for (t, (tet, across)) in mesh.tets().iter().zip(&self.across).enumerate() {
            for face in (0..4).filter(|&face| across[face] == NONE) {
                surface.push((FACES[face].map(|c| tet[c]), t as u32));
            }
        }
        surface
    }

    /// The pieces of the mesh: tets joined by faces.
    pub fn pieces(&self) -> Pieces {
        let mut label = vec![NONE; self.across.len()];
        let mut found: Vec<u32> = Vec::new();
        let mut to_visit: Vec<u32> = Vec::new();
        for seed in 0..label.len() {
            if label[seed] != NONE {
                continue;
            }
            let piece = found.len() as u32;
            label[seed] = piece;
            to_visit.push(seed as u32);
            let mut size = 0;
            while let Some(tet) = to_visit.pop() {
                size += 1;
                for next in self.across[tet as usize] {
                    if next != NONE && label[next as usize] == NONE {
                        label[next as usize] = piece;
                        to_visit.push(next);
                    }
                }
            }
            found.push(size);
        }
        let mut order: Vec<u32> = (0..found.len() as u32).collect();
        order.sort_by_key(|&piece| std::cmp::Reverse(found[piece as usize]));
        let mut rank = vec![0u32; found.len()];
        order.iter().enumerate().for_each(|(place, &piece)| rank[piece as usize] = place as u32);
        label.iter_mut().for_each(|piece| *piece = rank[*piece as usize]);
        Pieces { of_tet: label, sizes: order.iter().map(|&piece| found[piece as usize]).collect() }
    }
}

/// Face-connected pieces of a mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pieces {
    /// The piece of each tet.
    pub of_tet: Vec<u32>,
    /// Tets of each piece, largest first; of equals the one with the lower first tet.
    pub sizes: Vec<u32>,
}

/// The triangles that only one tet has, seen anticlockwise from outside, with that tet; in order of tets.
pub fn surface(mesh: &TetMesh) -> Vec<([u32; 3], u32)> {
    Adjacency::new(mesh).surface(mesh)
}

/// The face-connected pieces of a mesh.
pub fn pieces(mesh: &TetMesh) -> Pieces {
    Adjacency::new(mesh).pieces()
}

/// How far each tet is from the seeds: 0 for a seed; each next layer is the tets that share a node with the one before.
/// [`NONE`] where no seed reaches. Seeds that are no tets are passed over.
pub fn layers(mesh: &TetMesh, seeds: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let tets_of = tets_of_nodes(mesh);
    let mut layer_of = vec![NONE; mesh.tets().len()];
    let mut reached = vec![false; mesh.positions().len()];
    let mut last: Vec<u32> = Vec::new();
    for seed in seeds {
        if let Some(layer @ &mut NONE) = layer_of.get_mut(seed as usize) {
            *layer = 0;
            last.push(seed);
        }
    }
    let (mut layer, mut next) = (0, Vec::new());
    while !last.is_empty() {
        layer += 1;
        for node in last.iter().flat_map(|&tet| mesh.tets()[tet as usize]) {
            if !std::mem::replace(&mut reached[node as usize], true) {
                for &tet in tets_of.of(node as usize) {
                    if layer_of[tet as usize] == NONE {
                        layer_of[tet as usize] = layer;
                        next.push(tet);
                    }
                }
            }
        }
        std::mem::swap(&mut last, &mut next);
        next.clear();
    }
    layer_of
}

/// The volume of flesh that each node stands for: a quarter of each of its tets' volume times its fill (0 to 1). Never 0:
/// nodes whose tets are all but empty get a small share of their tets' volume.
///
/// # Panics
/// If there is not a fill for each tet.
pub fn node_volumes(mesh: &TetMesh, fill: &[f32]) -> Vec<f32> {
    assert_eq!(fill.len(), mesh.tets().len(), "one fill per tet");
    let mut sums = vec![[0.0f64; 2]; mesh.positions().len()];
    for (tet, nodes) in mesh.tets().iter().enumerate() {
        let quarter = mesh.volume_of(tet) / 4.0;
        for &node in nodes {
            let [filled, whole] = &mut sums[node as usize];
            *filled += quarter * f64::from(fill[tet]);
            *whole += quarter;
        }
    }
    sums.iter().map(|&[filled, whole]| filled.max(LEAST_FILL * whole) as f32).collect()
}
