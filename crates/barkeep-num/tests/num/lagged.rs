//! Sums by lag are those of the definition.

use barkeep_num::lagged::LaggedProducts;

#[test]
fn sums_are_those_of_the_definition() {
    let sequences = [[1.0, -2.0, 0.5, 3.0, 0.0], [0.25, 4.0, -1.0, 2.0, -3.0]];
    let mut products = LaggedProducts::new(5).unwrap();
    sequences.iter().for_each(|sequence| products.add(sequence).unwrap());
    let found = products.sums().unwrap();
    assert_eq!(found.len(), 5);
    for (lag, found) in found.iter().enumerate() {
        let by_hand: f64 = sequences
            .iter()
            .map(|sequence| sequence.iter().zip(&sequence[lag..]).map(|(x, later)| x * later).sum::<f64>())
            .sum();
        assert!((found - by_hand).abs() < 1e-13, "lag {lag}: {found}, not {by_hand}");
    }
}

#[test]
fn another_length_is_refused() {
    assert!(LaggedProducts::new(5).unwrap().add(&[1.0]).is_none());
    assert!(LaggedProducts::new(usize::MAX).is_none());
}
