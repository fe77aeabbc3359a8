use super::*;
use crate::data;
use glam::{Vec2, Vec3};

/// A neutral skin, linear RGB.
const CLAY: [f32; 3] = [0.60, 0.38, 0.265];
const BLACK: Background = Background::Plain([0.0; 3]);
const QUAD: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

/// A sphere of radius 1, closed, facing out.
fn sphere(rings: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let around = 2 * rings;
    let mut points = vec![Vec3::Y];
    for ring in 1..rings {
        let (s, c) = libm::sincosf(std::f32::consts::PI * ring as f32 / rings as f32);
        for k in 0..around {
            let (sk, ck) = libm::sincosf(std::f32::consts::TAU * k as f32 / around as f32);
            points.push(Vec3::new(s * sk, c, s * ck));
        }
    }
    points.push(-Vec3::Y);
    let last = points.len() as u32 - 1;
    let at = |ring: usize, k: usize| (1 + (ring - 1) * around + k % around) as u32;
    let mut triangles = Vec::new();
    for k in 0..around {
        triangles.push([0, at(1, k), at(1, k + 1)]);
        triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
        for ring in 1..rings - 1 {
            triangles.push([at(ring, k), at(ring + 1, k), at(ring + 1, k + 1)]);
            triangles.push([at(ring, k), at(ring + 1, k + 1), at(ring, k + 1)]);
        }
    }
    (points, triangles)
}

/// A square of half side `half` facing +Z, from the top left counter-clockwise.
fn quad(half: f32, z: f32) -> [Vec3; 4] {
    [(-half, half), (-half, -half), (half, -half), (half, half)].map(|(x, y)| Vec3::new(x, y, z))
}

fn mesh<'a>(positions: &'a [Vec3], triangles: &'a [[u32; 3]], paint: Paint<'a>) -> Mesh<'a> {
    Mesh { positions, normals: None, triangles, paint }
}

fn of(meshes: Vec<Mesh>) -> Scene {
    Scene { meshes, ..Scene::default() }
}

fn plain(size: u32, view: View) -> Options {
    Options { ground: false, background: BLACK, ..Options::new(size, size, view) }
}

fn brightness(pixel: [u8; 3]) -> u32 {
    pixel.iter().map(|&c| u32::from(c)).sum()
}

#[test]
fn a_sphere_fills_its_disc() {
    let (points, triangles) = sphere(64);
    let scene = of(vec![mesh(&points, &triangles, Paint::Flat([0.8; 3]))]);
    for (name, view) in View::ALL {
        let image = render(&scene, &plain(800, view)).unwrap();
        let covered = image.pixels.iter().filter(|p| brightness(**p) > 0).count() as f32;
        // Framing brings the rim to the margin, 9 % of the side. Rim pixels count in full, so take half off.
        let radius = 0.41 * 800.0;
        let disc = std::f32::consts::PI * (radius + 0.5) * (radius + 0.5);
        assert!((covered / disc - 1.0).abs() < 0.01, "{name}: {covered} of {disc}");
        // Closed surfaces leave no hole between triangles.
        let hole = (0..800 * 800).find(|i| {
            let (x, y) = ((i % 800) as f32 - 399.5, (i / 800) as f32 - 399.5);
            (x * x + y * y).sqrt() < radius - 3.0 && brightness(image.pixels[*i]) == 0
        });
        assert_eq!(hole, None, "{name}");
    }
}

#[test]
fn light_comes_from_the_upper_left() {
    let (points, triangles) = sphere(32);
    let scene = of(vec![mesh(&points, &triangles, Paint::Flat([0.5; 3]))]);
    for (name, view) in View::ALL {
        let image = render(&scene, &plain(200, view)).unwrap();
        let at = |x, y| brightness(image.pixel(x, y).unwrap());
        assert!(at(100, 100) > 300, "{name}: the middle is lit, {}", at(100, 100));
        assert!(at(75, 65) > at(130, 145) + 60, "{name}: {} and {}", at(75, 65), at(130, 145));
        assert!(at(130, 145) > 90, "{name}: the dark side is not black");
    }
}

