//! Puts a sampler's three questions into types; everything in them is public.

use crate::sums::coordinates::Coordinate;
use crate::{Clip, Precondition, Shape, Temper};
use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_machine::Program;
use barkeep_model::CentredScore;

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
/// λ = T·Σᵢ clip_B(ln p(xᵢ|to) − ln p(xᵢ|from)) + offset; [`Along`] may take something off a record's log-ratio first.
///
/// Everything in it is public. With a batch of b out of n records the sum is scaled by n/b, and the batch's
/// variance σ_b² = (nT)²/b·Var_B enters as the rule wants it: [`Rule::Penalty`] decides on λ − ½σ_b²,
/// [`Rule::Corrected`] takes it off its noise.
#[derive(Debug, Clone, Copy)]
pub struct Decide<'a> {
    /// Each record's log-ratio.
    pub ratio: LogRatio<'a>,
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

/// What a decision adds up: one number of each record, clipped and rounded.
#[derive(Debug, Clone, Copy)]
pub enum LogRatio<'a> {
    /// The likelihood's, between two states.
    Model {
        /// The current state θ.
        from: &'a [f64],
        /// The proposed state θ'.
        to: &'a [f64],
        /// What is taken off each record's log-ratio before it is clipped, where a proposal came along a path with friction.
        along: Option<Along<'a>>,
    },
    /// The one output of a program. Those of a person's rows are added. Needs no likelihood.
    Program(&'a Program),
}

/// What a choice adds up for each candidate.
#[derive(Debug, Clone, Copy)]
pub enum LogRatios<'a> {
    /// The likelihood's log-ratios.
    Model {
        /// The point log-ratios are taken from.
        reference: &'a [f64],
        /// The points to choose from, one after the other.
        candidates: &'a [f64],
    },
    /// The one output of a program for each candidate. Those of a person's rows are added. Needs no likelihood.
    Programs(&'a [Program]),
}

/// A path that led to a proposal: Σⱼ wⱼ·clip_b(∇ ln p(xᵢ|θⱼ)) is taken off record i's log-ratio, and the difference is clipped.
///
/// Everything in it is public, so that a record's term is a function of the record and public numbers, as without it. The
/// sensitivity is that of the clip.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Along<'a> {
    /// The states θⱼ, one after the other.
    pub points: &'a [f64],
    /// The vectors wⱼ, one after the other.
    pub weights: &'a [f64],
    /// b, the bound on the norm of a record's gradient.
    pub clip: Clip,
}

/// What is added up over records.
#[derive(Debug, Clone, Copy)]
pub enum Term<'a> {
    /// The preconditioned gradient M·∇ ln p(xᵢ|θ) of each record.
    Gradient {
        /// The state θ.
        theta: &'a [f64],
        /// M, public, applied before clipping.
        precondition: Precondition<'a>,
    },
    /// The preconditioned gradient x of each record and, `weight` times, its square x·xᵀ: the vector of
    /// [`score_width`](crate::score_width) entries that [`second_moments`](crate::second_moments) reads.
    Score {
        /// The state θ.
        theta: &'a [f64],
        /// M, public, applied before squaring and clipping.
        precondition: Precondition<'a>,
        /// c, public, above 0.
        weight: f64,
    },
    /// Each record's sufficient statistics, as the model defines them under the schema's bounds.
    Statistics,
    /// Each record's coordinates and, where asked for, their squares: see [`powers_bound`](crate::powers_bound). A person's are
    /// the mean over the person's rows.
    Columns {
        /// Public maps of columns to [−1, 1].
        coordinates: &'a [Coordinate],
        /// The most rows of a person, where the number of a person's rows is asked for too: z and z² − 1 of it, mapped from
        /// 1 and this many to −1 and 1.
        most_rows: Option<u64>,
    },
    /// Products of each record's standardised coordinates x, shortened to a norm of at most the question's clip: Σx, then
    /// Σx_j·x_k over pairs j ≤ k row by row. Noise on x_j and on x_j·x_k, j < k, is √2 smaller than `sigma`; the
    /// sensitivity is [`gram_sensitivity`](crate::gram_sensitivity). Asks all records, with temper 1. A person's are the mean over
    /// the person's rows.
    Gram {
        /// Public maps of columns to [−1, 1].
        coordinates: &'a [Coordinate],
        /// What is taken off each coordinate.
        centres: &'a [f64],
        /// What each coordinate is divided by then.
        spreads: &'a [f64],
    },
    /// The centred, twice clipped score of each record of a regression; its own clip should be the question's. Those of a
    /// person's rows are added, and the question's clip, which may be wider than a row's, bounds their sum.
    Centred(CentredScore<'a>),
    /// Which of some bins holds the length of each record's score, less the bins' probabilities given its features: a
    /// vector of norm at most √2. For a regression. A person's is the mean over the person's rows.
    Tail {
        /// The score whose length is looked at.
        score: CentredScore<'a>,
        /// The bins' lower edges, ascending; the last bin is open. In units of a score's typical length.
        edges: &'a [f64],
    },
    /// The preconditioned gradient of each record, shortened to a norm of at most `clip`, less a `centre`.
    Shifted {
        /// The state θ.
        theta: &'a [f64],
        /// M, public, applied before clipping.
        precondition: Precondition<'a>,
        /// Bound on the norm before the centre is taken off; should be the question's clip.
        clip: f64,
        /// What is taken off.
        centre: Centre<'a>,
    },
    /// Which cells of each record were invalid, and which were clamped: two numbers for each column of the file, at the clip
    /// of [`faults_clip`](crate::faults_clip). Asks all records.
    Faults,
    /// What a program writes, cut to a shape. Needs no likelihood. The answer has an entry for each of the outputs', those of
    /// [`Shape::Outer`] as [`Term::Gram`] says, or one of [`Shape::ByGroup`].
    Program(Asked<'a>),
}

/// What a program writes of each record or person, and the set it is cut to.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The programs over rows and units.
    pub term: &'a barkeep_machine::Term,
    /// What a unit's term is cut to; all that the price depends on.
    pub shape: Shape,
}

/// What is taken off a shortened gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Centre<'a> {
    /// The same public vector for every record, one entry per parameter.
    Same(&'a [f64]),
    /// What the model at θ expects of the shortened gradient given the record's columns that are no responses: a function of the
    /// record, θ and public numbers ([`Centring`](barkeep_model::Centring)). Those of a person's rows are added. The
    /// matrix must be dense, and the model one that can say ([`Likelihood::given`](barkeep_model::Likelihood::given)).
    Expected,
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
    /// Each record's log-ratios, one for each candidate.
    pub ratios: LogRatios<'a>,
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
