//! Figure 6.1 and every count behind it: the iterations a budget allows, by loose and tight accounting, and at decision level.
//!
//! Release level must equal the thesis' tight counts. At decision level the penalty sampler has one sensitivity and one noise for all
//! steps (proposals of capped length, the cap at the thesis' mean step); Barker's test without noise is shown at the same sensitivity.

use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use crate::published::{Entry, Published};
use barkeep::accounting::renyi::{Amplified, Linear, RenyiComposition};
use barkeep::accounting::theorems::thesis::{Hmc, batch_rate, minibatch_ratio, penalty_ratio};
use barkeep::accounting::{BarkerBound, Delta, Epsilon, Error, Query, Ratio, Rho, Rule, Sensitivity, Steps};
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};

/// The experiment.
pub(crate) struct Iterations;

/// Counts of the samplers that use all records, and of those that use batches.
const ALL: &str = include_str!("../../../crates/barkeep-accounting/tests/reference/thesis_iterations.csv");
const BATCHES: &str = include_str!("../../published/thesis-6.1-minibatch.csv");

/// The budgets of the figure.
const FIGURE: [f64; 12] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5, 6.0];

/// What the figure shows, as published: zCDP or RDP, and tight, at ε = 0.5, 1, 2, 4, 6. The minibatch one at 0.5 is not known.
const CURVES: [(&str, &str, [f64; 5], [f64; 5]); 3] = [
    ("dpps", "DP penalty", [8.0, 34.0, 135.0, 507.0, 1079.0], [15.0, 56.0, 201.0, 702.0, 1431.0]),
    ("mdpps", "minibatch DP penalty", [0.0, 0.0, 0.0, 329.0, 991.0], [f64::NAN, 3.0, 130.0, 828.0, 1817.0]),
    ("hmc", "DP HMC", [5.0, 20.0, 80.0, 300.0, 639.0], [9.0, 33.0, 119.0, 416.0, 848.0]),
];

/// The constants of a row that all budgets share.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sampler {
    records: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// τ, and the noise of the log-ratio at a step of mean length.
    Penalty {
        tau: f64,
        sigma: f64,
    },
    Hmc(Hmc),
    /// Batch and τ, a variance ratio.
    Minibatch {
        batch: u64,
        tau: f64,
    },
    Barker {
        batch: u64,
    },
}

impl Sampler {
    fn of_all(row: &Entry<'_>) -> Self {
        let (tau, records) = (row.number("tau"), row.number("records") as u64);
        let kind = match row.text("algorithm") {
            "hmc" => {
                let leapfrog = row.number("leapfrog") as u64;
                Kind::Hmc(Hmc { tau, tau_gradient: row.number("tau_gradient"), leapfrog, records })
            }
            _ => Kind::Penalty { tau, sigma: row.number("sigma_at_mean_step") },
        };
        Self { records, kind }
    }

    fn of_batches(row: &Entry<'_>) -> Self {
        let (batch, tau) = (row.number("batch") as u64, row.number("tau"));
        let kind = if row.text("sampler") == "barker" {
            Kind::Barker { batch }
        } else {
            Kind::Minibatch { batch, tau }
        };
        Self { records: row.number("records") as u64, kind }
    }

    /// Loose and tight counts, and at decision level for the penalty and the Barker test.
    fn counts(&self, budgets: &[f64], decisions: bool) -> Result<Values, Error> {
        let delta = Delta::new(0.1 / self.records as f64)?;
        let mut found = values([("epsilon", budgets.to_vec())]);
        let mut add =
            |name: &str, steps: Steps| found.entry(name.to_owned()).or_default().push(steps.0 as f64);
        let tight = match self.kind {
            Kind::Penalty { tau, .. } => Query::penalty(tau, self.records)?,
            Kind::Hmc(hmc) => Query::hmc(hmc)?,
            Kind::Minibatch { batch, tau } => Query::penalty_minibatch(tau, batch, self.records)?,
            Kind::Barker { batch } => Query::barker_minibatch(batch, self.records, BarkerBound::Tight)?,
        };
        for &budget in budgets {
            let epsilon = Epsilon::new(budget)?;
            match self.kind {
                Kind::Penalty { tau, .. } => {
                    let release = (penalty_ratio(tau, self.records)?, Steps(1));
                    add("loose", zcdp_steps(&[release], epsilon, delta));
                }
                Kind::Hmc(hmc) => add("loose", zcdp_steps(&hmc.releases()?, epsilon, delta)),
                Kind::Minibatch { batch, tau } => {
                    // Theorem 3.5, with j = α in the sum: the thesis' code leaves it out and charges too little.
                    let base = Linear::gaussian(minibatch_ratio(tau)?);
                    let curve = Amplified::new(batch_rate(batch, self.records)?, base);
                    add(
                        "loose",
                        most(&mut RenyiComposition::new(vec![(Box::new(curve), Steps(1))]), epsilon, delta),
                    );
                }
                Kind::Barker { .. } => {}
            }
            add("tight", tight.largest_steps(epsilon, delta)?);
            if let (Kind::Penalty { tau, sigma }, true) = (self.kind, decisions) {
                let sensitivity = Sensitivity::new(sigma / (tau * (self.records as f64).sqrt()))?;
                let steps = |rule| Query::decision(rule, sensitivity)?.largest_steps(epsilon, delta);
                add("decision", steps(Rule::Penalty { sigma })?);
                add("barker", steps(Rule::Barker)?);
            }
        }
        Ok(found)
    }
}

