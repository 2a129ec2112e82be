//! The program `barkeep`.
fn main() {}
