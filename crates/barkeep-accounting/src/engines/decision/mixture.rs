//! Evaluates a corrected rule for the accountant, and bounds how its density changes: it is not log-concave, and must be enclosed.
//!
//! Let f = Σ w_k φ((t+μ_k)/s_k)/s_k be the derivative of the acceptance function, s_k² = C + σ_k², ψ = ln f, and π_k the share of
//! component k in f(t). With g_k(t) = (t+μ_k)/s_k²,
//!
//! > ψ' = −E_π g,  ψ'' = −E_π 1/s² + Var_π g,  (ln π_k)' = E_π g − g_k.
//!
//! Around a point m, |t−m| ≤ d: the range of the g_k is at most R = max g − min g there plus d·(1/s_min² − 1/s_max²) twice, so π_k grows by
//! at most e^{Rd}, and Var_π g(t) ≤ E_π (g(t) − E_π g(m))² ≤ e^{Rd} Σ π_k(m)(|g_k(m) − E_π g(m)| + d/s_min²)². So |ψ''| ≤ K there, K the larger
//! of that and 1/s_min². Then for the logarithm of f(t)/f(t−Δ), whose derivative is D = ψ'(m) − ψ'(m−Δ) at m:
//!
//! > |ln f(t)/f(t−Δ) − ln f(m)/f(m−Δ)| ≤ |D|d + (K + K_Δ)d²/2,  K_Δ the bound around m − Δ.
//!
//! At every t that derivative is the integral of ψ'' over [t−Δ, t], so the same difference is also at most ΔK̄d, K̄ the bound around
//! m − Δ/2 with d + Δ/2 for d. Where Δ is small this is less.

use super::acceptance::{Acceptance, Shape};
use crate::rule::{Numbers, Smoothed, TOGETHER, numbers};
use crate::{Component, Correction, Error, Rule};
use barkeep_num::vector::{dispatch, scalar};

/// A corrected rule ready to be asked many times.
pub(super) struct Prepared<'a> {
    rule: &'a Rule,
    smoothed: Smoothed,
    groups: Vec<Group>,
    /// The least and the largest s².
    narrowest: f64,
    widest: f64,
}

/// Components of f.
struct Group {
    mean: Numbers,
    /// s².
    square: Numbers,
    /// ln w/s.
    log: Numbers,
}

impl<'a> Prepared<'a> {
    /// The rule's acceptance function, given its noise variance and the law of its correction.
    pub(super) fn new(rule: &'a Rule, variance: f64, law: &Correction) -> Self {
        let square = |component: &Component| variance + component.sd * component.sd;
        let squares = || law.components().iter().map(square);
        let (narrowest, widest) = (squares().fold(f64::INFINITY, f64::min), squares().fold(0.0, f64::max));
        // Components that are not there have no share in f, and a g between those of the widest, which come in pairs.
        let group = |components: &[Component]| Group {
            mean: numbers(components, 0.0, |component| component.mean),
            square: numbers(components, widest, square),
            log: numbers(components, f64::NEG_INFINITY, |component| {
                libm::log(component.weight / square(component).sqrt())
            }),
        };
        let groups = law.components().chunks(TOGETHER).map(group).collect();
        Self { rule, smoothed: Smoothed::new(variance, law), groups, narrowest, widest }
    }

    /// The smaller of the two probabilities, by symmetry beyond |t|, or the larger.
    fn side(&self, t: f64, smaller: bool) -> f64 {
        let tail = self.smoothed.upper_tail(-t.abs());
        if smaller { tail } else { 1.0 - tail }
    }

    fn around(&self, t: f64, half: f64) -> Local {
        let Self { narrowest, widest, .. } = *self;
        let moved = half / narrowest;
        let sums = dispatch(
            #[inline(always)]
            || Sums::new(&self.groups, t, moved),
        );
        let range = sums.high - sums.low + 2.0 * half * (1.0 / narrowest - 1.0 / widest);
        let variation = sums.variation / sums.share;
        let curvature = (libm::exp(range * half) * variation).max(1.0 / narrowest) * (1.0 + 1e-9);
        Local { log_density: sums.largest + libm::log(sums.share), slope: -sums.mean, curvature }
    }
}

/// ψ, ψ' and a bound on |ψ''| around a point.
struct Local {
    log_density: f64,
    slope: f64,
    curvature: f64,
}

