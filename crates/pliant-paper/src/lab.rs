//! What experiments share: samples, motions, measures, the command for tables and pictures.

use crate::plot::Plot;
use crate::result::Results;
use anyhow::{Context, Result, bail};
use pliant::asset::Character;
use pliant::glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use pliant::measure::{Judge, Options, Summary, TetJudge};
use pliant::method::{self, Deformer, Place, Preset, Region, Settings, Setup, Shape};
use pliant::rig::{Motion, Playback, Pose};
use pliant::simd;
use pliant::zoo;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where an experiment works.
pub(crate) struct Lab<'a> {
    pliant: &'a Path,
    root: &'a Path,
    data: Option<&'a Path>,
    out: &'a Path,
    chapter: &'static str,
    temporary: tempfile::TempDir,
}

/// Pictures are this large; those of a straight limb are flat.
const PICTURE: &str = "300x300";
const FLAT: &str = "--size 300x120";

impl<'a> Lab<'a> {
    pub(crate) fn new(
        pliant: &'a Path,
        root: &'a Path,
        data: Option<&'a Path>,
        out: &'a Path,
        chapter: &'static str,
    ) -> Result<Self> {
        Ok(Self { pliant, root, data, out, chapter, temporary: tempfile::tempdir()? })
    }

    /// A file among the real ones, where there are any.
    pub(crate) fn data(&self, file: &str) -> Option<PathBuf> {
        self.data.map(|folder| folder.join(file)).filter(|path| path.exists())
    }

    /// A file that is gone after the experiment.
    pub(crate) fn temporary(&self, name: &str) -> PathBuf {
        self.temporary.path().join(name)
    }

