//! What the layers of `strain` are for, on the built-in leg: how the residual falls with iterations, whether the same
//! settings give the same shape at another fineness, and from where a body comes back.

use anyhow::{Context, Result};
use pliant::asset::{Character, Slot};
use pliant::body::{Body, Node, rest_nodes};
use pliant::glam::{DQuat, DVec3, Vec3};
use pliant::method::{self, Settings, Setup};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd::Path;
use pliant::solver::{Effort, Order, StrainSolver};
use pliant::zoo;
use serde::Serialize;
use std::io::Write;

/// The two fineness of the paper's leg.
const COARSE: usize = 3452;
const FINE: usize = 24_837;
/// How far into its motion the leg's flesh, still at rest, meets its bones, in seconds.
const BENT: [f64; 3] = [0.35, 0.7, 1.0];
const STIFFNESSES: [f32; 3] = [1.0, 0.5, 0.1];
const ITERATIONS: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];
/// Of ten iterations.
const CONSOLIDATING: u32 = 6;
/// Most iterations that a body gets to come back, and how far nodes are thrown, in body sizes.
const RECOVERY: u32 = 300;
const THROWS: [f64; 4] = [0.1, 0.2, 0.3, 0.5];

#[derive(Serialize)]
struct Curve {
    /// By how much the bones of the leg are turned against each other.
    bend_degrees: f64,
    stiffness: f32,
    order: &'static str,
    consolidating_of_ten: u32,
    iterations: [u32; ITERATIONS.len()],
    residual: Vec<f32>,
}

#[derive(Serialize)]
struct Fineness {
    stiffness: f32,
    order: &'static str,
    consolidating_of_ten: u32,
    /// Between the skins of the two bodies, over the leg's length.
    mean_percent: f64,
    worst_percent: f64,
}

#[derive(Serialize)]
struct Recovery {
    start: String,
    pinned: bool,
    stiffness: f32,
    /// After which there is no inverted tet; none: still some after [`RECOVERY`].
    iterations: Option<u32>,
    inverted: usize,
    /// Of the node farthest from rest, over the body's size; a body without pins may end anywhere.
    off_percent: Option<f64>,
}

#[derive(Serialize)]
struct Curves {
    residual: Vec<Curve>,
    fineness: Vec<Fineness>,
    recovery: Vec<Recovery>,
}

/// A leg of some fineness, and where its bones have taken its pinned nodes.
struct Leg<'c> {
    deformer: Box<dyn method::Deformer + 'c>,
    pinned: Vec<bool>,
    bent: Vec<Node>,
    bend_degrees: f64,
}

impl<'c> Leg<'c> {
    fn new(character: &'c Character, tets: usize, time: f64, path: Path) -> Result<Self> {
        let mut settings = Settings::default();
        settings.body.tets = Some(tets);
        let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
        let deformer = method::prepare("strain", character, setup)?;
        let clip = character.clips().iter().find(|c| c.name() == "bend").context("the leg does not bend")?;
        let mut pose = Pose::rest(character);
        Playback::once(character, Some(clip)).pose(time, &mut pose);
        let body = deformer.body().context("the leg has no body")?;
        let mut bent = rest_nodes(body.tets());
        let pins = deformer.pins().context("the leg has no pins")?;
        for (node, &slot) in bent.iter_mut().zip(pins) {
            node[3] = 1.0;
            if let Some(slot) = character.slots().get(slot as usize) {
                let posed = pose.world_from_joint[slot.joint as usize] * slot.joint_from_rest;
                [node[0], node[1], node[2]] = posed.transform_point3(place(node)).as_vec3().to_array();
            }
        }
        let pinned = pins.iter().map(|&p| p != u32::MAX).collect();
        let turn = |slot: &Slot| {
            (pose.world_from_joint[slot.joint as usize] * slot.joint_from_rest)
                .to_scale_rotation_translation()
                .1
        };
        let turns: Vec<DQuat> = character.slots().iter().map(turn).collect();
        let angles = turns.iter().flat_map(|a| turns.iter().map(|b| a.angle_between(*b).to_degrees()));
        let bend_degrees = angles.fold(0.0, f64::max);
        Ok(Self { deformer, pinned, bent, bend_degrees })
    }

