//! Names mechanisms by their dominating pairs: what the composition composes.

use std::fmt;
use std::sync::Arc;

use super::amplified::{Amplified, Batches};
use super::atoms::Losses;
use super::blocks;
use super::discrete::{DiscreteGaussian, Laplace, Listed};
use super::knots::dominating;
use super::normal::{Kind, NormalPair, WithoutReplacement};
use super::tabulated::{Sampled, Tabulated};
use super::truncated::{self, Truncated};
use crate::{Delta, Epsilon, Error, Neighbours, Probability, Rate, Ratio, Sampling, Steps, Variance};

/// Shifts (1/ratio) that the arithmetic is made for.
pub(super) const SHIFTS: std::ops::RangeInclusive<f64> = 1e-100..=1e3;

/// One use of a mechanism, as a pair of distributions that dominates it: no test tells its outputs on neighbouring data apart better
/// than it tells P from Q.
///
/// Made by the constructors below, composed by [`Composition`](super::Composition).
#[derive(Clone)]
pub struct DominatingPair {
    pub(super) forward: Arc<dyn Losses>,
    /// The pair with P and Q exchanged, where that is another curve.
    pub(super) backward: Option<Arc<dyn Losses>>,
    /// 1/ratio², if this is a Gaussian mechanism on all records: such steps are composed exactly beforehand.
    pub(super) gaussian: Option<f64>,
    /// Whether forward is "one record more" for all steps at once.
    pub(super) aligned: bool,
}

impl fmt::Debug for DominatingPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DominatingPair")
            .field("forward", &self.forward)
            .field("backward", &self.backward)
            .finish()
    }
}

impl DominatingPair {
    pub(super) fn symmetric(losses: impl Losses + 'static) -> Self {
        Self { forward: Arc::new(losses), backward: None, gaussian: None, aligned: false }
    }

    pub(super) fn directed(
        forward: impl Losses + 'static,
        backward: impl Losses + 'static,
        aligned: bool,
    ) -> Self {
        Self { forward: Arc::new(forward), backward: Some(Arc::new(backward)), gaussian: None, aligned }
    }

    /// The Gaussian mechanism on all records: N(1, s²) against N(0, s²), s = noise over sensitivity.
    ///
    /// # Errors
    /// [`Error::Unresolved`] for ratios outside 1e-3 to 1e100.
    pub fn gaussian(ratio: Ratio) -> Result<Self, Error> {
        let shift = shift(ratio)?;
        let pair = NormalPair::new(Kind::Remove, shift, 1.0);
        Ok(Self { gaussian: Some(shift * shift), ..Self::symmetric(pair) })
    }

