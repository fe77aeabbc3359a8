//! `pliant picture`: a still.

use crate::Outcome;
use crate::args::{Common, Cut, HeatArg, Moment, PictureArgs, Show, ViewArg};
use crate::cutaway::Cutaway;
use crate::picture::{Image, View};
use crate::portrait::{Heat, Portrait};
use crate::shell;
use crate::terminal::say;
use crate::xray;
use anyhow::{Context, Result, bail};
use glam::{Quat, Vec3};
use pliant::asset::{Clip, TetMesh};
use pliant::body::Ball;
use pliant::measure::{Judge, Options};
use pliant::method::{Deformer, Shape};
use pliant::rig::Pose;
use pliant_io::files::write_whole;
use pliant_kit::drawing;
use pliant_kit::drive::Drive;
use pliant_kit::flesh::{self, Skin};
use pliant_kit::host::Host;
use pliant_kit::input::{Format, Input};
use pliant_kit::motion::{self, Schedule};
use pliant_kit::prepare;
use pliant_kit::wishes::Task;

pub(crate) fn run(args: &PictureArgs, common: &Common) -> Result<Outcome> {
    if args.clip.as_deref() == Some("all") {
        bail!("--clip all: a picture is of one clip");
    }
    if args.view == ViewArg::All {
        Image::check_sheet(args.size.0, args.size.1, 2, 2)?;
    }
    let views = views(args);
    let images = match args.show {
        Some(Show::Tets) => tets(args, common, &views)?,
        Some(show @ (Show::Frames | Show::Pins)) => inside(show, args, common, &views)?,
        Some(Show::Balls) => balls(args, common, &views)?,
        Some(Show::Skeleton) | None => skin(args, common, &views)?,
    };
    let image = match &images[..] {
        [one] => one.clone(),
        all => {
            let rows = View::ALL.chunks(2).zip(all.chunks(2)).map(|(names, images)| {
                let tiles: Vec<_> = names.iter().map(|n| n.0).zip(images).collect();
                Image::beside(&tiles)
            });
            Image::stacked(&rows.collect::<Result<Vec<_>>>()?)?
        }
    };
    args.input.check_not_among(std::iter::once(args.output.as_path()))?;
    write_whole(&[(args.output.clone(), image.to_png()?)])
        .with_context(|| args.output.display().to_string())?;
    Ok(Outcome::Done)
}

fn views(args: &PictureArgs) -> Vec<View> {
    match args.view {
        ViewArg::Front => vec![View::Front],
        ViewArg::Side => vec![View::Side],
        ViewArg::Back => vec![View::Back],
        ViewArg::Quarter => vec![View::Quarter],
        ViewArg::All => View::ALL.map(|(_, view)| view).to_vec(),
    }
}

/// A character at a moment of its motion, deformed.
struct Posed {
    input: Input,
    pose: Pose,
    shape: Shape,
    method: String,
    /// The body of a method that has one.
    flesh: Option<Flesh>,
    /// The balls of a method that has some.
    balls: Option<Packed>,
}

/// A method's body at that moment, and what is known of it.
struct Flesh {
    mesh: TetMesh,
    nodes: Vec<Vec3>,
    frames: Option<Vec<Quat>>,
    pins: Option<Vec<u32>>,
}

/// A method's balls at that moment: centres and radii, the bones that they go with, and the springs between them.
struct Packed {
    balls: Vec<[f32; 4]>,
    slots: Vec<u16>,
    springs: Vec<[u32; 2]>,
}

impl Packed {
    /// At rest; none where the method has no balls.
    fn of(deformer: &dyn Deformer) -> Option<Self> {
        let packing = deformer.packing()?;
        let ball = |b: &Ball| [b.center.x, b.center.y, b.center.z, b.radius];
        Some(Self {
            balls: packing.balls.balls().iter().map(ball).collect(),
            slots: packing.slots.to_vec(),
            springs: packing.springs.to_vec(),
        })
    }
}

impl Flesh {
    /// At rest; none where the method has no body.
    fn of(deformer: &dyn Deformer) -> Option<Self> {
        let mesh = deformer.body()?.tets().clone();
        Some(Self {
            nodes: mesh.positions().to_vec(),
            mesh,
            frames: deformer.frames().map(<[_]>::to_vec),
            pins: deformer.pins().map(<[_]>::to_vec),
        })
    }
}

impl Posed {
    fn new(args: &PictureArgs, common: &Common) -> Result<Self> {
        let mut wishes = args.settings.wishes()?;
        args.fineness.refine(&mut wishes);
        let Task { input, settings, method } = wishes.open(&args.input.request(), common)?;
        shell::warn(&input.warnings, common);
        let character = &input.character;
        let (mut pose, mut shape, mut flesh) = (Pose::rest(character), Shape::rest(character), None);
        let mut balls = None;
        let chosen = |moment: Moment| {
            let clips = motion::choose(&input, args.clip.as_deref())?;
            let clip = clips.first().map(|&i| &character.clips()[i]);
            let time = match moment {
                Moment::Seconds(time) => time / args.input.speed.unwrap_or(1.0),
                Moment::Part(part) => part * clip.map_or(0.0, Clip::end),
            };
            anyhow::Ok((clip, time))
        };
        let chosen = args.moment().map(chosen).transpose()?;
        let is_inside = matches!(args.show, Some(Show::Tets | Show::Frames | Show::Pins | Show::Balls));
        if chosen.is_some() || is_inside {
            let deformer = prepare(&method, &settings, &input, common.path(), common)?;
            let mut odd = input.unused_tets(&*deformer);
            odd.extend(deformer.warnings().iter().cloned());
            if !common.quiet {
                odd.iter().for_each(|odd| say(&format!("warning: {odd}")));
            }
            (flesh, balls) = (Flesh::of(&*deformer), Packed::of(&*deformer));
            if let Some((clip, time)) = chosen {
                let schedule = Schedule {
                    fps: clip.and_then(Clip::frame_rate).unwrap_or(motion::DEFAULT_FPS),
                    times: vec![time],
                };
                let steps = Drive::steps(&*deformer, &schedule);
                let mut progress = common.progress("moving up to there", steps);
                Drive::new(character, &*deformer).play(clip, &schedule, &mut *progress, &mut |frame| {
                    pose.copy_from(frame.pose);
                    shape = frame.shape.clone();
                    if let (Some(flesh), Some(nodes)) = (&mut flesh, frame.nodes) {
                        flesh.nodes = nodes.iter().map(|n| Vec3::new(n[0], n[1], n[2])).collect();
                    }
                    if let (Some(packed), Some(balls)) = (&mut balls, frame.balls) {
                        packed.balls.copy_from_slice(balls);
                    }
                    Ok(())
                })?;
            }
        }
        Ok(Self { input, pose, shape, method, flesh, balls })
    }
}

