//! Action lines: simplified muscles from bone to bone, whose balls grow as they shorten.

use super::pose::PosedBone;
use super::rig::BallRig;
use super::{Driver, MetaballsSettings, Muscle};
use crate::asset::Character;
use crate::method::check::SettingsError;
use crate::method::regions::{Joints, no_joint};
use crate::rig::retarget::{Humanoid, Role, Side};
use glam::DVec3;

/// Share of its length that a line has shortened by when its muscle answers wholly to the bend.
const ANSWERS: f64 = 0.02;
/// Along the line a muscle's belly has its whole gain between the second and third, none before the first and after the last.
const BELLY: [f64; 4] = [0.0, 0.25, 0.7, 1.0];
/// Over which part of its radius more a muscle's own flesh ends.
const FALLOFF: f64 = 0.5;
/// A muscle's radius over its length, where nothing is said.
const SLIMNESS: f64 = 1.0 / 3.0;

/// A muscle of a character.
pub(super) struct Line {
    points: Vec<(u16, DVec3)>,
    length: f64,
    /// Which way the bone that it ends on points, at rest.
    way: DVec3,
    gain: f64,
    driver: Driver,
    /// Its balls, and how much of each is.
    pub(super) balls: Vec<(u32, f64)>,
}

/// A muscle before its balls are found.
struct Drawn {
    points: Vec<(u16, DVec3)>,
    way: DVec3,
    gain: f64,
    radius: f64,
    driver: Driver,
}

/// All muscles of the settings, and warnings of those that have no flesh.
pub(super) fn lines(
    rig: &BallRig<'_>,
    settings: &MetaballsSettings,
) -> Result<(Vec<Line>, Vec<String>), SettingsError> {
    let character = &rig.character;
    let (mut lines, mut warnings) = (Vec::new(), Vec::new());
    let mut add = |name: &str, drawn: Drawn| {
        let line = Line::new(rig, drawn);
        if line.balls.is_empty() {
            warnings.push(format!("the muscle '{name}' has no flesh near its line: it does nothing"));
        } else {
            lines.push(line);
        }
    };
    for (index, muscle) in settings.muscles.iter().enumerate() {
        let drawn = drawn(character, muscle).map_err(|e| e.under(&format!("muscle[{index}]")))?;
        add(&muscle.name, drawn);
    }
    if let Some(gain) = settings.humanoid_muscles {
        match humanoid(rig, gain) {
            Some(body) => body.into_iter().for_each(|(name, drawn)| add(name, drawn)),
            None => warnings.push("no human body is found in the skeleton: it has no muscles".to_owned()),
        }
    }
    Ok((lines, warnings))
}

/// Whether the character has the joints that are named.
pub(super) fn check_on(character: &Character, settings: &MetaballsSettings) -> Result<(), SettingsError> {
    for (index, muscle) in settings.muscles.iter().enumerate() {
        drawn(character, muscle).map_err(|e| e.under(&format!("muscle[{index}]")))?;
    }
    Ok(())
}

/// The slot that moves with a joint: its own, or that of the nearest joint above that moves skin.
fn slot_of(character: &Character, joint: u32) -> Option<u16> {
    let joints = character.skeleton().joints();
    let mut above = std::iter::successors(Some(joint), |&j| joints[j as usize].parent);
    above.find_map(|j| character.slots().iter().position(|s| s.joint == j)).map(|s| s as u16)
}

/// A joint's bone: from the joint to the middle of what it carries.
fn bone(character: &Character, joint: u32) -> [DVec3; 2] {
    let start = character.skeleton().rest_position(joint);
    let bones = character.skeleton().bones();
    let ends: Vec<DVec3> = bones.iter().filter(|b| b.joint == joint).map(|b| b.end).collect();
    let end = if ends.is_empty() { start } else { ends.iter().sum::<DVec3>() / ends.len() as f64 };
    [start, end]
}

fn drawn(character: &Character, muscle: &Muscle) -> Result<Drawn, SettingsError> {
    let skeleton = character.skeleton();
    let joints = Joints::of(skeleton);
    let (mut points, mut last) = (Vec::new(), 0);
    for (key, point) in muscle.points() {
        let missing = || no_joint("joint", &point.joint, skeleton).under(&key);
        let joint =
            *joints.find(&point.joint).and_then(|j| j.first().copied()).as_ref().ok_or_else(missing)?;
        let slot = slot_of(character, joint).ok_or_else(|| {
            let what = format!("no skin moves with '{}'", point.joint);
            SettingsError::new("joint", what, "name a joint that moves skin").under(&key)
        })?;
        let [start, end] = bone(character, joint);
        points.push((slot, point.at.map_or(0.5 * (start + end), DVec3::from_array)));
        last = joint;
    }
    let length: f64 = points.windows(2).map(|w| w[0].1.distance(w[1].1)).sum();
    if length <= 0.0 {
        let what = "the line has no length";
        return Err(SettingsError::new("to", what, "set 'at' of its points to different places"));
    }
    let [start, end] = bone(character, last);
    Ok(Drawn {
        way: (end - start).normalize_or(DVec3::Y),
        points,
        gain: muscle.gain,
        radius: muscle.radius.unwrap_or(SLIMNESS * length),
        driver: muscle.driver,
    })
}