/// Theorems 3.1 and 4.2: k = ⌊ρ/Σρ_i⌋ with ρ = (√(ε−ln δ) − √(−ln δ))² and ρ_i = 1/(2s_i²) for each release of ratio s_i in a step.
fn zcdp_steps(releases: &[(Ratio, Steps)], epsilon: Epsilon, delta: Delta) -> Steps {
    let budget = Rho::largest_within_classical(epsilon, delta);
    let step = |(ratio, count): &(Ratio, Steps)| Linear::gaussian(*ratio).rho().get() * count.0 as f64;
    let step: f64 = releases.iter().map(step).sum();
    Steps((budget.get() / step) as u64)
}

/// The most rounds within a budget by the classical conversion.
fn most(composition: &mut RenyiComposition, epsilon: Epsilon, delta: Delta) -> Steps {
    let mut fits =
        |k: u64| composition.epsilon_classical(Steps(k), delta).is_ok_and(|e| e.upper <= epsilon.get());
    let mut high = 1;
    while fits(high) && high < 1 << 40 {
        high *= 2;
    }
    let mut low = 0;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    Steps(low)
}

/// Every model and sampler once, with its budgets.
fn groups() -> Vec<(String, Sampler, Vec<f64>)> {
    let mut groups: Vec<(String, Sampler, Vec<f64>)> = Vec::new();
    let mut add =
        |key: String, sampler: Sampler, budget: f64| match groups.iter_mut().find(|group| group.0 == key) {
            Some(group) => group.2.push(budget),
            None => groups.push((key, sampler, vec![budget])),
        };
    for row in Published::new(ALL).rows() {
        add(
            format!("{} {}", row.text("model"), row.text("algorithm")),
            Sampler::of_all(&row),
            row.number("epsilon"),
        );
    }
    for row in Published::new(BATCHES).rows() {
        add(
            format!("{} {}", row.text("model"), row.text("sampler")),
            Sampler::of_batches(&row),
            row.number("epsilon"),
        );
    }
    groups
}

/// The iterations a published chain took.
pub(crate) fn published_steps(model: &str, sampler: &str, epsilon: f64) -> Option<u64> {
    let find = |table: &Published, name: &str, steps: &str| {
        let mut rows = table.rows();
        let row = rows.find(|row| {
            row.text("model") == model && row.text(name) == sampler && row.number("epsilon") == epsilon
        })?;
        Some(row.number(steps) as u64)
    };
    find(&Published::new(ALL), "algorithm", "steps_exact")
        .or_else(|| find(&Published::new(BATCHES), "sampler", "fourier"))
}

impl Experiment for Iterations {
    fn name(&self) -> &'static str {
        "thesis-6.1"
    }

    fn about(&self) -> &'static str {
        "iterations a budget allows: loose, tight and decision-level accounting, every model of the thesis"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut tasks = Vec::new();
        for (key, sampler, budgets) in groups() {
            // A million decisions take seconds to account for; batches, too.
            let batch = matches!(sampler.kind, Kind::Minibatch { .. } | Kind::Barker { .. });
            let decisions = size == Size::Full;
            if size == Size::Quick && batch && !key.starts_with("easy-2d") {
                continue;
            }
            let settings = format!("{sampler:?} {budgets:?} {decisions}");
            if let Some((name, ..)) = CURVES.iter().find(|(name, ..)| key == format!("easy-2d {name}")) {
                let budgets = size.pick(&FIGURE[1..4], &FIGURE[..]);
                tasks.push(Task::new(
                    format!("figure {name}"),
                    format!("{sampler:?} {budgets:?}"),
                    move || sampler.counts(budgets, true).map_err(|error| error.to_string()),
                ));
            }
            tasks.push(Task::new(key, settings, move || {
                sampler.counts(&budgets, decisions).map_err(|error| error.to_string())
            }));
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        Ok((figure(cells), comparison(cells)))
    }
}

