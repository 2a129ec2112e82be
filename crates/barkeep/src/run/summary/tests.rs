//! Checks the summary's JSON, its table, and what it says when nothing can be said.

use super::*;
use crate::public_rng::PublicRng;
use crate::run::draws::Outcome;

fn run(names: &[&str], chains: &[Vec<Vec<f64>>]) -> Draws {
    let mut draws = Draws::new(names.iter().map(|name| (*name).to_owned()).collect()).unwrap();
    for states in chains {
        let mut chain = draws.chain();
        for state in states {
            chain.push(state, Outcome::Rejected).unwrap();
        }
        draws.add(chain).unwrap();
    }
    draws
}

#[test]
fn json_has_the_promised_keys_and_nulls() {
    let mut draws = run(&["a"], &[vec![vec![0.0], vec![1.0]], vec![]]);
    draws.mark_not_private();
    let found = serde_json::to_string(&Summary::new(&draws, 0)).unwrap();
    let (verdict, rest) = found.split_once(r#""privacy":"#).unwrap();
    assert!(
        verdict.starts_with(r#"{"verdict":{"grade":"not to be trusted","reasons":["2 draws"#),
        "{verdict}"
    );
    assert_eq!(
        rest,
        concat!(
            r#""NOT PRIVATE","burn_in":0,"draws":2,"acceptance":0.0,"#,
            r#""chains":[{"draws":2,"acceptance":0.0},{"draws":0,"acceptance":null}],"#,
            r#""parameters":[{"name":"a","mean":0.5,"sd":0.7071067811865476,"q5":0.05,"q50":0.5,"q95":0.95,"#,
            r#""interval_89":[0.055,0.945],"#,
            r#""r_hat":null,"ess_bulk":null,"ess_tail":null,"mcse_mean":null}]}"#
        )
    );
}

#[test]
fn a_private_run_carries_no_mark_and_burn_in_is_left_out() {
    let draws = run(&["a", "b"], &[vec![vec![50.0, 0.0], vec![1.0, 3.0], vec![3.0, 3.0]]]);
    let summary = Summary::new(&draws, 1);
    assert_eq!((summary.privacy.as_deref(), summary.draws, summary.burn_in), (None, 2, 1));
    assert_eq!((summary.parameters[0].mean, summary.parameters[1].sd), (Some(2.0), Some(0.0)));
    assert!(!serde_json::to_string(&summary).unwrap().contains("privacy"));
    let nothing = Summary::new(&draws, 3);
    assert_eq!((nothing.draws, nothing.acceptance), (0, None));
    assert_eq!((nothing.parameters[0].mean, nothing.parameters[0].interval_89), (None, None));
}

#[test]
fn one_draw_has_a_place_but_no_spread() {
    let row = &Summary::new(&run(&["a"], &[vec![vec![2.5]]]), 0).parameters[0];
    assert_eq!((row.mean, row.q50, row.q5, row.q95, row.sd), (Some(2.5), Some(2.5), None, None, None));
}

#[test]
fn a_draw_that_is_not_finite_silences_its_parameter_only() {
    let states = (0..9).map(|i| vec![if i == 4 { f64::NAN } else { 1.0 }, f64::from(i)]).collect();
    let summary = Summary::new(&run(&["bad", "good"], &[states]), 0);
    let bad = &summary.parameters[0];
    assert_eq!((bad.mean, bad.sd, bad.q50, bad.r_hat, bad.mcse_mean), (None, None, None, None, None));
    assert_eq!(summary.parameters[1].q50, Some(4.0));
    assert!(summary.parameters[1].r_hat.is_some());
}

#[test]
fn draws_that_never_moved_have_no_interval() {
    let summary =
        Summary::new(&run(&["stuck", "moving"], &[(0..200).map(|k| vec![3.0, f64::from(k)]).collect()]), 0);
    let [stuck, moving] = &summary.parameters[..] else { panic!("two parameters") };
    assert_eq!((stuck.q50, stuck.interval_89, stuck.q5, stuck.q95), (Some(3.0), None, None, None));
    assert!(moving.interval_89.is_some_and(|[low, high]| low < high));
}

#[test]
fn infinite_r_hat_is_shown_and_null_in_json() {
    let states = |value: f64| vec![vec![value]; 8];
    let summary = Summary::new(&run(&["a"], &[states(0.25), states(0.75)]), 0);
    assert_eq!(summary.parameters[0].r_hat, Some(f64::INFINITY));
    assert!(summary.to_string().contains("inf"));
    assert!(serde_json::to_string(&summary).unwrap().contains(r#""r_hat":null"#));
}

#[test]
fn the_table_is_aligned_and_has_sensible_digits() {
    let mut rng = PublicRng::new(11, 0);
    let states = |rng: &mut PublicRng| -> Vec<Vec<f64>> {
        (0..400)
            .map(|_| {
                vec![0.5 + 0.0123 * rng.normal(), 1234.5 + 56.0 * rng.normal(), 1e-12 * rng.normal(), 3.0]
            })
            .collect()
    };
    let chains = [states(&mut rng), states(&mut rng)];
    let mut summary = Summary::new(&run(&["θ₁", "a longer name", "tiny", "still"], &chains), 100);
    summary.acceptance = Some(0.236);
    let table = summary.to_string();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 6, "{table}");
    let width = lines[0].chars().count();
    assert!(lines[..5].iter().all(|line| line.chars().count() == width), "{table}");
    let cells = |line: &str| -> Vec<String> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect()
    };
    let first = cells(lines[1]);
    assert_eq!(first.len(), 11, "{table}");
    // sd 0.0123: three of its digits, so four decimals, for everything in the row.
    assert!(first[1].len() == 6 && first[2].len() == 6, "{table}");
    assert!(cells(lines[2])[1].len() == 6, "1234.5 to one decimal: {table}");
    assert!(cells(lines[3])[2].ends_with("e-12"), "{table}");
    let still = cells(lines[4]);
    assert_eq!(still[1..], ["3.00", "0.00", "-", "3.00", "-", "-", "-", "-", "-", "-"]);
    assert_eq!(
        lines[5],
        "600 draws from 2 chains, after the first 100 of each; 23.6 % of proposals accepted"
    );
}

#[test]
fn the_table_shows_any_numbers() {
    for value in [0.0, 1e300, 5e-324, -f64::MAX, f64::NAN] {
        for other in [0.0, 1e300, -5e-324, f64::INFINITY, 1.0] {
            let table =
                Summary::new(&run(&["a"], &[vec![vec![value], vec![other], vec![value]]]), 0).to_string();
            assert!(table.lines().all(|line| line.len() < 200), "{table}");
        }
    }
}

#[test]
fn numbers_are_shown_to_the_second_digit_of_their_spread() {
    let shown = crate::diagnostics::shown;
    assert_eq!(shown(-2.3454, 0.051), "-2.345");
    assert_eq!(shown(0.8, 1e-10), "0.800000");
    assert_eq!(shown(3e-9, 1e-10), "3.000e-9");
    assert_eq!(shown(12.0, 0.0), "12");
    assert_eq!(shown(1234.6, 250.0), "1235");
}
