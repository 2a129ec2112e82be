//! Fits V_cor, the correction that makes N(0, C) + V nearly logistic, and measures what it leaves.
//!
//! The corrected Barker test accepts when λ + N(0, C) + V > 0. It would be Barker's test exactly if the sum were logistic;
//! no V achieves that for any C > 0, since the characteristic function of V would have to be
//! πt/sinh(πt)·e^{Ct²/2}, which is unbounded. Four fits come close, each with its errors proved by [`Quality`]:
//!
//! | [`Fit`] | minimises | sup-CDF error at C = 1 / 1.5 / 1.75 / 2 | logit error, abs(y) ≤ 6, at C = 2 |
//! | --- | --- | --- | --- |
//! | `mixture` | squared differences of log-densities | 1.7e-6 / 1.3e-4 / 6.3e-4 / 2.0e-3 | 0.010 |
//! | `mixture-density` | squared differences of densities | 9.1e-6 / 3.6e-5 / 2.1e-4 / 7.5e-4 | 0.050 |
//! | `ridge` | a regression whose negative masses are cut off | 3.7e-4 / 1.5e-2 / 3.0e-2 / 5.2e-2 | 2.3 |
//! | `minimax` | the sup-CDF error itself; proved optimal | 5.2e-8 / 2.7e-5 / 1.6e-4 / 5.9e-4 | 0.16 |
//!
//! The sup-CDF error bounds how far an acceptance probability is off; the logit error bounds how far the chain is from
//! detailed balance, where small values near 0, where chains live, are worth more than the best sup-CDF error.

mod minimax;
mod mixture;
mod quality;
mod ridge;
mod simplex;
mod tables;
#[cfg(test)]
mod tests;

pub use quality::Quality;

use crate::{Component, Correction, Error, Variance};
use serde::{Deserialize, Serialize};

/// [`Fit::correction`] refuses a correction whose sup-CDF error may exceed this: acceptance would be off by a whole percent.
pub const WORST_ERROR: f64 = 0.01;

/// π²/3.
const LOGISTIC_VARIANCE: f64 = std::f64::consts::PI * std::f64::consts::PI / 3.0;

/// How to fit a correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Symmetric normal mixture, least squares on the log-density: what the code of Heikkilä et al. minimises.
    Mixture,
    /// Symmetric normal mixture, least squares on the density: what the text of Heikkilä et al. says (supplement, eq. 59).
    MixtureDensity,
    /// Ridge regression of Seita et al., negative masses set to zero. Good up to C ≈ 1.
    Ridge,
    /// The atoms of least sup-CDF error, with a proof that no law does better.
    Minimax,
}

/// A correction with its errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The law of V.
    pub correction: Correction,
    /// Its errors, proved.
    pub quality: Quality,
    /// A sup-CDF error below which no V whatever gets; known for [`Fit::Minimax`] and C ≥ 1.
    pub least: Option<f64>,
}

impl Fit {
    /// All fits.
    pub const ALL: [Self; 4] = [Self::Mixture, Self::MixtureDensity, Self::Ridge, Self::Minimax];

    /// The correction for noise of variance C: from the built-in table for common C, fitted otherwise.
    ///
    /// Pure and deterministic: the same bits on every machine.
    ///
    /// # Errors
    /// As for [`Fit::solve`]; and [`Error::Argument`] where the fit leaves more than [`WORST_ERROR`].
    ///
    /// ```
    /// use barkeep_accounting::{Variance, vcor::Fit};
    /// let fitted = Fit::Minimax.correction(Variance::new(2.0)?)?;
    /// assert!(fitted.quality.cdf_error.upper < 5.874e-4);
    /// assert!(Fit::Ridge.correction(Variance::new(2.0)?).is_err());
    /// # Ok::<(), barkeep_accounting::Error>(())
    /// ```
    pub fn correction(self, variance: Variance) -> Result<Fitted, Error> {
        let fitted = self.fitted(variance, Self::look_up)?;
        if fitted.quality.cdf_error.upper <= WORST_ERROR {
            return Ok(fitted);
        }
        let requirement = match self {
            Self::Mixture => {
                "at most about 2.5 for `mixture` to be within 0.01 of the logistic law; `minimax` reaches 2.91"
            }
            Self::MixtureDensity => {
                "at most about 2.86 for `mixture-density` to be within 0.01 of the logistic law; `minimax` reaches 2.91"
            }
            Self::Ridge => {
                "at most about 1.38 for `ridge` to be within 0.01 of the logistic law; `minimax` reaches 2.91"
            }
            Self::Minimax => {
                "at most about 2.91: no correction whatever is within 0.01 of the logistic law beyond"
            }
        };
        Err(Error::Argument { name: "noise variance C", requirement, value: variance.get() })
    }

    /// The correction, fitted anew and however large its error.
    ///
    /// # Errors
    /// [`Error::Argument`] unless C < π²/3, the logistic law's variance; [`Error::Unresolved`] if the fit breaks down.
    pub fn solve(self, variance: Variance) -> Result<Fitted, Error> {
        self.fitted(variance, Self::compute)
    }

    fn fitted(
        self,
        variance: Variance,
        source: impl Fn(Self, f64) -> Result<(Correction, Option<f64>), Error>,
    ) -> Result<Fitted, Error> {
        let variance = variance.get();
        if variance >= LOGISTIC_VARIANCE {
            let requirement = "below pi^2/3, the variance of the logistic law";
            return Err(Error::Argument { name: "noise variance C", requirement, value: variance });
        }
        let (correction, least) = if self == Self::Minimax && variance < minimax::SMALLEST {
            let (correction, _) = source(self, minimax::SMALLEST)?;
            (widened(&correction, minimax::SMALLEST - variance)?, None)
        } else {
            source(self, variance)?
        };
        let quality = Quality::of(variance, &correction);
        Ok(Fitted { correction, quality, least })
    }

    fn compute(self, variance: f64) -> Result<(Correction, Option<f64>), Error> {
        match self {
            Self::Mixture => Ok((mixture::fit(variance, mixture::Loss::LogDensity)?, None)),
            Self::MixtureDensity => Ok((mixture::fit(variance, mixture::Loss::Density)?, None)),
            Self::Ridge => Ok((ridge::fit(variance)?, None)),
            Self::Minimax => minimax::fit(variance).map(|(correction, least)| (correction, Some(least))),
        }
    }

    fn look_up(self, variance: f64) -> Result<(Correction, Option<f64>), Error> {
        let known = tables::TABLE.iter().find(|entry| entry.fit == self && entry.variance == variance);
        match known {
            Some(entry) => {
                let part = |&(weight, mean, sd): &(f64, f64, f64)| Component { weight, mean, sd };
                Ok((mirrored(entry.halves.iter().map(part))?, entry.least))
            }
            None => self.compute(variance),
        }
    }
}

/// V + N(0, `extra`).
fn widened(correction: &Correction, extra: f64) -> Result<Correction, Error> {
    let wider = |c: &Component| Component { sd: libm::sqrt(c.sd * c.sd + extra), ..*c };
    Correction::new(correction.components().iter().map(wider).collect())
}

/// Makes a symmetric correction of components with mean ≥ 0 whose weights include their mirror images'.
fn mirrored(halves: impl Iterator<Item = Component>) -> Result<Correction, Error> {
    let mut components = Vec::new();
    for Component { weight, mean, sd } in halves {
        if mean == 0.0 {
            components.push(Component { weight, mean, sd });
        } else {
            components.push(Component { weight: 0.5 * weight, mean, sd });
            components.push(Component { weight: 0.5 * weight, mean: -mean, sd });
        }
    }
    Correction::new(components)
}
