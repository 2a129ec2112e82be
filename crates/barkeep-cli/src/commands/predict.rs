//! `barkeep predict`: expectations, contrasts and effects at public profiles, from a run's draws.

use crate::exit::{Exit, print, say};
use barkeep::Finished;
use barkeep::diagnostics::shown;
use barkeep::predict::{Estimate, Predictions, Predictor, Profiles};
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Predict {
    /// The folder of a run that has ended.
    folder: PathBuf,
    /// Public profiles, a CSV file: the columns the model predicts from, and optionally `profile`, a name. Never somebody's
    /// record.
    #[arg(long, value_name = "PROFILES.csv")]
    at: PathBuf,
    /// The profile that the others are compared with; the first by default.
    #[arg(long, value_name = "PROFILE")]
    against: Option<String>,
    /// Follows a column over its bounds or levels, and states its average effect over the profiles; may be given again.
    #[arg(long, value_name = "COLUMN")]
    along: Vec<String>,
    /// Values of each followed column.
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(2..=1000))]
    points: u16,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

impl Predict {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let finished = Finished::read(&self.folder)?;
        let mut predictor = Predictor::new(&finished)?;
        if let Some(against) = self.against {
            predictor = predictor.against(against);
        }
        for column in self.along {
            predictor = predictor.along(column, usize::from(self.points));
        }
        let profiles = Profiles::read(&self.at, finished.spec())?;
        let found = predictor.predict(&profiles)?;
        say(&finished.summary().verdict.to_string());
        if !finished.certificate().private {
            say(&finished.certificate().statement);
        }
        if self.json {
            let text = serde_json::to_string_pretty(&found);
            return print(&text.map_err(|error| Exit::Input(error.to_string()))?);
        }
        print(show(&found).trim_end())
    }
}

/// Tables for people.
pub(crate) fn show(found: &Predictions) -> String {
    let mut out = format!("{} at each profile, from {} draws\n", found.what, found.draws);
    let mut rows = vec![row(["profile", "mean", "89% interval", "89% of responses"])];
    for prediction in &found.predictions {
        let [mean, interval] = cells(&prediction.expectation);
        let responses = prediction.predictive_89.map_or_else(|| "-".to_owned(), range);
        rows.push(vec![prediction.profile.clone(), mean, interval, responses]);
    }
    out += &aligned(&rows);
    if let Some(first) = found.contrasts.first() {
        out += &format!("\nAgainst {}\n", first.against);
        let ratio = first.ratio.map_or("-", |ratio| ratio.what);
        let mut rows = vec![row(["profile", "difference", "89% interval", ratio, "89% interval"])];
        for contrast in &found.contrasts {
            let [mean, interval] = cells(&contrast.difference);
            let (median, ends) = contrast.ratio.map_or_else(
                || ("-".to_owned(), "-".to_owned()),
                |ratio| (shown(ratio.median, ratio.median), range(ratio.interval_89)),
            );
            rows.push(vec![contrast.profile.clone(), mean, interval, median, ends]);
        }
        out += &aligned(&rows);
    }
    if !found.effects.is_empty() {
        out += "\nAverage effects over the profiles\n";
        let mut rows = vec![row(["column", "change", "effect", "89% interval"])];
        for effect in &found.effects {
            let [mean, interval] = cells(&effect.effect);
            rows.push(vec![effect.column.clone(), effect.change.clone(), mean, interval]);
        }
        out += &aligned(&rows);
    }
    for curve in &found.curves {
        out += &format!("\nAlong {}, otherwise {}\n", curve.column, curve.profile);
        let mut rows = vec![row([&curve.column, "mean", "89% interval"])];
        for (value, estimate) in &curve.points {
            let [mean, interval] = cells(estimate);
            rows.push(vec![value.clone(), mean, interval]);
        }
        out += &aligned(&rows);
    }
    out
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn cells(estimate: &Estimate) -> [String; 2] {
    let [low, high] = estimate.interval_89;
    [shown(estimate.mean, high - low), range(estimate.interval_89)]
}

fn range([low, high]: [f64; 2]) -> String {
    format!("{} to {}", shown(low, high - low), shown(high, high - low))
}

/// Rows in columns: names to the left, numbers to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(place, (cell, width))| match place {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ") + "\n"
    };
    rows.iter().map(line).collect()
}
