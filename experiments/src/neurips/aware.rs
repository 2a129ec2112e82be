//! The mixture of figures 2 and 3 by noise-aware scores, beside Barker and SGLD: the same records, of which all count.

use super::exact::{Posterior, Range, moments};
use super::mixture::{BEST, Records, SGLD, Sampler, chain, exact, posterior_panel, records, run_key};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use crate::published::{mean_and_variance, quartiles};
use crate::replicate::{plan, runs};
use barkeep::model::Mixture as Model;
use barkeep_plot::{Figure, Mark, Style};
use std::sync::Arc;

/// The experiment.
pub(crate) struct Aware;

const SPEC: &str = include_str!("../../specs/neurips-mixture/noise-aware.toml");
const EPSILON: f64 = 0.15;
const RUNS: u64 = 10;
const NODES: usize = 61;
/// Round the values that records were made with.
const NEAR: Range = Range { x: (-0.03, 0.03), y: (0.94, 1.06) };

fn key(run: u64) -> String {
    format!("noise-aware run={run}")
}

/// Both components may change places: (θ₁, θ₂) and (θ₁ + θ₂, −θ₂) are one law. The one with θ₂ > 0.
fn unfolded(x: f64, y: f64) -> (f64, f64) {
    if y < 0.0 { (x + y, -y) } else { (x, y) }
}

/// The untempered posterior near the true values.
fn near(shared: &Records) -> Result<Values, String> {
    let (_, column) = records(shared)?;
    let model = Model::new(2.0, [10.0, 1.0]).map_err(|error| error.to_string())?;
    let grid = Posterior::new(&model, column, column.len() as f64).grid(NODES, NEAR);
    let moments = moments(&grid, NODES, NEAR).to_vec();
    let most = grid.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let grid = grid.iter().map(|log| ((log - most) * 1e3).round() / 1e3).collect();
    Ok(values([("moments", moments), ("grid", grid)]))
}

/// One run: moments of its draws brought to one mode, the share that was in the other, and draws.
fn run(shared: &Records, run: u64) -> Result<Values, String> {
    let (table, _) = records(shared)?;
    let plan = plan(SPEC, EPSILON)?;
    let draws = runs(&plan, &table, &[vec![0.0, 0.0]], 500 + run, None)?;
    let chain = draws.first().and_then(|draws| draws.chains().first()).ok_or("no chain")?;
    let (x, y) = (chain.series(0, 0), chain.series(1, 0));
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for (x, y) in x.iter().zip(&y) {
        let (x, y) = unfolded(*x, *y);
        first.push(x);
        second.push(y);
    }
    let swapped = y.iter().filter(|y| **y < 0.0).count() as f64 / y.len().max(1) as f64;
    let [(mean_1, variance_1), (mean_2, variance_2)] =
        [mean_and_variance(&first), mean_and_variance(&second)];
    let mut found =
        values([("moments", vec![mean_1, mean_2, variance_1, variance_2]), ("swapped", vec![swapped])]);
    if run == 1 {
        let rounded = |all: &[f64]| all.iter().map(|x| (x * 1e4).round() / 1e4).collect::<Vec<_>>();
        found.insert("x".to_owned(), rounded(&x));
        found.insert("y".to_owned(), rounded(&y));
    }
    Ok(found)
}

