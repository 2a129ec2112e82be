use super::*;

/// Lanes that fill no whole number of tiles, and numbers that cannot be added up in another order.
#[test]
fn products_are_added_up_record_by_record() {
    let count = 37;
    let lane = |seed: usize| {
        (0..count).map(move |i| libm::sin((seed * 50 + i * i) as f64) * 1e3_f64.powi((i % 5) as i32))
    };
    let a: Vec<f64> = (0..6).flat_map(lane).collect();
    let b: Vec<f64> = (10..15).flat_map(lane).collect();
    let weights: Vec<f64> = lane(20).map(f64::abs).collect();
    let found = second_moments(&a, &b, &weights);
    assert_eq!(found.len(), 30);
    for (k, found) in found.iter().enumerate() {
        let (x, y) = (&a[k / 5 * count..][..count], &b[k % 5 * count..][..count]);
        let by_record: f64 = (0..count).map(|i| x[i] * weights[i] * y[i]).sum();
        assert_eq!(*found, by_record);
    }
    // Weights that do not round.
    let halves = vec![0.5; count];
    let squares = Weighted::new(&a, &halves).squares(&Right::new(&a, count));
    assert_eq!(squares, second_moments(&a, &a, &halves));
}

/// Long vectors are shortened, short ones stay, and those without a length are taken out; only the first and last are changes.
#[test]
fn clips_shorten_what_is_long() {
    let mut terms = vec![3.0, 0.3, f64::NAN, f64::INFINITY, 4.0, 0.4, 1.0, 1.0];
    assert!(clip_each(&mut terms, 4, 1.0));
    let expected = [0.6, 0.3, 0.0, 0.0, 0.8, 0.4, 0.0, 0.0];
    assert!(terms.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-15), "{terms:?}");
    let before = terms.clone();
    assert!(!clip_each(&mut terms, 4, 1.1) && terms == before);
    assert!(shift(&mut terms, 4, 0.5, |_, _| 0.1) && (terms[0].hypot(terms[4]) - 0.5).abs() < 1e-15);
}