/// The muscles of a human body, by its joints' names. Nothing where there is no such body.
fn humanoid(rig: &BallRig<'_>, gain: f64) -> Option<Vec<(&'static str, Drawn)>> {
    let character = &rig.character;
    let skeleton = character.skeleton();
    let names: Vec<&str> = skeleton.joints().iter().map(|j| &j.name[..]).collect();
    let body = Humanoid::find(skeleton, &names)?;
    let [_, up, forward] = body.directions(skeleton)?;
    let mut drawn = Vec::new();
    for side in [Side::Left, Side::Right] {
        let limbs = [
            ("biceps", Role::UpperArm(side), Role::LowerArm(side), forward),
            ("triceps", Role::UpperArm(side), Role::LowerArm(side), -forward),
            ("quadriceps", Role::UpperLeg(side), Role::LowerLeg(side), forward),
            ("hamstrings", Role::UpperLeg(side), Role::LowerLeg(side), -forward),
            ("calf", Role::LowerLeg(side), Role::Foot(side), -forward),
            ("deltoid", Role::Collar(side), Role::UpperArm(side), up),
        ];
        for (name, from, to, aside) in limbs {
            let (Some(from), Some(to)) = (body.joint(from), body.joint(to)) else { continue };
            let (Some(upper), Some(lower)) = (slot_of(character, from), slot_of(character, to)) else {
                continue;
            };
            let ([start, _], [joint, end]) = (bone(character, from), bone(character, to));
            let (thigh, shin) = (joint - start, end - joint);
            if upper == lower || thigh.length() <= 0.0 || shin.length() <= 0.0 {
                continue;
            }
            // A deltoid is on the arm that it lifts, the others on the bone above the one that they move.
            let on = if name == "deltoid" { lower } else { upper };
            let radius = rig.limb_radius(on);
            let across = |way: DVec3| (aside - way * aside.dot(way)).normalize_or_zero() * radius;
            let (from_at, to_at) = if name == "deltoid" {
                (
                    joint - thigh * 0.3 + across(thigh.normalize()),
                    joint + shin * 0.6 + across(shin.normalize()),
                )
            } else {
                (
                    start + thigh * 0.08 + across(thigh.normalize()),
                    joint + shin * 0.12 + across(shin.normalize()),
                )
            };
            drawn.push((
                name,
                Drawn {
                    points: vec![(upper, from_at), (lower, to_at)],
                    way: shin.normalize(),
                    gain,
                    radius: 1.6 * radius,
                    driver: Driver::Bend,
                },
            ));
        }
    }
    Some(drawn)
}

impl Line {
    fn new(rig: &BallRig<'_>, drawn: Drawn) -> Self {
        let Drawn { points, way, gain, radius, driver } = drawn;
        let places: Vec<DVec3> = points.iter().map(|p| p.1).collect();
        let length: f64 = places.windows(2).map(|w| w[0].distance(w[1])).sum();
        let share = |at: DVec3| {
            // The nearest place on the line, and how far along that is.
            let (mut before, mut best) = (0.0, (f64::INFINITY, 0.0));
            for w in places.windows(2) {
                let piece = w[0].distance(w[1]);
                let way = w[1] - w[0];
                let along =
                    ((at - w[0]).dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                let distance = at.distance(w[0] + way * along);
                if distance < best.0 {
                    best = (distance, (before + along * piece) / length);
                }
                before += piece;
            }
            let (distance, along) = best;
            let near = 1.0 - ((distance - radius) / (FALLOFF * radius)).clamp(0.0, 1.0);
            let belly = ((along - BELLY[0]) / (BELLY[1] - BELLY[0]))
                .min((BELLY[3] - along) / (BELLY[3] - BELLY[2]))
                .clamp(0.0, 1.0);
            let smooth = |x: f64| x * x * (3.0 - 2.0 * x);
            smooth(near) * smooth(belly)
        };
        let slots: Vec<u16> = points.iter().map(|p| p.0).collect();
        // Only flesh of the bones that it lies along: not the chest's beside an arm.
        let own = |ball: usize| rig.on_bones[ball].first().is_some_and(|b| slots.contains(&b.0));
        let all = rig.balls().iter().enumerate().filter(|(ball, _)| own(*ball));
        let balls = all.map(|(ball, b)| (ball as u32, share(b.center.as_dvec3()))).filter(|b| b.1 > 0.0);
        Self { balls: balls.collect(), points, length, way, gain, driver }
    }

    /// How much its flesh grows in a pose: 1 where it does not.
    pub(super) fn growth(&self, bones: &[PosedBone]) -> f64 {
        let mut places = self.points.iter().map(|p| bones[p.0 as usize].place.transform_point3(p.1));
        let mut length = 0.0;
        if let Some(mut last) = places.next() {
            for place in places {
                length += last.distance(place);
                last = place;
            }
        }
        let shortening = 1.0 - length / self.length;
        match self.driver {
            // Also where a bone has no size, and the length is no number.
            _ if shortening <= 0.0 || shortening.is_nan() => 1.0,
            Driver::Shortening => 1.0 + self.gain * shortening,
            Driver::Bend => {
                let ends = [self.points[0].0, self.points[self.points.len() - 1].0];
                let [from, to] = ends.map(|slot| bones[slot as usize].turn);
                let turned = from.conjugate() * to * self.way;
                let bend = libm::acos(turned.dot(self.way).clamp(-1.0, 1.0)).to_degrees();
                1.0 + self.gain * bend / 90.0 * (shortening / ANSWERS).min(1.0)
            }
        }
    }
}
