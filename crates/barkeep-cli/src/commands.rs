//! One file per command.

pub(crate) mod account;
mod audit;
mod catalogue;
mod dataset;
mod demo;
mod job;
mod key;
pub(crate) mod ledger;
pub(crate) mod plan;
pub(crate) mod predict;
mod redraw;
mod report;
mod resume;
mod sample;
mod schema;
mod shell;
mod simulate;
mod spec_help;
mod verify;
mod watch;

use crate::exit::Exit;
use barkeep::{Error, Plan, Spec};
use clap::Subcommand;
use std::path::Path;

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Shows a private posterior with its certificate, end to end, in seconds.
    Demo(demo::Demo),
    /// Runs a spec: draws, summary and certificate.
    Sample(sample::Sample),
    /// Continues a run that was killed or interrupted, and spends only what was planned.
    Resume(resume::Resume),
    /// Draws again, longer, from the answers of a run that has ended: free, no record is read.
    Redraw(redraw::RedrawCommand),
    /// Says what a spec would cost and buy, without opening the records.
    Plan(plan::PlanCommand),
    /// Predicts responses at public profiles of covariates, from a run's draws: free, no record is read.
    Predict(predict::Predict),
    /// Writes one HTML page about a run, for a reader: what was found, what it cost, whether it can be trusted.
    Report(report::ReportCommand),
    /// Computes the epsilon of a certificate again, and checks the files beside it and its signature.
    Verify(verify::Verify),
    /// Checks, shows and rehearses a custodian's data set.
    Dataset(dataset::DatasetCommand),
    /// Packs a request for a closed room, or runs one there: one file in, one signed bundle out.
    Job(job::Job),
    /// Makes keys that certificates are signed with.
    Key(key::Key),
    /// Keeps the custodian's books: what was ever spent on a population, and what is left.
    Ledger(ledger::LedgerCommand),
    /// Computes epsilon, delta or steps of a mechanism.
    Account(account::Account),
    /// Attacks the program: a proved lower bound on epsilon beside what is certified.
    Audit(audit::Audit),
    /// Writes simulated records of a model as CSV.
    Simulate(simulate::Simulate),
    /// Drafts a data set's declaration from the header of a file, for a person to fill in.
    Schema(schema::SchemaCommand),
    /// Lists the models with their spec keys.
    Models(catalogue::Catalogue),
    /// Lists the samplers with their spec keys.
    Samplers(catalogue::Catalogue),
    /// Explains the keys of a spec: those every spec has, of one section, or all.
    Spec(spec_help::SpecHelp),
    /// Prints what lets your shell complete commands and options.
    Completions(shell::Completions),
    /// Prints the manual page, or writes one for each command.
    Man(shell::Manual),
}

impl Command {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        match self {
            Self::Demo(command) => command.run(),
            Self::Sample(command) => command.run(),
            Self::Resume(command) => command.run(),
            Self::Redraw(command) => command.run(),
            Self::Plan(command) => command.run(),
            Self::Predict(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::Verify(command) => command.run(),
            Self::Dataset(command) => command.run(),
            Self::Job(command) => command.run(),
            Self::Key(command) => command.run(),
            Self::Ledger(command) => command.run(),
            Self::Account(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::Simulate(command) => command.run(),
            Self::Schema(command) => command.run(),
            Self::Models(command) => command.models(),
            Self::Samplers(command) => command.samplers(),
            Self::Spec(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}

/// Reads and plans a spec.
fn plan(path: &Path) -> Result<Plan, Exit> {
    Ok(Plan::new(spec(path)?)?)
}

/// Reads a spec.
fn spec(path: &Path) -> Result<Spec, Exit> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| Exit::Input(format!("cannot read the spec {}: {}", path.display(), error.kind())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Ok(Spec::parse(&text, folder).map_err(Error::from)?)
}

impl From<Error> for Exit {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::Budget(_) => Self::Budget(text),
            Error::Certificate(_) => Self::Check(text),
            Error::Ledger(error) => Self::from(error),
            Error::Spec(_)
            | Error::Data(_)
            | Error::Accounting(_)
            | Error::Refused(_)
            | Error::Write(_)
            | Error::Shape(_)
            | Error::Read { .. }
            | Error::Journal { .. }
            | Error::Profile(_) => Self::Input(text),
        }
    }
}
