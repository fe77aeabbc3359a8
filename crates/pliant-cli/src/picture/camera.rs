//! The camera and its framing.

use glam::{DVec3, Vec3};
use std::str::FromStr;

/// Where the camera stands. Y is up and the character looks along +Z, as in glTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// Before the character, from +Z.
    Front,
    /// At its left side, from +X.
    Side,
    /// Behind it, from -Z.
    Back,
    /// Between front and side, a little higher.
    Quarter,
}

impl View {
    /// All views, by name.
    pub(crate) const ALL: [(&'static str, View); 4] =
        [("front", View::Front), ("side", View::Side), ("back", View::Back), ("quarter", View::Quarter)];

    /// Degrees around Y from +Z towards +X, and degrees above the ground.
    fn angles(self) -> (f64, f64) {
        match self {
            View::Front => (0.0, 8.0),
            View::Side => (90.0, 8.0),
            View::Back => (180.0, 8.0),
            View::Quarter => (38.0, 14.0),
        }
    }

    /// The points that are outermost as this view sees them, and the highest and lowest: a picture that frames them holds
    /// all of them, within its margin.
    pub(crate) fn outermost(self, points: impl Iterator<Item = Vec3>) -> Vec<Vec3> {
        let back = self.to_eye();
        let right = DVec3::Y.cross(back).normalize();
        let axes = [right, back.cross(right), back, DVec3::Y];
        let mut outermost: Vec<(f64, Vec3)> = vec![(f64::NEG_INFINITY, Vec3::NAN); 2 * axes.len()];
        for point in points.filter(|p| p.is_finite()) {
            for (pair, axis) in outermost.chunks_exact_mut(2).zip(axes) {
                let along = axis.dot(point.as_dvec3());
                for (most, far) in pair.iter_mut().zip([along, -along]) {
                    if far > most.0 {
                        *most = (far, point);
                    }
                }
            }
        }
        outermost.into_iter().map(|(_, point)| point).filter(|p| p.is_finite()).collect()
    }

    /// The direction from the scene to the eye.
    pub(crate) fn to_eye(self) -> DVec3 {
        let (yaw, pitch) = self.angles();
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) =
            (libm::sincos(yaw.to_radians()), libm::sincos(pitch.to_radians()));
        DVec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch)
    }
}

impl FromStr for View {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = View::ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        known.map(|(_, view)| *view).ok_or_else(|| format!("no view {name:?}: front, side, back or quarter"))
    }
}

/// Half the angle that the picture's shorter side sees. 12 degrees is a portrait lens: depth without distortion.
const HALF_ANGLE_DEGREES: f64 = 12.0;

/// Share of the picture left free at each side.
const MARGIN: f64 = 0.09;

/// The camera stays this far from what it frames, in radii: closer, near parts would bulge.
const CLEARANCE: f64 = 2.0;

/// By how much the lens may be longer, for what is thin from end to end.
const LONGEST: f64 = 4096.0;

/// Nothing nearer than this share of the distance to the frame's near end is drawn.
const NEAR: f64 = 0.02;

/// A pinhole camera. Camera space has x to the right, y up and z away from the eye.
#[derive(Debug, Clone)]
pub(crate) struct Camera {
    right: DVec3,
    up: DVec3,
    /// From the scene towards the eye.
    back: DVec3,
    /// The eye along `right`, `up` and `back`.
    eye: DVec3,
    /// Pixels per unit of x/z.
    focal: f64,
    /// The pixel straight ahead.
    middle: [f64; 2],
    /// Depth of the near plane.
    pub(crate) near: f64,
}

impl Camera {
    /// Sees all `points` in a picture of `width` x `height` whose lowest `strip` pixels are kept free.
    pub(crate) fn framing(view: View, points: &[DVec3], width: f64, height: f64, strip: f64) -> Self {
        let back = view.to_eye();
        let (sin_yaw, cos_yaw) = libm::sincos(view.angles().0.to_radians());
        let right = DVec3::new(cos_yaw, 0.0, -sin_yaw);
        let up = back.cross(right);
        let high = (height - strip).max(1.0);

        // A point at (x, y, b) along the axes is inside when |x - ex| <= tx (eb - b), and so for y: four half-spaces
        // of the eye's position, whose extreme offsets give the nearest eye in closed form.
        let stand = |focal: f64| {
            let tan = |side: f64| side * (0.5 - MARGIN) / focal;
            let (tx, ty) = (tan(width), tan(high));
            let mut most = [f64::NEG_INFINITY; 4];
            for p in points {
                let (x, y, b) = (p.dot(right), p.dot(up), p.dot(back));
                let offsets = [x + tx * b, tx * b - x, y + ty * b, ty * b - y];
                most.iter_mut().zip(offsets).for_each(|(most, offset)| *most = most.max(offset));
            }
            let distance = ((most[0] + most[1]) / (2.0 * tx)).max((most[2] + most[3]) / (2.0 * ty));
            DVec3::new(0.5 * (most[0] - most[1]), 0.5 * (most[2] - most[3]), distance)
        };
        let mut focal = 0.5 * width.min(high) / libm::tan(HALF_ANGLE_DEGREES.to_radians());
        let mut eye = stand(focal);
        let nearest = points.iter().map(|p| p.dot(back)).fold(f64::NEG_INFINITY, f64::max);
        if !(nearest.is_finite() && eye.is_finite()) {
            eye = DVec3::new(0.0, 0.0, 1.0 + CLEARANCE);
        } else if eye.z < nearest + CLEARANCE {
            // Something long seen from its end: a closer look by a longer lens, not by stepping up to it.
            let (mut short, mut long) = (focal, focal * LONGEST);
            for _ in 0..48 {
                focal = 0.5 * (short + long);
                if stand(focal).z < nearest + CLEARANCE { short = focal } else { long = focal }
            }
            eye = stand(short);
            (focal, eye.z) = (short, nearest + CLEARANCE);
        }
        let near = NEAR * if nearest.is_finite() { eye.z - nearest } else { CLEARANCE };
        Self { right, up, back, eye, focal, middle: [0.5 * width, 0.5 * high], near }
    }

    /// A point in camera space.
    pub(crate) fn see(&self, p: DVec3) -> DVec3 {
        DVec3::new(p.dot(self.right) - self.eye.x, p.dot(self.up) - self.eye.y, self.eye.z - p.dot(self.back))
    }

    /// The pixel of a point in camera space, before the eye.
    pub(crate) fn pixel(&self, seen: DVec3) -> [f64; 2] {
        let scale = self.focal / seen.z;
        [self.middle[0] + seen.x * scale, self.middle[1] - seen.y * scale]
    }

    /// The camera-space direction, of depth 1, of a pixel.
    pub(crate) fn ray(&self, x: f64, y: f64) -> DVec3 {
        DVec3::new((x - self.middle[0]) / self.focal, (self.middle[1] - y) / self.focal, 1.0)
    }

    /// A camera-space direction in scene space.
    pub(crate) fn turn(&self, seen: DVec3) -> DVec3 {
        self.right * seen.x + self.up * seen.y - self.back * seen.z
    }

    /// The eye in scene space.
    pub(crate) fn eye(&self) -> DVec3 {
        self.right * self.eye.x + self.up * self.eye.y + self.back * self.eye.z
    }

    /// Right, and level towards the eye, in scene space: lights are set up along these.
    pub(crate) fn level_axes(&self) -> [DVec3; 2] {
        [self.right, self.right.cross(DVec3::Y)]
    }
}
