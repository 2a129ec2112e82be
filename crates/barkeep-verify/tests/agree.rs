//! The checker is never below what the accountant proves to be reachable, and within a stated percentage above what it certifies.
//!
//! The two share no code: this is the only place where both are called.

#![allow(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

use barkeep_accounting::mechanisms::{
    BarkerMinibatch, Bernoulli, Decision, Exponential, Gaussian, NoisyDecision,
};
use barkeep_accounting::{
    BarkerBound, Bill, Component, Contract, Correction, Cost, Delta, Mechanism, Neighbours, Probability,
    Rate, Ratio, Rho, Rule, Sampling, Sensitivity, Steps, Variance, vcor,
};
use proptest::prelude::*;

/// The bill as the checker reads it, from the text of a certificate.
fn read(bill: &Bill) -> barkeep_verify::Bill {
    serde_json::from_str(&serde_json::to_string(bill).unwrap()).unwrap()
}

/// Checks a bill against the accountant's bracket; `percent` is how far above its upper end the check may be.
fn agrees(bill: &Bill, delta: f64, percent: f64) {
    let at = Delta::new(delta).unwrap();
    let upper = bill.epsilon(at).unwrap().get();
    let lower = match bill {
        Bill::Contract(contract) | Bill::Once(contract) => contract.epsilon(at).unwrap().lower,
        Bill::Gaussian { .. } | Bill::Filter { .. } => None,
    };
    let checked = read(bill).check(upper, delta, &mut |_, _| true).unwrap();
    let found = checked.epsilon();
    assert!(found >= lower.unwrap_or(0.0) * (1.0 - 1e-12), "{bill:?}: {found} below {lower:?}");
    assert!(found <= upper * (1.0 + 0.01 * percent) + 1e-7, "{bill:?}: {found} far above {upper}");
    assert!(!checked.contradicts(upper) && checked.contradicts(0.9 * found - 1e-5), "{bill:?}");
    // The curve at the answer is at most δ, and falls.
    assert!(checked.delta(found) <= delta && checked.delta(0.5 * found) >= checked.delta(found));
}

fn contract(parts: Vec<(Mechanism, Sampling, Neighbours, u64)>) -> Bill {
    let cost = |(mechanism, sampling, neighbours, steps): (Mechanism, Sampling, Neighbours, u64)| {
        (Cost::new(mechanism, sampling, neighbours).unwrap(), Steps(steps))
    };
    Bill::Contract(Contract::new(parts.into_iter().map(cost).collect()).unwrap())
}

fn gaussian(ratio: f64) -> Mechanism {
    Gaussian { ratio: Ratio::new(ratio).unwrap() }.into()
}

fn decision(rule: Rule, sensitivity: f64) -> Mechanism {
    Decision { rule, sensitivity: Sensitivity::new(sensitivity).unwrap() }.into()
}

fn poisson(rate: f64) -> Sampling {
    Sampling::Poisson { rate: Rate::new(rate).unwrap() }
}

fn corrected(fit: vcor::Fit, variance: f64) -> Rule {
    let fitted = fit.correction(Variance::new(variance).unwrap()).unwrap();
    Rule::Corrected { variance, correction: fitted.correction }
}

use Neighbours::{AddRemove, Substitute};
use Sampling::Full;

#[test]
fn gaussians_and_filters_agree_in_every_printed_digit() {
    agrees(&contract(vec![(gaussian(50.0), Full, Substitute, 140)]), 1e-6, 1e-8);
    agrees(&contract(vec![(gaussian(0.3), Full, AddRemove, 3)]), 1e-9, 1e-8);
    let noisy = NoisyDecision { ratio: Ratio::new(20.0).unwrap() };
    agrees(
        &contract(vec![(noisy.into(), Full, Substitute, 10), (gaussian(7.0), Full, Substitute, 5)]),
        1e-6,
        1e-8,
    );
    let whole = Cost::new(gaussian(4.2), Full, Substitute).unwrap();
    agrees(&Bill::Gaussian { whole: whole.clone() }, 1e-6, 1e-8);
    let decision = Cost::new(decision(Rule::Barker, 0.05), Full, Substitute).unwrap();
    for rho in [1e-4, 0.02, 1.0] {
        let rho = Rho::new(rho).unwrap();
        agrees(&Bill::Filter { rho, coins: Steps(1000), decision: decision.clone() }, 1e-6, 1e-3);
    }
}

