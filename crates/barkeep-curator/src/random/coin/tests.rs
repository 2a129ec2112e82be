use super::*;
use crate::random::rng::Script;
use crate::test_support::statistics::assert_frequency;
use barkeep_accounting::{Component, Correction, Rule};
use dashu_int::UBig;

/// P(true) in units of 2^−1088, reconstructed from outcomes alone: how many first digits answer `true` at
/// once, by bisection; then the same for the second digit after the one first digit that is undecided; and so
/// on. 17 digits hold the 1074 bits of any f64.
fn reconstructed(probability: f64) -> UBig {
    let mut undecided = Vec::new();
    let mut numerator = UBig::ZERO;
    for _ in 0..17 {
        // The answer, and whether it took no more digits; the digits after it would answer `false`.
        let ask = |digit: u64| {
            let words = [&undecided[..], &[digit], &[u64::MAX; 18]].concat();
            let mut script = Script::new(words);
            let answer = bernoulli(&mut script, probability);
            (answer, script.read == undecided.len() + 1)
        };
        let (mut low, mut high) = (0, u64::MAX);
        while low < high {
            let middle = low + (high - low) / 2;
            if ask(middle) == (true, true) { low = middle + 1 } else { high = middle }
        }
        // Below the undecided digit all answer `true`, above it `false`, both at once.
        assert!(!ask(low).1);
        assert!(low == 0 || ask(low - 1) == (true, true));
        assert!(low == u64::MAX || ask(low + 1) == (false, true));
        numerator = (numerator << 64) + low;
        undecided.push(low);
    }
    numerator
}

/// p·2^1088 for p < 1, by doubling: exact, and independent of how the coin takes numbers apart.
fn scaled(mut p: f64) -> UBig {
    let mut doublings = 0;
    while p.fract() != 0.0 {
        p *= 2.0;
        doublings += 1;
    }
    UBig::from(p as u64) << (1088 - doublings)
}

#[test]
fn chosen_bits_reproduce_the_dyadic_number_exactly() {
    let tiny = f64::from_bits(1);
    let cases = [
        0.0,
        tiny,
        3.0 * tiny,
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE.next_down(),
        2e-300,
        0.5_f64.powi(64),
        0.5_f64.powi(65),
        0.5_f64.powi(60),
        1.5 * 0.5_f64.powi(60),
        1e-9,
        1.0 / 3.0,
        0.3,
        0.5,
        0.5_f64.next_down(),
        0.5_f64.next_up(),
        1.0_f64.next_down(),
    ];
    for probability in cases {
        assert_eq!(reconstructed(probability), scaled(probability), "{probability:e}");
    }
}

