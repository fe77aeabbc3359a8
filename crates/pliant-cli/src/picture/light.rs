//! Light and colour: from what samples see to pixels.

use super::image::{Image, srgb_from_linear};
use super::line::Strokes;
use super::raster::{NONE, Shot, Spanner};
use super::scene::{Paint, Stage};
use super::shadow::{Shadows, smoothstep};
use super::{Background, Options};
use glam::{DVec3, Vec2, Vec3};
use pliant::parallel;

/// Rows of pixels developed together.
const BAND: usize = 16;

// Light sent by each source to a surface that faces it, linear RGB. Together a white surface that faces the key
// light comes just below white.
const KEY: Vec3 = Vec3::new(0.93, 0.89, 0.83);
const SKY: Vec3 = Vec3::new(0.35, 0.37, 0.41);
const FLOOR: Vec3 = Vec3::new(0.235, 0.22, 0.205);
const FILL: Vec3 = Vec3::new(0.10, 0.115, 0.135);
const RIM: Vec3 = Vec3::new(0.30, 0.32, 0.35);
/// How much of the key light a surface throws back as a highlight.
const GLOSS: f32 = 0.13;
/// Colour of edges, and how strongly they are drawn.
const INK: [f32; 3] = [0.02, 0.025, 0.04];
const INK_STRENGTH: f32 = 0.62;

/// Takes the picture of a stage.
pub(crate) fn develop(stage: &Stage, options: &Options) -> Image {
    let (width, height, samples) =
        (options.width as usize, options.height as usize, options.samples as usize);
    let shot = Shot::new(stage, width, height, samples);
    let painter = Painter::new(&shot, Shadows::new(stage));
    let backdrop = Backdrop::new(stage, &painter.shadows, options);
    let strokes = Strokes::new(&shot, options.edges);
    let mut image = Image::new(width, height);
    parallel::for_each_chunk_mut(&mut image.pixels, width * BAND, |band, out| {
        let first = band * BAND * samples;
        let count = out.len() / width * samples;
        let exposure = shot.expose(first, count);
        let mut colours = vec![Vec3::ZERO; exposure.faces.len()];
        for y in 0..count / samples {
            for x in 0..width {
                let colour = backdrop.at(x, y + band * BAND);
                for row in y * samples..(y + 1) * samples {
                    let start = row * shot.width + x * samples;
                    colours[start..start + samples].fill(colour);
                }
            }
        }
        painter.paint(&exposure.faces, first, &mut colours);
        strokes.ink(&exposure, |i, cover| {
            colours[i] = colours[i].lerp(Vec3::from(INK), cover * INK_STRENGTH);
        });
        strokes.lines(&exposure, |i, cover, colour| colours[i] = colours[i].lerp(colour, cover));
        let share = 1.0 / (samples * samples) as f32;
        for (i, pixel) in out.iter_mut().enumerate() {
            let (x, y) = (i % width * samples, i / width * samples);
            let mut sum = Vec3::ZERO;
            for row in y..y + samples {
                let start = row * shot.width + x;
                sum += colours[start..start + samples].iter().sum::<Vec3>();
            }
            *pixel = (sum * share).to_array().map(srgb_from_linear);
        }
    });
    image
}

/// What is behind: the background with the character's shadow on it.
struct Backdrop<'a> {
    stage: &'a Stage<'a>,
    shadows: &'a Shadows,
    background: Background,
    eye: DVec3,
    size: Vec2,
}

impl<'a> Backdrop<'a> {
    fn new(stage: &'a Stage, shadows: &'a Shadows, options: &Options) -> Self {
        let size = Vec2::new(options.width as f32, options.height as f32);
        Self { stage, shadows, background: options.background, eye: stage.camera.eye(), size }
    }

    fn at(&self, x: usize, y: usize) -> Vec3 {
        let colour = match self.background {
            #[cfg(test)]
            Background::Plain(colour) => Vec3::from(colour),
            Background::Studio => {
                let at = (Vec2::new(x as f32, y as f32) + 0.5) / self.size;
                let away = ((at - Vec2::new(0.5, 0.56)) * Vec2::new(1.0, 1.1)).length();
                let (middle, rim) = (Vec3::new(0.86, 0.865, 0.875), Vec3::new(0.60, 0.62, 0.655));
                middle.lerp(rim, smoothstep(0.12, 0.85, away))
            }
        };
        let Some(ground) = &self.shadows.ground else { return colour };
        let camera = &self.stage.camera;
        let ray = camera.turn(camera.ray(x as f64 + 0.5, y as f64 + 0.5));
        // Shade is never black: light comes from everywhere around.
        let share = ground.share(self.eye, ray);
        colour * (0.12 + 0.88 * share)
    }
}