fn figure(cells: &Cells) -> Figure {
    let mut panels = Vec::new();
    for (sampler, title, loose, tight) in CURVES {
        let mut panel = Panel::new(title, Axis::new("ε (δ = 10⁻⁶)"), Axis::new("iterations"));
        for (colour, label, numbers) in [(0, "zCDP or RDP, published", loose), (1, "tight, published", tight)]
        {
            let points = [0.5, 1.0, 2.0, 4.0, 6.0]
                .into_iter()
                .zip(numbers)
                .filter(|point| !point.1.is_nan())
                .collect();
            let style = Style { width: 0.0, radius: 4.5, ..Style::published(label, colour) };
            panel.marks.push(Mark::Line { points, style });
        }
        let key = format!("figure {sampler}");
        for (colour, column, label) in [
            (0, "loose", "zCDP or RDP, barkeep"),
            (1, "tight", "tight, barkeep"),
            (2, "decision", "only the bit paid for, barkeep"),
            (3, "barker", "Barker's test without noise, barkeep"),
        ] {
            let (Some(x), Some(y)) = (cells.numbers(&key, "epsilon"), cells.numbers(&key, column)) else {
                continue;
            };
            let points = x.iter().copied().zip(y.iter().copied()).collect();
            let style = Style { radius: 2.0, ..Style::points(label, colour, Shape::Disc) };
            panel.marks.push(Mark::Line { points, style });
        }
        panels.push(panel);
    }
    let title = "Thesis, figure 6.1: iterations allowed on the flat banana, d = 2";
    Figure { size: (340.0, 310.0), ..Figure::new(title, 3, panels) }
}

fn comparison(cells: &Cells) -> Comparison {
    let mut comparison = Comparison::new("the same accounting (release level)", "only the bit paid for");
    let (mut equal, mut known) = (0, 0);
    let (mut bits, mut minibatch, mut barker): (Vec<f64>, Vec<f64>, Vec<f64>) = Default::default();
    let (all, batches) = (Published::new(ALL), Published::new(BATCHES));
    let rows = all.rows().map(|row| (row, "algorithm", "steps_exact", "steps_zcdp"));
    for (row, sampler, tight, loose) in
        rows.chain(batches.rows().map(|row| (row, "sampler", "fourier", "rdp")))
    {
        let (sampler, epsilon) = (row.text(sampler), row.number("epsilon"));
        let key = format!("{} {sampler}", row.text("model"));
        let Some(index) =
            cells.numbers(&key, "epsilon").and_then(|all| all.iter().position(|e| *e == epsilon))
        else {
            continue;
        };
        let ours = |name: &str| cells.numbers(&key, name).and_then(|found| found.get(index).copied());
        let (published, found) = ([row.number(loose), row.number(tight)], [ours("loose"), ours("tight")]);
        if sampler.starts_with("dpp") || sampler == "hmc" {
            known += 2;
            equal +=
                published.iter().zip(found).filter(|(published, found)| *found == Some(**published)).count();
        }
        let ratio = found[1].map(|found| found / published[1]).filter(|ratio| ratio.is_finite());
        match sampler {
            "barker" => barker.extend(ratio),
            "mdpps" | "mdppa" => minibatch.extend(ratio),
            _ => bits.extend(ours("decision").map(|steps| steps / published[1])),
        }
        let best = ours("decision").map(|penalty| match ours("barker") {
            Some(barker) => format!("{penalty:.0} (Barker without noise {barker:.0})"),
            None => format!("{penalty:.0}"),
        });
        let show = |pair: [Option<f64>; 2]| {
            let text = pair.map(|number| {
                number.filter(|x| !x.is_nan()).map_or_else(|| "-".to_owned(), |x| format!("{x:.0}"))
            });
            format!("{} loose, {} tight", text[0], text[1])
        };
        let what = format!("{key}, ε = {epsilon}");
        comparison.rows.push(Row::new(what, Some(show(published.map(Some))), Some(show(found)), best));
    }
    comparison.notes.push(format!(
        "DP penalty, OCU+GWMH and HMC: {equal} of {known} counts, loose and tight, equal the thesis' exactly."
    ));
    comparison.notes.push(
        "Minibatch samplers differ where the thesis' accountant errs: its RDP sum leaves out one term, its Fourier accountant takes a gap \
         of 2 for a sensitivity of 1 and a Poisson pair for batches without replacement; DP Barker is priced by a certified supremum \
         instead of Theorem 2."
            .to_owned(),
    );
    let ends = |ratios: &[f64]| {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        format!("{least:.2} to {most:.2}")
    };
    for (ratios, what) in [
        (&bits, "DP penalty when only the bit is paid for, proposals capped"),
        (&barker, "DP Barker on batches by the certified supremum"),
        (&minibatch, "minibatch DP penalty by an accountant without the thesis' errors"),
    ] {
        if ratios.is_empty() {
            continue;
        }
        let line =
            format!("Steps at equal ε and δ (`thesis-6.1`): {what}, {} times the published.", ends(ratios));
        if ratios.iter().all(|ratio| *ratio >= 1.0) {
            comparison.better.push(line);
        } else {
            comparison.not_better.push(line);
        }
    }
    if equal < known {
        comparison.not_better.push(format!(
            "Steps at release level (`thesis-6.1`): {} of {known} counts differ.",
            known - equal
        ));
    }
    comparison
}

#[cfg(test)]
mod tests;
