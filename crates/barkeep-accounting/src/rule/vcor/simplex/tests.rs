//! Checks the linear program against solutions found by hand.

use super::*;

#[test]
fn a_textbook_program_is_solved_with_its_prices() {
    // max 3x + 5y, x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18: x = 2, y = 6, prices 0, 3/2, 1 (by hand).
    let matrix = [vec![1.0, 0.0], vec![0.0, 2.0], vec![3.0, 2.0]];
    let solution = maximise(&[3.0, 5.0], &matrix, &[4.0, 12.0, 18.0]).unwrap();
    for (got, expected) in solution.variables.iter().zip([2.0, 6.0]) {
        assert!((got - expected).abs() < 1e-12);
    }
    for (got, expected) in solution.prices.iter().zip([0.0, 1.5, 1.0]) {
        assert!((got - expected).abs() < 1e-12);
    }
}

#[test]
fn a_program_on_which_the_largest_cost_cycles_is_solved() {
    // Beale's example: optimum 1/20 at x = (1/25, 0, 1, 0).
    let objective = [0.75, -150.0, 0.02, -6.0];
    let matrix = [vec![0.25, -60.0, -0.04, 9.0], vec![0.5, -90.0, -0.02, 3.0], vec![0.0, 0.0, 1.0, 0.0]];
    let solution = maximise(&objective, &matrix, &[0.0, 0.0, 1.0]).unwrap();
    let value: f64 = solution.variables.iter().zip(objective).map(|(x, c)| x * c).sum();
    assert!((value - 0.05).abs() < 1e-12);
}

#[test]
fn an_unbounded_program_has_no_solution() {
    assert!(maximise(&[1.0], &[vec![-1.0]], &[1.0]).is_none());
}
