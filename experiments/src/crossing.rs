//! Measures where Langevin dynamics in learned coordinates overtake noise-aware scores: both, on the same growing tables.
//!
//! The default sampler prefers dynamics from a diffusion time of 400 on. Here both branches run at each number of records,
//! whatever the rule would say, and their means are compared with the posterior without privacy.

use crate::accuracy::laplace::{Posterior, Seen};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use barkeep::curator::TableBuilder;
use barkeep::curator::insecure::SharedTable;
use barkeep::insecure::Insecure;
use barkeep::{Fact, Plan, PublicRng, Spec};
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};
use std::fmt::Write as _;
use std::path::Path;

/// The experiment.
pub(crate) struct Crossing;

/// Coefficients with the intercept; features of sd 0.3 within [−1, 1], each pair with correlation 0.3.
const COEFFICIENTS: usize = 5;
const SPREAD: f64 = 0.3;
const CORRELATION: f64 = 0.3;
/// The slopes and the intercept: a predictor of sd 0.7.
const TRUTH: [f64; COEFFICIENTS] = [-0.5, 1.4, -1.1, 0.9, 0.6];
/// ln of the residual standard deviation.
const LOG_SD: f64 = -0.3;
/// Tables of each size.
const REPEATS: u64 = 6;

const FAMILIES: [&str; 2] = ["bernoulli", "gaussian"];
const RECORDS: [usize; 5] = [30_000, 100_000, 300_000, 1_000_000, 3_000_000];
const BRANCHES: [(&str, &str); 2] =
    [("scores", "name = 'noise-aware'"), ("dynamics", "name = 'langevin'\nprecondition = 'learned'")];

fn plan(family: &str, records: usize, sampler: &str, seed: u64) -> Result<Plan, String> {
    let response = if family == "bernoulli" {
        "kind = 'bool', invalid = false"
    } else {
        "min = -6, max = 6, invalid = 0"
    };
    let names: Vec<String> = (1..COEFFICIENTS).map(|j| format!("x{j}")).collect();
    let mut text =
        format!("[data]\npath = 'simulated'\nrecords = {records}\n[data.columns]\ny = {{ {response} }}\n");
    for name in &names {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name} = {{ min = -1, max = 1, invalid = 0 }}");
    }
    let _ = write!(
        text,
        "[model]\nformula = 'y ~ {}'\nfamily = '{family}'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n[sampler]\n{sampler}\n\
         seed = {seed}\n",
        names.join(" + ")
    );
    let spec = Spec::parse(&text, Path::new("")).map_err(|error| error.to_string())?;
    Plan::new(spec).map_err(|error| error.to_string())
}

/// Simulated records: features with a leading 1 and responses, one after the other.
struct Simulated {
    features: Vec<f64>,
    responses: Vec<f64>,
}

impl Simulated {
    fn new(family: &str, records: usize, seed: u64) -> Self {
        let mut rng = PublicRng::new(seed, 10);
        let mut all = Self { features: Vec::new(), responses: Vec::with_capacity(records) };
        for _ in 0..records {
            let shared = rng.normal() * CORRELATION.sqrt();
            let mut line = TRUTH[0];
            all.features.push(1.0);
            for slope in &TRUTH[1..] {
                let own = rng.normal() * (1.0 - CORRELATION).sqrt();
                let x = (SPREAD * (shared + own)).clamp(-1.0, 1.0);
                all.features.push(x);
                line += slope * x;
            }
            all.responses.push(if family == "bernoulli" {
                f64::from(u8::from(rng.uniform() < 1.0 / (1.0 + (-line).exp())))
            } else {
                (line + LOG_SD.exp() * rng.normal()).clamp(-6.0, 6.0)
            });
        }
        all
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], f64)> {
        self.features.chunks_exact(COEFFICIENTS).zip(self.responses.iter().copied())
    }

    fn table(&self, plan: &Plan) -> Result<SharedTable, String> {
        let fail = |error: barkeep::data::Error| error.to_string();
        let mut builder = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).map_err(fail)?;
        let mut row = vec![0.0; COEFFICIENTS];
        for (features, response) in self.rows() {
            row[0] = response;
            row[1..].copy_from_slice(&features[1..]);
            builder.push_row(&row).map_err(fail)?;
        }
        Ok(SharedTable::from(builder.finish().map_err(fail)?))
    }

    /// The posterior without privacy.
    fn posterior(&self, plan: &Plan) -> Result<Posterior, String> {
        let mut seen = Seen::new(COEFFICIENTS);
        let mut row = vec![0.0; COEFFICIENTS];
        for (features, response) in self.rows() {
            row[0] = response;
            row[1..].copy_from_slice(&features[1..]);
            seen.push(&row);
        }
        let model = &**plan.spec().model();
        let start: Vec<f64> = TRUTH.into_iter().chain([LOG_SD]).take(model.dimension()).collect();
        seen.posterior(plan, &start)
    }
}

