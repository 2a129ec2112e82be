//! Checks that scores are centred, bounded and a record's own, and that tails are those of the law.

use barkeep_data::Block;

use super::*;
use crate::check::outputs;
use crate::families::bernoulli::Logit;
use crate::families::gamma::Gamma;
use crate::families::gaussian::Gaussian;
use crate::families::negative_binomial::NegativeBinomial;
use crate::families::poisson::Poisson;
use crate::families::student_t::StudentT;
use crate::family::{Family, Nuisance};
use crate::{Design, Prior, terms};

const UNKNOWN: Nuisance = Nuisance::Unknown(Prior::HalfNormal { scale: 1.0 });

fn families() -> Vec<Box<dyn Family>> {
    vec![
        Box::new(Logit),
        Box::new(Poisson),
        Box::new(NegativeBinomial { size: UNKNOWN }),
        Box::new(Gaussian { sd: UNKNOWN }),
        Box::new(StudentT { degrees: 4.0, scale: UNKNOWN }),
        Box::new(Gamma { shape: UNKNOWN }),
    ]
}

fn regression(family: Box<dyn Family>) -> Regression {
    let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
    Regression::new(Design::new("y", vec!["a".into(), "b".into()], true, prior).unwrap(), family).unwrap()
}

/// One record many times, each with a node of the law as its response: the block, and the nodes' weights.
fn block(regression: &Regression, theta: &[f64], features: [f64; 2]) -> (Vec<f64>, Vec<f64>) {
    let rule = regression.nodes(theta, 1e6).unwrap();
    let mut room = NodeRoom::default();
    let (predictor, trials) = regression.predictor(theta, &[0.0, features[0], features[1]]);
    room.fill(&rule, predictor, trials);
    let mut values = room.responses().to_vec();
    values.extend(features.iter().flat_map(|x| std::iter::repeat_n(*x, rule.len())));
    (values, room.weights().to_vec())
}

#[test]
fn terms_have_mean_zero_at_theta_whatever_the_features_and_stay_within_the_clip() {
    for family in families() {
        let name = format!("{family:?}");
        let regression = regression(family);
        let (d, has_nuisance) = regression.parts();
        let mut theta = vec![0.4, -0.7, 0.9];
        theta.extend(has_nuisance.then_some(0.2));
        let whitening: Vec<f64> = (0..d * d).map(|k| if k % (d + 1) == 0 { 1.3 } else { 0.2 }).collect();
        let blocks = [(ScoreBlock::Coefficients, &whitening[..]), (ScoreBlock::Nuisance, &[0.8][..])];
        for (part, whitening) in blocks.into_iter().take(1 + usize::from(has_nuisance)) {
            for clip in [0.3, 1.0, 4.0] {
                let asked = CentredScore { theta: &theta, block: part, whitening, clip };
                let term = terms::centred(&regression, asked, 1e6).unwrap();
                for features in [[0.0, 0.0], [1.0, -1.0], [-0.3, 0.8]] {
                    let (values, weights) = block(&regression, &theta, features);
                    let records = weights.len();
                    let out = outputs(&term.row, Block::over(&values, records, records));
                    for coordinate in out.chunks_exact(records) {
                        let mean: f64 = coordinate.iter().zip(&weights).map(|(x, w)| x * w).sum();
                        assert!(mean.abs() < 0.01 * clip, "{name} {part:?} {clip}: {mean}");
                    }
                    for i in 0..records {
                        let square: f64 = out.iter().skip(i).step_by(records).map(|x| x * x).sum();
                        assert!(square.sqrt() <= clip * (1.0 + 1e-12), "{name}");
                    }
                    // A record's term is its own: alone it has the same bits.
                    let lone: Vec<f64> = values.iter().skip(1).step_by(records).copied().collect();
                    let alone = outputs(&term.row, Block::over(&lone, 1, 1));
                    for (k, alone) in alone.iter().enumerate() {
                        assert_eq!(alone.to_bits(), out[k * records + 1].to_bits(), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn tails_are_those_of_the_law_and_no_longer_than_the_root_of_two() {
    let edges = [1.0, 1.6, 2.5, 4.0];
    for family in families() {
        let name = format!("{family:?}");
        let regression = regression(family);
        let mut theta = vec![0.4, -0.7, 0.9];
        theta.extend(regression.parts().1.then_some(0.2));
        let whitening = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        let asked =
            CentredScore { theta: &theta, block: ScoreBlock::Coefficients, whitening: &whitening, clip: 1.0 };
        let term = terms::tail(&regression, asked, &edges, 1e6).unwrap();
        let (values, weights) = block(&regression, &theta, [0.9, -0.5]);
        let records = weights.len();
        let out = outputs(&term.row, Block::over(&values, records, records));
        for bin in out.chunks_exact(records) {
            let mean: f64 = bin.iter().zip(&weights).map(|(x, w)| x * w).sum();
            // A node's own weight is the grain of a continuous law.
            assert!(mean.abs() < 0.04, "{name}: {mean}");
        }
        for i in 0..records {
            let square: f64 = out.iter().skip(i).step_by(records).map(|x| x * x).sum();
            assert!(square <= 2.0, "{name}");
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let regression = regression(Box::new(Logit));
    let ask = |block, whitening, theta| {
        regression.scorer(CentredScore { theta, block, whitening, clip: 1.0 }, 1.0).is_none()
    };
    assert!(ask(ScoreBlock::Nuisance, &[1.0][..], &[0.0; 3][..]));
    assert!(ask(ScoreBlock::Coefficients, &[1.0; 4][..], &[0.0; 3][..]));
    assert!(ask(ScoreBlock::Coefficients, &[1.0; 9][..], &[0.0; 2][..]));
    assert!(!ask(ScoreBlock::Coefficients, &[1.0; 9][..], &[0.0; 3][..]));
}
