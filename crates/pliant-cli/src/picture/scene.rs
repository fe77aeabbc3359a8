//! What is in the picture, and its checked, unit-sized form that the passes work on.

use super::Options;
use super::camera::Camera;
use super::heat::Legend;
use super::texture::Texture;
use glam::{DVec3, Vec2, Vec3};

/// Everything in a picture.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene<'a> {
    /// Surfaces.
    pub(crate) meshes: Vec<Mesh<'a>>,
    /// Overlays such as skeletons.
    pub(crate) lines: Vec<Line>,
    /// A colour scale drawn along the lower edge.
    pub(crate) legend: Option<Legend>,
    /// What must be in the picture besides, seen or not.
    pub(crate) framed: &'a [Vec3],
}

/// A triangle surface; both sides are seen.
#[derive(Debug, Clone)]
pub(crate) struct Mesh<'a> {
    /// Vertex positions, y up.
    pub(crate) positions: &'a [Vec3],
    /// Vertex normals; where missing, area-weighted across coincident positions.
    pub(crate) normals: Option<&'a [Vec3]>,
    /// Vertex indices.
    pub(crate) triangles: &'a [[u32; 3]],
    /// Its colour.
    pub(crate) paint: Paint<'a>,
}

/// A surface's colour.
#[derive(Debug, Clone)]
pub(crate) enum Paint<'a> {
    /// One colour, linear RGB.
    Flat([f32; 3]),
    /// A colour per vertex, linear RGB.
    Vertex(&'a [[f32; 3]]),
    /// A picture on the surface.
    Texture {
        /// One per vertex; the origin is the top left of the picture, which repeats.
        uvs: &'a [Vec2],
        /// The picture.
        image: &'a Texture,
        /// Multiplies the picture, linear RGB.
        tint: [f32; 3],
        /// Where the picture's opacity (0 to 1) is below this, there is a hole.
        cutoff: Option<f32>,
    },
}

/// A straight stroke with round ends; of no length, a dot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    /// One end.
    pub(crate) from: Vec3,
    /// The other.
    pub(crate) to: Vec3,
    /// Linear RGB.
    pub(crate) colour: [f32; 3],
    /// Pixels across.
    pub(crate) width: f32,
    /// Seen through surfaces.
    pub(crate) on_top: bool,
}

/// An axis-aligned box.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bounds {
    /// Lowest corner.
    min: Vec3,
    /// Highest corner.
    max: Vec3,
}

impl Bounds {
    /// Around all finite points; `None` without any.
    fn of(points: impl IntoIterator<Item = Vec3>) -> Option<Self> {
        points.into_iter().filter(|p| p.is_finite()).map(|p| Self { min: p, max: p }).reduce(Self::union)
    }

    /// Around both.
    fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// A triangle of the stage: its mesh, and its vertices in the stage's lists.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Face {
    pub(crate) mesh: u32,
    pub(crate) vertices: [u32; 3],
}

impl Face {
    /// Vertices as list indices.
    pub(crate) fn indices(&self) -> [usize; 3] {
        self.vertices.map(|v| v as usize)
    }
}

