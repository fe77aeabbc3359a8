//! A session: files, one character, one method.

use crate::answer::Answer;
use crate::bake::{self, Baked};
use crate::command::{Command, Recording, Show, Source};
use crate::frame::{self, Buffers};
use crate::host::Dropped;
use crate::live::Live;
use anyhow::{Context, Result, bail};
use glam::{DQuat, Vec3};
use pliant::method::PrepareError;
use pliant::zoo;
use pliant_io::settings;
use pliant_kit::clock;
use pliant_kit::hash::StateHash;
use pliant_kit::input::{Format, Input, Request};
use pliant_kit::player;
use pliant_kit::wishes::{Task, Wishes};
use serde_json::{Value, json};
use std::path::Path;

/// What the page has handed over, and what has become of it.
#[derive(Default)]
pub struct Session {
    buffer: Vec<u8>,
    answer: Vec<u8>,
    files: Dropped,
    request: Option<Request>,
    /// A character that waits for its method, and the settings that it was opened with.
    task: Option<(Value, Task)>,
    live: Option<Live>,
    show: Show,
    buffers: Buffers,
    /// Arrays of the last answer that are not a frame's.
    document: Vec<u8>,
    baked: Vec<(String, Vec<u8>)>,
    rest: (Vec<Vec3>, Vec<Vec3>, Vec<[u32; 3]>),
}

impl Session {
    /// Room for so many bytes.
    pub fn reserve(&mut self, bytes: usize) -> &mut [u8] {
        self.buffer.clear();
        self.buffer.resize(bytes, 0);
        &mut self.buffer
    }

    /// Keeps the buffer as a file, its name at the end.
    pub fn put(&mut self, name_bytes: usize) {
        let mut bytes = std::mem::take(&mut self.buffer);
        let name = bytes.split_off(bytes.len().saturating_sub(name_bytes));
        self.files.0.insert(String::from_utf8_lossy(&name).into_owned(), bytes.into());
    }

    /// Carries out the command in the buffer; whether that went well.
    pub fn call(&mut self) -> bool {
        let buffer = std::mem::take(&mut self.buffer);
        let done = serde_json::from_slice(&buffer)
            .context("this is no command")
            .and_then(|command| self.carry_out(command));
        let is_well = done.is_ok();
        self.answer = match done {
            Ok(answer) => answer.json(),
            Err(error) => format!("{error:#}").into_bytes(),
        };
        is_well
    }

    /// What came of it: JSON, or what was wrong.
    pub fn answer(&self) -> &[u8] {
        &self.answer
    }

    fn carry_out(&mut self, command: Command) -> Result<Answer> {
        match command {
            Command::Open { source, recording, settings } => self.open(source, recording, settings),
            Command::Prepare { settings } => self.prepare(settings),
            Command::Show(show) => {
                self.show = show;
                Ok(Answer::default())
            }
            Command::Seek { clip, seconds } => {
                self.live_mut()?.player_mut().seek(clip, seconds);
                self.frame()
            }
            Command::Play { clip, seconds, cycles } => {
                let player = self.live_mut()?.player_mut();
                if player.clip() != clip {
                    player.seek(clip, 0.0);
                }
                player.play(seconds, cycles);
                self.frame()
            }
            Command::Pose { turns, seconds } => {
                let turn = |t: &crate::command::Turn| player::Turn {
                    joint: t.joint,
                    turn: DQuat::from_array(t.quaternion),
                };
                let turns: Vec<_> = turns.iter().map(turn).collect();
                self.live_mut()?.player_mut().hold(&turns, seconds);
                self.frame()
            }
            Command::Tune { settings } => self.tune(&settings),
            Command::HeatScale { heat } => Ok(Answer::new(frame::scale(heat))),
            Command::Vertex { index } => Ok(Answer::new(self.vertex(index)?)),
            Command::Bake { clip, format, fps } => {
                let live = self.live.as_ref().context(NOTHING)?;
                let Baked { files, hash, frames } = bake::bake(live, clip, format, fps, &self.files)?;
                self.baked = files;
                let names: Vec<&str> = self.baked.iter().map(|f| &f.0[..]).collect();
                let value = json!({ "names": names, "stateHash": hash, "frames": frames });
                let with_file = |answer: Answer, (k, file): (usize, &(String, Vec<u8>))| {
                    answer.with(&format!("file{k}"), "u8", &file.1)
                };
                Ok(self.baked.iter().enumerate().fold(Answer::new(value), with_file))
            }
            Command::Hash {} => {
                let mut hash = StateHash::default();
                hash.frame(&self.live.as_ref().context(NOTHING)?.player().shape().positions);
                Ok(Answer::new(json!(hash.hex())))
            }
            Command::ReadSettings { toml } => Ok(Answer::new(settings::to_json(toml.as_bytes())?)),
            Command::WriteSettings { settings } => Ok(Answer::new(json!(settings::from_json(&settings)?.1))),
            Command::Samples {} => {
                let sample =
                    |s: &zoo::Sample| json!({ "name": s.name, "about": s.about, "clips": s.motions });
                Ok(Answer::new(zoo::list().iter().map(sample).collect()))
            }
        }
    }

