//! Evaluates centred, twice clipped scores and their tails at synthetic records; the programs that read records are in [`terms`](crate::terms).
//!
//! Let a = W·x be the whitened features of a record, r = ∂ℓ/∂η its slope at a public θ, and κ = c/‖a‖. Its score W·∇ℓ is r·a, and
//! clipping that at c clips r at κ. The term is a·clip_κ(clip_κ(r) − m), where m solves E_θ[clip_κ(clip_κ(r) − m) | x] = 0
//! up to three Newton steps over the nodes of the response's law. So at θ its mean is about 0 whatever the law of the
//! features. For the nuisance a is one public number, and r is ∂ℓ/∂ ln nuisance.

use barkeep_machine::{Source, Writer};

use super::Regression;
use super::design::Trials;
use crate::family::{Law, NodeRule, Predicted, Seen};

/// Which parameters a score is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreBlock {
    /// The coefficients.
    Coefficients,
    /// The logarithm of the nuisance.
    Nuisance,
}

/// A centred score as it is asked for; everything in it is public.
#[derive(Debug, Clone, Copy)]
pub struct CentredScore<'a> {
    /// θ.
    pub theta: &'a [f64],
    /// Which parameters.
    pub block: ScoreBlock,
    /// W of the block, row by row.
    pub whitening: &'a [f64],
    /// c.
    pub clip: f64,
}

/// Newton steps to the centre: the same number for every record.
const STEPS: usize = 3;

/// Scores at one θ, with the nodes of the response's law there.
pub struct Scorer<'a> {
    regression: &'a Regression,
    asked: CentredScore<'a>,
    law: Law,
    rule: NodeRule,
    log_nuisance: f64,
    /// The centre where it is the same for all records.
    constant: Option<f64>,
}

/// Working memory for one synthetic record's nodes.
#[derive(Default)]
pub struct NodeRoom {
    responses: Vec<f64>,
    weights: Vec<f64>,
    slopes: Vec<f64>,
    others: Vec<f64>,
}

impl NodeRoom {
    /// The responses last filled in.
    #[must_use]
    pub fn responses(&self) -> &[f64] {
        &self.responses
    }

    /// Their weights.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Fills in the nodes of a record.
    pub fn fill(&mut self, rule: &NodeRule, predictor: f64, trials: f64) {
        self.responses.resize(rule.len(), 0.0);
        self.weights.resize(rule.len(), 0.0);
        rule.fill(predictor, trials, &mut self.responses, &mut self.weights);
    }
}

impl Regression {
    /// The law of the response, where the family states it.
    #[must_use]
    pub fn law(&self) -> Option<Law> {
        self.family.law()
    }

    /// The number of coefficients, and whether the nuisance is a parameter.
    #[must_use]
    pub fn parts(&self) -> (usize, bool) {
        (self.design.coefficients(), self.belief.is_some())
    }

    /// Whether the second column holds the trials of a record, and their fixed number otherwise.
    #[must_use]
    pub fn trials(&self) -> (bool, f64) {
        match self.design.trials() {
            Trials::Fixed(trials) => (false, trials),
            Trials::Column(typical) => (true, typical),
        }
    }

    /// Whether the first coefficient is an intercept.
    #[must_use]
    pub fn has_intercept(&self) -> bool {
        self.design.has_intercept()
    }

    /// Scores of one block of parameters for responses of at most `top`; `None` where the family states no law or there is
    /// no such block.
    #[must_use]
    pub fn scorer<'a>(&'a self, asked: CentredScore<'a>, top: f64) -> Option<Scorer<'a>> {
        let (coefficients, nuisance) = self.parts();
        let entries = match asked.block {
            ScoreBlock::Coefficients => coefficients * coefficients,
            ScoreBlock::Nuisance if nuisance => 1,
            ScoreBlock::Nuisance => return None,
        };
        if asked.whitening.len() != entries || asked.theta.len() != self.names.len() {
            return None;
        }
        let law = self.family.law()?;
        let log_nuisance = self.log_nuisance(asked.theta);
        let rule = NodeRule::new(law, log_nuisance, top);
        let mut scorer = Scorer { regression: self, asked, law, rule, log_nuisance, constant: None };
        scorer.constant = match asked.block {
            ScoreBlock::Coefficients if law.is_symmetric() => Some(0.0),
            ScoreBlock::Nuisance if law.is_free_of_predictor() => Some(scorer.centre(
                0.0,
                1.0,
                scorer.bound(asked.whitening[0].abs()),
                &mut NodeRoom::default(),
            )),
            ScoreBlock::Coefficients | ScoreBlock::Nuisance => None,
        };
        Some(scorer)
    }