/// A triangle made ready to be lit: what its samples share.
struct Look {
    spanner: Spanner,
    vertices: [usize; 3],
    mesh: usize,
    /// 0 if the side that the normals point to is seen, else 1.
    side: usize,
    uvs: [Vec2; 3],
    blur: f32,
    colours: [Vec3; 3],
}

struct Painter<'a> {
    shot: &'a Shot<'a>,
    shadows: Shadows,
    fill: Vec3,
    rim: Vec3,
}

impl<'a> Painter<'a> {
    fn new(shot: &'a Shot, shadows: Shadows) -> Self {
        let [right, near] = shot.stage.camera.level_axes().map(|axis| axis.as_vec3());
        let fill = (right * 0.9 + near * 0.5 + Vec3::Y * 0.15).normalize();
        let rim = (right * 0.45 - near * 0.8 + Vec3::Y * 0.55).normalize();
        Self { shot, shadows, fill, rim }
    }

    /// Lights the samples of a band that see a face; once for a pixel that sees only one.
    fn paint(&self, faces: &[u32], first_row: usize, colours: &mut [Vec3]) {
        let (width, samples) = (self.shot.width, self.shot.samples);
        let half = 0.5 * samples as f64;
        let mut current: Option<(u32, Look)> = None;
        let mut lit = |face: u32, place: [f64; 2], blur: f32| {
            let look = match &mut current {
                Some((known, look)) if *known == face => look,
                other => &other.insert((face, self.look(face))).1,
            };
            tone(self.light(look, self.shot.ray(place), blur))
        };
        let pixel_blur = libm::log2f(samples as f32);
        for y in (0..faces.len() / width).step_by(samples) {
            for x in (0..width).step_by(samples) {
                let own = || (0..samples * samples).map(|k| (y + k / samples) * width + x + k % samples);
                let first = faces[y * width + x];
                if own().all(|i| faces[i] == first) {
                    if first != NONE {
                        let colour = lit(first, [x as f64 + half, (y + first_row) as f64 + half], pixel_blur);
                        own().for_each(|i| colours[i] = colour);
                    }
                    continue;
                }
                for i in own().filter(|&i| faces[i] != NONE) {
                    colours[i] = lit(faces[i], self.shot.place(i % width, first_row + i / width), 0.0);
                }
            }
        }
    }

    fn look(&self, index: u32) -> Look {
        let stage = self.shot.stage;
        let face = &stage.faces[index as usize];
        let vertices = face.indices();
        let mesh = face.mesh as usize;
        let seen = vertices.map(|v| self.shot.seen[v]);
        let upright = (stage.positions[vertices[1]] - stage.positions[vertices[0]])
            .cross(stage.positions[vertices[2]] - stage.positions[vertices[0]]);
        // Winding and normals may disagree (mirrored parts): the normals say what is outside.
        let outwards: Vec3 = vertices.iter().map(|&v| stage.normals[v]).sum();
        let turned = upright.dot(outwards.as_dvec3()) < 0.0;
        let away = (seen[1] - seen[0]).cross(seen[2] - seen[0]).dot(seen[0]);
        // Camera space is left-handed (z away from the eye), which turns the product's sign.
        let faces_eye = (away > 0.0) != turned;
        let first = stage.first_vertex[mesh] as usize;
        let flat = |colour: [f32; 3]| [Vec3::from(colour); 3];
        let colours = match &stage.scene.meshes[mesh].paint {
            Paint::Flat(colour) => flat(*colour),
            Paint::Vertex(given) => {
                vertices.map(|v| given.get(v - first).map_or(Vec3::splat(0.5), |&c| Vec3::from(c)))
            }
            Paint::Texture { tint, .. } => flat(*tint),
        };
        let uvs = self.shot.uvs(face.mesh, face.vertices);
        Look {
            spanner: Spanner::new(self.shot, index),
            vertices,
            mesh,
            side: usize::from(!faces_eye),
            uvs,
            blur: self.blur(mesh, seen, uvs),
            colours: colours.map(|c| if c.is_finite() { c.max(Vec3::ZERO) } else { Vec3::splat(0.5) }),
        }
    }

