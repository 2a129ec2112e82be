//! Checks what may be composed, what covers what, and that a contract survives being written down.

use barkeep_accounting::mechanisms::{
    BarkerMinibatch, Bernoulli, Decision, DiscreteGaussian, Gaussian, Laplace, NoisyDecision,
};
use barkeep_accounting::{
    BarkerBound, Bought, Contract, Cost, Delta, Epsilon, Error, Mechanism, Neighbours, Probability, Query,
    Rate, Ratio, Rule, Sampling, Sensitivity, Steps, Variance,
};

const BATCH: Sampling = Sampling::WithoutReplacement { batch: 100, records: 10_000 };

fn gaussian(ratio: f64) -> Mechanism {
    Mechanism::Gaussian(Gaussian { ratio: Ratio::new(ratio).unwrap() })
}

fn poisson(rate: f64) -> Sampling {
    Sampling::Poisson { rate: Rate::new(rate).unwrap() }
}

fn decision(sensitivity: f64) -> Mechanism {
    Mechanism::Decision(Decision { rule: Rule::Barker, sensitivity: Sensitivity::new(sensitivity).unwrap() })
}

fn substitute(mechanism: Mechanism) -> Cost {
    Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap()
}

fn mechanisms() -> Vec<Mechanism> {
    vec![
        gaussian(2.0),
        Mechanism::NoisyDecision(NoisyDecision { ratio: Ratio::new(2.0).unwrap() }),
        decision(0.05),
        Mechanism::DiscreteGaussian(DiscreteGaussian {
            variance: Variance::new(4.0).unwrap(),
            sensitivity: 2,
        }),
        Mechanism::Laplace(Laplace { ratio: Ratio::new(2.0).unwrap() }),
        Mechanism::Bernoulli(Bernoulli {
            p: Probability::new(0.3).unwrap(),
            q: Probability::new(0.25).unwrap(),
        }),
    ]
}

#[test]
fn combinations_without_a_proof_are_refused() {
    let refused = |mechanism: Mechanism, sampling: Sampling, neighbours: Neighbours| {
        matches!(Cost::new(mechanism, sampling, neighbours), Err(Error::Mismatch(_)))
    };
    assert!(refused(gaussian(1.0), BATCH, Neighbours::AddRemove));
    assert!(refused(decision(0.1), BATCH, Neighbours::Substitute));
    assert!(refused(decision(0.1), poisson(0.1), Neighbours::AddRemove));
    let barker = Mechanism::BarkerMinibatch(BarkerMinibatch {
        batch: 100,
        records: 10_000,
        bound: BarkerBound::Tight,
    });
    assert!(refused(barker.clone(), Sampling::Full, Neighbours::Substitute));
    let other = Sampling::WithoutReplacement { batch: 101, records: 10_000 };
    assert!(refused(barker.clone(), other, Neighbours::Substitute));
    assert!(Cost::new(barker, BATCH, Neighbours::Substitute).is_ok());
    let empty = Sampling::WithoutReplacement { batch: 0, records: 5 };
    assert!(matches!(Cost::new(gaussian(1.0), empty, Neighbours::Substitute), Err(Error::Argument { .. })));
    let twice =
        Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Lazy { keep: 0.5, rule: Box::new(Rule::Barker) }) };
    let lazy = Mechanism::Decision(Decision { rule: twice, sensitivity: Sensitivity::new(1.0).unwrap() });
    assert!(refused(lazy, Sampling::Full, Neighbours::Substitute));
}

#[test]
fn relations_are_not_mixed() {
    let added = Cost::new(gaussian(1.0), Sampling::Full, Neighbours::AddRemove).unwrap();
    let mixed = Contract::new(vec![(substitute(gaussian(1.0)), Steps(1)), (added, Steps(1))]);
    assert!(matches!(mixed, Err(Error::Mismatch(_))));
}

