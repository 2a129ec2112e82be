//! One step of a chain, seen from outside: what may propose it, and what it did.

use crate::public_rng::PublicRng;

/// A proposal of one's own, for samplers that propose and test: asymmetric ones, and ones for discrete parameters.
///
/// A discrete parameter is a coordinate that only ever takes some values: a proposal that leads from one of them to another, and a prior
/// that is −∞ elsewhere. Nothing needs a gradient.
///
/// **Privacy.** A proposal sees no record, so the guarantee does not rest on it. A step longer than [`longest`](Proposal::longest) is not
/// taken: its length is what is paid for.
pub trait Proposal: Send + Sync {
    /// Writes the proposed state to `to`, which holds the current one.
    fn propose(&self, from: &[f64], to: &mut [f64], rng: &mut PublicRng);

    /// ln q(`from`|`to`) − ln q(`to`|`from`), q(b|a) the density or probability of proposing b at a; 0 for a symmetric one.
    ///
    /// The chain's law is the posterior only if this is right. What is not finite is never accepted.
    fn log_ratio(&self, from: &[f64], to: &[f64]) -> f64;

    /// The longest step, in Euclidean length, if there is one. Decisions have one price then, and compose exactly.
    fn longest(&self) -> Option<f64> {
        None
    }
}

/// What a step did: the public fact stored beside each draw.
///
/// **Privacy.** For a sampler that proposes and tests this is the bit the curator answered, already paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The proposal became the state.
    Accepted,
    /// The state stayed.
    Rejected,
    /// The sampler moves without asking, as Langevin dynamics does.
    Moved,
}