    /// The Gaussian mechanism on a random batch.
    ///
    /// With q the sampling rate and s the ratio of noise to sensitivity *under the neighbouring relation*:
    ///
    /// - **Poisson, add/remove**: (1−q)N(0, s²)+qN(1, s²) against N(0, s²), and the reverse. Each direction is composed over
    ///   all steps; the worse one counts.
    /// - **Poisson, substitute**: (1−q)N(0)+qN(½) against (1−q)N(0)+qN(−½), noise s. The sensitivity 1 is that of exchanging
    ///   a record for another, each of norm at most ½. Proof that the antipodal pair is the worst, in any dimension: fix the others'
    ///   part of the batch, which has one law on both data sets. Let A, B, C be normal of unit variance around 0, x and x', |x|, |x'| ≤ c
    ///   = 1/(2s). For a ≥ 1, H_a is the supremum over events S of q·B(S) − (a−1)(1−q)·A(S) − aq·C(S). With z = Φ⁻¹(B(S)), Neyman and
    ///   Pearson give A(S) ≥ Φ(z − |x|) ≥ Φ(z − c) and C(S) ≥ Φ(z − |x − x'|) ≥ Φ(z − 2c), and both coefficients are not above 0. So
    ///   H_a ≤ sup_z q·Φ(z) − (a−1)(1−q)·Φ(z−c) − aq·Φ(z−2c), which the half-lines attain where B, A, C stand at c, 0, −c. For a < 1,
    ///   H_a(P‖Q) = 1 − a + a·H_{1/a}(Q‖P), and the pair is its own mirror image. ∎
    /// - **Without replacement, substitute**: the curve of two branches of Zhu, Dong and Wang (2022, Proposition 30):
    ///   H_a((1−q)Q+qP ‖ Q) for a ≥ 1, H_a(P ‖ (1−q)P+qQ) for a < 1, with P = N(1, s²), Q = N(0, s²).
    ///
    /// # Errors
    /// [`Error::Mismatch`] for batches without replacement under add/remove; [`Error::Argument`] for an impossible batch;
    /// [`Error::Unresolved`] for ratios outside 1e-3 to 1e100.
    pub fn subsampled_gaussian(
        ratio: Ratio,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        let shift = shift(ratio)?;
        match (sampling, neighbours) {
            (Sampling::Full, _) => Self::gaussian(ratio),
            (Sampling::Poisson { rate }, _) if rate.get() == 1.0 => Self::gaussian(ratio),
            (Sampling::Poisson { rate }, Neighbours::AddRemove) => {
                let pair = |kind| NormalPair::new(kind, shift, rate.get());
                Ok(Self::directed(pair(Kind::Remove), pair(Kind::Add), true))
            }
            (Sampling::Poisson { rate }, Neighbours::Substitute) => {
                Ok(Self::symmetric(NormalPair::new(Kind::Substitute, 0.5 * shift, rate.get())))
            }
            (Sampling::WithoutReplacement { batch, records }, Neighbours::Substitute) => {
                if batch == 0 || batch > records {
                    return Err(Error::Argument {
                        name: "batch",
                        requirement: "at least 1 and at most the number of records",
                        value: batch as f64,
                    });
                }
                if batch == records {
                    return Self::gaussian(ratio);
                }
                // Rounded, like the shift; the slack of the losses covers either way.
                let rate = batch as f64 / records as f64;
                Ok(Self::symmetric(WithoutReplacement::new(shift, rate)))
            }
            (Sampling::WithoutReplacement { .. }, Neighbours::AddRemove) => Err(Error::Mismatch(
                "batches of fixed size drawn without replacement need neighbours = substitute: \
                 their size would reveal the number of records",
            )),
        }
    }

    /// The Gaussian mechanism on Poisson batches of which at most `most` records are kept, of `records` in all: the dominating pair
    /// and its proof stand in `engines/pld/truncated.rs`.
    ///
    /// The ratio is that of batches that are not cut, as for [`DominatingPair::subsampled_gaussian`]. The bracket's lower end is the price where all other records
    /// contribute nothing: where cuts are common the two ends are apart.
    ///
    /// # Errors
    /// [`Error::Unresolved`] for ratios outside 1e-3 to 1e100.
    pub fn truncated_gaussian(
        ratio: Ratio,
        rate: Rate,
        (most, records): (u64, u64),
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        if most >= records {
            return Self::subsampled_gaussian(ratio, Sampling::Poisson { rate }, neighbours);
        }
        if rate.get() == 1.0 {
            // All are drawn, and a random `most` of them are kept.
            return Err(Error::Mismatch(
                "at rate 1 every batch is cut to the same size; use batches without replacement",
            ));
        }
        // Under add/remove a cut batch moves twice as far.
        shift(Ratio::new(0.5 * ratio.get())?)?;
        let shift = shift(ratio)?;
        let batches = truncated::Batches { rate: rate.get(), most: most as f64, records: records as f64 };
        let losses = |kind| Truncated::new(kind, shift, batches);
        Ok(match neighbours {
            Neighbours::AddRemove => Self::directed(losses(Kind::Remove), losses(Kind::Add), true),
            Neighbours::Substitute => Self::symmetric(losses(Kind::Substitute)),
        })
    }