/// The root mean square error of the reported means, in posterior standard deviations, table by table; and diffusion time.
fn compute(family: &str, records: usize, sampler: &str, size: Size) -> Result<Values, String> {
    let (mut errors, mut widths, mut time) = (Vec::new(), Vec::new(), 0.0);
    for seed in 0..size.pick(1, REPEATS) {
        let plan = plan(family, records, sampler, seed)?;
        let data = Simulated::new(family, records, seed);
        let Posterior { mean, sd } = data.posterior(&plan)?;
        let run = plan
            .runner()
            .run_shared(&data.table(&plan)?, Insecure::seed(seed))
            .map_err(|error| error.to_string())?;
        let found = &run.summary().parameters;
        let squares = found
            .iter()
            .zip(mean.iter().zip(&sd))
            .map(|(found, (mean, sd))| found.mean.map_or(f64::NAN, |found| ((found - mean) / sd).powi(2)));
        errors.push((squares.sum::<f64>() / mean.len() as f64).sqrt());
        let ratios = found.iter().zip(&sd).map(|(found, sd)| found.sd.unwrap_or(f64::NAN) / sd);
        widths.push(ratios.sum::<f64>() / sd.len() as f64);
        time = plan.fact("diffusion_time").and_then(Fact::as_number).unwrap_or(0.0);
    }
    Ok(values([("errors", errors), ("widths", widths), ("time", vec![time])]))
}

fn key(family: &str, records: usize, branch: &str) -> String {
    format!("{family}, n = {records}, {branch}")
}

/// The median.
fn median(numbers: &[f64]) -> Option<f64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

impl Experiment for Crossing {
    fn name(&self) -> &'static str {
        "crossing"
    }

    fn about(&self) -> &'static str {
        "noise-aware scores against Langevin dynamics in learned coordinates, at growing numbers of records (ours)"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut tasks = Vec::new();
        for records in RECORDS.into_iter().take(size.pick(1, RECORDS.len())) {
            for family in FAMILIES {
                for (branch, sampler) in BRANCHES {
                    let settings = format!("{sampler} {TRUTH:?} {REPEATS}");
                    tasks.push(Task::new(key(family, records, branch), settings, move || {
                        compute(family, records, sampler, size)
                    }));
                }
            }
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new("error of scores, in sd", "error of dynamics, in sd");
        let mut panels = Vec::new();
        for family in FAMILIES {
            let mut panel = Panel::new(
                format!("{family}, five coefficients, ε = 1"),
                Axis::log("records"),
                Axis::log("median rms error, in posterior sd"),
            );
            for (colour, (branch, _)) in BRANCHES.into_iter().enumerate() {
                let at = |records: usize| {
                    let errors = cells.numbers(&key(family, records, branch), "errors")?;
                    median(errors).map(|error| (records as f64, error))
                };
                let points = RECORDS.into_iter().filter_map(at).collect();
                let style = Style::points(branch, colour, Shape::Disc);
                panel.marks.push(Mark::Line { points, style });
            }
            panels.push(panel);
            for records in RECORDS {
                let shown = |branch: &str| {
                    let key = key(family, records, branch);
                    let error = median(cells.numbers(&key, "errors")?)?;
                    let width = median(cells.numbers(&key, "widths")?)?;
                    Some(format!("{error:.2} (width {width:.2})"))
                };
                let time = cells.number(&key(family, records, "dynamics"), "time");
                let time = time.map_or_else(String::new, |time| format!(", time {time:.0} expected"));
                comparison.rows.push(Row::new(
                    format!("{family}, n = {records}{time}"),
                    None,
                    shown("scores"),
                    shown("dynamics"),
                ));
            }
        }
        comparison.notes.push(
            "Both branches run at every n, whatever the rule says. `auto` takes dynamics from a diffusion time of 400 on.".to_owned(),
        );
        Ok((Figure::new("Where dynamics overtake scores", 2, panels), comparison))
    }
}
