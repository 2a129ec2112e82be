//! Feeds every public function any bits there are: an answer or a typed error, never a panic, a NaN or an endless loop.

use barkeep_accounting::mechanisms::{Bernoulli, Decision, Laplace, NoisyDecision};
use barkeep_accounting::renyi::{
    Amplified, Curve, Linear, PoissonGaussian, Pure, RenyiComposition, WithoutReplacementGaussian,
};
use barkeep_accounting::theorems::barker::BarkerTest;
use barkeep_accounting::theorems::{gradients, thesis};
use barkeep_accounting::{
    BarkerBound, Bracket, Cost, Delta, Epsilon, Error, GaussianRun, GdpFilter, Mechanism, Mu, Neighbours,
    Order, Probability, Query, Rate, Ratio, Renyi, Rho, Rule, Sampling, Sensitivity, Steps, Variance,
    ZcdpFilter,
};
use proptest::prelude::*;

/// Half of all numbers from anywhere on the line of f64, half from where people's numbers are.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<u64>().prop_map(f64::from_bits),
        (-12.0..12.0_f64).prop_map(|exponent| 10_f64.powf(exponent)),
        prop_oneof![
            Just(0.0),
            Just(1.0),
            Just(-1.0),
            Just(f64::MIN_POSITIVE),
            Just(f64::MAX),
            Just(1.0 - 1e-16)
        ],
    ]
}

fn any_count() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..100_000_u64]
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn curves(x in any_number(), y in any_number(), alpha in any_number(), whole in 2..300_u32, batch in any_count()) {
        let mut curves: Vec<Box<dyn Curve>> = Vec::new();
        if let Ok(ratio) = Ratio::new(x) {
            curves.push(Box::new(Linear::gaussian(ratio)));
            curves.push(Box::new(Laplace { ratio }));
            if let Ok(rate) = Rate::new(y) {
                curves.push(Box::new(PoissonGaussian { rate, ratio }));
                curves.push(Box::new(WithoutReplacementGaussian { rate, ratio }));
                curves.push(Box::new(Amplified::new(rate, Linear::gaussian(ratio))));
            }
        }
        if let (Ok(rate), Ok(epsilon)) = (Rate::new(y), Epsilon::new(x)) {
            curves.push(Box::new(Amplified::new(rate, Pure(epsilon))));
        }
        if let (Ok(p), Ok(q)) = (Probability::new(x), Probability::new(y)) {
            curves.push(Box::new(Bernoulli { p, q }));
        }
        for bound in [BarkerBound::Paper, BarkerBound::Fixed] {
            curves.push(Box::new(BarkerTest::new(batch, bound)));
        }
        for curve in &curves {
            for alpha in [alpha, f64::from(whole)] {
                if let Ok(order) = Order::new(alpha) {
                    let divergence = curve.at(order);
                    prop_assert!(divergence >= 0.0, "{divergence} at {alpha}");
                }
            }
        }
        let parts = curves.into_iter().map(|curve| (curve, Steps(batch))).collect();
        let mut run = RenyiComposition::new(parts);
        if let Ok(delta) = Delta::new(y)
            && let Ok(epsilon) = run.epsilon(Steps(3), delta) {
                prop_assert!(epsilon.upper >= 0.0);
            }
        if let Ok(epsilon) = Epsilon::new(x) {
            let delta = run.delta(Steps(1), epsilon).upper;
            prop_assert!((0.0..=1.0).contains(&delta));
        }
    }

    #[test]
    fn measures(x in any_number(), y in any_number(), z in any_number()) {
        if let (Ok(rho), Ok(delta)) = (Rho::new(x), Delta::new(y)) {
            prop_assert!(rho.epsilon(delta).upper <= rho.epsilon_classical(delta).upper);
            prop_assert!(rho.epsilon(delta).upper >= 0.0);
        }
        if let (Ok(order), Ok(delta)) = (Order::new(x), Delta::new(y))
            && let Ok(bound) = Renyi::new(order, z) {
                prop_assert!(bound.epsilon(delta).upper >= 0.0);
                prop_assert!(bound.epsilon_classical(delta).upper >= 0.0);
            }
        if let (Ok(epsilon), Ok(delta)) = (Epsilon::new(x), Delta::new(y)) {
            let budget = Rho::largest_within(epsilon, delta);
            prop_assert!(budget >= Rho::largest_within_classical(epsilon, delta));
            prop_assert!(budget.epsilon(delta).upper <= epsilon.get());
            prop_assert!(Mu::largest_within(epsilon, delta).get() >= 0.0);
            prop_assert!(epsilon.pure_mu().get() >= 0.0 && epsilon.pure_rho().get() >= 0.0);
        }
    }

    #[test]
    fn filters(budget in any_number(), costs in proptest::collection::vec(any_number(), 1..20)) {
        let (rho, mu) = (Rho::new(budget), Mu::new(budget));
        if let (Ok(rho), Ok(mu)) = (rho, mu) {
            let (mut zcdp, mut gdp) = (ZcdpFilter::new(rho), GdpFilter::new(mu));
            for cost in &costs {
                if let (Ok(rho), Ok(mu)) = (Rho::new(*cost), Mu::new(*cost)) {
                    let _ = zcdp.charge(rho);
                    let _ = gdp.charge(mu);
                }
                prop_assert!(zcdp.spent() <= zcdp.budget());
                prop_assert!(gdp.spent().get() <= mu.get());
            }
        }
    }

    #[test]
    fn theorems(x in any_number(), y in any_number(), z in any_number(), n in any_count(), b in any_count()) {
        if let (Ok(epsilon), Ok(delta)) = (Epsilon::new(x), Delta::new(y)) {
            let _ = thesis::penalty_ratio(z, n).and_then(|ratio| GaussianRun::largest_steps(ratio, epsilon, delta));
            let hmc = thesis::Hmc { tau: z, tau_gradient: x, leapfrog: b.min(1000), records: n };
            let _ = hmc.largest_steps(epsilon, delta);
            if let Ok(passes) = gradients::Passes::new(n, b, z) {
                let _ = (passes.published_ratio(epsilon, delta), passes.published_fisher_sigma(epsilon, delta));
            }
        }
        let _ = gradients::langevin_ratio(x, y, z);
        let _ = (thesis::minibatch_ratio(x).is_ok(), thesis::batch_rate(b, n).is_ok());
    }
}

