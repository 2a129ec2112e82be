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
