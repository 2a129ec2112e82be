//! Sets the plan's promise beside what runs reach, on designs of every family.

use super::designs::{DESIGNS, Design};
use super::score::{Pooled, kept, promised, score};
use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values};
use crate::replicate::plan;
use barkeep::Plan;
use barkeep_plot::{Axis, Figure, Mark, Panel, Shape, Style};

/// The experiment.
pub(crate) struct Promise;

/// Runs of a design.
const RUNS: u64 = 10;

impl Design {
    fn compute(&self, runs: u64) -> Result<Values, String> {
        let plan = self.plan()?;
        let mut scores = Vec::new();
        for run in 0..runs {
            let (table, posterior) = self.records.records(&plan, 3001 + run)?;
            scores.push(score(&plan, &table, &posterior, self.records.truth, 9000 + run)?);
        }
        Ok(kept(&scores))
    }

    fn plan(&self) -> Result<Plan, String> {
        plan(self.records.text, self.epsilon)
    }

    fn key(&self) -> String {
        format!("{}, ε = {}", self.records.name, self.epsilon)
    }
}

/// A share in words; a dash where nobody knows it.
fn held(share: f64) -> String {
    if share.is_nan() { "-".to_owned() } else { format!("{share:.3}") }
}

impl Experiment for Promise {
    fn name(&self) -> &'static str {
        "promise"
    }

    fn about(&self) -> &'static str {
        "the plan's expected error against measured ones, on designs of every family"
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let runs = size.pick(2, RUNS);
        let task = |design: &'static Design| {
            let settings = format!("{}{:?}{runs}", design.records.text, design.records.truth);
            Task::new(design.key(), settings, move || design.compute(runs))
        };
        Ok(DESIGNS.iter().take(size.pick(1, DESIGNS.len())).map(task).collect())
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let mut comparison = Comparison::new(
            "measured rms / coverage of truth (95 %) / width",
            "promised, measured over promised, verdicts, time",
        );
        let (mut every, mut honest, mut fresh, mut points) = (Pooled::default(), 0, (0, 0), Vec::new());
        for design in &DESIGNS {
            let pooled = Pooled::of(cells, std::iter::once(design.key()));
            if pooled.len() == 0 {
                continue;
            }
            let promised = promised(&design.plan()?);
            let promise = pooled.rms() / promised;
            let is_honest = (0.5..=2.0).contains(&promise);
            honest += usize::from(is_honest);
            fresh.0 += usize::from(is_honest && !design.seen);
            fresh.1 += usize::from(!design.seen);
            points.push((promised, pooled.rms()));
            comparison.rows.push(Row::new(
                format!("{}, {} runs", design.key(), pooled.len()),
                None,
                Some(format!("{:.2} / {} / {:.2}", pooled.rms(), held(pooled.truth()), pooled.width())),
                Some(format!("{promised:.2}; {promise:.2}; {}; {:.1} s", pooled.grades(), pooled.seconds())),
            ));
            every.add(&pooled);
        }
        comparison.notes.extend([
            "Errors and widths are in posterior standard deviations without privacy; no true value is known of records that do not \
             follow their family; verdicts are trustworthy/wide/not to \
             be trusted."
                .to_owned(),
            format!(
                "The promise is within a factor of 2 in {honest} of {} designs: in {} of the {} that had not been measured when the \
                 forecast was written, in {} of the {} that had been and were looked at.",
                points.len(),
                fresh.0,
                fresh.1,
                honest - fresh.0,
                points.len() - fresh.1
            ),
            every.verdicts(),
        ]);
        let mut panel = Panel::new(
            "Promised and measured error, in standard deviations without privacy",
            Axis::log("promised"),
            Axis::log("measured"),
        );
        panel
            .marks
            .push(Mark::Line { points: vec![(0.1, 0.1), (10.0, 10.0)], style: Style::line("equal", 6) });
        panel.marks.push(Mark::Line { points, style: Style::points("designs", 0, Shape::Disc) });
        Ok((Figure::new("What a plan promises on designs it has not seen", 1, vec![panel]), comparison))
    }
}
