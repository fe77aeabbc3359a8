//! Files from the page: the same as the command writes.

use crate::command::Format;
use crate::host::Dropped;
use crate::live::Live;
use anyhow::{Context, Result};
use pliant_io::cache::{self, Pc2};
use pliant_io::gltf::{BakedClip, GlbBake};
use pliant_kit::drive::{Drive, Sink};
use pliant_kit::hash::StateHash;
use pliant_kit::host::Host;
use pliant_kit::motion::{MAX_FRAMES, Schedule};
use std::io::Cursor;

/// Files with their names, the hash of all frames, and how many.
pub(crate) struct Baked {
    pub(crate) files: Vec<(String, Vec<u8>)>,
    pub(crate) hash: String,
    pub(crate) frames: usize,
}

/// Plays a clip from its start to its end, and writes it.
pub(crate) fn bake(
    live: &Live,
    clip: Option<usize>,
    format: Format,
    fps: Option<f64>,
    host: &Dropped,
) -> Result<Baked> {
    let (input, deformer) = (live.input(), live.deformer());
    let chosen = match clip {
        Some(index) => Some(input.character.clips().get(index).context("there is no such clip")?),
        None => None,
    };
    let schedule = Schedule::new(chosen, fps, None, None, MAX_FRAMES)?;
    let name = match (chosen, clip) {
        (Some(chosen), _) if !chosen.name().is_empty() => chosen.name().to_owned(),
        (Some(_), Some(index)) => format!("clip {index}"),
        _ => "default pose".to_owned(),
    };
    let mut progress = host.progress("baking", Drive::steps(deformer, &schedule));
    let mut hash = StateHash::default();
    let mut drive = Drive::new(&input.character, deformer);
    let files = match format {
        Format::Glb => {
            let clips = [BakedClip { clip, name: &name, times: &schedule.times }];
            let sink = Cursor::new(Vec::new());
            let (mut glb, _) =
                GlbBake::new(sink, &input.document, &input.character, input.files.as_ref(), &clips)?;
            let sink: Sink = &mut |frame| {
                hash.frame(&frame.shape.positions);
                Ok(glb.push(frame.shape)?)
            };
            drive.play(chosen, &schedule, &mut *progress, sink)?;
            vec![(format!("{}.glb", input.name), glb.finish()?.into_inner())]
        }
        Format::Pc2 => {
            let meshes = cache::meshes(&input.character);
            let new = |mesh: &cache::MeshRange| {
                Pc2::new(Cursor::new(Vec::new()), mesh.vertices.len(), schedule.times.len())
            };
            let mut caches = meshes.iter().map(new).collect::<Result<Vec<_>, _>>()?;
            let sink: Sink = &mut |frame| {
                hash.frame(&frame.shape.positions);
                for (cache, mesh) in caches.iter_mut().zip(&meshes) {
                    cache.push(&frame.shape.positions[mesh.vertices.clone()])?;
                }
                Ok(())
            };
            drive.play(chosen, &schedule, &mut *progress, sink)?;
            let mut files = Vec::new();
            for (cache, mesh) in caches.into_iter().zip(&meshes) {
                let several = if meshes.len() > 1 { format!("-{}", mesh.name) } else { String::new() };
                files.push((format!("{}{several}.pc2", input.name), cache.finish()?.into_inner()));
            }
            files
        }
    };
    Ok(Baked { files, hash: hash.hex(), frames: schedule.times.len() })
}
