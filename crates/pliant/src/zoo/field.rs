//! The body as a distance field: round cones and ellipsoids hung on joints, melted into each other near the joints
//! and nowhere else, so that fingers, legs and ears stay apart however close they come.

use glam::{DMat3, DVec3};

/// The field at a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probe {
    /// Signed distance, negative inside; exact for round cones, to first order for what is flattened.
    pub distance: f64,
    /// Its gradient.
    pub gradient: DVec3,
    /// Radius of the limb nearby: what sets the size of triangles.
    pub radius: f64,
}

/// How much steeper than a distance the field may be: flattened lumps are distances to first order only.
pub(super) const STEEPEST: f64 = 1.3;

const FAR: Probe = Probe { distance: f64::INFINITY, gradient: DVec3::Y, radius: 1.0 };

/// Cubic smooth minimum: the plain one where the two differ by more than `width`.
fn melt(a: Probe, b: Probe, width: f64) -> Probe {
    let (near, far) = if a.distance <= b.distance { (a, b) } else { (b, a) };
    let gap = far.distance - near.distance;
    if width <= 0.0 || gap >= width {
        return near;
    }
    let h = 1.0 - gap / width;
    let share = 0.5 * h * h;
    Probe {
        distance: near.distance - h * h * h * width / 6.0,
        gradient: near.gradient.lerp(far.gradient, share),
        radius: near.radius + (far.radius - near.radius) * share,
    }
}