    /// Discrete Gaussian noise of parameter σ² on an integer of this sensitivity.
    ///
    /// # Errors
    /// [`Error::Argument`] for sensitivity 0; [`Error::Unresolved`] for a variance outside 1e-6 to 1e9 or a
    /// sensitivity above a million standard deviations.
    pub fn discrete_gaussian(variance: Variance, sensitivity: u64) -> Result<Self, Error> {
        if sensitivity == 0 {
            return Err(Error::Argument {
                name: "sensitivity",
                requirement: "a whole number of at least 1",
                value: 0.0,
            });
        }
        let (variance, sensitivity) = (variance.get(), sensitivity as f64);
        if !((1e-6..=1e9).contains(&variance) && sensitivity <= 1e6 * variance.sqrt()) {
            return Err(Error::Unresolved {
                what: "the discrete Gaussian mechanism",
                reason: "its variance is outside 1e-6 to 1e9 or its sensitivity above a million standard deviations",
            });
        }
        Ok(Self::symmetric(DiscreteGaussian::new(variance, sensitivity)))
    }

    /// Laplace noise, scale over sensitivity given.
    ///
    /// # Errors
    /// [`Error::Unresolved`] for ratios outside 1e-3 to 1e100.
    pub fn laplace(ratio: Ratio) -> Result<Self, Error> {
        Ok(Self::symmetric(Laplace::new(shift(ratio)?)))
    }

    /// Laplace noise on a random batch, scale over sensitivity under the neighbouring relation given.
    ///
    /// Poisson batches under add/remove, and batches without replacement under substitution; the pairs are those of
    /// [`DominatingPair::subsampled_gaussian`] with Laplace noise in the place of the Gaussian.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for other combinations; [`Error::Unresolved`] as for [`DominatingPair::laplace`].
    pub fn subsampled_laplace(
        ratio: Ratio,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        if sampling.is_full() {
            return Self::laplace(ratio);
        }
        let (base, rate) = (Laplace::new(shift(ratio)?), sampling.rate());
        let on = |batches: Batches| Amplified { base, rate, batches };
        match (sampling, neighbours) {
            (Sampling::Poisson { .. }, Neighbours::AddRemove) => {
                Ok(Self::directed(on(Batches::Remove), on(Batches::Add), true))
            }
            (Sampling::WithoutReplacement { .. }, Neighbours::Substitute) => {
                Ok(Self::symmetric(on(Batches::WithoutReplacement)))
            }
            (Sampling::Full, _)
            | (Sampling::Poisson { .. }, Neighbours::Substitute)
            | (Sampling::WithoutReplacement { .. }, Neighbours::AddRemove) => Err(Error::Mismatch(
                "Laplace noise on batches is proved for Poisson batches under add-remove and for batches \
                 without replacement under substitute",
            )),
        }
    }

    /// Noise z with P(z) ∝ e^(−|z|/scale) on an integer of this sensitivity.
    ///
    /// # Errors
    /// [`Error::Argument`] for sensitivity 0; [`Error::Unresolved`] for a sensitivity above 100 000 or a scale outside 1e-2 to 1e100.
    pub fn discrete_laplace(scale: Ratio, sensitivity: u64) -> Result<Self, Error> {
        if sensitivity == 0 {
            return Err(Error::Argument {
                name: "sensitivity",
                requirement: "a whole number of at least 1",
                value: 0.0,
            });
        }
        match u32::try_from(sensitivity) {
            Ok(sensitivity @ ..=100_000) if (1e-2..=1e100).contains(&scale.get()) => {
                Ok(Self::symmetric(Listed::discrete_laplace(scale.get(), sensitivity)))
            }
            _ => Err(Error::Unresolved {
                what: "the discrete Laplace mechanism",
                reason: "its scale is outside 1e-2 to 1e100 or its sensitivity above 100000",
            }),
        }
    }

    /// One of `options` answers, the true one e^ε times as likely as each other.
    ///
    /// # Errors
    /// [`Error::Argument`] for fewer than two options; [`Error::Unresolved`] for ε outside 1e-100 to 700.
    pub fn categorical(epsilon: Epsilon, options: u64) -> Result<Self, Error> {
        if options < 2 {
            return Err(Error::Argument {
                name: "options",
                requirement: "at least 2",
                value: options as f64,
            });
        }
        box_range(epsilon)?;
        Ok(Self::symmetric(Listed::categorical(epsilon.get(), options as f64)))
    }

