//! Keeps a custodian's books: what was ever released about a population, by whom, under which certificate, and what is left.
//!
//! # The nouns
//! A **[`Ledger`]** is a file of entries that only grows. An **account** is a population of persons with a total (ε, δ), a unit and
//! a neighbouring relation; data sets, version by version, belong to it, each as its custodian declares it. A run **reserves** its bill before its certificate
//! is written and before records are opened, and is **closed** with what it asked. What is reserved is spent, whether the run
//! ended or not: there are no refunds. The **[`Books`]** are what follows from the entries.
//!
//! **Guarantee.** All runs that an account accepted are together (ε, δ)-private for its total, however each was chosen in view of
//! the answers before it: [`RunFilter`](barkeep_accounting::RunFilter) proves it. Entries hold bills, not (ε, δ).
//!
//! **Two processes never overspend.** An entry is decided and written under one lock and in one transaction.
//!
//! **What is noticed.** Every entry holds the hash of the one before. A seal beside the ledger holds the hash of the whole file and
//! of the last entry, authenticated by the custodian's key: [`seal`](Ledger#seal) says what that finds and what it cannot.
//!
//! **Privacy.** Identities of records are keyed hashes, and stay inside the ledger. Whether a run is accepted depends on public
//! numbers alone.

mod books;
mod entry;
mod error;
mod ledger;
mod request;
mod seal;
mod stamp;
mod store;

pub use books::{Account, Books, DataVersion, RunState};
pub use entry::{
    Addition, Cap, Closing, Declared, Entry, Event, Lease, Opening, Refusal, Reservation, Unit, Whom,
};
pub use error::Error;
pub use ledger::{Checked, Ledger, Quote};
pub use request::{DataSet, Records, Request};
pub use stamp::Stamp;