    /// The rule of expectations at θ, for responses of at most `top`; `None` where the family states no law.
    #[must_use]
    pub fn nodes(&self, theta: &[f64], top: f64) -> Option<NodeRule> {
        Some(NodeRule::new(self.family.law()?, self.log_nuisance(theta), top))
    }

    /// η and the trials of a record given as a row of the columns the model reads; the response is not looked at.
    #[must_use]
    pub fn predictor(&self, theta: &[f64], row: &[f64]) -> (f64, f64) {
        self.design.predictor(theta, row)
    }

    /// The row's features as coefficients meet them, with a leading 1 for an intercept.
    pub fn features<'a>(&self, row: &'a [f64]) -> impl Iterator<Item = f64> + use<'a> {
        let skip = row.len() - (self.design.coefficients() - usize::from(self.design.has_intercept()));
        self.design.has_intercept().then_some(1.0).into_iter().chain(row[skip..].iter().copied())
    }

    /// Writes ∂ℓ/∂η of responses that share a predictor and trials to `slopes`, and ∂ℓ/∂ ln nuisance to `others`, which is
    /// empty unless the nuisance is a parameter.
    pub fn slopes(
        &self,
        theta: &[f64],
        (predictor, trials): (f64, f64),
        responses: &[f64],
        slopes: &mut [f64],
        others: &mut [f64],
    ) {
        let at = Predicted { predictor, trials, log_nuisance: self.log_nuisance(theta) };
        self.family.score(at, responses, slopes, others);
    }

    /// Writes ∂ℓ/∂η, and ∂ℓ/∂ ln nuisance where it is a parameter, of a response with this η, or y − η for a family that works on residuals.
    pub(crate) fn write_slopes(
        &self,
        w: &mut Writer,
        theta: &[f64],
        seen: Seen,
        line: Source,
    ) -> (Source, Option<Source>) {
        self.family.write_score(w, seen, line, self.log_nuisance(theta))
    }
}

/// x cut to ±bound; not a number becomes one of the bounds.
#[inline(always)]
fn cut(x: f64, bound: f64) -> f64 {
    let low = if x > -bound { x } else { -bound };
    if low < bound { low } else { bound }
}

impl<'a> Scorer<'a> {
    /// κ = c/‖a‖.
    #[must_use]
    pub fn bound(&self, length: f64) -> f64 {
        self.asked.clip / length.max(1e-300)
    }

    /// The term's factor of a for a slope r, given κ and m.
    #[inline(always)]
    #[must_use]
    pub fn factor(slope: f64, bound: f64, centre: f64) -> f64 {
        cut(cut(slope, bound) - centre, bound)
    }

    /// W·x for features x, written to `out`; returns its length.
    pub fn whiten(&self, features: &[f64], out: &mut [f64]) -> f64 {
        let d = features.len();
        for (row, out) in self.asked.whitening.chunks_exact(d).zip(out.iter_mut()) {
            *out = row.iter().zip(features).map(|(w, x)| w * x).sum();
        }
        out.iter().map(|a| a * a).sum::<f64>().sqrt()
    }

