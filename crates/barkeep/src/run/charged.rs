//! Charges a run to an account of the custodian's ledger: reserved before its certificate, closed after its last file.
//!
//! **Order.** The journal names the run; the account reserves the run's whole bill and has it on the disk; the certificate is
//! written; only then records are opened. A run killed in between has reserved nothing or all of it, and what is reserved is
//! spent. A continued run has its name from its journal, and so continues its own reservation: no name reserves twice. It notes a new lease
//! in its journal first, and then takes it in the ledger: of two copies of a folder one continues.

use crate::Error;
use crate::plan::Plan;
use crate::run::Runner;
use crate::run::certificate::{Certificate, Charged};
use crate::run::folder::CERTIFICATE;
use crate::run::journal::{self, JOURNAL, Journal};
use crate::spec::{ChargedTo, Data, Privacy, SpecError};
use barkeep_data::{Count, Unit, read_header};
use barkeep_ledger::{Closing, Declared, Ledger, Quote, Records, Request, RunState};
use std::path::Path;

/// A run that an account pays for.
pub(super) struct Charge {
    ledger: Ledger,
    charged: Charged,
    reserved: bool,
    /// Under which lease the run asks: its own name, or the token of the last one it took.
    lease: String,
}

impl Charge {
    /// What is to be asked, if the spec names an account; `own` is the reservation that a continued run has.
    ///
    /// # Errors
    /// [`Error::Spec`] if the run gives up privacy; [`Error::Ledger`] if the ledger cannot be used.
    pub(super) fn of(
        runner: &Runner<'_>,
        own: Option<Charged>,
        ledger: Option<&Path>,
        date: Option<String>,
    ) -> Result<Option<Self>, Error> {
        let Some(to) = runner.plan().spec().charged_to() else { return Ok(None) };
        if runner.is_insecure() || !runner.plan().is_private() {
            let reason = "names an account, and a run that gives up privacy has no price";
            return Err(SpecError::new("privacy.ledger", reason).into());
        }
        let ledger = Ledger::open(ledger.unwrap_or(&to.ledger))?.dated(date);
        let charged = match own {
            Some(own) => own,
            None => Charged { account: to.account.clone(), run: Ledger::new_run()? },
        };
        let lease = charged.run.clone();
        Ok(Some(Self { ledger, charged, reserved: false, lease }))
    }

    /// What the certificate says of it.
    pub(super) fn stated(&self) -> Charged {
        self.charged.clone()
    }

    /// Whether the run's bill is spent.
    pub(super) fn is_reserved(&self) -> bool {
        self.reserved
    }

    /// Reserves the run's bill, or continues its own reservation under the last of `leases`. `in_files` says whether the records are in
    /// the spec's files; else they are a frame of which nothing was read, and [`Charge::recognise`] follows.
    ///
    /// The header of a file is looked at first: a spec that names a column it does not have would spend for nothing.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the account does not pay; [`Error::Spec`] for such a column. Nothing was spent.
    pub(super) fn reserve(
        &mut self,
        runner: &Runner<'_>,
        kept: u64,
        leases: Vec<String>,
        in_files: bool,
    ) -> Result<(), Error> {
        let plan = runner.plan();
        let data = plan.spec().data();
        let records = match in_files {
            false => Records::Unread(data.id()),
            true => {
                check_header(plan)?;
                Records::Files(data.paths())
            }
        };
        leases.last().into_iter().for_each(|lease| self.lease.clone_from(lease));
        let request =
            Request { leases, ..request(plan, &self.charged, runner.certificate().digest(), kept)? };
        self.ledger.reserve(&request, records)?;
        self.reserved = true;
        Ok(())
    }

    /// Compares a frame that was read with the account's data set.
    ///
    /// # Errors
    /// [`Error::Ledger`] if it is another one.
    pub(super) fn recognise(&self, identity: &[u8; 32]) -> Result<(), Error> {
        Ok(self.ledger.recognise(&self.charged.run, identity)?)
    }

    /// Notes how far the run came, from what lies in its folder.
    ///
    /// # Errors
    /// [`Error::Ledger`]: all files are written then, and the reservation stands as it was.
    pub(super) fn close(self, folder: &Path, interrupted: bool) -> Result<(), Error> {
        let certificate = Certificate::read(&folder.join(CERTIFICATE))?;
        let steps = certificate.steps_used.iter().flatten().sum();
        let answers = journal::answers(&folder.join(JOURNAL))?.unwrap_or(steps);
        let (run, certificate, lease) = (self.charged.run, certificate.digest(), Some(self.lease));
        Ok(self.ledger.close(Closing { run, answers, ended: !interrupted, certificate, lease })?)
    }

