//! Looks at a fit when the draws are made: whether answers agree with each other, with the prior and with the model.

use crate::diagnostics::{Check, Grade};
use crate::samplers::noise_aware::fit::expectation::{Wanted, information};
use crate::samplers::noise_aware::fit::posterior::{Expects, Fit, UNLIKELY, chi_square_tail, quadratic};
use crate::samplers::noise_aware::questions::ask::{Found, Setup};
use barkeep_model::{Law, Model};
use barkeep_num::linear::Cholesky;
use std::borrow::Cow;

/// Answers that make this multiple of the variance necessary to be explained are not to be trusted.
const TORN: f64 = 6.0;
/// Nor are last answers that lie off the fit as in fewer runs than this, on records that follow the model.
const IMPOSSIBLE: f64 = 1e-6;
/// The last rounds are taken together against the fit.
const LAST: usize = 2;
/// Answers and prior this many standard deviations apart conflict.
const CONFLICT: f64 = 3.0;
/// A conflict matters where the prior moves an estimate by this many reported standard deviations.
const PULL: f64 = 0.5;
/// A clip's bias matters from this many posterior standard deviations without privacy on.
const MATTERS: f64 = 1.0;
/// Intervals this many times as wide as those without privacy: three quarters of their variance are then what is believed of noise,
/// columns and clips, and a quarter what records say. Of the runs on simulated look-alikes and regressions that were off by
/// more than 3 reported standard deviations, 9 of 10 are wider than this and 1 of 10 is wider than 3 times.
const WIDE: f64 = 2.0;
/// A single interval this many times as wide says nearly nothing.
const TOO_WIDE: f64 = 5.0;
/// Coefficients that are named at most.
const NAMED: usize = 3;

impl Found {
    /// What the fit says of itself.
    pub(crate) fn checks(&self, setup: &Setup) -> Vec<Check> {
        let mut checks = vec![agreement(&self.fit), drift(&self.fit, &self.path, self.unused)];
        let last = self.last_rounds(setup);
        checks
            .push(last.unwrap_or_else(|| unchecked("last_answers_agree", "whether the last answers agree")));
        let conflict = conflict(&self.fit, &*setup.model);
        checks.push(
            conflict.unwrap_or_else(|| unchecked("prior_conflict", "whether priors contradict the answers")),
        );
        checks.push(self.width(setup).unwrap_or_else(|| unchecked("width", "the width of the intervals")));
        checks.extend(self.rarity());
        checks.extend(self.family(setup));
        checks.extend(few_records(setup));
        if setup.law == Law::Binomial && self.total < 1000.0 {
            checks.push(Check::found(
                "few_binomial_records",
                Grade::Wide,
                self.total,
                "fewer than 1000 records of a binomial response: intervals are too narrow at this size",
                "use more records",
            ));
        }
        checks
    }

