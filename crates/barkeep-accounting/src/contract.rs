//! Composes costs into what a whole run costs, by the tightest accountant that is valid for all of them.

use serde::{Deserialize, Serialize};

use crate::{Bracket, Cost, Delta, Epsilon, Error, Gaussian, Mechanism, Neighbours, Sampling, Steps};

/// What a run may ask: so many steps at each cost, in any order, later ones chosen in view of earlier answers.
///
/// Fixed before the run and written into its certificate; everything the accountant says can be computed again from it.
///
/// ```
/// use barkeep_accounting::{Contract, Cost, Delta, Mechanism, Neighbours, Ratio, Sampling, Steps};
/// let gradient = Mechanism::Gaussian { ratio: Ratio::new(40.0)? };
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
        Ok(self.gaussians()?.epsilon(delta))
    }

    /// δ at a given ε.
    ///
    /// # Errors
    /// As [`Contract::epsilon`].
    pub fn delta(&self, epsilon: Epsilon) -> Result<Bracket, Error> {
        Ok(self.gaussians()?.delta(epsilon))
    }

    /// All parts as one Gaussian mechanism, if they are.
    fn gaussians(&self) -> Result<Gaussian, Error> {
        self.0.iter().try_fold(Gaussian::nothing(), |sum, (cost, steps)| {
            match (cost.mechanism(), cost.sampling()) {
                (Mechanism::Gaussian { ratio }, Sampling::Full) => sum.and(Gaussian::new(*ratio, *steps)?),
                _ => Err(Error::Unresolved {
                    what: "the composition",
                    reason: "only Gaussian mechanisms on full batches are composed so far",
                }),
            }
        })
    }
}
