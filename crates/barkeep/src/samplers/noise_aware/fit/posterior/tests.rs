use super::*;
use crate::samplers::noise_aware::example::{plain, round, set};
use crate::samplers::noise_aware::fit::tail::Bias;

/// Quantiles from a table of the χ² distribution.
#[test]
fn tails_are_those_of_the_table() {
    for (x, k, p) in [(11.07, 5.0, 0.05), (15.09, 5.0, 0.01), (67.50, 50.0, 0.05), (124.34, 100.0, 0.05)] {
        assert!((chi_square_tail(x, k) - p).abs() < 0.002, "{x} {k}");
    }
    assert!(chi_square_tail(1.0, 0.0) == 1.0);
}

/// With a clip that touches nothing and an answer of 0, the mode is at the round's θ but for the prior's pull, and the
/// precision is n²·Jᵀ(nC + σ²)⁻¹J + P with J = W·F, C = W·F·Wᵀ: the information F by its own formula.
#[test]
fn one_answer_gives_the_posterior_of_the_textbook() {
    let spec = plain("bernoulli");
    let regression = spec.model().regression().unwrap();
    let set = set(&spec);
    let n = 1e6;
    let scene = Scene {
        model: &**spec.model(),
        regression,
        records: n,
        top: 1.0,
        set: &set,
        others: &[],
        rarest: None,
    };
    let theta = [0.3, 0.2, -0.5];
    let sigma = 400.0;
    let mut asked = round(&theta, (50.0, 1.0));
    asked.noise = vec![sigma; 3];
    let whitening = asked.whitening.clone();
    let answered = vec![Answered::new(&scene, asked).unwrap()];
    let fit = scene.posterior().fit(&answered, &theta, &(Bias::none(), Bias::none()), 4).unwrap();
    let mut information = vec![0.0; 9];
    for i in 0..set.len() {
        let x = set.row(i);
        let eta: f64 = x.iter().zip(&theta).map(|(x, b)| x * b).sum();
        let weight = 1.0 / ((1.0 + eta.exp()) * (1.0 + (-eta).exp())) / set.len() as f64;
        (0..9).for_each(|k| information[k] += weight * x[k / 3] * x[k % 3]);
    }
    use barkeep_num::linear::{product, transpose};
    let slope = product(&whitening, &information, 3);
    let mut variance = product(&slope, &transpose(&whitening, 3), 3);
    variance.iter_mut().for_each(|entry| *entry *= n);
    (0..3).for_each(|j| variance[j * 4] += sigma * sigma + 1e-6 * n);
    let inverse = Cholesky::new(&variance, 3).unwrap().inverse();
    let mut precision = product(&product(&transpose(&slope, 3), &inverse, 3), &slope, 3);
    precision.iter_mut().for_each(|entry| *entry *= n * n);
    (0..3).for_each(|j| precision[j * 4] += 1.0 / 6.25);
    let expected = Cholesky::new(&precision, 3).unwrap().inverse();
    let lower = fit.factor.lower();
    for j in 0..3 {
        for k in 0..3 {
            let found: f64 = (0..3).map(|l| lower[j * 3 + l] * lower[k * 3 + l]).sum();
            let scale = (expected[j * 4] * expected[k * 4]).sqrt();
            assert!((found - expected[j * 3 + k]).abs() < 0.01 * scale, "{j} {k}");
        }
        assert!((fit.mode[j] - theta[j]).abs() < 0.05 * expected[j * 4].sqrt(), "{j}: {:?}", fit.mode);
    }
    assert!(fit.inflation == 1.0 && fit.agreement == 1.0);
}

/// Answers that no θ explains widen the posterior by the root of χ² over its degrees of freedom.
#[test]
fn answers_that_disagree_widen() {
    let spec = plain("bernoulli");
    let regression = spec.model().regression().unwrap();
    let set = set(&spec);
    let scene = Scene {
        model: &**spec.model(),
        regression,
        records: 1e5,
        top: 1.0,
        set: &set,
        others: &[],
        rarest: None,
    };
    let theta = [0.3, 0.2, -0.5];
    let answered = |shift: f64| -> Vec<Answered> {
        [1.0, -1.0]
            .map(|sign| {
                let mut asked = round(&theta, (50.0, 1.0));
                asked.noise = vec![100.0; 3];
                asked.answer = vec![sign * shift; 3];
                Answered::new(&scene, asked).unwrap()
            })
            .into()
    };
    let fit =
        |shift| scene.posterior().fit(&answered(shift), &theta, &(Bias::none(), Bias::none()), 4).unwrap();
    let (calm, torn) = (fit(0.0), fit(600.0));
    assert!(calm.inflation == 1.0 && torn.agreement < 1e-6 && torn.inflation > 5.0);
    // Shared sampling noise cancels in the difference of answers: χ² = 3·(2·600)²/(2·100²) = 216, over 3.
    assert!((torn.inflation - 72.0).abs() < 4.0, "{}", torn.inflation);
    let ratio = torn.factor.lower()[0] / calm.factor.lower()[0];
    assert!((ratio - torn.inflation.sqrt()).abs() < 0.3 * ratio, "{ratio}");
}
