//! Reads a bill as a certificate writes it, and computes its ε again.

use serde::Deserialize;

use crate::curves::{Curve, bit, gaussian, mirrored, poisson_removed, poisson_substituted};
use crate::decisions::decisions;
use crate::interval::at;
use crate::losses::{Fineness, Keep, Losses, lattice};
use crate::minibatch::Minibatch;
use crate::rule::Rule;
use crate::{Checked, Result, Unchecked};

/// What a run pays, fixed before its first answer, as a certificate writes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Bill(Kind);

/// A number of steps at each cost, asked once or in the course of a run; Gaussian answers whose μ² add up to no more than that of one answer at a cost; or steps whose ρ
/// add up to no more than a total, together with a number of coins of a decision's rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Kind {
    #[serde(alias = "once")]
    Contract(Vec<(Cost, u64)>),
    Gaussian {
        whole: Cost,
    },
    Filter {
        rho: f64,
        coins: u64,
        decision: Cost,
    },
}

/// What one step answers, of which records, for which neighbours.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cost {
    mechanism: Mechanism,
    sampling: Sampling,
    neighbours: Neighbours,
}

/// The mechanisms that the gate charges.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Mechanism {
    Decision {
        rule: Rule,
        sensitivity: f64,
    },
    #[serde(alias = "noisy-decision")]
    Gaussian {
        ratio: f64,
    },
    BarkerMinibatch(Batch),
    Bernoulli {
        p: f64,
        q: f64,
    },
    Exponential {
        range: f64,
    },
}

