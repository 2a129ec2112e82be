//! Which length of a step serves best under a budget: error of a posterior mean against step and acceptance, what the defaults of `barker`,
//! `penalty` and `dp-hmc` rest on.
//!
//! Records are standard normal in d dimensions, n = 10⁵, so that a posterior standard deviation is 1/√n and everything can be said in its units.
//! Each run has the whole budget, ε = 4 and δ = 10⁻⁶, and buys as many steps as that allows at its own price. A record's clip is √d + 1.5
//! throughout, as in the rule for diffusions.

use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use crate::replicate::{plan, runs, simulate};
use barkeep::PublicRng;
use barkeep::accounting::Steps;
use barkeep::curator::insecure::SharedTable;
use barkeep::model::GaussianMean;
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};
use std::sync::{Arc, OnceLock};

/// The experiment.
pub(crate) struct Acceptance;

const RECORDS: usize = 100_000;
const DIMENSIONS: [usize; 3] = [2, 8, 20];
const CHAINS: usize = 4;
const EPSILON: f64 = 4.0;

/// A sampler whose step is varied.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stepper {
    Barker,
    Penalty,
    Path,
    PathWithFriction,
}

impl Stepper {
    const ALL: [Self; 4] = [Self::Barker, Self::Penalty, Self::Path, Self::PathWithFriction];

    fn name(self) -> &'static str {
        match self {
            Self::Barker => "barker",
            Self::Penalty => "penalty",
            Self::Path => "dp-hmc",
            Self::PathWithFriction => "dp-hmc with friction",
        }
    }

    /// What is varied: of walks the root mean square length of a step, of paths the time η of a leapfrog step, in posterior standard deviations.
    fn steps(self) -> &'static [f64] {
        match self {
            Self::Barker | Self::Penalty => &[0.3, 0.5, 0.7, 1.0, 1.4, 2.0],
            Self::Path | Self::PathWithFriction => &[0.05, 0.1, 0.2, 0.4, 0.8],
        }
    }

    /// The `[sampler]` section for a step in posterior standard deviations.
    fn section(self, dimension: usize, step: f64) -> String {
        let (d, n) = (dimension as f64, RECORDS as f64);
        let clip = d.sqrt() + 1.5;
        let start = vec!["0.0"; dimension].join(", ");
        let walk = format!("clip = {clip:.6}\nproposal_sd = {:e}\nstart = [{start}]", step / (d * n).sqrt());
        let path = format!(
            "tau = 0.1\ntau_gradient = 0.2\nleapfrog = 5\nclip = {clip:.6}\nclip_gradient = {clip:.6}\nmass = {n:.1}\nstep = {step}\n\
             start = [{start}]"
        );
        match self {
            Self::Barker => format!("name = 'barker'\n{walk}"),
            Self::Penalty => format!("name = 'penalty'\ntau = 0.1\n{walk}"),
            Self::Path => format!("name = 'dp-hmc'\n{path}"),
            Self::PathWithFriction => format!("name = 'dp-hmc'\nfriction = true\n{path}"),
        }
    }
}

fn key(stepper: Stepper, dimension: usize, step: f64) -> String {
    format!("{} d={dimension} step={step}", stepper.name())
}

/// Records and their means, made when the first cell needs them.
type Records = Arc<OnceLock<Result<(SharedTable, Vec<f64>), String>>>;

fn made(shared: &Records, dimension: usize) -> Result<&(SharedTable, Vec<f64>), String> {
    let make = || {
        let model =
            GaussianMean::independent(&vec![1.0; dimension], 100.0).map_err(|error| error.to_string())?;
        let (table, columns) = simulate(&model, &vec![0.0; dimension], RECORDS, 7)?;
        let mean = |column: &Vec<f64>| column.iter().sum::<f64>() / (RECORDS as f64 + 0.01);
        Ok((table, columns.iter().map(mean).collect()))
    };
    shared.get_or_init(make).as_ref().map_err(Clone::clone)
}