    /// What was asked for.
    #[must_use]
    pub fn asked(&self) -> CentredScore<'a> {
        self.asked
    }

    /// The slopes of responses with this predictor and these trials, at the scorer's θ.
    pub fn slopes_of<'r>(
        &self,
        predictor: f64,
        trials: f64,
        responses: &[f64],
        room: &'r mut NodeRoom,
    ) -> &'r mut [f64] {
        let NodeRoom { slopes, others, .. } = room;
        slopes.resize(responses.len(), 0.0);
        others.resize(if self.regression.belief.is_some() { responses.len() } else { 0 }, 0.0);
        self.regression.slopes(self.asked.theta, (predictor, trials), responses, slopes, others);
        match self.asked.block {
            ScoreBlock::Coefficients => slopes,
            ScoreBlock::Nuisance => others,
        }
    }

    /// m where it is the same for all records.
    pub(crate) fn constant_centre(&self) -> Option<f64> {
        self.constant
    }

    /// The logarithm of the nuisance.
    pub(crate) fn log_nuisance(&self) -> f64 {
        self.log_nuisance
    }

    /// The slopes of the law's nodes at η = 0, and their weights: those of every record where the law of a score is free of η.
    pub(crate) fn free_nodes(&self) -> (Vec<f64>, Vec<f64>) {
        let mut room = NodeRoom::default();
        room.fill(&self.rule, 0.0, 1.0);
        let responses = std::mem::take(&mut room.responses);
        (self.slopes_of(0.0, 1.0, &responses, &mut room).to_vec(), room.weights)
    }

    /// P(|r|·length > edge) for each edge at η = 0.
    pub(crate) fn free_shares_beyond(&self, length: f64, edges: &[f64]) -> Vec<f64> {
        let mut shares = vec![0.0; edges.len() + 1];
        self.shares_beyond(
            (&self.rule, 0.0),
            (0.0, 1.0),
            length,
            edges,
            &mut shares,
            &mut NodeRoom::default(),
        );
        shares.truncate(edges.len());
        shares
    }

    /// m for a record with this predictor, these trials and this κ.
    #[must_use]
    pub fn centre(&self, predictor: f64, trials: f64, bound: f64, room: &mut NodeRoom) -> f64 {
        if let Some(constant) = self.constant {
            return constant;
        }
        room.fill(&self.rule, predictor, trials);
        let responses = std::mem::take(&mut room.responses);
        let weights = std::mem::take(&mut room.weights);
        let slopes = self.slopes_of(predictor, trials, &responses, room);
        let mut centre = 0.0;
        for (slope, weight) in slopes.iter_mut().zip(&weights) {
            *slope = cut(*slope, bound);
            centre += weight * *slope;
        }
        for _ in 0..STEPS {
            let (mut left, mut mass) = (0.0, 0.0);
            for (slope, weight) in slopes.iter().zip(&weights) {
                let rest = slope - centre;
                left += weight * cut(rest, bound);
                mass += if rest.abs() < bound { *weight } else { 0.0 };
            }
            centre += left / mass.max(0.02);
        }
        room.responses = responses;
        room.weights = weights;
        centre
    }

    /// Entries of a record's term.
    #[must_use]
    pub fn width(&self) -> usize {
        match self.asked.block {
            ScoreBlock::Coefficients => self.regression.design.coefficients(),
            ScoreBlock::Nuisance => 1,
        }
    }

    /// Writes P(|r|·length > edge) for each edge, and a 0 after them: r at the scorer's θ with this predictor, responses from the
    /// nodes of a law, of this or another θ, with a predictor of its own.
    pub fn shares_beyond(
        &self,
        (rule, centre): (&NodeRule, f64),
        (predictor, trials): (f64, f64),
        length: f64,
        edges: &[f64],
        out: &mut [f64],
        room: &mut NodeRoom,
    ) {
        room.fill(rule, centre, trials);
        let responses = std::mem::take(&mut room.responses);
        let weights = std::mem::take(&mut room.weights);
        let slopes = self.slopes_of(predictor, trials, &responses, room);
        slopes.iter_mut().for_each(|slope| *slope = slope.abs() * length);
        out.fill(0.0);
        for (edge, out) in edges.iter().zip(out.iter_mut()) {
            *out = if self.law.is_discrete() {
                slopes.iter().zip(&weights).map(|(u, w)| if u > edge { *w } else { 0.0 }).sum()
            } else {
                // Between two nodes the size runs about straight.
                let cells = slopes.windows(2).zip(weights.windows(2));
                cells
                    .map(|(u, w)| {
                        let (low, high) = if u[0] < u[1] { (u[0], u[1]) } else { (u[1], u[0]) };
                        let share = (high - edge) / (high - low).max(1e-300);
                        0.5 * (w[0] + w[1]) * share.clamp(0.0, 1.0)
                    })
                    .sum()
            };
        }
        room.responses = responses;
        room.weights = weights;
    }
}

#[cfg(test)]
mod tests;