/// Records of a batch and in all. Whatever bound was used, the test is the same.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
struct Batch {
    batch: u64,
    records: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Sampling {
    Full,
    Poisson { rate: f64 },
    WithoutReplacement(Batch),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Neighbours {
    Substitute,
    AddRemove,
}

/// Relative error that lattices aim at.
const AIM: f64 = 2e-3;

const OUT_OF_RANGE: Unchecked = Unchecked("a parameter is out of range");

impl Cost {
    /// The chance that a record is in the batch, rounded up.
    fn rate(&self) -> Result<f64> {
        match self.sampling {
            Sampling::Full => Ok(1.0),
            Sampling::Poisson { rate } if rate > 0.0 && rate <= 1.0 => Ok(rate),
            // A fixed size would tell the number of records, which add-remove neighbours differ in.
            Sampling::WithoutReplacement(Batch { batch, records })
                if 0 < batch && batch <= records && self.neighbours == Neighbours::Substitute =>
            {
                let part = (batch as f64).next_up() / (records as f64).next_down();
                Ok(if batch == records { 1.0 } else { part.next_up().min(1.0) })
            }
            Sampling::Poisson { .. } | Sampling::WithoutReplacement(_) => Err(OUT_OF_RANGE),
        }
    }

    /// μ of a Gaussian answer, rounded up, which is less noise.
    fn mu(&self) -> Result<Option<f64>> {
        let Mechanism::Gaussian { ratio } = self.mechanism else { return Ok(None) };
        if (1e-3..=1e100).contains(&ratio) { Ok(Some((at(1.0) / ratio).hi)) } else { Err(OUT_OF_RANGE) }
    }

    /// The error of the coin that a step flips, if it flips one that is not made after noise was added.
    fn coin(&self) -> (f64, f64) {
        match &self.mechanism {
            Mechanism::Decision { rule, .. } => rule.coin_error(),
            // Of any correction: the largest has 4096 components.
            Mechanism::BarkerMinibatch(_) => (1e5 * f64::EPSILON, 1e-265),
            Mechanism::Gaussian { .. } => (0.0, 0.0),
            Mechanism::Bernoulli { .. } | Mechanism::Exponential { .. } => (0.0, 0.0),
        }
    }

    /// Losses of `steps` steps, in the direction "one record less" if `removed`, else "one more".
    fn losses(&self, steps: u64, removed: bool, fine: Fineness, keep: &mut Keep<'_>) -> Result<Losses> {
        let rate = self.rate()?;
        let less = |mu: f64| -> Curve { Box::new(move |l| poisson_removed(mu, rate, l)) };
        let more = |mu: f64| -> Curve { Box::new(move |l| mirrored(l, poisson_removed(mu, rate, -l))) };
        let curve: Curve = match (&self.mechanism, self.sampling, self.neighbours, self.mu()?) {
            (_, Sampling::Poisson { .. }, Neighbours::AddRemove, Some(mu)) => {
                let curves = if removed { [less(mu), more(mu)] } else { [more(mu), less(mu)] };
                return lattice([&curves[0], &curves[1]], steps, fine, keep);
            }
            (_, Sampling::Poisson { .. }, _, Some(mu)) => Box::new(move |l| poisson_substituted(mu, rate, l)),
            // Zhu, Dong, Wang 2022, Proposition 30: "one less" above 0, "one more" below.
            (_, Sampling::WithoutReplacement(_), _, Some(mu)) => {
                let (less, more) = (less(mu), more(mu));
                Box::new(move |l| if l >= 0.0 { less(l) } else { more(l) })
            }
            (Mechanism::BarkerMinibatch(own), Sampling::WithoutReplacement(batch), ..) if *own == batch => {
                let test = Minibatch::new(batch.batch as f64, rate);
                Box::new(move |l| test.curve(l))
            }
            (Mechanism::Decision { rule, sensitivity }, Sampling::Full, ..) => {
                return decisions(rule, *sensitivity, steps, fine, keep);
            }
            // The log-probability of each item moves by between t and t + range: such losses split to the two ends are a coin of Barker's rule within
            // that sensitivity (Dong, Durfee, Rogers 2020).
            (Mechanism::Exponential { range }, Sampling::Full, ..) => {
                return decisions(&Rule::Barker, *range, steps, fine, keep);
            }
            // Both orders at once: the larger of two convex curves is convex.
            (&Mechanism::Bernoulli { p, q }, Sampling::Full, ..) if p.min(q) >= 0.0 && p.max(q) <= 1.0 => {
                Box::new(move |l| bit(p, q, l).max(bit(q, p, l)))
            }
            _ => return Err(Unchecked("a mechanism has no proof for its batches")),
        };
        lattice([&curve, &curve], steps, fine, keep)
    }
}

impl Bill {
    /// Computes ε of the bill at δ again, from above.
    ///
    /// `claim` is the ε that is to be checked: it steers how fine lattices are, and nothing else. `keep` is asked now and then with the share of the work that is
    /// done and the multiplications, about, since it was last asked; the check ends when it says no.
    ///
    /// # Errors
    /// [`Unchecked`] says why there is no answer. That is never a statement about the claim.
    pub fn check(&self, claim: f64, delta: f64, keep: &mut dyn FnMut(f64, f64) -> bool) -> Result<Checked> {
        if !(delta > 0.0 && delta < 1.0 && claim >= 0.0 && claim.is_finite()) {
            return Err(OUT_OF_RANGE);
        }
        let mut checked = Checked::default();
        match &self.0 {
            Kind::Contract(parts) => compose(&mut checked, parts, (claim, delta), keep)?,
            // The μ² of answers that were chosen in view of earlier ones add up (Smith and Thakurta 2022).
            Kind::Gaussian { whole } => {
                compose(&mut checked, &[(whole.clone(), 1)], (claim, delta), keep)?;
                if checked.mu == 0.0 {
                    return Err(Unchecked("a filter of Gaussian answers charges something else"));
                }
            }
            Kind::Filter { rho, coins, decision } => {
                checked.rho = if *rho >= 0.0 { *rho } else { f64::INFINITY };
                checked.add_coins(decision.coin(), *coins);
            }
        }
        checked.epsilon = checked.least_epsilon(delta);
        let found = checked.epsilon.is_finite().then_some(checked);
        found.ok_or(Unchecked("no epsilon was found at this delta"))
    }
}

/// Composes parts: Gaussian answers on all records as one, in closed form where there is nothing else, and the others on lattices.
fn compose(
    checked: &mut Checked,
    parts: &[(Cost, u64)],
    claim: (f64, f64),
    keep: &mut Keep<'_>,
) -> Result<()> {
    if parts.iter().any(|(cost, _)| cost.neighbours != parts[0].0.neighbours) {
        return Err(Unchecked("its parts speak of different neighbours"));
    }
    let (mut square, mut others) = (at(0.0), Vec::new());
    for (cost, steps) in parts.iter().filter(|(_, steps)| *steps > 0) {
        checked.add_coins(cost.coin(), *steps);
        match cost.mu()? {
            Some(mu) if cost.rate()? == 1.0 => square = at(mu) * mu * (*steps as f64).next_up() + square,
            _ => others.push((cost, *steps)),
        }
    }
    checked.mu = if square.hi > 0.0 { square.sqrt().hi } else { 0.0 };
    // An added mean m moves ε by about m·(1 + z²/ε), z² = 2·ln(1/δ).
    let ((claim, delta), share) = (claim, 1.0 / (others.len() + 1) as f64);
    let claim = claim.clamp(1e-6, 100.0);
    let spread = share * AIM * claim / (1.0 - 2.0 * delta.ln() / claim);
    let fine = Fineness { spread, cut: 1e-3 * delta * share };
    // Without a directed part the second direction would be the same again.
    let directed = |cost: &Cost| cost.neighbours == Neighbours::AddRemove && cost.sampling != Sampling::Full;
    let directions = 1 + usize::from(others.iter().any(|(cost, _)| directed(cost)));
    let work = (others.len() * directions) as f64;
    for (turn, removed) in [true, false].into_iter().take(directions).enumerate() {
        let mut all: Option<Losses> = None;
        for (i, (cost, steps)) in others.iter().enumerate() {
            let done = (turn * others.len() + i) as f64;
            let losses =
                cost.losses(*steps, removed, fine, &mut |part, more| keep((done + part) / work, more))?;
            all = Some(match all {
                None => losses,
                Some(before) => before.and(&losses, fine.cut, &mut |more| keep(done / work, more))?,
            });
        }
        let (mu, mut again) = (checked.mu, |more: f64| keep(1.0, more));
        checked.directions.extend(match all {
            Some(losses) if mu > 0.0 => {
                let curve: Curve = Box::new(move |l| gaussian(mu, l).hi);
                let gaussians = lattice([&curve, &curve], 1, fine, &mut |_, more| again(more))?;
                Some(losses.and(&gaussians, fine.cut, &mut again)?)
            }
            other => other,
        });
    }
    Ok(())
}
