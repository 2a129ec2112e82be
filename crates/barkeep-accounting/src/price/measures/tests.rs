//! Checks the translations between measures of privacy against each other and against definitions.

use crate::{Delta, Epsilon, GaussianRun, Mu, Probability, Rho};
use barkeep_num::{normal_cdf, normal_quantile};

/// What an adversary can do who must tell two neighbours apart: the least error of the second kind at each error of the
/// first (Dong, Roth, Su 2022).
#[derive(Debug, Clone, Copy, PartialEq)]
enum TradeOff {
    /// μ-GDP: f(α) = Φ(Φ⁻¹(1−α) − μ).
    Gaussian(Mu),
    /// (ε, δ): f(α) = max(0, 1−δ−e^ε·α, e^(−ε)·(1−δ−α)).
    Approximate(Epsilon, Delta),
}

impl TradeOff {
    /// The least error of the second kind when the first is `type_one`, rounded down.
    fn type_two(&self, type_one: Probability) -> f64 {
        let alpha = type_one.get();
        match self {
            // Φ⁻¹(1−α) = −Φ⁻¹(α) keeps the digits of a small α.
            Self::Gaussian(mu) => normal_cdf(-normal_quantile(alpha) - mu.get()) * (1.0 - 1e-12),
            Self::Approximate(epsilon, delta) => {
                let kept = 1.0 - delta.get();
                let steep = kept - libm::exp(epsilon.get()) * alpha;
                let flat = libm::exp(-epsilon.get()) * (kept - alpha);
                steep.max(flat).max(0.0) * (1.0 - 1e-12)
            }
        }
    }
}

#[test]
fn classical_budget_returns_to_epsilon() {
    for (epsilon, delta) in [(1.0, 1e-6), (0.01, 1e-12), (50.0, 1e-300), (1e-9, 0.5)] {
        let delta = Delta::new(delta).unwrap();
        let budget = Rho::largest_within_classical(Epsilon::new(epsilon).unwrap(), delta);
        let back = budget.epsilon_classical(delta).upper;
        assert!(back <= epsilon && back > epsilon * (1.0 - 1e-13), "{epsilon} {back}");
    }
}

#[test]
fn conversion_through_orders_beats_the_classical_and_not_the_exact() {
    for (rho, delta) in [(0.5, 1e-6), (1e-4, 1e-9), (20.0, 1e-30), (1e-9, 1e-4)] {
        let (rho, delta) = (Rho::new(rho).unwrap(), Delta::new(delta).unwrap());
        let through_orders = rho.epsilon(delta).upper;
        assert!(through_orders < rho.epsilon_classical(delta).upper);
        // A Gaussian mechanism of the same ρ is one mechanism the conversion must hold for.
        let mu = Mu::new((2.0 * rho.get()).sqrt()).unwrap();
        let exact = GaussianRun::from_mu(mu).unwrap().epsilon(delta);
        assert!(through_orders >= exact.lower.unwrap());
        let delta_back = rho.delta(Epsilon::new(through_orders).unwrap()).upper;
        assert!(delta_back <= delta.get() * (1.0 + 1e-6));
        assert!(through_orders == 0.0 || delta_back >= delta.get() * (1.0 - 1e-6), "{delta_back}");
    }
}

#[test]
fn trade_off_of_gdp_touches_its_own_approximate_curves() {
    // The (ε, δ(ε)) curves are the supporting lines of the trade-off curve: never above it, and it meets them where
    // the likelihood ratio is e^ε, at α = Φ(−ε/μ − μ/2).
    let mu = Mu::new(0.8).unwrap();
    for epsilon in [0.0, 0.3, 1.0, 2.5] {
        let epsilon = Epsilon::new(epsilon).unwrap();
        let delta = GaussianRun::from_mu(mu).unwrap().delta(epsilon).upper;
        let line = TradeOff::Approximate(epsilon, Delta::new(delta).unwrap());
        let touching = normal_cdf(-epsilon.get() / 0.8 - 0.4);
        for alpha in [0.0, 1e-9, 0.01, 0.2, 0.5, 0.99, 1.0, touching] {
            let alpha = Probability::new(alpha).unwrap();
            let curve = TradeOff::Gaussian(mu).type_two(alpha);
            assert!(line.type_two(alpha) <= curve + 1e-12);
        }
        let touching = Probability::new(touching).unwrap();
        let gap = TradeOff::Gaussian(mu).type_two(touching) - line.type_two(touching);
        assert!(gap.abs() < 1e-11, "{gap}");
    }
}

#[test]
fn pure_privacy_implies_gdp_tightly() {
    for epsilon in [0.0, 1e-3, 1.0, 10.0, 700.0] {
        let mu = Epsilon::new(epsilon).unwrap().pure_mu();
        // Telling the two sides of randomised response apart: both errors equal 1/(1+e^ε).
        let error = libm::exp(-epsilon) / (1.0 + libm::exp(-epsilon));
        let curve = TradeOff::Gaussian(mu).type_two(Probability::new(error).unwrap());
        assert!(curve <= error, "{epsilon}: {curve} above {error}");
        assert!(curve >= error * (1.0 - 1e-8), "{epsilon}: {curve} far below {error}");
    }
}
