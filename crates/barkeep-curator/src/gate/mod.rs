//! Lets answers out and nothing else: every question is checked, priced and charged before records are touched.
//!
//! Read the files in this order.

/// Holds the records, the model and the budget.
pub(crate) mod curator;

/// Answers one chain's questions.
#[expect(clippy::module_inception, reason = "the room bears the name of the type every answer passes")]
pub(crate) mod gate;

/// What may be asked, and what it costs.
pub(crate) mod question;

/// The choice among public points, and what it costs.
pub(crate) mod choose;

/// What was bought, and what is left of it.
pub(crate) mod budget;

/// What lies between records and answer.
pub(crate) mod secret;