#[test]
fn higher_costs_cover_lower_ones() {
    for mechanism in mechanisms() {
        let cost = substitute(mechanism);
        assert!(cost.covers(&cost));
    }
    let covers = |a: Mechanism, b: Mechanism| substitute(a).covers(&substitute(b));
    assert!(covers(gaussian(1.0), gaussian(1.1)) && !covers(gaussian(1.1), gaussian(1.0)));
    let noisy = Mechanism::NoisyDecision(NoisyDecision { ratio: Ratio::new(1.0).unwrap() });
    assert!(covers(noisy.clone(), gaussian(1.0)) && covers(gaussian(1.0), noisy.clone()));
    assert!(!covers(gaussian(1.1), noisy));
    assert!(covers(decision(0.1), decision(0.05)) && !covers(decision(0.05), decision(0.1)));
    assert!(!covers(gaussian(1.0), decision(0.05)));
    let sampled = |rate: f64| Cost::new(gaussian(1.0), poisson(rate), Neighbours::AddRemove).unwrap();
    assert!(sampled(0.2).covers(&sampled(0.1)) && !sampled(0.1).covers(&sampled(0.2)));
    assert!(!substitute(gaussian(1.0)).covers(&sampled(0.1)));
}

#[test]
fn contracts_survive_being_written_down() {
    let parts: Vec<_> = mechanisms().into_iter().map(|m| (substitute(m), Steps(7))).collect();
    let contract = Contract::new(parts).unwrap();
    let text = serde_json::to_string(&contract).unwrap();
    assert_eq!(serde_json::from_str::<Contract>(&text).unwrap(), contract);
    // What is read is checked like what is made.
    let forged = text.replace("\"full\"", r#"{"without-replacement":{"batch":1,"records":9}}"#);
    assert!(serde_json::from_str::<Contract>(&forged).is_err());
    let negative = text.replace("{\"ratio\":2.0}", "{\"ratio\":-2.0}");
    assert!(negative != text && serde_json::from_str::<Contract>(&negative).is_err());
}

#[test]
fn an_empty_contract_costs_nothing() {
    let nothing = Contract::new(Vec::new()).unwrap();
    assert_eq!(nothing.epsilon(Delta::new(1e-9).unwrap()).unwrap().upper, 0.0);
    assert_eq!(nothing.delta(Epsilon::new(0.0).unwrap()).unwrap().upper, 0.0);
}

#[test]
fn a_noisy_decision_costs_its_noise_and_nothing_more() {
    let delta = Delta::new(1e-6).unwrap();
    let of = |mechanism: Mechanism| Query::new(vec![(substitute(mechanism), Steps(1))]).unwrap();
    let noise = of(gaussian(20.0));
    let coin = of(Mechanism::NoisyDecision(NoisyDecision { ratio: Ratio::new(20.0).unwrap() }));
    for steps in [1, 30, 1000, 1_000_000_000] {
        let steps = Steps(steps);
        assert_eq!(noise.epsilon(steps, delta).unwrap(), coin.epsilon(steps, delta).unwrap());
    }
}

#[test]
fn computed_coins_cost_a_little_more_than_ideal_ones() {
    let (epsilon, delta) = (Epsilon::new(0.4).unwrap(), Delta::new(1e-6).unwrap());
    for (rule, share) in [(Rule::Barker, 1e-12), (Rule::Penalty { sigma: 1.0 }, 1e-9)] {
        let (sensitivity, steps) = (Sensitivity::new(0.1).unwrap(), Steps(7));
        let flipped = Query::decision(rule.clone(), sensitivity).unwrap();
        let ideal = barkeep_accounting::decision::epsilon(&rule, sensitivity, steps, delta).unwrap();
        let found = flipped.epsilon(steps, delta).unwrap().bracket;
        assert!(
            found.upper > ideal.upper && found.upper < ideal.upper * (1.0 + share),
            "{found:?} {ideal:?}"
        );
        assert!(found.lower <= ideal.lower && found.lower.unwrap() > ideal.lower.unwrap() * (1.0 - share));
        let ideal = barkeep_accounting::decision::delta(&rule, sensitivity, steps, epsilon).unwrap();
        let found = flipped.delta(steps, epsilon).unwrap().bracket;
        assert!(found.upper > ideal.upper && found.upper < ideal.upper * 1.001, "{found:?} {ideal:?}");
        assert!(found.lower <= ideal.lower);
    }
    // A δ smaller than the coins' own rounding has no ε, unless the coins keep their precision everywhere.
    let tiny = Delta::new(1e-280).unwrap();
    let of = |rule: Rule| Query::decision(rule, Sensitivity::new(0.1).unwrap()).unwrap();
    let penalty = of(Rule::Penalty { sigma: 1.0 });
    assert!(matches!(penalty.epsilon(Steps(10), tiny), Err(Error::Unbounded(_))));
    assert!(of(Rule::Barker).epsilon(Steps(10), tiny).unwrap().bracket.upper < 1.0 + 1e-12);
}

/// What coins add must not grow with ε, nor eat up a small ε or δ.
#[test]
fn steps_are_found_again_at_the_ends_of_the_range() {
    let penalty = |sigma: f64| Rule::Penalty { sigma };
    for (rule, sensitivity, steps, delta) in [
        (penalty(0.142), 2.02, 13, 8e-5),
        (penalty(1.0), 8.0, 9, 1e-6),
        (penalty(1.0), 0.05, 20, 7e-29),
        (penalty(2.0), 0.5, 5, 1e-60),
        (Rule::Barker, 6.0, 12, 1e-9),
        (Rule::Barker, 3e-13, 2, 1e-20),
        (Rule::Barker, 0.02, 4, 7e-29),
    ] {
        let query = Query::decision(rule.clone(), Sensitivity::new(sensitivity).unwrap()).unwrap();
        let (steps, delta) = (Steps(steps), Delta::new(delta).unwrap());
        let spent = query.epsilon(steps, delta).unwrap().bracket;
        assert!(spent.lower.unwrap() <= spent.upper);
        let found = query.largest_steps(Epsilon::new(spent.upper).unwrap(), delta).unwrap();
        assert!(found >= steps, "{rule:?} {sensitivity} {steps:?}: {spent:?} {found:?}");
    }
}

/// A search knows the ε of its answer, coins included: by one program, by blocks, and of steps with several decisions.
#[test]
fn a_search_prices_its_answer_as_a_bill_does() {
    let delta = Delta::new(1e-6).unwrap();
    for (rule, sensitivity, each, epsilon) in [
        (Rule::Barker, 0.05, 1, 1.0),
        (Rule::Penalty { sigma: 1.0 }, 0.05, 1, 2.0),
        (Rule::Penalty { sigma: 1.0 }, 0.005, 1, 1.0),
        (Rule::Barker, 0.05, 3, 2.0),
    ] {
        let mechanism =
            Mechanism::Decision(Decision { rule, sensitivity: Sensitivity::new(sensitivity).unwrap() });
        let cost = Cost::new(mechanism, Sampling::Full, Neighbours::Substitute).unwrap();
        let query = Query::new(vec![(cost.clone(), Steps(each))]).unwrap();
        let most = query.most(Epsilon::new(epsilon).unwrap(), delta).unwrap();
        let bill = |steps: u64| Contract::new(vec![(cost.clone(), Steps(each * steps))]).unwrap();
        let spent = bill(most.steps.0).epsilon_above(delta).unwrap();
        assert_eq!(spent, bill(most.steps.0).epsilon(delta).unwrap().upper);
        assert!(spent <= epsilon && most.steps.0 > 80, "{most:?}");
        assert!(each > 1 || most.epsilon == Some(spent), "{most:?} {spent}");
        assert!(most.epsilon.is_none_or(|found| found == spent));
        let bought = query.most_after(&[], Epsilon::new(epsilon).unwrap(), delta).unwrap().unwrap();
        assert_eq!((bought.steps, bought.epsilon), (most.steps, most.epsilon));
        assert!(each > 1 || bought.risk.is_some());
        assert!(bought.risk.is_none_or(|found| found == bill(most.steps.0).risk(delta).unwrap()));
    }
}

#[test]
fn presets_reproduce_the_papers() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    assert_eq!(Query::penalty(4.0, 100_000).unwrap().largest_steps(epsilon, delta).unwrap(), Steps(89_646));
    let hmc = barkeep_accounting::theorems::thesis::Hmc {
        tau: 0.1,
        tau_gradient: 0.4,
        leapfrog: 10,
        records: 100_000,
    };
    assert_eq!(Query::hmc(hmc).unwrap().largest_steps(epsilon, delta).unwrap(), Steps(33));
    let published = Query::barker_minibatch(1000, 1_000_000, BarkerBound::Paper).unwrap();
    let answer = published.epsilon(Steps(20_000), delta).unwrap();
    assert!((answer.bracket.upper - 1.0004).abs() < 6e-5 && answer.bracket.lower.is_none());
    let tight = Query::barker_minibatch(1000, 1_000_000, BarkerBound::Tight).unwrap();
    assert!(tight.epsilon(Steps(20_000), delta).unwrap().bracket.upper < 0.1631);
    let steps = tight.largest_steps(Epsilon::new(0.1631).unwrap(), delta).unwrap();
    assert!(steps >= Steps(20_000) && steps < Steps(21_000), "{steps:?}");
}