#[test]
fn batches_agree_in_all_four_cases_of_sampling_and_neighbours() {
    for (ratio, rate, steps) in [(1.0, 0.01, 300), (5.0, 0.1, 100)] {
        agrees(&contract(vec![(gaussian(ratio), poisson(rate), AddRemove, steps)]), 1e-6, 0.2);
        agrees(&contract(vec![(gaussian(ratio), poisson(rate), Substitute, steps)]), 1e-6, 0.2);
        let batch = Sampling::WithoutReplacement { batch: (1e4 * rate) as u64, records: 10_000 };
        agrees(&contract(vec![(gaussian(ratio), batch, Substitute, steps)]), 1e-6, 0.2);
        agrees(&contract(vec![(gaussian(10.0 * ratio), Full, AddRemove, steps)]), 1e-6, 1e-8);
    }
}

#[test]
fn decisions_agree_within_one_percent() {
    for (rule, sensitivity, steps) in [
        (Rule::Barker, 0.05, 89),
        (Rule::Barker, 0.05, 1000),
        (Rule::Barker, 2.0, 3),
        (Rule::Penalty { sigma: 2.0 }, 0.05, 163),
        (Rule::Penalty { sigma: 1.0 }, 0.05, 186),
        (Rule::Penalty { sigma: 0.05 }, 0.01, 16),
        (corrected(vcor::Fit::Minimax, 2.0), 0.05, 89),
        (corrected(vcor::Fit::Mixture, 2.0), 0.05, 300),
        (Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) }, 0.05, 200),
        (Rule::Lazy { keep: 0.9, rule: Box::new(Rule::Penalty { sigma: 1.0 }) }, 0.1, 20),
    ] {
        agrees(&contract(vec![(decision(rule, sensitivity), Full, Substitute, steps)]), 1e-6, 1.0);
    }
}

#[test]
fn choices_agree() {
    let range = Sensitivity::new(4.0).unwrap();
    agrees(&contract(vec![(Exponential { range }.into(), Full, Substitute, 2)]), 1e-6, 0.2);
    let (p, q) = (Probability::new(0.7).unwrap(), Probability::new(0.3).unwrap());
    agrees(&contract(vec![(Bernoulli { p, q }.into(), Full, Substitute, 20)]), 1e-6, 1.5);
}

#[test]
fn a_test_on_batches_agrees() {
    for (batch, records, steps) in [(1000, 1_000_000, 20_000), (100, 10_000, 500)] {
        let test = BarkerMinibatch { batch, records, bound: BarkerBound::Pld };
        let sampling = Sampling::WithoutReplacement { batch, records };
        agrees(&contract(vec![(test.into(), sampling, Substitute, steps)]), 1e-6, 0.2);
    }
}

#[test]
fn mixed_bills_agree() {
    let barker = decision(Rule::Barker, 0.05);
    agrees(
        &contract(vec![(gaussian(30.0), Full, Substitute, 60), (barker.clone(), Full, Substitute, 40)]),
        1e-6,
        1.0,
    );
    let penalty = decision(Rule::Penalty { sigma: 1.0 }, 0.02);
    let parts = vec![
        (gaussian(40.0), Full, AddRemove, 20),
        (gaussian(2.0), poisson(0.02), AddRemove, 100),
        (barker, Full, AddRemove, 10),
        (penalty, Full, AddRemove, 10),
    ];
    agrees(&contract(parts), 1e-6, 1.0);
}

#[test]
fn what_is_not_known_is_not_checked() {
    let other = r#"{"contract":[[{"mechanism":{"laplace":{"ratio":1.0}},"sampling":"full","neighbours":"substitute"},1]]}"#;
    assert!(serde_json::from_str::<barkeep_verify::Bill>(other).is_err());
    // Only Gaussian answers add up by their μ².
    let whole = r#"{"gaussian":{"whole":{"mechanism":{"exponential":{"range":1.0}},"sampling":"full","neighbours":"substitute"}}}"#;
    let filter: barkeep_verify::Bill = serde_json::from_str(whole).unwrap();
    assert!(filter.check(2.0, 1e-6, &mut |_, _| true).is_err());
    let bill = read(&contract(vec![(gaussian(1.0), poisson(0.01), AddRemove, 1000)]));
    assert_eq!(bill.check(2.0, 1e-6, &mut |_, _| false), Err(barkeep_verify::STOPPED));
    assert!(
        bill.check(f64::NAN, 1e-6, &mut |_, _| true).is_err()
            && bill.check(1.0, 0.0, &mut |_, _| true).is_err()
    );
}

