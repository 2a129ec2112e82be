use super::*;
use crate::samplers::noise_aware::example::{plain, round};

/// A feature that is 0 in every made-up record, as a rare level's may be, leaves the clip to the others.
#[test]
fn a_feature_that_no_record_has_does_not_stop_the_choice() {
    let spec = plain("bernoulli");
    let regression = spec.model().regression().unwrap();
    let rows: Vec<f64> = [-0.8, -0.3, 0.1, 0.6].iter().flat_map(|a| [0.0, *a, 0.0]).collect();
    let set = Set::new(regression, &rows, 3);
    let mut round = round(&[0.1, -0.4, 0.8], (1.0, 1.0));
    round.whitening = vec![2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 50.0];
    let noise = Noise { per_clip: 8.0, records: 400.0 };
    let block = ScoreBlock::Coefficients;
    let means = |round: &Round| -> Vec<f64> {
        left(regression, round, block, (&set, RECORDS), 1.0, noise).iter().map(Left::mean).collect()
    };
    let with = means(&round);
    // The third row of the whitening meets zeros only: its size is of no matter.
    round.whitening[8] = 1e-3;
    let without = means(&round);
    assert_eq!(with.len(), GRID.len());
    assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-9 * b), "{with:?} {without:?}");
    assert!(choose(regression, &round, block, &set, 1.0, noise, &Bias::none()).is_some());
}
