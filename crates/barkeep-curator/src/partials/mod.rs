//! Asks records in shards that others keep: a question goes out in bytes, integer sums of each shard come back.
//!
//! A driver has the curator: plan, budget, noise. Workers have the records, each a shard of them, and a pure function:
//! [`Shard::partial`] of a question and the shard's records is that shard's [`Partial`]. Whoever implements [`Shards`] carries
//! the bytes: threads, Spark, Ray. There is no network protocol here.
//!
//! **Lemma (shards do not matter).** Let every record, or person, be in exactly one shard, with the rows of a person in the same
//! order as in one file. Then the sum of all partials is the integer sum over the whole table, to the bit. Proof: a record's
//! term is its own, since a program's output is a function of its row (`barkeep_machine`); a person's is a function of the person's rows in their order (`sums/fold.rs`); each
//! becomes an integer before it is added; integer addition is associative and commutative and nothing overflows. ∎
//! Sensitivities, costs and noise are therefore those of one table, and answers too: noise is drawn once, in the driver's
//! gate, after the charge.
//!
//! **Retries are free.** A partial is a function of question and shard. It draws no randomness, charges nothing, reads no
//! clock and writes nothing, so that an engine may compute it twice, elsewhere or for nothing: what the driver adds is the same.
//! One question is charged once, before it leaves the driver.
//!
//! **A partial is a secret.** It is an exact sum over records, without noise. It may be held in the memory of worker and
//! driver, and on the wire between them under the engine's own encryption and authentication. It is never logged, cached,
//! written to a disk or shown. A question is public: it holds what a journal holds.
//!
//! **What is checked.** Before anything is charged all shards are counted: [`Table::sharded`] refuses a shard that is doubled, a
//! worker of another version or another plan, a shard whose columns are not the plan's and, where the number of records is
//! public, any other number in sum. A person whose rows are in two shards is counted twice, and found so. After that every
//! question wants the same shards with the same numbers of records, each once, or the run stops ([`Refused::Unasked`]).
//! Where neighbours add or remove a record their number is secret and nothing can be compared: that every record is in one
//! shard, and all rows of a person in one, is the custodian's promise there.
//!
//! [`Table::sharded`]: crate::Table::sharded
//! [`Refused::Unasked`]: crate::Refused::Unasked

mod carried;
mod shard;
mod shards;
#[cfg(test)]
mod tests;
mod wire;

pub use shard::Shard;
pub use shards::{Shards, Whole};
pub use wire::{Partial, PlanIdentity};
