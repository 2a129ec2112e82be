//! Describes one coin on two neighbouring data sets by how much each outcome speaks for the first of them.

/// Two coins, P and Q, by their log-likelihood ratios: one outcome is e^`toward` times as likely under P, the other
/// e^`away` times as likely under Q. Both are at least 0; `toward` may be infinite.
///
/// The two numbers fix the coins, and a pair that is larger in both can imitate the smaller one: its trade-off curve is the
/// intersection of two half planes through (0,0) and (1,1) that grow with `toward` and `away`, and by Blackwell's theorem a
/// pair with the lower curve can be post-processed into the other. Rounding both up is therefore safe for an
/// upper bound, and rounding both down for a lower one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) toward: f64,
    pub(super) away: f64,
}

impl Pair {
    /// P's probability of the outcome that speaks for P, and of the other: (1−e^−away)/(1−e^−(toward+away)) and its
    /// complement. Both are quotients of accurate differences; the relative error is below 8 units of rounding.
    pub(super) fn masses(self) -> (f64, f64) {
        let whole = -libm::expm1(-(self.toward + self.away));
        if whole == 0.0 {
            return (0.0, 1.0);
        }
        let toward = -libm::expm1(-self.away) / whole;
        let away = libm::exp(-self.away) * -libm::expm1(-self.toward) / whole;
        (toward, away)
    }

    /// The pair with P and Q exchanged.
    pub(super) fn exchanged(self) -> Self {
        Self { toward: self.away, away: self.toward }
    }

    /// The total variation distance of the two coins.
    pub(super) fn distance(self) -> f64 {
        self.masses().0 * -libm::expm1(-self.toward)
    }

    /// Mean and variance of the privacy loss under P; infinite if `toward` is.
    pub(super) fn moments(self) -> (f64, f64) {
        let (toward, away) = self.masses();
        let range = self.toward + self.away;
        (toward * self.toward - away * self.away, toward * away * range * range)
    }
}
