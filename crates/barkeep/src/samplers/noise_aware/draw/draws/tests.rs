use super::*;
use crate::samplers::noise_aware::example;
use crate::samplers::noise_aware::example::{round, spec};
use crate::samplers::noise_aware::fit::expectation::Set;
use crate::samplers::noise_aware::fit::posterior::{Answered, Scene};
use crate::samplers::noise_aware::fit::tail::Bias;
use crate::samplers::noise_aware::questions::shares::{LEARNING, Shares};
use barkeep_accounting::Ratio;
use barkeep_model::Law;

/// Draws of an intercept given one answer, against sums of the same density over a fine grid: a bent posterior, since few records
/// and little noise leave room for the logistic curve.
#[test]
fn draws_follow_the_posterior() {
    let spec = spec("bernoulli", "y = { kind = \"bool\", invalid = false }", "1");
    let regression = spec.model().regression().unwrap();
    let set = Set::new(regression, &[0.0], 1);
    let records = 40.0;
    let scene =
        Scene { model: &**spec.model(), regression, records, top: 1.0, set: &set, others: &[], rarest: None };
    let mut asked = round(&[0.0], (2.0, 1.0));
    (asked.whitening, asked.answer, asked.noise) = (vec![2.0], vec![22.0], vec![4.0]);
    let answered = vec![Answered::new(&scene, asked).unwrap()];
    let fit = scene.posterior().fit(&answered, &[0.0], &(Bias::none(), Bias::none()), 4).unwrap();
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    let top = scene.posterior().log_posterior(&answered, &fit, &fit.mode);
    for k in -4000..4000 {
        let x = f64::from(k) * 2.5e-3;
        let weight = (scene.posterior().log_posterior(&answered, &fit, &[x]) - top).exp();
        (total, first, second) = (total + weight, first + weight * x, second + weight * x * x);
    }
    let (mean, sd) = (first / total, (second / total - (first / total).powi(2)).sqrt());
    let whole = Ratio::new(4.0).unwrap();
    let setup = Setup {
        model: Arc::clone(spec.model()),
        coordinates: example::coordinates(&spec, Law::Logit),
        shares: Shares::new(whole, LEARNING, false, false, 1, false).unwrap(),
        records,
        most_rows: 1,
        law: Law::Logit,
    };
    let path = vec![vec![0.0]; 2];
    let found = Found {
        set,
        others: Vec::new(),
        answered,
        fit,
        path,
        unused: 0,
        total: records,
        rarest: None,
        given_up: Vec::new(),
        straying: None,
    };
    let mut kernel = NoiseAware::new(Arc::new(setup));
    kernel.found = Some(found);
    let mut rng = PublicRng::new(5, 0);
    let draws: Vec<f64> = (0..20_000).map(|_| kernel.advance(&mut rng).unwrap().unwrap().0[0]).collect();
    let n = draws.len() as f64;
    let average = draws.iter().sum::<f64>() / n;
    let spread = (draws.iter().map(|x| (x - average).powi(2)).sum::<f64>() / n).sqrt();
    // Four Monte Carlo errors at an efficiency of a half.
    assert!((average - mean).abs() < 4.0 * sd * (2.0 / n).sqrt(), "{average} {mean}");
    assert!((spread / sd - 1.0).abs() < 0.05, "{spread} {sd}");
}
