//! Checks a spectrum worked by hand, and that the parts give the matrix back.

use barkeep_num::linear::Spectrum;

#[test]
fn a_matrix_worked_by_hand() {
    // [[2,1],[1,2]] has eigenvalues 1 and 3; its square root is [[√3+1, √3−1],[√3−1, √3+1]]/2.
    let spectrum = Spectrum::new(&[2.0, 1.0, 1.0, 2.0], 2).unwrap();
    let (low, high) = spectrum.range();
    assert!((low - 1.0).abs() < 1e-15 && (high - 3.0).abs() < 1e-15);
    let root = spectrum.map(f64::sqrt);
    let (sum, difference) = ((3f64.sqrt() + 1.0) / 2.0, (3f64.sqrt() - 1.0) / 2.0);
    for (found, expected) in root.iter().zip([sum, difference, difference, sum]) {
        assert!((found - expected).abs() < 1e-15);
    }
}

#[test]
fn the_parts_give_the_matrix_back() {
    for d in [1, 3, 8, 30] {
        let entry = |i: usize, j: usize| ((i * j + i + j) as f64).sin() * 10_f64.powi((i % 3 + j % 3) as i32);
        let matrix: Vec<f64> = (0..d * d).map(|k| entry(k / d, k % d)).collect();
        let spectrum = Spectrum::new(&matrix, d).unwrap();
        let scale = spectrum.values().iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        for (found, expected) in spectrum.map(|value| value).iter().zip(&matrix) {
            assert!((found - expected).abs() <= 1e-13 * scale.max(1.0), "{d}: {found} {expected}");
        }
        let trace: f64 = (0..d).map(|k| matrix[k * d + k]).sum();
        assert!((spectrum.values().iter().sum::<f64>() - trace).abs() <= 1e-13 * scale.max(1.0) * d as f64);
    }
}

#[test]
fn what_is_no_matrix_is_refused() {
    assert!(Spectrum::new(&[], 0).is_none());
    assert!(Spectrum::new(&[1.0, 2.0], 2).is_none());
    assert!(Spectrum::new(&[1.0, f64::NAN, 0.0, 1.0], 2).is_none());
}
