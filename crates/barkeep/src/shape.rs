//! The columns that every file of draws has, and why names or states do not fit beside them.

/// The name of the column that numbers the chains, from 1.
pub const CHAIN_COLUMN: &str = "chain";
/// The name of the column that numbers a chain's draws, from 1: draw k is the state after step k.
pub const DRAW_COLUMN: &str = "draw";
/// The name of the column that says whether a draw was left out of the summary.
pub const WARMUP_COLUMN: &str = "warmup";

/// Why a chain or a list of parameters does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// There is no parameter to draw.
    #[error("a model needs at least one parameter")]
    NoParameters,
    /// A column of the output would be ambiguous.
    #[error(
        "the parameter name {0:?} is empty, used twice, or one of the columns {CHAIN_COLUMN:?}, {DRAW_COLUMN:?}, {WARMUP_COLUMN:?}"
    )]
    Name(String),
    /// A state has another number of coordinates than there are parameters.
    #[error("a draw has {actual} coordinates where {expected} parameters are named")]
    Dimension {
        /// How many parameters there are.
        expected: usize,
        /// How many coordinates came.
        actual: usize,
    },
}
