//! The `pliant` command.
mod picture;
mod report;

fn main() {}
