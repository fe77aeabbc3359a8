//! How much of the sky and of the key light reaches each vertex and the ground.
//!
//! Depth maps are drawn from directions all around (the sky, and light bounced off the floor) and from all over the
//! key light, which is a soft box. A point's share of light is the share of maps in which nothing lies before it.
//! Shares are kept per vertex and blended across triangles: soft by construction, with none of the speckle that
//! comparing depths at every pixel gives.

use super::scene::Stage;
use glam::{DVec3, Vec3};
use pliant::parallel;

/// Directions of the sky. Fewer leave visible streaks in creases and under feet.
const SKY_COUNT: usize = 64;
/// Points on the key light. Fewer show as steps in its penumbra.
const KEY_COUNT: usize = 32;
/// Texels along a depth map's side; shadows are sharp to about 1 % of the character.
const MAP_SIDE: usize = 256;
/// How far along its normal a point is lifted off its own surface, in texels. A plane needs 0.7 at any slope.
const LIFT: f32 = 1.4;
/// Radius of the key light seen from the character, as a tangent.
const KEY_SOFTNESS: f64 = 0.2;
/// Grid points along the ground's side, and half that side in radii of the character.
const GROUND_SIDE: usize = 168;
const GROUND_REACH: f32 = 2.6;
/// How often the sky's shade on the ground is smoothed.
const SKY_BLUR: usize = 8;
/// Points lit together, map by map, so that a map stays in cache.
const CHUNK: usize = 1024;

/// Shares of light, 0 to 1, on the side that the normal points to and on the other.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lit {
    pub(crate) sky: [f32; 2],
    pub(crate) key: [f32; 2],
}

/// What reaches the stage.
pub(crate) struct Shadows {
    /// Towards the key light's middle.
    pub(crate) key: Vec3,
    /// For each vertex of the stage.
    pub(crate) vertices: Vec<Lit>,
    /// On the ground, if it shows.
    pub(crate) ground: Option<Ground>,
}

impl Shadows {
    pub(crate) fn new(stage: &Stage) -> Self {
        let [right, near] = stage.camera.level_axes();
        let key = (-0.55 * right + 0.85 * DVec3::Y + 0.62 * near).normalize();
        if stage.faces.is_empty() {
            let vertices = vec![Lit::default(); stage.positions.len()];
            return Self { key: key.as_vec3(), vertices, ground: None };
        }
        let ball = Ball::around(stage);
        let points: Vec<Vec3> = stage.positions.iter().map(|&p| ball.place(p)).collect();
        let directions: Vec<Vec3> = sky().chain(soft_box(key)).collect();
        let maps = parallel::map(directions.len(), |i| Map::new(directions[i], &points, stage));
        let (sky, key_maps) = maps.split_at(SKY_COUNT);
        let mut vertices = vec![Lit::default(); points.len()];
        parallel::for_each_chunk_mut(&mut vertices, CHUNK, |chunk, out| {
            let range = chunk * CHUNK..chunk * CHUNK + out.len();
            light_vertices(&points[range.clone()], &stage.normals[range], sky, key_maps, out);
        });
        let ground = stage.ground.map(|level| Ground::new(&ball, level, sky, key_maps));
        Self { key: key.as_vec3(), vertices, ground }
    }
}

/// Evenly over the sphere.
fn sky() -> impl Iterator<Item = Vec3> {
    (0..SKY_COUNT).map(|i| {
        let y = 1.0 - (2 * i + 1) as f64 / SKY_COUNT as f64;
        let (sin, cos) = libm::sincos(i as f64 * GOLDEN_ANGLE);
        let level = (1.0 - y * y).sqrt();
        DVec3::new(level * cos, y, level * sin).as_vec3()
    })
}

/// Evenly over a disc around `middle`.
fn soft_box(middle: DVec3) -> impl Iterator<Item = Vec3> {
    let (a, b) = middle.any_orthonormal_pair();
    (0..KEY_COUNT).map(move |i| {
        let radius = KEY_SOFTNESS * ((i as f64 + 0.5) / KEY_COUNT as f64).sqrt();
        let (sin, cos) = libm::sincos(i as f64 * GOLDEN_ANGLE);
        (middle + a * (radius * cos) + b * (radius * sin)).normalize().as_vec3()
    })
}

/// Turning by this each step never lines points up.
const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// The ball around everything drawn, which the maps cover.
struct Ball {
    centre: DVec3,
    radius: f64,
}

impl Ball {
    fn around(stage: &Stage) -> Self {
        let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for &v in stage.faces.iter().flat_map(|f| &f.vertices) {
            min = min.min(stage.positions[v as usize]);
            max = max.max(stage.positions[v as usize]);
        }
        Self { centre: 0.5 * (min + max), radius: (0.5 * (max - min).length()).max(f64::MIN_POSITIVE) }
    }

