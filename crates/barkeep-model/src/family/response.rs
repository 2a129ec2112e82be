//! Says which declared columns can be a family's response.

use barkeep_data::{Column, Kind};

/// What a family asks of its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// A number.
    Real,
    /// A number above 0.
    Positive,
    /// 0 or 1.
    Binary,
    /// A whole number from 0.
    Count,
    /// A whole number from 0 to the record's trials.
    Successes,
}

impl Response {
    /// What keeps a column from being this response, if anything does; `trials` is their number if all records have the
    /// same.
    #[must_use]
    pub fn fault(self, column: &Column, trials: Option<f64>) -> Option<&'static str> {
        const COUNT: &str = "must be a column of kind \"integer\" with a min of at least 0";
        let is_count = matches!(column.kind(), Kind::Integer { min, .. } if *min >= 0.0);
        let (low, high) = column.range();
        match self {
            Self::Real => {
                column.bounds().is_none().then_some("must be a column of kind \"real\" or \"integer\"")
            }
            Self::Positive => (column.bounds().is_none() || low <= 0.0)
                .then_some("must be a column of kind \"real\" or \"integer\" with a min above 0"),
            // A category of two levels is an indicator by now.
            Self::Binary => ((low, high) != (0.0, 1.0)).then_some(
                "must be a column of kind \"bool\", a category of two levels, or an integer from 0 to 1",
            ),
            Self::Count => (!is_count).then_some(COUNT),
            Self::Successes if !is_count => Some(COUNT),
            Self::Successes => {
                trials.filter(|trials| high > *trials).map(|_| "must have a max of at most the trials")
            }
        }
    }

    /// A column that suits it, for records simulated without a spec.
    ///
    /// # Errors
    /// The name or the trials make no column.
    pub fn implied(self, name: &str, trials: Option<f64>) -> Result<Column, barkeep_data::Error> {
        match self {
            Self::Real => Column::real(name, -10.0, 10.0, 0.0),
            Self::Positive => Column::real(name, 0.1, 10.0, 1.0),
            Self::Binary => Column::boolean(name, false),
            Self::Count => Column::integer(name, 0.0, 10.0, 0.0),
            Self::Successes => Column::integer(name, 0.0, trials.unwrap_or(10.0), 0.0),
        }
    }
}
