//! Lets answers out and nothing else: every question is checked, priced and charged before records are touched.
//!
//! Read the files in this order.

/// Holds the records and the budget.
pub(crate) mod curator;

/// Answers one chain's questions.
#[expect(clippy::module_inception, reason = "the room bears the name of the type every answer passes")]
pub(crate) mod gate;

/// What may be asked.
pub(crate) mod question;

/// What a question costs, and the constants of its answer.
pub(crate) mod priced;

/// What was bought, and what is left of it.
pub(crate) mod budget;

/// What happens before records are touched.
pub(crate) mod charge;