impl Experiment for Aware {
    fn name(&self) -> &'static str {
        "mixture"
    }

    fn about(&self) -> &'static str {
        "the papers' mixture by noise-aware scores beside Barker and SGLD, on the same records"
    }

    fn store(&self) -> &'static str {
        "neurips-mixture"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let shared = Records::default();
        let mut tasks = Vec::new();
        let at = Arc::clone(&shared);
        tasks.push(Task::new("near", "", move || near(&at)));
        for number in 1..=size.pick(1, RUNS) {
            let shared = Arc::clone(&shared);
            tasks.push(Task::new(key(number), SPEC, move || run(&shared, number)));
        }
        if size == Size::Full {
            let known = Arc::clone(&shared);
            tasks.push(Task::new("exact", "", move || exact(&known, size)));
            for sampler in [&BEST, &SGLD] {
                let shared = Arc::clone(&shared);
                tasks.push(Task::new(run_key(sampler, 1), sampler.spec, move || {
                    chain(&shared, sampler, 1, size)
                }));
            }
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison =
            Comparison::new("10⁶ records counted as 100: Barker, SGLD", "all records: noise-aware");
        let numbers = |key: &str, name: &str| cells.numbers(key, name).unwrap_or_default();
        let points = |key: &str| -> Vec<(f64, f64)> {
            numbers(key, "x").iter().copied().zip(numbers(key, "y").iter().copied()).collect()
        };
        // The root mean square distance of draws from what records were made with, each parameter by itself.
        let distance = |key: &str| {
            let all = points(key);
            let root = |of: &dyn Fn((f64, f64)) -> f64| {
                (all.iter().map(|(x, y)| of(unfolded(*x, *y)).powi(2)).sum::<f64>() / all.len() as f64).sqrt()
            };
            (!all.is_empty()).then(|| format!("{:.4}, {:.4}", root(&|at| at.0), root(&|at| at.1 - 1.0)))
        };
        let others = |of: &dyn Fn(&Sampler) -> Option<String>| {
            let all: Option<Vec<String>> = [&BEST, &SGLD].into_iter().map(of).collect();
            all.map(|all| all.join("; "))
        };
        let epsilon = |sampler: &Sampler| {
            cells.number(&run_key(sampler, 1), "epsilon").map(|epsilon| format!("{epsilon:.2}"))
        };
        comparison.rows.push(Row::new("ε", None, others(&epsilon), Some(format!("{EPSILON:.2}"))));
        comparison.rows.push(Row::new(
            "rms distance of a draw from the true θ₁, θ₂",
            None,
            others(&|sampler| distance(&run_key(sampler, 1))),
            distance(&key(1)),
        ));
        let exact = numbers("near", "moments");
        let runs: Vec<&[f64]> = (1..=RUNS).filter_map(|run| cells.numbers(&key(run), "moments")).collect();
        if let (4, false) = (exact.len(), runs.is_empty()) {
            for (j, name) in ["θ₁", "θ₂"].into_iter().enumerate() {
                let sd = exact[j + 2].sqrt();
                let off: Vec<f64> = runs.iter().map(|run| (run[j] - exact[j]).abs() / sd).collect();
                let own: Vec<f64> =
                    runs.iter().map(|run| (run[j] - exact[j]).abs() / run[j + 2].sqrt()).collect();
                let wide: Vec<f64> = runs.iter().map(|run| run[j + 2].sqrt() / sd).collect();
                let median = |all: &[f64]| quartiles(all).map_or(f64::NAN, |[_, median, _]| median);
                let held = own.iter().filter(|off| **off <= 1.6).count();
                comparison.rows.push(Row::new(
                    format!("{name}: exact sd, error and width in it, runs that hold the exact mean"),
                    None,
                    None,
                    Some(format!(
                        "{sd:.4}; {:.2}; {:.2}; {held} of {}",
                        median(&off),
                        median(&wide),
                        runs.len()
                    )),
                ));
            }
        }
        let swapped: Vec<f64> = (1..=RUNS).filter_map(|run| cells.number(&key(run), "swapped")).collect();
        if let Some([low, _, high]) = quartiles(&swapped) {
            comparison.notes.push(format!(
                "Both components may change places, so the posterior has two modes that mirror each other. Of a noise-aware run's draws \
                 {:.0} to {:.0} % (quartiles of runs) lie round the second.",
                100.0 * low,
                100.0 * high
            ));
        }
        comparison.notes.push(
            "Barker and SGLD need a tempered posterior, whose draws spread 100 times as far as the records would allow. \
             Noise-aware scores refuse tempering and need none."
                .to_owned(),
        );
        let cloud = |key: &str, colour: usize| Mark::Line {
            points: points(key),
            style: Style::cloud("draws (thinned)", colour, 1.3, 0.35),
        };
        let tempered = numbers("exact", "grid");
        let titled = |name: &str, sampler: &Sampler| {
            format!("{name}, ε = {}, tempered", epsilon(sampler).unwrap_or_default())
        };
        let panels = vec![
            posterior_panel(titled("Barker", &BEST), tempered, Range::WHOLE, cloud(&run_key(&BEST, 1), 2)),
            posterior_panel(titled("SGLD", &SGLD), tempered, Range::WHOLE, cloud(&run_key(&SGLD, 1), 6)),
            posterior_panel(format!("noise-aware, ε = {EPSILON}"), &[], Range::WHOLE, cloud(&key(1), 0)),
            posterior_panel("noise-aware, one mode", numbers("near", "grid"), NEAR, cloud(&key(1), 0)),
        ];
        let title = "The mixture of NeurIPS 2019: tempered chains, and noise-aware scores of all records";
        Ok((Figure { size: (360.0, 340.0), ..Figure::new(title, 2, panels) }, comparison))
    }
}
