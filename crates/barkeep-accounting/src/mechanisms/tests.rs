//! Asks every mechanism of the list everything an entry answers, and holds their layout on disk to the letter.

use super::*;
use crate::theorems::barker::BarkerBound;
use crate::{Contract, Cost, Delta, Epsilon, Probability, Rate, Steps, Variance};

/// One of each, with the sample of records it has a proof for, its JSON and its words.
fn all() -> Vec<(Mechanism, Sampling, &'static str, &'static str)> {
    let (ratio, full) = (Ratio::new(9.5).unwrap(), Sampling::Full);
    let (batch, records) = (200, 10_000);
    let sensitivity = Sensitivity::new(0.25).unwrap();
    let bit = "the accept/reject bit of every step";
    let (p, q) = (Probability::new(0.25).unwrap(), Probability::new(0.5).unwrap());
    vec![
        (
            Decision { rule: Rule::Barker, sensitivity }.into(),
            full,
            r#"{"decision":{"rule":"barker","sensitivity":0.25}}"#,
            bit,
        ),
        (NoisyDecision { ratio }.into(), full, r#"{"noisy-decision":{"ratio":9.5}}"#, bit),
        (
            BarkerMinibatch { batch, records, bound: BarkerBound::Tight }.into(),
            Sampling::WithoutReplacement { batch, records },
            r#"{"barker-minibatch":{"batch":200,"records":10000,"bound":"tight"}}"#,
            bit,
        ),
        (
            Gaussian { ratio }.into(),
            full,
            r#"{"gaussian":{"ratio":9.5}}"#,
            "every noisy sum over records that a chain asked for",
        ),
        (
            TruncatedGaussian { ratio, rate: Rate::new(0.25).unwrap(), most: 30, records: 100 }.into(),
            Sampling::Poisson { rate: Rate::new(0.25).unwrap() },
            r#"{"truncated-gaussian":{"ratio":9.5,"rate":0.25,"most":30,"records":100}}"#,
            "every noisy sum over a batch of limited size that was asked for",
        ),
        (
            DiscreteGaussian { variance: Variance::new(64.0).unwrap(), sensitivity: 2 }.into(),
            full,
            r#"{"discrete-gaussian":{"variance":64.0,"sensitivity":2}}"#,
            "every integer with discrete Gaussian noise that a chain asked for",
        ),
        (
            Laplace { ratio }.into(),
            full,
            r#"{"laplace":{"ratio":9.5}}"#,
            "every value with Laplace noise that a chain asked for",
        ),
        (
            DiscreteLaplace { scale: ratio, sensitivity: 2 }.into(),
            full,
            r#"{"discrete-laplace":{"scale":9.5,"sensitivity":2}}"#,
            "every integer with discrete Laplace noise that was asked for",
        ),
        (
            Bernoulli { p, q }.into(),
            full,
            r#"{"bernoulli":{"p":0.25,"q":0.5}}"#,
            "the point of a public grid that was chosen for each draw",
        ),
        (
            CategoricalResponse { options: 5, epsilon: Epsilon::new(0.5).unwrap() }.into(),
            full,
            r#"{"categorical-response":{"options":5,"epsilon":0.5}}"#,
            "every randomised answer",
        ),
        (
            Exponential { range: Sensitivity::new(0.25).unwrap() }.into(),
            full,
            r#"{"exponential":{"range":0.25}}"#,
            "every item that was chosen from a public list",
        ),
        (
            NoisyMax { range: Sensitivity::new(0.25).unwrap() }.into(),
            full,
            r#"{"noisy-max":{"range":0.25}}"#,
            "the place of the largest noisy score of every list",
        ),
        (
            Approximate { epsilon: Epsilon::new(0.5).unwrap(), delta: Some(Delta::new(1e-9).unwrap()) }
                .into(),
            full,
            r#"{"approximate":{"epsilon":0.5,"delta":1e-9}}"#,
            "what another (epsilon, delta)-private release says",
        ),
        (
            Concentrated { rho: Rho::new(0.125).unwrap() }.into(),
            full,
            r#"{"concentrated":{"rho":0.125}}"#,
            "what another zero-concentrated release says",
        ),
    ]
}

#[test]
fn the_layout_on_disk_and_the_words_are_these() {
    for (place, (mechanism, _, text, words)) in all().into_iter().enumerate() {
        assert_eq!(serde_json::to_string(&mechanism).unwrap(), text);
        assert_eq!(serde_json::from_str::<Mechanism>(text).unwrap(), mechanism);
        assert_eq!((mechanism.place(), mechanism.released()), (place, words));
        let longer = text.replacen(":{", ":{\"more\":1,", 1);
        assert!(serde_json::from_str::<Mechanism>(&longer).is_err(), "{longer}");
    }
    let last_first: Vec<Mechanism> = all().into_iter().rev().map(|(mechanism, ..)| mechanism).collect();
    let words = Mechanism::all_released(&last_first);
    assert_eq!(words.len(), 12);
    assert!(words[0].contains("bit") && words[1].contains("sum") && words[6].contains("grid"));
}

/// A price exists for one step of each, and no measure of it says less than another.
#[test]
fn every_mechanism_is_priced_alone_and_with_others() {
    let delta = Delta::new(1e-6).unwrap();
    for (mechanism, sampling, text, _) in all() {
        let cost = Cost::new(mechanism, sampling, Neighbours::Substitute).unwrap();
        assert!(cost.covers(&cost), "{text}");
        let epsilon = |parts| Contract::new(parts).unwrap().epsilon(delta).unwrap();
        let alone = epsilon(vec![(cost.clone(), Steps(1))]);
        assert!(alone.upper > 0.0 && alone.lower.is_none_or(|lower| lower <= alone.upper), "{text}");
        if let Ok(rho) = cost.rho() {
            // A ρ is a bound on the whole curve, so its ε at any δ is at least the tight one.
            assert!(rho.epsilon(delta).upper >= alone.lower.unwrap_or(0.0), "{text}: {rho:?} {alone:?}");
        }
        if let Ok(mu) = cost.mu() {
            let run = crate::GaussianRun::from_mu(mu).unwrap();
            assert!(run.epsilon(delta).upper >= alone.lower.unwrap_or(0.0) * (1.0 - 1e-9), "{text}");
        }
        let release =
            Cost::new(Gaussian { ratio: Ratio::new(20.0).unwrap() }, Sampling::Full, cost.neighbours());
        let both = epsilon(vec![(cost, Steps(1)), (release.unwrap(), Steps(1))]);
        assert!(both.upper >= alone.lower.unwrap_or(0.0), "{text}");
    }
}

#[test]
fn a_price_that_includes_what_stays_inside_says_so() {
    for (mechanism, ..) in all() {
        let inside = matches!(mechanism, Mechanism::NoisyDecision(_) | Mechanism::BarkerMinibatch(_));
        let expected = if inside { PriceOf::WhatStaysInside } else { PriceOf::WhatLeaves };
        assert_eq!(mechanism.price_of(), expected);
    }
}

/// Only Gaussian noise covers another kind, and only the other one of Gaussian noise.
#[test]
fn different_kinds_do_not_cover_each_other() {
    for (one, ..) in all() {
        for (other, ..) in all() {
            let gaussian = |mechanism: &Mechanism| {
                matches!(mechanism, Mechanism::Gaussian(_) | Mechanism::NoisyDecision(_))
            };
            let expected = one == other || (gaussian(&one) && gaussian(&other));
            assert_eq!(one.covers(&other), expected, "{one:?} {other:?}");
        }
    }
}
