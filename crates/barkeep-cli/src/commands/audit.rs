//! `barkeep audit`: attacks the program that runs, and says how much epsilon was proved beside what is certified.

use crate::exit::{Exit, print, say};
use barkeep_audit::{ALPHA, Options, Progress, Row, audit_all, audit_plan};
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
        let bar = bar()?;
        let watch = |progress: Progress<'_>| show(&bar, progress);
        let options = Options { trials: self.trials, seed: self.seed, watch: Some(&watch) };
        let mut printed = Ok(());
        let table = |line: &str| if self.json { Ok(()) } else { bar.suspend(|| print(line)) };
        table(&format!(
            "{:<48} {:>10} {:>10} {:>6} {:>10} {:>8}",
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
        bar.finish_and_clear();
        printed?;
        if self.json {
            let confidence = 1.0 - ALPHA;
            print(
                &json!({ "confidence": confidence, "rows": rows, "holds": rows.iter().all(Row::holds) })
                    .to_string(),
            )?;
        }
        footer(&rows);
        verdict(&rows)
    }
}

/// A bar with the share of the audit that is done and the time left; hidden where the standard error is no terminal.
fn bar() -> Result<ProgressBar, Exit> {
    let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr_with_hz(5));
    let style = ProgressStyle::with_template("{bar:30} {percent} %, about {eta} left, {msg}")
        .map_err(|_| Exit::Input("the progress bar's template is faulty".to_owned()))?;
    bar.set_style(style);
    Ok(bar)
}

/// Parts of an audit that the bar can show.
const PARTS: u64 = 10_000;

/// Moves the bar on.
fn show(bar: &ProgressBar, progress: Progress<'_>) {
    #[expect(clippy::cast_precision_loss, reason = "a share for the eye")]
    let share = (progress.before as f64 + progress.share) / progress.games.max(1) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most the number of parts"
    )]
    let part = (share * PARTS as f64) as u64;
    // Tasks end in any order; the bar only goes forward.
    if part > bar.position() {
        bar.set_message(format!(
            "game {} of {}: {}",
            progress.before + 1,
            progress.games,
            progress.mechanism
        ));
        bar.set_position(part);
    }
}

/// Says exactly what a row proves.
fn footer(rows: &[Row]) {
    say(&format!(
        "audited: whoever knows all records but one, or all but one person's rows, distinguished the two made-up data sets of \
         a row as only a mechanism of at least this epsilon allows; true of all rows together with {} % confidence.",
        100.0 * (1.0 - ALPHA)
    ));
    say(
        "A bound above the certificate refutes it. One below says how much of the price this attack explains, on these \
         records and with these questions, and nothing of others.",
    );
    if rows.iter().any(|row| row.mechanism.contains("among")) {
        say(
            "among 3000: others of varied content in several blocks, added up by the attacker on his own; persons: all rows of \
             one person replaced; files: all a run leaves but the draws and what follows from them, where nothing may show.",
        );
    }
    if rows.iter().any(|row| !row.priced_as_released) {
        say("* priced as if the noisy number behind the bit were published, which it is not.");
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
    // Where nothing is paid for there is no share of it.
    let share = match row.certified > 0.0 {
        true => format!("{:.0} %", 100.0 * row.audited / row.certified),
        false => "-".to_owned(),
    };
    format!(
        "{name:<48} {:>10.4} {:>10.4} {share:>6} {:>10} {:>8.0e}",
        row.certified, row.audited, row.trials, row.delta
    )
}

#[cfg(test)]
mod tests;
