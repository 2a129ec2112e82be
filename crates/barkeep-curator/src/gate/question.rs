//! Puts a sampler's three questions into types; everything in them is public.

use crate::{Clip, Temper, Term};
use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_machine::Program;

/// At which level a decision is accounted for. The chain has the same law at both: at release level the noise of a rule
/// is drawn, at decision level its expectation is taken, and the two agree to 2^-40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// As if the noisy log-ratio behind the bit were published, as in the papers.
    Release,
    /// Only the bit leaves, and only the bit is paid for.
    Decision,
}

impl Level {
    /// Both, by the names that specs, plans and certificates give them.
    pub const NAMED: [(&'static str, Self); 2] = [("decision", Self::Decision), ("release", Self::Release)];

    /// The level's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Decision => "decision",
            Self::Release => "release",
        }
    }
}

/// What every question of a run is accounted under; public, fixed before the first question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrivacyModel {
    /// Which data sets must be hard to tell apart.
    pub neighbours: Neighbours,
}

/// "May I move from here to there?" The answer is one bit, drawn from the rule's coin at
/// λ = T·Σᵢ clip_B(rᵢ) + offset, with rᵢ what a program writes of record i: its log-ratio ln p(xᵢ|to) − ln p(xᵢ|from), as a rule.
///
/// Everything in it is public. With a batch of b out of n records the sum is scaled by n/b, and the batch's
/// variance σ_b² = (nT)²/b·Var_B enters as the rule wants it: [`Rule::Penalty`] decides on λ − ½σ_b²,
/// [`Rule::Corrected`] takes it off its noise.
#[derive(Debug, Clone, Copy)]
pub struct Decide<'a> {
    /// Writes each record's log-ratio, as its one output. Those of a person's rows are added.
    pub ratio: &'a Program,
    /// Sums the terms that need no records: prior, proposal, kinetic energy. Finite; a proposal outside the prior's
    /// support needs no question.
    pub offset: f64,
    /// Tempering T.
    pub temper: Temper,
    /// Clip bound B of one record's log-ratio.
    pub clip: Clip,
    /// Which records are asked.
    pub batch: Sampling,
    /// The acceptance rule.
    pub rule: &'a Rule,
    /// At which level the answer is accounted for.
    pub level: Level,
}

/// "What is T·Σᵢ clip_B(termᵢ), roughly?" The answer is the sum, clipped per record in Euclidean norm, plus an
/// independent normal of standard deviation at least `sigma` per coordinate, rounded to the lattice.
///
/// Everything in it is public. A batch is not scaled up: that is post-processing.
#[derive(Debug, Clone, Copy)]
pub struct Sum<'a> {
    /// What is added up.
    pub term: Term<'a>,
    /// Tempering T.
    pub temper: Temper,
    /// Clip bound B of one record's term, in Euclidean norm.
    pub clip: Clip,
    /// Which records are asked.
    pub batch: Sampling,
    /// Standard deviation of the noise per coordinate, in units of the sum. 0, no noise, has no price: see
    /// [`insecure`](crate::insecure).
    pub sigma: f64,
}

/// "Which of these points?" The answer is the position of one of them, drawn as a tempered posterior would.
///
/// Candidate g has weight e^(x_g) with x_g = offset_g + power·Σᵢ (rᵢ(g) − centre), rᵢ(g) the record's log-ratio between
/// candidate and reference, cut to [low, high], centre their middle. A constant per record cancels between candidates, so
/// that is the tempered posterior on the candidates. Everything in it is public.
#[derive(Debug, Clone, Copy)]
pub struct Choose<'a> {
    /// Writes a record's log-ratio as its one output: a program for each candidate. Those of a person's rows are added.
    pub ratios: &'a [Program],
    /// Logarithms of their weights before the records are asked: the prior.
    pub offsets: &'a [f64],
    /// Range of a record's log-ratios; what is outside is cut.
    pub range: (f64, f64),
    /// Power of the likelihood.
    pub power: f64,
}

/// Any of the three questions.
#[derive(Debug, Clone, Copy)]
pub enum AnyQuestion<'a> {
    /// "May I move?"
    Decide(Decide<'a>),
    /// "What is the sum, roughly?"
    Sum(Sum<'a>),
    /// "Which of these points?"
    Choose(Choose<'a>),
}
