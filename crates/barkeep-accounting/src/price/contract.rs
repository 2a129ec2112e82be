//! Composes costs into what a whole run costs, and answers for any number of repetitions of a step.

use serde::{Deserialize, Serialize};

use super::Detail;
use crate::engines::chooser::Accountant;
use crate::{Bracket, Cost, Delta, Epsilon, Error, Neighbours, PrivacyCurve, Risk, Steps};

/// What a run may ask: a number of steps at each cost, in any order, later ones chosen in view of earlier answers.
///
/// Fixed before the run and written into its certificate; everything the accountant says can be computed again from it.
///
/// **Any adaptive order.** Let each line i have a pair of laws (Pᵢ, Qᵢ) that dominates whatever one of its permits answers: no
/// hockey-stick divergence of the answer exceeds the pair's. *Claim:* whoever chooses each question, and the permit it uses, in view
/// of all earlier answers, sees at most the product of the pairs of all permits. *Proof*, by induction on the number of permits left.
/// Without any, nothing is seen. Else the next question uses a permit of some line i, a function of what was seen. Its answer is
/// dominated by (Pᵢ, Qᵢ). Whatever it is, the rest is dominated by the product D of the other permits' pairs, one and the same for
/// all answers. Hence both together are dominated by (Pᵢ, Qᵢ) × D (Zhu, Dong and Wang 2022, Theorem 10). Products commute: that is the
/// product of all permits' pairs, whichever i it was. Public randomness in the choice averages over such cases, which divergences, being
/// jointly convex, allow. Permits left over are answers not seen. ∎ Under add/remove this holds for each direction. Decisions have no pair
/// of their own; their recursion takes the supremum over everything the past may choose: `engines/decision.rs`.
///
/// ```
/// use barkeep_accounting::mechanisms::Gaussian;
/// use barkeep_accounting::{Contract, Cost, Delta, Neighbours, Ratio, Sampling, Steps};
/// let gradient = Gaussian { ratio: Ratio::new(40.0)? };
/// let cost = Cost::new(gradient, Sampling::Full, Neighbours::Substitute)?;
/// let run = Contract::new(vec![(cost, Steps(1000))])?;
/// assert!(run.epsilon(Delta::new(1e-6)?)?.upper < 4.0);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(Cost, Steps)>", into = "Vec<(Cost, Steps)>")]
pub struct Contract(Vec<(Cost, Steps)>);

impl TryFrom<Vec<(Cost, Steps)>> for Contract {
    type Error = Error;
    fn try_from(parts: Vec<(Cost, Steps)>) -> Result<Self, Error> {
        Self::new(parts)
    }
}

impl From<Contract> for Vec<(Cost, Steps)> {
    fn from(contract: Contract) -> Self {
        contract.0
    }
}

impl Contract {
    /// Checks that all parts speak of the same neighbours. No parts at all cost nothing.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if they do not.
    pub fn new(parts: Vec<(Cost, Steps)>) -> Result<Self, Error> {
        let neighbours: Option<Neighbours> = parts.first().map(|(cost, _)| cost.neighbours());
        if parts.iter().any(|(cost, _)| Some(cost.neighbours()) != neighbours) {
            return Err(Error::Mismatch("costs for different neighbouring relations cannot be composed"));
        }
        Ok(Self(parts))
    }

    /// The costs and how often each may be charged.
    #[must_use]
    pub fn parts(&self) -> &[(Cost, Steps)] {
        &self.0
    }

    /// ε at a given δ.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if no accountant reaches an answer, [`Error::Unbounded`] if there is none.
    pub fn epsilon(&self, delta: Delta) -> Result<Bracket, Error> {
        Ok(Accountant::new(&self.0)?.epsilon(Steps(1), delta)?.bracket)
    }

    /// The upper end of [`epsilon`](Contract::epsilon) alone, to the bit: what a bill needs, and for decisions several times quicker.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn epsilon_above(&self, delta: Delta) -> Result<f64, Error> {
        Accountant::new(&self.0)?.epsilon_above(Steps(1), delta)
    }

    /// δ at a given ε.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn delta(&self, epsilon: Epsilon) -> Result<Bracket, Error> {
        Ok(Accountant::new(&self.0)?.delta(Steps(1), epsilon)?.bracket)
    }

    /// δ at every ε, from above: what it means for a person, and for groups of them.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn curve(&self) -> Result<PrivacyCurve, Error> {
        Accountant::new(&self.0)?.curve(Steps(1), Detail::Whole)
    }

    /// What it means for one person: the risk of [`Contract::curve`], found with fewer points and composed as for ε at this δ.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn risk(&self, delta: Delta) -> Result<Risk, Error> {
        Ok(Accountant::new(&self.0)?.curve(Steps(1), Detail::Risk(delta))?.risk())
    }

    /// Whether this is certainly within (ε, δ).
    ///
    /// ε at δ is found by a search that ends a rounding above the truth. So where it is above ε, δ at ε is asked too.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn is_within(&self, epsilon: Epsilon, delta: Delta) -> Result<bool, Error> {
        if self.epsilon_above(delta)? <= epsilon.get() {
            return Ok(true);
        }
        Ok(self.delta(epsilon)?.upper <= delta.get())
    }

    /// The accountant that answers, in words.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn method(&self) -> Result<&'static str, Error> {
        Ok(Accountant::new(&self.0)?.method())
    }
}

#[cfg(test)]
mod tests;
