//! Waiting times: y is exponential with mean e^η, the [gamma](super::gamma) law of shape 1.

use super::gamma::Gamma;
use crate::family::{FamilyEntry, Link, Nuisance, Response};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "exponential",
    links: &[Link::Log],
    response: Response::Positive,
    nuisance: None,
    constants: &[],
    build: |_| Ok(Box::new(Gamma { shape: Nuisance::Known(1.0) })),
};
