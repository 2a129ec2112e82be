//! `barkeep dataset`: a custodian's data set: checked and stamped for runs, shown to analysts, rehearsed on synthetic records.

use crate::exit::{Exit, print, say};
use barkeep::custody::Holding;
use barkeep::data::{Inspection, Records};
use barkeep::spec::Dataset;
use barkeep::{Error, rehearsal};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct DatasetCommand {
    #[command(subcommand)]
    action: Action,
}

/// What to do with a data set.
#[derive(Subcommand)]
enum Action {
    /// Looks at all records and prints exact numbers, for the custodian's eyes only; stamps the data set, so that runs know it again.
    Check {
        /// The data set, a TOML file.
        set: PathBuf,
    },
    /// Prints the public part, for analysts: columns, unit and number, without where and how the records are read.
    Show {
        /// The data set, a TOML file.
        set: PathBuf,
    },
    /// Writes synthetic records from what is public, to try specs on. No record is read.
    Rehearsal {
        /// The data set, or its public part.
        set: PathBuf,
        /// The CSV file to write.
        #[arg(long)]
        out: PathBuf,
        /// How many records, or persons; as many as are declared by default.
        #[arg(long)]
        records: Option<u64>,
        /// Seed.
        #[arg(long, default_value_t = 0)]
        seed: u64,
    },
}

impl DatasetCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        match self.action {
            Action::Check { set } => check(&set),
            Action::Show { set } => print(read(&set)?.public().trim_end()),
            Action::Rehearsal { set, out, records, seed } => {
                let set = read(&set)?;
                let units = records.map_or(set.data().records(), Records);
                rehearsal(&set, &out, units, seed).map_err(Error::from)?;
                let what = set.data().unit().plural();
                say(&format!("Wrote {units} synthetic {what} to {}. They are nobody's.", out.display()));
                Ok(())
            }
        }
    }
}

fn read(set: &Path) -> Result<Dataset, Exit> {
    Ok(Dataset::read(set).map_err(Error::from)?)
}

/// Checks a data set against its files and stamps it.
fn check(set: &Path) -> Result<(), Exit> {
    let held = Holding::read(set)?;
    let found = held.inspect()?;
    print("For the custodian's eyes only: exact numbers, which no privacy protects.")?;
    describe(&held, &found)?;
    if !held.has_declared_number(&found) {
        return Err(Exit::Check(format!(
            "{} declares another number of {} than its files hold; no stamp was written",
            set.display(),
            held.data().unit().plural()
        )));
    }
    held.stamp(&found)?;
    say(&format!(
        "Stamped: {0}.stamp, with its key in {0}.key. Keep both with the records. `barkeep dataset show {0}` prints what analysts may see.",
        set.display()
    ));
    Ok(())
}

/// What was found, a line each.
fn describe(held: &Holding, found: &Inspection) -> Result<(), Exit> {
    let data = held.data();
    let row = |name: &str, words: String| print(&format!("  {name:<24} {words}"));
    row("records", found.records.to_string())?;
    row("rows that are none", format!("{} have another number of cells, or are too long", found.odd_rows))?;
    if let (Some(persons), Some(column)) = (&found.persons, data.person()) {
        row("persons", format!("{} by column {column}", persons.number))?;
        row("rows without a person", format!("{}, which count as one person's", persons.unnamed_rows))?;
        row("most rows of a person", persons.most_rows.to_string())?;
    }
    let declared = format!("{} {}", data.records(), data.unit().plural());
    let secret = if data.is_number_secret() { ", as a public scale: the number is secret" } else { "" };
    row("declared", declared + secret)?;
    for (column, (invalid, clamped)) in data.declared().columns().iter().zip(&found.faults) {
        row(column.name(), format!("{invalid} cells invalid, {clamped} outside the bounds"))?;
    }
    Ok(())
}
