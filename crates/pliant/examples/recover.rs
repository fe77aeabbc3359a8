use pliant::body::{Node, bench_block};
use pliant::glam::DVec3;
use pliant::simd::Path;
use pliant::solver::*;
struct R(u64);
impl R {
    fn n(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64) / ((1u64 << 31) as f64) * 2.0 - 1.0
    }
}
fn main() {
    for (cells, half) in [([32, 8, 8], 0.13), ([64, 16, 16], 0.13)] {
        let h = DVec3::new(4.0, 1.0, 1.0) / 2.0;
        let mesh = bench_block(cells, -h, h).unwrap();
        let rest: Vec<Node> = mesh.positions().iter().map(|p| [p.x, p.y, p.z, 1.0]).collect();
        // pinned along the bone (axis), not the ends' joints
        let pinned: Vec<bool> = mesh
            .positions()
            .iter()
            .map(|p| p.y.abs() < half && p.z.abs() < half && p.x.abs() < 1.8)
            .collect();
        let solver = StrainSolver::new(&mesh, &pinned, None, Order::Layered, Path::best()).unwrap();
        println!(
            "cells {cells:?} tets {} free {} layers {}",
            solver.tets(),
            solver.free_tets(),
            solver.layer_count()
        );
        let size = mesh.positions().iter().map(|p| p.as_dvec3().length()).fold(0.0, f64::max) * 2.0;
        let mut r = R(1);
        let mut starts: Vec<(String, Vec<Node>)> = vec![];
        let mv = |f: &mut dyn FnMut(DVec3) -> DVec3| -> Vec<Node> {
            rest.iter()
                .zip(&pinned)
                .map(|(n, &pin)| {
                    if pin {
                        *n
                    } else {
                        let p = f(DVec3::new(n[0] as f64, n[1] as f64, n[2] as f64));
                        [p.x as f32, p.y as f32, p.z as f32, 1.0]
                    }
                })
                .collect()
        };
        starts.push(("flat z".into(), mv(&mut |p| DVec3::new(p.x, p.y, 0.0))));
        starts.push((
            "flat y+z".into(),
            mv(&mut |p| {
                let m = (p.y + p.z) / 2.0;
                DVec3::new(p.x, p.y - m, p.z - m)
            }),
        ));
        starts.push(("flat x".into(), mv(&mut |p| DVec3::new(0.0, p.y, p.z))));
        starts.push(("mirror z".into(), mv(&mut |p| DVec3::new(p.x, p.y, -p.z))));
        starts.push(("mirror yz".into(), mv(&mut |p| -p)));
        starts.push(("mirror x".into(), mv(&mut |p| DVec3::new(-p.x, p.y, p.z))));
        starts.push(("line".into(), mv(&mut |p| DVec3::new(p.x, 0.0, 0.0))));
        starts.push(("point".into(), mv(&mut |_| DVec3::ZERO)));
        for t in [0.05, 0.1, 0.2, 0.5] {
            starts.push((format!("throw {t}"), mv(&mut |p| p + DVec3::new(r.n(), r.n(), r.n()) * t * size)));
        }
        for k in [[0.1f32; 7], [0.3; 7], [0.5; 7], [1.0; 7], [0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 1.0]] {
            for (name, start) in &starts {
                for cons in [0, 6] {
                    let mut state = solver.state();
                    solver.set_stiffness(&mut state, |_| k);
                    let mut nodes = start.clone();
                    let mut out = String::new();
                    let mut clear = None;
                    for it in 0..30 {
                        solver.solve(
                            &mut state,
                            &mut nodes,
                            Effort { iterations: 10, consolidating: cons, mass_gain: 10.0, volume_sweeps: 0 },
                        );
                        let c = solver.check(&mut state, &nodes, 0.0);
                        if c.flat == 0 && clear.is_none() {
                            clear = Some(it * 10 + 10)
                        } else if c.flat > 0 {
                            clear = None
                        }
                        if [1, 9, 29].contains(&it) {
                            let far = nodes
                                .iter()
                                .zip(&rest)
                                .map(|(a, b)| {
                                    ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) + (a[2] - b[2]).powi(2))
                                        .sqrt()
                                })
                                .fold(0.0, f32::max);
                            out += &format!(
                                " [{}: inv {} res {:.4} far {:.3}{}]",
                                it * 10 + 10,
                                c.flat,
                                solver.residual(&mut state, &nodes),
                                far / size as f32,
                                if c.finite { "" } else { " NAN" }
                            );
                        }
                    }
                    println!("k {:?} {name:10} cons {cons}: clear {clear:?}{out}", [k[0], k[3], k[6]]);
                }
            }
        }
    }
}