/// What a [`Local`] is made of.
struct Sums {
    /// The largest ln of a component.
    largest: f64,
    /// The sum of all, as parts of the largest.
    share: f64,
    /// E_π g, and its least and largest value.
    mean: f64,
    low: f64,
    high: f64,
    /// Σ (|g − E_π g| + moved)², weighted by parts of the largest.
    variation: f64,
}

impl Sums {
    #[inline(always)]
    fn new(groups: &[Group], t: f64, moved: f64) -> Self {
        let g = |group: &Group, i: usize| (t + group.mean[i]) / group.square[i];
        let log = |group: &Group, i: usize| group.log[i] - 0.5 * g(group, i) * (t + group.mean[i]);
        let mut largest = [f64::NEG_INFINITY; TOGETHER];
        let (mut low, mut high) = ([f64::INFINITY; TOGETHER], [f64::NEG_INFINITY; TOGETHER]);
        for group in groups {
            for i in 0..TOGETHER {
                let (g, log) = (g(group, i), log(group, i));
                largest[i] = if log > largest[i] { log } else { largest[i] };
                low[i] = if g < low[i] { g } else { low[i] };
                high[i] = if g > high[i] { g } else { high[i] };
            }
        }
        let largest = largest.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut share, mut first) = ([0.0; TOGETHER], [0.0; TOGETHER]);
        for group in groups {
            for i in 0..TOGETHER {
                let part = scalar::exp(log(group, i) - largest);
                share[i] += part;
                first[i] += part * g(group, i);
            }
        }
        let share: f64 = share.iter().sum();
        let mean = first.iter().sum::<f64>() / share;
        let mut variation = [0.0; TOGETHER];
        for group in groups {
            for (i, sum) in variation.iter_mut().enumerate() {
                let apart = (g(group, i) - mean).abs() + moved;
                *sum += scalar::exp(log(group, i) - largest) * apart * apart;
            }
        }
        Self {
            largest,
            share,
            mean,
            low: low.iter().copied().fold(f64::INFINITY, f64::min),
            high: high.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            variation: variation.iter().sum(),
        }
    }
}

/// The rule's, but for what is evaluated often.
impl Acceptance for Prepared<'_> {
    fn probability(&self, log_ratio: f64) -> f64 {
        self.side(log_ratio, log_ratio < 0.0)
    }

    fn complement(&self, log_ratio: f64) -> f64 {
        self.side(log_ratio, log_ratio >= 0.0)
    }

    fn error(&self, probability: f64) -> f64 {
        self.rule.error(probability)
    }

    fn check(&self) -> Result<(), Error> {
        self.rule.check()
    }

    fn keep(&self) -> f64 {
        self.rule.keep()
    }

    fn shape(&self) -> Shape {
        self.rule.shape()
    }

    fn odd(&self) -> bool {
        self.rule.odd()
    }

    fn accept_range(&self, sensitivity: f64) -> f64 {
        self.rule.accept_range(sensitivity)
    }

    fn reject_range(&self, sensitivity: f64) -> f64 {
        self.rule.reject_range(sensitivity)
    }

    fn bounded_range(&self) -> bool {
        self.rule.bounded_range()
    }

    /// Bounds f(t)/f(t−Δ) for t in [left, right]. The law of a correction is symmetric, so the mirror image is the same.
    fn slopes(&self, left: f64, right: f64, sensitivity: f64, _mirrored: bool) -> (f64, f64) {
        let (middle, half) = (0.5 * (left + right), 0.5 * (right - left));
        let here = self.around(middle, half);
        let there = self.around(middle - sensitivity, half);
        let change = (here.slope - there.slope).abs() * half;
        let bend = 0.5 * (here.curvature + there.curvature) * half * half;
        let whole = self.around(middle - 0.5 * sensitivity, half + 0.5 * sensitivity);
        let spread = (change + bend).min(sensitivity * whole.curvature * half);
        // Rounding: sums of exponents of this size, each good to a few units.
        let size = 1.0 + here.log_density.abs() + there.log_density.abs();
        let spread = spread * (1.0 + 1e-9) + 64.0 * f64::EPSILON * size;
        let ratio = here.log_density - there.log_density;
        (libm::exp(ratio - spread) * (1.0 - 1e-15), libm::exp(ratio + spread) * (1.0 + 1e-15))
    }

    fn steepness(&self, t: f64, mirrored: bool) -> f64 {
        self.rule.steepness(t, mirrored)
    }

    fn smoothing(&self) -> Option<f64> {
        self.rule.smoothing()
    }

    fn zcdp(&self, sensitivity: f64) -> Option<f64> {
        self.rule.zcdp(sensitivity)
    }
}
