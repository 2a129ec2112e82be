//! Holds the filter of runs to the accountant of the joint bill, to its own arms, and to what the issue asks of it.

use super::{RunFilter, Runs, SpentOut};
use crate::mechanisms::{Approximate, Concentrated, Decision, Gaussian, Laplace};
use crate::{
    Bill, CoinError, Contract, Cost, Delta, Epsilon, GaussianRun, Mechanism, Mu, Neighbours, Order, Ratio,
    Renyi, Rho, Rule, Sampling, Sensitivity, Steps, ZcdpFilter, calibration,
};
use proptest::prelude::*;

const DELTA: f64 = 1e-6;

fn delta() -> Delta {
    Delta::new(DELTA).unwrap()
}

fn bill(mechanism: impl Into<Mechanism>, sampling: Sampling, steps: u64) -> Bill {
    let cost = Cost::new(mechanism, sampling, Neighbours::Substitute).unwrap();
    Bill::Contract(Contract::new(vec![(cost, Steps(steps))]).unwrap())
}

/// A run of a hundred Gaussian steps that costs ε = 1 at δ = 1e-6.
fn gaussian() -> Bill {
    let epsilon = Epsilon::new(1.0).unwrap();
    let ratio =
        calibration::smallest_ratio(Sampling::Full, Neighbours::Substitute, Steps(100), epsilon, delta())
            .unwrap();
    bill(Gaussian { ratio }, Sampling::Full, 100)
}

fn sampled() -> Bill {
    let sampling = Sampling::WithoutReplacement { batch: 100, records: 10_000 };
    bill(Gaussian { ratio: Ratio::new(2.0).unwrap() }, sampling, 300)
}

fn decisions() -> Bill {
    bill(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.02).unwrap() }, Sampling::Full, 500)
}

fn filtered() -> Bill {
    let decision = Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(0.1).unwrap() };
    let decision = Cost::new(decision, Sampling::Full, Neighbours::Substitute).unwrap();
    let rho = ZcdpFilter::within(Epsilon::new(0.8).unwrap(), delta()).budget();
    Bill::Filter { rho, coins: Steps(1000), decision }
}

#[test]
fn ten_gaussian_runs_of_epsilon_one_come_to_three_and_a_half() {
    let runs = vec![gaussian(); 10];
    let total = Runs::of(&runs).unwrap().epsilon(delta()).unwrap();
    // By hand: half of δ for the Gaussian arm, and a four-thousandth of ε set aside.
    let mu =
        Mu::new(GaussianRun::largest_within(Epsilon::new(1.0).unwrap(), delta()).mu().upper * 10_f64.sqrt());
    let by_hand = GaussianRun::from_mu(mu.unwrap()).unwrap().epsilon(Delta::new(DELTA / 2.0).unwrap()).upper;
    assert!((3.5..3.7).contains(&total) && (total / by_hand - 1.0).abs() < 2e-3, "{total} {by_hand}");
}

/// Never below the accountant's answer for the joint bill, and not far above it.
#[test]
fn the_total_is_never_below_the_joint_bill() {
    let laplace = bill(Laplace { ratio: Ratio::new(20.0).unwrap() }, Sampling::Full, 30);
    for (runs, most) in [
        (vec![gaussian(); 10], 1.05),
        (vec![sampled(); 3], 1.5),
        (vec![decisions(), gaussian(), decisions()], 1.35),
        (vec![laplace.clone(), gaussian(), sampled()], 1.5),
    ] {
        let joint: Vec<_> = runs
            .iter()
            .flat_map(|bill| match bill {
                Bill::Contract(contract) | Bill::Once(contract) => contract.parts().to_vec(),
                Bill::Gaussian { .. } | Bill::Filter { .. } => unreachable!("none here"),
            })
            .collect();
        let accountant = Contract::new(joint).unwrap().epsilon_above(delta()).unwrap();
        let total = Runs::of(&runs).unwrap().epsilon(delta()).unwrap();
        assert!(total >= accountant && total <= most * accountant, "{total} against {accountant}");
    }
    // A filter's bill, by its own conversion.
    let (alone, own) = (Runs::of([&filtered()]).unwrap(), filtered().epsilon(delta()).unwrap().get());
    let total = alone.epsilon(delta()).unwrap();
    assert!(total >= own && total < 1.35 * own, "{total} {own}");
}

/// k runs come to what the filter answers: it accepts them at that total, and refuses them just below.
#[test]
fn the_total_of_runs_is_the_least_that_a_filter_accepts() {
    for runs in [vec![gaussian(); 4], vec![sampled(), decisions(), filtered()], vec![gaussian(), decisions()]]
    {
        let joint = Runs::of(&runs).unwrap();
        let total = joint.epsilon(delta()).unwrap();
        let accepted = |epsilon: f64| {
            let mut filter = RunFilter::new(Epsilon::new(epsilon).unwrap(), delta());
            runs.iter().all(|run| filter.price(run).is_ok_and(|charge| filter.charge(&charge).is_ok()))
        };
        assert!(accepted(total * (1.0 + 1e-9)) && !accepted(total * (1.0 - 1e-9)), "{total}");
        let back = joint.delta(Epsilon::new(total).unwrap());
        assert!(back <= DELTA * (1.0 + 1e-6) && back > 0.9 * DELTA, "{back}");
    }
}