    /// The last rounds alone against the fit to all of them: they were asked nearest to the mode, where least depends on what
    /// is believed of the columns.
    fn last_rounds(&self, setup: &Setup) -> Option<Check> {
        let regression = setup.regression().ok()?;
        let scene = setup.scene_of(regression, self);
        let seen = scene.expected(&self.answered, &self.fit.mode, self.set.len(), Wanted::Mean)?;
        let rest = scene.posterior().rest(&self.answered, &seen.mean);
        let (d, size) = (self.fit.mode.len(), rest.len());
        let skip = size.saturating_sub(LAST * d);
        let variance = Cholesky::new(&self.fit.precision, size)?.inverse();
        let rows = variance.chunks_exact(size).skip(skip);
        let block: Vec<f64> = rows.flat_map(|row| row[skip..].iter().copied()).collect();
        let precision = Cholesky::new(&block, size - skip)?.inverse();
        let p = chi_square_tail(quadratic(&precision, &rest[skip..]), (size - skip) as f64);
        let words = format!("the last answers lie off the fit as in {:.2} % of runs by chance", 100.0 * p);
        let remedy = "check the family, the link and the bounds against what is known of the records";
        Some(if p < IMPOSSIBLE {
            Check::found("last_answers_agree", Grade::NotToBeTrusted, p, words, remedy)
        } else if p < UNLIKELY {
            Check::found("last_answers_agree", Grade::Wide, p, words, remedy)
        } else {
            Check::passed("last_answers_agree", p, "the last answers agree with the fit")
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
            (0..d * d).map(|k| self.total * matrix[k] + prior[(k / d) * parameters + k % d]).collect();
        let own = Cholesky::new(&total, d)?.inverse();
        let lower = self.fit.factor.lower();
        let ratios: Vec<f64> =
            (0..d).map(|j| (covariance_at(lower, parameters, j) / own[j * d + j]).sqrt()).collect();
        Some(width_of(setup.model.parameter_names(), &ratios))
    }

    /// Responses against their family, by the tail's bins.
    fn family(&self, setup: &Setup) -> Option<Check> {
        let Some((straying, pull)) = self.straying else {
            return setup
                .law
                .has_long_scores()
                .then(|| unchecked("family", "whether responses follow their family"));
        };
        let p = straying.chance;
        Some(if straying.is_sure() && pull > MATTERS {
            let words = format!(
                "responses do not follow the family, and clipping may have moved means by {pull:.1} posterior standard deviations or \
                 more: estimates are of the parameters that clipped scores aim at, not of those that a fit without clipping would find"
            );
            Check::found("family", Grade::Wide, p, words, "choose another family or link, or raise epsilon")
        } else if straying.is_sure() {
            Check::passed("family", p, "responses do not follow the family, but clips are too wide to matter")
        } else {
            Check::passed("family", p, "responses follow the family as far as the noise shows")
        })
    }

    /// Levels with hardly a record.
    fn rarity(&self) -> Option<Check> {
        let remedy = "join it with another level";
        if let Some((_, most)) = self.given_up.first() {
            let named: Vec<String> = self
                .given_up
                .iter()
                .map(|(name, most)| format!("{name} has 0 to {most:.0} records"))
                .collect();
            let words = format!("{}: what is reported of it is its prior", named.join(", "));
            return Some(Check::found("rare_level", Grade::Wide, *most, words, remedy));
        }
        let records = self.rarest? * self.total;
        Some(Check::passed("rare_level", records, "no level is rare"))
    }
}

/// What a verdict says of something that nobody could look at: it cannot be trusted blindly.
pub(crate) fn unchecked(key: &'static str, what: &str) -> Check {
    Check {
        key: Cow::Borrowed(key),
        grade: Grade::Wide,
        value: None,
        words: format!("{what} was not checked"),
        remedy: "compare with another model, or with what is known of the records".to_owned(),
    }
}

/// Widths of coefficients over those without privacy, and whose intervals are too wide to say much.
pub(crate) fn width_of(names: &[String], ratios: &[f64]) -> Check {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (median, widest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let mut words = format!("intervals are about {median:.1} times as wide as without privacy");
    let mut wide: Vec<(&String, f64)> =
        names.iter().zip(ratios.iter().copied()).filter(|(_, ratio)| *ratio > WIDE).collect();
    wide.sort_by(|a, b| b.1.total_cmp(&a.1));
    let named: Vec<String> =
        wide.iter().take(NAMED).map(|(name, ratio)| format!("{name} ({ratio:.0} times)")).collect();
    if !named.is_empty() {
        let more = wide.len().saturating_sub(NAMED);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        words = format!("{words}, those of {}{rest}", named.join(", "));
    }
    if median > WIDE || widest > TOO_WIDE {
        Check::found("width", Grade::Wide, median, words, "raise epsilon or use more records")
    } else {
        Check::passed("width", median, words)
    }
}

/// Whether noise would drown a look at the information that expectations rest on: one answer at 4.5 % of μ² about d × d products of
/// vectors no longer than r = 1.5√d, whose noise is √2r²·√(2d)/(μ√0.045·n) of what it measures.
fn few_records(setup: &Setup) -> Option<Check> {
    if setup.coordinates.raws.is_empty() {
        return None;
    }
    let d = setup.regression().ok()?.parts().0 as f64;
    let noise = std::f64::consts::SQRT_2 * 2.25 * d * (2.0 * d).sqrt() * setup.shares.whole.get();
    let share = noise / (0.045_f64.sqrt() * setup.records);
    Some(if share > 1.0 {
        let words = "there are too few records to check what the intervals rest on";
        Check::found("enough_records", Grade::Wide, share, words, "use more records or raise epsilon")
    } else {
        Check::passed("enough_records", share, "there are enough records to check what the intervals rest on")
    })
}

/// rᵀV⁻¹r against χ² with (K − 1)·D degrees of freedom.
pub(crate) fn agreement(fit: &Fit) -> Check {
    let (p, wider) = (fit.agreement, fit.inflation.sqrt());
    let words = format!(
        "the answers disagree with each other as in {:.2} % of runs by chance; intervals were made {wider:.1} times as wide",
        100.0 * p
    );
    let remedy = "check the family, the link and the bounds against what is known of the records";
    if fit.inflation > TORN {
        Check::found("answers_agree", Grade::NotToBeTrusted, p, words, remedy)
    } else if p < UNLIKELY {
        Check::found("answers_agree", Grade::Wide, p, words, remedy)
    } else {
        Check::passed("answers_agree", p, "the answers agree with each other")
    }
}

/// How far the last round moved the mode, in reported standard deviations, where `unused` answered rounds have no fit.
///
/// Every round adds noise, so a fit to one answer more lies elsewhere. One that lies exactly where the last one did has not been
/// searched for: no step from there was accepted.
pub(crate) fn drift(fit: &Fit, path: &[Vec<f64>], unused: usize) -> Check {
    let d = fit.mode.len();
    let lower = fit.factor.lower();
    let sd = |j: usize| covariance_at(lower, d, j).sqrt();
    let moved = path.iter().rev().nth(1).map_or(0.0, |before| {
        let steps = fit.mode.iter().zip(before).enumerate();
        steps.map(|(j, (now, before))| (now - before).abs() / sd(j)).fold(0.0, f64::max)
    });
    let stuck = "check the family, the link and the response's bounds, or give narrower priors";
    if unused > 0 {
        let used = path.len().saturating_sub(1 + unused);
        let words = format!(
            "no posterior was found for all answers: the draws rest on the first {used} of {} rounds",
            used + unused
        );
        return Check::found("fit_settled", Grade::NotToBeTrusted, unused as f64, words, stuck);
    }
    if path.len() > 1 && moved == 0.0 {
        let words = "the last answers did not move the fit at all: its search is stuck";
        return Check::found("fit_settled", Grade::NotToBeTrusted, moved, words, stuck);
    }
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

/// Priors against answers. Let H be the posterior's precision, P the prior's, Λ = H − P the answers', g the prior's gradient at
/// the mode. The answers alone have their mode −Λ⁻¹g further on: what the prior moves an estimate by. Under the prior that
/// mode lies about its centre with variance Λ⁻¹ + P⁻¹ (Evans and Moshonov 2006).
pub(crate) fn conflict(fit: &Fit, model: &dyn Model) -> Option<Check> {
    let d = fit.mode.len();
    let mode = &fit.mode;
    let (mut prior, mut gradient) = (vec![0.0; d * d], vec![0.0; d]);
    model.prior_precision(mode, &mut prior);
    model.prior_gradient(mode, &mut gradient);
    let lower = fit.factor.lower();
    let whole = Cholesky::new(&covariance(lower, d), d)?.inverse();
    // Rounding must not make the answers' share indefinite.
    let own: Vec<f64> = (0..d * d)
        .map(|k| whole[k] - prior[k] + if k % (d + 1) == 0 { 1e-9 * whole[k] } else { 0.0 })
        .collect();
    let own = Cholesky::new(&own, d)?.inverse();
    let (mut worst, mut name) = ((0.0, 0.0), 0);
    for j in 0..d {
        let precision = prior[j * d + j];
        if precision <= 0.0 {
            continue;
        }
        let moved = -own[j * d..(j + 1) * d].iter().zip(&gradient).map(|(a, g)| a * g).sum::<f64>();
        let pull = moved.abs() / covariance_at(lower, d, j).sqrt();
        // A normal prior's centre is where its gradient ends.
        let apart = moved - gradient[j] / precision;
        let apart = apart.abs() / (own[j * d + j] + 1.0 / precision).sqrt();
        if pull > PULL && apart > worst.0 {
            (worst, name) = ((apart, pull), j);
        }
    }
    let (apart, pull) = worst;
    let name = &model.parameter_names()[name];
    Some(if apart > CONFLICT {
        let words = format!(
            "the prior of {name} lies {apart:.1} standard deviations from what the answers say and moves its mean by \
             {pull:.1} reported ones"
        );
        let remedy = match name.as_str() {
            "intercept" => "the default prior of the intercept expects the response near the middle of what the bounds allow: give \
                            intercept a wider prior in [model.priors], or one where responses lie"
                .to_owned(),
            name => format!("give {name} a wider prior in [model.priors]"),
        };
        let grade = if pull > 1.0 { Grade::NotToBeTrusted } else { Grade::Wide };
        Check::found("prior_conflict", grade, apart, words, remedy)
    } else {
        Check::passed("prior_conflict", apart, "no coefficient fights its prior")
    })
}

/// LLᵀ of a lower triangle.
fn covariance(lower: &[f64], d: usize) -> Vec<f64> {
    let row = |i: usize| &lower[i * d..(i + 1) * d];
    (0..d * d).map(|k| row(k / d).iter().zip(row(k % d)).map(|(a, b)| a * b).sum()).collect()
}

/// An entry of its diagonal.
pub(crate) fn covariance_at(lower: &[f64], d: usize, j: usize) -> f64 {
    lower[j * d..(j + 1) * d].iter().map(|entry| entry * entry).sum()
}

#[cfg(test)]
mod tests;
