//! Charges budgets from many threads at once, and checks that nobody got more than was bought.

use super::*;
use barkeep_accounting::mechanisms::{Decision, Gaussian, Laplace, NoisyDecision};
use barkeep_accounting::{Mechanism, Neighbours, Ratio, Rule, Sampling, Sensitivity};
use proptest::collection::vec;
use proptest::prelude::*;
use std::sync::Barrier;

fn cost(ratio: u32) -> Cost {
    let mechanism = Mechanism::Gaussian(Gaussian { ratio: Ratio::new(f64::from(ratio)).unwrap() });
    Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
}

fn noisy(ratio: f64) -> Cost {
    let mechanism = Mechanism::NoisyDecision(NoisyDecision { ratio: Ratio::new(ratio).unwrap() });
    Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
}

/// The same ρ, and a coin.
fn decision(ratio: f64) -> Cost {
    let sensitivity = Sensitivity::new(1.0).unwrap();
    let mechanism = Mechanism::Decision(Decision { rule: Rule::Penalty { sigma: ratio }, sensitivity });
    Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
}

fn permits(lines: &[(u32, u64)]) -> Budget {
    let lines = lines.iter().map(|&(ratio, steps)| (cost(ratio), Steps(steps))).collect();
    Budget::permits(&Contract::new(lines).unwrap())
}

