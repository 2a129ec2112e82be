//! Says in plain words what a plan promises, buys and takes; terms of the trade are its [details](Plan::details).

use super::Plan;
use crate::diagnostics::moments::{quantile, sorted};
use crate::public_rng::PublicRng;
use crate::spec::Privacy;
use crate::units::Units;
use barkeep_accounting::Bill;
use barkeep_data::Count;

#[cfg(test)]
mod tests;

/// Draws of a prior behind an interval of it.
const PRIOR_DRAWS: usize = 2000;
/// The public seed of those draws.
const PRIOR_SEED: u64 = 20_241;
/// Seconds a question takes whatever the number of records: its answer is synced to the disk. `langevin` on the demo's flights, 1572
/// questions over 336 776 records, takes 8.4 s of a processor, by these constants 6.7 s.
const PER_QUESTION: f64 = 2e-4;
/// Seconds of a record's column in a question, and of a record.
const PER_CELL: f64 = 2e-9;
/// Questions of noise-aware scores.
const SCORE_QUESTIONS: u64 = 12;
/// Seconds that fitting scores takes, and each coefficient of theirs, by the slowest family. With ten coefficients and 10⁴ records
/// `barkeep sample` took 0.5 s of a processor for bernoulli, 1.4 s for gaussian and 3.6 s for gamma responses.
const FITTING: (f64, f64) = (0.5, 0.3);

/// What is known of a parameter before the records are seen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PriorRow {
    /// The parameter, as a person reads it.
    pub name: String,
    /// What it counts.
    pub unit: String,
    /// The central 89 % of its prior; none where the prior is flat.
    pub interval_89: Option<[f64; 2]>,
}

impl Plan {
    /// The plan in plain words, a line each: what is fitted, what protects whom, how near it comes, how long it takes, and what
    /// a user should know before spending anything.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let spec = &self.spec;
        let units = spec.data().unit().plural();
        let records = match spec.count() {
            Count::Exactly(records) => format!("{records} {units}"),
            Count::About(records) => format!("{units}: {records} are declared, any number is accepted"),
        };
        let mut lines = vec![format!("{} on {records}", spec.formula().unwrap_or(spec.model_name()))];
        let mut row = |name: &str, words: &str| lines.push(format!("  {name:<10} {words}"));
        match (spec.privacy(), self.epsilon()) {
            (Privacy::Budget { delta, .. }, Some(epsilon)) => {
                let whom = spec.data().whose();
                row("privacy", &format!("epsilon {:.6}, delta {}, for {whom}", epsilon.get(), delta.get()));
                if let Some(check) = self.checked() {
                    let found = check.epsilon;
                    row(
                        "checked",
                        &format!("epsilon at most {found:.6}, computed independently of the above"),
                    );
                }
            }
            (Privacy::NotPrivate | Privacy::Budget { .. }, _) => {
                row("privacy", "NONE: a baseline that protects nothing");
            }
        }
        match self.expected {
            Some(expected) => {
                let (low, high) = expected.range;
                let range = match high > 1.05 * low {
                    true => format!("; {low:.2} to {high:.2}, by how the columns spread"),
                    false => String::new(),
                };
                let error = expected.error;
                row(
                    "accuracy",
                    &format!("privacy moves a mean by about {error:.2} of its standard deviation{range}"),
                );
                let width = expected.width;
                row("width", &format!("intervals are about {width:.2} times as wide as without privacy"));
            }
            None if self.is_private() => {
                row("accuracy", "not known before the run: no formula covers this sampler and model");
            }
            None => {}
        }
        let (steps, chains) = (self.steps, self.chains);
        let draws = match chains {
            1 => format!("{steps} draws"),
            chains => format!("{steps} draws of each of {chains} chains"),
        };
        row("draws", &format!("{draws}, sampler {}", self.sampler.name));
        row("time", &lasting(self.seconds()));
        if self.spec.data().person().is_none() && self.streams_in().is_some() {
            row("records", "more than the memory may hold: the file is read anew for every question");
        }
        lines.extend(self.warnings.iter().map(|warning| format!("  warning: {warning}")));
        lines
    }

    /// Every constant and forecast of the plan by its name in the trade, a line each.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut row = |name: &str, words: &str| lines.push(format!("  {name:<28} {words}"));
        row("chains", &self.chains.to_string());
        row("steps of each chain", &self.steps.to_string());
        for affordable in &self.affordable {
            let name = format!("steps at {} level", affordable.level.name());
            let about = if affordable.estimated { "about " } else { "" };
            row(&name, &format!("{about}{} for all chains together", affordable.steps.0));
        }
        self.facts.iter().for_each(|fact| row(fact.label, &fact.words));
        row("left out of the summary", &format!("the first {} draws of each chain", self.burn_in));
        lines
    }

    /// What each parameter's prior says, in original units.
    #[must_use]
    pub fn priors(&self) -> Vec<PriorRow> {
        let (units, model) = (Units::of(&self.spec), self.spec.model());
        let mut rng = PublicRng::new(PRIOR_SEED, 0);
        let mut theta = vec![0.0; model.dimension()];
        let mut values: Vec<Vec<f64>> = vec![Vec::with_capacity(PRIOR_DRAWS); units.readings().len()];
        for _ in 0..PRIOR_DRAWS {
            if !model.sample_prior(&mut || rng.open_uniform(), &mut theta) {
                break;
            }
            values.iter_mut().zip(units.at(&theta)).for_each(|(column, value)| column.push(value));
        }
        let rows = units.readings().iter().zip(values).map(|(reading, column)| {
            let ends = sorted(column).and_then(|all| Some([quantile(&all, 0.055)?, quantile(&all, 0.945)?]));
            PriorRow { name: reading.name.clone(), unit: reading.unit.clone(), interval_89: ends }
        });
        rows.collect()
    }

    /// Seconds a run takes on one core, about: the questions, each a pass over the records, and a fit of scores.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let is_scores =
            self.fact("expected_branch").is_some_and(|fact| fact.words.starts_with("noise-aware"))
                || self.sampler.name == "noise-aware";
        let steps = self.steps.saturating_mul(self.chains);
        let asked = match self.bill() {
            _ if is_scores => SCORE_QUESTIONS,
            Some(Bill::Contract(contract) | Bill::Once(contract)) => {
                contract.parts().iter().fold(0, |sum, (_, steps)| steps.0.saturating_add(sum))
            }
            Some(Bill::Gaussian { .. } | Bill::Filter { .. }) | None => steps,
        };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let (asked, records, columns) =
            (asked as f64, self.spec.data().records().0 as f64, self.view.schema().width() as f64);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let fit = if is_scores { FITTING.0 + FITTING.1 * self.spec.model().dimension() as f64 } else { 0.0 };
        asked * (PER_QUESTION + PER_CELL * records * (1.0 + columns)) + fit
    }
}

/// A time in words; an estimate has no second digit.
fn lasting(seconds: f64) -> String {
    let words = match seconds {
        ..2.0 => return "about a second".to_owned(),
        ..90.0 => format!("{} seconds", one_digit(seconds)),
        ..5400.0 => format!("{} minutes", one_digit(seconds / 60.0)),
        ..130_000.0 => format!("{} hours", one_digit(seconds / 3600.0)),
        _ => format!("{} days", one_digit(seconds / 86_400.0)),
    };
    format!("up to about {words}, on one core")
}

/// A number rounded up to its first digit.
fn one_digit(number: f64) -> f64 {
    let size = 10_f64.powf(number.max(1.0).log10().floor());
    (number / size).ceil().max(1.0) * size
}
