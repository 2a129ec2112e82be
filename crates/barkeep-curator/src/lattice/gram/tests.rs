//! Bounds a record's outer product for any coordinates, and compares sums with floating point.

use super::*;
use crate::gate::gate::Ask;
use crate::test_support::echo::{EXTREMES, table};
use crate::{Asked, Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Shape, Sum, Temper, Term};
use barkeep_accounting::Sampling;
use barkeep_machine::{self as machine, Output, Source, Writer};
use std::sync::Arc;

/// The integers a single record adds.
fn record(row: &[f64], spreads: &[f64], radius: f64) -> Vec<i64> {
    let x: Vec<f64> = row.iter().zip(spreads).map(|(z, spread)| z / spread).collect();
    let mut sums = vec![0; gram_width(row.len())];
    add(&x, 1, (radius, one(radius).unwrap()), &mut sums);
    sums
}

#[test]
fn no_record_moves_a_gram_further_than_its_sensitivity() {
    let mut rng = NoiseRng::insecure_seed(7);
    let mut any = || rng.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
    for p in 1..6 {
        for trial in 0..200 {
            let radius = 0.3 + 3.0 * (any() + 1.0);
            let spreads: Vec<f64> =
                (0..p).map(|_| if trial % 3 == 0 { 1e-9 } else { 0.05 + (any() + 1.0) }).collect();
            let mut row = || {
                (0..p)
                    .map(|j| if (trial + j) % 7 == 0 { EXTREMES[trial % 10] } else { any() })
                    .collect::<Vec<f64>>()
            };
            let (a, b) = (record(&row(), &spreads, radius), record(&row(), &spreads, radius));
            // ‖aaᵀ − bbᵀ‖²_F in exact integers, pairs counted twice.
            let square: i128 = (0..a.len())
                .map(|k| i128::from(a[k] - b[k]).pow(2) * if is_square(k, p) { 1 } else { 2 })
                .sum();
            assert!(square <= 2 * i128::from(SQUARE).pow(2));
            let own: i128 = (0..a.len())
                .map(|k| i128::from(a[k]).pow(2) * if is_square(k, p) { 1 } else { 2 })
                .sum::<i128>();
            assert!(own <= i128::from(SQUARE).pow(2));
        }
    }
}

/// Two records at the radius and at right angles come close to the bound: it is not slack.
#[test]
fn the_sensitivity_is_nearly_attained() {
    let radius = 100.0;
    let (a, b) = (record(&[1.0, 0.0], &[1e-3; 2], radius), record(&[0.0, 1.0], &[1e-3; 2], radius));
    let square: f64 =
        (0..5).map(|k| ((a[k] - b[k]) as f64).powi(2) * if is_square(k, 2) { 1.0 } else { 2.0 }).sum();
    let bound = gram_reach(Neighbours::Substitute);
    assert!(square.sqrt() <= bound && square.sqrt() > 0.98 * bound, "{} {bound}", square.sqrt());
}

#[test]
fn sums_are_those_of_shortened_vectors() {
    let rows: Vec<Vec<f64>> =
        (0..3000).map(|i| (0..3).map(|j| ((i * (j + 3) + 17 * j) as f64).sin()).collect()).collect();
    let (centres, spreads, radius) = ([0.1, -0.2, 0.0], [0.5, 0.8, 0.4], 1.9);
    let mut expected = vec![0.0; gram_width(3)];
    for row in &rows {
        let x: Vec<f64> = (0..3).map(|j| (row[j] - centres[j]) / spreads[j]).collect();
        let length = x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let x: Vec<f64> = x.iter().map(|x| x * (radius / length).min(1.0)).collect();
        let products = (0..3).flat_map(|j| (j..3).map(move |k| (j, k))).map(|(j, k)| x[j] * x[k]);
        expected.iter_mut().zip(x.iter().copied().chain(products)).for_each(|(sum, term)| *sum += term);
    }
    let mut w = Writer::default();
    let standard = [0, 1, 2].map(|j| w.deviation(1.0 / spreads[j], Source::Column(j as u32), centres[j]));
    let products = machine::Term::of(w.finish(standard.map(Output::Dense)).unwrap());
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(table(&rows), privacy_model, Budget::not_private()).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap();
    let term = Term::Program(Asked { term: &products, shape: Shape::Outer });
    let mut question = Sum {
        term,
        temper: Temper::NONE,
        clip: Clip::new(radius).unwrap(),
        batch: Sampling::Full,
        sigma: 0.0,
    };
    let mut found = vec![0.0; gram_width(3)];
    gate.sum(&question, &mut found).unwrap();
    for (found, expected) in found.iter().zip(&expected) {
        // Truncation takes less than 1/M off a coordinate.
        assert!(
            (found - expected).abs() < 3000.0 * 2.0 * radius / one(radius).unwrap() as f64,
            "{found} {expected}"
        );
    }
    // Pairs get less noise: their spread over repeated answers is 1/√2 of the squares'.
    question.sigma = 50.0;
    let (mut pairs, mut squares) = (0.0, 0.0);
    for _ in 0..2000 {
        let mut noisy = vec![0.0; gram_width(3)];
        gate.sum(&question, &mut noisy).unwrap();
        pairs += (noisy[0] - found[0]).powi(2) / 2000.0;
        squares += (noisy[3] - found[3]).powi(2) / 2000.0;
    }
    // Both variances have a relative standard error of 3.2 %: five of them.
    assert!(
        (squares / 2500.0 - 1.0).abs() < 0.16 && (pairs / 1250.0 - 1.0).abs() < 0.16,
        "{squares} {pairs}"
    );
    question.batch = Sampling::WithoutReplacement { batch: 5, records: 3000 };
    assert!(gate.sum(&question, &mut found).is_err());
}

#[test]
fn the_price_is_that_of_the_sensitivity() {
    for neighbours in [Neighbours::Substitute, Neighbours::AddRemove] {
        let clip = Clip::new(2.3).unwrap();
        let sensitivity = gram_sensitivity(2.3, neighbours).unwrap();
        let factor = if neighbours == Neighbours::Substitute { 2_f64.sqrt() } else { 1.0 };
        // ⌊·⌋ of M makes it larger by at most 2/M.
        assert!(
            (sensitivity.get() / (factor * (2.3 * 2.3 + 1.0)) - 1.0).abs() < 4.0 / one(2.3).unwrap() as f64
        );
        let cost = crate::gram_cost(clip, 10.0 * sensitivity.get(), PrivacyModel { neighbours }).unwrap();
        let mu = cost.mu().unwrap().get();
        assert!((0.1 * (1.0 - 1e-12)..0.1 * (1.0 + 1e-9)).contains(&mu), "{mu}");
    }
    assert!(gram_sensitivity(1e3, Neighbours::Substitute).is_err());
}
