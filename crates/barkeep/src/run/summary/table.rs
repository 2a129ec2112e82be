//! Shows a summary as an aligned table with no more digits than mean something.

use std::fmt;

use super::{ParameterSummary, Summary};
use crate::diagnostics::digits::{Grid, significant};

const HEADER: [&str; 11] =
    ["parameter", "mean", "sd", "5%", "50%", "95%", "89% interval", "R-hat", "ESS bulk", "ESS tail", "MCSE"];

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(mark) = &self.privacy {
            writeln!(f, "{mark}")?;
        }
        if self.original_units.is_empty() {
            table(f, self.parameters.iter().chain(&self.quantities))?;
        } else {
            writeln!(f, "In original units:")?;
            table(f, self.original_units.iter().map(|row| &row.summary))?;
            writeln!(f, "\nAs the model sees columns and parameters:")?;
            table(f, self.parameters.iter())?;
        }
        let plural =
            |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        write!(f, "{} from {}", plural(self.draws, "draw"), plural(self.chains.len(), "chain"))?;
        if self.burn_in > 0 {
            write!(f, ", after the first {} of each", self.burn_in)?;
        }
        if let Some(acceptance) = self.acceptance {
            write!(f, "; {:.1} % of proposals accepted", 100.0 * acceptance)?;
        }
        if self.every > 1 {
            write!(f, "; R-hat, ESS and MCSE by one draw of {}", self.every)?;
        }
        if let Some(ran) = &self.ran {
            write!(f, "; by {ran}, as the answers about columns favoured")?;
        }
        writeln!(f)?;
        match &self.faults {
            Some(faults) => write!(f, "{faults}"),
            None => Ok(()),
        }
    }
}

/// Rows below their header.
fn table<'a>(f: &mut fmt::Formatter<'_>, rows: impl Iterator<Item = &'a ParameterSummary>) -> fmt::Result {
    let rows: Vec<[String; 11]> = rows.map(row).collect();
    let widths: [usize; 11] = std::array::from_fn(|column| {
        let longest = rows.iter().map(|row| row[column].chars().count()).max();
        longest.unwrap_or(0).max(HEADER[column].len())
    });
    let mut line = |cells: [&str; 11]| {
        let mut text = format!("{:<width$}", cells[0], width = widths[0]);
        for (cell, width) in cells.iter().zip(widths).skip(1) {
            text.push_str(&format!("  {cell:>width$}"));
        }
        writeln!(f, "{text}")
    };
    line(HEADER)?;
    rows.iter().try_for_each(|row| line(row.each_ref().map(String::as_str)))
}

fn row(parameter: &ParameterSummary) -> [String; 11] {
    let grid = grid(parameter);
    let place = |value: Option<f64>| value.map_or_else(absent, |value| grid.show(value));
    let interval = parameter
        .interval_89
        .map_or_else(absent, |[low, high]| format!("{} to {}", grid.show(low), grid.show(high)));
    let count = |value: Option<f64>| value.map_or_else(absent, |value| format!("{value:.0}"));
    [
        parameter.name.clone(),
        place(parameter.mean),
        place(parameter.sd),
        place(parameter.q5),
        place(parameter.q50),
        place(parameter.q95),
        interval,
        parameter.r_hat.map_or_else(absent, |value| format!("{value:.3}")),
        count(parameter.ess_bulk),
        count(parameter.ess_tail),
        parameter.mcse_mean.map_or_else(absent, |value| significant(value, 2)),
    ]
}

fn absent() -> String {
    "-".to_owned()
}

/// How the numbers of one row are written: all with the same last place, the third digit of the standard
/// deviation, which the Monte Carlo error of no affordable run reaches.
fn grid(parameter: &ParameterSummary) -> Grid {
    let [low, high] = parameter.interval_89.unwrap_or_default();
    let largest = parameter.mean.unwrap_or(0.0).abs().max(low.abs()).max(high.abs());
    let unit = parameter.sd.filter(|sd| *sd > 0.0).unwrap_or(largest);
    Grid::of(unit, 3, largest)
}
