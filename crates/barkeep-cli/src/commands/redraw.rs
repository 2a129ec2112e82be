//! `barkeep redraw`: draws again, longer, from the answers of a run that has ended.

use super::sample::finish;
use super::watch::Progress;
use crate::exit::{Exit, say};
use barkeep::{Folder, Redraw, SigningKey};
use clap::Args;
use std::path::PathBuf;

/// The command.
#[derive(Args)]
pub(crate) struct RedrawCommand {
    /// The folder of the run, as `--out` named it.
    folder: PathBuf,
    /// The folder for the new draws; must be new or empty.
    #[arg(long)]
    out: PathBuf,
    /// Draws of each chain; five times as many as before if you do not say.
    #[arg(long, value_name = "NUMBER")]
    draws: Option<u64>,
    /// Signs the certificate with a key that `barkeep key new` made.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
}

impl RedrawCommand {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let key = self.sign.as_deref().map(SigningKey::read).transpose()?;
        let redraw = Redraw::open(&self.folder, self.draws)?;
        let plan = redraw.plan().clone();
        let mut folder = Folder::claim(&self.out)?;
        if let Some(key) = key {
            folder = folder.signed_by(key);
        }
        say(&format!(
            "Drawing {} times from the answers in {}. No record is read, and the privacy cost stays what it was.",
            plan.steps().0 * plan.chains(),
            self.folder.display()
        ));
        let progress = Progress::new(&plan)?;
        let result = redraw.run(folder, &progress);
        finish(&plan, &progress, result, &self.out)
    }
}
