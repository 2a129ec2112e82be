//! Prices any number of Gaussian mechanisms exactly, with brackets rounded outward.
//!
//! # The curve
//! The privacy loss of a Gaussian mechanism with ratio s = σ/Δ is N(m, 2m), m = 1/(2s²), under either of two
//! neighbouring data sets; losses of (adaptively composed) mechanisms add, so any mixture of ratios is again
//! N(m, 2m) with m = Σ kᵢ/(2sᵢ²). Therefore
//!
//! > δ(ε) = ½·[erfc(x) − e^ε·erfc(y)],  x = (ε−m)/(2√m),  y = (ε+m)/(2√m),
//!
//! and nothing smaller holds when the noisy values are released (Sommer, Meiser, Mohammadi 2019, Lemmas 11 and 12;
//! Balle and Wang 2018, Theorem 8). Since y² − x² = ε,
//!
//! > δ(ε) = ½·e^(−x²)·[erfcx(x) − erfcx(y)],
//!
//! which neither overflows nor underflows before δ itself does.
//!
//! # Precision
//! With c = ε/(2√m) and h = √m the arguments are c ∓ h/2. Where they lie close together (h ≤ max(1, c)) the
//! difference is summed as Σ over odd j of 2·(h/2)ʲ/j!·Eⱼ(c), where Eⱼ(c) = (2/√π)∫₀^∞ (2u)ʲ e^(−u²−2cu) du is
//! (−1)ʲ times the j-th derivative of erfcx. All terms are positive, and the ratios Eⱼ/Eⱼ₋₁ come from the backward
//! recurrence rⱼ₋₁ = 2(j−1)/(2c + rⱼ), also positive: nothing cancels. Elsewhere the difference is at least 0.47 of
//! erfcx(x) and is formed directly. x² is formed in doubled precision, for the exponential would magnify its
//! rounding. The result is within 2⁻⁴⁹ of the truth, relative, over the tables in `tests/reference`; brackets
//! are widened by 2⁻⁴⁷, four times that.

use barkeep_num::{down_by, erfc, erfcx, largest_integer, largest_real, smallest_real, up_by};

use crate::engines::double::Double;
use crate::{Bracket, Delta, Epsilon, Error, Mu, Ratio, Steps};

/// Relative widening of every δ, four times the largest error found.
const WIDENING: f64 = 1.0 / 140_737_488_355_328.0; // 2⁻⁴⁷

/// Below these arguments the derivatives of erfcx come from the forward recurrence, which does not cancel there.
const FORWARD_BELOW: f64 = 0.5;

/// Terms of the sum over derivatives that can matter: they shrink at least fourfold every second term.
const TERMS: usize = 80;

/// Losses beyond these bounds are refused: squares of them would leave the range of f64.
const LARGEST_LOSS: f64 = 2.582_249_878_086_909e120; // 2⁴⁰⁰
const SMALLEST_LOSS: f64 = 1.0 / LARGEST_LOSS;

/// An adaptive composition of Gaussian mechanisms, which is again one: of mean privacy loss m = Σ kᵢ/(2sᵢ²).
///
/// **Privacy.** Holds for the neighbouring relation under which the ratios were taken, whatever the dimension, and
/// for steps chosen in view of earlier answers as long as the ratios were fixed beforehand.
///
/// ```
/// use barkeep_accounting::{Delta, GaussianRun, Ratio, Steps};
/// // A hundred answers, each with noise ten times the sensitivity.
/// let run = GaussianRun::new(Ratio::new(10.0)?, Steps(100))?;
/// let epsilon = run.epsilon(Delta::new(1e-6)?);
/// assert!((epsilon.upper - 4.886_554_117_462_212).abs() < 1e-13);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GaussianRun {
    /// Mean privacy loss m; zero for no release at all.
    loss: Double,
}

impl GaussianRun {
    /// `steps` mechanisms of one ratio: m = k/(2s²).
    ///
    /// # Errors
    /// [`Error::Unresolved`] if the loss is neither zero nor between 2⁻⁴⁰⁰ and 2⁴⁰⁰.
    pub fn new(ratio: Ratio, steps: Steps) -> Result<Self, Error> {
        if steps.0 == 0 {
            return Ok(Self { loss: Double::ZERO });
        }
        let ratio = ratio.get();
        // The square must not leave the range either.
        if !(1e-70..=1e80).contains(&ratio) {
            return Err(out_of_range());
        }
        Self::checked(Double::count(steps.0).over(Double::product(ratio, ratio)).scaled(0.5))
    }

    /// No release at all: (0, 0)-private.
    #[must_use]
    pub fn nothing() -> Self {
        Self { loss: Double::ZERO }
    }

