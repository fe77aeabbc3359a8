//! A method prepared for a character, and a player of it, kept together.

use anyhow::Result;
use pliant::measure::{Judge, Options, TetJudge};
use pliant::method::{Deformer, Settings};
use pliant::simd;
use pliant_kit::host::Host;
use pliant_kit::input::Input;
use pliant_kit::player::Player;
use pliant_kit::wishes::Task;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// A character that moves. The player borrows the deformer, which borrows the input: all three live on the heap, stay
/// where they are, and go in that order.
pub(crate) struct Live {
    player: ManuallyDrop<Player<'static>>,
    deformer: NonNull<Box<dyn Deformer>>,
    input: NonNull<Input>,
    pub(crate) settings: Settings,
    pub(crate) judge: Judge,
    pub(crate) tets: Option<TetJudge>,
}

impl Live {
    pub(crate) fn prepare(task: Task, host: &dyn Host) -> Result<Self> {
        let Task { input, settings, method } = task;
        let input = Owned::new(input);
        // SAFETY: the input is freed after the deformer: by this function where that fails, else by `Live`.
        let lent: &'static Input = unsafe { input.0.as_ref() };
        let deformer = pliant_kit::prepare(&method, &settings, lent, simd::Path::best(), host)?;
        let deformer = Owned::new(deformer);
        // SAFETY: the deformer is freed after the player, by `Live`.
        let lent_deformer: &'static dyn Deformer = unsafe { &**deformer.0.as_ref() };
        let player = ManuallyDrop::new(Player::new(&lent.character, lent_deformer));
        let judge = Judge::new(&lent.character, Options { self_intersections: false });
        let tets = lent_deformer.body().map(|body| TetJudge::new(&lent.character, body));
        Ok(Self { player, deformer: deformer.keep(), input: input.keep(), settings, judge, tets })
    }

    pub(crate) fn input(&self) -> &Input {
        // SAFETY: it lives as long as `self`.
        unsafe { self.input.as_ref() }
    }

    pub(crate) fn deformer(&self) -> &dyn Deformer {
        // SAFETY: it lives as long as `self`.
        unsafe { &**self.deformer.as_ref() }
    }

    pub(crate) fn player(&self) -> &Player<'_> {
        &self.player
    }

    /// To be played: what it lends does not outlive the call, since answers hold no references.
    pub(crate) fn player_mut(&mut self) -> &mut Player<'static> {
        &mut self.player
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // SAFETY: the player goes first, then what it borrows; none is used again.
        unsafe {
            ManuallyDrop::drop(&mut self.player);
            drop(Box::from_raw(self.deformer.as_ptr()));
            drop(Box::from_raw(self.input.as_ptr()));
        }
    }
}

/// A value on the heap that is freed unless it is kept.
struct Owned<T>(NonNull<T>);

impl<T> Owned<T> {
    fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    fn keep(self) -> NonNull<T> {
        ManuallyDrop::new(self).0
    }
}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and was not kept.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}
