//! One bill for each engine of the accountant, held to the rule by which `barkeep verify` refuses a certificate.
//!
//! `.ci/mutate` puts a deliberate error into each engine in turn and demands that the test of that name fails.

#![allow(clippy::unwrap_used, reason = "a test that cannot build its input has failed")]

use barkeep_accounting::{Bill, Delta};

const DELTA: f64 = 1e-6;

/// Fails where the checker contradicts the accountant, as `verify` would.
fn verifies(bill: &str) {
    let accounted: Bill = serde_json::from_str(bill).unwrap();
    let claim = accounted.epsilon(Delta::new(DELTA).unwrap()).unwrap().get();
    let read: barkeep_verify::Bill = serde_json::from_str(bill).unwrap();
    let checked = read.check(claim, DELTA, &mut |_, _| true).unwrap();
    assert!(
        !checked.contradicts(claim),
        "CAUGHT: the accountant says {claim}, the checker {}",
        checked.epsilon()
    );
}

/// A contract of one line.
fn steps(mechanism: &str, sampling: &str, neighbours: &str, steps: u64) -> String {
    format!(
        r#"{{"contract":[[{{"mechanism":{{{mechanism}}},"sampling":{sampling},"neighbours":"{neighbours}"}},{steps}]]}}"#
    )
}

#[test]
fn gaussian() {
    verifies(&steps(r#""gaussian":{"ratio":50.0}"#, r#""full""#, "substitute", 140));
}

#[test]
fn line() {
    verifies(&steps(r#""gaussian":{"ratio":1.0}"#, r#"{"poisson":{"rate":0.01}}"#, "add-remove", 500));
}

#[test]
fn lattice() {
    let batch = r#"{"without-replacement":{"batch":1000,"records":100000}}"#;
    let test = r#""barker-minibatch":{"batch":1000,"records":100000,"bound":"pld"}"#;
    verifies(&steps(test, batch, "substitute", 5000));
}

#[test]
fn program() {
    verifies(&steps(r#""decision":{"rule":"barker","sensitivity":0.05}"#, r#""full""#, "substitute", 89));
}

#[test]
fn blocks() {
    verifies(&steps(
        r#""decision":{"rule":"barker","sensitivity":0.001}"#,
        r#""full""#,
        "substitute",
        200_000,
    ));
}

#[test]
fn bits() {
    verifies(&steps(r#""bernoulli":{"p":0.55,"q":0.45}"#, r#""full""#, "substitute", 200));
}

#[test]
fn mixture() {
    let part = |mechanism: &str, steps: u64| {
        format!(r#"[{{"mechanism":{{{mechanism}}},"sampling":"full","neighbours":"substitute"}},{steps}]"#)
    };
    let decision = part(r#""decision":{"rule":{"penalty":{"sigma":1.0}},"sensitivity":0.05}"#, 40);
    verifies(&format!(r#"{{"contract":[{},{decision}]}}"#, part(r#""gaussian":{"ratio":30.0}"#, 60)));
}

#[test]
fn renyi() {
    let decision = r#"{"mechanism":{"decision":{"rule":"barker","sensitivity":0.05}},"sampling":"full","neighbours":"substitute"}"#;
    verifies(&format!(r#"{{"filter":{{"rho":0.02,"coins":1000,"decision":{decision}}}}}"#));
}