#[test]
fn the_nearer_hides_the_farther_whatever_the_order() {
    let (near, far) = (quad(0.6, 0.5), quad(1.0, -0.5));
    let red = || mesh(&near, &QUAD, Paint::Flat([0.8, 0.0, 0.0]));
    let green = || mesh(&far, &QUAD, Paint::Flat([0.0, 0.8, 0.0]));
    for scene in [of(vec![red(), green()]), of(vec![green(), red()])] {
        let middle = |view| render(&scene, &plain(64, view)).unwrap().pixel(32, 32).unwrap();
        let (front, back) = (middle(View::Front), middle(View::Back));
        assert!(front[0] > 100 && front[0] > 2 * front[1], "{front:?}");
        assert!(back[1] > 60 && back[1] > 2 * back[0], "{back:?}");
    }
}

#[test]
fn textures_start_at_the_top_left() {
    let texels = vec![[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [255, 255, 0, 255]];
    let texture = Texture::new(2, 2, texels).unwrap();
    let points = quad(1.0, 0.0);
    let uvs = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map(|(u, v)| Vec2::new(u, v));
    let paint = |cutoff| Paint::Texture { uvs: &uvs, image: &texture, tint: [1.0; 3], cutoff };
    let image = render(&of(vec![mesh(&points, &QUAD, paint(None))]), &plain(200, View::Front)).unwrap();
    let bright = |x, y| image.pixel(x, y).unwrap().map(|c| c > 128);
    assert_eq!(bright(60, 60), [true, false, false]);
    assert_eq!(bright(140, 60), [false, true, false]);
    assert_eq!(bright(60, 140), [false, false, true]);
    assert_eq!(bright(140, 140), [true, true, false]);
}

#[test]
fn clear_texels_are_holes() {
    let texture = Texture::new(2, 1, vec![[255, 255, 255, 255], [255, 255, 255, 0]]).unwrap();
    let points = quad(1.0, 0.0);
    let uvs = [(0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.0)].map(|(u, v)| Vec2::new(u, v));
    let paint = Paint::Texture { uvs: &uvs, image: &texture, tint: [1.0; 3], cutoff: Some(0.5) };
    let image = render(&of(vec![mesh(&points, &QUAD, paint)]), &plain(200, View::Front)).unwrap();
    assert!(brightness(image.pixel(60, 100).unwrap()) > 300);
    assert_eq!(image.pixel(150, 100).unwrap(), [0; 3]);
}

#[test]
fn textures_blur_with_distance_and_repeat() {
    let chequer = (0..64 * 64).map(|i| if (i % 64 + i / 64) % 2 == 0 { [255; 4] } else { [0, 0, 0, 255] });
    let texture = Texture::new(64, 64, chequer.collect()).unwrap();
    let half = texture.sample(Vec2::new(0.3, 0.7), 6.0);
    assert!((half[0] - 0.5).abs() < 0.02, "half the light, not half the sRGB value: {half:?}");
    let at = Vec2::new(0.5 / 64.0, 0.5 / 64.0);
    assert_eq!(texture.sample(at, 0.0), [1.0; 4]);
    assert_eq!(texture.sample(at + Vec2::new(3.0, -2.0), 0.0), [1.0; 4]);
    assert_eq!(texture.sample(Vec2::new(f32::NAN, f32::INFINITY), f32::NAN)[3], 1.0);
}

#[test]
fn heat_is_monotone_on_both_sides() {
    let scale = Scale { low: 0.5, neutral: 1.0, high: 3.0 };
    let values: Vec<f32> = (0..=500).map(|i| 0.5 + 2.5 * i as f32 / 500.0).collect();
    let colours = heat(&values, scale);
    let luminance = |c: &[f32; 3]| 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
    for (pair, value) in colours.windows(2).zip(&values) {
        let rises = luminance(&pair[1]) > luminance(&pair[0]);
        assert_eq!(rises, *value < 1.0, "lightest at neutral: {value}");
    }
    assert!(colours[0][2] > 2.0 * colours[0][0] && colours[500][0] > 2.0 * colours[500][2]);
    assert_eq!(heat(&[-9.0, 99.0], scale), [colours[0], colours[500]]);
    let [r, g, b] = scale.colour(f32::NAN);
    assert!(r == g && g == b && r < 0.2);
    assert_eq!(Scale { low: 1.0, neutral: 1.0, high: 1.0 }.colour(1.0), scale.colour(1.0));
}

#[test]
fn an_empty_scene_is_its_background() {
    let image =
        render(&Scene::default(), &Options { background: BLACK, ..plain(32, View::Quarter) }).unwrap();
    assert!(image.pixels.iter().all(|&p| p == [0; 3]));
    let studio = render(&Scene::default(), &Options::new(64, 48, View::Front)).unwrap();
    assert!(studio.pixels.iter().all(|&p| (500..750).contains(&brightness(p))));
    assert!(brightness(studio.pixel(32, 26).unwrap()) > brightness(studio.pixel(0, 0).unwrap()));
}

#[test]
fn framing_keeps_every_vertex_inside() {
    let shapes = [[1.0, 1.0, 1.0], [1e-3, 1e-6, 1e-3], [1e4, 10.0, 1.0], [0.0, 5.0, 0.0], [0.0, 0.0, 7.0]];
    for shape in shapes.map(Vec3::from) {
        let (points, triangles) = sphere(12);
        let points: Vec<Vec3> = points.iter().map(|&p| p * shape + shape * 3.0).collect();
        let scene = of(vec![mesh(&points, &triangles, Paint::Flat(CLAY))]);
        for (name, view) in View::ALL {
            let frame = view.outermost(points.iter().copied());
            assert!(!frame.is_empty() && frame.iter().all(|p| points.contains(p)));
            for (width, height, frame) in
                [(64, 64, vec![]), (256, 32, frame.clone()), (32, 300, frame), (300, 32, vec![])]
            {
                let is_given = !frame.is_empty();
                let options = Options { frame, ..Options::new(width, height, view) };
                let stage = scene::Stage::new(&scene, &options);
                let mut most = 0.0f64;
                for &p in &stage.positions {
                    let seen = stage.camera.see(p);
                    let [x, y] = stage.camera.pixel(seen);
                    assert!(seen.z > stage.camera.near);
                    // From the middle, in half sides.
                    let across = (x / (0.5 * f64::from(width)) - 1.0).abs();
                    most = most.max(across).max((y / (0.5 * f64::from(height)) - 1.0).abs());
                }
                // A few points stand for all within the margin.
                let edge = if is_given { 0.9 } else { 0.8201 };
                assert!(most <= edge, "{shape} {name} {width} x {height}: {most}");
                // The margin is reached, unless the shape is a line that the eye looks along.
                let is_line = shape.min_element() == 0.0;
                assert!(is_line || most > 0.8, "{shape} {name}: only {most}");
            }
        }
    }
}

#[test]
fn size_changes_nothing() {
    let (points, triangles) = sphere(16);
    let picture = |factor: f32| {
        let points: Vec<Vec3> = points.iter().map(|&p| p * factor).collect();
        let scene = of(vec![mesh(&points, &triangles, Paint::Flat(CLAY))]);
        render(&scene, &Options::new(96, 96, View::Quarter)).unwrap()
    };
    let one = picture(1.0);
    // Powers of two, so that no rounding differs.
    assert!(picture(1.0 / 1024.0) == one && picture(16384.0) == one);
}

#[test]
fn sizes_are_checked() {
    let sized = |width, height| render(&Scene::default(), &Options::new(width, height, View::Front));
    for (width, height) in [(15, 100), (100, 15), (8193, 100), (100, u32::MAX), (0, 0)] {
        let error = sized(width, height).unwrap_err().to_string();
        assert!(error.contains(&format!("{width} x {height}")) && error.contains("16 to 8192"), "{error}");
    }
    assert!(sized(16, 16).is_ok() && sized(8192, 16).is_ok() && sized(16, 8192).is_ok());
    let samples = |samples| Options { samples, ..Options::new(33, 17, View::Side) };
    assert!((1..=4).all(|s| render(&Scene::default(), &samples(s)).is_ok()));
    assert!(
        render(&Scene::default(), &samples(0)).is_err() && render(&Scene::default(), &samples(5)).is_err()
    );
}

#[test]
fn unusable_triangles_are_left_out() {
    let mut points = quad(1.0, 0.0).to_vec();
    let good = QUAD.to_vec();
    let picture = |points: &[Vec3], triangles: &[[u32; 3]], normals: Option<&[Vec3]>| {
        let paint = Paint::Vertex(&[]);
        let scene = of(vec![Mesh { positions: points, normals, triangles, paint }]);
        let frame = quad(1.0, 0.0).to_vec();
        render(&scene, &Options { edges: true, frame, ..Options::new(64, 64, View::Quarter) }).unwrap()
    };
    let clean = picture(&points, &good, None);
    points.extend([Vec3::splat(f32::NAN), Vec3::splat(f32::INFINITY), Vec3::ZERO, Vec3::ZERO]);
    let mut bad = good.clone();
    bad.extend([[0, 1, 4], [5, 1, 2], [0, 0, 1], [0, 1, 99], [u32::MAX, 0, 1]]);
    assert!(picture(&points, &bad, None) == clean);
    assert!(picture(&points, &bad, Some(&[Vec3::X])) == clean, "too few normals are no normals");
    assert!(picture(&points, &bad, Some(&[Vec3::splat(f32::NAN); 8])) == clean);
    // Of no area but with three vertices; and beyond any reasonable size.
    points.push(Vec3::splat(3e38));
    bad.extend([[0, 6, 7], [0, 6, 2], [0, 3, 8], [8, 6, 1]]);
    picture(&points, &bad, None);
}

#[test]
fn a_camera_inside_the_mesh_sees_its_inner_side() {
    // The frame is a speck in a large sphere: most of it is behind the eye and some crosses the near plane.
    let (points, triangles) = sphere(24);
    let scene = of(vec![mesh(&points, &triangles, Paint::Flat([0.8; 3]))]);
    let frame = vec![Vec3::splat(-0.01), Vec3::splat(0.01)];
    for (_, view) in View::ALL {
        let image =
            render(&scene, &Options { frame: frame.clone(), edges: true, ..plain(64, view) }).unwrap();
        assert!(image.pixels.iter().all(|&p| brightness(p) > 0), "walls all around");
    }
    let far = vec![Vec3::splat(50.0), Vec3::splat(51.0)];
    render(&scene, &Options { frame: far, ..plain(64, View::Front) }).unwrap();
}

#[test]
fn winding_does_not_matter() {
    let (points, triangles) = sphere(24);
    let flipped: Vec<[u32; 3]> = triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
    let picture = |triangles: &[[u32; 3]], normals| {
        let mesh = Mesh { positions: &points, normals, triangles, paint: Paint::Flat(CLAY) };
        render(&of(vec![mesh]), &Options::new(128, 128, View::Quarter)).unwrap()
    };
    let one = picture(&triangles, None);
    for other in [picture(&flipped, None), picture(&flipped, Some(&points))] {
        let apart = |(a, b): (&[u8; 3], &[u8; 3])| brightness(*a).abs_diff(brightness(*b));
        let most = one.pixels.iter().zip(&other.pixels).map(apart).max();
        assert!(most <= Some(24), "{most:?}");
    }
}

#[test]
fn the_same_picture_on_any_number_of_threads() {
    let (points, triangles) = sphere(40);
    let scene = of(vec![mesh(&points, &triangles, Paint::Flat(CLAY))]);
    let options = Options { edges: true, ..Options::new(150, 130, View::Quarter) };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| render(&scene, &options).unwrap())
    };
    let one = on(1);
    assert!(on(2) == one && on(5) == one);
}

