//! The `pliant` command.
mod picture;

fn main() {}
