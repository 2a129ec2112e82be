//! Reads the arguments, runs what they ask for, and maps every outcome to an exit code.

use crate::EXPERIMENTS;
use crate::accuracy::real_data::FOLDER;
use crate::date::today;
use crate::experiment::{Experiment, Size};
use crate::progress::{Progress, Watch, say};
use crate::report::{report, seconds};
use crate::runner::{Setting, reproduce, table};
use clap::Parser;
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Repeats a figure or table of the papers, published values beside barkeep's.
#[derive(Parser)]
#[command(name = "experiments", version, after_help = "Exit codes: 0 done, 2 bad input, 130 interrupted.")]
pub(crate) struct Command {
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
    /// Computes only missing cells whose name contains this; may be given several times, and is then followed in that order.
    #[arg(long, value_name = "TEXT", conflicts_with = "report")]
    cells: Vec<String>,
    /// The folder for numbers and figures. What it holds already is not computed again.
    #[arg(long, default_value = "barkeep-out-experiments")]
    out: PathBuf,
    /// A folder of further problems for `real-data`: each a spec NAME.toml beside NAME.reference.json, the posterior without
    /// privacy as `names`, `mean` and `sd`.
    #[arg(long, value_name = "FOLDER")]
    records: Option<PathBuf>,
    /// Writes a report on the full results in the folder to this file, and how long they took to `seconds.csv` in the folder.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["names", "all", "quick", "fresh"])]
    report: Option<PathBuf>,
}

/// Why the program did not finish.
pub(crate) enum Failure {
    /// The user can fix it: a name, a folder, settings.
    Input(String),
    /// The user stopped it; what was computed is kept.
    Interrupted,
}

impl Failure {
    /// The documented exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(text) => out.write_str(text),
            Self::Interrupted => out.write_str("stopped by request; what was computed is kept"),
        }
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Input(text)
    }
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Failure> {
        if self.list {
            return list();
        }
        if let Some(folder) = &self.records {
            // Set once, here: the command is parsed once.
            let _ = FOLDER.set(folder.clone());
        }
        if let Some(file) = &self.report {
            return self.write_report(file);
        }
        let chosen = match self.all {
            true => EXPERIMENTS.to_vec(),
            false => self.names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?,
        };
        let progress = Progress::new()?;
        let outcome = self.reproduce(&chosen, &progress);
        progress.finish();
        outcome?;
        say(&format!("numbers and figures are in {}", self.out.display()));
        Ok(())
    }

    fn reproduce(&self, chosen: &[&'static dyn Experiment], watch: &dyn Watch) -> Result<(), Failure> {
        let date = today();
        let size = if self.quick { Size::Quick } else { Size::Full };
        let setting =
            Setting { out: &self.out, size, fresh: self.fresh, cells: &self.cells, date: &date, watch };
        for experiment in chosen {
            let comparison = reproduce(*experiment, &setting)?.ok_or(Failure::Interrupted)?;
            print(&format!("{}\n{}", experiment.name(), table(&comparison)))?;
        }
        Ok(())
    }

    fn write_report(&self, file: &Path) -> Result<(), Failure> {
        // Links in the report start where the report is.
        let beside = file.parent().and_then(|folder| self.out.strip_prefix(folder).ok()).unwrap_or(&self.out);
        let text = report(EXPERIMENTS, &self.out, &beside.display().to_string())?;
        let seconds = seconds(EXPERIMENTS, &self.out)?;
        std::fs::create_dir_all(&self.out)
            .map_err(|error| format!("cannot make {}: {}", self.out.display(), error.kind()))?;
        write(file, &text)?;
        write(&self.out.join("seconds.csv"), &seconds)
    }
}

fn list() -> Result<(), Failure> {
    let width = EXPERIMENTS.iter().map(|experiment| experiment.name().len()).max().unwrap_or(0);
    EXPERIMENTS
        .iter()
        .try_for_each(|experiment| print(&format!("{:<width$}  {}", experiment.name(), experiment.about())))
}

fn find(name: &str) -> Result<&'static dyn Experiment, Failure> {
    let found = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
    found.copied().ok_or_else(|| {
        Failure::Input(format!("there is no experiment {name:?}; `experiments --list` names them all"))
    })
}

fn print(line: &str) -> Result<(), Failure> {
    writeln!(std::io::stdout(), "{line}")
        .map_err(|error| Failure::Input(format!("cannot write to the standard output: {}", error.kind())))
}

fn write(file: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(file, text)
        .map_err(|error| Failure::Input(format!("cannot write {}: {}", file.display(), error.kind())))
}

#[cfg(test)]
mod tests;
