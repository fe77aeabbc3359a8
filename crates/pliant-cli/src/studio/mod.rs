//! The server of `pliant studio`: the page's files, which are in the binary, and the character that was named, for the
//! browser of this machine alone.
//!
//! Any page that the browser shows can send requests here, and any program of this machine too. What keeps them out:
//! the listener is on the loopback; `Host` and `Origin` must be ours, so that no other site's script gets an answer, by
//! whatever name it calls this address; and the page and the character are for those who know the run's token. A request
//! names an entry of a table, never a path.

mod http;
mod page;
mod server;
mod share;
mod site;
#[cfg(test)]
mod tests;
mod token;

pub(crate) use page::PAGE;
pub(crate) use server::{Limits, serve};
pub(crate) use share::Share;
pub(crate) use site::Site;
pub(crate) use token::Token;

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asset {
    /// Its path from the page's root, with `/`.
    name: &'static str,
    mime: &'static str,
    bytes: &'static [u8],
}
