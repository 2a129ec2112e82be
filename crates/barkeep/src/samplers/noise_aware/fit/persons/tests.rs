//! Holds what is expected of persons to sums of rows that are drawn at another θ.

use super::*;
use crate::samplers::noise_aware::example::{plain, round, set};
use crate::samplers::noise_aware::fit::expectation::{Held, Wanted, expect};

#[test]
fn a_law_has_the_moments_it_was_made_from() {
    for (most, mean, variance) in
        [(2, 0.0, 0.9), (5, 0.3, 0.2), (5, -0.8, 0.1), (40, 0.5, 0.05), (1000, 0.0, 0.6)]
    {
        let law = RowLaw::new(most, mean, variance);
        let z = |size: f64| 2.0 * (size - 1.0) / (most - 1) as f64 - 1.0;
        let first: f64 = law.sizes.iter().zip(&law.shares).map(|(size, share)| share * z(*size)).sum();
        let second: f64 =
            law.sizes.iter().zip(&law.shares).map(|(size, share)| share * z(*size).powi(2)).sum();
        // Two values of rows have one free moment.
        let close = if most == 2 { f64::INFINITY } else { 0.01 };
        assert!(
            (first - mean).abs() < 0.01 && (second - first * first - variance).abs() < close,
            "{most} {first} {second}"
        );
    }
    assert!(RowLaw::new(1, 0.0, 0.5).is_one());
    let all = RowLaw::new(5, 0.999, 1e-4).mean();
    assert!((all - 5.0).abs() < 0.02, "{all}");
}

/// Rows are drawn at θ, their scores at θ_k are added and clipped: the mean over many persons is N·g·e, its variance N·w·C.
#[test]
fn sums_of_rows_are_those_of_drawn_persons() {
    for (family, far) in [("bernoulli", 0.4), ("bernoulli", 0.0), ("gaussian", 0.1), ("gaussian", 0.0)] {
        let spec = plain(family);
        let regression = spec.model().regression().unwrap();
        let set = set(&spec);
        let (at, away): (Vec<f64>, Vec<f64>) = match family {
            "bernoulli" => (vec![0.3, 0.2, -0.5], vec![0.3 + far, 0.2 - far, -0.5 + far]),
            _ => (vec![0.3, 0.2, -0.5, 0.0], vec![0.3 + far, 0.2 - far, -0.5 + far, 0.4 * far]),
        };
        let top = spec.data().schema().columns()[0].range().1;
        let (d, has_nuisance) = regression.parts();
        let law = RowLaw::new(5, 0.2, 0.3);
        for narrow in [0.7, 1.6] {
            let mut round = round(&at, (narrow, narrow));
            let (made, _) = make_up(regression, &round, &set, &law, top).unwrap();
            // Noise that outweighs everything asks for a narrow clip.
            let gain = made.choose(round.clips().0, 100.0, 10.0);
            let second = gain.clone();
            round.gains = Some((gain, second));
            let held = Held::new(regression, &round, &set, top).unwrap();
            let rounds = [(&round, &held)];
            let mut expected =
                expect(regression, &rounds, (&set, set.len()), &away, top, Wanted::Covariance).unwrap();
            expected.squeeze(&rounds, d);
            let scorer = regression.scorer(round.coefficients(), top).unwrap();
            let rule = regression.nodes(&away, top).unwrap();
            let clip = round.outer_clips().0;
            let mut rng = PublicRng::new(5, 7);
            let (mut room, mut nodes) = (NodeRoom::default(), NodeRoom::default());
            let (mut mean, mut squares, mut whitened) = (vec![0.0; d], 0.0, vec![0.0; d]);
            let persons = 20_000;
            for _ in 0..persons {
                let rows = law.quantile(rng.uniform()) as usize;
                let mut sum = vec![0.0; d];
                let (alike, kind) = (rng.uniform() < 0.5, rng.index(set.len()));
                for _ in 0..rows {
                    let any = rng.index(set.len());
                    let i = if alike { kind } else { any };
                    let (predictor, trials) = set.predictor(i, &away);
                    nodes.fill(&rule, predictor, trials);
                    let mut left = rng.uniform();
                    let drawn = nodes.weights().iter().position(|weight| {
                        left -= weight;
                        left < 0.0
                    });
                    let response = [nodes.responses()[drawn.unwrap_or(0)]];
                    let (predictor, trials) = set.predictor(i, &at);
                    let (mut slope, mut other) = ([0.0], vec![0.0; usize::from(has_nuisance)]);
                    regression.slopes(&at, (predictor, trials), &response, &mut slope, &mut other);
                    let bound = scorer.bound(scorer.whiten(set.row(i), &mut whitened));
                    let centre = scorer.centre(predictor, trials, bound, &mut room);
                    let factor = Scorer::factor(slope[0], bound, centre);
                    sum.iter_mut().zip(&whitened).for_each(|(sum, a)| *sum += factor * a);
                }
                let length = dot(&sum, &sum).sqrt();
                let factor = (clip / length).min(1.0);
                mean.iter_mut().zip(&sum).for_each(|(mean, x)| *mean += factor * x / persons as f64);
                squares += (factor * length).powi(2) / persons as f64;
            }
            let rows = law.mean();
            let size = (clip * clip / d as f64).sqrt();
            for j in 0..d {
                let found = rows * expected.mean[j];
                // Sampling leaves 0.7 % of a typical term; the rest is the method's own error, a twentieth of the mean.
                let slack = 0.03 * size + 0.06 * mean.iter().map(|x| x.abs()).fold(0.0, f64::max);
                assert!((found - mean[j]).abs() < slack, "{family} {narrow} {j}: {found} {}", mean[j]);
            }
            // The variance is that at θ_k, where answers are asked for.
            let parameters = d + usize::from(has_nuisance);
            let spread: f64 = (0..d).map(|j| rows * expected.covariance[j * parameters + j]).sum();
            let seen = squares - dot(&mean, &mean);
            assert!(far > 0.0 || (spread / seen - 1.0).abs() < 0.05, "{family} {narrow}: {spread} {seen}");
        }
    }
}