    /// How many times a texture is halved to bring its pixels to the size of samples; negative if it is enlarged.
    fn blur(&self, mesh: usize, seen: [DVec3; 3], uvs: [Vec2; 3]) -> f32 {
        let stage = self.shot.stage;
        let Paint::Texture { image, .. } = &stage.scene.meshes[mesh].paint else { return 0.0 };
        if seen.iter().any(|p| p.z < stage.camera.near) {
            return 0.0;
        }
        let pixels = seen.map(|p| stage.camera.pixel(p).map(|c| (c * self.shot.samples as f64) as f32));
        let pixels = pixels.map(Vec2::from);
        let area = |p: [Vec2; 3]| (p[1] - p[0]).perp_dot(p[2] - p[0]).abs();
        let texels = area(uvs) * image.width() as f32 * image.height() as f32;
        let ratio = texels / area(pixels);
        if ratio.is_finite() && ratio > 0.0 { 0.5 * libm::log2f(ratio) } else { 0.0 }
    }

    fn light(&self, look: &Look, ray: DVec3, blur: f32) -> Vec3 {
        let stage = self.shot.stage;
        let w = look.spanner.weights(ray);
        let [a, b, c] = look.vertices;
        let mut albedo = look.colours[0] * w[0] + look.colours[1] * w[1] + look.colours[2] * w[2];
        if let Paint::Texture { image, .. } = &stage.scene.meshes[look.mesh].paint {
            let uv = look.uvs[0] * w[0] + look.uvs[1] * w[1] + look.uvs[2] * w[2];
            let [r, g, b, _] = image.sample(uv, (look.blur + blur).max(0.0));
            albedo *= Vec3::new(r, g, b);
        }
        let to_eye = -stage.camera.turn(ray).normalize().as_vec3();
        let outwards = stage.normals[a] * w[0] + stage.normals[b] * w[1] + stage.normals[c] * w[2];
        let mut normal = if look.side == 0 { outwards } else { -outwards }.normalize_or(to_eye);
        // At the rim smooth normals may turn away from the eye: bend them back to just facing it.
        let facing = normal.dot(to_eye);
        if facing < 0.0 {
            normal = (normal - to_eye * facing).normalize_or(to_eye);
        }
        let facing = facing.clamp(0.0, 1.0);

        let lit = [a, b, c].map(|v| self.shadows.vertices[v]);
        let blend = |get: fn(&super::shadow::Lit) -> [f32; 2]| -> f32 {
            (0..3).map(|k| get(&lit[k])[look.side] * w[k]).sum()
        };
        let (sky_share, key_share) = (blend(|l| l.sky), blend(|l| l.key));
        // Light that has bounced between surfaces softens deep creases.
        let open = 0.10 + 0.90 * sky_share;

        let key = normal.dot(self.shadows.key).max(0.0) * key_share;
        let fill = 0.5 + 0.5 * normal.dot(self.fill);
        let sky = FLOOR.lerp(SKY, 0.5 + 0.5 * normal.y);
        let diffuse = KEY * key + (sky + FILL * fill * fill) * open;

        let grazing = 1.0 - facing;
        let fresnel = grazing * grazing * grazing;
        let half = (self.shadows.key + to_eye).normalize_or(to_eye);
        let shine = square(square(square(normal.dot(half).max(0.0))));
        let gloss = GLOSS * (0.35 * shine + 0.65 * square(square(shine))) * key_share * (0.5 + fresnel);
        let rim = fresnel * (0.25 + normal.dot(self.rim).max(0.0)) * open;
        albedo * diffuse + KEY * gloss + RIM * rim * (0.25 + albedo)
    }
}

fn square(x: f32) -> f32 {
    x * x
}

/// Straight up to three quarters of white, then rolling off, so that highlights keep their colour.
fn tone(colour: Vec3) -> Vec3 {
    const KNEE: f32 = 0.75;
    colour.map(|x| {
        let over = ((x - KNEE) / (1.0 - KNEE)).max(0.0);
        x.min(KNEE) + (1.0 - KNEE) * over / (1.0 + over)
    })
}
