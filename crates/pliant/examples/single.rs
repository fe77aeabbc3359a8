use pliant::asset::TetMesh;
use pliant::glam::*;
use pliant::simd::Path;
use pliant::solver::*;
struct R(u64);
impl R {
    fn n(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as f64) / ((1u64 << 31) as f64) * 2.0 - 1.0
    }
    fn v(&mut self) -> DVec3 {
        DVec3::new(self.n(), self.n(), self.n())
    }
}
fn main() {
    let mut r = R(5);
    for k in [[0.1f32; 7], [0.5; 7], [1.0; 7], [0.05, 0.05, 0.05, 0.02, 0.02, 0.02, 1.0]] {
        for sq in [-1.0, -0.3, 0.0] {
            let mut stuck = [0; 4];
            let mut inv = 0;
            for _ in 0..500 {
                let mesh = loop {
                    let c: Vec<Vec3> = (0..4).map(|_| r.v().as_vec3()).collect();
                    if let Ok(m) = TetMesh::new(c, vec![[0, 1, 2, 3]]) {
                        if m.volume() > 0.05 {
                            break m;
                        }
                    }
                };
                let s = StrainSolver::new(&mesh, &[false; 4], None, Order::Layered, Path::best()).unwrap();
                let mut st = s.state();
                s.set_stiffness(&mut st, |_| k);
                let q = DQuat::from_xyzw(r.n(), r.n(), r.n(), r.n()).normalize();
                let mut n: Vec<[f32; 4]> = mesh
                    .positions()
                    .iter()
                    .map(|p| {
                        let p = q * (p.as_dvec3() * DVec3::new(1.0, 1.0, sq));
                        [p.x as f32, p.y as f32, p.z as f32, (0.2 + r.n().abs()) as f32]
                    })
                    .collect();
                for i in 0..4 {
                    s.solve(
                        &mut st,
                        &mut n,
                        Effort {
                            iterations: [100, 200, 700, 2000][i],
                            consolidating: 0,
                            mass_gain: 1.0,
                            volume_sweeps: 0,
                        },
                    );
                    if s.residual(&mut st, &n) > 0.05 {
                        stuck[i] += 1
                    }
                }
                inv += s.check(&mut st, &n, 0.0).flat;
            }
            println!("{k:?} {sq}: residual>0.05 after 100/300/1000/3000 of 500: {stuck:?}, inverted {inv}");
        }
    }
}