    /// The mechanism that is exactly as private as μ-GDP: m = μ²/2.
    ///
    /// # Errors
    /// As [`GaussianRun::new`].
    pub fn from_mu(mu: Mu) -> Result<Self, Error> {
        let mu = mu.get();
        if mu == 0.0 {
            return Ok(Self { loss: Double::ZERO });
        }
        if !(1e-70..=1e70).contains(&mu) {
            return Err(out_of_range());
        }
        Self::checked(Double::product(mu, mu).scaled(0.5))
    }

    /// Both, one after the other or interleaved: the losses add.
    ///
    /// # Errors
    /// As [`GaussianRun::new`].
    pub fn and(self, other: Self) -> Result<Self, Error> {
        Self::checked(self.loss.plus(other.loss))
    }

    /// The same again and again, `rounds` times in all.
    ///
    /// # Errors
    /// As [`GaussianRun::new`].
    pub fn repeated(self, rounds: Steps) -> Result<Self, Error> {
        Self::checked(self.loss.times(Double::count(rounds.0)))
    }

    fn checked(loss: Double) -> Result<Self, Error> {
        let magnitude = loss.high;
        if magnitude == 0.0 || (SMALLEST_LOSS..=LARGEST_LOSS).contains(&magnitude) {
            Ok(Self { loss })
        } else {
            Err(out_of_range())
        }
    }

    /// ρ of zero-concentrated differential privacy, ρ = m: the Rényi divergence of order α is exactly ρα.
    #[must_use]
    pub fn rho(&self) -> Bracket {
        Bracket::around(self.loss.rounded(), 1)
    }

    /// μ of Gaussian differential privacy, μ = √(2m).
    #[must_use]
    pub fn mu(&self) -> Bracket {
        Bracket::around(self.loss.scaled(2.0).root().rounded(), 1)
    }

    /// δ(ε): the smallest δ for which (ε, δ) holds.
    ///
    /// **Precision.** 14 significant digits; below 1e-300 use [`GaussianRun::ln_delta`].
    #[must_use]
    pub fn delta(&self, epsilon: Epsilon) -> Bracket {
        let Some(tail) = Tail::at(self.loss, epsilon.get()) else { return Bracket::exact(0.0) };
        let ln_value = tail.ln_value();
        if ln_value < -700.0 {
            // Near and below the subnormal numbers relative precision is lost; the ends stay ends.
            let ends = self.ln_delta(epsilon);
            let lower = ends.lower.map_or(0.0, |low| down_by(libm::exp(low), 2).max(0.0));
            return Bracket::new(lower, up_by(libm::exp(ends.upper), 2));
        }
        let value = tail.value();
        Bracket::new((value * (1.0 - WIDENING)).max(0.0), (value * (1.0 + WIDENING)).min(1.0))
    }

    /// ln δ(ε), for any δ whatever: 1e-300 and far below.
    ///
    /// Both ends are −∞ when nothing was released.
    #[must_use]
    pub fn ln_delta(&self, epsilon: Epsilon) -> Bracket {
        let Some(tail) = Tail::at(self.loss, epsilon.get()) else { return Bracket::exact(f64::NEG_INFINITY) };
        let value = tail.ln_value();
        let lower = if tail.clamped { f64::NEG_INFINITY } else { down_by(value - WIDENING, 4) };
        Bracket::new(lower, up_by(value + WIDENING, 4).min(0.0))
    }

    /// ε(δ): the smallest ε for which (ε, δ) holds; 0 if δ alone suffices.
    ///
    /// **Precision.** The ends are found from certified values of δ, and are usually within 1e-14 of each other.
    #[must_use]
    pub fn epsilon(&self, delta: Delta) -> Bracket {
        let target = ln_bracket(delta);
        let (target_low, target_high) = (target.0, target.1);
        let zero = self.ln_delta_at(0.0);
        if zero.upper <= target_low {
            return Bracket::exact(0.0);
        }
        // zCDP bounds ε from above: m + 2√(m·ln 1/δ).
        let loss = self.loss.rounded();
        let ceiling = up_by(loss + 2.0 * (loss * -target_low).sqrt(), 8);
        let root = self.solve(target_low, ceiling);
        let step = (root * 4.0 * f64::EPSILON).max(f64::MIN_POSITIVE);
        let upper = outward(step, |distance| {
            let candidate = (root + distance).min(ceiling);
            (candidate == ceiling || self.ln_delta_at(candidate).upper <= target_low).then_some(candidate)
        });
        let lower = outward(step, |distance| {
            let candidate = (root - distance).max(0.0);
            let certain = self.ln_delta_at(candidate).lower.is_some_and(|low| low >= target_high);
            (candidate == 0.0 || certain).then_some(candidate)
        });
        Bracket::new(lower.unwrap_or(0.0), upper.unwrap_or(ceiling))
    }

