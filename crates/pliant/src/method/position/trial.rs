use crate::asset::TetMesh;
use crate::body::{Node, topology};
use glam::Vec3;

pub struct Solver { edges: Vec<[u32;2]>, lengths: Vec<f32>, tets: Vec<[u32;4]>, volumes: Vec<f32> }
pub struct SolverState { stretch: Vec<f32>, volume: Vec<f32>, lengths: Vec<f32>, volumes: Vec<f32> }
pub struct Check { pub flat: usize, pub finite: bool }
fn at(n: &Node) -> Vec3 { Vec3::new(n[0], n[1], n[2]) }
fn put(n: &mut Node, p: Vec3) { n[0]=p.x; n[1]=p.y; n[2]=p.z; }
fn vol(p:[Vec3;4]) -> f32 { (p[1]-p[0]).cross(p[2]-p[0]).dot(p[3]-p[0])/6.0 }
impl Solver {
    pub fn new(mesh: &TetMesh) -> Self {
        let edges = topology::edges(mesh);
        let x = mesh.positions();
        let lengths = edges.iter().map(|e| x[e[0] as usize].distance(x[e[1] as usize])).collect();
        let volumes = (0..mesh.tets().len()).map(|t| mesh.volume_of(t) as f32).collect();
        Self { edges, lengths, tets: mesh.tets().to_vec(), volumes }
    }
    pub fn state(&self) -> SolverState { SolverState { stretch: vec![0.0; self.edges.len()], volume: vec![0.0; self.tets.len()], lengths: self.lengths.clone(), volumes: self.volumes.clone() } }
    pub fn set_stretch(&self, s: &mut SolverState, f: impl Fn([u32;2])->f32) { for (k,e) in s.stretch.iter_mut().zip(&self.edges) { *k = f(*e); } }
    pub fn set_volume(&self, s: &mut SolverState, f: impl Fn([u32;4])->f32) { for (k,e) in s.volume.iter_mut().zip(&self.tets) { *k = f(*e); } }
    pub fn set_lengths(&self, s: &mut SolverState, f: impl Fn([u32;2], f32)->f32) { for i in 0..self.edges.len() { s.lengths[i] = f(self.edges[i], self.lengths[i]); } }
    pub fn set_volumes(&self, s: &mut SolverState, f: impl Fn([u32;4], f32)->f32) { for i in 0..self.tets.len() { s.volumes[i] = f(self.tets[i], self.volumes[i]); } }
    pub fn reset_targets(&self, s: &mut SolverState) { s.lengths.copy_from_slice(&self.lengths); s.volumes.copy_from_slice(&self.volumes); }
    pub fn sweep_stretch(&self, s: &SolverState, x: &mut [Node]) {
        for i in 0..self.edges.len() {
            let [a,b] = self.edges[i].map(|n| n as usize);
            let (wa, wb) = (x[a][3], x[b][3]);
            let d = at(&x[a]) - at(&x[b]);
            let l = d.length();
            if wa + wb <= 0.0 || l <= 0.0 { continue; }
            let c = d * (s.stretch[i] * (l - s.lengths[i]) / (l * (wa + wb)));
            let (pa, pb) = (at(&x[a]) - c*wa, at(&x[b]) + c*wb);
            put(&mut x[a], pa); put(&mut x[b], pb);
        }
    }
    pub fn sweep_volume(&self, s: &SolverState, x: &mut [Node]) {
        for i in 0..self.tets.len() {
            let t = self.tets[i].map(|n| n as usize);
            let p = t.map(|n| at(&x[n]));
            let w = t.map(|n| x[n][3]);
            let (u,v,q) = (p[1]-p[0], p[2]-p[0], p[3]-p[0]);
            let g1 = v.cross(q)/6.0; let g2 = q.cross(u)/6.0; let g3 = u.cross(v)/6.0;
            let g0 = -(g1+g2+g3);
            let den = w[0]*g0.length_squared()+w[1]*g1.length_squared()+w[2]*g2.length_squared()+w[3]*g3.length_squared();
            if den <= 0.0 { continue; }
            let l = -s.volume[i]*(vol(p) - s.volumes[i])/den;
            for (k,g) in [g0,g1,g2,g3].into_iter().enumerate() { put(&mut x[t[k]], p[k] + g*(l*w[k])); }
        }
    }
    pub fn sweep_bind(&self, x: &mut [Node], binds: &[[f32;4]], k: &[f32]) {
        for i in 0..x.len() {
            if x[i][3] <= 0.0 { continue; }
            let d = at(&x[i]) - at(&binds[i]);
            let l = d.length();
            if l <= 0.0 { continue; }
            let p = at(&x[i]) - d * (k[i] * (l - binds[i][3]) / l);
            put(&mut x[i], p);
        }
    }
    pub fn solve(&self, s: &mut SolverState, x: &mut [Node], binds: &[[f32;4]], k: &[f32], iterations: u32, sweeps: u32) {
        for _ in 0..iterations { self.sweep_stretch(s, x); self.sweep_bind(x, binds, k); self.sweep_volume(s, x); }
        for _ in 0..sweeps { self.sweep_volume(s, x); }
    }
    pub fn check(&self, s: &SolverState, x: &[Node], share: f32) -> Check {
        let mut flat = 0;
        for (t,v) in self.tets.iter().zip(&s.volumes) { if vol(t.map(|n| at(&x[n as usize]))) <= share * v { flat += 1; } }
        Check { flat, finite: x.iter().all(|n| n.iter().all(|v| v.is_finite())) }
    }
    pub fn residual(&self, s: &SolverState, x: &[Node]) -> f32 {
        let mut sum = 0.0f64;
        for (e,l) in self.edges.iter().zip(&s.lengths) { sum += f64::from((at(&x[e[0] as usize]).distance(at(&x[e[1] as usize])) / l - 1.0).abs()); }
        for (t,v) in self.tets.iter().zip(&s.volumes) { sum += f64::from((vol(t.map(|n| at(&x[n as usize])))/v - 1.0).abs()); }
        (sum / (self.edges.len() + self.tets.len()) as f64) as f32
    }
}
