//! Follows the entries: what every account has spent, and whether the next event may be written.
//!
//! One function says what each event must satisfy. It is asked before an event is written and again whenever the ledger is
//! read, so that entries nobody could have written are noticed.

use crate::entry::{
    Addition, Cap, Closing, Declared, Event, Lease, Opening, Refusal, Reservation, Unit, Whom,
};
use barkeep_accounting::{Bill, Neighbours, RunFilter, Runs, SpentOut};
use std::collections::BTreeMap;

/// What follows from a ledger's entries.
#[derive(Debug, Clone, Default)]
pub struct Books {
    accounts: BTreeMap<String, Account>,
    runs: BTreeMap<String, RunState>,
    /// The analyst of each public key.
    analysts: BTreeMap<String, String>,
}

/// Whose runs a cap bounds, by name.
type Capped = (Whom, String);

/// One account.
#[derive(Debug, Clone)]
pub struct Account {
    filter: RunFilter,
    neighbours: Neighbours,
    unit: Unit,
    data: Vec<DataVersion>,
    caps: BTreeMap<Capped, RunFilter>,
    runs: Vec<String>,
    refusals: u64,
    closed: Option<String>,
}

/// A file of records that belongs to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataVersion {
    /// What the custodian calls it.
    pub data: String,
    /// Its version, from 1.
    pub version: u32,
    /// How it is declared; absent in ledgers of an earlier version.
    pub declared: Option<Declared>,
    /// The keyed hash of its cells. It stays with the ledger.
    pub(crate) identity: String,
    /// The keyed hash of its files' bytes.
    pub(crate) bytes: Option<String>,
}

impl DataVersion {
    /// Whether it comes in files of these bytes.
    fn is_in(&self, bytes: &str) -> bool {
        let before = self.declared.is_none().then_some(&self.identity);
        self.bytes.as_ref().or(before).is_some_and(|own| own == bytes)
    }
}

/// One run.
#[derive(Debug, Clone)]
pub struct RunState {
    /// What it reserved.
    pub reserved: Reservation,
    /// Who may continue it: the token of the last lease, or the run's own name.
    pub lease: String,
    /// What it last said, if it ended or was interrupted.
    pub closing: Option<Closing>,
}

impl RunState {
    /// Whether the run has ended.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.closing.as_ref().is_some_and(|closing| closing.ended)
    }
}

impl Account {
    /// The filter of its total, and what is charged to it.
    #[must_use]
    pub fn filter(&self) -> &RunFilter {
        &self.filter
    }

