//! Bodies of several parts that pass into each other and are no one flesh: arms that are stuck into a trunk.

use super::mesher::{self, Meshed};
use super::{Body, BodyError, Embedding, Fate, Fineness, Progress, topology, whole_volumes};
use crate::asset::TetMesh;
use glam::Vec3;

/// How much of the work the body as one flesh is; the rest are its parts.
const WHOLE: f32 = 0.8;

/// Of vertices that ride, or are of no triangle.
const NO_PART: u32 = u32::MAX;

impl Body {
    /// As [`Body::of_skin`], but shells of the skin (see [`Body::shells`]) that are in different parts are filled each for
    /// itself, though they pass into each other: as one flesh they would be glued together there. `parts` gives the part of
    /// each shell, once it is known which shells there are. Cells are as large as they would be in one flesh.
    pub(crate) fn of_parts(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        fineness: Fineness,
        parts: impl FnOnce(&Self) -> Vec<u32>,
        progress: Progress,
    ) -> Result<Self, BodyError> {
        let whole = Self::of_skin(positions, triangles, fineness, &mut |done| progress(WHOLE * done))?;
        let part_of_shell = parts(&whole);
        let is_flesh = |shell: &usize| whole.shells.get(*shell).is_some_and(|s| s.fate == Fate::Flesh);
        let of_vertex = |&shell: &u32| {
            Some(shell as usize).filter(is_flesh).map_or(NO_PART, |shell| part_of_shell[shell])
        };
        let part_of_vertex: Vec<u32> = whole.shell_of_vertex.iter().map(of_vertex).collect();
        let mut parts: Vec<u32> =
            (0..whole.shells.len()).filter(is_flesh).map(|s| part_of_shell[s]).collect();
        parts.sort_unstable();
        parts.dedup();
        let joined = if parts.len() > 1 {
            let own = |&part: &u32| -> Vec<[u32; 3]> {
                triangles.iter().copied().filter(|t| part_of_vertex[t[0] as usize] == part).collect()
            };
            let skins: Vec<Vec<[u32; 3]>> = parts.iter().map(own).collect();
            joined(&whole, positions, &skins, progress)?
        } else {
            None
        };
        if progress(1.0) { Ok(joined.unwrap_or(whole)) } else { Err(BodyError::Stopped) }
    }
}

/// A body of parts whose skins are given; none where one is too small for cells of this size, which together are not.
fn joined(
    whole: &Body,
    positions: &[Vec3],
    skins: &[Vec<[u32; 3]>],
    progress: Progress,
) -> Result<Option<Body>, BodyError> {
    let mut parts = Parts { part_of_vertex: vec![NO_PART; positions.len()], ..Parts::default() };
    parts.places.resize(positions.len(), (0, [0.0; 4]));
    for (index, skin) in skins.iter().enumerate() {
        let done = |share: f32| WHOLE + (1.0 - WHOLE) * (index as f32 + share) / skins.len() as f32;
        match mesher::mesh(positions, skin, Fineness::Cell(whole.cell), &mut |share| progress(done(share))) {
            Ok(meshed) => parts.add(positions, &meshed, skin),
            Err(BodyError::NoVolume { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    parts.body(whole, positions).map(Some)
}

/// Parts put together.
#[derive(Default)]
struct Parts {
    nodes: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    fill: Vec<f32>,
    skin_volume: f64,
    part_of_node: Vec<u32>,
    part_of_vertex: Vec<u32>,
    /// The tet of each vertex that is of a part, and its weights there.
    places: Vec<(u32, [f32; 4])>,
    /// A vertex of each shell that turned out to be too small or too thin for itself, and why.
    riding: Vec<(u32, Fate)>,
    count: u32,
}

impl Parts {
    fn add(&mut self, positions: &[Vec3], meshed: &Meshed, skin: &[[u32; 3]]) {
        let mut own = skin.as_flattened().to_vec();
        own.sort_unstable();
        own.dedup();
        let points: Vec<Vec3> = own.iter().map(|&v| positions[v as usize]).collect();
        let surface = topology::surface(&meshed.tets);
        let belongs = |point: usize, tet| meshed.belongs(own[point] as usize, tet);
        let embedding = Embedding::accepted(&meshed.tets, &surface, &points, belongs);
        let (first_node, first_tet) = (self.nodes.len() as u32, self.tets.len() as u32);
        for ((&vertex, tet), weights) in own.iter().zip(embedding.tets()).zip(embedding.weights()) {
            self.places[vertex as usize] = (first_tet + tet, *weights);
            self.part_of_vertex[vertex as usize] = self.count;
        }
        let riding = meshed.shells.iter().filter(|s| s.fate != Fate::Flesh);
        self.riding.extend(riding.map(|s| (s.vertex, s.fate)));
        self.nodes.extend(meshed.tets.positions());
        self.tets.extend(meshed.tets.tets().iter().map(|t| t.map(|n| n + first_node)));
        self.fill.extend(meshed.fill());
        self.part_of_node.resize(self.nodes.len(), self.count);
        self.skin_volume += meshed.skin_volume;
        self.count += 1;
    }

    /// The body. What rides goes by the nearest flesh of any part.
    fn body(mut self, whole: &Body, positions: &[Vec3]) -> Result<Body, BodyError> {
        let tets = TetMesh::new(self.nodes, self.tets)?;
        let adjacency = topology::Adjacency::new(&tets);
        let surface = adjacency.surface(&tets);
        let riders: Vec<usize> =
            (0..positions.len()).filter(|&v| self.part_of_vertex[v] == NO_PART).collect();
        let points: Vec<Vec3> = riders.iter().map(|&v| positions[v]).collect();
        let riding = Embedding::new(&tets, &surface, &points);
        for ((&vertex, &tet), &weights) in riders.iter().zip(riding.tets()).zip(riding.weights()) {
            self.places[vertex] = (tet, weights);
        }
        let mut shells = whole.shells.clone();
        for (vertex, fate) in self.riding {
            shells[whole.shell_of_vertex[vertex as usize] as usize].fate = fate;
        }
        let (tet_of_vertex, weights) = self.places.into_iter().unzip();
        Ok(Body {
            surface,
            embedding: Embedding::of(tet_of_vertex, weights),
            node_volumes: whole_volumes(topology::node_volumes(&tets, &self.fill), self.skin_volume),
            fill: self.fill,
            pieces: adjacency.pieces().sizes,
            shells,
            shell_of_vertex: whole.shell_of_vertex.clone(),
            part_of_node: self.part_of_node,
            part_of_vertex: self.part_of_vertex,
            cell: whole.cell,
            skin_volume: self.skin_volume,
            tets,
        })
    }
}