#[test]
fn the_ground_is_darkest_under_the_character() {
    let (points, triangles) = sphere(24);
    let scene = of(vec![mesh(&points, &triangles, Paint::Flat(CLAY))]);
    let white = Background::Plain([0.8; 3]);
    let options = Options { background: white, ..Options::new(256, 256, View::Quarter) };
    let image = render(&scene, &options).unwrap();
    let bare = render(&scene, &Options { ground: false, ..options }).unwrap();
    let shade = |x, y| brightness(bare.pixel(x, y).unwrap()) - brightness(image.pixel(x, y).unwrap());
    assert!(shade(128, 236) > 100, "just below the sphere's foot: {}", shade(128, 236));
    assert!(shade(4, 250) < shade(128, 236) / 3, "fades away: {}", shade(4, 250));
    assert_eq!(shade(10, 10), 0, "nothing above the horizon");
    assert_eq!(shade(128, 128), 0, "the sphere itself is the same");
}

#[test]
fn lines_hide_behind_surfaces_unless_on_top() {
    let points = quad(1.0, 0.0);
    let behind = Vec3::new(0.0, 0.0, -0.2);
    let line = |on_top| Line {
        from: behind - Vec3::X,
        to: behind + Vec3::X,
        colour: [0.0, 0.0, 1.0],
        width: 9.0,
        on_top,
    };
    let middle = |view, on_top| {
        let scene = Scene {
            lines: vec![line(on_top)],
            ..of(vec![mesh(&points, &QUAD, Paint::Flat([0.5, 0.5, 0.0]))])
        };
        let image = render(&scene, &plain(128, view)).unwrap();
        // The line is a little lower or higher than the middle, since the camera looks down.
        (56..72).any(|y| image.pixel(64, y).is_some_and(|p| p[2] > 200 && p[0] < 90))
    };
    assert!(!middle(View::Front, false) && middle(View::Front, true) && middle(View::Back, false));
    let nan = Line { from: Vec3::NAN, ..line(true) };
    let dot = Line { from: Vec3::ZERO, to: Vec3::ZERO, ..line(true) };
    let scene = Scene { lines: vec![nan, dot], ..Scene::default() };
    let image = render(&scene, &plain(64, View::Front)).unwrap();
    assert!(image.pixel(32, 32).unwrap()[2] > 200, "a line of no length is a dot");
}

