//! Checks a system solved by hand, and that an indefinite one is refused.

use barkeep_num::linear::solve;

#[test]
fn a_system_solved_by_hand() {
    // x = (1, −2, 3).
    let mut matrix = vec![4.0, 2.0, 0.0, 2.0, 5.0, 3.0, 0.0, 3.0, 6.0];
    let mut right = vec![0.0, 1.0, 12.0];
    assert!(solve(&mut matrix, &mut right));
    for (got, expected) in right.iter().zip([1.0, -2.0, 3.0]) {
        assert!((got - expected).abs() < 1e-14);
    }
}

#[test]
fn an_indefinite_system_is_refused() {
    assert!(!solve(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
}
