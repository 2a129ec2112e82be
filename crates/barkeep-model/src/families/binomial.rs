//! Successes out of trials: y of the record's trials, each with probability 1/(1 + e^(−η)).

use barkeep_machine::{Binary, Source, Unary, Writer};
use barkeep_num::vector::scalar::sigmoid;

use crate::family::{Family, FamilyEntry, Law, Link, Predicted, Response, Seen, flip, map};

/// The family.
pub const ENTRY: FamilyEntry = FamilyEntry {
    name: "binomial",
    links: &[Link::Logit],
    response: Response::Successes,
    nuisance: None,
    constants: &[],
    build: |_| Ok(Box::new(Binomial)),
};

/// y successes of the design's trials. More successes than trials count as all trials having succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binomial;

impl Family for Binomial {
    fn counts_trials(&self) -> bool {
        true
    }

    fn write_density(
        &self,
        w: &mut Writer,
        Seen { response, trials }: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> Source {
        let successes = w.min(trials, response);
        let linear = w.mul(successes, line);
        let minus = w.minus(line);
        let log_share = w.unary(Unary::LogSigmoid, minus);
        let others = w.mul(trials, log_share);
        let kernel = w.add(linear, others);
        // ln of the number of ways: Γ(n+1)/(Γ(k+1)·Γ(n−k+1)).
        let trials = w.max(0.0, trials);
        let failures = w.sub(trials, successes);
        let [all, won, lost] = [trials, successes, failures].map(|count| {
            let next = w.add(count, 1.0);
            w.unary(Unary::LnGamma, next)
        });
        let orders = w.sub(all, won);
        let ways = w.sub(orders, lost);
        w.add(kernel, ways)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        Seen { response, trials }: Seen,
        line: Source,
        shift: Source,
        _log_nuisances: (f64, f64),
    ) -> Source {
        let successes = w.min(trials, response);
        let linear = w.mul(successes, shift);
        let before = w.minus(line);
        let after = w.sub(before, shift);
        let moved = w.binary(Binary::LogSigmoidDifference, after, before);
        let moved = w.mul(trials, moved);
        w.add(linear, moved)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        Seen { response, trials }: Seen,
        line: Source,
        _log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        let successes = w.min(trials, response);
        let share = w.unary(Unary::Sigmoid, line);
        let expected = w.mul(trials, share);
        (w.sub(successes, expected), None)
    }

    fn score(&self, at: Predicted, responses: &[f64], slopes: &mut [f64], _others: &mut [f64]) {
        let Predicted { predictor, trials, .. } = at;
        map(
            responses,
            slopes,
            #[inline(always)]
            |y| (if y < trials { y } else { trials }) - trials * sigmoid(predictor),
        );
    }

    fn law(&self) -> Option<Law> {
        Some(Law::Binomial)
    }

    fn information(&self, _predictor: f64, _nuisance: f64, trials: f64) -> f64 {
        0.25 * trials
    }

    fn slope(&self, _response: (f64, f64), trials: f64) -> Option<f64> {
        Some(trials)
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a public, small number")]
    fn simulate(&self, predictor: f64, _nuisance: f64, trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        (0..trials as u64).map(|_| flip(sigmoid(predictor), uniform)).sum()
    }
}
