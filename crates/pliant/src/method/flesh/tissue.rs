//! What the flesh of each node is like at a moment: the method's stiffness, changed by the regions that hold it.

use super::Flesh;
use crate::asset::Character;
use crate::body::{Body, OnSkin};
use crate::method::{PrepareError, Region, Settings, Tissue};

/// Seconds over which a region's softness comes and goes at the ends of its time window. At once, and flesh that swings
/// would jump back to its bones.
const FADE: f64 = 0.25;
/// Steps of that fade: each changes the stiffness of every constraint.
const FADE_STEPS: f64 = 16.0;

/// A region on the nodes of a body.
pub(super) struct NodeRegion {
    /// How much of each node it takes, 0 to 1.
    pub(super) choice: Vec<f32>,
    /// Nodes nearer to their bone than this move with it: the mean over the region.
    mean_distance: f32,
}

impl NodeRegion {
    pub(super) fn all(
        settings: &Settings,
        character: &Character,
        body: &Body,
        on_skin: &OnSkin,
        distances: &[f32],
    ) -> Result<Vec<Self>, PrepareError> {
        let choices = settings.choices(character)?;
        let on_nodes = choices.iter().map(|choice| {
            let choice: Vec<f32> = (0..body.tets().positions().len())
                .map(|n| on_skin.value(n, choice).clamp(0.0, 1.0))
                .collect();
            let (mut sum, mut weight) = (0.0f64, 0.0f64);
            for (&share, &distance) in choice.iter().zip(distances) {
                sum += f64::from(share) * f64::from(distance);
                weight += f64::from(share);
            }
            let mean_distance = if weight > 0.0 { (sum / weight) as f32 } else { 0.0 };
            Self { choice, mean_distance }
        });
        Ok(on_nodes.collect())
    }
}

/// What the flesh of a node is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::method) struct NodeTissue {
    /// How much it follows its inertia.
    pub(in crate::method) softness: f32,
    pub(in crate::method) stretch: f32,
    pub(in crate::method) volume: f32,
    pub(in crate::method) bind: f32,
    /// Along and between the axes of the frames.
    pub(in crate::method) along: [f32; 3],
    pub(in crate::method) shear: [f32; 3],
    /// Per second.
    pub(in crate::method) damping: f32,
}

impl NodeTissue {
    pub(in crate::method) const FIRM: Self = Self {
        softness: 0.0,
        stretch: 1.0,
        volume: 1.0,
        bind: 1.0,
        along: [1.0; 3],
        shear: [1.0; 3],
        damping: 0.0,
    };

    pub(in crate::method) fn towards(&mut self, tissue: &Tissue, share: f32, inert: bool) {
        let mix = |own: &mut f32, other: f64| *own = *own * (1.0 - share) + other as f32 * share;
        mix(&mut self.softness, if inert { tissue.softness } else { 0.0 });
        mix(&mut self.stretch, tissue.stretch);
        mix(&mut self.volume, tissue.volume);
        mix(&mut self.bind, tissue.bind);
        (0..3).for_each(|k| mix(&mut self.along[k], tissue.along[k]));
        (0..3).for_each(|k| mix(&mut self.shear[k], tissue.shear[k]));
        mix(&mut self.damping, tissue.damping);
    }
}

/// How much of a region there is at a time of the clip, in [`FADE_STEPS`].
pub(in crate::method) fn presence(region: &Region, seconds: f64) -> f32 {
    let (start, end) = (region.start.unwrap_or(f64::NEG_INFINITY), region.end.unwrap_or(f64::INFINITY));
    let inside = (seconds - start).min(end - seconds);
    // A window that is open at an end has no fade there.
    ((inside / FADE * FADE_STEPS).clamp(0.0, FADE_STEPS).floor() / FADE_STEPS) as f32
}

/// Changes what each node is like, where each region is there by its share.
pub(super) fn blend(flesh: &Flesh<'_>, settings: &Settings, shares: &[f32], out: &mut [NodeTissue]) {
    for ((region, on_nodes), &share) in settings.regions.iter().zip(&flesh.regions).zip(shares) {
        let tissue = region.resolved();
        for (node, out) in out.iter_mut().enumerate().filter(|_| share > 0.0) {
            let choice = on_nodes.choice[node] * share;
            if choice > 0.0 {
                out.towards(&tissue, choice, flesh.rig.bounds[node].distance >= on_nodes.mean_distance);
            }
        }
    }
}
