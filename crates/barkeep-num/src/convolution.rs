//! Convolves sequences and their powers by the fast Fourier transform, and bounds how wrong the answer can be.
//!
//! # The bound
//! Write u = 2⁻⁵³. A transform of 2ⁿ reals is one of 2ⁿ⁻¹ complex numbers and a last step that takes the two halves apart.
//! The complex one is a network of n−1 levels of butterflies, each output reached from each input by exactly one path of
//! weight ω, |ω| = 1. Rounding turns ω into ω(1+θ). What adds to |θ|, to first order:
//!
//! - *A complex sum*, one per level: u.
//! - *A complex product*: √5·u, and the error of the stored root of unity.
//! - *A stored root* e^(−2πik/N) is computed from the angle fl(fl(2π)·k/N). It is below 2π, so that its rounding is at most
//!   4u; that of 2π adds 0.36u·2π; sine and cosine, each within a unit in the last place as tested, add √2·u. Together
//!   7.7u; the tests find 5.98u. For angles below 2 the same sum gives 3.2u.
//!
//! *Radix.* A path passes one stored root per step of the plan, not per level, and a step of radix 2ᵐ takes m levels. Radix 4 has
//! no other product: (7.7 + √5 + 2)u = 12u, 6u a level. Radix 8 has one by √½(1 ± i), two roundings and √½'s own: 16u, 5.4u a
//! level. Radix 16 has two by roots of small angle: 25u, 6.2u a level; the butterflies of 16 and 32 that a plan ends in have no
//! root of large angle. A plan has at most one step of radix 2, which takes 11u, 5u more than its share. So |θ| ≤ (6.2(n−1) + 5)u.
//!
//! The last step forms ½(Zₖ + Z̄₋ₖ) − ½iωᵏ(Zₖ − Z̄₋ₖ): it raises errors e of both Z to at most ½e(|1 − iωᵏ| + |1 + iωᵏ|) ≤ √2·e, and
//! adds a product and two sums of its own, 12u. In all √2·(6.2(n−1) + 5) + 12 ≤ 9(n + 2). Summed over the inputs (Higham, *Accuracy
//! and Stability of Numerical Algorithms*, section 24.1, with the 1-norm in place of the 2-norm):
//!
//! > |computed − exact| ≤ 9u·(n + 2)·‖x‖₁ in every bin.   (1)
//!
//! The 1-norm is what makes the bound useful for probabilities: it is 1 however the mass is spread. Lengths are powers of
//! two, since other radices reach an output by several paths whose weights add up to more than 1.
//!
//! Let ŵ be a bin with |ŵ − w| ≤ e. Then |ŵᵏ − wᵏ| ≤ k·e·(|ŵ|+e)^(k−1), and for a product of powers
//!
//! > |Πŵᵢ^kᵢ − Πwᵢ^kᵢ| ≤ Π(|ŵᵢ|+eᵢ)^kᵢ · Σ kᵢeᵢ/(|ŵᵢ|+eᵢ),   (2)
//!
//! by changing one factor at a time. A power is formed as exp(k·ln|ŵ|)·cis(k·arg ŵ) or by repeated squaring; its own rounding is at
//! most that of changing ŵ by a factor 1 + 16u, which joins e. The inverse transform divides the sum of all bins by N, so the
//! error of an entry is at most the mean of (2) over the bins, plus that of the inverse itself.
//!
//! The inverse is taken by the forward transform, so that one plan serves both: for bins Xₖ = Rₖ + iIₖ of a real sequence,
//! x = Σ(R cos − I sin)/N = Re F − Im F with F the transform of the real sequence (R − I)/N, R being even and I odd. That
//! sequence has a 1-norm of at most √2·Σ|X|/N and loses u of itself in being formed; Re F − Im F is wrong by √2
//! times what F is, and by u of itself: twice (1) with one more level covers it.
//!
//! An entry of the answer is thus wrong by about k·u·9n times the *largest* entry. Entries much smaller than the largest are
//! lost, unless the sequence is tilted first (multiplied by eˢʲ, undone at the end), which moves the largest entry to wherever
//! precision is wanted. The tests do that, entry by entry, at its saddle point.

use std::cell::RefCell;
use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{RealFftPlanner, RealToComplex};

/// Error charged to each level of a transform, in absolute value per unit of the input's 1-norm: 9·2⁻⁵³.
const LEVEL_ERROR: f64 = 4.5 * f64::EPSILON;

/// Relative error charged to raising a bin to a power, per unit of the power: 16·2⁻⁵³.
const POWER_ERROR: f64 = 8.0 * f64::EPSILON;

/// Products below e^(−this) are taken for zero; far below any error (1) can reach.
const NEGLIGIBLE: f64 = 90.0;

