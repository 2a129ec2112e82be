//! `barkeep sample`: runs a spec and writes draws, summary and certificate.

use super::watch::Progress;
use crate::exit::{Exit, pronounce, say};
use barkeep::diagnostics::Grade;
use barkeep::insecure::Insecure;
use barkeep::{Error, Folder, JOURNAL, Plan, Saved, SigningKey};
use clap::Args;
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct Sample {
    /// The spec, a TOML file.
    spec: PathBuf,
    /// The folder for the results; must be new or empty.
    #[arg(long)]
    out: PathBuf,
    /// Seeds the protecting randomness too, for tests and papers. The result is marked NOT PRIVATE.
    #[arg(long, value_name = "SEED")]
    insecure_seed: Option<u64>,
    /// Keeps no journal. Steps need not wait for the disk, but a killed run is lost with all it paid for: it cannot be
    /// resumed.
    #[arg(long)]
    no_journal: bool,
    /// Signs the certificate with a key that `barkeep key new` made.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// Runs although the plan expects intervals more than five times as wide as without privacy.
    #[arg(long)]
    anyway: bool,
}

/// A plan that expects intervals this many times as wide as without privacy is not run unless asked to.
const TOO_WIDE: f64 = 5.0;

impl Sample {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        let plan = super::plan(&self.spec)?;
        super::plan::describe(&plan);
        if let Some(account) = super::plan::account(&plan)? {
            say(&account);
        }
        if let Some(expected) = plan.expected().filter(|expected| expected.width > TOO_WIDE && !self.anyway) {
            return Err(Exit::Budget(format!(
                "the plan expects intervals {:.1} times as wide as without privacy, so the budget would be spent for little; use more \
                 records or a larger epsilon, or declare narrower bounds where you know them; --anyway runs it",
                expected.width
            )));
        }
        let key = self.sign.as_deref().map(SigningKey::read).transpose()?;
        let mut folder = Folder::claim(&self.out)?.dated(super::ledger::now());
        if self.no_journal {
            folder = folder.without_journal();
        }
        if let Some(key) = key {
            folder = folder.signed_by(key);
        }
        let progress = Progress::new(&plan)?;
        let mut runner = plan.runner().watch(&progress);
        if let Some(seed) = self.insecure_seed {
            runner = runner.insecure(Insecure::seed(seed));
        }
        finish(&plan, &progress, folder.run(runner), &self.out)
    }
}

/// Reports how a run ended.
///
/// # Errors
/// Why there is no run, that it was interrupted, or that its posterior is not to be trusted.
pub(super) fn finish(
    plan: &Plan,
    progress: &Progress,
    result: Result<Saved, Error>,
    out: &Path,
) -> Result<(), Exit> {
    progress.finish();
    let run = result?;
    report(plan, &run, out)?;
    if progress.stopped() {
        let kept = out.join(JOURNAL).exists();
        let next =
            if kept { format!("\nbarkeep resume {} continues it", out.display()) } else { String::new() };
        return Err(Exit::Interrupted(format!(
            "stopped by request; what was drawn is valid and in {}, and costs what the certificate says{next}",
            out.display()
        )));
    }
    trusted(&run)
}

/// Refuses, after everything is written, a posterior that is not to be trusted.
///
/// # Errors
/// [`Exit::Check`] with the verdict's grade.
pub(super) fn trusted(run: &Saved) -> Result<(), Exit> {
    match run.summary().verdict.grade {
        Grade::Trustworthy | Grade::Wide => Ok(()),
        Grade::NotToBeTrusted => Err(Exit::Check(
            "the posterior is not to be trusted, for the reasons above; draws, summary and certificate are written"
                .to_owned(),
        )),
    }
}

/// Shows the verdict, the summary and the guarantee, and where everything is.
///
/// # Errors
/// The standard output, where the verdict goes, is closed or full.
pub(super) fn report(plan: &Plan, run: &Saved, out: &Path) -> Result<(), Exit> {
    say("");
    pronounce(&run.summary().verdict)?;
    say("");
    say(run.summary().to_string().trim_end());
    say("");
    say(&run.certificate.statement);
    say(&format!(
        "Proposals were seeded with {}; chains made {:?} of {} steps.",
        run.seed,
        run.steps_used,
        plan.steps().0
    ));
    say(&format!("Written to {}: draws.csv, draws.parquet, summary.json, certificate.json", out.display()));
    Ok(())
}
