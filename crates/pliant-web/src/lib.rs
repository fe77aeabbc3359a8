//! Pliant for a worker of a web page.
//!
//! The page writes bytes into a buffer that [`pliant_reserve`] gives, then either keeps them as a file ([`pliant_put`])
//! or has them carried out as a command in JSON ([`pliant_call`]). The answer is JSON too; large arrays are named in it by
//! where they lie in memory, and are good until the next call. What can be asked is in [`command`].
//!
//! The module imports two functions: `pliant.milliseconds` (a clock for timing) and `pliant.progress` (told a share from 0
//! to 1). One instance is one session: a page that wants two characters, or a method prepared beside another that goes on
//! playing, has two workers. To cancel is to end the worker.

mod answer;
mod bake;
pub mod command;
mod frame;
mod host;
mod live;
mod session;

pub use session::Session;

use std::cell::RefCell;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

/// A buffer of so many bytes for the page to fill.
#[unsafe(no_mangle)]
pub extern "C" fn pliant_reserve(bytes: usize) -> *mut u8 {
    SESSION.with_borrow_mut(|session| session.reserve(bytes).as_mut_ptr())
}

/// Keeps the buffer as a file: its bytes, and behind them `name_bytes` of its name.
#[unsafe(no_mangle)]
pub extern "C" fn pliant_put(name_bytes: usize) {
    SESSION.with_borrow_mut(|session| session.put(name_bytes));
}

/// Carries out the command in the buffer. 0: the answer is what was asked for; 1: it says what was wrong.
#[unsafe(no_mangle)]
pub extern "C" fn pliant_call() -> u32 {
    SESSION.with_borrow_mut(|session| u32::from(!session.call()))
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn pliant_answer() -> *const u8 {
    SESSION.with_borrow(|session| session.answer().as_ptr())
}

/// How long it is.
#[unsafe(no_mangle)]
pub extern "C" fn pliant_answer_bytes() -> usize {
    SESSION.with_borrow(|session| session.answer().len())
}