    /// Has the ledger note the end of a run that was killed after its last file was written, if nobody has.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the ledger cannot be used.
    pub(super) fn note_end(folder: &Path, journal: &Journal) -> Result<(), Error> {
        let (Some(charged), Some(ledger)) = (&journal.header().certificate.charged, journal.ledger()) else {
            return Ok(());
        };
        let ledger = Ledger::open(ledger)?;
        if ledger.books()?.run(&charged.run).is_none_or(RunState::ended) {
            return Ok(());
        }
        let lease = journal.leases().last().unwrap_or(&charged.run).clone();
        Self { ledger, charged: charged.clone(), reserved: true, lease }.close(folder, false)
    }

    /// Why there is no result although the account has paid.
    pub(super) fn stands(&self, error: &Error, folder: &Path) -> Error {
        let next = if folder.join(JOURNAL).exists() {
            format!(
                "fix the file, put it under the account if it changed, and continue by `barkeep resume {}`",
                folder.display()
            )
        } else {
            "without a journal it cannot be continued".to_owned()
        };
        let (run, path) = (&self.charged.run, folder.to_owned());
        Error::Journal {
            path,
            reason: format!("{error}\nrun {run} has reserved its bill, which stays spent; {next}"),
        }
    }
}

/// Refuses columns that the file's header does not have. Names are public; no record is read.
fn check_header(plan: &Plan) -> Result<(), Error> {
    let data = plan.spec().data();
    let header = read_header(data.path(), data.csv_options())?;
    let columns = data.view().source().columns().iter().map(|column| column.name()).chain(data.person());
    match columns.into_iter().find(|name| !header.iter().any(|known| known == name)) {
        None => Ok(()),
        Some(name) => {
            let reason =
                format!("\"{name}\" is not in the header of {}; nothing was spent", data.path().display());
            Err(SpecError::new("data.columns", reason).into())
        }
    }
}

/// What a plan asks an account for.
///
/// # Errors
/// [`Error::Spec`] for a baseline, which has no price.
fn request(plan: &Plan, charged: &Charged, certificate: String, answers: u64) -> Result<Request, Error> {
    let spec = plan.spec();
    let (Some(bill), Privacy::Budget { neighbours, .. }, Some(to)) =
        (plan.bill(), spec.privacy(), spec.charged_to())
    else {
        return Err(SpecError::new("privacy.ledger", "names an account, and a baseline has no price").into());
    };
    let ChargedTo { analyst, project, .. } = to.clone();
    Ok(Request {
        account: charged.account.clone(),
        run: charged.run.clone(),
        declared: declared(spec.data(), spec.count()),
        neighbours,
        analyst,
        project,
        certificate,
        answers,
        leases: Vec::new(),
        bill: bill.clone(),
    })
}

/// What a ledger holds runs on a data set to. `count` says whether the number of records is public where no data set does.
pub(crate) fn declared(data: &Data, count: Count) -> Declared {
    let most_rows = match data.unit() {
        Unit::Record => None,
        Unit::Person { most_rows } => most_rows,
    };
    let is_public = match data.set() {
        Some(_) => !data.is_number_secret(),
        None => matches!(count, Count::Exactly(_)),
    };
    Declared {
        person: data.person().map(str::to_owned),
        most_rows,
        number: is_public.then_some(data.records().0),
    }
}

impl Plan {
    /// What a run of the plan would cost the account that its spec names, without asking for it; none where it names none.
    ///
    /// # Errors
    /// [`Error::Ledger`] if the ledger cannot be used, or the plan does not go with the account.
    pub fn quote(&self) -> Result<Option<Quote>, Error> {
        let Some(to) = self.spec().charged_to() else { return Ok(None) };
        let charged = Charged { account: to.account.clone(), run: String::new() };
        let request = request(self, &charged, String::new(), 0)?;
        Ok(Some(Ledger::open(&to.ledger)?.quote(&request)?))
    }
}

impl Certificate {
    /// Looks for the reservation that the certificate names: its bill, in its account, for this certificate, as the ledger noted it when
    /// the run ended.
    ///
    /// # Errors
    /// [`Error::Certificate`] if there is none; [`Error::Ledger`] if the ledger cannot be used.
    pub fn check_ledger(&self, ledger: &Ledger) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Certificate(reason.to_owned()));
        let Some(Charged { account, run }) = &self.charged else {
            return fail("the certificate names no account: no ledger paid for it");
        };
        let books = ledger.books()?;
        let Some(state) = books.run(run) else { return fail("the ledger knows no such run") };
        let reserved = &state.reserved;
        let same = reserved.account == *account
            && Some(&reserved.bill) == self.bill.as_ref()
            && reserved.certificate == self.before_answers().digest();
        if !same {
            return fail("the ledger reserved something else under that name");
        }
        match (&self.hashes, &state.closing) {
            // Before its first answer, and as long as nobody has said how it ended.
            (None, _) => Ok(()),
            (Some(_), Some(closing)) if closing.certificate == self.digest() => Ok(()),
            (Some(_), Some(_)) => fail(
                "the ledger noted another certificate when the run ended: this one is of another copy of its folder, or from before \
                 the run was continued",
            ),
            (Some(_), None) => {
                fail("the ledger has not noted that the run ended; `barkeep resume` has it noted")
            }
        }
    }
}