/// Root mean square error of the mean of a chain's second half, in posterior standard deviations, over coordinates and chains.
fn measure(
    shared: &Records,
    stepper: Stepper,
    dimension: usize,
    step: f64,
    size: Size,
) -> Result<Values, String> {
    let (table, mean) = made(shared, dimension)?;
    let columns: String =
        (1..=dimension).map(|j| format!("x{j} = {{ min = -100, max = 100, invalid = 0 }}\n")).collect();
    let spec = format!(
        "[data]\npath = 'simulated'\nrecords = {RECORDS}\n[data.columns]\n{columns}[model]\nname = 'gaussian'\nprior_variance = 100\n\
         [privacy]\nepsilon = 1\ndelta = 1e-6\n[sampler]\n{}\n",
        stepper.section(dimension, step)
    );
    let plan = plan(&spec, EPSILON)?;
    let plan = size.pick(plan.stopping_after(Steps(200)), plan);
    let half = usize::try_from(plan.steps().0 / 2).unwrap_or(usize::MAX);
    let sd = (RECORDS as f64 + 0.01).sqrt().recip();
    let mut rng = PublicRng::new(3, 0);
    let start = |rng: &mut PublicRng| mean.iter().map(|mean| mean + sd * rng.normal()).collect();
    let starts: Vec<Vec<f64>> = (0..size.pick(1, CHAINS)).map(|_| start(&mut rng)).collect();
    let (mut errors, mut accepted) = (Vec::new(), Vec::new());
    for draws in runs(&plan, table, &starts, 40, None)? {
        let kept = draws.pooled(half);
        let count = (kept.len() / dimension) as f64;
        for (j, mean) in mean.iter().enumerate() {
            let found = kept.iter().skip(j).step_by(dimension).sum::<f64>() / count;
            errors.push((found - mean) / sd);
        }
        accepted.extend(draws.acceptance(0));
    }
    let square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let accepted = accepted.iter().sum::<f64>() / accepted.len() as f64;
    let steps = plan.steps().0 as f64;
    Ok(values([("error", vec![square.sqrt()]), ("accepted", vec![accepted]), ("steps", vec![steps])]))
}

/// Of a sampler's steps the one whose error is nearest the least of its dimension, on average of logarithms over dimensions, with that average.
fn best(cells: &Cells, stepper: Stepper) -> Option<(f64, f64)> {
    let error = |dimension: usize, step: f64| cells.number(&key(stepper, dimension, step), "error");
    let excess = |step: f64| -> Option<f64> {
        let mut sum = 0.0;
        for dimension in DIMENSIONS {
            let least = stepper.steps().iter().filter_map(|step| error(dimension, *step)).reduce(f64::min)?;
            sum += (error(dimension, step)? / least).ln() / DIMENSIONS.len() as f64;
        }
        Some(sum)
    };
    let all = stepper.steps().iter().filter_map(|step| Some((*step, excess(*step)?)));
    all.min_by(|a, b| a.1.total_cmp(&b.1))
}

impl Experiment for Acceptance {
    fn name(&self) -> &'static str {
        "acceptance"
    }

    fn about(&self) -> &'static str {
        "steps and acceptance under a budget, and which serve best: what default steps rest on (ours)"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut tasks = Vec::new();
        for dimension in size.pick(&DIMENSIONS[..1], &DIMENSIONS[..]) {
            let shared = Records::default();
            for stepper in Stepper::ALL {
                for &step in stepper.steps().iter().step_by(size.pick(3, 1)) {
                    let (shared, dimension) = (Arc::clone(&shared), *dimension);
                    let settings = stepper.section(dimension, step);
                    tasks.push(Task::new(key(stepper, dimension, step), settings, move || {
                        measure(&shared, stepper, dimension, step, size)
                    }));
                }
            }
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new("error of a mean in posterior sd", "accepted, steps bought");
        let mut panels = Vec::new();
        for stepper in Stepper::ALL {
            let axis = Axis::log("step, in posterior sd").at(stepper.steps());
            let mut panel = Panel::new(stepper.name(), axis, Axis::log("error of a mean"));
            for (colour, dimension) in DIMENSIONS.into_iter().enumerate() {
                let mut points = Vec::new();
                for &step in stepper.steps() {
                    let key = key(stepper, dimension, step);
                    let number = |name: &str| cells.number(&key, name);
                    let (Some(error), Some(accepted), Some(steps)) =
                        (number("error"), number("accepted"), number("steps"))
                    else {
                        continue;
                    };
                    points.push((step, error));
                    comparison.rows.push(Row::new(
                        format!("{}, d = {dimension}, step {step}", stepper.name()),
                        None,
                        Some(format!("{error:.3}")),
                        Some(format!("{:.0} %, {steps}", 100.0 * accepted)),
                    ));
                }
                let style = Style::points(format!("d = {dimension}"), colour, Shape::Disc);
                panel.marks.push(Mark::Line { points, style });
            }
            panels.push(panel);
            if let Some((step, excess)) = best(cells, stepper) {
                let rates: Vec<String> = DIMENSIONS
                    .iter()
                    .filter_map(|d| cells.number(&key(stepper, *d, step), "accepted"))
                    .map(|rate| format!("{:.0} %", 100.0 * rate))
                    .collect();
                comparison.notes.push(format!(
                    "{}: one step for all dimensions is best at {step} posterior standard deviations, {:.0} % above the least errors; accepted {} at d = \
                     2, 8 and 20.",
                    stepper.name(),
                    100.0 * excess.exp_m1(),
                    rates.join(", ")
                ));
            }
        }
        comparison.notes.push(
            "Steps of walks are root mean square lengths, of paths the time of one of five leapfrog steps with the posterior's precision as mass. Errors are \
             root mean squares over coordinates and four runs, off by some tenths of themselves."
                .to_owned(),
        );
        let title = "Error of a posterior mean under a budget against the length of a step (ε = 4)";
        Ok((Figure { size: (430.0, 300.0), ..Figure::new(title, 2, panels) }, comparison))
    }
}
