//! Checks that filters never overspend and refuse without a trace.

use super::{GdpFilter, ZcdpFilter};
use crate::mechanisms::Decision;
use crate::{
    CoinError, Cost, Delta, Epsilon, Mechanism, Mu, Neighbours, Rho, Rule, Sampling, Sensitivity, Steps,
};
use proptest::prelude::*;

#[test]
fn rounding_never_overspends() {
    // Ten tenths are one in arithmetic, and more than one in outward rounding.
    let mut filter = ZcdpFilter::new(Rho::new(1.0).unwrap());
    let tenth = Rho::new(0.1).unwrap();
    let taken = (0..100).take_while(|_| filter.charge(tenth).is_ok()).count();
    assert_eq!(taken, 9);
    // A cost far below the budget's last place is not lost: the sum moves by a whole unit.
    let mut filter = ZcdpFilter::new(Rho::new(1.0).unwrap());
    filter.charge(Rho::new(0.5).unwrap()).unwrap();
    let before = filter.spent();
    filter.charge(Rho::new(1e-300).unwrap()).unwrap();
    assert!(filter.spent() > before);
}

#[test]
fn refusal_leaves_the_account_alone() {
    let mut filter = GdpFilter::within(Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let refused = filter.charge(Mu::new(10.0).unwrap()).unwrap_err();
    assert!(refused.cost >= 100.0 && filter.spent().get() == 0.0);
    filter.charge(Mu::new(0.1).unwrap()).unwrap();
}

#[test]
fn coins_are_paid_from_the_same_budget() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let sensitivity = Sensitivity::new(1.0).unwrap();
    let mechanism = Mechanism::Decision(Decision { rule: Rule::Penalty { sigma: 1.0 }, sensitivity });
    let flip = Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap();
    let coins = CoinError::of(&flip).times(Steps(100_000));
    let (zcdp, gdp) = (
        ZcdpFilter::within_with_coins(epsilon, delta, &coins).unwrap(),
        GdpFilter::within_with_coins(epsilon, delta, &coins).unwrap(),
    );
    assert!(zcdp.budget() < ZcdpFilter::within(epsilon, delta).budget());
    for spent in [zcdp.epsilon(delta, &coins).unwrap().upper, gdp.epsilon(delta, &coins).unwrap().upper] {
        assert!(spent <= 1.0 + 1e-14 && spent > 1.0 - 1e-6, "{spent}");
    }
    let too_many = CoinError::of(&flip).times(Steps(u64::MAX));
    assert!(ZcdpFilter::within_with_coins(epsilon, delta, &too_many).is_err());
}

proptest! {
    #[test]
    fn accepted_charges_stay_within_the_budget(
        budget in 1e-6..10.0_f64,
        costs in proptest::collection::vec(0.0..1.0_f64, 1..200),
    ) {
        let mut zcdp = ZcdpFilter::new(Rho::new(budget).unwrap());
        let mut gdp = GdpFilter::new(Mu::new(budget).unwrap());
        // Whole multiples of 2⁻⁶⁰, rounded down: exact sums of them are at most the true sums.
        let exact = |x: f64| (x * 2_f64.powi(60)) as u128;
        let (mut rho, mut square) = (0_u128, 0_u128);
        for cost in costs {
            if zcdp.charge(Rho::new(cost).unwrap()).is_ok() {
                rho += exact(cost);
            }
            if gdp.charge(Mu::new(cost).unwrap()).is_ok() {
                square += exact(cost * cost);
            }
        }
        prop_assert!(rho <= exact(budget));
        prop_assert!(square <= exact(budget * budget));
    }
}
