//! Runs a plan on records that a cluster's workers hold: each answers for its shard, and the driver adds up.
//!
//! The driver calls [`Plan::sharded`] and runs the plan on the table it gets. A worker needs the bytes of
//! [`Plan::for_workers`], the bytes of a question, and the rows of its shard: [`partial`] is one function of the three. Spark
//! calls it once a partition and question; an engine that keeps state, such as an actor of Ray, keeps a [`Worker::shard`].
//!
//! **Privacy.** What a worker returns is an exact sum and a secret. [`barkeep_curator::partials`] says why sums over shards
//! are those over the whole, why retries are free, and what is checked before anything is charged.

use crate::Error;
use crate::plan::Plan;
use crate::spec::{Spec, SpecError};
use barkeep_curator::Table;
pub use barkeep_curator::partials::{Partial, Shard, Shards};
use barkeep_curator::partials::{PlanIdentity, Whole};
use barkeep_data::{Frame, Unit};
use sha2::{Digest, Sha256};

impl Plan {
    /// What workers must know: the spec with all that it needs written in. Public.
    ///
    /// # Errors
    /// [`Error::Spec`] for a model that is code of one's own, which workers do not have.
    pub fn for_workers(&self) -> Result<Vec<u8>, Error> {
        if self.spec().has_own_model() {
            let reason = "is code of another program, which a cluster's workers cannot plan";
            return Err(SpecError::new("model", reason).into());
        }
        Ok(self.spec().text().into_bytes())
    }

    /// The records of all shards as one table, to run the plan on. Every shard is counted, so that what is wrong is found
    /// before anything is charged.
    ///
    /// # Errors
    /// As [`Plan::for_workers`]; [`Error::Refused`] if a shard is lost, doubled, or of another version or plan, and if all
    /// together do not hold as many records, or persons, as the spec declares.
    pub fn sharded(&self, shards: Box<dyn Shards>) -> Result<Table, Error> {
        let whole = Whole {
            schema: self.view().schema(),
            columns: self.view().source().width(),
            unit: self.spec().data().unit(),
            count: self.spec().count(),
            plan: identity(&self.for_workers()?),
        };
        Ok(Table::sharded(shards, &whole)?)
    }
}

/// A worker that knows the driver's plan.
pub struct Worker {
    plan: Plan,
    identity: PlanIdentity,
}

impl Worker {
    /// Plans what [`Plan::for_workers`] says. No file that the spec names is opened.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(plan: &[u8]) -> Result<Self, Error> {
        let text = std::str::from_utf8(plan).map_err(|_| SpecError::new("", "is not what a driver sent"))?;
        Ok(Self { plan: Plan::new(Spec::parse_alone(text)?)?, identity: identity(plan) })
    }

    /// The shard of this place among all, from its rows: any number of them, none included.
    ///
    /// **Privacy.** As reading a frame: what is refused depends on names and types of columns alone.
    ///
    /// # Errors
    /// [`Error::Data`] if the frame is not what the spec declares.
    pub fn shard(&self, place: u32, frame: &mut dyn Frame) -> Result<Shard, Error> {
        let (spec, view) = (self.plan.spec(), self.plan.view());
        let (person, most_rows) = match spec.data().unit() {
            Unit::Record => (None, None),
            Unit::Person { most_rows } => (spec.data().person(), most_rows),
        };
        let table = Table::read_shard(frame, view, person, spec.count(), most_rows)?;
        Ok(Shard::new(table, self.identity, place))
    }
}

/// One shard's answer to a question: a pure function of what the driver sent and of the shard's rows.
///
/// **Privacy.** The answer is a secret: see [`Partial`].
///
/// # Errors
/// As [`Worker::new`], [`Worker::shard`] and [`Shard::partial`]. None depends on what a cell says.
pub fn partial(plan: &[u8], question: &[u8], place: u32, frame: &mut dyn Frame) -> Result<Partial, Error> {
    Ok(Worker::new(plan)?.shard(place, frame)?.partial(question)?)
}

/// What tells this plan from others.
fn identity(plan: &[u8]) -> PlanIdentity {
    Sha256::new_with_prefix(b"barkeep plan for workers\n").chain_update(plan).finalize().into()
}
