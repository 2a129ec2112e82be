//! Sets the iterations of the thesis' penalty and HMC samplers beside what barkeep allows, at both levels.
//!
//! Release level must equal the thesis. At decision level the penalty sampler has one sensitivity and one noise for all
//! steps (proposals of capped length, the cap at the thesis' mean step); Barker is shown at the same sensitivity.

use barkeep::accounting::theorems::thesis::Hmc;
use barkeep::accounting::{Delta, Epsilon, Error, Query, Rule, Sensitivity, Steps};
use std::io::Write;

/// As published, with the noise at a step of mean length; see the README beside it.
const ROWS: &str = include_str!("../../crates/barkeep-accounting/tests/reference/thesis_iterations.csv");

/// Writes the table, a row as soon as it is known: settings of a million steps take seconds each.
pub(crate) fn write(out: &mut dyn Write) -> Result<(), String> {
    let mut say = |line: &str| writeln!(out, "{line}").map_err(|error| error.to_string());
    say("model          sampler  epsilon   thesis  release  decision  ratio  Barker (no noise)")?;
    for line in ROWS.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let row = Row::parse(&cells).ok_or_else(|| format!("not a row of the table: {line}"))?;
        say(&row.show().map_err(|error| format!("{} {}: {error}", row.model, row.sampler))?)?;
    }
    Ok(())
}

struct Row<'a> {
    model: &'a str,
    sampler: &'a str,
    records: u64,
    tau: f64,
    gradients: Option<(f64, u64)>,
    epsilon: f64,
    published: u64,
    /// Noise of the log-ratio at a step of mean length; known for penalty samplers.
    sigma: Option<f64>,
}

impl<'a> Row<'a> {
    fn parse(cells: &[&'a str]) -> Option<Self> {
        let &[model, sampler, records, tau, tau_gradient, leapfrog, epsilon, published, _, sigma] = cells
        else {
            return None;
        };
        Some(Self {
            model,
            sampler,
            records: records.parse().ok()?,
            tau: tau.parse().ok()?,
            gradients: tau_gradient.parse().ok().zip(leapfrog.parse().ok()),
            epsilon: epsilon.parse().ok()?,
            published: published.parse().ok()?,
            sigma: sigma.parse().ok(),
        })
    }

    fn show(&self) -> Result<String, Error> {
        let epsilon = Epsilon::new(self.epsilon)?;
        let delta = Delta::new(0.1 / self.records as f64)?;
        let release = match self.gradients {
            None => Query::penalty(self.tau, self.records)?,
            Some((tau_gradient, leapfrog)) => {
                Query::hmc(Hmc { tau: self.tau, tau_gradient, leapfrog, records: self.records })?
            }
        };
        let release = release.largest_steps(epsilon, delta)?;
        let decision = match self.sigma {
            None => "                       -".to_owned(),
            Some(sigma) => {
                let sensitivity = Sensitivity::new(sigma / (self.tau * (self.records as f64).sqrt()))?;
                let steps = |rule| Query::decision(rule, sensitivity)?.largest_steps(epsilon, delta);
                let (Steps(penalty), Steps(barker)) = (steps(Rule::Penalty { sigma })?, steps(Rule::Barker)?);
                format!("{penalty:>8}  {:>5.2}  {barker:>8}", penalty as f64 / release.0.max(1) as f64)
            }
        };
        let Self { model, sampler, epsilon, published, .. } = self;
        Ok(format!("{model:<14} {sampler:<8} {epsilon:>7}  {published:>7}  {:>7}  {decision}", release.0))
    }
}