/// One step more costs more than the budget: a search that ends early says otherwise of small rates.
#[test]
fn the_most_steps_of_a_small_rate_are_the_most() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    for (ratio, rate) in [(0.98, 3.2e-4), (1.2, 2e-3), (4.0, 0.05), (0.75, 1.2e-4)] {
        let query =
            Query::gaussian(Ratio::new(ratio).unwrap(), poisson(rate), Neighbours::AddRemove).unwrap();
        let most = query.largest_steps(epsilon, delta).unwrap();
        let upper = |steps: u64| query.epsilon(Steps(steps), delta).unwrap().bracket.upper;
        assert!(upper(most.0) <= 1.0, "{ratio} {rate} {most:?}");
        let more = most.0 + 1 + most.0 / 10_000;
        assert!(upper(more) > 1.0, "{ratio} {rate} {most:?}");
    }
}

/// The largest loss of close probabilities is a small difference of logarithms: at the ε found, δ must be kept all the same.
#[test]
fn bits_that_hardly_differ_keep_a_tiny_delta() {
    for (p, q, steps, delta) in [
        (0.457_692_912_205_515_33, 0.458_050_674_538_355, 7, 2.3e-238),
        (0.814_104_366_717_707_4, 0.808_314_644_593_956_9, 1, 6e-115),
        (0.3, 0.300_000_000_1, 3, 1e-200),
    ] {
        let bit = Query::bernoulli(Probability::new(p).unwrap(), Probability::new(q).unwrap()).unwrap();
        let found = bit.epsilon(Steps(steps), Delta::new(delta).unwrap()).unwrap().bracket.upper;
        let spent = bit.delta(Steps(steps), Epsilon::new(found).unwrap()).unwrap().bracket;
        assert!(spent.upper <= delta, "{p} {q}: {spent:?}");
        // At half the largest loss a bit still tells.
        let half = bit.delta(Steps(steps), Epsilon::new(0.5 * found).unwrap()).unwrap().bracket;
        assert!(half.lower.unwrap() > 0.0, "{p} {q}: {half:?}");
    }
}

