//! Checks the decomposition on a matrix worked by hand, and what it refuses.

use barkeep_num::linear::Cholesky;

#[test]
fn factor_inverse_and_determinant_of_a_matrix_worked_by_hand() {
    // A = L·Lᵀ with L = [[2,0,0],[1,3,0],[−1,2,1]], so det A = (2·3·1)² = 36.
    let matrix = [4.0, 2.0, -2.0, 2.0, 10.0, 5.0, -2.0, 5.0, 6.0];
    let factor = Cholesky::new(&matrix, 3).unwrap();
    assert_eq!(factor.lower(), [2.0, 0.0, 0.0, 1.0, 3.0, 0.0, -1.0, 2.0, 1.0]);
    assert!((factor.log_determinant() - 36f64.ln()).abs() < 1e-15 * 8.0);
    let inverse = factor.inverse();
    for i in 0..3 {
        for j in 0..3 {
            let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
            assert!((product - f64::from(u8::from(i == j))).abs() < 1e-13);
        }
    }
    let mut out = [0.0; 3];
    factor.correlate(&[1.0, 1.0, 1.0], &mut out);
    assert_eq!(out, [2.0, 4.0, 2.0]);
}

#[test]
fn refuses_what_is_not_a_covariance() {
    assert!(Cholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_none(), "indefinite");
    assert!(Cholesky::new(&[1.0, 0.5, 0.4, 1.0], 2).is_none(), "asymmetric");
    assert!(Cholesky::new(&[1.0, f64::NAN, f64::NAN, 1.0], 2).is_none(), "not a number");
    assert!(Cholesky::new(&[f64::INFINITY], 1).is_none(), "infinite");
    assert!(Cholesky::new(&[1.0, 0.0], 2).is_none(), "not square");
    assert!(Cholesky::new(&[], 0).is_none(), "empty");
}
