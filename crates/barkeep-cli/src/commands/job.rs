//! `barkeep job`: hands work over a closed room's airlock: one request file in, one signed bundle out.

use super::watch::Progress;
use crate::exit::{Exit, print, say};
use barkeep::job::{Bundle, Request};
use barkeep::ledger::Ledger;
use barkeep::spec::Dataset;
use barkeep::{Error, Finished, Folder, JOURNAL, Plan, SigningKey, Spec, SpecError};
use barkeep_report::Report;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The command.
#[derive(Args)]
pub(crate) struct Job {
    #[command(subcommand)]
    action: Action,
}

/// The two sides of the airlock.
#[derive(Subcommand)]
enum Action {
    /// Packs a spec into one request file, for the custodian: it names their data set, a model's text is written in, no record is read.
    Pack {
        /// The spec, a TOML file. It names the custodian's account, and the data set by the file that `barkeep dataset show` printed.
        spec: PathBuf,
        /// Signs the request with a key that `barkeep key new` made. The custodian's ledger knows whose it is, and charges that analyst.
        #[arg(long, value_name = "KEY")]
        sign: Option<PathBuf>,
        /// The file to write; the spec's name with the ending `.request` by default.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Runs a request on the custodian's data set, charged to an account of their ledger, and writes one signed bundle. A run that was
    /// killed is continued by the same command.
    Run(RunJob),
}

/// How a request is run.
#[derive(Args)]
struct RunJob {
    /// The request, a file that `barkeep job pack` made.
    request: PathBuf,
    /// The data set that the request names, a TOML file.
    #[arg(long, value_name = "FILE")]
    set: PathBuf,
    /// The analyst who is charged for a request that is not signed.
    #[arg(long, value_name = "NAME")]
    analyst: Option<String>,
    /// The ledger that holds the account.
    #[arg(long, value_name = "FILE")]
    ledger: PathBuf,
    /// The key that signs certificate and bundle, made by `barkeep key new`.
    #[arg(long, value_name = "KEY")]
    sign: PathBuf,
    /// The bundle to write; the request's name with the ending `.tar` by default.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The run's folder, which stays with the custodian; the bundle's name with the ending `.run` by default.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Job {
    /// Runs it.
    pub(crate) fn run(self) -> Result<(), Exit> {
        match self.action {
            Action::Pack { spec, sign, out } => {
                let plan = super::plan(&spec)?;
                super::plan::describe(&plan);
                let key = sign.as_deref().map(SigningKey::read).transpose()?;
                let request = Request::pack(plan.spec(), key.as_ref())?;
                if plan.spec().charged_to().is_none() {
                    say(
                        "  warning: the spec names no account; a custodian runs only what one is charged for",
                    );
                }
                let out = out.unwrap_or_else(|| spec.with_extension("request"));
                fresh(&out)?;
                request.write(&out)?;
                print(&out.display().to_string())
            }
            Action::Run(job) => job.run(),
        }
    }
}

impl RunJob {
    fn run(self) -> Result<(), Exit> {
        let request = Request::read(&self.request)?;
        request.check()?;
        let key = SigningKey::read(&self.sign)?;
        let out = self.out.clone().unwrap_or_else(|| self.request.with_extension("tar"));
        fresh(&out)?;
        let folder = self.folder.clone().unwrap_or_else(|| appended(&out, ".run"));
        let set = Dataset::read(&self.set).map_err(Error::from)?;
        let spec = request.spec(&set)?;
        if spec.charged_to().is_none() {
            let reason = "is missing: a job is charged to an account. Nothing was spent";
            return Err(Error::from(SpecError::new("privacy.account", reason)).into());
        }
        let interrupted = match folder.join(JOURNAL).exists() {
            true => self.resume(&spec, &folder)?,
            false => {
                let spec = spec.with_ledger_at(&self.ledger).asked_by(self.analyst(&request)?);
                let plan = Plan::new(spec)?;
                super::plan::describe(&plan);
                super::plan::account(&plan)?.iter().for_each(|words| say(words));
                let new = Folder::claim(&folder)?;
                self.ask(new, &plan)?
            }
        };
        if interrupted {
            let reason = "stopped by request; the same command continues it".to_owned();
            return Err(Exit::Interrupted(reason));
        }
        let finished = Finished::read(&folder)?;
        let ledger = Ledger::open(&self.ledger).map_err(Error::from)?;
        let report = Report::of(&finished).charged_in(&ledger)?.html()?;
        Bundle::pack(&folder, &request, &report, &key)?.write(&out)?;
        say(&finished.summary().verdict.to_string());
        say(&finished.certificate().statement);
        say(&format!(
            "{} is for the airlock; {} stays here, with the journal. Whoever has your public key verifies it by `barkeep verify {} --key …`.",
            out.display(),
            folder.display(),
            out.display()
        ));
        print(&out.display().to_string())
    }

    /// Who is charged: whoever signed the request, or whom the custodian names.
    fn analyst(&self, request: &Request) -> Result<Option<String>, Exit> {
        let Some(key) = request.signed_by()? else { return Ok(self.analyst.clone()) };
        let books = Ledger::open(&self.ledger).and_then(|ledger| ledger.books()).map_err(Error::from)?;
        match (books.analyst(key), &self.analyst) {
            (None, _) => Err(Exit::Input(format!(
                "the request is signed by {key}, which signs for no analyst of the ledger: `barkeep ledger analyst` says for whom. \
                 Nothing was spent"
            ))),
            (Some(name), Some(given)) if name != given => Err(Exit::Input(format!(
                "the request is signed by \"{name}\", not by \"{given}\". Nothing was spent"
            ))),
            (Some(name), _) => Ok(Some(name.to_owned())),
        }
    }

    /// Continues a run of this request, or finds that it has ended. Says whether it was stopped again.
    fn resume(&self, spec: &Spec, path: &Path) -> Result<bool, Exit> {
        match Folder::resume(path, Some(&self.set)) {
            Ok((folder, plan)) => {
                if plan.spec().text() != spec.text() {
                    let reason =
                        format!("{} holds a run of another request; name another --folder", path.display());
                    return Err(Exit::Input(reason));
                }
                let plan = Plan::new(plan.spec().clone().with_ledger_at(&self.ledger))?;
                say(&format!(
                    "Continuing {}: {} answers are replayed.",
                    path.display(),
                    folder.kept_answers()
                ));
                self.ask(folder, &plan)
            }
            // All is written but the bundle.
            Err(error) => match Finished::read(path) {
                Ok(_) => Ok(false),
                Err(_) => Err(error.into()),
            },
        }
    }

    /// Runs, and says whether it was stopped.
    fn ask(&self, folder: Folder, plan: &Plan) -> Result<bool, Exit> {
        let key = SigningKey::read(&self.sign)?;
        let folder = folder.signed_by(key).ledger_at(&self.ledger).dated(super::ledger::now());
        let progress = Progress::new(plan)?;
        let run = folder.run(plan.runner().watch(&progress));
        progress.finish();
        Ok(run?.interrupted)
    }
}

/// Refuses to write over a file: a bundle or a request is never replaced.
fn fresh(path: &Path) -> Result<(), Exit> {
    match path.exists() {
        true => Err(Exit::Input(format!("{} exists; name another file by --out", path.display()))),
        false => Ok(()),
    }
}

/// The path with something appended to its name.
fn appended(path: &Path, ending: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