/// Powers up to this are taken by repeated squaring, larger ones through the logarithm.
const SQUARING_LIMIT: u64 = 64;

/// The longest transform, 2²⁶ entries.
pub const LONGEST: usize = 1 << 26;

/// Values together with a bound that holds for each of them: |value − truth| ≤ `error`.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// What was computed.
    pub values: Vec<f64>,
    /// By how much any of them may be wrong; infinite or NaN where the input was not finite.
    pub error: f64,
}

/// Cyclic convolution: indices are added modulo a power of two.
pub struct Cyclic {
    length: usize,
    forward: Arc<dyn RealToComplex<f64>>,
    /// Working memory of the transform.
    scratch: RefCell<Vec<Complex<f64>>>,
    /// Bins that nobody keeps: fresh memory costs more than the sums made in it.
    passing: RefCell<Vec<Complex<f64>>>,
}

/// The transform of a sequence, with the error of its bins.
pub struct Transform {
    bins: Vec<Complex<f64>>,
    /// At least the 1-norm of the sequence, and so of any bin.
    norm: f64,
    /// Bound (1).
    error: f64,
}

/// The longest transforms whose plans a thread keeps: a plan takes about as long as the transforms of one question, and all plans up to
/// this length together some twenty megabytes.
const KEPT: usize = 1 << 19;

thread_local! {
    static SHORT: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
}

/// Plans transforms and remembers the plans, which take longer to make than to use; those of short ones for good.
pub struct Planner(RealFftPlanner<f64>);

impl Default for Planner {
    // Inlined elsewhere, it would compile every transform there again: a third of the accountant's build.
    #[inline(never)]
    fn default() -> Self {
        Self(RealFftPlanner::new())
    }
}

impl Planner {
    /// Transforms of a length that must be a power of two from 2 to [`LONGEST`]; None otherwise.
    pub fn cyclic(&mut self, length: usize) -> Option<Cyclic> {
        if !length.is_power_of_two() || !(2..=LONGEST).contains(&length) {
            return None;
        }
        let forward = if length <= KEPT {
            SHORT.with_borrow_mut(|planner| planner.plan_fft_forward(length))
        } else {
            self.0.plan_fft_forward(length)
        };
        let scratch = RefCell::new(forward.make_scratch_vec());
        Some(Cyclic { length, forward, scratch, passing: RefCell::default() })
    }
}

impl Transform {
    /// The same spectrum where the sequence itself is known only up to this sum of errors: no bin is wrong by more.
    #[must_use]
    pub fn of_values_within(mut self, error: f64) -> Self {
        self.error += error;
        self
    }

    /// The bins from frequency 0 to half the length, each with its real and imaginary part.
    pub fn bins(&self) -> impl Iterator<Item = (f64, f64)> {
        self.bins.iter().map(|bin| (bin.re, bin.im))
    }
}

impl Cyclic {
    /// [`Planner::cyclic`] for a single use.
    #[must_use]
    pub fn new(length: usize) -> Option<Self> {
        Planner::default().cyclic(length)
    }

    /// How many indices there are.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// Transforms a sequence, continued by zeros; what lies beyond the length is wrapped around.
    #[must_use]
    pub fn spectrum(&self, mut values: Vec<f64>) -> Transform {
        if values.len() > self.length {
            let beyond = values.split_off(self.length);
            for (index, value) in beyond.iter().enumerate() {
                values[index % self.length] += value;
            }
        }
        values.resize(self.length, 0.0);
        let norm = values.iter().map(|value| value.abs()).sum::<f64>() * (1.0 + 1e-8);
        let mut bins = self.forward.make_output_vec();
        let transformed = self.transform(&mut values, &mut bins);
        let error = if transformed { self.levels() * LEVEL_ERROR * norm } else { f64::NAN };
        Transform { bins, norm, error }
    }

    /// Writes the bins of a sequence, which is used up; whether they are an answer.
    fn transform(&self, values: &mut [f64], bins: &mut [Complex<f64>]) -> bool {
        // The lengths are right by construction; were they not, the bins must not pass for an answer.
        let scratch = &mut *self.scratch.borrow_mut();
        self.forward.process_with_scratch(values, bins, scratch).is_ok()
    }

