use super::*;
use crate::samplers::noise_aware::example::{plain, round, set};
use barkeep_num::normal_cdf;

fn bins(excess: [f64; BINS]) -> Vec<Bins> {
    vec![Bins { block: ScoreBlock::Coefficients, excess, noise: 0.005 }]
}

/// Of a normal response at another θ than the round's, by the normal's own distribution function.
#[test]
fn probabilities_are_those_of_the_normal_law() {
    let spec = plain("gaussian");
    let (regression, set) = (spec.model().regression().unwrap(), set(&spec));
    let scene = Scene {
        model: &**spec.model(),
        regression,
        records: 1e4,
        top: 8.0,
        set: &set,
        others: &[],
        rarest: None,
    };
    let round = round(&[0.3, 0.2, -0.5, -0.4], (1.0, 1.0));
    let theta = [0.5, 0.1, -0.2, -0.2];
    let found = shares(&scene, &round, &bins([0.0; BINS]), &theta).unwrap();
    let mut expected = [0.0; BINS];
    for i in 0..set.len() {
        let x = set.row(i);
        let whitened: Vec<f64> =
            round.whitening.chunks(3).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect();
        let length = (whitened.iter().map(|a: &f64| a * a).sum::<f64>() / 3.0).sqrt();
        // |y − η|/σ² · length > e.
        let (own, centre) = (set.predictor(i, &round.theta).0, set.predictor(i, &theta).0);
        let (square, sd) = ((-0.8_f64).exp(), (-0.2_f64).exp());
        let beyond = |edge: Option<&f64>| {
            edge.map_or(0.0, |edge| {
                let far = edge * square / length;
                normal_cdf((centre - own - far) / sd) + normal_cdf((own - centre - far) / sd)
            })
        };
        for (j, sum) in expected.iter_mut().enumerate() {
            *sum += (beyond(EDGES.get(j)) - beyond(EDGES.get(j + 1))) / set.len() as f64;
        }
    }
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    }
}

/// Noise is no straying, nor is a θ that is off as far as the fit may be; an excess beyond both is.
#[test]
fn only_what_neither_noise_nor_the_fit_explains_is_straying() {
    let spec = plain("gaussian");
    let (regression, set) = (spec.model().regression().unwrap(), set(&spec));
    let scene = Scene {
        model: &**spec.model(),
        regression,
        records: 1e5,
        top: 8.0,
        set: &set,
        others: &[],
        rarest: None,
    };
    let theta = [0.3, 0.2, -0.5, -0.4];
    let round = round(&theta, (1.0, 1.0));
    let mut covariance = vec![0.0; 16];
    (0..4).for_each(|j| covariance[j * 5] = 0.1_f64.powi(2));
    let mut fit = Fit::at(&theta);
    fit.factor = Cholesky::new(&covariance, 4).unwrap();
    let judge = |excess| Straying::judge(&scene, &round, &bins(excess), &fit).unwrap();
    let noise: [f64; BINS] = std::array::from_fn(|j| if j % 2 == 0 { 0.005 } else { -0.005 });
    assert!(!judge(noise).is_sure() && judge(noise).chance > 0.05);
    // A log sd that is larger by two of the fit's standard deviations.
    let zero = bins([0.0; BINS]);
    let (here, there) = (
        shares(&scene, &round, &zero, &theta).unwrap(),
        shares(&scene, &round, &zero, &[0.3, 0.2, -0.5, -0.2]).unwrap(),
    );
    let moved: [f64; BINS] = std::array::from_fn(|j| there[j] - here[j]);
    assert!(moved[2] > 0.02 && !judge(moved).is_sure(), "{moved:?}");
    let mut far = [0.0; BINS];
    far[5] = 0.04;
    assert!(judge(far).is_sure());
}
