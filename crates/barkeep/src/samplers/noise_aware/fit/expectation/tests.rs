use super::*;
use crate::samplers::noise_aware::example::{plain, round, set};

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// ψ of one record with a binary response, by the definition: clip, centre, clip; the centre by bisection.
fn term(round: &Round, x: &[f64], y: f64) -> Vec<f64> {
    let eta: f64 = x.iter().zip(&round.theta).map(|(x, b)| x * b).sum();
    let a: Vec<f64> =
        round.whitening.chunks_exact(3).map(|row| row.iter().zip(x).map(|(w, x)| w * x).sum()).collect();
    let bound = round.clips().0 / a.iter().map(|a| a * a).sum::<f64>().sqrt();
    let p = sigmoid(eta);
    let factor = |y: f64, m: f64| ((y - p).clamp(-bound, bound) - m).clamp(-bound, bound);
    let (mut low, mut high) = (-bound, bound);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if (1.0 - p) * factor(0.0, middle) + p * factor(1.0, middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    a.iter().map(|a| a * factor(y, 0.5 * (low + high))).collect()
}

/// Means and covariances over two rounds, against sums over both responses of every record.
#[test]
fn expected_answers_are_sums_over_both_responses() {
    let spec = plain("bernoulli");
    let regression = spec.model().regression().unwrap();
    let set = set(&spec);
    let rounds = [round(&[0.1, -0.4, 0.8], (0.6, 1.0)), round(&[0.5, 0.3, 0.2], (1.2, 1.0))];
    let held: Vec<Held> =
        rounds.iter().map(|round| Held::new(regression, round, &set, 1.0).unwrap()).collect();
    let both: Vec<(&Round, &Held)> = rounds.iter().zip(&held).collect();
    let theta = [0.3, 0.2, -0.5];
    let seen = expect(regression, &both, (&set, set.len()), &theta, 1.0, Wanted::Covariance).unwrap();
    let (mut mean, mut second) = (vec![0.0; 6], vec![0.0; 36]);
    for i in 0..set.len() {
        let x = set.row(i);
        let p = sigmoid(x.iter().zip(&theta).map(|(x, b)| x * b).sum());
        for (y, share) in [(0.0, 1.0 - p), (1.0, p)] {
            let psi: Vec<f64> = rounds.iter().flat_map(|round| term(round, x, y)).collect();
            let weight = share / set.len() as f64;
            for j in 0..6 {
                mean[j] += weight * psi[j];
                (0..6).for_each(|k| second[j * 6 + k] += weight * psi[j] * psi[k]);
            }
        }
    }
    for j in 0..6 {
        assert!((seen.mean[j] - mean[j]).abs() < 2e-3, "{j}: {} {}", seen.mean[j], mean[j]);
        for k in 0..6 {
            let expected = second[j * 6 + k] - mean[j] * mean[k];
            assert!((seen.covariance[j * 6 + k] - expected).abs() < 3e-3, "{j} {k}");
        }
    }
}

/// The score identity against differences of means: exact for sums over responses, near for nodes that move with θ.
#[test]
fn slopes_are_those_of_the_means() {
    let cases = [
        ("bernoulli", vec![0.1, -0.4, 0.8], 1.0, 1e-6),
        ("poisson", vec![0.4, -0.4, 0.8], 30.0, 1e-4),
        ("gaussian", vec![0.1, -0.4, 0.8, -0.2], 8.0, 2e-2),
    ];
    for (family, at, top, tolerance) in cases {
        let spec = plain(family);
        let regression = spec.model().regression().unwrap();
        let (set, round) = (set(&spec), round(&at, (1.0, 1.5)));
        let held = Held::new(regression, &round, &set, top).unwrap();
        let mean = |theta: &[f64], wanted| {
            expect(regression, &[(&round, &held)], (&set, set.len()), theta, top, wanted).unwrap()
        };
        let theta: Vec<f64> = at.iter().map(|x| x + 0.15).collect();
        let seen = mean(&theta, Wanted::Slopes);
        let d = theta.len();
        for j in 0..d {
            let step = 1e-3;
            let (mut up, mut down) = (theta.clone(), theta.clone());
            up[j] += step;
            down[j] -= step;
            let (up, down) = (mean(&up, Wanted::Mean).mean, mean(&down, Wanted::Mean).mean);
            for k in 0..d {
                let slope = (up[k] - down[k]) / (2.0 * step);
                let given = seen.slopes[k * d + j];
                assert!((slope - given).abs() < tolerance, "{family} {k} {j}: {slope} {given}");
            }
        }
    }
}

/// Centring makes answers vanish at their own θ, whatever the records.
#[test]
fn centred_answers_vanish_at_home() {
    for (family, at, top) in [
        ("bernoulli", vec![0.1, -0.4, 0.8], 1.0),
        ("poisson", vec![0.4, -0.4, 0.8], 30.0),
        ("gaussian", vec![0.1, -0.4, 0.8, -0.2], 8.0),
    ] {
        let spec = plain(family);
        let regression = spec.model().regression().unwrap();
        let (set, round) = (set(&spec), round(&at, (0.7, 1.0)));
        let held = Held::new(regression, &round, &set, top).unwrap();
        let all = expect(regression, &[(&round, &held)], (&set, set.len()), &at, top, Wanted::Mean).unwrap();
        assert!(all.mean.iter().all(|mean| mean.abs() < 2e-3), "{family}: {:?}", all.mean);
    }
}

/// Σ p(1 − p)·x·xᵀ/n for a logistic regression; 1/σ² and 2 for a normal law.
#[test]
fn information_is_that_of_the_textbook() {
    let spec = plain("bernoulli");
    let set = set(&spec);
    let theta = [0.3, 0.2, -0.5];
    let (matrix, _) = information(spec.model().regression().unwrap(), (&set, 99), &theta, 1.0).unwrap();
    let mut expected = [0.0; 9];
    for i in 0..set.len() {
        let x = set.row(i);
        let p = sigmoid(x.iter().zip(&theta).map(|(x, b)| x * b).sum());
        (0..9).for_each(|k| expected[k] += p * (1.0 - p) * x[k / 3] * x[k % 3] / set.len() as f64);
    }
    assert!(matrix.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{matrix:?}");
    let spec = plain("gaussian");
    let set = crate::samplers::noise_aware::example::set(&spec);
    let theta = [0.3, 0.2, -0.5, 0.4];
    let (matrix, other) = information(spec.model().regression().unwrap(), (&set, 99), &theta, 8.0).unwrap();
    assert!((matrix[0] - (-0.8_f64).exp()).abs() < 1e-6 && (other - 2.0).abs() < 1e-5, "{other}");
}