    fn place(&self, p: DVec3) -> Vec3 {
        ((p - self.centre) / self.radius).as_vec3()
    }
}

/// Heights along a direction of what its light meets first.
struct Map {
    towards: Vec3,
    across: Vec3,
    along: Vec3,
    heights: Vec<f32>,
}

impl Map {
    fn new(towards: Vec3, points: &[Vec3], stage: &Stage) -> Self {
        let (across, along) = towards.any_orthonormal_pair();
        let mut map = Self { towards, across, along, heights: vec![f32::NEG_INFINITY; MAP_SIDE * MAP_SIDE] };
        let placed: Vec<Vec3> = points.iter().map(|&p| map.place(p)).collect();
        for face in &stage.faces {
            map.fill(face.indices().map(|v| placed[v]));
        }
        map
    }

    /// Texel coordinates (centres at whole numbers) and height.
    fn place(&self, p: Vec3) -> Vec3 {
        let scale = 0.5 * (MAP_SIDE - 3) as f32;
        let middle = 0.5 * (MAP_SIDE - 1) as f32;
        Vec3::new(
            p.dot(self.across) * scale + middle,
            p.dot(self.along) * scale + middle,
            p.dot(self.towards),
        )
    }

    fn fill(&mut self, [a, b, c]: [Vec3; 3]) {
        let (low, high) =
            (a.min(b).min(c).max(Vec3::ZERO), a.max(b).max(c).min(Vec3::splat((MAP_SIDE - 1) as f32)));
        // Casts cut towards zero, as floor does here: most triangles touch no texel and leave at once.
        let whole = |low: f32, high: f32| {
            let first = low as usize;
            first + usize::from((first as f32) < low)..if high >= 0.0 { high as usize + 1 } else { 0 }
        };
        let (columns, rows) = (whole(low.x, high.x), whole(low.y, high.y));
        let (ab, ac) = (b - a, c - a);
        let area = ab.x * ac.y - ab.y * ac.x;
        if columns.is_empty() || rows.is_empty() || area == 0.0 || area.is_nan() {
            return;
        }
        let inverse = 1.0 / area;
        for y in rows {
            for x in columns.clone() {
                let (dx, dy) = (x as f32 - a.x, y as f32 - a.y);
                let (s, t) = ((dx * ac.y - dy * ac.x) * inverse, (ab.x * dy - ab.y * dx) * inverse);
                if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
                    let height = &mut self.heights[y * MAP_SIDE + x];
                    *height = height.max(a.z + s * ab.z + t * ac.z);
                }
            }
        }
    }

    /// Share of light at a point: 0 or 1, blended between texels.
    fn reaches(&self, p: Vec3) -> f32 {
        let at = self.place(p);
        let last = (MAP_SIDE - 2) as f32;
        if !(at.x >= 0.0 && at.y >= 0.0 && at.x < last && at.y < last) {
            return 1.0;
        }
        let (x, y) = (at.x as usize, at.y as usize);
        let (fx, fy) = (at.x - x as f32, at.y - y as f32);
        let open = |i: usize| f32::from(u8::from(self.heights[i] <= at.z));
        let i = y * MAP_SIDE + x;
        let upper = open(i) * (1.0 - fx) + open(i + 1) * fx;
        let lower = open(i + MAP_SIDE) * (1.0 - fx) + open(i + MAP_SIDE + 1) * fx;
        upper * (1.0 - fy) + lower * fy
    }
}

/// The lift, in radii.
fn lift() -> f32 {
    LIFT * 2.0 / MAP_SIDE as f32
}

fn light_vertices(points: &[Vec3], normals: &[Vec3], sky: &[Map], key: &[Map], out: &mut [Lit]) {
    let side_of = |facing: f32| usize::from(facing < 0.0);
    let lifted = |i: usize, facing: f32| points[i] + normals[i] * lift().copysign(facing);
    let mut weights = vec![[0.0f32; 2]; out.len()];
    for map in sky {
        // The floor gives back less than the sky sends.
        let strength = if map.towards.y >= 0.0 { 1.0 } else { 0.6 };
        for (i, lit) in out.iter_mut().enumerate() {
            let facing = normals[i].dot(map.towards);
            let weight = facing.abs() * strength;
            lit.sky[side_of(facing)] += weight * map.reaches(lifted(i, facing));
            weights[i][side_of(facing)] += weight;
        }
    }
    for (lit, weight) in out.iter_mut().zip(&weights) {
        lit.sky = std::array::from_fn(|s| if weight[s] > 0.0 { lit.sky[s] / weight[s] } else { 1.0 });
    }
    let share = 1.0 / key.len() as f32;
    for map in key {
        for (i, lit) in out.iter_mut().enumerate() {
            let facing = normals[i].dot(map.towards);
            let side = side_of(facing);
            // Where light only grazes, facets would shade themselves: leave that to the cosine.
            let trust = smoothstep(0.0, 0.35, facing.abs());
            lit.key[side] += share * (1.0 + (map.reaches(lifted(i, facing)) - 1.0) * trust);
            lit.key[1 - side] += share;
        }
    }
}

