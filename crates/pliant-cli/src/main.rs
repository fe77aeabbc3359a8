//! The `pliant` command.

mod report;

fn main() {}