/// A question about any mechanism, from any numbers.
fn any_query(kind: u8, x: f64, y: f64, n: u64, b: u64) -> Result<Query, Error> {
    let neighbours = if n.is_multiple_of(2) { Neighbours::Substitute } else { Neighbours::AddRemove };
    match kind {
        0 => Query::gaussian(Ratio::new(x)?, Sampling::Full, neighbours),
        1 => Query::gaussian(Ratio::new(x)?, Sampling::Poisson { rate: Rate::new(y)? }, neighbours),
        2 => Query::penalty_minibatch(x, b, n),
        3 => Query::discrete_gaussian(Variance::new(x)?, b),
        4 => Query::laplace(Ratio::new(x)?),
        5 => Query::bernoulli(Probability::new(x)?, Probability::new(y)?),
        6 => Query::decision(Rule::Barker, Sensitivity::new(x)?),
        7 => Query::decision(Rule::Penalty { sigma: y }, Sensitivity::new(x)?),
        8 => Query::decision(Rule::Lazy { keep: y, rule: Box::new(Rule::Barker) }, Sensitivity::new(x)?),
        9 => Query::decision(Rule::Metropolis, Sensitivity::new(x)?),
        10 => Query::barker_minibatch(b, n, BarkerBound::Tight),
        11 => Query::penalty(x, n),
        12 => Query::hmc(thesis::Hmc { tau: x, tau_gradient: y, leapfrog: b, records: n }),
        13 => Query::langevin(x, y, x),
        _ => {
            let full = |mechanism: Mechanism| Cost::new(mechanism, Sampling::Full, Neighbours::Substitute);
            let bit = Mechanism::Decision(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(y)? });
            Query::new(vec![
                (full(Mechanism::NoisyDecision(NoisyDecision { ratio: Ratio::new(x)? }))?, Steps(b % 5)),
                (full(bit)?, Steps(n % 5)),
                (full(Mechanism::Laplace(Laplace { ratio: Ratio::new(x)? }))?, Steps(1)),
            ])
        }
    }
}

fn check_query(query: &Query, steps: Steps, x: f64, y: f64) -> Result<(), TestCaseError> {
    let sound = |bracket: Bracket| {
        bracket.upper >= 0.0 && bracket.lower.is_none_or(|lower| lower >= 0.0 && lower <= bracket.upper)
    };
    let (epsilon, delta) = (Epsilon::new(x), Delta::new(y));
    if let Ok(answer) = delta.clone().and_then(|delta| query.epsilon(steps, delta)) {
        prop_assert!(sound(answer.bracket), "{query:?} {steps:?} {y:e}: {answer:?}");
    }
    if let Ok(answer) = epsilon.clone().and_then(|epsilon| query.delta(steps, epsilon)) {
        prop_assert!(
            sound(answer.bracket) && answer.bracket.upper <= 1.0,
            "{query:?} {steps:?} {x:e}: {answer:?}"
        );
    }
    if let (Ok(epsilon), Ok(delta)) = (epsilon, delta) {
        let _ = query.largest_steps(epsilon, delta);
    }
    Ok(())
}

proptest! {
    // Where PROPTEST_CASES is not set: a few dozen, since some take a second.
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").map_or(40, |_| config().cases),
        ..config()
    })]

    #[test]
    fn queries(
        kind in 0..15_u8, x in any_number(), y in any_number(), n in any_count(), b in any_count(),
        steps in any_count(), epsilon in any_number(), delta in any_number(),
    ) {
        if let Ok(query) = any_query(kind, x, y, n, b) {
            check_query(&query, Steps(steps), epsilon, delta)?;
        }
    }
}