/// 0 below `low`, 1 above `high`, smooth between.
pub(crate) fn smoothstep(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Light on the ground around the character.
pub(crate) struct Ground {
    centre: DVec3,
    radius: f64,
    shares: Vec<f32>,
}

impl Ground {
    fn new(ball: &Ball, level: f64, sky: &[Map], key: &[Map]) -> Self {
        let centre = DVec3::new(ball.centre.x, level, ball.centre.z);
        let y = ball.place(centre).y;
        let step = 2.0 * GROUND_REACH / (GROUND_SIDE - 1) as f32;
        let place = |i: usize| {
            let (x, z) = (i % GROUND_SIDE, i / GROUND_SIDE);
            Vec3::new(x as f32 * step - GROUND_REACH, y, z as f32 * step - GROUND_REACH)
        };
        let blocked = |maps: &[Map]| {
            // Squared: low directions throw the long thin rays.
            let weight = |m: &Map| m.towards.y.max(0.0) * m.towards.y.max(0.0);
            let all: f32 = maps.iter().map(weight).sum();
            let mut blocked = vec![0.0f32; GROUND_SIDE * GROUND_SIDE];
            parallel::for_each_chunk_mut(&mut blocked, 8 * GROUND_SIDE, |chunk, out| {
                for map in maps.iter().filter(|m| m.towards.y > 0.0) {
                    for (i, blocked) in out.iter_mut().enumerate() {
                        let reaches = map.reaches(place(chunk * 8 * GROUND_SIDE + i));
                        *blocked += weight(map) / all * (1.0 - reaches);
                    }
                }
            });
            blocked
        };
        let (sky, key) = (blocked(sky), blocked(key));
        // Single directions of the sky must not show as rays, and where feet stand shade stays crisp.
        let mut soft = sky.clone();
        for _ in 0..SKY_BLUR {
            soft = blurred(&soft);
        }
        let sky: Vec<f32> = sky.iter().zip(&soft).map(|(sharp, soft)| soft.max(sharp * sharp)).collect();
        let share = |i: usize| {
            let p = place(i);
            let far = (p.x * p.x + p.z * p.z).sqrt() / GROUND_REACH;
            // Nothing may end abruptly at the grid's rim.
            1.0 - (0.60 * sky[i] + 0.40 * key[i]) * (1.0 - smoothstep(0.6, 0.98, far))
        };
        let shares = (0..sky.len()).map(share).collect();
        Self { centre, radius: ball.radius, shares }
    }

    /// Share of light where a ray meets the ground; 1 where it does not.
    pub(crate) fn share(&self, eye: DVec3, ray: DVec3) -> f32 {
        let t = (self.centre.y - eye.y) / ray.y;
        if !(t > 0.0 && t.is_finite()) {
            return 1.0;
        }
        let at = (eye + ray * t - self.centre) / self.radius;
        let cell =
            |c: f64| (c + f64::from(GROUND_REACH)) / f64::from(2.0 * GROUND_REACH) * (GROUND_SIDE - 1) as f64;
        let (x, z) = (cell(at.x), cell(at.z));
        let last = (GROUND_SIDE - 3) as f64;
        if !(x >= 1.0 && z >= 1.0 && x < last && z < last) {
            return 1.0;
        }
        let (wx, wz) = (spline((x - x.floor()) as f32), spline((z - z.floor()) as f32));
        let first = (z as usize - 1) * GROUND_SIDE + x as usize - 1;
        let row = |r: usize| -> f32 {
            let start = first + r * GROUND_SIDE;
            self.shares[start..start + 4].iter().zip(wx).map(|(s, w)| s * w).sum()
        };
        (0..4).map(|r| row(r) * wz[r]).sum()
    }
}

/// Each point of the grid averaged with its neighbours, 1 2 1 both ways; the rim is left as it is.
fn blurred(grid: &[f32]) -> Vec<f32> {
    let pass = |grid: &[f32], step: usize| {
        let mut out = grid.to_vec();
        for i in step..grid.len() - step {
            out[i] = 0.25 * (grid[i - step] + grid[i + step]) + 0.5 * grid[i];
        }
        out
    };
    pass(&pass(grid, 1), GROUND_SIDE)
}

/// Cubic B-spline weights: smooth where bilinear ones would show the grid.
fn spline(t: f32) -> [f32; 4] {
    let u = 1.0 - t;
    let inner = |t: f32| (4.0 - 6.0 * t * t + 3.0 * t * t * t) / 6.0;
    [u * u * u / 6.0, inner(t), inner(u), t * t * t / 6.0]
}