    /// What the command prints, its words as in a shell.
    pub(crate) fn run(&self, words: &[&str]) -> Result<String> {
        let output = Command::new(self.pliant).args(words).current_dir(self.root).output()?;
        // 3: written, with frames flagged, which the report tells.
        if !matches!(output.status.code(), Some(0 | 3)) {
            bail!("pliant {}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn json(&self, words: &[&str]) -> Result<Value> {
        let text = self.run(&[words, &["--json"]].concat())?;
        serde_json::from_str(&text).with_context(|| words.join(" "))
    }

    /// The report of a bake.
    pub(crate) fn bake(&self, words: &[&str]) -> Result<Value> {
        let out = self.temporary("baked.npz");
        self.json(&[&["bake"], words, &["--quiet", "-o", &out.to_string_lossy()]].concat())
    }

    /// A still; `words` as in a shell, of which none has a space.
    pub(crate) fn picture(&self, name: &str, label: &str, words: &str) -> Result<(String, String)> {
        self.picture_of(name, label, &words.split_whitespace().collect::<Vec<_>>())
    }

    /// The built-in arm in `bend` or `twist`, by several methods, beside each other.
    pub(crate) fn arms(&self, clip: &str, seconds: f64, methods: &[&str]) -> Result<Vec<(String, String)>> {
        let size = if clip == "twist" { FLAT } else { "" };
        let arm = |method: &&str| {
            let words =
                format!("sample:arm --clip {clip} --time {seconds} --view front --method {method} {size}");
            self.picture(&format!("arm-{clip}-{method}"), method, &words)
        };
        methods.iter().map(arm).collect()
    }

    pub(crate) fn picture_of(&self, name: &str, label: &str, words: &[&str]) -> Result<(String, String)> {
        let file = format!("{}/{name}.png", self.chapter);
        let path = self.out.join(&file);
        std::fs::create_dir_all(self.out.join(self.chapter))?;
        let size = if words.contains(&"--size") { &[][..] } else { &["--size", PICTURE][..] };
        self.run(&[&["picture"], words, size, &["--quiet", "-o", &path.to_string_lossy()]].concat())?;
        Ok((label.to_owned(), file))
    }

    /// Curves.
    pub(crate) fn plot(&self, name: &str, plot: &Plot<'_>) -> Result<Vec<(String, String)>> {
        let file = format!("{}/{name}.svg", self.chapter);
        crate::write(&self.out.join(&file), &plot.svg()?)?;
        Ok(vec![(plot.title.to_owned(), file)])
    }

    /// The belly of `chubby` by a method, in each tissue, after the clip `shake` has stopped dead.
    pub(crate) fn jiggle(&self, method: &str, settings: &Settings) -> Result<Results> {
        const STOP: f64 = 1.2;
        let mut results = Results::default();
        let character = sample("chubby")?;
        let motion = clip(&character, "shake")?;
        let watch = Watch { times: &moments(0.0, 4.0, 0.01), crossings: false };
        let mut series = Vec::new();
        for preset in [Preset::Muscle, Preset::Fat, Preset::Jelly] {
            let mut settings = settings.clone();
            settings.regions.push(belly(&character, preset)?);
            let summary = measure(&character, method, &settings, &motion, &watch)?;
            let after = summary.times.iter().zip(&summary.frames).filter(|(t, _)| **t > STOP + 0.05);
            let energy: Vec<(f64, f64)> = after.filter_map(|(t, f)| Some((*t, f.jiggle_energy?))).collect();
            let peak = energy.iter().map(|e| e.1).fold(0.0, f64::max);
            let late = energy.iter().filter(|e| e.0 > STOP + 2.0).map(|e| e.1).fold(0.0, f64::max);
            let tissue = format!("{preset:?}").to_lowercase();
            results.claim(
                format!("a belly of {tissue} comes to rest: energy left two seconds after a dead stop"),
                "decays (asked: 5 % of its peak)",
                format!("{:.2} %", 100.0 * late / peak),
                late < 0.05 * peak,
            );
            series.push((tissue, energy));
        }
        let title = "Energy against the bones after a dead stop";
        let plot = Plot { title, x: "seconds", y: "J/kg", log_y: true, series };
        let caption = format!("The belly of `chubby`, by tissue. Bones stand still from {STOP} s on.");
        results.figure(caption, self.plot("jiggle", &plot)?);
        Ok(results)
    }

    /// A settings file for the command.
    pub(crate) fn settings(&self, name: &str, text: &str) -> Result<String> {
        let path = self.temporary(name);
        std::fs::write(&path, text)?;
        Ok(path.to_string_lossy().into_owned())
    }
}

/// Its processor, cores and instructions.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let model = model.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    format!("{model}, {cores} cores, {}, {}", simd::Path::best(), std::env::consts::OS)
}

pub(crate) fn sample(name: &str) -> Result<Character> {
    Ok(zoo::character(name, None)?)
}

pub(crate) fn prepare<'c>(
    name: &str,
    character: &'c Character,
    settings: &Settings,
) -> Result<Box<dyn Deformer + 'c>> {
    let setup = Setup { path: simd::Path::best(), settings, tets: None, progress: &mut |_| true };
    Ok(method::prepare(name, character, setup)?)
}

/// A clip of a sample, played once.
pub(crate) fn clip<'c>(character: &'c Character, name: &str) -> Result<Playback<'c>> {
    let clip = character.clips().iter().find(|c| c.name() == name);
    Ok(Playback::once(character, Some(clip.with_context(|| format!("no clip {name}"))?)))
}

pub(crate) fn pose_at(motion: &dyn Motion, seconds: f64) -> Pose {
    let mut pose = Pose::default();
    motion.pose(seconds, &mut pose);
    pose
}

/// Moments `step` apart, the last included.
pub(crate) fn moments(from: f64, to: f64, step: f64) -> Vec<f64> {
    (0..=((to - from) / step).round() as usize).map(|k| from + k as f64 * step).collect()
}

pub(crate) fn settings_of(tets: usize) -> Settings {
    let mut settings = Settings::default();
    settings.body.tets = Some(tets);
    settings
}

pub(crate) fn with_overlap(on: bool) -> Settings {
    Settings { overlap: Some(on), ..Settings::default() }
}

/// What a motion is to be looked at for.
pub(crate) struct Watch<'a> {
    pub(crate) times: &'a [f64],
    pub(crate) crossings: bool,
}