    fn ln_delta_at(&self, epsilon: f64) -> Bracket {
        Epsilon::new(epsilon).map_or(Bracket::new(f64::NEG_INFINITY, 0.0), |epsilon| self.ln_delta(epsilon))
    }

    /// A root of ln δ(ε) = target in [0, ceiling] as good as f64 gives; certified by the caller.
    fn solve(&self, target: f64, ceiling: f64) -> f64 {
        let (mut low, mut high) = (0.0_f64, ceiling);
        let mut root = 0.5 * ceiling;
        for _ in 0..200 {
            let Some(tail) = Tail::at(self.loss, root) else { return root };
            let miss = tail.ln_value() - target;
            if miss > 0.0 {
                low = root;
            } else {
                high = root;
            }
            // d ln δ/dε = −½e^(−x²)·erfcx(y)/δ.
            let newton = root + miss / tail.slope();
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - root).abs() <= f64::EPSILON * next.abs() {
                return next;
            }
            root = next;
        }
        root
    }

    /// The most private-loss a budget (ε, δ) allows: the largest m whose δ(ε) is certainly at most δ.
    ///
    /// This is the exact translation of (ε, δ) into μ-GDP, rounded to the safe side: ask the result for
    /// [`GaussianRun::mu`]. Correct to about 14 digits; zero loss if the budget allows less than 2⁻⁴⁰⁰.
    #[must_use]
    pub fn largest_within(epsilon: Epsilon, delta: Delta) -> Self {
        let target = ln_bracket(delta).0;
        let fits = |loss: f64| Self { loss: loss.into() }.ln_delta(epsilon).upper <= target;
        let loss = largest_real(SMALLEST_LOSS, LARGEST_LOSS, 0.0, fits).unwrap_or(0.0);
        Self { loss: loss.into() }
    }

    /// The largest number of steps of one ratio within (ε, δ): certified, never one too many.
    ///
    /// ```
    /// use barkeep_accounting::{Delta, Epsilon, GaussianRun, Ratio, Steps};
    /// let most = GaussianRun::largest_steps(Ratio::new(100.0)?, Epsilon::new(1.0)?, Delta::new(1e-20)?)?;
    /// assert_eq!(most, Steps(128));
    /// # Ok::<(), barkeep_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unresolved`] if one step's loss is out of range.
    pub fn largest_steps(ratio: Ratio, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        Self::new(ratio, Steps(1))?;
        let target = ln_bracket(delta).0;
        let fits = |k: u64| {
            Self::new(ratio, Steps(k)).is_ok_and(|composed| composed.ln_delta(epsilon).upper <= target)
        };
        Ok(Steps(largest_integer(0, u64::MAX, fits).unwrap_or(0)))
    }

    /// The smallest ratio with which `steps` steps stay within (ε, δ), rounded up to the safe side.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if no ratio below 1e59 is enough, as at ε = 0 with a δ far below that.
    pub fn smallest_ratio(steps: Steps, epsilon: Epsilon, delta: Delta) -> Result<Ratio, Error> {
        let target = ln_bracket(delta).0;
        let fits = |ratio: f64| {
            Ratio::new(ratio)
                .and_then(|ratio| Self::new(ratio, steps))
                .is_ok_and(|composed| composed.ln_delta(epsilon).upper <= target)
        };
        // At 1e59 even a single step's loss is still in range.
        let ratio = smallest_real(1e-70, 1e59, 0.0, fits);
        ratio.map_or(Err(Error::Unbounded("no noise below 1e59 sensitivities is enough")), Ratio::new)
    }
}

fn out_of_range() -> Error {
    Error::Unresolved {
        what: "the Gaussian mechanism's loss",
        reason: "steps/ratio² is below 2^-400 or above 2^400",
    }
}

/// ln δ from below and from above.
pub(crate) fn ln_bracket(delta: Delta) -> (f64, f64) {
    let value = libm::log(delta.get());
    (down_by(value, 2), up_by(value, 2))
}

/// The first of step, 2·step, 4·step, … that is accepted; None after 1100 doublings, which span all of f64.
pub(crate) fn outward(step: f64, mut accept: impl FnMut(f64) -> Option<f64>) -> Option<f64> {
    let mut distance = step;
    for _ in 0..1100 {
        if let Some(accepted) = accept(distance) {
            return Some(accepted);
        }
        distance *= 2.0;
    }
    None
}

