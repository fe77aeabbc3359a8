//! Nodes and tets as they come from a file, made into a mesh.

use super::Tets;
use crate::text::refused;
use crate::{Problem, ReadError, Warning};
use glam::{DVec3, Vec3};
use pliant::asset::TetMesh;

/// The numbers by which a file calls its nodes.
#[derive(Debug, Default)]
enum Numbers {
    /// No node yet.
    #[default]
    None,
    /// Each is one more than the one before.
    Run { first: i64 },
    /// Anything: number and index, sorted once all are there.
    Any(Vec<(i64, u32)>),
}

/// How often something happened, and first where.
#[derive(Debug, Default)]
pub(super) struct Odd {
    count: usize,
    first: String,
}

impl Odd {
    pub(super) fn add(&mut self, count: usize, place: impl FnOnce() -> String) {
        if self.count == 0 && count > 0 {
            self.first = place();
        }
        self.count += count;
    }

    fn warn(self, what: &str, warnings: &mut Vec<Warning>) {
        if self.count > 0 {
            warnings.push(Warning::new(self.first, what, self.count));
        }
    }
}

/// What a file holds, gathered: first all nodes, then the tets.
#[derive(Debug, Default)]
pub(super) struct Builder {
    numbers: Numbers,
    nodes: Vec<Vec3>,
    tets: Vec<[u32; 4]>,
    flat: Odd,
    /// Tets of more than four nodes.
    pub(super) curved: Odd,
    /// Elements of other shapes that fill space.
    pub(super) other_volumes: Odd,
    /// Lines after the last that was announced.
    pub(super) beyond: Odd,
    /// Triangles and other elements that fill no space.
    pub(super) faces: usize,
}

impl Builder {
    /// How many nodes there are.
    pub(super) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Takes a node that the file calls `number`.
    pub(super) fn node(&mut self, number: i64, position: Vec3) {
        // Indices that do not fit are caught in `nodes_done`.
        let index = self.nodes.len() as u32;
        self.nodes.push(position);
        match &mut self.numbers {
            Numbers::None => self.numbers = Numbers::Run { first: number },
            Numbers::Run { first } if first.checked_add(i64::from(index)) == Some(number) => {}
            Numbers::Run { first } => {
                let mut pairs: Vec<_> = (0..index).map(|i| (*first + i64::from(i), i)).collect();
                pairs.push((number, index));
                self.numbers = Numbers::Any(pairs);
            }
            Numbers::Any(pairs) => pairs.push((number, index)),
        }
    }

    /// All nodes are there: none may be called by another's number.
    pub(super) fn nodes_done(&mut self, place: String) -> Result<(), Problem> {
        let count = self.nodes.len();
        if u32::try_from(count).is_err() {
            return Err(Problem::new(place, format!("{count} nodes are more than can be handled")));
        }
        if let Numbers::Any(pairs) = &mut self.numbers {
            pairs.sort_unstable();
            if let Some(twice) = pairs.windows(2).find(|w| w[0].0 == w[1].0) {
                return Err(Problem::new(place, format!("two nodes have the number {}", twice[0].0)));
            }
        }
        Ok(())
    }

    fn index(&self, number: i64) -> Option<u32> {
        match &self.numbers {
            Numbers::None => None,
            Numbers::Run { first } => {
                let index = u32::try_from(number.checked_sub(*first)?).ok()?;
                ((index as usize) < self.nodes.len()).then_some(index)
            }
            Numbers::Any(pairs) => {
                let found = pairs.binary_search_by_key(&number, |p| p.0).ok()?;
                Some(pairs[found].1)
            }
        }
    }

    /// Takes a tet of the nodes with these numbers; a flat one is counted, not taken.
    pub(super) fn tet(&mut self, numbers: [i64; 4], place: impl Fn() -> String) -> Result<(), Problem> {
        let mut tet = [0; 4];
        for (corner, number) in tet.iter_mut().zip(numbers) {
            *corner = self.index(number).ok_or_else(|| {
                let what = format!("a tetrahedron refers to node {number}, which is not there");
                Problem::new(place(), what).hint(self.known())
            })?;
        }
        let [a, b, c, d] = tet.map(|n| self.nodes[n as usize].as_dvec3());
        let volume = |c: DVec3, d: DVec3| (b - a).cross(c - a).dot(d - a) / 6.0;
        // What the mesh would refuse; and what is flat but for rounding: a node named twice, or a tet that has no
        // volume when it is turned as the mesh turns it.
        let twice = (0..4).any(|i| tet[..i].contains(&tet[i]));
        if twice || volume(c, d) == 0.0 || (volume(c, d) < 0.0 && volume(d, c) <= 0.0) {
            self.flat.add(1, place);
        } else {
            self.tets.push(tet);
        }
        Ok(())
    }

    /// What numbers nodes have, for a message.
    fn known(&self) -> String {
        let (first, last) = match &self.numbers {
            Numbers::None => return "there are no nodes".into(),
            Numbers::Run { first } => (*first, *first + (self.nodes.len() as i64 - 1)),
            Numbers::Any(pairs) => (pairs[0].0, pairs[pairs.len() - 1].0),
        };
        format!("there are {} nodes, numbered {first} to {last}", self.nodes.len())
    }

    /// The mesh, if there is one.
    pub(super) fn finish(self) -> Result<Tets, ReadError> {
        if self.tets.is_empty() {
            let problem = match (self.flat.count, self.other_volumes.count, self.faces) {
                (0, 0, 0) => Problem::new("", "there are no tetrahedra").hint("is this a tet mesh?"),
                (0, 0, _) => Problem::new("", "there are no tetrahedra, only a surface")
                    .hint("mesh its inside first, or give it as a skin"),
                (0, _, _) => {
                    Problem::new(self.other_volumes.first, "there are no tetrahedra, only other elements")
                        .hint("split hexahedra, prisms and pyramids into tetrahedra first")
                }
                (flat, ..) => {
                    Problem::new(self.flat.first, format!("all tetrahedra are flat ({flat} without volume)"))
                }
            };
            return Err(problem.into());
        }
        let (nodes, curved) = (self.nodes.len(), self.curved.count > 0);
        let mesh = TetMesh::new(self.nodes, self.tets).map_err(refused("mesh"))?;
        let mut warnings = Vec::new();
        self.flat.warn("a tetrahedron has no volume and is left out", &mut warnings);
        self.other_volumes.warn("an element is no tetrahedron and is left out", &mut warnings);
        self.beyond.warn("a line follows after all that were announced and is passed over", &mut warnings);
        self.curved.warn("a tetrahedron of higher order is used by its four corners", &mut warnings);
        let unused = nodes - mesh.positions().len();
        // The nodes on the edges of curved tets are not news.
        if unused > 0 && !curved {
            warnings.push(Warning::new("nodes", "a node that no tetrahedron uses is left out", unused));
        }
        Ok(Tets { mesh, warnings })
    }
}