/// Every arm's budget, translated back by the crate's other doors, is within its share of (ε, δ).
#[test]
fn every_arm_implies_the_total() {
    for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-9), (3.0, 1e-5), (20.0, 1e-6), (1e-4, 1e-12)] {
        let filter = RunFilter::new(Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap());
        let weight = 0.5 / filter.orders.len() as f64;
        let mut shares = 0.0;
        let mu = Mu::new(filter.budgets[0].unwrap().sqrt()).unwrap();
        let gaussian =
            GaussianRun::from_mu(mu).unwrap().delta(Epsilon::new(epsilon * (1.0 - 1.0 / 4096.0)).unwrap());
        shares += gaussian.upper;
        for (order, budget) in filter.orders.iter().zip(&filter.budgets[1..]) {
            let Some(budget) = budget else { continue };
            let order = Order::new(f64::from(*order)).unwrap();
            let left = Epsilon::new(epsilon * (1.0 - 1.0 / 4096.0)).unwrap();
            let spent = Renyi::new(order, *budget).unwrap().delta(left).upper;
            assert!(spent <= weight * delta, "{epsilon} {delta}: {spent}");
            shares += spent;
        }
        assert!(shares <= delta * (1.0 - 1.0 / 256.0) && shares > 0.49 * delta, "{epsilon}: {shares}");
        let same = RunFilter::with_orders(filter.epsilon, filter.delta, filter.orders()).unwrap();
        assert_eq!(same, filter);
    }
    for wrong in [&[][..], &[1], &[4, 4], &[8, 4], &[5000]] {
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
        assert!(RunFilter::with_orders(epsilon, delta, wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn what_no_arm_adds_up_is_refused_in_words() {
    let black_box =
        Approximate { epsilon: Epsilon::new(0.1).unwrap(), delta: Some(Delta::new(1e-9).unwrap()) };
    let filter = RunFilter::new(Epsilon::new(1.0).unwrap(), delta());
    let refused = filter.price(&bill(black_box, Sampling::Full, 1)).unwrap_err().to_string();
    assert!(refused.contains("neither") && refused.contains("earlier answers"), "{refused}");
    let other =
        Cost::new(Gaussian { ratio: Ratio::new(9.0).unwrap() }, Sampling::Full, Neighbours::AddRemove);
    let other = Bill::Once(Contract::new(vec![(other.unwrap(), Steps(1))]).unwrap());
    assert!(Runs::of([&other, &gaussian()]).is_err());
}

/// Coins are refused beyond what is set aside for them, though their losses would fit.
#[test]
fn coins_beyond_what_is_set_aside_are_refused() {
    let decision = Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(1e-9).unwrap() };
    let cost = Cost::new(decision.clone(), Sampling::Full, Neighbours::Substitute).unwrap();
    let (one, _) = CoinError::of(&cost).far();
    let mut filter = RunFilter::new(Epsilon::new(0.01).unwrap(), delta());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "about 10⁹")]
    let most = (0.01 / 4096.0 / one) as u64;
    let enough = filter.price(&bill(decision.clone(), Sampling::Full, most - most / 100)).unwrap();
    let too_many = filter.price(&bill(decision, Sampling::Full, most + most / 100)).unwrap();
    assert_eq!(filter.fits(&too_many), Err(SpentOut::Coins));
    filter.charge(&enough).unwrap();
    let share = filter.share_spent();
    assert!((0.98..1.0).contains(&share), "{share}");
}

#[test]
fn nothing_costs_nothing_and_foreign_charges_are_refused() {
    let free = bill(Concentrated { rho: Rho::new(0.0).unwrap() }, Sampling::Full, 5);
    assert_eq!(Runs::of([&free]).unwrap().epsilon(delta()).unwrap(), 0.0);
    let narrow = RunFilter::new(Epsilon::new(0.0).unwrap(), delta());
    narrow.fits(&narrow.price(&free).unwrap()).unwrap();
    let wide = RunFilter::new(Epsilon::new(20.0).unwrap(), delta());
    let mut charge = wide.price(&gaussian()).unwrap();
    charge.squared_mu = Some(-1.0);
    assert_eq!(wide.fits(&charge), Err(SpentOut::Foreign));
    charge.squared_mu = Some(0.1);
    charge.divergences.pop();
    assert_eq!(wide.fits(&charge), Err(SpentOut::Foreign));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever is offered in whatever order: what was accepted fits the total by the exact accountant where all are Gaussian.
    #[test]
    fn accepted_gaussian_runs_fit_the_total(
        total in 0.1..8.0_f64,
        ratios in proptest::collection::vec(1.0..60.0_f64, 1..40),
    ) {
        let mut filter = RunFilter::new(Epsilon::new(total).unwrap(), delta());
        let mut accepted = GaussianRun::nothing();
        for ratio in ratios {
            let ratio = Ratio::new(ratio).unwrap();
            let charge = filter.price(&bill(Gaussian { ratio }, Sampling::Full, 1)).unwrap();
            let before = filter.share_spent();
            if filter.charge(&charge).is_ok() {
                accepted = accepted.and(GaussianRun::new(ratio, Steps(1)).unwrap()).unwrap();
                prop_assert!(filter.share_spent() > before);
            } else {
                prop_assert!(filter.share_spent() == before);
            }
        }
        prop_assert!(accepted.delta(Epsilon::new(total).unwrap()).upper <= DELTA / 2.0);
    }
}