#[test]
fn no_steps_cost_nothing() {
    let bill = read(&contract(vec![(gaussian(1.0), poisson(0.01), AddRemove, 0)]));
    let checked = bill.check(0.0, 1e-6, &mut |_, _| true).unwrap();
    assert!(checked.epsilon() < 1e-12 && checked.delta(0.0) < 1e-300);
}

#[test]
fn coins_are_charged_no_less_than_their_proved_error() {
    // A run of k coins raises ε by at least kρ + kρ' of the accountant's proof. Found from what a filter of ρ = 0 costs.
    let component = |weight, mean| Component { weight, mean, sd: 0.0 };
    let correction =
        Correction::new(vec![component(0.8, 0.0), component(0.1, 3.0), component(0.1, -3.0)]).unwrap();
    let rules = [
        Rule::Barker,
        Rule::Penalty { sigma: 1.0 / 1024.0 },
        Rule::Penalty { sigma: 1.0 },
        Rule::Penalty { sigma: 64.0 },
        Rule::Corrected { variance: 2.0, correction },
        corrected(vcor::Fit::Ridge, 1.0),
        Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Penalty { sigma: 0.01 }) },
    ];
    for rule in rules {
        let proved = 1e9 * (rule.coin_error() + rule.coin_far_error());
        let decision = Cost::new(decision(rule.clone(), 0.05), Full, Substitute).unwrap();
        let bill = Bill::Filter { rho: Rho::new(0.0).unwrap(), coins: Steps(1_000_000_000), decision };
        let checked = read(&bill).check(0.1, 1e-12, &mut |_, _| true).unwrap();
        assert!(checked.epsilon() >= proved, "{rule:?}: {} below {proved}", checked.epsilon());
        assert!(rule.coin_far_absolute_error() <= 1e-265, "{rule:?}");
    }
}

#[test]
fn risks_are_those_of_the_curve() {
    let bill = contract(vec![(gaussian(50.0), Full, Substitute, 140)]);
    let theirs = bill.meaning(Delta::new(1e-6).unwrap()).unwrap();
    let own = read(&bill).check(1.0, 1e-6, &mut |_, _| true).unwrap().risk();
    for (own, theirs) in [
        (own.advantage, theirs.advantage),
        (own.true_positives_at_1_percent, theirs.true_positives_at_1_percent),
        (own.true_positives_at_0_1_percent, theirs.true_positives_at_0_1_percent),
    ] {
        assert!((own / theirs - 1.0).abs() < 2e-3, "{own} is not {theirs}");
    }
}

/// A cost that the gate may charge, and how often.
fn part() -> impl Strategy<Value = (Mechanism, Sampling, u64)> {
    let steps = 1_u64..60;
    prop_oneof![
        (2.0..60.0_f64, steps.clone()).prop_map(|(ratio, k)| (gaussian(ratio), Full, k)),
        (0.8..8.0_f64, 0.001..0.2_f64, steps.clone()).prop_map(|(ratio, rate, k)| (
            gaussian(ratio),
            poisson(rate),
            k
        )),
        (0.01..1.0_f64, steps.clone()).prop_map(|(s, k)| (decision(Rule::Barker, s), Full, k)),
        (0.2..4.0_f64, 0.01..0.3_f64, steps).prop_map(|(sigma, s, k)| (
            decision(Rule::Penalty { sigma }, s),
            Full,
            k
        )),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Two per cent: the accountant's own bracket on mixed decisions is about as wide.
    #[test]
    fn random_bills_agree(
        parts in prop::collection::vec(part(), 1..3),
        add_remove in any::<bool>(),
        ln_delta in -25.0..-9.0_f64,
    ) {
        let neighbours = if add_remove { AddRemove } else { Substitute };
        let parts = parts.into_iter().map(|(mechanism, sampling, k)| (mechanism, sampling, neighbours, k)).collect();
        agrees(&contract(parts), f64::exp(ln_delta), 2.0);
    }
}
