//! Measures `noise-aware` on simulated regressions: error, coverage of the true values, width, ranks, promise and verdict.

use super::laplace::{Posterior, Seen};
use super::named;
use super::score::{Pooled, kept, score};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values};
use barkeep::curator::insecure::SharedTable;
use barkeep::curator::{PersonsBuilder, TableBuilder};
use barkeep::data::Unit;
use barkeep::{Plan, PublicRng, Spec};
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};
use std::fmt::Write as _;
use std::path::Path;

/// The experiment.
pub(crate) struct Coverage;

/// Runs of a cell.
const RUNS: u64 = 10;
/// Cells of a model of whole records.
const NAMED: u64 = 5;

/// A kind of records and a budget, and what a run should reach at least.
#[derive(Debug, Clone, Copy)]
struct Case {
    name: &'static str,
    family: &'static str,
    /// Coefficients, the intercept included.
    coefficients: usize,
    /// Records, or persons.
    records: usize,
    /// The most rows of a person, of whom each has any number up to it as often; 1 of records.
    rows: u64,
    epsilon: f64,
    /// Cells of [`RUNS`] runs each.
    cells: u64,
    /// The aims: the median run's error at most, coverage at least, width at most.
    aims: (f64, f64, f64),
}

const fn case(
    name: &'static str,
    family: &'static str,
    (coefficients, records, epsilon): (usize, usize, f64),
    aims: (f64, f64, f64),
) -> Case {
    Case { name, family, coefficients, records, rows: 1, epsilon, cells: 5, aims }
}

/// The aims are those of as many records: errors are in standard deviations of the posterior given all rows.
const fn by_person(name: &'static str, family: &'static str, persons: usize, aims: (f64, f64, f64)) -> Case {
    Case { rows: 9, cells: 1, ..case(name, family, (5, persons, 1.0), aims) }
}

const CASES: [Case; 15] = [
    Case { cells: 20, ..case("logistic, n = 1000", "bernoulli", (5, 1000, 1.0), (1.2, 0.92, 1.8)) },
    case("logistic, n = 3000", "bernoulli", (5, 3000, 1.0), (0.9, 0.92, 1.45)),
    case("logistic, n = 10 000", "bernoulli", (5, 10_000, 1.0), (0.6, 0.91, 1.25)),
    case("logistic, n = 100 000", "bernoulli", (5, 100_000, 1.0), (0.3, 0.91, 1.1)),
    case("logistic, ε = 3, n = 1000", "bernoulli", (5, 1000, 3.0), (0.6, 0.91, 1.35)),
    case("logistic, ε = 0.3, n = 10 000", "bernoulli", (5, 10_000, 0.3), (1.25, 0.92, 1.75)),
    case("logistic, d = 20, n = 10 000", "bernoulli", (20, 10_000, 1.0), (0.95, 0.92, 1.5)),
    case("poisson, n = 1000", "poisson", (5, 1000, 1.0), (2.7, 0.88, 2.8)),
    case("poisson, n = 10 000", "poisson", (5, 10_000, 1.0), (1.1, 0.90, 1.6)),
    case("gaussian, n = 1000", "gaussian", (5, 1000, 1.0), (2.7, 0.88, 2.8)),
    case("gaussian, n = 10 000", "gaussian", (5, 10_000, 1.0), (1.2, 0.90, 1.6)),
    case("gamma, n = 3000", "gamma", (5, 3000, 1.0), (1.7, 0.90, 2.2)),
    Case {
        cells: 5,
        ..by_person("logistic, 3000 persons of 1 to 9 rows", "bernoulli", 3000, (0.9, 0.92, 1.45))
    },
    by_person("poisson, 10 000 persons of 1 to 9 rows", "poisson", 10_000, (1.1, 0.90, 1.6)),
    by_person("gaussian, 10 000 persons of 1 to 9 rows", "gaussian", 10_000, (1.2, 0.90, 1.6)),
];

/// The right end of a picture by case.
const LAST: f64 = CASES.len() as f64 + 0.5;

/// Features have this standard deviation, and each pair this correlation.
const SPREAD: f64 = 0.3;
const CORRELATION: f64 = 0.3;
/// The standard deviation of the predictor.
const PREDICTOR: f64 = 0.7;
/// ln of the residual standard deviation or of the shape.
const NUISANCE: f64 = -0.3;

/// A table that is being filled.
enum Rows {
    Records(TableBuilder),
    Persons(PersonsBuilder),
}

impl Case {
    fn spec(&self) -> String {
        let response = match self.family {
            "bernoulli" => "kind = \"bool\", invalid = false",
            "poisson" => "kind = \"integer\", min = 0, max = 30, invalid = 0",
            "gaussian" => "min = -6, max = 6, invalid = 0",
            _ => "min = 0.001, max = 100, invalid = 1",
        };
        let features: Vec<String> = (1..self.coefficients).map(|j| format!("x{j}")).collect();
        let counted = match self.rows {
            1 => format!("records = {}", self.records),
            most => format!("person = \"who\"\nmost_rows = {most}\npersons = {}", self.records),
        };
        let mut text = format!("[data]\npath = \"simulated\"\n{counted}\n[data.columns]\n");
        // Writing to a string does not fail.
        let _ = writeln!(text, "y = {{ {response} }}");
        for name in &features {
            let _ = writeln!(text, "{name} = {{ min = -1, max = 1, invalid = 0 }}");
        }
        let _ = write!(
            text,
            "[model]\nformula = \"y ~ {}\"\nfamily = \"{}\"\n[privacy]\nepsilon = {}\ndelta = 1e-6\n[sampler]\nname = \"noise-aware\"\n",
            features.join(" + "),
            self.family,
            self.epsilon
        );
        text
    }

