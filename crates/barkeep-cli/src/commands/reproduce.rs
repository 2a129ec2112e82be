//! `barkeep reproduce`: a paper's figure or table, with the published values beside barkeep's.

use crate::exit::{Exit, print, say};
use clap::Args;
use experiments::{EXPERIMENTS, Experiment, Setting, Size, report, reproduce, seconds, table};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// The command.
#[derive(Args)]
pub(crate) struct Reproduce {
    /// The figures or tables; `--list` names them.
    #[arg(required_unless_present_any = ["list", "all", "report"])]
    names: Vec<String>,
    /// Lists the names and what they show.
    #[arg(long, exclusive = true)]
    list: bool,
    /// All of them, one after the other.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Fewer cells, chains or records: enough to see that it works.
    #[arg(long)]
    quick: bool,
    /// Computes cells again that are known from an earlier run.
    #[arg(long)]
    fresh: bool,
    /// The folder for numbers and figures. What it holds already is not computed again.
    #[arg(long, default_value = "barkeep-out-reproduce")]
    out: PathBuf,
    /// Writes a report on the full results in the folder to this file, and how long they took to `seconds.csv` in the folder.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "all", "quick", "fresh"])]
    report: Option<PathBuf>,
}

impl Reproduce {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        if self.list {
            let width = EXPERIMENTS.iter().map(|experiment| experiment.name().len()).max().unwrap_or(0);
            return EXPERIMENTS.iter().try_for_each(|experiment| {
                print(&format!("{:<width$}  {}", experiment.name(), experiment.about()))
            });
        }
        if let Some(file) = &self.report {
            // Links in the report start where the report is.
            let beside =
                file.parent().and_then(|folder| self.out.strip_prefix(folder).ok()).unwrap_or(&self.out);
            let text = report(EXPERIMENTS, &self.out, &beside.display().to_string()).map_err(Exit::Input)?;
            let seconds = seconds(EXPERIMENTS, &self.out).map_err(Exit::Input)?;
            std::fs::create_dir_all(&self.out).map_err(|error| {
                Exit::Input(format!("cannot make {}: {}", self.out.display(), error.kind()))
            })?;
            return write(file, &text).and_then(|()| write(&self.out.join("seconds.csv"), &seconds));
        }
        let chosen = match self.all {
            true => EXPERIMENTS.to_vec(),
            false => self.names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?,
        };
        let stop = watch()?;
        let date = today();
        for experiment in chosen {
            let setting = Setting {
                out: &self.out,
                size: if self.quick { Size::Quick } else { Size::Full },
                fresh: self.fresh,
                date: &date,
                say: &|line| say(line),
                stop: &|| stop.load(Ordering::Relaxed),
            };
            match reproduce(experiment, &setting).map_err(Exit::Input)? {
                Some(comparison) => print(&format!("{}\n{}", experiment.name(), table(&comparison)))?,
                None => {
                    return Err(Exit::Interrupted(
                        "stopped by request; what was computed is kept".to_owned(),
                    ));
                }
            }
        }
        say(&format!("numbers and figures are in {}", self.out.display()));
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(file, text)
        .map_err(|error| Exit::Input(format!("cannot write {}: {}", file.display(), error.kind())))
}

fn find(name: &str) -> Result<&'static dyn Experiment, Exit> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
    found.copied().ok_or_else(|| {
        Exit::Input(format!("there is no experiment {name:?}; `barkeep reproduce --list` names them all"))
    })
}

/// The first Ctrl-C stops before the next cell, a second one ends the program; cells already known stay known.
fn watch() -> Result<Arc<AtomicBool>, Exit> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        say("stopping when this cell is done; Ctrl-C again to stop now");
    })
    .map_err(|_| Exit::Input("cannot watch for Ctrl-C".to_owned()))?;
    Ok(stop)
}

/// The day, in UTC, for the record of when a cell was computed.
#[expect(
    clippy::disallowed_methods,
    reason = "stamps results of simulated records, where no side channel matters"
)]
fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    civil(seconds / 86_400)
}

/// The date so many days after 1970-01-01, counting years from March so that a leap day ends one.
fn civil(days: u64) -> String {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + next_year)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        // Counted by hand: 2000-03-01 is 10957 + 31 + 29 days in; 2026-11-16 follows 2026-01-01 (20454) by 319.
        for (days, date) in
            [(0, "1970-01-01"), (10_957, "2000-01-01"), (11_017, "2000-03-01"), (20_773, "2026-11-16")]
        {
            assert_eq!(civil(days), date);
        }
    }

    #[test]
    fn names_are_unique_and_found() {
        for experiment in EXPERIMENTS {
            assert_eq!(find(experiment.name()).ok().map(Experiment::name), Some(experiment.name()));
        }
        let names: std::collections::BTreeSet<_> =
            EXPERIMENTS.iter().map(|experiment| experiment.name()).collect();
        assert_eq!(names.len(), EXPERIMENTS.len());
        assert!(find("neurips-9").is_err());
    }
}
