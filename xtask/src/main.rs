//! Set-up, demo, test and bench: what a person or CI runs.
fn main() {}