    fn plan(&self) -> Result<Plan, String> {
        let spec = Spec::parse(&self.spec(), Path::new("")).map_err(|error| error.to_string())?;
        Plan::new(spec).map_err(|error| error.to_string())
    }

    /// True values: slopes in a random direction, as long as the predictor's spread asks for.
    fn truth(&self, rng: &mut PublicRng) -> Vec<f64> {
        let mut slopes: Vec<f64> = (1..self.coefficients).map(|_| rng.normal()).collect();
        let squares: f64 = slopes.iter().map(|b| b * b).sum();
        let total: f64 = slopes.iter().sum();
        let sd = SPREAD * ((1.0 - CORRELATION) * squares + CORRELATION * total * total).sqrt();
        slopes.iter_mut().for_each(|b| *b *= PREDICTOR / sd);
        let mut truth = vec![if self.family == "poisson" { 0.5 } else { -0.5 }];
        truth.extend(slopes);
        if matches!(self.family, "gaussian" | "gamma") {
            truth.push(NUISANCE);
        }
        truth
    }

    /// Records at θ, for the curator and for the posterior without privacy.
    fn records(
        &self,
        plan: &Plan,
        theta: &[f64],
        rng: &mut PublicRng,
    ) -> Result<(SharedTable, Posterior), String> {
        let model = &**plan.spec().model();
        let fail = |error: barkeep::data::Error| error.to_string();
        let (view, count) = (plan.view().clone(), plan.spec().count());
        let mut records = match plan.spec().data().unit() {
            Unit::Record => Rows::Records(TableBuilder::viewed(view, count).map_err(fail)?),
            Unit::Person { most_rows } => {
                Rows::Persons(PersonsBuilder::new(view, count, most_rows).map_err(fail)?)
            }
        };
        let mut seen = Seen::new(model.columns());
        let (low, high) = plan.view().schema().columns()[0].range();
        let mut row = vec![0.0; self.coefficients];
        let owners = (0..self.records).flat_map(|who| {
            let rows = if self.rows == 1 { 1 } else { 1 + who % self.rows as usize };
            std::iter::repeat_n(who, rows)
        });
        for who in owners {
            let shared = rng.normal();
            for x in &mut row[1..] {
                let normal = CORRELATION.sqrt() * shared + (1.0 - CORRELATION).sqrt() * rng.normal();
                *x = (SPREAD * normal).clamp(-1.0, 1.0);
            }
            model.respond(theta, &mut || rng.open_uniform(), &mut row);
            row[0] = row[0].clamp(low, high);
            match &mut records {
                Rows::Records(builder) => builder.push_row(&row),
                Rows::Persons(builder) => builder.push_row(&who.to_string(), &row),
            }
            .map_err(fail)?;
            seen.push(&row);
        }
        let table = match records {
            Rows::Records(builder) => builder.finish(),
            Rows::Persons(builder) => builder.finish(),
        };
        let table = SharedTable::from(table.map_err(fail)?);
        Ok((table, seen.posterior(plan, theta)?))
    }

    fn compute(&self, cell: u64, runs: u64) -> Result<Values, String> {
        let plan = self.plan()?;
        let mut scores = Vec::new();
        for run in cell * RUNS..cell * RUNS + runs {
            let mut rng = PublicRng::new(2026, run);
            let truth = self.truth(&mut rng);
            let (table, posterior) = self.records(&plan, &truth, &mut rng)?;
            scores.push(score(&plan, &table, &posterior, Some(&truth), 1000 + run)?);
        }
        Ok(kept(&scores))
    }

    fn key(&self, cell: u64) -> String {
        format!("{}, cell {cell}", self.name)
    }

    fn pooled(&self, cells: &Cells) -> Pooled {
        Pooled::of(cells, (0..self.cells).map(|cell| self.key(cell)))
    }
}

/// Coverage of central intervals of nominal levels, from the share of draws below each true value.
fn calibration(ranks: &[f64]) -> Vec<(f64, f64)> {
    let held = |level: f64| ranks.iter().filter(|rank| (2.0 * **rank - 1.0).abs() <= level).count() as f64;
    (1..20)
        .map(|k| f64::from(k) / 20.0)
        .map(|level| (level, held(level) / ranks.len().max(1) as f64))
        .collect()
}

