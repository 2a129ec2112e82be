//! Defines what is public of sufficient statistics: a bound on a record's, and the posterior given a noisy sum of them.

/// Why most models have none.
pub(crate) const NO_STATISTICS: &str =
    "needs a model whose posterior follows from sums over records: \"gaussian\" or a linear regression";

/// What is public of sufficient statistics; [`Likelihood::statistics_program`](crate::Likelihood::statistics_program) computes a record's.
///
/// **Privacy.** Sees the schema and a noisy sum, never a record.
pub trait Statistics: Send + Sync {
    /// How many numbers a record contributes.
    fn width(&self) -> usize;

    /// A bound on their Euclidean norm over all records the schema admits: at this clip nothing is clipped. Rounded up.
    fn bound(&self) -> f64;

    /// Mean and covariance (row-major) of the normal posterior given the sum over `records` records, observed with
    /// independent normal noise of `variance` per coordinate; `None` if it cannot be computed.
    fn posterior(&self, records: f64, noisy: &[f64], variance: f64) -> Option<(Vec<f64>, Vec<f64>)>;

    /// What [`posterior`](Statistics::posterior) neglects, in words; `None` if it is exact.
    fn neglects(&self) -> Option<&'static str> {
        None
    }
}
