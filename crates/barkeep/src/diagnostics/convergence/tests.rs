//! Checks what must hold of convergence figures for any draws.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn all(chains: &[Vec<f64>]) -> [Option<f64>; 5] {
    [r_hat(chains), ess_bulk(chains), ess_tail(chains), ess_mean(chains), mcse_mean(chains)]
}

/// Draws without ties, so that no decision of Geyer's rule stands on a rounding error.
fn continuous(chains: std::ops::Range<usize>, draws: usize) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(-10.0..10.0_f64, draws), chains)
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs(),
        _ => a == b,
    }
}

#[test]
fn too_little_says_nothing() {
    for chains in [vec![], vec![vec![]], vec![vec![1.0, 2.0, 3.0]; 4], vec![vec![1.0, 2.0, 3.0, 5.0], vec![]]]
    {
        assert_eq!(all(&chains), [None; 5], "{chains:?}");
    }
}

#[test]
fn draws_that_are_not_finite_say_nothing() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(all(&[vec![1.0, 2.0, bad, 3.0, 4.0], vec![1.0, 5.0, 2.0, 3.0, 4.0]]), [None; 5]);
    }
}

#[test]
fn draws_that_never_move_say_nothing() {
    for value in [0.1, 0.0, -1e300] {
        assert_eq!(all(&[vec![value; 9], vec![value; 9]]), [None; 5]);
    }
    assert_eq!(r_hat(&[[0.0, -0.0, 0.0, -0.0]]), None, "the zeros are one number");
}

#[test]
fn chains_stuck_in_different_places_never_agree() {
    let stuck = [vec![0.1; 20], vec![0.3; 20], vec![0.7; 20]];
    assert_eq!(r_hat(&stuck), Some(f64::INFINITY));
    let size = ess_bulk(&stuck).unwrap();
    assert!(size < 7.0, "three places are no more than a few draws, not {size}");
}

#[test]
fn a_tail_seen_once_is_not_known() {
    // The chain ends with 10 of 100 draws at its largest value: x ≤ q_95% holds for all of them.
    let stuck: Vec<f64> = (0..100).map(|draw| f64::from(draw.min(90))).collect();
    let chains = [stuck];
    assert_eq!(ess_tail(&chains), None);
    assert!(ess_bulk(&chains).is_some());
}

#[test]
fn an_iid_sample_passes_and_is_about_as_large_as_it_is() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..20 {
        let chains: Vec<Vec<f64>> =
            (0..4).map(|_| (0..500).map(|_| random.random::<f64>()).collect()).collect();
        // Under independence R̂² − 1 ≈ (χ²_7/7 − 1)/250 for each of the two parts: below 0.993 or above 1.011 with
        // probability under 1e-4; the effective size has a relative error of about √(2·2/2000) per counted lag.
        let found = r_hat(&chains).unwrap();
        assert!(found > 0.993 && found < 1.011, "{found}");
        let size = ess_bulk(&chains).unwrap() / 2000.0;
        assert!(size > 0.8 && size < 1.25, "{size}");
        let error = mcse_mean(&chains).unwrap() / (1.0 / 12.0_f64 / 2000.0).sqrt();
        assert!(error > 0.85 && error < 1.15, "{error}");
    }
}

#[test]
fn an_autoregression_has_its_known_effective_size() {
    // x_t = φ x_{t−1} + e_t has integrated time (1+φ)/(1−φ): 9 for φ = 0.8.
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let chains: Vec<Vec<f64>> = (0..4)
        .map(|_| {
            let mut state = 0.0;
            (0..50_000)
                .map(|_| {
                    state = 0.8 * state + (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
                    state
                })
                .collect()
        })
        .collect();
    let size = ess_mean(&chains).unwrap();
    // Standard error of the integrated time about √(4·40/2e5) ≈ 3 % (Sokal 1997, window 20 on each side).
    assert!((size / (200_000.0 / 9.0) - 1.0).abs() < 0.12, "{size}");
}

#[test]
fn lengths_are_cut_to_the_shortest() {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let long: Vec<f64> = (0..90).map(|_| random.random()).collect();
    let short: Vec<f64> = (0..61).map(|_| random.random()).collect();
    assert_eq!(all(&[long.clone(), short.clone()]), all(&[long[..61].to_vec(), short]));
}

#[test]
fn any_finite_size_of_draws_gives_the_same_verdict() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let chains: Vec<Vec<f64>> =
        (0..3).map(|_| (0..80).map(|_| random.random::<f64>() - 0.5).collect()).collect();
    let expected = all(&chains);
    for scale in [2.0_f64.powi(1000), 2.0_f64.powi(-900)] {
        let scaled: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|value| value * scale).collect()).collect();
        let found = all(&scaled);
        assert_eq!(found[..4], expected[..4]);
        assert_eq!(found[4].unwrap() / scale, expected[4].unwrap());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_input_panics_or_gives_a_negative_figure(
        chains in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 0..12), 0..4),
        finite in prop::collection::vec(prop::collection::vec(prop::num::f64::NORMAL, 4..12), 1..4),
    ) {
        for figure in all(&chains).into_iter().chain(all(&finite)).flatten() {
            prop_assert!(figure >= 0.0);
        }
    }

    #[test]
    fn ranks_ignore_increasing_transforms(chains in continuous(1..5, 31)) {
        let warped: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|value| (value / 3.0).exp()).collect()).collect();
        // Folding measures distance from the median, so only the bulk parts are free of the scale.
        let bulk = |chains: &[Vec<f64>]| Sequences::new(chains).unwrap().halves().rank_normalised().r_hat();
        prop_assert_eq!(bulk(&warped), bulk(&chains));
        prop_assert_eq!(ess_bulk(&warped), ess_bulk(&chains));
    }

    #[test]
    fn figures_ignore_shift_scale_and_reflection(chains in continuous(3..4, 31), factor in 0.1..10.0_f64) {
        // An odd number of draws: of an even one the two next to the median fold onto one distance, and it would
        // be rounding that tells whether they share a rank.
        let moved: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|value| 3.0 - factor * value).collect()).collect();
        prop_assert!(close(r_hat(&moved), r_hat(&chains)));
        prop_assert!(close(ess_bulk(&moved), ess_bulk(&chains)));
        prop_assert!(close(ess_mean(&moved), ess_mean(&chains)));
        prop_assert!(close(mcse_mean(&moved), mcse_mean(&chains).map(|error| factor * error)));
    }

    #[test]
    fn figures_ignore_the_order_of_chains(chains in continuous(2..6, 40), turn in 1..5_usize) {
        let mut turned = chains.clone();
        turned.rotate_left(turn % chains.len());
        for (found, expected) in all(&turned).into_iter().zip(all(&chains)) {
            prop_assert!(close(found, expected), "{:?} {:?}", found, expected);
        }
    }

    #[test]
    fn r_hat_is_at_least_its_floor(chains in continuous(1..5, 20)) {
        // B ≥ 0 gives R̂ ≥ √((n−1)/n) with n = 10 draws in a half.
        prop_assert!(r_hat(&chains).unwrap() >= 0.9_f64.sqrt() - 1e-12);
    }

    #[test]
    fn moving_one_chain_away_raises_r_hat(chains in continuous(3..4, 40)) {
        let mut apart = chains.clone();
        apart[0].iter_mut().for_each(|value| *value += 100.0);
        prop_assert!(r_hat(&apart).unwrap() > r_hat(&chains).unwrap());
        prop_assert!(r_hat(&apart).unwrap() > 1.5);
    }
}