impl Experiment for Coverage {
    fn name(&self) -> &'static str {
        "coverage"
    }

    fn about(&self) -> &'static str {
        "noise-aware posteriors of simulated records: error, coverage, width, promise and verdict"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let cases: Vec<Case> = match size {
            Size::Quick => CASES.into_iter().filter(|case| case.records == 1000).take(2).collect(),
            Size::Full => CASES.to_vec(),
        };
        let runs = size.pick(2, RUNS);
        let most = CASES.iter().map(|case| case.cells).max().unwrap_or(0);
        let mut tasks = Vec::new();
        for cell in 0..size.pick(0, NAMED) {
            for model in named::ALL {
                let settings = format!("{}{runs}", model.spec());
                tasks.push(Task::new(model.key(cell), settings, move || model.compute(cell, runs)));
            }
        }
        // A first cell of every case comes before the second of any; persons, who take longest, come last.
        let mut last = Vec::new();
        for cell in 0..size.pick(1, most) {
            for case in cases.iter().copied().filter(|case| cell < case.cells) {
                let settings = format!("{}{runs}", case.spec());
                let task = Task::new(case.key(cell), settings, move || case.compute(cell, runs));
                if case.rows == 1 { &mut tasks } else { &mut last }.push(task);
            }
        }
        tasks.append(&mut last);
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new(
            "median run / coverage of truth (95 %) / width",
            "rms over median, plan's promise, verdicts",
        )
        .beside("our aim");
        let (mut every, mut reached, mut known, mut honest) = (Pooled::default(), 0, 0, 0);
        let mut points = Vec::new();
        for (place, case) in CASES.into_iter().enumerate() {
            let pooled = case.pooled(cells);
            if pooled.len() == 0 {
                continue;
            }
            known += 1;
            let (run, truth, width) = (pooled.run(), pooled.truth(), pooled.width());
            let (most, least, widest) = case.aims;
            let drift = pooled.rms() / run;
            reached += usize::from(run <= most && truth >= least && width <= widest && drift <= 2.0);
            let promise = pooled.promise(&case.plan()?);
            honest += usize::from((0.5..=2.0).contains(&promise));
            points.push((place as f64 + 1.0, truth));
            comparison.rows.push(Row::new(
                format!("{}, {} runs", case.name, pooled.len()),
                Some(format!("{most:.2} / {least:.2} / {widest:.2}")),
                Some(format!("{run:.2} / {truth:.3} / {width:.2}")),
                Some(format!("{drift:.2}; {promise:.2}; {}; {:.1} s", pooled.grades(), pooled.seconds())),
            ));
            every.add(&pooled);
        }
        let aimed = known;
        for model in named::ALL {
            let pooled = model.pooled(cells, NAMED);
            if pooled.len() == 0 {
                continue;
            }
            known += 1;
            let promise = pooled.promise(&model.plan()?);
            honest += usize::from((0.5..=2.0).contains(&promise));
            comparison.rows.push(Row::new(
                format!("{}, n = 1000, {} runs", model.name, pooled.len()),
                None,
                Some(format!("{:.2} / {:.3} / {:.2}", pooled.run(), pooled.truth(), pooled.width())),
                Some(format!(
                    "{:.2}; {promise:.2}; {}; {:.1} s",
                    pooled.rms() / pooled.run(),
                    pooled.grades(),
                    pooled.seconds()
                )),
            ));
            every.add(&pooled);
        }
        let ranks = CASES[0].pooled(cells).ranks;
        let curve = calibration(&ranks);
        let rms = (curve.iter().map(|(level, held)| (held - level).powi(2)).sum::<f64>()
            / curve.len().max(1) as f64)
            .sqrt();
        comparison.notes.extend([
            "Errors are in posterior standard deviations without privacy; the \
             promise is the root mean square error over the plan's `expected_error`; verdicts are trustworthy/wide/not to \
             be trusted."
                .to_owned(),
            format!(
                "All aims are reached in {reached} of {aimed} cases, the promise is within a factor of 2 in {honest} of {known}. The \
                 models of whole records have no aims."
            ),
            format!("Ranks, {}: root mean square error of coverage {rms:.3} (aim: at most 0.03).", CASES[0].name),
            every.verdicts(),
        ]);
        let mut held = Panel::new(
            "Coverage of the true values by 95 % intervals",
            Axis::new("case").from(0.5, LAST),
            Axis::new("share").from(0.8, 1.0),
        );
        held.marks
            .push(Mark::Line { points: vec![(0.5, 0.95), (LAST, 0.95)], style: Style::line("0.95", 6) });
        held.marks
            .push(Mark::Line { points, style: Style::points("noise-aware", 0, barkeep_plot::Shape::Disc) });
        let mut calibrated = Panel::new(
            format!("Coverage by level, {}", CASES[0].name),
            Axis::new("nominal").from(0.0, 1.0),
            Axis::new("measured").from(0.0, 1.0),
        );
        calibrated
            .marks
            .push(Mark::Line { points: vec![(0.0, 0.0), (1.0, 1.0)], style: Style::line("exact", 6) });
        calibrated.marks.push(Mark::Line { points: curve, style: Style::line("noise-aware", 0) });
        let figure =
            Figure::new("Noise-aware posteriors of simulated regressions", 2, vec![held, calibrated]);
        Ok((figure, comparison))
    }
}
