//! One tick of the solver on a bar of flesh that is bent and twisted.

use super::{Bench, Parts, Timed, Work, best_of};
use crate::shell;
use anyhow::{Context, Result};
use pliant::asset::TetMesh;
use pliant::body::{Node, bench_bend, bench_block};
use pliant::glam::{DVec3, Vec3, Vec3Swizzles};
use pliant::simd::Path;
use pliant::solver::{Solver, per_iteration};
use pliant_io::files::{Folder, commit};
use pliant_io::tet::{self, Fields};
use pliant_kit::hash::StateHash;
use std::path::Path as FilePath;

pub(super) const NAME: &str = "position";

/// Bars, in tets.
pub(super) const BODIES: [usize; 3] = [5000, 14_000, 90_000];

/// How much of an error a tick of as many iterations as usual removes: the method's defaults. More iterations go farther.
const STRETCH: f64 = 0.6;
const VOLUME: f64 = 1.0;
const BIND: f64 = 0.3;
const USUAL_ITERATIONS: u32 = 12;

/// The bar is bent into an arc of this angle, in radians, and twisted by as much; thicker bodies by less, so that their
/// inside still has a length.
const MOST_BEND: f64 = 2.0;

/// Length of the bar at rest, along x with its middle at 0: what [`bench_bend`] bends.
const LENGTH: f64 = 4.0;

/// What a tick starts from.
pub(super) struct Bar {
    pub(super) name: &'static str,
    pub(super) mesh: TetMesh,
    pub(super) bent: Vec<Node>,
    /// The point on the bar's axis that each node is bound to, and its distance from it.
    binds: Vec<[f32; 4]>,
}

impl Bar {
    fn new(name: &'static str, mesh: TetMesh) -> Self {
        let half = mesh.positions().iter().map(|p| f64::from(p.y.abs())).fold(0.0, f64::max);
        let bend = MOST_BEND.min(LENGTH / (2.0 * half));
        let bent = bench_bend(&mesh, bend);
        // The axis is the bone: it is bent into the arc.
        let bind = |p: &Vec3| {
            let (sine, cosine) = libm::sincos(f64::from(p.x) / LENGTH * bend);
            let radius = LENGTH / bend;
            let at = DVec3::new(radius * sine, radius - radius * cosine, 0.0).as_vec3();
            [at.x, at.y, at.z, p.yz().length()]
        };
        Self { name, binds: mesh.positions().iter().map(bind).collect(), bent, mesh }
    }

    /// A bar of about as many tets, a quarter as thick as long.
    fn of(tets: usize) -> Result<Self> {
        let side = libm::round(libm::cbrt(tets as f64 / 6.0 / LENGTH)).max(1.0) as usize;
        let along = (tets as f64 / (6 * side * side) as f64).round() as usize;
        let half = DVec3::new(LENGTH, 1.0, 1.0) / 2.0;
        Ok(Self::new("bar", bench_block([along, side, side], -half, half)?))
    }

    /// A body from a file, turned and scaled to lie like the bar, its longest side along x.
    fn read(path: &FilePath) -> Result<Self> {
        let named = || path.display().to_string();
        let bytes = shell::bytes(path)?;
        let mesh = tet::read(&path.to_string_lossy(), &bytes, &Folder::of(path)).with_context(named)?.mesh;
        let points = mesh.positions().iter().map(|p| p.as_dvec3());
        let (low, high) = points
            .clone()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let (size, middle) = (high - low, (low + high) / 2.0);
        let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap_or(0);
        let scale = LENGTH / size[axis];
        let laid = points.map(|p| {
            let p = (p - middle) * scale;
            DVec3::new(p[axis], p[(axis + 1) % 3], p[(axis + 2) % 3]).as_vec3()
        });
        let mesh = TetMesh::new(laid.collect(), mesh.tets().to_vec()).with_context(named)?;
        Ok(Self::new("file", mesh))
    }

    /// At rest and bent, for others to measure with.
    fn save(&self, folder: &FilePath) -> Result<()> {
        let bent = self.bent.iter().map(|n| Vec3::new(n[0], n[1], n[2])).collect();
        let bent = TetMesh::new(bent, self.mesh.tets().to_vec()).context("the bent bar")?;
        let mut ready = Vec::new();
        for (name, mesh) in [("rest", &self.mesh), ("bent", &bent)] {
            let path = folder.join(format!("bar-{}-{name}.mesh", self.mesh.tets().len()));
            let format = tet::Format::of(&path).context("not a tet file")?;
            ready.extend(tet::create(&path, format, mesh, &Fields::default())?);
        }
        commit(ready)?;
        Ok(())
    }
}

impl Bench<'_> {
    pub(super) fn solve(&mut self) -> Result<()> {
        self.bars(&BODIES, Self::solve_bar)
    }

    /// Some work on bars of every size, or on the body of a file.
    pub(super) fn bars(
        &mut self,
        usual: &[usize],
        mut work: impl FnMut(&mut Self, &Bar) -> Result<()>,
    ) -> Result<()> {
        let args = self.args;
        let mut each = |bar: &Bar| {
            if let Some(folder) = &args.save {
                bar.save(folder).with_context(|| folder.display().to_string())?;
            }
            work(self, bar)
        };
        if let Some(path) = &args.body {
            return each(&Bar::read(path)?);
        }
        args.sizes.as_deref().unwrap_or(usual).iter().try_for_each(|&tets| each(&Bar::of(tets)?))
    }

    fn solve_bar(&mut self, bar: &Bar) -> Result<()> {
        let iterations = self.args.iterations.unwrap_or(USUAL_ITERATIONS);
        let work = Work {
            method: NAME,
            output: bar.name,
            vertices: bar.mesh.positions().len(),
            tets: Some(bar.mesh.tets().len()),
            iterations: Some(iterations),
        };
        let binds = if self.args.no_bind { &[] } else { &bar.binds[..] };
        self.measure(&work, |path| tick(bar, binds, iterations, path))
    }
}

/// Best time of a tick's projection, and of its three kinds apart.
fn tick(bar: &Bar, binds: &[[f32; 4]], iterations: u32, path: Path) -> Result<Timed> {
    let solver = Solver::new(&bar.mesh, path)?;
    let mut state = solver.state();
    let [stretch, volume, bind] = [STRETCH, VOLUME, BIND].map(|k| per_iteration(k, USUAL_ITERATIONS));
    solver.set_stretch(&mut state, |_| stretch);
    solver.set_volume(&mut state, |_| volume);
    let bind = vec![bind; binds.len()];
    let mut nodes = bar.bent.clone();
    let mut timed = |work: &mut dyn FnMut(&mut [Node])| {
        best_of(&mut nodes, |nodes| nodes.copy_from_slice(&bar.bent), |nodes| work(nodes))
    };
    let stretch = timed(&mut |nodes| solver.sweep_stretch(&mut state, nodes, iterations));
    let volume = timed(&mut |nodes| solver.sweep_volume(&mut state, nodes, iterations));
    let bind_alone = timed(&mut |nodes| solver.sweep_bind(&mut state, nodes, binds, &bind, iterations));
    let best = timed(&mut |nodes| solver.solve(&mut state, nodes, binds, &bind, iterations, 0));
    let mut hasher = StateHash::default();
    hasher.frame(&nodes.iter().map(|n| Vec3::new(n[0], n[1], n[2])).collect::<Vec<_>>());
    Ok(Timed {
        best,
        state_hash: hasher.hex(),
        residual: Some(solver.residual(&mut state, &nodes).into()),
        parts: Some(Parts { stretch, bind: bind_alone, volume }),
        textbook: None,
    })
}