#[test]
fn edges_darken_the_surface_evenly() {
    let points = quad(1.0, 0.0);
    let scene = of(vec![mesh(&points, &QUAD, Paint::Flat([0.8; 3]))]);
    let picture = |edges| render(&scene, &Options { edges, ..plain(128, View::Front) }).unwrap();
    let (with, without) = (picture(true), picture(false));
    let darker = |i: usize| brightness(without.pixels[i]) > brightness(with.pixels[i]) + 40;
    let on_diagonal =
        (40..88).filter(|&k| darker(k * 128 + k) || darker(k * 128 + k + 1) || darker(k * 128 + k - 1));
    assert!(on_diagonal.count() > 44, "from the top left to the lower right");
    assert!((80..100).all(|x| !darker(50 * 128 + x)), "not between edges");
}

#[test]
fn pictures_survive_png_and_tile_with_captions() {
    let (points, triangles) = sphere(12);
    let image =
        render(&of(vec![mesh(&points, &triangles, Paint::Flat(CLAY))]), &plain(40, View::Front)).unwrap();
    let back = decode_texture(&image.to_png().unwrap()).unwrap();
    assert_eq!((back.width(), back.height()), (40, 40));
    for (x, y) in [(0, 0), (20, 20), (12, 25)] {
        let uv = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) / 40.0;
        let expected = image.pixel(x, y).unwrap().map(super::image::linear_from_srgb);
        assert_eq!(back.sample(uv, 0.0)[..3], expected);
    }
    let row = Image::beside(&[("Linear blend", &image), ("", &image)]).unwrap();
    assert!(row.width() > 80 && row.height() > 40);
    let ink = |from: usize, to: usize| {
        let dark = |x: usize, y: usize| row.pixel(x, y).is_some_and(|p| brightness(p) < 500);
        (from..to).any(|x| (40..row.height()).any(|y| dark(x, y)))
    };
    assert!(ink(0, 40) && !ink(43, 82), "a caption under the first alone");
    assert_eq!(Image::beside(&[("", &image)]).unwrap(), image);
    let column = Image::stacked(&[image.clone(), row.clone()]).unwrap();
    assert_eq!((column.width(), column.height()), (row.width(), 40 + row.height() + 2));
    assert!(Image::beside(&[]).is_ok() && Image::stacked(&[]).is_ok());
    assert_eq!(image.pixel(40, 0), None);
}

