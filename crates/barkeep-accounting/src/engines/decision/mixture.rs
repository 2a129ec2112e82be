//! Bounds how the density of N(0, C) plus a correction changes: what is needed to enclose a rule that is not log-concave.
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

use crate::{Component, Correction};

/// ψ, ψ' and a bound on |ψ''| around a point.
struct Local {
    log_density: f64,
    slope: f64,
    curvature: f64,
}

/// Bounds f(t)/f(t−Δ) for t in [left, right].
pub(super) fn slopes(variance: f64, law: &Correction, left: f64, right: f64, sensitivity: f64) -> (f64, f64) {
    let (middle, half) = (0.5 * (left + right), 0.5 * (right - left));
    let normal = |component: &Component| {
        let square = variance + component.sd * component.sd;
        Normal { mean: component.mean, square, log: libm::log(component.weight / square.sqrt()) }
    };
    let normals: Vec<Normal> = law.components().iter().map(normal).collect();
    let here = around(&normals, middle, half);
    let there = around(&normals, middle - sensitivity, half);
    let change = (here.slope - there.slope).abs() * half;
    let bend = 0.5 * (here.curvature + there.curvature) * half * half;
    let whole = around(&normals, middle - 0.5 * sensitivity, half + 0.5 * sensitivity);
    let spread = (change + bend).min(sensitivity * whole.curvature * half);
    // Rounding: sums of exponents of this size, each good to a few units.
    let size = 1.0 + here.log_density.abs() + there.log_density.abs();
    let spread = spread * (1.0 + 1e-9) + 64.0 * f64::EPSILON * size;
    let ratio = here.log_density - there.log_density;
    (libm::exp(ratio - spread) * (1.0 - 1e-15), libm::exp(ratio + spread) * (1.0 + 1e-15))
}

/// One component of f.
struct Normal {
    mean: f64,
    /// s².
    square: f64,
    /// ln w/s.
    log: f64,
}

/// The same at a point.
struct Part {
    /// ln of its value.
    log: f64,
    /// g there.
    g: f64,
    /// Its share in f.
    share: f64,
}

fn around(normals: &[Normal], t: f64, half: f64) -> Local {
    let part = |normal: &Normal| {
        let g = (t + normal.mean) / normal.square;
        Part { log: normal.log - 0.5 * g * (t + normal.mean), g, share: 0.0 }
    };
    let mut parts: Vec<Part> = normals.iter().map(part).collect();
    let largest = parts.iter().map(|part| part.log).fold(f64::NEG_INFINITY, f64::max);
    let narrowest = normals.iter().map(|normal| normal.square).fold(f64::INFINITY, f64::min);
    let widest = normals.iter().map(|normal| normal.square).fold(0.0, f64::max);
    let low = parts.iter().map(|part| part.g).fold(f64::INFINITY, f64::min);
    let high = parts.iter().map(|part| part.g).fold(f64::NEG_INFINITY, f64::max);
    for part in &mut parts {
        part.share = libm::exp(part.log - largest);
    }
    let sum: f64 = parts.iter().map(|part| part.share).sum();
    for part in &mut parts {
        part.share /= sum;
    }
    let mean: f64 = parts.iter().map(|part| part.share * part.g).sum();
    let range = high - low + 2.0 * half * (1.0 / narrowest - 1.0 / widest);
    let growth = libm::exp(range * half);
    let moved = half / narrowest;
    let square = |x: f64| x * x;
    let variation: f64 = parts.iter().map(|part| part.share * square((part.g - mean).abs() + moved)).sum();
    let curvature = (growth * variation).max(1.0 / narrowest) * (1.0 + 1e-9);
    Local { log_density: largest + libm::log(sum), slope: -mean, curvature }
}
