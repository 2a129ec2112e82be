//! Holds the curve to closed forms of Gaussian and randomised-response mechanisms.

use super::*;
use crate::{GaussianRun, Mu};
use barkeep_num::{normal_cdf, normal_quantile};

fn gaussian(mu: f64) -> PrivacyCurve {
    let run = GaussianRun::from_mu(Mu::new(mu).unwrap()).unwrap();
    PrivacyCurve::new(|delta| Ok(run.epsilon(delta).upper), |epsilon| Ok(run.delta(epsilon).upper)).unwrap()
}

/// T(α) = Φ(Φ⁻¹(α) + μ), advantage 2Φ(μ/2) − 1: the table is above, and close.
#[test]
fn gaussian_trade_off() {
    for mu in [0.01, 0.1, 0.5, 1.0, 2.0, 5.0] {
        let risk = gaussian(mu).risk();
        let advantage = 2.0 * normal_cdf(0.5 * mu) - 1.0;
        assert!(risk.advantage >= advantage * (1.0 - 1e-12) && risk.advantage < advantage * (1.0 + 1e-9));
        for (rate, found) in
            [(0.01, risk.true_positives_at_1_percent), (0.001, risk.true_positives_at_0_1_percent)]
        {
            let exact = normal_cdf(normal_quantile(rate) + mu);
            assert!(found >= exact * (1.0 - 1e-12) && found < exact * 1.002, "{mu} {rate}: {found} {exact}");
        }
    }
}

/// m neighbours of a Gaussian mechanism are one of mμ.
#[test]
fn gaussian_groups() {
    let single = gaussian(0.5);
    for size in [2_u64, 3, 5] {
        let whole = GaussianRun::from_mu(Mu::new(0.5 * size as f64).unwrap()).unwrap();
        for epsilon in [0.5, 2.0, 4.0] {
            let epsilon = Epsilon::new(epsilon).unwrap();
            let (found, exact) = (single.group_delta(size, epsilon).unwrap(), whole.delta(epsilon).upper);
            assert!(found >= exact * (1.0 - 1e-9), "{size}: {found} {exact}");
            assert!(found <= 1.1 * exact + 1e-9, "{size}: {found} {exact}");
        }
    }
    assert!(single.group_delta(0, Epsilon::new(1.0).unwrap()).is_err());
}

/// Never looser than the even split of ε that textbooks use, and much looser is "multiply".
#[test]
fn groups_beat_the_textbook() {
    let single = gaussian(0.3);
    let (size, epsilon) = (4_u64, 2.0);
    let part = single.delta(Epsilon::new(epsilon / size as f64).unwrap());
    let textbook: f64 = (0..size).map(|step| libm::exp(epsilon * step as f64 / size as f64) * part).sum();
    let found = single.group_delta(size, Epsilon::new(epsilon).unwrap()).unwrap();
    assert!(found <= textbook * (1.0 + 1e-9));
    // Multiplying ε and δ by the size claims less than is true.
    let claimed = size as f64 * part;
    assert!(found > claimed);
}

#[test]
fn group_epsilon_inverts_group_delta() {
    let single = gaussian(0.5);
    let delta = Delta::new(1e-5).unwrap();
    let epsilon = single.group_epsilon(3, delta).unwrap();
    assert!(single.group_delta(3, epsilon).unwrap() <= delta.get());
    let exact = GaussianRun::from_mu(Mu::new(1.5).unwrap()).unwrap().epsilon(delta).upper;
    assert!(epsilon.get() >= exact && epsilon.get() < 1.05 * exact, "{epsilon:?} {exact}");
}

/// (ε, δ) black box: T(α) = min(δ + e^ε·α, 1 − e^(−ε)(1 − δ − α)) and advantage δ + (1−δ)·tanh(ε/2).
#[test]
fn black_box() {
    let cost = crate::Cost::new(
        crate::mechanisms::Approximate {
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: Some(Delta::new(1e-4).unwrap()),
        },
        crate::Sampling::Full,
        crate::Neighbours::Substitute,
    )
    .unwrap();
    let risk = crate::Contract::new(vec![(cost, crate::Steps(1))]).unwrap().curve().unwrap().risk();
    let exact = 1e-4 + (1.0 - 1e-4) * libm::tanh(0.5);
    assert!((risk.advantage / exact - 1.0).abs() < 1e-9, "{risk:?} {exact}");
    let hits = 1e-4 + libm::exp(1.0) * 0.01;
    assert!((risk.true_positives_at_1_percent / hits - 1.0).abs() < 1e-3, "{risk:?} {hits}");
    assert_eq!(risk.words().len(), 3);
}
