//! Holds the tails to mpmath's over wide shapes, and tails of counts to sums of their probabilities.

use super::*;
use crate::language::laws::{LAWS, Law, LawEntry};

#[test]
fn tails_are_mpmaths_over_wide_shapes() {
    let mut worst: f64 = 0.0;
    for line in include_str!("../../../../tests/tables/tails.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let numbers: Vec<f64> = cells[1..].iter().map(|cell| cell.parse().unwrap()).collect();
        let mut graph = Graph::default();
        let (a, b, at) = (graph.parameter(0), graph.parameter(1), graph.column(0));
        let (below, above) = match cells[0] {
            "gamma" => {
                let log = graph.unary(Unary::Ln, at);
                gamma_tails(&mut graph, a, (at, log))
            }
            _ => beta_tails(&mut graph, (a, b), at),
        };
        let roots = [below, above];
        let slopes: Vec<Id> = roots.iter().flat_map(|root| graph.gradient(*root, 2)).collect();
        let values = graph.values(&numbers[..2], &numbers[2..3]);
        for (root, expected) in roots.iter().zip(&numbers[3..]) {
            let found = values[*root as usize];
            let error = (found - expected).abs() / (1.0 + expected.abs());
            assert!(error <= 1e-10, "{line}: {found}");
            worst = worst.max(error);
        }
        assert!(slopes.iter().all(|slope| values[*slope as usize].is_finite()), "{line}");
    }
    assert!(worst > 0.0, "nothing was compared");
}

fn entry(name: &str) -> &'static LawEntry {
    LAWS.iter().find(|law| law.name == name).unwrap()
}

/// P(Y ≤ y) as a sum, for laws whose probabilities beyond 1500 are nothing.
#[test]
fn tails_of_counts_are_sums_of_their_probabilities() {
    let mut graph = Graph::default();
    let mut one = |name: &str, values: &[f64]| {
        let arguments = values.iter().map(|value| graph.constant(*value)).collect();
        Law::One { entry: entry(name), arguments }
    };
    let inflated = [one("point", &[0.0]), one("poisson", &[6.5]), one("neg_binomial", &[12.0, 1.5])];
    let laws = vec![
        (one("poisson", &[0.3]), 400),
        (one("poisson_log", &[3.0]), 400),
        (one("binomial", &[17.0, 0.02]), 17),
        (one("binomial_logit", &[40.0, 1.5]), 40),
        (one("neg_binomial", &[9.0, 0.7]), 1500),
    ];
    let weights = [0.2, 0.5, 0.3].map(|weight| graph.constant(weight));
    let mixture = Law::Mixture(weights.into_iter().zip(inflated).collect());
    for (law, most) in laws.into_iter().chain([(mixture, 1500)]) {
        let mut graph = graph.clone();
        let y = graph.column(0);
        let density = law.density(&mut graph, y);
        let (below, above) = law.tails(&mut graph, y).unwrap();
        let masses: Vec<f64> =
            (0..=most).map(|y| libm::exp(graph.values(&[], &[f64::from(y)])[density as usize])).collect();
        for y in (0..=most).step_by(7).chain([most]) {
            let values = graph.values(&[], &[f64::from(y)]);
            let (low, high) = masses.split_at(y as usize + 1);
            let found = [below, above].map(|id| libm::exp(values[id as usize]));
            let expected = [low, high].map(|part| part.iter().rev().sum::<f64>());
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found - expected).abs() <= 1e-11, "{y}: {found} {expected}");
                assert!(
                    (found - expected).abs() <= 1e-8 * expected || expected < 1e-30,
                    "{y}: {found} {expected}"
                );
            }
        }
    }
}
