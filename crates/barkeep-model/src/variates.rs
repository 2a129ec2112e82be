//! Turns uniform variates into the ones models simulate with; public randomness only.

/// A standard normal by the polar form of Box and Muller.
pub(crate) fn normal(uniform: &mut dyn FnMut() -> f64) -> f64 {
    let radius = (-2.0 * uniform().ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform()).cos()
}