#[test]
fn a_rough_number_of_steps_is_near_the_largest() {
    let delta = Delta::new(1e-6).unwrap();
    let first = [(substitute(gaussian(3.0)), Steps(2))];
    let penalty = Rule::Penalty { sigma: 1.0 };
    for (query, budget) in [
        (Query::decision(Rule::Barker, Sensitivity::new(0.02).unwrap()).unwrap(), 1.0),
        (Query::decision(penalty, Sensitivity::new(0.1).unwrap()).unwrap(), 4.0),
        (Query::penalty(0.1, 100_000).unwrap(), 2.0),
        (Query::gaussian(Ratio::new(2.0).unwrap(), BATCH, Neighbours::Substitute).unwrap(), 1.0),
        (Query::penalty_minibatch(0.7, 1000, 100_000).unwrap(), 6.0),
        (Query::barker_minibatch(1300, 100_000, BarkerBound::Pld).unwrap(), 1.0),
    ] {
        let epsilon = Epsilon::new(budget).unwrap();
        // Composing anew for each look takes longest where batches decide.
        let firsts = if query.per_step()[0].0.rho().is_ok() { &[0, 1][..] } else { &[0][..] };
        for first in firsts.iter().map(|parts| &first[..*parts]) {
            let most = query.most_after(first, epsilon, delta).unwrap();
            match (query.roughly_after(first, epsilon, delta).unwrap(), most) {
                (None, None) => {}
                (Some(rough), Some(Bought { steps: most, .. })) => {
                    let ratio = rough.0 as f64 / most.0 as f64;
                    assert!((0.85..1.15).contains(&ratio), "{query:?}: {rough:?} for {most:?}");
                }
                other => panic!("{query:?}: {other:?}"),
            }
        }
    }
}