/// Plays a motion by a method, and gives the measures, and the skin of each frame to `each`.
pub(crate) fn play(
    character: &Character,
    deformer: &dyn Deformer,
    motion: &dyn Motion,
    watch: &Watch<'_>,
    each: &mut dyn FnMut(usize, &Shape),
) -> Summary {
    let judge = Judge::new(character, Options { self_intersections: watch.crossings });
    let flesh = deformer.body().map(|body| TetJudge::new(character, body));
    let mut recorder = judge.record(flesh.as_ref());
    let (mut instance, mut shape) = (deformer.instance(), Shape::rest(character));
    for (index, &time) in watch.times.iter().enumerate() {
        let health = instance.step(motion, time, &mut shape, &mut |_| {});
        let nodes = flesh.as_ref().and(instance.nodes());
        let frame = recorder.frame(time, &pose_at(motion, time), &shape.positions, nodes);
        frame.held = health.held;
        frame.overlap_vertices = health.parted;
        each(index, &shape);
    }
    recorder.finish()
}

/// Measures alone.
pub(crate) fn measure(
    character: &Character,
    name: &str,
    settings: &Settings,
    motion: &dyn Motion,
    watch: &Watch<'_>,
) -> Result<Summary> {
    let deformer = prepare(name, character, settings)?;
    Ok(play(character, deformer.as_ref(), motion, watch, &mut |_, _| {}))
}

/// Volume over that at rest less one, in percent, of a closed skin.
pub(crate) fn change_percent(character: &Character, positions: &[Vec3]) -> f64 {
    let volume = |positions: &[Vec3]| -> f64 {
        let corners = |t: &[u32; 3]| t.map(|v| positions[v as usize].as_dvec3());
        character.surface().triangles().iter().map(corners).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
    };
    100.0 * (volume(positions) / volume(&character.rest_positions()) - 1.0)
}

/// The largest distance between two skins.
pub(crate) fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max)
}

pub(crate) fn joint(character: &Character, name: &str) -> Result<usize> {
    let joints = character.skeleton().joints();
    joints.iter().position(|j| j.name == name).with_context(|| format!("no joint {name}"))
}

/// The default pose with a joint turned about an axis of the scene, in degrees.
pub(crate) fn turned(character: &Character, turned: usize, axis: DVec3, degrees: f64) -> Pose {
    let mut pose = Pose::rest(character);
    let joints = character.skeleton().joints();
    for (index, joint) in joints.iter().enumerate() {
        let mut local = joint.local.to_affine();
        if index == turned {
            // About the scene's axis at rest, seen from the parent.
            let above = joint.parent.map_or(DAffine3::IDENTITY, |p| joints[p as usize].world_from_rest);
            let axis = (above.matrix3.inverse() * axis).normalize();
            let turn = DMat3::from_quat(DQuat::from_axis_angle(axis, degrees.to_radians()));
            local = DAffine3 { matrix3: turn * local.matrix3, translation: local.translation };
        }
        let parent = joint.parent.map_or(DAffine3::IDENTITY, |p| pose.world_from_joint[p as usize]);
        pose.world_from_joint[index] = parent * local;
    }
    pose
}

/// A motion at another pace.
pub(crate) struct Paced<'m> {
    pub(crate) motion: &'m dyn Motion,
    pub(crate) speed: f64,
}

impl Motion for Paced<'_> {
    fn pose(&self, seconds: f64, out: &mut Pose) {
        self.motion.pose(seconds * self.speed, out);
    }
}

/// A ball around the foremost point of the body between hips and chest.
pub(crate) fn belly(character: &Character, preset: Preset) -> Result<Region> {
    let at = |name: &str| -> Result<DVec3> {
        Ok(character.skeleton().rest_position(joint(character, name)? as u32))
    };
    let (low, high) = (at("Hips")?, at("Chest")?);
    let rest = character.rest_positions();
    let middle = |p: &&Vec3| {
        f64::from(p.y) > low.y
            && f64::from(p.y) < high.y
            && f64::from(p.x.abs()) < 0.05 * character.diagonal()
    };
    let navel = rest.iter().filter(middle).max_by(|a, b| a.z.total_cmp(&b.z)).context("no belly")?;
    let center = navel.as_dvec3().to_array();
    let on = Place::Sphere { center, radius: 0.12 * character.diagonal(), falloff: None };
    Ok(Region::new("belly", on, preset))
}

/// A number of a report, NaN where there is none.
pub(crate) fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

pub(crate) fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
