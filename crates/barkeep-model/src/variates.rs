//! Turns uniform variates into the ones models simulate with; public randomness only.

use barkeep_num::normal_quantile;

/// A standard normal, by inversion: one uniform each, the same bits on every machine.
pub(crate) fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
    normal_quantile(uniform())
}

/// Student's t with any ν > 0, by Bailey's polar method (1994): T = u·√(ν(w^(−2/ν) − 1)/w) for (u, v) uniform
/// in the unit disc and w = u² + v².
pub(crate) fn student_t(degrees: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    loop {
        let (u, v) = (2.0 * uniform() - 1.0, 2.0 * uniform() - 1.0);
        let w = u * u + v * v;
        if w > 0.0 && w <= 1.0 {
            return u * (degrees * libm::expm1(-2.0 / degrees * libm::log(w)) / w).sqrt();
        }
    }
}

/// Gamma of any shape > 0 and scale 1, by Marsaglia and Tsang's method (2000); a shape below 1 is raised by one and the
/// draw multiplied by u^(1/shape).
pub(crate) fn gamma(shape: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    let raised = if shape < 1.0 { shape + 1.0 } else { shape };
    let d = raised - 1.0 / 3.0;
    loop {
        let x = normal(uniform);
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && libm::log(uniform()) < 0.5 * x * x + d - d * v + d * libm::log(v) {
            return if shape < 1.0 { d * v * libm::pow(uniform(), 1.0 / shape) } else { d * v };
        }
    }
}

/// Poisson, by inversion in parts of mean 500 at most; a mean above a million counts as a million.
pub(crate) fn poisson(mean: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    let (mut left, mut sum) = (mean.clamp(0.0, 1e6), 0.0);
    while left > 0.0 {
        let part = left.min(500.0);
        left -= part;
        let (mut share, mut level, mut count) = (libm::exp(-part), uniform(), 0.0);
        // The bound only matters where rounding keeps the shares from adding up to one.
        while level >= share && count < 1000.0 {
            level -= share;
            count += 1.0;
            share *= part / count;
        }
        sum += count;
    }
    sum
}