    /// Which data sets its runs make hard to tell apart.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.neighbours
    }

    /// What they differ in.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The files that belong to it, in the order they were added.
    #[must_use]
    pub fn data(&self) -> &[DataVersion] {
        &self.data
    }

    /// The caps under its total.
    pub fn caps(&self) -> impl Iterator<Item = (Whom, &str, &RunFilter)> {
        self.caps.iter().map(|((whom, name), filter)| (*whom, name.as_str(), filter))
    }

    /// The runs that reserved something, in order.
    #[must_use]
    pub fn runs(&self) -> &[String] {
        &self.runs
    }

    /// How many runs were refused.
    #[must_use]
    pub fn refusals(&self) -> u64 {
        self.refusals
    }

    /// Why it was closed, if it was.
    #[must_use]
    pub fn closed(&self) -> Option<&str> {
        self.closed.as_deref()
    }

    /// The version that comes in files of these bytes.
    pub(crate) fn version_of(&self, bytes: &str) -> Option<&DataVersion> {
        self.data.iter().rfind(|known| known.is_in(bytes))
    }

    /// The last version of a data set, or of the only one where no name is given.
    pub(crate) fn last_version(&self, data: Option<&str>) -> Option<&DataVersion> {
        let last = self.data.iter().rfind(|known| data.is_none_or(|data| known.data == data))?;
        let only = data.is_some() || self.data.iter().all(|known| known.data == last.data);
        only.then_some(last)
    }

    /// The caps that bound a run, the analyst's first.
    ///
    /// # Errors
    /// A name is missing or has no cap although others have: a run without one would be bounded by none.
    pub(crate) fn caps_of(
        &self,
        analyst: Option<&str>,
        project: Option<&str>,
    ) -> Result<Vec<(Capped, RunFilter)>, String> {
        let mut caps = Vec::new();
        for (whom, name) in [(Whom::Analyst, analyst), (Whom::Project, project)] {
            if !self.caps.keys().any(|(kind, _)| *kind == whom) {
                continue;
            }
            let name = name
                .ok_or(format!("the account bounds every {whom}: say which one by `{whom}` in [privacy], or by --analyst for a job"))?;
            let key = (whom, name.to_owned());
            let filter = self.caps.get(&key).ok_or(format!(
                "the account has no cap for {whom} \"{name}\", and bounds every {whom}: set one by `barkeep ledger cap`"
            ))?;
            caps.push((key, filter.clone()));
        }
        Ok(caps)
    }

    /// Whether total and caps have room.
    ///
    /// # Errors
    /// Which of them has none, in public words.
    pub(crate) fn room(&self, asked: &Reservation) -> Result<(), String> {
        let caps = self.caps_of(asked.analyst.as_deref(), asked.project.as_deref())?;
        let refused = |what: String, filter: &RunFilter, why: SpentOut| {
            let (epsilon, delta) = (filter.epsilon().get(), filter.delta().get());
            let spent = 100.0 * filter.share_spent();
            format!("{what} of ({epsilon}, {delta:e}) is spent to {spent:.1} %: {why}")
        };
        let account = &asked.account;
        self.filter
            .fits(&asked.charge)
            .map_err(|why| refused(format!("the total of account \"{account}\""), &self.filter, why))?;
        if caps.len() != asked.cap_charges.len() {
            return Err("the run was priced for other caps".to_owned());
        }
        for (((whom, name), filter), charge) in caps.iter().zip(&asked.cap_charges) {
            filter
                .fits(charge)
                .map_err(|why| refused(format!("the cap of {whom} \"{name}\""), filter, why))?;
        }
        Ok(())
    }
}

impl Books {
    /// The accounts by name.
    pub fn accounts(&self) -> impl Iterator<Item = (&str, &Account)> {
        self.accounts.iter().map(|(name, account)| (name.as_str(), account))
    }

    /// An account, open or closed.
    #[must_use]
    pub fn account(&self, name: &str) -> Option<&Account> {
        self.accounts.get(name)
    }

    /// The analyst for whom a public key signs, in hexadecimal digits.
    #[must_use]
    pub fn analyst(&self, key: &str) -> Option<&str> {
        self.analysts.get(key).map(String::as_str)
    }

