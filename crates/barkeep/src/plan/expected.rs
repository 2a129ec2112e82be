//! Shows what a plan expects of its run: the error of a mean and the width of an interval, beside those without privacy.

use crate::facts::{Fact, Value};
use crate::samplers::entry::Expected;

impl Expected {
    /// What a plan shows where no formula says it.
    pub(super) fn unknown() -> Fact {
        let words = "not known: there is no formula for this sampler and model";
        Fact::new("expected_error", "expected error of a mean", Value::Absent, words)
    }

    /// What a plan shows of it.
    pub(super) fn facts(&self) -> Vec<Fact> {
        let Self { error, range: (low, high), width } = *self;
        let words = if high > 1.05 * low {
            format!("{error:.3} posterior sd; from {low:.3} to {high:.3}, by how the columns spread")
        } else {
            format!("{error:.3} posterior sd")
        };
        vec![
            Fact::new("expected_error", "expected error of a mean", Value::Number(error), words)
                .unit("posterior sd"),
            Fact::number(
                "expected_width",
                "expected width",
                width,
                format!("{width:.2} times the interval without privacy"),
            )
            .unit("intervals without privacy"),
        ]
    }
}