/// δ(ε) as e^(−square)·factor/2, or as factor/2 alone where x is far below zero and δ is not small.
struct Tail {
    square: Double,
    factor: f64,
    /// erfcx(y)·e^(square of the representation): 2·δ's derivative up to sign, in the same scale as `factor`.
    descent: f64,
    /// ε was beyond the arithmetic's range: the value is an upper bound only.
    clamped: bool,
}

impl Tail {
    /// None when nothing was released.
    fn at(loss: Double, epsilon: f64) -> Option<Self> {
        if loss.high == 0.0 {
            return None;
        }
        let spread = loss.root();
        // δ decreases in ε: beyond this the value there is an upper bound, far below any f64.
        let limit = (spread.high * 2_f64.powi(450)).min(LARGEST_LOSS * 2_f64.powi(50));
        let clamped = epsilon > limit;
        let epsilon = epsilon.min(limit);
        let distance = Double::from(epsilon).plus(loss.scaled(-1.0));
        let square = distance.times(distance).over(loss.scaled(4.0));
        let twice_spread = spread.scaled(2.0);
        let x = distance.over(twice_spread).rounded();
        let y = Double::from(epsilon).plus(loss).over(twice_spread).rounded();
        let (centre, width) = (Double::from(epsilon).over(twice_spread).rounded(), spread.rounded());
        if width <= centre.max(1.0) {
            Some(Self { square, factor: close_difference(centre, width), descent: erfcx(y), clamped })
        } else if x >= 0.0 {
            let descent = erfcx(y);
            Some(Self { square, factor: erfcx(x) - descent, descent, clamped })
        } else {
            let descent = libm::exp(-square.high) * (1.0 - square.low) * erfcx(y);
            Some(Self { square: Double::ZERO, factor: erfc(x) - descent, descent, clamped })
        }
    }

    fn value(&self) -> f64 {
        0.5 * libm::exp(-self.square.high) * (1.0 - self.square.low) * self.factor
    }

    fn ln_value(&self) -> f64 {
        (libm::log(0.5 * self.factor) - self.square.low) - self.square.high
    }

    /// −d ln δ/dε.
    fn slope(&self) -> f64 {
        self.descent / self.factor
    }
}

/// erfcx(c − h/2) − erfcx(c + h/2) for c ≥ 0 and 0 < h ≤ max(1, c), without cancellation.
fn close_difference(c: f64, h: f64) -> f64 {
    let mut ratios = [0.0_f64; TERMS + 1];
    let mut derivative =
        if c < FORWARD_BELOW { forward_ratios(c, &mut ratios) } else { backward_ratios(c, &mut ratios) };
    let half = 0.5 * h;
    let mut total = 0.0;
    // `derivative` becomes 2·(h/2)ʲ/j!·Eⱼ(c).
    derivative *= 2.0;
    for (j, ratio) in ratios.iter().enumerate().skip(1) {
        derivative *= ratio * half / j as f64;
        if j % 2 == 1 {
            total += derivative;
            if derivative <= 1e-18 * total {
                break;
            }
        }
    }
    total
}

/// Fills rⱼ = Eⱼ/Eⱼ₋₁ from E₁ = 2/√π − 2cE₀ and Eⱼ = 2(j−1)Eⱼ₋₂ − 2cEⱼ₋₁; returns E₀ = erfcx(c).
fn forward_ratios(c: f64, ratios: &mut [f64; TERMS + 1]) -> f64 {
    let first = erfcx(c);
    ratios[1] = (std::f64::consts::FRAC_2_SQRT_PI - 2.0 * c * first) / first;
    // Later terms are damped by (h/2)ʲ/j!, h ≤ 1: thirty of them are far more than enough, and beyond some forty the
    // recurrence would have lost its digits.
    for j in 2..=30 {
        ratios[j] = 2.0 * (j - 1) as f64 / ratios[j - 1] - 2.0 * c;
    }
    first
}

/// Fills rⱼ = Eⱼ/Eⱼ₋₁ by the continued fraction from above; returns E₀ = (2/√π)/(2c + r₁).
fn backward_ratios(c: f64, ratios: &mut [f64; TERMS + 1]) -> f64 {
    let start = TERMS + 16 + (100.0 / (c * c)) as usize;
    // The fixed point of the recurrence at the start halves the work against starting from zero.
    let mut ratio = 2.0 * start as f64 / (c + (c * c + 2.0 * start as f64).sqrt());
    for j in (1..start).rev() {
        ratio = 2.0 * j as f64 / (2.0 * c + ratio);
        if j <= TERMS {
            ratios[j] = ratio;
        }
    }
    std::f64::consts::FRAC_2_SQRT_PI / (2.0 * c + ratio)
}