/// The skin, posed and shaped.
fn skin(args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let Posed { input, pose, shape, .. } = Posed::new(args, common)?;
    let heat = match args.heat {
        HeatArg::None => None,
        HeatArg::Stretch => Some(Heat::Stretch),
        HeatArg::Volume => Some(Heat::Volume),
    };
    let values = heat.map(|heat| {
        let judge = Judge::new(&input.character, Options { self_intersections: false });
        (heat, heat.values(&judge, &pose, &shape.positions))
    });
    let mut portrait = Portrait::new(&input, args.size.0, args.size.1, View::Quarter, args.edges);
    if args.show == Some(Show::Skeleton) {
        portrait = portrait.with_skeleton();
    }
    let heat = values.as_ref().map(|(heat, values)| (*heat, &values[..]));
    let mut images = Vec::new();
    for &view in views {
        portrait = portrait.from(view);
        images.push(portrait.take(&shape, &pose, heat)?);
    }
    Ok(images)
}

/// The body under the skin, cut open: at rest, or at a moment of the motion.
fn tets(args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let cut = args.cut.unwrap_or(Cut { axis: None, share: 0.5 });
    let (width, height) = args.size;
    let take = |cutaway: Cutaway<'_>| {
        views.iter().map(|&view| cutaway.take(cut, width, height, view)).collect::<Result<Vec<_>>>()
    };
    let mut wishes = args.settings.wishes()?;
    // A method's own body may have parts that are filled each for itself, by what they hang on.
    let is_rigged = Format::of(&args.input.file) != Some(Format::Obj) || args.input.skeleton.is_some();
    let has_own = matches!(wishes.settings.method.as_deref(), Some("position" | "strain")) && is_rigged;
    if args.moment().is_some() || has_own {
        let Posed { input, shape, flesh, .. } = Posed::new(args, common)?;
        match flesh {
            Some(Flesh { mesh, nodes, .. }) => {
                let triangles = input.character.surface().triangles();
                return take(Cutaway { mesh: &mesh, nodes: &nodes, skin: &shape.positions, triangles });
            }
            None if args.moment().is_some() => {
                bail!("--show tets with --clip or --time: the method has no tets; try --method position")
            }
            // Flat skin: what is wrong with it is said below.
            None => {}
        }
    }
    args.fineness.refine(&mut wishes);
    let skin = Skin::open(&args.input.file, common)?;
    let mut warnings = skin.warnings.clone();
    let body = match &args.input.tets {
        Some(path) => flesh::read(path, &skin.positions, &skin.triangles, common, &mut warnings)?,
        None => flesh::make(&skin.positions, &skin.triangles, wishes.fineness(), common)
            .with_context(|| args.input.file.display().to_string())?,
    };
    shell::warn(&warnings, common);
    let mesh = body.tets();
    take(Cutaway { mesh, nodes: mesh.positions(), skin: &skin.positions, triangles: &skin.triangles })
}

/// Frames or pins of the flesh, through the skin.
fn inside(show: Show, args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let Posed { input, shape, method, flesh, .. } = Posed::new(args, common)?;
    let (width, height) = args.size;
    let side = width.min(height) as f32;
    let lines = match (&flesh, show) {
        (Some(Flesh { mesh, nodes, frames: Some(frames), .. }), Show::Frames) => {
            drawing::frames(mesh, nodes, frames)
        }
        (Some(Flesh { mesh, nodes, pins: Some(pins), .. }), Show::Pins) => drawing::pins(mesh, nodes, pins),
        (_, Show::Frames) => bail!("--show frames: the method {method} has no frames; use --method strain"),
        _ => bail!("--show pins: the method {method} has no pins; use --method strain"),
    };
    let lines = xray::drawn(&lines, side);
    let triangles = input.character.surface().triangles();
    views.iter().map(|&view| xray::take(&shape.positions, triangles, &lines, width, height, view)).collect()
}

/// The balls that fill the flesh.
fn balls(args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let Posed { method, balls, .. } = Posed::new(args, common)?;
    let Some(Packed { balls, slots, springs }) = balls else {
        bail!("--show balls: the method {method} has no balls; use --method metaballs");
    };
    let (width, height) = args.size;
    let picture = xray::Balls::new(&drawing::balls(&balls, &slots, &springs), width.min(height) as f32);
    views.iter().map(|&view| picture.take(width, height, view)).collect()
}