#[test]
fn legends_show_their_scale() {
    let scale = Scale { low: -10.0, neutral: 0.0, high: 10.0 };
    let legend = Legend { title: "Volume".into(), unit: "%".into(), scale };
    let scene = Scene { legend: Some(legend), ..Scene::default() };
    let image = render(&scene, &Options::new(400, 300, View::Front)).unwrap();
    let row = 300 - 28 + 12;
    let find =
        |test: fn([u8; 3]) -> bool| (0..400).filter(|&x| image.pixel(x, row).is_some_and(test)).collect();
    let blue: Vec<usize> = find(|p| p[2] > p[0].saturating_add(60));
    let red: Vec<usize> = find(|p| p[0] > p[2].saturating_add(60));
    assert!(blue.len() > 30 && red.len() > 30 && blue.last() < red.first());
    let dark = render(&scene, &plain(300, View::Front)).unwrap();
    let bright = dark.pixels.iter().filter(|p| p.iter().all(|&c| c > 180)).count();
    assert!(bright > 100, "text reads on black too: {bright}");
    let tiny = render(&scene, &Options::new(16, 16, View::Front)).unwrap();
    assert_eq!(tiny, render(&Scene::default(), &Options::new(16, 16, View::Front)).unwrap());
}

#[test]
fn views_are_named() {
    assert_eq!("Quarter".parse(), Ok(View::Quarter));
    assert!("top".parse::<View>().unwrap_err().contains("front"));
}

