//! Says whether a run goes with an account, and what it costs there.

use crate::Error;
use crate::books::{Account, DataVersion, RunState};
use crate::entry::{Declared, Reservation};
use barkeep_accounting::{Bill, Neighbours};
use std::path::PathBuf;

/// The records of a run, as far as a ledger knows them.
#[derive(Clone, Copy)]
pub enum Records<'a> {
    /// Files, known by their bytes.
    Files(&'a [PathBuf]),
    /// A frame, of which nothing was read: the last version of the data set of this name, or of the only one.
    /// [`Ledger::recognise`](crate::Ledger::recognise) compares what was read.
    Unread(Option<&'a str>),
}

/// A data set that comes under an account.
#[derive(Clone, Copy)]
pub struct DataSet<'a> {
    /// How its custodian declares it.
    pub declared: &'a Declared,
    /// The hash of its admitted cells.
    pub cells: [u8; 32],
    /// Its files; none for a frame.
    pub files: &'a [PathBuf],
}

/// What a run asks an account for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The account.
    pub account: String,
    /// The run: [`Ledger::new_run`](crate::Ledger::new_run) makes a name; a continued run has its own.
    pub run: String,
    /// How the run declares the data set.
    pub declared: Declared,
    /// From which neighbours.
    pub neighbours: Neighbours,
    /// Who asks.
    pub analyst: Option<String>,
    /// For which project.
    pub project: Option<String>,
    /// SHA-256 of its certificate before the first answer, in hexadecimal digits.
    pub certificate: String,
    /// Answers it has already, if it is continued: no fewer than it had when it last said.
    pub answers: u64,
    /// The leases in its journal, if it is continued: all it ever held, and last the one it takes now.
    pub leases: Vec<String>,
    /// What it pays.
    pub bill: Bill,
}

/// What account and caps charge for a bill.
pub(crate) fn prices(
    account: &Account,
    asked: &Reservation,
) -> Result<(barkeep_accounting::RunCharge, Vec<barkeep_accounting::RunCharge>), Error> {
    let caps = account.caps_of(asked.analyst.as_deref(), asked.project.as_deref()).map_err(Error::Request)?;
    let caps = caps.iter().map(|(_, filter)| filter.price(&asked.bill)).collect::<Result<_, _>>()?;
    Ok((account.filter().price(&asked.bill)?, caps))
}

impl Request {
    /// The reservation it asks for, on the account's records.
    pub(crate) fn priced(&self, account: &Account, data: Option<&DataVersion>) -> Result<Reservation, Error> {
        let name = &self.account;
        let Some(data) = data else {
            let known: Vec<String> =
                account.data().iter().map(|known| format!("\"{}\"", known.data)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(Error::Request(format!(
                "the records are in no version that account \"{name}\" holds ({known}): `barkeep ledger add` puts them there. \
                 Nothing was spent"
            )));
        };
        let held = format!("\"{}\", version {}, of account \"{name}\"", data.data, data.version);
        let Some(declared) = &data.declared else {
            return Err(Error::Request(format!(
                "{held} was added by an earlier version of barkeep, which did not note how it is declared: `barkeep ledger add` it \
                 again. Nothing was spent"
            )));
        };
        if let Some(differs) = declared.differs(&self.declared) {
            return Err(Error::Request(format!("{held} {differs}. Nothing was spent")));
        }
        Ok(Reservation { data: data.data.clone(), version: data.version, ..self.priced_alone(account)? })
    }

    /// The reservation it asks for, whatever the records.
    pub(crate) fn priced_alone(&self, account: &Account) -> Result<Reservation, Error> {
        let (name, unit) = (&self.account, self.declared.unit());
        let differs = |what: &str, of_account: String, of_run: String| {
            Err(Error::Request(format!(
                "account \"{name}\" counts {what} {of_account}; the run's is {of_run}. Nothing was spent"
            )))
        };
        if account.unit() != unit {
            return differs("by the", account.unit().to_string(), format!("a {unit}"));
        }
        if account.neighbours() != self.neighbours {
            let words = |neighbours: Neighbours| match neighbours {
                Neighbours::Substitute => "\"substitute\"".to_owned(),
                Neighbours::AddRemove => "\"add-remove\"".to_owned(),
            };
            return differs("for neighbours =", words(account.neighbours()), words(self.neighbours));
        }
        let mut asked = Reservation {
            account: name.clone(),
            run: self.run.clone(),
            data: String::new(),
            version: 0,
            analyst: self.analyst.clone(),
            project: self.project.clone(),
            certificate: self.certificate.clone(),
            bill: self.bill.clone(),
            charge: account.filter().price(&self.bill)?,
            cap_charges: Vec::new(),
            lease: self.leases.last().cloned(),
        };
        (asked.charge, asked.cap_charges) = prices(account, &asked)?;
        Ok(asked)
    }

    /// Whether a reservation is this run's own, and the lease that it takes.
    pub(crate) fn continues(&self, state: &RunState, now: Option<&DataVersion>) -> Result<String, Error> {
        let run = &self.run;
        let refuse = |reason: String| Err(Error::Request(reason));
        if state.ended() {
            return refuse(format!("run {run} has ended, and its reservation with it"));
        }
        let Some(lease) = self.leases.last() else {
            return refuse(format!("run {run} has reserved already"));
        };
        if state.lease != *run && !self.leases.contains(&state.lease) {
            return refuse(format!(
                "run {run} was continued from another copy of its folder, which holds its lease. Nothing was asked"
            ));
        }
        if state.closing.as_ref().is_some_and(|closing| closing.answers > self.answers) {
            return refuse(format!("run {run} had more answers: its journal was cut or replaced"));
        }
        let Reservation { account: name, data, version, bill, certificate, .. } = &state.reserved;
        // Before its first answer nothing was asked of the file: a corrected version will do.
        let unasked = self.answers == 0 && state.closing.is_none();
        let same_records = now.is_some_and(|now| now.data == *data && (now.version == *version || unasked));
        let same = *name == self.account && (bill, certificate) == (&self.bill, &self.certificate);
        if same && same_records {
            Ok(lease.clone())
        } else {
            refuse(format!("run {run} has reserved for another spec or other records"))
        }
    }
}