/// How often each line was charged.
fn charged(budget: &Budget) -> Vec<u64> {
    let Spent::Permits(lines) = budget.spent() else { panic!("permits") };
    lines.into_iter().map(|(_, steps)| steps.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A permit of ratio r covers questions of ratio r and above. So the questions answered at ratios up to any r
    /// must be no more than the permits bought at ratios up to r: exactly then an assignment of permits to them exists.
    #[test]
    fn concurrent_charges_never_overspend(
        lines in vec((1_u32..6, 0_u64..20), 1..5), asked in vec(vec(1_u32..7, 1..25), 1..9),
    ) {
        let budget = permits(&lines);
        let start = Barrier::new(asked.len());
        let asked: Vec<(u32, bool)> = std::thread::scope(|scope| {
            let ask = |ratios: &[u32]| {
                start.wait();
                ratios.iter().map(|&ratio| (ratio, budget.pay(0, &cost(ratio)).is_ok())).collect::<Vec<_>>()
            };
            let threads: Vec<_> = asked.iter().map(|ratios| scope.spawn(move || ask(ratios))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let answered: Vec<u32> = asked.iter().filter(|(_, paid)| *paid).map(|(ratio, _)| *ratio).collect();
        for most in 1..=6 {
            let answered = answered.iter().filter(|&&ratio| ratio <= most).count() as u64;
            let bought: u64 = lines.iter().filter(|(ratio, _)| *ratio <= most).map(|(_, steps)| steps).sum();
            prop_assert!(answered <= bought);
        }
        prop_assert_eq!(charged(&budget).iter().sum::<u64>(), answered.len() as u64);
        for (spent, (_, bought)) in charged(&budget).iter().zip(&lines) {
            prop_assert!(spent <= bought);
        }
        // A budget only shrinks: who was refused is refused again.
        for (ratio, _) in asked.iter().filter(|(_, paid)| !paid) {
            prop_assert_eq!(budget.pay(0, &cost(*ratio)), Err(Refused::Exhausted));
        }
    }

    /// Ratios are powers of two, so ρ = 1/(2s²) and its sums are exact and can be compared without slack, but for the
    /// units in the last place by which a filter rounds up.
    #[test]
    fn concurrent_charges_never_overspend_a_filter(asked in vec(vec(0_i32..6, 1..25), 1..9), whole in 1_u32..20, coins in 0_u64..60) {
        let (rho, coin) = (f64::from(whole) / 64.0, CoinError::of(&decision(1.0)));
        let budget = Budget::zcdp(ZcdpFilter::new(Rho::new(rho).unwrap()), coin, Steps(coins));
        let gaussian = Budget::gdp(GdpFilter::new(Mu::new((2.0 * rho).sqrt()).unwrap()));
        let price = |power: i32| 0.5 / 4_f64.powi(power);
        for (budget, flipped, coins) in [(budget, true, coins), (gaussian, false, u64::MAX)] {
            let cost = if flipped { decision } else { noisy };
            let pay = |power: i32| (power, budget.pay(0, &cost(2_f64.powi(power))).is_ok());
            let asked: Vec<(i32, bool)> = std::thread::scope(|scope| {
                let ask = |powers: &[i32]| powers.iter().map(|&power| pay(power)).collect::<Vec<_>>();
                let threads: Vec<_> = asked.iter().map(|powers| scope.spawn(move || ask(powers))).collect();
                threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
            });
            let answered = asked.iter().filter(|(_, paid)| *paid).count() as u64;
            let spent: f64 = asked.iter().filter(|(_, paid)| *paid).map(|(power, _)| price(*power)).sum();
            prop_assert!(spent <= rho && answered <= coins);
            // Not timid either: what was refused did not fit, or the coins were gone.
            for (power, _) in asked.iter().filter(|(_, paid)| !paid) {
                prop_assert!(answered == coins || spent + price(*power) > rho * (1.0 - 1e-12));
            }
            let reported = match budget.spent() {
                Spent::Zcdp(shares) => shares.iter().map(|rho| rho.get()).sum(),
                Spent::Gdp(mu) => 0.5 * mu.get() * mu.get(),
                other => panic!("{other:?}"),
            };
            prop_assert!(reported >= spent * (1.0 - 1e-15) && reported <= spent * (1.0 + 1e-12) + 1e-300);
        }
    }

    #[test]
    fn a_refusal_changes_nothing(lines in vec((2_u32..6, 0_u64..5), 1..5), asked in vec(1_u32..7, 0..40)) {
        let budget = permits(&lines);
        for ratio in asked {
            let before = budget.spent();
            if budget.pay(0, &cost(ratio)) == Err(Refused::Exhausted) {
                prop_assert_eq!(before, budget.spent());
            } else {
                prop_assert_ne!(before, budget.spent());
            }
        }
        prop_assert_eq!(budget.pay(0, &cost(1)), Err(Refused::Exhausted));
    }
}

#[test]
fn an_exact_permit_is_taken_before_a_dearer_one() {
    let budget = permits(&[(1, 1), (4, 1)]);
    assert_eq!(budget.pay(0, &cost(4)), Ok(()));
    assert_eq!(budget.spent(), Spent::Permits(vec![(cost(1), Steps(0)), (cost(4), Steps(1))]));
    assert_eq!(budget.pay(0, &cost(5)), Ok(()));
    assert_eq!(budget.pay(0, &cost(5)), Err(Refused::Exhausted));
}

#[test]
fn another_kind_of_question_is_not_covered() {
    let budget = permits(&[(1, 10)]);
    let neighbours = Neighbours::AddRemove;
    let mechanism = Mechanism::Gaussian(Gaussian { ratio: Ratio::new(9.0).unwrap() });
    let other = Cost::new(mechanism, Sampling::Full, neighbours).unwrap();
    assert_eq!(budget.pay(0, &other), Err(Refused::Exhausted));
    let laplace = Mechanism::Laplace(Laplace { ratio: Ratio::new(9.0).unwrap() });
    let other = Cost::new(laplace, Sampling::Full, Neighbours::Substitute).unwrap();
    assert_eq!(budget.pay(0, &other), Err(Refused::Exhausted));
    assert_eq!(charged(&budget), [0]);
}

#[test]
fn what_is_not_private_answers_everything_and_says_so() {
    let budget = Budget::not_private();
    assert!(!budget.is_private() && permits(&[]).is_private());
    assert_eq!(budget.pay(0, &cost(1)), Ok(()));
    assert_eq!(budget.spent(), Spent::NotPrivate);
}

#[test]
fn a_filter_refuses_what_it_cannot_price_and_forgets_the_refused() {
    let filter = ZcdpFilter::new(Rho::new(0.5).unwrap());
    let batch = Sampling::WithoutReplacement { batch: 1, records: 10 };
    let mechanism = Mechanism::Gaussian(Gaussian { ratio: Ratio::new(9.0).unwrap() });
    let sampled = Cost::new(mechanism, batch, Neighbours::Substitute).unwrap();
    let budget = Budget::zcdp(filter, CoinError::of(&decision(1.0)), Steps(1));
    assert!(matches!(budget.pay(0, &sampled), Err(Refused::Accounting(_))));
    assert_eq!(budget.pay(0, &decision(0.5)), Err(Refused::Exhausted));
    assert_eq!(budget.spent(), Spent::Zcdp(vec![Rho::new(0.0).unwrap()]));
    // The refused decision took no coin: there is one for the next.
    assert_eq!(budget.pay(0, &decision(4.0)), Ok(()));
    assert_eq!(budget.pay(0, &decision(4.0)), Err(Refused::Exhausted));
    assert_eq!(budget.pay(0, &cost(4)), Ok(()));
    // No coin was bought that is as rounded as this one.
    let budget = Budget::zcdp(filter, CoinError::NONE, Steps(1));
    assert_eq!(budget.pay(0, &decision(4.0)), Err(Refused::Exhausted));
    assert_eq!(budget.pay(0, &cost(4)), Ok(()));
}

/// Each chain spends its own share, and all of them together no more than there was.
#[test]
fn shares_are_equal_and_no_more_than_the_whole() {
    let coin = CoinError::of(&decision(1.0));
    let rho = decision(1.0).rho().unwrap().get();
    for (shares, flips) in [(1, 7), (3, 100), (4, 9)] {
        let whole = Rho::new(5.5 * shares as f64 * rho).unwrap();
        let budget = Budget::zcdp_in_shares(whole, coin, Steps(flips), shares).unwrap();
        let paid =
            |chain: usize| (0..100).filter(|_| budget.pay(chain, &decision(1.0)).is_ok()).count() as u64;
        for chain in 0..shares as usize {
            assert_eq!(paid(chain), 5.min(flips / shares), "{shares} {chain}");
        }
        let Spent::Zcdp(spent) = budget.spent() else { panic!("a filter") };
        assert_eq!(spent.len() as u64, shares);
        assert!(spent.iter().map(|rho| rho.get()).sum::<f64>() <= whole.get());
    }
}