    /// Anything (ε, δ)-private of which nothing else is known; δ = 0 is allowed.
    ///
    /// # Errors
    /// [`Error::Unresolved`] for ε outside 1e-100 to 700, but for 0.
    pub fn black_box(epsilon: Epsilon, delta: Option<Delta>) -> Result<Self, Error> {
        if epsilon.get() > 0.0 {
            box_range(epsilon)?;
        }
        Ok(Self::symmetric(Listed::black_box(epsilon.get(), delta.map_or(0.0, Delta::get))))
    }

    /// One bit that is 1 with probability p on one data set and q on its neighbour.
    ///
    /// Composed with itself it keeps its direction: all p against all q, or the reverse, whichever is worse.
    #[must_use]
    pub fn bernoulli(p: Probability, q: Probability) -> Self {
        let (p, q) = (p.get(), q.get());
        if p == 1.0 - q && q == 1.0 - p {
            return Self::symmetric(Listed::coin(p, q));
        }
        Self::directed(Listed::coin(p, q), Listed::coin(q, p), false)
    }
}

impl DominatingPair {
    /// A mechanism of which only dots (ε, δ) above its privacy curve are known, in ascending order of ε.
    ///
    /// The curve must bound both directions. Connecting the dots (linearly in e^ε, from δ = 1 at e^ε = 0, and level
    /// after the last) gives a pair that dominates it, so dots on both sides of ε = 0 are wanted. Without a lower curve brackets
    /// have no lower end.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are no dots, an ε is not between −700 and 700, they are out of order, or a δ is not a number.
    pub fn from_dots(upper: &[(f64, f64)]) -> Result<Self, Error> {
        let atoms = dominating(upper).filter(|_| !upper.is_empty()).ok_or_else(|| bad_dots(upper.len()))?;
        Ok(Self::symmetric(Tabulated::from_above(atoms)))
    }

    /// A mechanism given by its privacy curve: a function that returns a lower and an upper bound of δ(ε), for any ε
    /// of either sign.
    ///
    /// As a function of e^ε the curve must be convex, 1 at e^ε = 0 and at least 1 − e^ε, as every privacy curve is; and it must
    /// bound both directions of the mechanism. A mechanism of which nothing else is known hands its losses over this way.
    pub fn from_function(delta: impl Fn(f64) -> (f64, f64) + Send + Sync + 'static) -> Self {
        Self::symmetric(Sampled { function: Arc::new(delta) })
    }
}

impl DominatingPair {
    /// Whether only an upper curve is known, the same for both directions.
    pub(crate) fn is_from_above(&self) -> bool {
        self.backward.is_none() && self.forward.upper_alone().is_some()
    }

    /// Whether this many steps are composed in blocks.
    pub(crate) fn is_in_blocks(&self, Steps(steps): Steps) -> bool {
        self.is_from_above() && blocks::size(steps).is_some()
    }

    /// As many steps as one, from above, and how many those are: for about `steps` of them and down to δ. None where single steps
    /// serve as well, or their lower curve is known too.
    pub(crate) fn in_blocks(&self, Steps(steps): Steps, delta: Delta) -> Option<(Self, Steps)> {
        let upper = self.forward.upper_alone().filter(|_| self.is_from_above())?;
        let each = blocks::size(steps)?;
        Some((Self::symmetric(upper.block(each, delta)?), Steps(each)))
    }
}

pub(super) fn bad_dots(count: usize) -> Error {
    Error::Argument {
        name: "dots",
        requirement: "at least one, ascending in ε between −700 and 700, with 0 ≤ lower δ ≤ upper δ",
        value: count as f64,
    }
}

/// Losses for which lattices are made.
fn box_range(epsilon: Epsilon) -> Result<(), Error> {
    if (1e-100..=700.0).contains(&epsilon.get()) {
        Ok(())
    } else {
        Err(Error::Unresolved { what: "the mechanism", reason: "its epsilon is outside 1e-100 to 700" })
    }
}

fn shift(ratio: Ratio) -> Result<f64, Error> {
    let shift = 1.0 / ratio.get();
    if SHIFTS.contains(&shift) {
        Ok(shift)
    } else {
        Err(Error::Unresolved { what: "the mechanism", reason: "its ratio is outside 1e-3 to 1e100" })
    }
}
