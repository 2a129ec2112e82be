//! The papers' experiments and the comparisons, as specs and one binary.
fn main() {}