    fn live_mut(&mut self) -> Result<&mut Live> {
        self.live.as_mut().context(NOTHING)
    }

    fn frame(&mut self) -> Result<Answer> {
        Ok(self.buffers.frame(self.live.as_ref().context(NOTHING)?, &self.show))
    }

    fn open(&mut self, source: Source, recording: Option<Recording>, settings: Value) -> Result<Answer> {
        let mut request = match source {
            Source::Sample { sample } => {
                Request { file: format!("sample:{sample}").into(), ..Request::default() }
            }
            Source::File { main, skeleton, weights } => Request {
                file: main.into(),
                skeleton: skeleton.map(Into::into),
                weights_file: weights.map(Into::into),
                ..Request::default()
            },
        };
        if let Some(Recording { file, map }) = recording {
            request.motion = Some(file.into());
            request.map = map.map(Into::into);
        }
        let task = wishes(&settings)?.open(&request, &self.files)?;
        self.document.clear();
        if kind(&request.file) != "gltf" {
            self.document.extend_from_slice(task.input.document.file());
        }
        let (character, about) = (&task.input.character, about(&task.input, &request.file));
        let surface = character.surface();
        self.rest = (character.rest_positions(), surface.normals().to_vec(), surface.triangles().to_vec());
        let answer = Answer::new(about)
            .with("positions", "f32", &self.rest.0)
            .with("normals", "f32", &self.rest.1)
            .with("triangles", "u32", &self.rest.2)
            .with("document", "u8", &self.document);
        self.live = None;
        self.request = Some(request);
        self.task = Some((settings, task));
        Ok(answer)
    }

    fn prepare(&mut self, settings: Value) -> Result<Answer> {
        let request = self.request.as_ref().context(NOTHING)?;
        let task = match self.task.take() {
            Some((opened_with, task)) if opened_with == settings => task,
            _ => wishes(&settings)?.open(request, &self.files)?,
        };
        let (started, method) = (clock::milliseconds(), task.method.clone());
        let live = Live::prepare(task, &self.files)?;
        let warnings: Vec<String> = live.deformer().warnings().to_vec();
        let value = json!({
            "method": method,
            "settings": live.settings.filled_in(&method),
            "remembers": live.deformer().remembers(),
            "milliseconds": clock::milliseconds() - started,
            "tets": live.deformer().body().map_or(0, |b| b.tets().tets().len()),
            "balls": live.deformer().packing().map_or(0, |p| p.slots.len()),
            "warnings": warnings,
            "heats": frame::heats(&live),
            "drawings": frame::drawings(&live),
        });
        self.live = Some(live);
        Ok(Answer::new(value))
    }

    /// Whether the numbers could be taken; not where the method must be prepared anew for them.
    fn tune(&mut self, value: &Value) -> Result<Answer> {
        let live = self.live.as_mut().context(NOTHING)?;
        let (file, _) = settings::from_json(value)?;
        let mut tuned = file.settings;
        let now = &live.settings;
        if tuned.paints != now.paints || tuned.method != now.method {
            return Ok(Answer::new(json!(false)));
        }
        let is_tunable = live.deformer().remembers() || live.deformer().packing().is_some();
        tuned.check_on(&live.input().character)?;
        let described = live.input().regions.clone();
        tuned.add_regions_of(&live.input().character, described);
        let metres = &mut tuned.simulation.metres_per_unit;
        *metres = metres.or(now.simulation.metres_per_unit);
        if !is_tunable {
            return Ok(Answer::new(json!(tuned == *now)));
        }
        match live.player_mut().tune(&tuned) {
            Ok(()) => live.settings = tuned,
            Err(PrepareError::NotLive) => return Ok(Answer::new(json!(false))),
            Err(error) => return Err(error.into()),
        }
        Ok(Answer::new(json!(true)))
    }