    /// Every public key with its analyst.
    pub fn analysts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.analysts.iter().map(|(key, name)| (key.as_str(), name.as_str()))
    }

    /// A run that reserved something.
    #[must_use]
    pub fn run(&self, run: &str) -> Option<&RunState> {
        self.runs.get(run)
    }

    /// The bills of an account's runs.
    pub fn bills<'a>(&'a self, account: &'a Account) -> impl Iterator<Item = &'a Bill> {
        account.runs.iter().filter_map(|run| self.runs.get(run)).map(|state| &state.reserved.bill)
    }

    /// The least ε, at its own δ, of an account that would have accepted the same runs and this one.
    ///
    /// # Errors
    /// The accountant's.
    pub fn spent(&self, account: &Account, next: Option<&Bill>) -> Result<f64, barkeep_accounting::Error> {
        Runs::of(self.bills(account).chain(next))?.epsilon(account.filter.delta())
    }

    /// What the account of a run had spent before it, and with it, as [`spent`](Self::spent) counts; `None` for a run that
    /// reserved nothing.
    ///
    /// # Errors
    /// The accountant's.
    pub fn spent_around(&self, run: &str) -> Result<Option<(f64, f64)>, barkeep_accounting::Error> {
        let account = self.runs.get(run).and_then(|state| self.accounts.get(&state.reserved.account));
        let Some(account) = account else { return Ok(None) };
        let Some(place) = account.runs.iter().position(|known| known == run) else { return Ok(None) };
        let spent = |runs: usize| Runs::of(self.bills(account).take(runs))?.epsilon(account.filter.delta());
        Ok(Some((spent(place)?, spent(place + 1)?)))
    }

    /// An account that takes events.
    ///
    /// # Errors
    /// There is none of this name, or it is closed.
    pub(crate) fn open_account(&self, name: &str) -> Result<&Account, String> {
        let account = self.accounts.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.accounts.keys().map(String::as_str).collect();
            match known.is_empty() {
                true => format!("there is no account \"{name}\": open it by `barkeep ledger open`"),
                false => format!("there is no account \"{name}\"; there are: {}", known.join(", ")),
            }
        })?;
        match &account.closed {
            None => Ok(account),
            Some(reason) => Err(format!("account \"{name}\" is closed: {reason}")),
        }
    }

    fn account_mut(&mut self, name: &str) -> Result<&mut Account, String> {
        self.open_account(name)?;
        self.accounts.get_mut(name).ok_or_else(|| format!("there is no account \"{name}\""))
    }

    /// Takes an event, or says why it may not be written.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Open(opening) => self.open(opening),
            Event::Add(addition) => self.add(addition),
            Event::Cap(cap) => self.cap(cap),
            Event::Reserve(reservation) => self.reserve(reservation),
            Event::Refuse(Refusal { asked, .. }) => {
                let account = self.account_mut(&asked.account)?;
                if account.room(asked).is_ok() {
                    return Err("a run was refused that fits".to_owned());
                }
                account.refusals += 1;
                Ok(())
            }
            Event::Lease(lease) => self.lease(lease),
            Event::Close(closing) => self.close(closing),
            Event::Analyst { name, key } => {
                named("an analyst", name)?;
                if let Some(known) = self.analysts.get(key) {
                    return Err(format!("that key signs for \"{known}\" already"));
                }
                self.analysts.insert(key.clone(), name.clone());
                Ok(())
            }
            Event::CloseAccount { account, reason } => {
                in_words(reason)?;
                self.account_mut(account)?.closed = Some(reason.clone());
                Ok(())
            }
        }
    }

    fn open(&mut self, opening: &Opening) -> Result<(), String> {
        let Opening { account, epsilon, delta, neighbours, unit, orders, reason } = opening;
        named("an account", account)?;
        if self.accounts.contains_key(account) {
            return Err(format!("there is an account \"{account}\" already; names are never used again"));
        }
        if epsilon.get() == 0.0 {
            return Err("an account needs a total above 0".to_owned());
        }
        match reason {
            Some(reason) => in_words(reason)?,
            None if self.accounts.values().any(|known| known.closed.is_some()) => {
                return Err(
                    "an account of this ledger was closed: a new one needs a reason in words (--reason)"
                        .to_owned(),
                );
            }
            None => {}
        }
        let filter = RunFilter::with_orders(*epsilon, *delta, orders).map_err(|error| error.to_string())?;
        let opened = Account {
            filter,
            neighbours: *neighbours,
            unit: *unit,
            data: Vec::new(),
            caps: BTreeMap::new(),
            runs: Vec::new(),
            refusals: 0,
            closed: None,
        };
        self.accounts.insert(account.clone(), opened);
        Ok(())
    }

    fn add(&mut self, addition: &Addition) -> Result<(), String> {
        let Addition { account, data, version, identity, bytes, declared, reason } = addition;
        named("a data set", data)?;
        let open = self.open_account(account)?;
        if declared.as_ref().is_some_and(|declared| declared.unit() != open.unit) {
            return Err(format!("account \"{account}\" counts by the {}, the data set does not", open.unit));
        }
        for (name, known) in self.accounts.iter().filter(|(name, _)| *name != account) {
            let same = |held: &&DataVersion| {
                held.identity == *identity || bytes.as_ref().is_some_and(|bytes| held.is_in(bytes))
            };
            let Some(held) = known.data.iter().find(same) else { continue };
            if known.closed.is_none() {
                return Err(format!(
                    "these records are in account \"{name}\" already, as \"{}\", version {}",
                    held.data, held.version
                ));
            }
            if reason.is_none() {
                return Err(format!(
                    "the closed account \"{name}\" had these records: counting anew needs a reason in words (--reason)"
                ));
            }
        }
        reason.as_deref().map_or(Ok(()), in_words)?;
        let account = self.account_mut(account)?;
        if *version != account.next_version(data) {
            return Err(format!("version {version} of \"{data}\" is not the next one"));
        }
        let (data, identity, bytes) = (data.clone(), identity.clone(), bytes.clone());
        account.data.push(DataVersion {
            data,
            version: *version,
            declared: declared.clone(),
            identity,
            bytes,
        });
        Ok(())
    }

    fn cap(&mut self, cap: &Cap) -> Result<(), String> {
        let Cap { account, whom, name, epsilon, delta, orders } = cap;
        named("a cap", name)?;
        let mut filter =
            RunFilter::with_orders(*epsilon, *delta, orders).map_err(|error| error.to_string())?;
        // Whoever gets a cap has spent what he has spent.
        for run in &self.open_account(account)?.runs {
            let Some(RunState { reserved, .. }) = self.runs.get(run) else { continue };
            let of = match whom {
                Whom::Analyst => &reserved.analyst,
                Whom::Project => &reserved.project,
            };
            if of.as_ref() == Some(name) {
                let charge = filter.price(&reserved.bill).map_err(|error| error.to_string())?;
                filter
                    .charge(&charge)
                    .map_err(|_| format!("{whom} \"{name}\" has spent more than that already"))?;
            }
        }
        self.account_mut(account)?.caps.insert((*whom, name.clone()), filter);
        Ok(())
    }

    fn reserve(&mut self, reservation: &Reservation) -> Result<(), String> {
        let Reservation { account, run, data, version, bill, charge, cap_charges, .. } = reservation;
        if self.runs.contains_key(run) {
            return Err(format!("run {run} has reserved already"));
        }
        let open = self.open_account(account)?;
        if bill.neighbours().is_some_and(|neighbours| neighbours != open.neighbours) {
            return Err("the bill speaks of other neighbours than its account".to_owned());
        }
        if !open.data.iter().any(|known| known.data == *data && known.version == *version) {
            return Err(format!("version {version} of \"{data}\" is not in account \"{account}\""));
        }
        open.room(reservation)?;
        let caps = open.caps_of(reservation.analyst.as_deref(), reservation.project.as_deref())?;
        let account = self.account_mut(account)?;
        account.filter.charge(charge).map_err(|error| error.to_string())?;
        for ((key, mut filter), charge) in caps.into_iter().zip(cap_charges) {
            filter.charge(charge).map_err(|error| error.to_string())?;
            account.caps.insert(key, filter);
        }
        account.runs.push(run.clone());
        let (reserved, lease) = (reservation.clone(), reservation.lease.as_ref().unwrap_or(run).clone());
        self.runs.insert(run.clone(), RunState { reserved, lease, closing: None });
        Ok(())
    }

    fn lease(&mut self, Lease { run, token }: &Lease) -> Result<(), String> {
        let state = self.runs.get_mut(run).ok_or_else(|| format!("run {run} has reserved nothing"))?;
        if state.ended() {
            return Err(format!("run {run} has ended, and its reservation with it"));
        }
        state.lease.clone_from(token);
        Ok(())
    }

    fn close(&mut self, closing: &Closing) -> Result<(), String> {
        let run = &closing.run;
        let state = self.runs.get_mut(run).ok_or_else(|| format!("run {run} has reserved nothing"))?;
        if state.ended() {
            return Err(format!("run {run} has ended already"));
        }
        if state.closing.as_ref().is_some_and(|before| before.answers > closing.answers) {
            return Err(format!("run {run} had more answers before: its journal was cut or replaced"));
        }
        if closing.lease.as_ref().is_some_and(|lease| *lease != state.lease) {
            return Err(format!(
                "run {run} was continued from another copy of its folder, which holds its lease"
            ));
        }
        state.closing = Some(closing.clone());
        Ok(())
    }
}

impl Account {
    /// The version that the next file of a data set has.
    pub(crate) fn next_version(&self, data: &str) -> u32 {
        1 + self.data.iter().filter(|known| known.data == data).map(|known| known.version).max().unwrap_or(0)
    }
}

/// Refuses names that a person could not tell from others.
fn named(what: &str, name: &str) -> Result<(), String> {
    let plain = |c: char| c.is_alphanumeric() || "-_.@ ".contains(c);
    if name.is_empty() || name.len() > 100 || name.trim() != name || !name.chars().all(plain) {
        return Err(format!("{what} needs a name of letters, digits, blanks and -_.@, at most 100 bytes"));
    }
    Ok(())
}

/// Refuses a reason without words.
fn in_words(reason: &str) -> Result<(), String> {
    if reason.split_whitespace().count() < 2 {
        return Err("a reason takes words: say why, for whoever reads the books later".to_owned());
    }
    Ok(())
}
