//! Figures 1a and 1b: ε of the minibatch Barker sampler against sampling rate and against iterations.

use crate::experiment::{Cells, Comparison, Experiment, Row, Size, Task, Values, values};
use crate::published::Published;
use barkeep::accounting::renyi::RenyiComposition;
use barkeep::accounting::theorems::barker::corollary_2;
use barkeep::accounting::{BarkerBound, Delta, Error, Query, Steps};
use barkeep_plot::{Axis, Figure, Mark, Panel, Style};

/// What ε is shown against.
pub(crate) enum Budget {
    /// The sampling rate q, after 5000 and 10 000 steps.
    Rate,
    /// The number of steps, at q = 0.001.
    Steps,
}

const RECORDS: [u64; 3] = [100_000, 1_000_000, 10_000_000];

impl Budget {
    fn published(&self) -> Published {
        Published::new(match self {
            Self::Rate => include_str!("../../published/neurips-1a.csv"),
            Self::Steps => include_str!("../../published/neurips-1b.csv"),
        })
    }

    /// The settings of the cells: records and rate, and the steps of each.
    fn settings(&self) -> Vec<(u64, f64, Vec<u64>)> {
        let mut found: Vec<(u64, f64, Vec<u64>)> = Vec::new();
        for row in self.published().rows() {
            let (records, rate, steps) =
                (row.number("records") as u64, row.number("rate"), row.number("steps") as u64);
            match found.iter_mut().find(|cell| cell.0 == records && cell.1 == rate) {
                Some(cell) => cell.2.push(steps),
                None => found.push((records, rate, vec![steps])),
            }
        }
        found
    }
}

fn key(records: u64, rate: f64) -> String {
    format!("N={records} q={rate}")
}

/// ε by the published theorem and its conversion, and by the certified supremum, for each number of steps.
fn compute(records: u64, rate: f64, steps: &[u64]) -> Result<Values, Error> {
    let batch = (rate * records as f64).round() as u64;
    let delta = Delta::new(1.0 / records as f64)?;
    let mut paper =
        RenyiComposition::new(vec![(Box::new(corollary_2(batch, records, BarkerBound::Paper)?), Steps(1))]);
    let tight = Query::barker_minibatch(batch, records, BarkerBound::Tight)?;
    let (mut method, mut best) = (Vec::new(), Vec::new());
    for &k in steps {
        method.push(paper.epsilon_classical(Steps(k), delta)?.upper);
        best.push(tight.epsilon(Steps(k), delta)?.bracket.upper);
    }
    let steps = steps.iter().map(|&k| k as f64).collect();
    Ok(values([("steps", steps), ("theorem", method), ("tight", best)]))
}

