//! Measures the default sampler on real records: flights, simulated look-alikes, and whatever a folder holds.

use super::laplace::Posterior;
use super::lookalikes::{ALL, LookAlike};
use super::score::{Pooled, Score, kept, score};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values};
use crate::replicate::{plan, plan_in};
use barkeep::Plan;
use barkeep::curator::insecure::SharedTable;
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The experiment.
pub(crate) struct RealData;

/// A folder of further problems, as the command says: `NAME.toml` beside `NAME.reference.json`.
pub(crate) static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Budgets.
const EPSILONS: [f64; 3] = [1.0, 3.0, 0.3];
/// Runs of a problem at a budget.
const RUNS: u64 = 10;
/// Flights from New York in 2013, a table of the program's own tests.
const FLIGHTS: (&str, &str) = (
    include_str!("../../specs/accuracy/flights.toml"),
    include_str!("../../specs/accuracy/flights.reference.json"),
);

/// The posterior without privacy, as a file states it.
#[derive(Deserialize)]
struct Reference {
    names: Vec<String>,
    mean: Vec<f64>,
    sd: Vec<f64>,
}

impl Reference {
    /// In the order of the model's parameters.
    fn posterior(&self, plan: &Plan) -> Result<Posterior, String> {
        let names = plan.spec().model().parameter_names();
        let place = |name: &String| self.names.iter().position(|known| known == name);
        let places: Option<Vec<usize>> = names.iter().map(place).collect();
        let places = places.ok_or("a reference that lacks a parameter")?;
        let of = |numbers: &[f64]| places.iter().map(|place| numbers[*place]).collect();
        Ok(Posterior { mean: of(&self.mean), sd: of(&self.sd) })
    }
}

/// Where records and their posterior come from.
#[derive(Clone)]
enum Source {
    Simulated(&'static LookAlike),
    File { text: String, folder: PathBuf, reference: String },
}

/// A problem.
#[derive(Clone)]
struct Problem {
    name: String,
    source: Source,
}

impl Problem {
    fn plan(&self, epsilon: f64) -> Result<Plan, String> {
        match &self.source {
            Source::Simulated(look_alike) => plan(look_alike.text, epsilon),
            Source::File { text, folder, .. } => plan_in(folder, text, epsilon),
        }
    }

    fn compute(&self, epsilon: f64, runs: u64) -> Result<Values, String> {
        let fail = |error: &dyn std::fmt::Display| error.to_string();
        let mut scores: Vec<Score> = Vec::new();
        let plan = self.plan(epsilon)?;
        match &self.source {
            Source::Simulated(look_alike) => {
                for run in 0..runs {
                    let (table, posterior) = look_alike.records(&plan, 77 + run)?;
                    scores.push(score(&plan, &table, &posterior, None, 500 + run)?);
                }
            }
            Source::File { reference, .. } => {
                let reference: Reference = serde_json::from_str(reference)
                    .map_err(|_| format!("{} has a reference that is not one", self.name))?;
                let posterior = reference.posterior(&plan)?;
                let table = plan.read_records(&mut |_| {}).map_err(|error| fail(&error))?;
                let table = SharedTable::from(table);
                for run in 0..runs {
                    scores.push(score(&plan, &table, &posterior, None, 500 + run)?);
                }
            }
        }
        Ok(kept(&scores))
    }

    fn settings(&self) -> &str {
        match &self.source {
            Source::Simulated(look_alike) => look_alike.text,
            Source::File { text, .. } => text,
        }
    }

    fn key(&self, epsilon: f64) -> String {
        format!("{}, ε = {epsilon}", self.name)
    }
}

/// Flights, look-alikes, and what the folder holds.
fn problems() -> Result<Vec<Problem>, String> {
    let mut all = vec![Problem {
        name: "flights: logistic".to_owned(),
        source: Source::File {
            text: FLIGHTS.0.to_owned(),
            folder: Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/barkeep-cli/data"),
            reference: FLIGHTS.1.to_owned(),
        },
    }];
    all.extend(ALL.iter().map(|one| Problem { name: one.name.to_owned(), source: Source::Simulated(one) }));
    let Some(folder) = FOLDER.get() else { return Ok(all) };
    let fail =
        |path: &Path, error: std::io::Error| format!("cannot read {}: {}", path.display(), error.kind());
    let mut specs: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(|error| fail(folder, error))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    specs.sort();
    for path in specs {
        let beside = path.with_extension("reference.json");
        let read = |path: &Path| std::fs::read_to_string(path).map_err(|error| fail(path, error));
        let source = Source::File { text: read(&path)?, folder: folder.clone(), reference: read(&beside)? };
        let name = path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        all.push(Problem { name, source });
    }
    Ok(all)
}

impl Experiment for RealData {
    fn name(&self) -> &'static str {
        "real-data"
    }

    fn about(&self) -> &'static str {
        "the default sampler on flights and on records that break the model; others by --records FOLDER"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let mut problems = problems()?;
        let runs = size.pick(2, RUNS);
        if size == Size::Quick {
            problems.retain(|problem| problem.name.starts_with("defaults"));
        }
        let mut tasks = Vec::new();
        for epsilon in EPSILONS.into_iter().take(size.pick(1, 3)) {
            for problem in &problems {
                let settings = format!("{}{epsilon}{runs}", problem.settings());
                let (key, problem) = (problem.key(epsilon), problem.clone());
                tasks.push(Task::new(key, settings, move || problem.compute(epsilon, runs)));
            }
        }
        Ok(tasks)
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison =
            Comparison::new("median run / width / coverage (89 %)", "promise, verdicts, time");
        let mut panel = Panel::new(
            "Coverage of the mean without privacy by 89 % intervals",
            Axis::new("error of the median run, in standard deviations without privacy").from(0.0, 8.0),
            Axis::new("share").from(0.0, 1.0),
        );
        panel
            .marks
            .push(Mark::Line { points: vec![(0.0, 0.89), (8.0, 0.89)], style: Style::line("0.89", 6) });
        let (mut every, mut honest, mut known) = (Pooled::default(), 0, 0);
        for (colour, epsilon) in EPSILONS.into_iter().enumerate() {
            let mut points = Vec::new();
            for problem in problems()? {
                let key = problem.key(epsilon);
                let pooled = Pooled::of(cells, std::iter::once(key.clone()));
                if pooled.len() == 0 {
                    continue;
                }
                known += 1;
                let promise = pooled.promise(&problem.plan(epsilon)?);
                honest += usize::from((0.5..=2.0).contains(&promise));
                points.push((pooled.run().min(8.0), pooled.cover()));
                comparison.rows.push(Row::new(
                    format!("{key}, {} runs", pooled.len()),
                    None,
                    Some(format!("{:.2} / {:.2} / {:.2}", pooled.run(), pooled.width(), pooled.cover())),
                    Some(format!("{promise:.2}; {}; {:.1} s", pooled.grades(), pooled.seconds())),
                ));
                every.add(&pooled);
            }
            let style = Style::points(format!("ε = {epsilon}"), colour, barkeep_plot::Shape::Disc);
            panel.marks.push(Mark::Line { points, style });
        }
        comparison.notes.extend([
            "Errors and widths are in posterior standard deviations without privacy; the promise is the root mean square error \
             over the plan's `expected_error`; verdicts are trustworthy/wide/not to be trusted."
                .to_owned(),
            format!("The promise is within a factor of 2 in {honest} of {known} cells."),
            every.verdicts(),
        ]);
        Ok((Figure::new("Private posteriors of real and of realistic records", 1, vec![panel]), comparison))
    }
}
