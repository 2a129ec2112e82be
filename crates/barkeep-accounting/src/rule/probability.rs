//! Evaluates a(λ) and 1 − a(λ) of each rule from sums of positive terms, or from differences whose loss is bounded.

use super::Correction;
use barkeep_num::{erfcx, normal_cdf};
use std::f64::consts::FRAC_1_SQRT_2;

/// Both probabilities; the smaller is computed first, the larger is its complement.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub(super) accept: f64,
    pub(super) reject: f64,
}

impl Sides {
    fn from_accept(accept: f64) -> Self {
        Self { accept, reject: 1.0 - accept }
    }

    fn from_reject(reject: f64) -> Self {
        Self { accept: 1.0 - reject, reject }
    }
}

pub(super) fn metropolis(log_ratio: f64) -> Sides {
    if log_ratio >= 0.0 {
        Sides::from_reject(0.0)
    } else if log_ratio > -std::f64::consts::LN_2 {
        Sides::from_reject(-libm::expm1(log_ratio))
    } else {
        Sides::from_accept(libm::exp(log_ratio))
    }
}

pub(super) fn barker(log_ratio: f64) -> Sides {
    let odds = libm::exp(-log_ratio.abs());
    let smaller = odds / (1.0 + odds);
    if log_ratio < 0.0 { Sides::from_accept(smaller) } else { Sides::from_reject(smaller) }
}

/// With z = λ/σ − σ/2 and (z+σ)²/2 = z²/2 + λ, every form below is Φ(z) + e^λ Φ(−z−σ) or its complement.
pub(super) fn penalty(log_ratio: f64, sigma: f64) -> Sides {
    let z = log_ratio / sigma - 0.5 * sigma;
    if z >= 0.0 {
        // The plain complement loses everything by λ = 10; here both terms share the factor that decays.
        let decay = 0.5 * libm::exp(-0.5 * (z * z));
        if decay == 0.0 {
            return Sides::from_reject(0.0);
        }
        let difference = erfcx(z * FRAC_1_SQRT_2) - erfcx((z + sigma) * FRAC_1_SQRT_2);
        return Sides::from_reject(decay * difference);
    }
    let accept = if z + sigma >= 0.0 {
        let decay = 0.5 * libm::exp(-0.5 * (z * z));
        decay * (erfcx(-z * FRAC_1_SQRT_2) + erfcx((z + sigma) * FRAC_1_SQRT_2))
    } else {
        normal_cdf(z) + libm::exp(log_ratio) * normal_cdf(-z - sigma)
    };
    Sides::from_accept(accept)
}

pub(super) fn corrected(log_ratio: f64, variance: f64, correction: &Correction) -> Sides {
    // By symmetry the tail beyond |λ| is the smaller side, whichever side that is.
    let smaller = correction.upper_tail(-log_ratio.abs(), variance);
    if log_ratio < 0.0 { Sides::from_accept(smaller) } else { Sides::from_reject(smaller) }
}

pub(super) fn lazy(keep: f64, inside: Sides) -> Sides {
    let accept = keep * inside.accept;
    if accept <= 0.5 {
        Sides::from_accept(accept)
    } else {
        // keep > ½, so 1 − keep is exact, and both terms are positive.
        Sides::from_reject((1.0 - keep) + keep * inside.reject)
    }
}
