//! `barkeep audit`: attacks the program that runs, and says how much epsilon was proved beside what is certified.

use crate::exit::{Exit, print, say};
use barkeep_audit::{ALPHA, Options, Row, audit_all, audit_plan};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

/// Plays the real curator, kernel and budget on two made-up data sets that differ in one record, many times. Never opens
/// the records.
#[derive(Args)]
pub(crate) struct Audit {
    /// The spec whose sampler is attacked, with the constants of its plan.
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    spec: Option<PathBuf>,
    /// Attacks every mechanism of the curator and every private sampler.
    #[arg(long)]
    all: bool,
    /// Trials in each of the two worlds; more of them prove more.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(10..))]
    trials: Option<u64>,
    /// Repeats an audit; the records are made up and need no protection.
    #[arg(long)]
    seed: Option<u64>,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
}

impl Audit {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let plan = self.spec.as_deref().map(super::plan).transpose()?;
        let options = Options { trials: self.trials, seed: self.seed };
        let mut printed = Ok(());
        let table = |line: &str| if self.json { Ok(()) } else { print(line) };
        table(&format!(
            "{:<38} {:>10} {:>10} {:>6} {:>10} {:>8}",
            "mechanism", "certified", "audited", "share", "trials", "delta"
        ))?;
        let rows = match plan {
            Some(plan) => {
                let row = audit_plan(&plan, options)?;
                table(&line(&row))?;
                vec![row]
            }
            None => audit_all(options, &mut |row| {
                if printed.is_ok() {
                    printed = table(&line(row));
                }
            })?,
        };
        printed?;
        if self.json {
            let confidence = 1.0 - ALPHA;
            print(
                &json!({ "confidence": confidence, "rows": rows, "holds": rows.iter().all(Row::holds) })
                    .to_string(),
            )?;
        }
        say(&format!(
            "audited: an epsilon that was proved; all bounds hold together with {} % confidence.",
            100.0 * (1.0 - ALPHA)
        ));
        if rows.iter().any(|row| !row.priced_as_released) {
            say("* priced as if the noisy number behind the bit were published, which it is not.");
        }
        verdict(&rows)
    }
}

/// Fails where more was proved than is certified.
fn verdict(rows: &[Row]) -> Result<(), Exit> {
    match rows.iter().find(|row| !row.holds()) {
        None => Ok(()),
        Some(row) => Err(Exit::Check(format!(
            "{}: epsilon {} was proved, more than the certified {}",
            row.mechanism, row.audited, row.certified
        ))),
    }
}

/// A row of the table.
fn line(row: &Row) -> String {
    let name = if row.priced_as_released { row.mechanism.clone() } else { format!("{} *", row.mechanism) };
    let share = 100.0 * row.audited / row.certified;
    format!(
        "{name:<38} {:>10.4} {:>10.4} {share:>4.0} % {:>10} {:>8.0e}",
        row.certified, row.audited, row.trials, row.delta
    )
}

#[cfg(test)]
mod tests;
