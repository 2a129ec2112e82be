//! Holds the law of the correction V that turns N(0, C) into a nearly logistic variable: a symmetric normal mixture.

use crate::Error;
use barkeep_num::vector::{dispatch, scalar};
use serde::{Deserialize, Serialize};

/// Most components a correction may have; the precision of a coin is proved for at most this many.
pub(super) const MOST_COMPONENTS: usize = 4096;

/// One normal component of a [`Correction`]; a standard deviation of 0 makes it an atom.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// Weight, above 0.
    pub weight: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, at least 0.
    pub sd: f64,
}

/// A symmetric mixture of normals and atoms, Σ_k w_k·N(μ_k, σ_k²).
///
/// The weights are divided by their exact sum wherever the law is used, so a sum that is 1 only up to rounding still
/// defines a probability law, and the law is symmetric whatever the rounding: every component off the centre has its
/// mirror image, bit for bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Component>", into = "Vec<Component>")]
pub struct Correction(Vec<Component>);

impl Correction {
    /// Checks and sorts the components.
    ///
    /// # Errors
    /// [`Error::Argument`] for a weight, mean or standard deviation out of range, or a weight sum off 1 by more than
    /// 10⁻⁶; [`Error::Mismatch`] for an asymmetric, empty or oversized mixture.
    ///
    /// ```
    /// use barkeep_accounting::{Component, Correction};
    /// let atom = |weight, mean| Component { weight, mean, sd: 0.0 };
    /// assert!(Correction::new(vec![atom(0.8, 0.0), atom(0.1, 3.0), atom(0.1, -3.0)]).is_ok());
    /// assert!(Correction::new(vec![atom(0.8, 0.0), atom(0.2, 3.0)]).is_err());
    /// ```
    pub fn new(mut components: Vec<Component>) -> Result<Self, Error> {
        if components.is_empty() || components.len() > MOST_COMPONENTS {
            return Err(Error::Mismatch("a correction has between 1 and 4096 components"));
        }
        for Component { weight, mean, sd } in &components {
            if !(*weight > 0.0 && *weight <= 1.0) {
                let requirement = "above 0 and at most 1";
                return Err(Error::Argument { name: "weight of a correction", requirement, value: *weight });
            }
            if !(-1e6..=1e6).contains(mean) {
                let requirement = "between -1e6 and 1e6";
                return Err(Error::Argument { name: "mean of a correction", requirement, value: *mean });
            }
            if !(0.0..=1e6).contains(sd) {
                let requirement = "between 0 and 1e6";
                return Err(Error::Argument { name: "sd of a correction", requirement, value: *sd });
            }
        }
        let sum: f64 = components.iter().map(|c| c.weight).sum();
        if (sum - 1.0).abs() > 1e-6 {
            let name = "sum of a correction's weights";
            return Err(Error::Argument { name, requirement: "1 within 1e-6", value: sum });
        }
        // −0 and 0 are one centre; sorting by all three fields puts mirror images at mirrored places.
        for component in &mut components {
            component.mean += 0.0;
        }
        let sign_then_size =
            |c: &Component| if c.mean < 0.0 { (c.mean, -c.sd, -c.weight) } else { (c.mean, c.sd, c.weight) };
        components.sort_by(|a, b| {
            let (a, b) = (sign_then_size(a), sign_then_size(b));
            a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        let mirrored = |(a, b): (&Component, &Component)| {
            a.mean == 0.0 && b.mean == 0.0 || a.mean == -b.mean && a.sd == b.sd && a.weight == b.weight
        };
        if !components.iter().zip(components.iter().rev()).all(mirrored) {
            return Err(Error::Mismatch("a correction must be symmetric about 0"));
        }
        Ok(Self(components))
    }

    /// The components, sorted by mean.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.0
    }

    /// P(N(0, `variance`) + V > −λ), its rounding proved beside [`Rule::coin_error`](crate::Rule::coin_error).
    pub(super) fn upper_tail(&self, log_ratio: f64, variance: f64) -> f64 {
        let (mut mass, mut total) = (0.0, 0.0);
        for Component { weight, mean, sd } in &self.0 {
            let spread = libm::sqrt(variance + sd * sd);
            // An atom without other noise is on one side or the other; on the boundary, half on each.
            let distance = log_ratio + mean;
            let scaled = if distance == 0.0 { 0.0 } else { distance / spread };
            mass += weight * barkeep_num::normal_cdf(scaled);
            total += weight;
        }
        mass / total
    }
}

/// Components worked on side by side.
pub(crate) const TOGETHER: usize = 8;

/// One number for each component of a group.
pub(crate) type Numbers = [f64; TOGETHER];

/// The law of N(0, C) + V, C > 0, ready to be asked many times: what does not depend on the place is computed once.
///
/// **Precision.** That of the [`Correction`]'s own tail: the same positive terms, added in another order, with
/// [`scalar::normal_cdf`], whose error is below 8u too. The last bits differ, so no coin is made of it.
pub(crate) struct Smoothed {
    groups: Vec<Group>,
    /// The sum of all weights.
    total: f64,
}

struct Group {
    weight: Numbers,
    mean: Numbers,
    spread: Numbers,
}

impl Smoothed {
    pub(crate) fn new(variance: f64, correction: &Correction) -> Self {
        let group = |components: &[Component]| Group {
            weight: numbers(components, 0.0, |component| component.weight),
            mean: numbers(components, 0.0, |component| component.mean),
            spread: numbers(components, 1.0, |component| libm::sqrt(variance + component.sd * component.sd)),
        };
        Self {
            groups: correction.0.chunks(TOGETHER).map(group).collect(),
            total: correction.0.iter().map(|component| component.weight).sum(),
        }
    }

    /// P(N(0, C) + V > −t).
    pub(crate) fn upper_tail(&self, t: f64) -> f64 {
        let mass = dispatch(
            #[inline(always)]
            || {
                let mut mass = [0.0; TOGETHER];
                for Group { weight, mean, spread } in &self.groups {
                    for i in 0..TOGETHER {
                        mass[i] += weight[i] * scalar::normal_cdf((t + mean[i]) / spread[i]);
                    }
                }
                mass
            },
        );
        mass.iter().sum::<f64>() / self.total
    }
}

/// A number of each component of a group, and `none` where there are too few.
pub(crate) fn numbers(components: &[Component], none: f64, of: impl Fn(&Component) -> f64) -> Numbers {
    std::array::from_fn(|i| components.get(i).map_or(none, &of))
}

impl TryFrom<Vec<Component>> for Correction {
    type Error = Error;
    fn try_from(components: Vec<Component>) -> Result<Self, Error> {
        Self::new(components)
    }
}

impl From<Correction> for Vec<Component> {
    fn from(correction: Correction) -> Self {
        correction.0
    }
}