    fn vertex(&self, index: usize) -> Result<Value> {
        let live = self.live.as_ref().context(NOTHING)?;
        let (input, shape) = (live.input(), live.player().shape());
        let character = &input.character;
        if index >= shape.positions.len() {
            bail!("there is no vertex {index}: the skin has {}", shape.positions.len());
        }
        let part = character.parts().iter().find(|p| p.vertices.contains(&(index as u32)));
        let joints = character.skeleton().joints();
        let joint = |slot: u16| {
            let joint = character.slots()[slot as usize].joint as usize;
            let name = &joints[joint].name;
            // As settings name it.
            let is_known = !name.is_empty() && joints.iter().filter(|j| j.name == *name).count() == 1;
            if is_known { name.clone() } else { format!("#{joint}") }
        };
        let weights: Vec<Value> = character
            .weights()
            .of(index)
            .map(|(slot, weight)| json!({ "joint": joint(slot), "weight": weight }))
            .collect();
        let field = |heat| frame::heat_of(live, heat).map(|values| values[index]);
        Ok(json!({
            "index": index,
            "part": part.map_or("", |p| &p.name),
            "position": shape.positions[index].to_array(),
            "rest": character.rest_positions()[index].to_array(),
            "normal": shape.normals[index].to_array(),
            "weights": weights,
            "stretch": field(crate::command::Heat::Stretch),
            "volume": field(crate::command::Heat::Volume),
            "softness": field(crate::command::Heat::Softness),
        }))
    }
}

const NOTHING: &str = "no character is open, or no method is prepared for it";

fn wishes(settings: &Value) -> Result<Wishes> {
    let (file, _) = settings::from_json(settings)?;
    Ok(Wishes { settings: file.settings, file: None })
}

/// What sort of file it is, in a word.
fn kind(path: &Path) -> &'static str {
    match Format::of(path) {
        Some(Format::Gltf) => "gltf",
        Some(Format::Obj) => "obj",
        Some(Format::Bvh) => "bvh",
        None => "sample",
    }
}

/// All that is known of a character.
fn about(input: &Input, file: &Path) -> Value {
    let character = &input.character;
    let rest = character.rest_positions();
    let used = character.surface().triangles().iter().flatten().map(|&v| rest[v as usize]);
    let (low, high) = used.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(a, b), p| (a.min(p), b.max(p)));
    let joints = character.skeleton().joints().iter().zip(input.document.joint_nodes());
    let joint = |(joint, &node): (&pliant::asset::Joint, &usize)| {
        let parent = joint.parent.map_or(-1, i64::from);
        json!({ "name": joint.name, "parent": parent, "deforms": joint.deforms, "node": node })
    };
    let bones = character.skeleton().bones();
    let bone = |b: &pliant::asset::Bone| json!({ "joint": b.joint, "start": b.start.to_array(), "end": b.end.to_array() });
    let clip =
        |c: &pliant::asset::Clip| json!({ "name": c.name(), "seconds": c.end(), "fps": c.frame_rate() });
    let parts = character.parts().iter().zip(input.document.part_sources());
    let part = |(part, (node, primitive)): (&pliant::asset::Part, (usize, usize))| {
        json!({
            "name": part.name,
            "node": node,
            "primitive": primitive,
            "vertices": [part.vertices.start, part.vertices.end],
            "triangles": [part.triangles.start, part.triangles.end],
        })
    };
    json!({
        "name": input.name,
        "format": kind(file),
        "vertices": rest.len(),
        "triangles": character.surface().triangles().len(),
        "bounds": [low.to_array(), high.to_array()],
        "diagonal": character.diagonal(),
        "joints": joints.map(joint).collect::<Vec<_>>(),
        "bones": bones.iter().map(bone).collect::<Vec<_>>(),
        "clips": character.clips().iter().map(clip).collect::<Vec<_>>(),
        "parts": parts.map(part).collect::<Vec<_>>(),
        "mapping": input.motion.as_ref().map(|m| &m.1),
        "recorded": input.motion.as_ref().map(|m| m.0),
        "weights": input.weights,
        "painted": input.paintable,
        "regions": input.regions.iter().filter(|r| r.is_soft()).map(|r| &r.name).collect::<Vec<_>>(),
        "warnings": input.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}