/// How many of the 2^64 words answer `true`, by bisection: a textbook coin is heads where a uniform f64 is below p.
fn textbook_heads(probability: f64) -> u64 {
    let heads = |word: u64| (word >> 11) as f64 * 0.5_f64.powi(53) < probability;
    let (mut low, mut high) = (0, u64::MAX);
    while low < high {
        let middle = low + (high - low) / 2;
        if heads(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

#[test]
fn the_same_reconstruction_finds_a_textbook_coin_broken() {
    // Probabilities a million apart have one law there, ten thousand times too likely, and the next to 0 is not 0.
    assert_eq!(textbook_heads(1e-20), textbook_heads(1e-26));
    assert!(textbook_heads(1e-20) as f64 * 0.5_f64.powi(64) > 1e4 * 1e-20);
    assert!(textbook_heads(f64::from_bits(1)) > 0 && textbook_heads(0.0) == 0);
    // Here every probability has its own.
    assert_eq!(reconstructed(1e-20), scaled(1e-20));
    assert_eq!(reconstructed(1e-26), scaled(1e-26));
}

#[test]
fn numbers_outside_the_interval_count_as_its_nearer_end() {
    for word in [0, 1, 1 << 63, u64::MAX] {
        for certain in [1.0, 1.5, f64::INFINITY] {
            assert!(bernoulli(&mut Script::new([word]), certain));
        }
        for never in [-0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
            assert!(!bernoulli(&mut Script::new([word, 1]), never));
        }
    }
}

#[test]
fn one_word_is_read_whatever_the_probability() {
    let mut source = NoiseRng::insecure_seed(11);
    for probability in [0.0, f64::from_bits(1), 1e-20, 1e-3, 0.25, 0.5] {
        for _ in 0..1000 {
            let mut script = Script::new([source.next_u64()]);
            bernoulli(&mut script, probability);
            assert_eq!(script.read, 1);
        }
    }
}

#[test]
fn the_named_side_comes_up_when_the_draw_is_below() {
    for (side, word, accept) in [
        (Side::Accept, 0, true),
        (Side::Accept, u64::MAX, false),
        (Side::Reject, 0, false),
        (Side::Reject, u64::MAX, true),
    ] {
        let coin = Coin { smaller: 0.25, side };
        assert_eq!(toss(&mut Script::new([word]), &coin), accept);
    }
}

/// A rule and its parameter as tests/tables/coins.csv names them.
fn rule(name: &str, parameter: f64) -> Rule {
    let penalty = |sigma| Rule::Penalty { sigma };
    match name {
        "metropolis" => Rule::Metropolis,
        "barker" => Rule::Barker,
        "penalty" => penalty(parameter),
        "lazy" => Rule::Lazy { keep: parameter, rule: Box::new(penalty(1.0)) },
        "corrected" => {
            let atom = |weight, mean| Component { weight, mean, sd: 0.0 };
            let atoms = vec![atom(0.75, 0.0), atom(0.125, 3.0), atom(0.125, -3.0)];
            Rule::Corrected { variance: parameter, correction: Correction::new(atoms).unwrap() }
        }
        _ => panic!("an unknown rule in the table"),
    }
}

/// Rows of the table: the rule, the log-ratio, and P(accept), P(reject) at high precision.
fn table() -> Vec<(Rule, f64, f64, f64)> {
    let rows = include_str!("../../../tests/tables/coins.csv").lines().map(|line| {
        let (name, numbers) = line.split_once(',').unwrap();
        let numbers: Vec<f64> = numbers.split(',').map(|number| number.parse().unwrap()).collect();
        (rule(name, numbers[0]), numbers[1], numbers[2], numbers[3])
    });
    rows.collect()
}

#[test]
fn frequencies_are_those_of_the_rule_up_to_eight() {
    const FLIPS: u64 = 50_000;
    let mut rng = NoiseRng::insecure_seed(12);
    let mut compared = 0;
    for (rule, log_ratio, accept, reject) in table() {
        if log_ratio.abs() > 8.0 {
            continue;
        }
        let coin = rule.coin(log_ratio, 0.0);
        let accepted = (0..FLIPS).filter(|_| flip(&mut rng, &coin)).count() as u64;
        let what = format!("{rule:?} at {log_ratio}");
        let smaller = accept.min(reject);
        if FLIPS as f64 * smaller >= 10.0 {
            assert_frequency(accepted, FLIPS, accept, &what);
            compared += 1;
        } else {
            // 45 or more of an expected 10 or fewer: Poisson probability below 10⁻¹⁵.
            assert!((if accept < reject { accepted } else { FLIPS - accepted }) < 45, "{what}");
        }
    }
    assert!(compared > 90);
}

/// For every log-ratio up to the clamp: the probability found by feeding chosen bits against the exact one.
#[test]
fn the_probability_that_runs_is_the_exact_one_within_the_proved_error() {
    for (rule, log_ratio, accept, reject) in table() {
        let coin = rule.coin(log_ratio, 0.0);
        let exact = if coin.side == Side::Accept { accept } else { reject };
        assert_eq!(reconstructed(coin.smaller), scaled(coin.smaller), "{rule:?} at {log_ratio}");
        // Beyond the proved error, the table is rounded by 2^−53 where it is read.
        let slack = rule.coin_error() + 2_f64.powi(-53);
        let tolerance = slack * exact + rule.coin_absolute_error();
        assert!((coin.smaller - exact).abs() <= tolerance, "{rule:?} at {log_ratio}: not {exact:e}");
    }
}