/// Rises from 0 to 1 between `low` and `high`, with flat ends.
pub(super) fn smoothstep(low: f64, high: f64, x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A piece of flesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lump {
    /// From `start` to `end`; a ball where they meet.
    start: DVec3,
    end: DVec3,
    start_radius: f64,
    end_radius: f64,
    /// Takes a point about `start` to where the lump is round. Identity for plain cones.
    round_from_body: DMat3,
    /// The inverse of that stretches by at most this much, and makes the lump about this thick for its radius.
    reach: f64,
    thickness: f64,
    /// Added all around: gives flat lumps a round rim.
    swell: f64,
    /// Set once it is hung on a joint: a ball around it; its axis' direction and length where it is round, and how
    /// far along the axis its normals lean per distance from it.
    bound: (DVec3, f64),
    axis: (DVec3, f64),
    lean: f64,
    /// Width over which it melts into the lumps before it on the same joint.
    pub melt: f64,
    /// Whether a mirrored twin hangs on the same joint.
    pub both: bool,
}

impl Lump {
    pub(super) fn cone(start: DVec3, start_radius: f64, end: DVec3, end_radius: f64) -> Self {
        let melt = 0.8 * start_radius.min(end_radius);
        let (round_from_body, reach, thickness) = (DMat3::IDENTITY, 1.0, 1.0);
        let bound = (start, f64::INFINITY);
        Self {
            start,
            end,
            start_radius,
            end_radius,
            round_from_body,
            reach,
            thickness,
            swell: 0.0,
            bound,
            axis: (DVec3::Y, 0.0),
            lean: 0.0,
            melt,
            both: false,
        }
    }

    pub(super) fn ball(center: DVec3, radii: DVec3) -> Self {
        Self {
            round_from_body: DMat3::from_diagonal(radii.recip()),
            reach: radii.max_element(),
            thickness: radii.min_element()
                * libm::pow(radii.element_product() / cube(radii.min_element()), 1.0 / 12.0),
            melt: 0.8 * radii.min_element(),
            ..Self::cone(center, 1.0, center, 1.0)
        }
    }

    /// Scales the lump along `axis` by `factor`, about its start.
    pub(super) fn flat(&mut self, axis: DVec3, factor: f64) -> &mut Self {
        let n = axis.normalize();
        let outer = DMat3::from_cols(n * n.x, n * n.y, n * n.z);
        let squash = DMat3::IDENTITY + outer * (1.0 / factor - 1.0);
        let about = squash * (self.end - self.start);
        self.end = self.start + about;
        self.round_from_body *= squash;
        self.reach *= factor.max(1.0);
        self.thickness *= libm::sqrt(factor.min(1.0));
        self
    }

    /// Turns the lump about its start.
    pub(super) fn turn(&mut self, axis: DVec3, degrees: f64) -> &mut Self {
        let turn = DMat3::from_quat(super::figure::rotation(axis, degrees));
        self.round_from_body *= turn.transpose();
        self
    }

    /// Makes the lump thicker all around.
    pub(super) fn swell(&mut self, by: f64) -> &mut Self {
        (self.swell, self.melt) = (by, self.melt.max(0.8 * by));
        self.thickness += by / self.start_radius.max(self.end_radius);
        self
    }

    /// Sets the melting width.
    pub(super) fn soft(&mut self, melt: f64) -> &mut Self {
        self.melt = melt;
        self
    }

    /// Adds a mirrored twin on the same joint.
    pub(super) fn both(&mut self) -> &mut Self {
        self.both = true;
        self
    }

    pub(super) fn mirrored(&self) -> Self {
        let flip = DVec3::new(-1.0, 1.0, 1.0);
        let mirror = DMat3::from_diagonal(flip);
        Self {
            start: self.start * flip,
            end: self.end * flip,
            round_from_body: mirror * self.round_from_body * mirror,
            ..*self
        }
    }

    /// A typical radius.
    pub(super) fn size(&self) -> f64 {
        self.start_radius.max(self.end_radius) * self.thickness
    }

    /// Makes it ready to be probed.
    fn hang(&mut self, crease: f64) {
        self.melt = self.melt.max(crease);
        self.bound = self.around();
        let length = (self.end - self.start).length();
        if length > 0.0 {
            self.axis = ((self.end - self.start) / length, length);
            // The surface is the hull of balls along the axis; its normal leans by the slope of their radii.
            let sine = ((self.start_radius - self.end_radius) / length).clamp(-0.95, 0.95);
            self.lean = sine / libm::sqrt(1.0 - sine * sine);
        }
    }

    fn is_round(&self) -> bool {
        self.round_from_body == DMat3::IDENTITY
    }

    /// A ball around it.
    fn around(&self) -> (DVec3, f64) {
        let half = 0.5 * (self.end - self.start).length();
        let around = half + self.start_radius.max(self.end_radius);
        if self.is_round() {
            ((self.start + self.end) * 0.5, around + self.swell)
        } else {
            (self.start, (around + half) * self.reach + self.swell)
        }
    }

    pub(super) fn probe(&self, p: DVec3) -> Probe {
        let q = self.round_from_body * (p - self.start);
        let (u, length) = self.axis;
        let (center, radius) = if length > 0.0 {
            let along = q.dot(u);
            let off = (q - u * along).length();
            let t = (along - off * self.lean).clamp(0.0, length);
            (u * t, self.start_radius + (self.end_radius - self.start_radius) * t / length)
        } else {
            (DVec3::ZERO, self.start_radius)
        };
        let from = q - center;
        let far = from.length();
        let normal = if far > 0.0 { from / far } else { DVec3::Y };
        let gradient = self.round_from_body.transpose() * normal;
        let steep = gradient.length();
        // Far along a flat lump its first-order distance falls behind the true one; that to the ball around it
        // does not, and leaves the surface alone.
        let away = p - self.bound.0;
        let least = away.length() - self.bound.1;
        if (least + self.swell) * steep > far - radius {
            let gradient = away.normalize_or(DVec3::Y);
            return Probe { distance: least, gradient, radius: radius * self.thickness };
        }
        Probe {
            distance: (far - radius) / steep - self.swell,
            gradient: gradient / steep,
            radius: radius * self.thickness,
        }
    }
}

fn cube(x: f64) -> f64 {
    x * x * x
}

/// The lumps of one joint and how its limb melts into its parent's.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    pub lumps: Vec<Lump>,
    pub children: Vec<usize>,
    /// Where the limb meets its parent's.
    pub seam: DVec3,
    /// Width of melting at the seam, and how far from it the melting fades out.
    pub melt: f64,
    pub reach: f64,
    /// Balls around the joint's own lumps and around its whole limb.
    pub own_bound: (DVec3, f64),
    pub bound: (DVec3, f64),
}

/// The whole body. Nodes come parents first; node 0 is the root.
#[derive(Debug, Clone)]
pub(super) struct Field {
    nodes: Vec<Node>,
    /// Everything melts over at least this width: triangles cannot follow a crease.
    crease: f64,
    /// Whether the body stands on the ground, with flat soles.
    stands: bool,
}

/// A ball around two balls.
fn around(a: (DVec3, f64), b: (DVec3, f64)) -> (DVec3, f64) {
    let apart = a.0.distance(b.0);
    if apart + b.1 <= a.1 {
        return a;
    }
    if apart + a.1 <= b.1 {
        return b;
    }
    let radius = 0.5 * (apart + a.1 + b.1);
    (a.0 + (b.0 - a.0) * ((radius - a.1) / apart), radius)
}