impl Experiment for Budget {
    fn name(&self) -> &'static str {
        match self {
            Self::Rate => "neurips-1a",
            Self::Steps => "neurips-1b",
        }
    }

    fn about(&self) -> &'static str {
        match self {
            Self::Rate => "ε of minibatch DP Barker against the sampling rate, N = 10⁵ to 10⁷",
            Self::Steps => "ε of minibatch DP Barker against the iterations, N = 10⁵ to 10⁷",
        }
    }

    fn tasks(&self, size: Size) -> Result<Vec<Task>, String> {
        let chosen =
            |index: usize| size == Size::Full || matches!(self, Self::Steps) || index.is_multiple_of(5);
        let settings = self.settings().into_iter().enumerate().filter(|(index, _)| chosen(*index));
        Ok(settings
            .map(|(_, (records, rate, steps))| {
                Task::new(key(records, rate), format!("{steps:?}"), move || {
                    compute(records, rate, &steps).map_err(|error| error.to_string())
                })
            })
            .collect())
    }

    fn show(&self, cells: &Cells) -> Result<(Figure, Comparison), String> {
        let ours = |records: u64, rate: f64, steps: u64, name: &str| {
            let key = key(records, rate);
            let index = cells.numbers(&key, "steps")?.iter().position(|k| *k == steps as f64)?;
            cells.numbers(&key, name)?.get(index).copied()
        };
        let mut comparison =
            Comparison::new("Theorem 2, all orders", "certified supremum").beside("run again");
        let published = self.published();
        for row in published.rows() {
            let (records, rate, steps) =
                (row.number("records") as u64, row.number("rate"), row.number("steps") as u64);
            let show = |value: f64| format!("{value:.3}");
            let what = match self {
                Self::Rate => format!("T = {steps}, N = {records}, q = {rate}"),
                Self::Steps => format!("N = {records}, T = {steps}"),
            };
            let (method, best) = (ours(records, rate, steps, "theorem"), ours(records, rate, steps, "tight"));
            if best.is_some() {
                let published = show(row.number("epsilon"));
                comparison.rows.push(Row::new(what, Some(published), method.map(show), best.map(show)));
            }
        }
        let pairs = published.rows().filter_map(|row| {
            let (records, rate, steps) =
                (row.number("records") as u64, row.number("rate"), row.number("steps") as u64);
            Some(row.number("epsilon") / ours(records, rate, steps, "tight")?)
        });
        let (low, high) =
            pairs.fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
        if low.is_finite() {
            let line = format!(
                "ε of minibatch DP Barker (`{}`): the certified supremum is smaller than the ε of the authors' accountant, run again, by a factor of {low:.1} to {high:.1}, \
                 for the same chain.",
                self.name()
            );
            if low > 1.0 { comparison.better.push(line) } else { comparison.not_better.push(line) }
        }
        comparison.notes.push(
            "δ = 1/N. The paper shows curves without numbers; beside ours stands its authors' accountant, run again. It stops at order 200 and where its floating point overflows, so the same theorem \
             over all orders is at most as large."
                .to_owned(),
        );
        let facet = |title: String, x: Axis, select: &dyn Fn(u64, f64, u64) -> Option<f64>| {
            let mut panel = Panel::new(title, x, Axis::new("ε (δ = 1/N)"));
            for (colour, records) in RECORDS.into_iter().enumerate() {
                let power = ["10⁵", "10⁶", "10⁷"][colour];
                let line = |name: &str| -> Vec<(f64, f64)> {
                    let rows = published.rows().filter(|row| row.number("records") == records as f64);
                    rows.filter_map(|row| {
                        let (rate, steps) = (row.number("rate"), row.number("steps") as u64);
                        let x = select(records, rate, steps)?;
                        let y = if name == "published" {
                            Some(row.number("epsilon"))
                        } else {
                            ours(records, rate, steps, name)
                        };
                        Some((x, y?))
                    })
                    .collect()
                };
                let style = Style::published(format!("N = {power}, authors' code run again"), colour);
                panel.marks.push(Mark::Line { points: line("published"), style });
                let style =
                    Style { width: 1.0, ..Style::line(format!("N = {power}, Theorem 2 by barkeep"), colour) };
                panel.marks.push(Mark::Line { points: line("theorem"), style });
                let style =
                    Style::points(format!("N = {power}, barkeep's best"), colour, barkeep_plot::Shape::Disc);
                panel.marks.push(Mark::Line { points: line("tight"), style });
            }
            panel
        };
        let panels = match self {
            Self::Rate => [5000, 10_000]
                .into_iter()
                .map(|wanted| {
                    let axis = Axis::new("sampling rate q = b/N").from(0.0, 0.0105);
                    facet(format!("{wanted} iterations"), axis, &|_, rate, steps| {
                        (steps == wanted).then_some(rate)
                    })
                })
                .collect(),
            Self::Steps => {
                let axis = Axis::new("iterations T").from(-2000.0, 102_000.0);
                vec![facet("q = 0.001".to_owned(), axis, &|_, _, steps| Some(steps as f64))]
            }
        };
        let title = match self {
            Self::Rate => "NeurIPS 2019, figure 1a: privacy of DP Barker against the sampling rate",
            Self::Steps => "NeurIPS 2019, figure 1b: privacy of DP Barker against the iterations",
        };
        let columns = panels_across(self);
        let size = if columns == 1 { (640.0, 380.0) } else { (430.0, 330.0) };
        Ok((Figure { size, ..Figure::new(title, columns, panels) }, comparison))
    }
}

fn panels_across(budget: &Budget) -> usize {
    match budget {
        Budget::Rate => 2,
        Budget::Steps => 1,
    }
}