    fn body(&self) -> Result<&Body> {
        self.deformer.body().context("the leg has no body")
    }

    /// Solves from the bent bones, flesh still at rest; gives nodes and residual.
    fn solved(&self, order: Order, k: f32, effort: Effort, path: Path) -> Result<(Vec<Node>, f32)> {
        let solver = StrainSolver::new(self.body()?.tets(), &self.pinned, None, order, path)?;
        let mut state = solver.state();
        solver.set_stiffness(&mut state, |_| [k; 7]);
        let mut nodes = self.bent.clone();
        solver.solve(&mut state, &mut nodes, effort);
        let residual = solver.residual(&mut state, &nodes);
        Ok((nodes, residual))
    }

    /// The skin on nodes.
    fn skin(&self, nodes: &[Node]) -> Result<Vec<DVec3>> {
        let body = self.body()?;
        let embedding = body.embedding();
        let vertex = |(&tet, weights): (&u32, &[f32; 4])| {
            let corners = body.tets().tets()[tet as usize];
            (0..4).map(|c| place(&nodes[corners[c] as usize]) * f64::from(weights[c])).sum()
        };
        Ok(embedding.tets().iter().zip(embedding.weights()).map(vertex).collect())
    }
}

fn place(node: &Node) -> DVec3 {
    Vec3::new(node[0], node[1], node[2]).as_dvec3()
}

fn effort(iterations: u32, consolidating_of_ten: u32) -> Effort {
    let consolidating = iterations * consolidating_of_ten / 10;
    Effort { iterations, consolidating, mass_gain: 15.0, volume_sweeps: 0 }
}

/// Layered with and without consolidation, and as tets lie.
const WAYS: [(&str, Order, u32); 3] = [
    ("layered", Order::Layered, CONSOLIDATING),
    ("layered", Order::Layered, 0),
    ("unordered", Order::Unordered, 0),
];

/// Prints all of it.
pub(super) fn run(path: Path, json: bool) -> Result<()> {
    let character = zoo::character("leg", None)?;
    let leg = |tets, time| Leg::new(&character, tets, time, path);
    let (coarse, fine) = (leg(COARSE, BENT[0])?, leg(FINE, BENT[0])?);
    let length = character.diagonal();
    let mut curves = Curves { residual: Vec::new(), fineness: Vec::new(), recovery: Vec::new() };
    for time in BENT {
        let leg = leg(FINE, time)?;
        for (stiffness, (order, how, consolidating_of_ten)) in
            STIFFNESSES.into_iter().flat_map(|stiffness| WAYS.map(|way| (stiffness, way)))
        {
            let mut residual = Vec::new();
            for iterations in ITERATIONS {
                residual.push(leg.solved(how, stiffness, effort(iterations, consolidating_of_ten), path)?.1);
            }
            let (bend_degrees, iterations) = (leg.bend_degrees, ITERATIONS);
            let curve = Curve { bend_degrees, stiffness, order, consolidating_of_ten, iterations, residual };
            curves.residual.push(curve);
        }
    }
    for stiffness in STIFFNESSES {
        let ways = [WAYS[0], ("layered", Order::Layered, 2), WAYS[2]];
        for (order, how, consolidating_of_ten) in ways {
            let ten = effort(10, consolidating_of_ten);
            let skin = |leg: &Leg<'_>| leg.skin(&leg.solved(how, stiffness, ten, path)?.0);
            let (a, b) = (skin(&coarse)?, skin(&fine)?);
            let off = || a.iter().zip(&b).map(|(a, b)| a.distance(*b) / length * 100.0);
            let (mean_percent, worst_percent) =
                (off().sum::<f64>() / a.len() as f64, off().fold(0.0, f64::max));
            let row = Fineness { stiffness, order, consolidating_of_ten, mean_percent, worst_percent };
            curves.fineness.push(row);
        }
    }
    for stiffness in [1.0, 0.3, 0.1] {
        recoveries(&coarse, stiffness, length, path, &mut curves.recovery)?;
    }
    if json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&curves)?)?;
        return Ok(());
    }
    print(&curves)
}

