//! `barkeep resume`: continues a run from its journal.

use super::sample::finish;
use super::watch::Progress;
use crate::exit::{Exit, say};
use barkeep::{Folder, SigningKey};
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct Resume {
    /// The folder of the run, as `--out` named it.
    folder: PathBuf,
    /// Where the records are, or the data set's file, if no longer where they were. They must be the same records.
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
    /// Where the ledger is that the run is charged to, if no longer where it was.
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// The key that signs the certificate, if the run was begun with one.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

impl Resume {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let key = self.sign.as_deref().map(SigningKey::read).transpose()?;
        let (mut folder, plan) = Folder::resume(&self.folder, self.records.as_deref())?;
        if let Some(key) = key {
            folder = folder.signed_by(key);
        }
        if let Some(ledger) = self.ledger {
            folder = folder.ledger_at(ledger);
        }
        folder = folder.dated(super::ledger::now());
        super::plan::describe(&plan);
        say(&format!(
            "Continuing {}: {} answers are replayed, the rest is asked. That these are the same records is your promise.",
            self.folder.display(),
            folder.kept_answers()
        ));
        let progress = Progress::new(&plan)?;
        let result = folder.run(plan.runner().watch(&progress));
        finish(&plan, &progress, result, &self.folder)
    }
}
