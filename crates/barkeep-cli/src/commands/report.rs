//! `barkeep report`: one HTML page about a run.

use crate::exit::{Exit, print};
use barkeep::ledger::Ledger;
use barkeep::predict::Profiles;
use barkeep::run::files::write_atomically;
use barkeep::{Error, Finished};
use barkeep_report::Report;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct ReportCommand {
    /// The folder of a run that has ended.
    folder: PathBuf,
    /// The file to write; `report.html` in the folder by default. A report that is there is replaced.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Public profiles to predict at, as for `barkeep predict`; by default those that bounds and levels suggest.
    #[arg(long, value_name = "PROFILES.csv")]
    at: Option<PathBuf>,
    /// The custodian's ledger, to show the account before and after the run.
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

impl ReportCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let finished = Finished::read(&self.folder)?;
        let mut report = Report::of(&finished);
        if let Some(at) = &self.at {
            report = report.at(Profiles::read(at, finished.spec())?);
        }
        if let Some(ledger) = &self.ledger {
            report = report.charged_in(&Ledger::open(ledger).map_err(Error::from)?)?;
        }
        let html = report.html()?;
        let out = self.out.unwrap_or_else(|| self.folder.join("report.html"));
        write_atomically(&out, |file| file.write_all(html.as_bytes())).map_err(Error::from)?;
        print(&format!("{}", out.display()))
    }
}