/// A body released from where it should never be.
fn recoveries(leg: &Leg<'_>, stiffness: f32, size: f64, path: Path, out: &mut Vec<Recovery>) -> Result<()> {
    let mesh = leg.body()?.tets();
    let rest = rest_nodes(mesh);
    let middle = rest.iter().map(place).sum::<DVec3>() / rest.len() as f64;
    // Numbers of no pattern, the same each time.
    let mut seed = 11u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let mut starts: Vec<(String, Vec<DVec3>)> = vec![
        ("flat".into(), rest.iter().map(|n| place(n).with_z(middle.z)).collect()),
        ("inside out".into(), rest.iter().map(|n| middle * 2.0 - place(n)).collect()),
    ];
    for throw in THROWS {
        let thrown = rest.iter().map(|n| place(n) + DVec3::new(random(), random(), random()) * throw * size);
        starts.push((format!("thrown by {throw} of its size"), thrown.collect()));
    }
    for pinned in [true, false] {
        let pins = if pinned { leg.pinned.clone() } else { vec![false; rest.len()] };
        let solver = StrainSolver::new(mesh, &pins, None, Order::Layered, path)?;
        let mut state = solver.state();
        solver.set_stiffness(&mut state, |_| [stiffness; 7]);
        for (start, places) in &starts {
            let moved = |(k, node): (usize, &Node)| {
                let [x, y, z] = if pins[k] { place(node) } else { places[k] }.as_vec3().to_array();
                [x, y, z, 1.0]
            };
            let mut nodes: Vec<Node> = rest.iter().enumerate().map(moved).collect();
            let (mut sound_since, mut inverted) = (None, 0);
            for done in (10..=RECOVERY).step_by(10) {
                solver.solve(&mut state, &mut nodes, effort(10, CONSOLIDATING));
                inverted = solver.check(&mut state, &nodes, 0.0).flat;
                sound_since = if inverted == 0 { sound_since.or(Some(done)) } else { None };
            }
            let off = || nodes.iter().zip(&rest).map(|(a, b)| place(a).distance(place(b)));
            out.push(Recovery {
                start: start.clone(),
                pinned,
                stiffness,
                iterations: sound_since,
                inverted,
                off_percent: pinned.then(|| off().fold(0.0, f64::max) / size * 100.0),
            });
        }
    }
    Ok(())
}

fn print(curves: &Curves) -> Result<()> {
    let mut out = std::io::stdout();
    write!(out, "residual after iterations               ")?;
    ITERATIONS.iter().try_for_each(|n| write!(out, "{n:>8}"))?;
    writeln!(out)?;
    for curve in &curves.residual {
        let Curve { bend_degrees, stiffness, order, consolidating_of_ten, residual, .. } = curve;
        write!(
            out,
            "bend {bend_degrees:3.0} stiffness {stiffness:3} {order:>10} 10/{consolidating_of_ten}  "
        )?;
        residual.iter().try_for_each(|r| write!(out, "{r:8.4}"))?;
        writeln!(out)?;
    }
    writeln!(out, "\nskin of {COARSE} tets against that of {FINE}, % of the length: mean, worst")?;
    for row in &curves.fineness {
        let Fineness { stiffness, order, consolidating_of_ten, mean_percent, worst_percent } = row;
        writeln!(
            out,
            "stiffness {stiffness:3} {order:>10} 10/{consolidating_of_ten}  {mean_percent:8.3}{worst_percent:8.3}"
        )?;
    }
    writeln!(
        out,
        "\nno tet inverted after iterations (of {RECOVERY}), and the worst node's way from rest, %"
    )?;
    for row in &curves.recovery {
        let Recovery { start, pinned, stiffness, iterations, inverted, off_percent } = row;
        let pins = if *pinned { "pinned" } else { "loose" };
        let when = iterations.map_or_else(|| format!("never: {inverted} left"), |n| n.to_string());
        let off = off_percent.map_or_else(String::new, |off| format!("{off:8.3}"));
        writeln!(out, "stiffness {stiffness:3} {pins:>6} {start:24} {when:>16}{off}")?;
    }
    Ok(())
}
