//! Sums the tails of binomial laws, with bounds on everything that rounding and the end of a sum leave out.

use barkeep_num::ln_binomial;

/// Terms of a tail summed at most; the rest is bounded.
const MOST_TERMS: usize = 200_000;

/// Relative error charged to the sum of a tail, far above the rounding of its terms.
const SUM_SLACK: f64 = 1e-9;

/// Σ over n ≥ c of pmf(n)/pmf(c), and a bound on what was left out; `odds` are those of one trial.
pub(super) fn tail(odds: f64, trials: f64, least: f64) -> (f64, f64) {
    let (mut sum, mut term, mut n) = (1.0, 1.0, least);
    for _ in 0..MOST_TERMS {
        let ratio = odds * (trials - n) / (n + 1.0);
        term *= ratio;
        n += 1.0;
        if n > trials || term < 1e-18 * sum {
            // The ratios fall, so what follows is less than a geometric series.
            return (sum, if n > trials { 0.0 } else { term / (1.0 - ratio) });
        }
        sum += term;
    }
    let ratio = odds * (trials - n) / (n + 1.0);
    (sum, if ratio < 1.0 { term * ratio / (1.0 - ratio) } else { f64::INFINITY })
}

/// A chance between two bounds, and that of the contrary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Chance {
    pub(super) yes: (f64, f64),
    pub(super) no: (f64, f64),
}

impl Chance {
    fn turned(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }
}

/// The chance of at least `least` successes in `trials`, each of probability `p` in (0, 1).
///
/// The smaller tail is summed from its largest term outward, so that both chances keep their digits.
pub(super) fn at_least(trials: f64, p: f64, least: f64) -> Chance {
    let (never, always) = ((0.0, 0.0), (1.0, 1.0));
    if least <= 0.0 {
        return Chance { yes: always, no: never };
    }
    if least > trials {
        return Chance { yes: never, no: always };
    }
    let (yes, no) = ((p, libm::log(p)), (1.0 - p, libm::log1p(-p)));
    if least <= trials * p {
        // Fewer successes than `least` are more than `trials − least` failures.
        return upper(trials, no, yes, trials - least + 1.0).turned();
    }
    upper(trials, yes, no, least)
}

/// The same where `least` is above the mean or next to it; the chances of success and failure come with their logarithms.
fn upper(trials: f64, (p, log_p): (f64, f64), (q, log_q): (f64, f64), least: f64) -> Chance {
    let others = trials - least;
    let parts = [ln_binomial(trials, least), least * log_p, others * log_q];
    let log_mass: f64 = parts.iter().sum();
    let slack = 8.0 * f64::EPSILON * (1.0 + parts.iter().map(|part| part.abs()).sum::<f64>());
    let (sum, beyond) = tail(p / q, trials, least);
    let low = (libm::exp(log_mass - slack) * sum * (1.0 - SUM_SLACK)).clamp(0.0, 1.0);
    let high =
        (libm::exp(log_mass + slack) * (sum + beyond) * (1.0 + SUM_SLACK)).clamp(f64::MIN_POSITIVE, 1.0);
    Chance { yes: (low, high), no: ((1.0 - high) * (1.0 - f64::EPSILON), 1.0 - low * (1.0 - f64::EPSILON)) }
}

#[cfg(test)]
mod tests;
