//! Lists the doors that give up privacy, each with what it gives up. All but the noiseless sum, which `gate/priced.rs` prices, are opened here.
//!
//! * [`Budget::not_private`]: answers are not paid for, whether or not they have a known cost. For baselines.
//! * [`Budget::marked_not_private`]: answers are paid for, in a run that gives up privacy otherwise. For what follows.
//! * [`NoiseRng::insecure_seed`]: noise and coins can be repeated, hence subtracted. A private budget refuses it: mark it
//!   first. For tests and papers.
//! * [`Gate::seeded_position`]: how many words of seeded noise were drawn. For continuing such a run to the bit.
//! * A [`Sum`](crate::Sum) with σ = 0: no noise at all. It has no price, so a private budget refuses it.
//! * [`SharedTable`]: several curators on the same records, each with a budget of its own, marked. For repeated
//!   experiments.
//!
//! What passes one of them must be marked NOT PRIVATE: [`Gate::is_private`](crate::Gate::is_private) says so.

use crate::{Budget, Curator, Gate, NoiseRng, PrivacyModel, Refused, Table};
use std::sync::Arc;

impl Budget {
    /// Buys nothing and answers everything, for baselines.
    ///
    /// **Privacy.** None. Whatever is answered under this budget must be marked NOT PRIVATE.
    #[must_use]
    pub fn not_private() -> Self {
        Self::unpaid()
    }

    /// The same budget, charged as ever, for a run that is marked NOT PRIVATE: it admits seeded noise.
    ///
    /// **Privacy.** None: [`Budget::is_private`] is false from here on, and so is that of every gate it pays for.
    #[must_use]
    pub fn marked_not_private(self) -> Self {
        self.marked()
    }
}

impl NoiseRng {
    /// Seeds from a number, to repeat a run in a test or a paper.
    ///
    /// **Privacy.** None: whoever knows or guesses the seed subtracts the noise. Everything drawn with it must
    /// be marked not private. The same seed gives the same words in every version.
    #[must_use]
    pub fn insecure_seed(seed: u64) -> Self {
        let mut key = *b"........ barkeep: not private...";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self::of_known_key(key)
    }
}

impl Gate {
    /// How many words of seeded randomness were drawn; none where the randomness protects.
    ///
    /// **Privacy.** Says what noise was drawn. It exists for runs that protect nothing.
    #[must_use]
    pub fn seeded_position(&mut self) -> Option<u128> {
        self.randomness().position()
    }

    /// Continues seeded randomness after this many words; changes nothing where the randomness protects.
    pub fn continue_seeded(&mut self, position: u128) {
        self.randomness().continue_from(position);
    }
}

/// Records that several curators answer about.
///
/// **Privacy.** None is promised: each curator knows its own budget only. What they answer together costs what all the
/// budgets cost together, and nothing here adds that up. So every budget is marked NOT PRIVATE. A table that is handed
/// to one curator by value has no such twin.
#[derive(Clone)]
pub struct SharedTable {
    table: Arc<Table>,
}

impl From<Table> for SharedTable {
    fn from(table: Table) -> Self {
        Self { table: Arc::new(table) }
    }
}

impl SharedTable {
    /// A curator on these records, one of several.
    ///
    /// **Privacy.** None: its budget is marked.
    ///
    /// # Errors
    /// As [`Curator::new`].
    pub fn curator(&self, privacy_model: PrivacyModel, budget: Budget) -> Result<Curator, Refused> {
        Curator::over(Arc::clone(&self.table), privacy_model, budget.marked_not_private())
    }
}