/// A PNG of one kind.
fn png_of(colour: png::ColorType, depth: png::BitDepth, data: &[u8], palette: Option<&[u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    if let Some(palette) = palette {
        encoder.set_palette(palette.to_vec());
        encoder.set_trns(vec![255, 0]);
    }
    let mut writer = encoder.write_header().unwrap();
    writer.write_image_data(data).unwrap();
    writer.finish().unwrap();
    bytes
}

#[test]
fn every_kind_of_png_decodes() {
    use png::{BitDepth::*, ColorType::*};
    let ends = |bytes: &[u8]| {
        let texture = decode_texture(bytes).unwrap();
        [0.25, 0.75].map(|u| texture.sample(Vec2::new(u, 0.5), 0.0))
    };
    let (white, black, red) = ([1.0; 4], [0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(ends(&png_of(Grayscale, One, &[0b1000_0000], None)), [white, black]);
    assert_eq!(ends(&png_of(Grayscale, Sixteen, &[255, 255, 0, 0], None)), [white, black]);
    assert_eq!(
        ends(&png_of(GrayscaleAlpha, Eight, &[255, 255, 255, 0], None)),
        [white, [1.0, 1.0, 1.0, 0.0]]
    );
    assert_eq!(ends(&png_of(Rgb, Eight, &[255, 0, 0, 0, 0, 0], None)), [red, black]);
    let deep = [255, 255, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255];
    assert_eq!(ends(&png_of(Rgba, Sixteen, &deep, None)), [red, black]);
    let palette = png_of(Indexed, Four, &[0x01], Some(&[255, 0, 0, 255, 255, 255]));
    assert_eq!(ends(&palette), [red, [1.0, 1.0, 1.0, 0.0]]);
}

#[test]
fn what_is_no_picture_is_refused() {
    for bytes in [&b""[..], b"RIFF....WEBP", b"\x89PNG", b"\xff\xd8", b"\xff\xd8\xff\xe0garbage"] {
        assert!(decode_texture(bytes).is_none());
    }
    assert!(Texture::new(0, 0, vec![]).is_none() && Texture::new(2, 2, vec![[0; 4]; 3]).is_none());
    // A header that claims 60000 x 60000 pixels.
    let mut huge = png_of(png::ColorType::Rgb, png::BitDepth::Eight, &[0; 6], None);
    huge[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
    assert!(decode_texture(&huge).is_none());
}

/// Real textures, and each of them cut short or damaged.
#[test]
fn real_textures_decode_and_broken_ones_do_not_panic() {
    let Some(data) = data::data() else { return };
    for (name, width, height) in
        [("gltf/CesiumMan-Draco/CesiumMan_img0.jpg", 1024, 1024), ("gltf/Fox/Texture.png", 1024, 1024)]
    {
        let bytes = std::fs::read(data.join(name)).unwrap();
        let texture = decode_texture(&bytes).unwrap();
        assert_eq!((texture.width(), texture.height()), (width, height), "{name}");
        let mean = texture.sample(Vec2::splat(0.5), 99.0);
        assert!(mean[..3].iter().all(|&c| (0.02..0.98).contains(&c)), "{name}: {mean:?}");
        for k in 0..8 {
            decode_texture(&bytes[..bytes.len() * k / 8]);
            let mut damaged = bytes.clone();
            for at in [k * 7 + 20, bytes.len() / 9 * (k + 1)] {
                damaged[at] ^= 0x5a;
            }
            decode_texture(&damaged);
        }
    }
}

#[test]
fn glyphs_are_whole() {
    let printable = (' '..='~').chain("°×−é".chars());
    for c in printable.filter(|c| *c != ' ') {
        let mut pieces = 0;
        font::strokes(&c.to_string(), |a, b| {
            pieces += 1;
            assert!([a, b].iter().all(|p| (0.0..=4.0).contains(&p[0]) && (0.0..=8.0).contains(&p[1])), "{c}");
        });
        assert!(pieces > 0, "{c}");
    }
    assert!(font::width("mm") > font::width("ii") && font::width("") == 0.0);
}