/// The scene moved to the origin and scaled to radius 1, so that no later number depends on the character's size:
/// all meshes in one list, only usable triangles, a unit normal for each vertex.
pub(crate) struct Stage<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) camera: Camera,
    pub(crate) positions: Vec<DVec3>,
    pub(crate) normals: Vec<Vec3>,
    pub(crate) faces: Vec<Face>,
    /// First stage vertex of each mesh.
    pub(crate) first_vertex: Vec<u32>,
    /// Level of the ground, if it shows.
    pub(crate) ground: Option<f64>,
    centre: DVec3,
    radius: f64,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>, options: &Options) -> Self {
        let used = || {
            let usable = |mesh: &Mesh, t: &[u32; 3]| is_usable(mesh.positions, t);
            let points = move |mesh: &'a Mesh<'a>| {
                let usable = mesh.triangles.iter().filter(move |t| usable(mesh, t));
                usable.flatten().map(|&v| mesh.positions[v as usize])
            };
            let lines = scene.lines.iter().filter(|line| line.from.is_finite() && line.to.is_finite());
            let ends = lines.flat_map(|line| [line.from, line.to]);
            let besides = scene.framed.iter().copied().filter(|p| p.is_finite());
            scene.meshes.iter().flat_map(points).chain(ends).chain(besides)
        };
        let content = Bounds::of(used());
        let given = Bounds::of(options.frame.iter().copied());
        let bounds = given.or(content).unwrap_or(Bounds { min: -Vec3::ONE, max: Vec3::ONE });
        let (min, max) = (bounds.min.as_dvec3(), bounds.max.as_dvec3());
        let centre = 0.5 * (min + max);
        let radius = (0.5 * (max - min).length()).max(f64::from(f32::MIN_POSITIVE));
        let to_stage = |p: DVec3| (p - centre) / radius;

        let legend = scene.legend.as_ref();
        let (width, height) = (f64::from(options.width), f64::from(options.height));
        let strip = legend.map_or(0.0, |_| f64::from(Legend::strip(options.width, options.height)));
        let framed: Vec<DVec3> = match given {
            Some(_) => {
                options.frame.iter().filter(|p| p.is_finite()).map(|p| to_stage(p.as_dvec3())).collect()
            }
            None => used().map(|p| to_stage(p.as_dvec3())).collect(),
        };
        let camera = Camera::framing(options.view, &framed, width, height, strip);

        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        let (mut faces, mut first_vertex) = (Vec::new(), Vec::new());
        for (index, mesh) in scene.meshes.iter().enumerate() {
            let first = positions.len();
            // Stage vertices are numbered in 32 bits: meshes beyond that have no triangles here.
            let fits = u32::try_from(first + mesh.positions.len()).is_ok();
            first_vertex.push(first as u32);
            if !fits {
                continue;
            }
            let usable: Vec<[u32; 3]> =
                mesh.triangles.iter().filter(|t| is_usable(mesh.positions, t)).copied().collect();
            positions.extend(mesh.positions.iter().map(|p| to_stage(p.as_dvec3())));
            normals.extend(unit_normals(mesh, &usable));
            faces.extend(
                usable.iter().map(|t| Face { mesh: index as u32, vertices: t.map(|v| v + first as u32) }),
            );
        }
        let ground = (options.ground && !faces.is_empty()).then(|| to_stage(min).y);
        Self { scene, camera, positions, normals, faces, first_vertex, ground, centre, radius }
    }

    /// A point of the scene on the stage.
    pub(crate) fn place(&self, p: Vec3) -> DVec3 {
        (p.as_dvec3() - self.centre) / self.radius
    }
}

fn is_usable(positions: &[Vec3], triangle: &[u32; 3]) -> bool {
    let [a, b, c] = *triangle;
    let finite = |v: u32| positions.get(v as usize).is_some_and(|p| p.is_finite());
    a != b && b != c && c != a && finite(a) && finite(b) && finite(c)
}

/// The mesh's own normals where they are good, else computed ones.
fn unit_normals(mesh: &Mesh, triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let given = mesh.normals.filter(|n| n.len() == mesh.positions.len()).unwrap_or_default();
    let mut normals: Vec<Vec3> = given.iter().map(|n| n.as_dvec3().normalize_or_zero().as_vec3()).collect();
    normals.resize(mesh.positions.len(), Vec3::ZERO);
    if triangles.iter().flatten().any(|&v| normals[v as usize] == Vec3::ZERO) {
        let computed = smooth_normals(mesh.positions, triangles);
        for (normal, computed) in normals.iter_mut().zip(computed) {
            if *normal == Vec3::ZERO {
                *normal = computed;
            }
        }
    }
    normals
}

/// Area-weighted normals, one for all vertices at the same place, so that seams do not show.
fn smooth_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Vec3> {
    let key = |v: u32| positions[v as usize].to_array().map(|c| (c + 0.0).to_bits());
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_unstable_by_key(|&v| (key(v), v));
    let mut first_like: Vec<u32> = vec![0; positions.len()];
    for group in order.chunk_by(|&a, &b| key(a) == key(b)) {
        group.iter().for_each(|&v| first_like[v as usize] = group[0]);
    }
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|v| positions[v as usize].as_dvec3());
        let area = (b - a).cross(c - a);
        triangle.iter().for_each(|&v| sums[first_like[v as usize] as usize] += area);
    }
    let unit = |v: &u32| sums[*v as usize].try_normalize().unwrap_or(DVec3::Y).as_vec3();
    first_like.iter().map(unit).collect()
}
