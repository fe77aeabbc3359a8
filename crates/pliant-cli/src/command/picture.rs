//! `pliant picture`: a still.

use crate::Outcome;
use crate::args::{Common, Cut, HeatArg, Moment, PictureArgs, Show, ViewArg};
use crate::cutaway;
use crate::flesh::{self, Skin};
use crate::load::{self, Input};
use crate::motion;
use crate::picture::{Image, View};
use crate::portrait::{Heat, Portrait};
use crate::settings::{Task, Wishes};
use anyhow::{Context, Result, bail};
use pliant::asset::Clip;
use pliant::measure::{Judge, Options};
use pliant::method::{self, Setup, Shape};
use pliant::rig::Pose;
use pliant::simd;
use pliant_io::files::write_whole;

pub(crate) fn run(args: &PictureArgs, common: &Common) -> Result<Outcome> {
    if args.clip.as_deref() == Some("all") {
        bail!("--clip all: a picture is of one clip");
    }
    if args.view == ViewArg::All {
        Image::check_sheet(args.size.0, args.size.1, 2, 2)?;
    }
    let views = views(args);
    let images =
        if args.show == Some(Show::Tets) { tets(args, common, &views)? } else { skin(args, common, &views)? };
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

/// The skin, posed and shaped.
fn skin(args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let wishes = Wishes::read(&args.settings)?;
    let Task { input, settings, method } = wishes.on(Input::open(&args.input, common)?)?;
    input.warn(common);
    let character = &input.character;
    let mut shape = Shape::rest(character);
    let mut pose = Pose::rest(character);
    if let Some(moment) = args.time.or(args.clip.is_some().then_some(Moment::Seconds(0.0))) {
        let clip = motion::choose(character, args.clip.as_deref())?.first().map(|&i| &character.clips()[i]);
        let time = match moment {
            Moment::Seconds(time) => time,
            Moment::Part(part) => part * clip.map_or(0.0, Clip::end),
        };
        pose.resample(character, clip, time);
        let path = common.simd.unwrap_or_else(simd::Path::best);
        let setup = Setup { path, settings: &settings, tets: None, progress: &mut |_| true };
        let deformer = method::prepare(&method, character, setup)?;
        deformer.instance().step(&pose, 0.0, &mut shape, &mut |_| {});
    }
    let heat = match args.heat {
        HeatArg::None => None,
        HeatArg::Stretch => Some(Heat::Stretch),
        HeatArg::Volume => Some(Heat::Volume),
    };
    let values = heat.map(|heat| {
        let judge = Judge::new(character, Options { self_intersections: false });
        match heat {
            Heat::Stretch => (heat, judge.stretch(&pose, &shape.positions)),
            Heat::Volume => (heat, judge.volume_field(&pose, &shape.positions)),
        }
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

/// The body under the skin, at rest.
fn tets(args: &PictureArgs, common: &Common, views: &[View]) -> Result<Vec<Image>> {
    let wishes = Wishes::read(&args.settings)?;
    let fineness = if args.fineness.is_given() { args.fineness.fineness() } else { wishes.fineness() };
    let skin = Skin::open(&args.input.file)?;
    let mut warnings = skin.warnings.clone();
    let body = match &args.input.tets {
        Some(path) => flesh::read(path, &skin.positions, &skin.triangles, &mut warnings)?,
        None => flesh::make(&skin.positions, &skin.triangles, fineness, common)
            .with_context(|| args.input.file.display().to_string())?,
    };
    load::warn(&warnings, common);
    let cut = args.cut.unwrap_or(Cut { axis: None, share: 0.5 });
    let (width, height) = args.size;
    views.iter().map(|&view| cutaway::take(&body, &skin, cut, width, height, view)).collect()
}