impl Field {
    pub(super) fn new(mut nodes: Vec<Node>, crease: f64, stands: bool) -> Self {
        for index in (0..nodes.len()).rev() {
            nodes[index].lumps.iter_mut().for_each(|l| l.hang(crease));
            nodes[index].melt = nodes[index].melt.max(crease);
            let own = nodes[index].lumps.iter().map(|l| l.bound).reduce(around);
            nodes[index].own_bound = own.unwrap_or((nodes[index].seam, 0.0));
            let children: Vec<_> = nodes[index].children.iter().map(|&c| nodes[c].bound).collect();
            nodes[index].bound = children.into_iter().fold(nodes[index].own_bound, around);
        }
        Self { nodes, crease, stands }
    }

    /// A box around the surface.
    pub(super) fn bounds(&self) -> (DVec3, DVec3) {
        let boxes = self.nodes.iter().flat_map(|n| &n.lumps).map(|l| {
            let (center, radius) = l.bound;
            (center - radius, center + radius)
        });
        boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((DVec3::ZERO, DVec3::ZERO))
    }

    pub(super) fn probe(&self, p: DVec3) -> Probe {
        let body = self.limb(0, p);
        if !self.stands {
            return body;
        }
        // What is in the body and above ground, with rounded soles: a smooth maximum.
        let not = |p: Probe| Probe { distance: -p.distance, gradient: -p.gradient, ..p };
        let ground = Probe { distance: -p.y, gradient: DVec3::NEG_Y, radius: body.radius };
        not(melt(not(body), not(ground), 2.0 * self.crease))
    }

    fn limb(&self, index: usize, p: DVec3) -> Probe {
        let node = &self.nodes[index];
        let mut body = FAR;
        for lump in &node.lumps {
            if p.distance(lump.bound.0) - lump.bound.1 <= body.distance + lump.melt {
                body = melt(body, lump.probe(p), lump.melt);
            }
        }
        for &child in &node.children {
            let limb = &self.nodes[child];
            if p.distance(limb.bound.0) - limb.bound.1 > body.distance + limb.melt {
                continue;
            }
            let fade = 1.0 - smoothstep(0.6 * limb.reach, limb.reach, p.distance(limb.seam));
            body = melt(body, self.limb(child, p), self.crease.max(limb.melt * fade));
        }
        body
    }

    /// Distance to the lumps of one joint; a lower bound of it beyond `limit`.
    pub(super) fn own_distance(&self, index: usize, p: DVec3, limit: f64) -> f64 {
        let node = &self.nodes[index];
        let least = p.distance(node.own_bound.0) - node.own_bound.1;
        if least > limit {
            return least;
        }
        node.lumps.iter().map(|l| l.probe(p).distance).fold(f64::INFINITY, f64::min)
    }

    /// The same field, to the last bit, within `radius` of a point: what cannot matter there is left out.
    pub(super) fn near(&self, center: DVec3, radius: f64) -> Self {
        let highest = self.probe(center).distance + STEEPEST * radius;
        let least = |l: &Lump| match l.is_round() {
            true => l.probe(center).distance - radius,
            false => center.distance(l.bound.0) - l.bound.1 - radius,
        };
        let melts = |n: &Node| match center.distance(n.seam) < n.reach + radius {
            true => n.melt,
            false => self.crease,
        };
        // What is farther than every width of melting has no say; then only the widths of the rest count.
        let mut margin = f64::INFINITY;
        for _ in 0..2 {
            let inner = self.nodes.iter().flat_map(|n| &n.lumps).filter(|l| least(l) <= highest + margin);
            let widest = inner.map(|l| l.melt).chain(self.nodes.iter().map(melts)).fold(0.0, f64::max);
            // Half as much again: far lumps that melt with each other come a little nearer.
            margin = 1.5 * widest;
        }
        let mut nodes = self.nodes.clone();
        for index in (0..nodes.len()).rev() {
            nodes[index].lumps.retain(|l| least(l) <= highest + margin);
            let kept = |c: &usize| !nodes[*c].lumps.is_empty() || !nodes[*c].children.is_empty();
            nodes[index].children = self.nodes[index].children.iter().copied().filter(kept).collect();
        }
        Self { nodes, ..*self }
    }
}
