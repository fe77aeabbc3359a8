//! Linear blend skinning on tets, repaired by position-based dynamics: joints keep their volume, soft regions swing.

mod rig;
mod state;
mod trial;

use super::{Deformer, Health, Instance, PrepareError, Settings, Setup, Shape, Stage};
use crate::asset::Character;
use crate::body::{Body, BodyError, EmbeddedSkin, Fineness, Node, OnSkin};
use crate::rig::Motion;
use crate::skin::{Blend, Skinner};
use rig::NodeRig;
use state::State;
use trial::Solver;

pub(super) const NAME: &str = "position";

pub(super) fn prepare<'c>(
    character: &'c Character,
    setup: Setup<'_>,
) -> Result<Box<dyn Deformer + 'c>, PrepareError> {
    let skinner = Skinner::new(Blend::Linear, character.surface(), character.weights(), setup.path)?;
    let rest = character.rest_positions();
    let triangles = character.surface().triangles();
    let given = setup.settings.body.clone();
    let body = match setup.tets {
        Some(tets) => Body::of_tets(tets, &rest),
        None => {
            let cell = given.cell.map(Fineness::Cell);
            let fineness = cell.or(given.tets.map(Fineness::Tets)).unwrap_or_default();
            match Body::of_skin(&rest, triangles, fineness, setup.progress) {
                Ok(body) => body,
                Err(BodyError::NoVolume { why }) => {
                    let what = format!("the skin encloses no volume ({why}): it is skinned linearly, without flesh");
                    return Ok(Box::new(super::Skinned { character, skinner, warnings: vec![what] }));
                }
                Err(error) => return Err(error.into()),
            }
        }
    };
    let on_skin = OnSkin::new(&body, &rest, triangles);
    let rig = NodeRig::new(character, &body, &on_skin);
    let skin = EmbeddedSkin::new(body.tets(), body.embedding(), character.surface().normals(), setup.path)?;
    let solver = Solver::new(body.tets());
    Ok(Box::new(Prepared { character, settings: setup.settings.clone(), body, rig, skinner, skin, solver }))
}

/// What all instances share.
struct Prepared<'c> {
    character: &'c Character,
    settings: Settings,
    body: Body,
    rig: NodeRig,
    skinner: Skinner<'c>,
    skin: EmbeddedSkin,
    solver: Solver,
}

impl Deformer for Prepared<'_> {
    fn instance(&self) -> Box<dyn Instance + Send + '_> {
        Box::new(State::new(self))
    }

    fn body(&self) -> Option<&Body> {
        Some(&self.body)
    }

    fn remembers(&self) -> bool {
        true
    }
}

impl Instance for State<'_> {
    fn step(
        &mut self,
        motion: &dyn Motion,
        seconds: f64,
        out: &mut Shape,
        finished: &mut dyn FnMut(Stage),
    ) -> Health {
        self.advance(motion, seconds, finished);
        self.show(motion, seconds, out, finished)
    }

    fn nodes(&self) -> Option<&[Node]> {
        Some(&self.shown)
    }
}