    /// The product of powers Πwᵢ^kᵢ in the sense of convolution.
    ///
    /// **Precision.** `error` is the bound derived in the [module](self) documentation.
    #[must_use]
    pub fn powers(&self, factors: &[(&Transform, u64)]) -> Estimate {
        let powers = Powers::new(factors);
        let (length, half) = (self.length, self.length / 2);
        let scale = 1.0 / length as f64;
        let mut values = vec![0.0; length];
        let (mut size, mut deviation) = (0.0, 0.0);
        let mut negligible = 0_u32;
        for index in 0..=half {
            // High powers leave few bins: most of the time goes into passing over the others.
            if powers.is_negligible(index) {
                negligible += 1;
                continue;
            }
            let (value, error) = powers.bin(index);
            // Every bin but the first and the last stands for two.
            let single = index == 0 || index == half;
            let times = if single { 1.0 } else { 2.0 };
            deviation += times * error;
            size += times * value.norm();
            // Exact: the transform of reals is real in these two; what is left there is rounding, covered by the bound.
            let imaginary = if single { 0.0 } else { value.im };
            values[index] = (value.re - imaginary) * scale;
            if !single {
                values[length - index] = (value.re + imaginary) * scale;
            }
        }
        deviation += 2.0 * f64::from(negligible) * libm::exp(-NEGLIGIBLE);
        let bins = &mut *self.passing.borrow_mut();
        bins.resize(half + 1, Complex::new(0.0, 0.0));
        let transformed = self.transform(&mut values, bins);
        for (index, bin) in bins.iter().enumerate() {
            values[index] = bin.re - bin.im;
            if index > 0 && index < half {
                values[length - index] = bin.re + bin.im;
            }
        }
        let error = (deviation + 2.0 * size * ((self.levels() + 1.0) * LEVEL_ERROR)) * scale * (1.0 + 1e-6);
        Estimate { values, error: if transformed { error } else { f64::NAN } }
    }

    fn levels(&self) -> f64 {
        f64::from(self.length.trailing_zeros()) + 2.0
    }
}

/// One factor of a product of powers, with what is the same for all bins.
struct Power<'a> {
    spectrum: &'a Transform,
    power: u64,
    /// Bins of squared magnitude below this make the product negligible.
    threshold: f64,
}

struct Powers<'a> {
    factors: Vec<Power<'a>>,
    /// Whether all powers are taken by repeated squaring.
    small: bool,
}

impl<'a> Powers<'a> {
    fn new(factors: &[(&'a Transform, u64)]) -> Self {
        // Norms above 1 could lift a product that one factor made negligible.
        let lift: f64 =
            factors.iter().map(|(spectrum, power)| *power as f64 * libm::log(spectrum.norm).max(0.0)).sum();
        let factors: Vec<Power<'a>> = factors
            .iter()
            .filter(|(_, power)| *power > 0)
            .map(|&(spectrum, power)| {
                let root = libm::exp(-(NEGLIGIBLE + lift) / power as f64) - 2.0 * spectrum.error;
                Power { spectrum, power, threshold: if root > 0.0 { root * root } else { -1.0 } }
            })
            .collect();
        let small = factors.iter().all(|factor| factor.power <= SQUARING_LIMIT);
        Self { factors, small }
    }

    /// Whether the product in one bin is below e^(−[`NEGLIGIBLE`]).
    #[inline]
    fn is_negligible(&self, index: usize) -> bool {
        self.factors.iter().any(|factor| factor.spectrum.bins[index].norm_sqr() < factor.threshold)
    }

    /// The product in one bin that is not negligible, and bound (2).
    fn bin(&self, index: usize) -> (Complex<f64>, f64) {
        let mut product = Complex::new(1.0, 0.0);
        let (mut log_size, mut angle, mut relative, mut log_bound) = (0.0, 0.0, 0.0, 0.0);
        for factor in &self.factors {
            let bin = factor.spectrum.bins[index];
            let (power, size) = (factor.power as f64, bin.norm());
            let error = factor.spectrum.error + POWER_ERROR * size;
            if size + error == 0.0 {
                return (Complex::new(0.0, 0.0), 0.0);
            }
            relative += power * (error / (size + error));
            log_bound += power * libm::log(size + error);
            if self.small {
                product *= repeated_square(bin, factor.power);
            } else {
                log_size += power * libm::log(size);
                angle += power * libm::atan2(bin.im, bin.re);
            }
        }
        if !self.small {
            let size = libm::exp(log_size);
            product = Complex::new(size * libm::cos(angle), size * libm::sin(angle));
        }
        // An empty product is exact.
        let error = if self.factors.is_empty() { 0.0 } else { libm::exp(log_bound) * relative };
        (product, error * (1.0 + 1e-6))
    }
}

fn repeated_square(base: Complex<f64>, mut power: u64) -> Complex<f64> {
    let (mut square, mut result) = (base, Complex::new(1.0, 0.0));
    loop {
        if power & 1 == 1 {
            result *= square;
        }
        power >>= 1;
        if power == 0 {
            return result;
        }
        square *= square;
    }
}
