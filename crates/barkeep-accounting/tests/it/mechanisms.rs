//! Holds mechanisms to the table of `tables/make_mechanisms.py`: enumeration, high precision, and a peer where it is right.

use barkeep_accounting::{Contract, Cost, Delta, Query, Steps};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    cost: Cost,
    steps: u64,
    delta: f64,
    epsilon: (f64, f64),
    #[serde(rename = "source")]
    _source: String,
}

fn rows() -> Vec<Row> {
    include_str!("../tables/mechanisms.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The width allowed. Decisions run on a grid with at least 64 nodes per standard deviation: its chords add up to 1/(3·64²) of a step's loss
/// variance, the corners of the envelope as much, and cells of the tails c²/8 of the loss, c = 0.02·(1 + steps/50) ≤ 0.03 here. Together
/// that is less than 3e-4 of ε, which grows no faster than the variance. Up to three steps come close to the largest loss there is, where the
/// curve ends between two nodes. The peer prices batches of limited size for one number of
/// records, and not for fewer.
fn width(row: &Row) -> f64 {
    let text = serde_json::to_string(&row.cost).unwrap();
    match (text.contains("exponential"), text.contains("truncated")) {
        (true, _) if row.steps > 3 => 3e-4,
        (true, _) => 1e-3,
        (false, true) if row.steps > 1 => 1e-3,
        (false, _) => 2e-5,
    }
}

/// No answer is on the wrong side, and each is close to the truth.
#[test]
fn answers_bracket_the_truth() {
    let rows = rows();
    assert!(rows.len() > 300);
    for row in rows {
        let query = Query::new(vec![(row.cost.clone(), Steps(1))]).unwrap();
        let answer = query.epsilon(Steps(row.steps), Delta::new(row.delta).unwrap()).unwrap();
        let words = serde_json::to_string(&row.cost).unwrap();
        let (low, high) = row.epsilon;
        let upper = answer.bracket.upper;
        // The table is rounded to the nearest f64.
        assert!(upper >= low * (1.0 - 2e-16), "{words}: {upper} below {low}");
        assert!(upper <= high * (1.0 + width(&row)) + 1e-300, "{words}: {upper} far above {high}");
        match answer.bracket.lower {
            Some(lower) => {
                assert!(lower <= high * (1.0 + 2e-16), "{words}: {lower} above {high}");
                assert!(lower >= low * (1.0 - 2.0 * width(&row)), "{words}: {lower} far below {low}");
            }
            None => assert!(words.contains("concentrated"), "{words} has no lower end"),
        }
    }
}

/// One step, ratio 1, Poisson batches, one record added or removed.
#[test]
fn one_step_at_small_rates() {
    for (rate, delta, epsilon) in [(1e-3, 1e-5, 0.009_111_6), (1e-4, 1e-6, 0.000_915), (1e-5, 1e-6, 2.19e-5)]
    {
        let text = format!(
            r#"[[{{"mechanism":{{"gaussian":{{"ratio":1.0}}}},"sampling":{{"poisson":{{"rate":{rate}}}}},"neighbours":"add-remove"}},1]]"#
        );
        let contract: Contract = serde_json::from_str(&text).unwrap();
        let found = contract.epsilon(Delta::new(delta).unwrap()).unwrap();
        assert!((found.upper / epsilon - 1.0).abs() < 0.01, "{rate}: {found:?}");
        assert!(found.lower.unwrap() > found.upper * (1.0 - 1e-10));
    }
}
