use super::*;

/// Γ(k, 1) in t = ln x has log density k·t − e^t: mode ln k, mean ψ(k) ≈ ln k − 1/(2k), variance near 1/k.
#[test]
fn the_mean_lies_beside_the_mode_of_a_skewed_density() {
    let shape: f64 = 30.0;
    let mode = shape.ln();
    let covariance = [1.0 / shape];
    let factor = Cholesky::new(&covariance, 1).unwrap();
    let mean = shifted(&[mode], &factor, &covariance, |t| vec![shape - t[0].exp()]);
    assert!((mean[0] - (mode - 0.5 / shape)).abs() < 0.03 / shape, "{mean:?}");
}
