//! scratch
use pliant::body::*;
use pliant::glam::*;
use pliant::simd::Path;
use pliant::solver::*;
use std::time::Instant;
fn main(){
  let sizes: Vec<usize>=std::env::args().skip(1).map(|a|a.parse().unwrap()).collect();
  for size in sizes {
    let side=(size as f64/24.0).cbrt().round() as usize; let along=(size as f64/(6*side*side) as f64).round() as usize;
    let h=DVec3::new(4.0,1.0,1.0)/2.0;
    let mesh=bench_block([along,side,side],-h,h).unwrap();
    let start=bench_bend(&mesh,2.0);
    let core=0.08f32.max(0.55/side as f32);
    let pinned: Vec<bool>=mesh.positions().iter().map(|p| p.y.abs()<core && p.z.abs()<core).collect();
    let t=Instant::now();
    let k=[0.05,0.05,0.05,0.02,0.02,0.02,1.0];
    for (order,name) in [(Order::Layered,"layered"),(Order::Unordered,"unordered")] {
    for path in [Path::Scalar,Path::Sse,Path::Avx2] { if !path.is_available() {continue}
      if order==Order::Unordered && path==Path::Scalar {continue}
      let s=StrainSolver::new(&mesh,&pinned,None,order,path).unwrap();
      let prep=t.elapsed();
      let mut st=s.state(); s.set_stiffness(&mut st,|_|k);
      for cons in [0,6] {
      let mut nodes=start.clone(); let mut best=f64::MAX; let t0=Instant::now();
      while t0.elapsed().as_secs_f64()<0.6 { nodes.copy_from_slice(&start); let t=Instant::now(); s.solve(&mut st,&mut nodes,Effort{iterations:10,consolidating:cons,mass_gain:10.0,volume_sweeps:0}); best=best.min(t.elapsed().as_secs_f64()); }
      println!("{size} {name} {path} cons {cons}: tets {} free {} layers {} full {:.3} bytes {} best {:.3} ms = {:.1} ns/tet/it  residual {:.5} prep {:?}",s.tets(),s.free_tets(),s.layer_count(),s.free_tets() as f64/s.slots() as f64,(s.bytes()+st.bytes())/s.tets(),best*1e3,best*1e8/s.free_tets() as f64,s.residual(&mut st,&nodes),prep);
      }
    }}
    let s=StrainSolver::new(&mesh,&pinned,None,Order::Layered,Path::best()).unwrap();
    for (n,seq) in [("solver's order",s.sequence()),("file order",{let mut q=s.sequence();q.sort();q})] {
      let tb=Textbook::new(&mesh,&seq,None,|_|k);
      let mut nodes=start.clone(); let mut best=f64::MAX;
      for (i,p) in pinned.iter().enumerate(){ if *p {nodes[i][3]=0.0} } let start=nodes.clone();
      for _ in 0..3 { nodes.copy_from_slice(&start); let t=Instant::now(); for _ in 0..10 {tb.sweep(&mut nodes);} best=best.min(t.elapsed().as_secs_f64()); }
      println!("{size} textbook {n}: {:.3} ms = {:.1} ns/tet/it",best*1e3,best*1e8/s.free_tets() as f64);
    }
  }
}
