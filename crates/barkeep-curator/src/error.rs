//! Says why a question got no answer, in public words only: no refusal carries anything computed from records.

/// Why the curator did not answer.
///
/// **Privacy.** A refusal of the gate is decided before records are touched, from the question and the budget alone, both
/// of which are public; it spends nothing and changes nothing. [`Refused::NotKept`] is no refusal of the gate's, and
/// [`Refused::Unasked`] says that a machine or a file failed, whatever records say.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refused {
    /// What is left of the budget does not cover the question. The run is over.
    #[error("the privacy budget is spent: what is left of it does not cover this question")]
    Exhausted,
    /// The question is malformed. A defect in the plan or the sampler, not in the records.
    #[error("{name} must be {requirement}")]
    Question {
        /// The part of the question, as a user of the library writes it.
        name: &'static str,
        /// What is required of it, as in "a finite number above 0".
        requirement: &'static str,
    },
    /// No accountant knows what the question would cost.
    #[error("the question has no known cost: {0}")]
    Accounting(#[from] barkeep_accounting::Error),
    /// The operating system gave no randomness to protect the answers with.
    #[error("the operating system gave no randomness; no question can be answered without it")]
    Randomness,
    /// Not every record could be asked, because of a machine or a file. The question was charged for and nothing was
    /// released, so that a run with a journal can be continued.
    #[error("not every record could be asked: {reason}")]
    Unasked {
        /// What failed, in public words.
        reason: &'static str,
    },
    /// Whoever stands between gate and sampler could not keep the answer, and so did not release it.
    #[error("the answer could not be kept, so it was not released")]
    NotKept,
}

/// A refusal of a malformed question.
pub(crate) fn question(name: &'static str, requirement: &'static str) -> Refused {
    Refused::Question { name, requirement }
}

/// A pass that did not reach every record.
pub(crate) fn unasked(reason: &'static str) -> Refused {
    Refused::Unasked { reason }
}
