//! Looks at a fit when the draws are made: whether answers agree with each other, with the prior and with the model.

use super::ask::{Found, Setup};
use super::expectation::information;
use crate::diagnostics::{Check, Grade};
use barkeep_model::Law;
use barkeep_num::linear::Cholesky;
use barkeep_num::normal_cdf;

/// Answers that disagree more than in one of this many runs on records that follow the model are not to be trusted.
const UNLIKELY: f64 = 0.01;
/// Below this they are worth a word.
const DOUBTFUL: f64 = 0.05;
/// A coefficient this many prior standard deviations out fights its prior.
const FAR: f64 = 3.0;
/// Records of the rarest level below which nothing is learned about it.
const RARE: f64 = 30.0;
/// Intervals this many times as wide as those without privacy.
const WIDE: f64 = 3.0;

impl Found {
    /// What the fit says of itself; `judged` counts proposals of draws and those taken.
    pub(super) fn checks(&self, setup: &Setup, judged: (u64, u64)) -> Vec<Check> {
        let mut checks = vec![self.agreement(), self.drift(), acceptance(judged)];
        checks.extend(self.conflict(setup));
        checks.extend(self.width(setup));
        checks.extend(self.rarity(setup));
        if setup.law == Law::Binomial && setup.records < 1000.0 {
            checks.push(Check::found(
                "few_binomial_records",
                Grade::Wide,
                setup.records,
                "fewer than 1000 records of a binomial response: intervals are too narrow at this size",
                "use more records",
            ));
        }
        checks
    }

    /// rᵀV⁻¹r against χ² with (K − 1)·D degrees of freedom.
    fn agreement(&self) -> Check {
        let d = self.fit.mode.len();
        let p = chi_square_tail(self.fit.discrepancy, ((self.answered.len() - 1) * d) as f64);
        let words =
            format!("the answers disagree with each other as in {:.2} % of runs by chance", 100.0 * p);
        let remedy = "check the family, the link and the bounds against what is known of the records";
        if p < UNLIKELY {
            Check::found("answers_agree", Grade::NotToBeTrusted, p, words, remedy)
        } else if p < DOUBTFUL {
            Check::found("answers_agree", Grade::Wide, p, words, remedy)
        } else {
            Check::passed("answers_agree", p, "the answers agree with each other")
        }
    }

    /// How far the last round moved the mode, in reported standard deviations.
    fn drift(&self) -> Check {
        let d = self.fit.mode.len();
        let lower = self.fit.factor.lower();
        let sd = |j: usize| lower[j * d..(j + 1) * d].iter().map(|entry| entry * entry).sum::<f64>().sqrt();
        let moved = self.path.iter().rev().nth(1).map_or(0.0, |before| {
            let steps = self.fit.mode.iter().zip(before).enumerate();
            steps.map(|(j, (now, before))| (now - before).abs() / sd(j)).fold(0.0, f64::max)
        });
        let words = format!("the last answers moved the fit by {moved:.1} reported standard deviations");
        let remedy = "raise epsilon or use more records, so that the fit settles";
        if moved > 4.0 {
            Check::found("fit_settled", Grade::NotToBeTrusted, moved, words, remedy)
        } else if moved > 2.5 {
            Check::found("fit_settled", Grade::Wide, moved, words, remedy)
        } else {
            Check::passed("fit_settled", moved, "the fit has settled")
        }
    }

    /// Coefficients far out in their priors.
    fn conflict(&self, setup: &Setup) -> Option<Check> {
        let regression = setup.regression().ok()?;
        let (d, parameters) = (regression.parts().0, self.fit.mode.len());
        let mut precision = vec![0.0; parameters * parameters];
        let centre = crate::plan::start::prior_mode(&*setup.model);
        setup.model.prior_precision(&centre, &mut precision);
        let skip = usize::from(regression.has_intercept());
        let (name, far) = (skip..d)
            .map(|j| (j, (self.fit.mode[j] - centre[j]).abs() * precision[j * parameters + j].sqrt()))
            .fold((0, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst });
        let name = &setup.model.parameter_names()[name];
        Some(if far > FAR {
            Check::found(
                "prior_conflict",
                Grade::NotToBeTrusted,
                far,
                format!("{name} lies {far:.1} prior standard deviations from its prior's centre"),
                format!("give {name} a wider prior in [model.priors]"),
            )
        } else {
            Check::passed("prior_conflict", far, "no coefficient fights its prior")
        })
    }

    /// Reported widths over those without privacy, by the information at the mode.
    fn width(&self, setup: &Setup) -> Option<Check> {
        let regression = setup.regression().ok()?;
        let (d, parameters) = (regression.parts().0, self.fit.mode.len());
        let (matrix, _) = information(regression, (&self.set, self.set.len()), &self.fit.mode, setup.top())?;
        let mut prior = vec![0.0; parameters * parameters];
        setup.model.prior_precision(&self.fit.mode, &mut prior);
        let total: Vec<f64> =
            (0..d * d).map(|k| setup.records * matrix[k] + prior[(k / d) * parameters + k % d]).collect();
        let own = Cholesky::new(&total, d)?.inverse();
        let lower = self.fit.factor.lower();
        let mut ratios: Vec<f64> = (0..d)
            .map(|j| {
                let row = &lower[j * parameters..(j + 1) * parameters];
                (row.iter().map(|entry| entry * entry).sum::<f64>() / own[j * d + j]).sqrt()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios[ratios.len() / 2];
        let words = format!("intervals are about {ratio:.1} times as wide as without privacy");
        Some(if ratio > WIDE {
            Check::found("width", Grade::Wide, ratio, words, "raise epsilon or use more records")
        } else {
            Check::passed("width", ratio, words)
        })
    }

    /// Levels with hardly a record.
    fn rarity(&self, setup: &Setup) -> Option<Check> {
        let records = self.rarest? * setup.records;
        Some(if records < RARE {
            Check::found(
                "rare_level",
                Grade::Wide,
                records,
                format!("the rarest level or value has about {records:.0} records"),
                "join it with another level",
            )
        } else {
            Check::passed("rare_level", records, "no level is rare")
        })
    }
}

/// Whether free draws follow the posterior given the answers.
fn acceptance((judged, taken): (u64, u64)) -> Check {
    let share = taken as f64 / judged.max(1) as f64;
    let words = format!("{:.0} % of proposed draws were taken", 100.0 * share);
    if share < 0.1 {
        let remedy = "give narrower priors: the posterior given the answers is far from normal";
        Check::found("draws_taken", Grade::NotToBeTrusted, share, words, remedy)
    } else {
        Check::passed("draws_taken", share, words)
    }
}

/// P(χ²_k > x) by the cube root's normal approximation (Wilson and Hilferty 1931): right to a few thousandths.
fn chi_square_tail(x: f64, k: f64) -> f64 {
    if k <= 0.0 {
        return 1.0;
    }
    let spread = 2.0 / (9.0 * k);
    normal_cdf(-(((x / k).max(0.0).cbrt() - (1.0 - spread)) / spread.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles from a table of the χ² distribution.
    #[test]
    fn tails_are_those_of_the_table() {
        for (x, k, p) in [(11.07, 5.0, 0.05), (15.09, 5.0, 0.01), (67.50, 50.0, 0.05), (124.34, 100.0, 0.05)]
        {
            assert!((chi_square_tail(x, k) - p).abs() < 0.002, "{x} {k}");
        }
        assert!(chi_square_tail(1.0, 0.0) == 1.0);
    }
}
