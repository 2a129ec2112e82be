//! Checks every row of the reference values: within its tolerance, and inside our bracket.
//!
//! `reference/accounting.json` holds values computed elsewhere at high precision (mpmath, arb, contour integrals in long
//! double); its conventions are explained in `reference/README.md`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use barkeep_accounting::rdp::{Amplified, Curve, Linear};
use barkeep_accounting::theorems::barker::{BarkerTest, corollary_2};
use barkeep_accounting::{
    BarkerBound, Bracket, Delta, Epsilon, Gaussian, Order, Rate, Ratio, Renyi, Rho, Steps,
};
use serde_json::Value;

/// One row, with numbers that may be written as strings to keep their digits.
struct Row<'a>(&'a Value);

impl<'a> Row<'a> {
    fn text(&self, name: &str) -> &'a str {
        self.0["params"][name].as_str().unwrap_or_default()
    }

    fn number(&self, name: &str) -> f64 {
        number(&self.0["params"][name])
    }

    fn has(&self, name: &str) -> bool {
        !self.0["params"][name].is_null()
    }

    fn steps(&self) -> Steps {
        Steps(self.number("k") as u64)
    }

    fn epsilon(&self) -> Epsilon {
        Epsilon::new(self.number("eps")).unwrap()
    }

    fn delta(&self) -> Delta {
        Delta::new(self.number("delta")).unwrap()
    }

    fn ratio(&self) -> Ratio {
        Ratio::new(self.number("sigma")).unwrap()
    }

    fn order(&self) -> Order {
        Order::new(self.number("alpha")).unwrap()
    }

    fn value(&self) -> f64 {
        number(&self.0["value"])
    }

    fn source(&self) -> &str {
        self.0["source"].as_str().unwrap()
    }

    /// The truth lies inside, and both ends are within the tolerance or 2⁻⁴⁶ of it, whichever is wider.
    fn check(&self, bracket: Bracket) {
        let (value, tolerance) = (self.value(), number(&self.0["tolerance"]));
        // The reference itself is rounded to 17 digits.
        let slack = 4e-17 * value.abs();
        assert!(value <= bracket.upper + slack, "{}: {bracket:?}", self.0);
        let allowed = tolerance.max(2_f64.powi(-46)) * value.abs();
        assert!(bracket.upper - value <= allowed, "{}: {bracket:?}", self.0);
        if let Some(lower) = bracket.lower {
            assert!(lower <= value + slack && value - lower <= allowed, "{}: {bracket:?}", self.0);
            let middle = 0.5 * (lower + bracket.upper);
            assert!((middle - value).abs() <= tolerance * value.abs(), "{}: {bracket:?}", self.0);
        }
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().expect("a number").parse().expect("a number"))
}

fn rows(belongs: impl Fn(&Row) -> bool) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("reference/accounting.json")).unwrap();
    assert_eq!(all.len(), 141);
    all.into_iter().filter(|row| belongs(&Row(row))).collect()
}

fn kind(row: &Row) -> String {
    row.0["kind"].as_str().unwrap().to_owned()
}

fn is_gaussian(row: &Row) -> bool {
    row.text("mech").starts_with("gaussian") || row.text("mech").starts_with("continuous gaussian")
}

#[test]
fn delta_of_gaussians() {
    let rows = rows(|row| kind(row) == "delta" && is_gaussian(row));
    assert_eq!(rows.len(), 25);
    for row in rows.iter().map(Row) {
        let ratio = if row.has("sigma") {
            row.ratio()
        } else {
            Ratio::new(row.number("sigma2").sqrt() / row.number("sensitivity")).unwrap()
        };
        let run = Gaussian::new(ratio, row.steps()).unwrap();
        row.check(run.delta(row.epsilon()));
        let logarithm = run.ln_delta(row.epsilon());
        let truth = row.value().ln();
        assert!((logarithm.upper - truth).abs() <= 1e-13 + 1e-15 * truth.abs(), "{}", row.0);
    }
}

#[test]
fn epsilon_of_gaussians() {
    let rows = rows(|row| kind(row) == "eps" && is_gaussian(row));
    assert_eq!(rows.len(), 5);
    for row in rows.iter().map(Row) {
        let run = Gaussian::new(row.ratio(), row.steps()).unwrap();
        if row.text("conversion") == "exact" {
            row.check(run.epsilon(row.delta()));
        } else {
            let rho = Rho::new(run.rho().upper).unwrap();
            row.check(rho.epsilon_classical(row.delta()));
        }
    }
}

#[test]
fn largest_steps_of_gaussians() {
    let rows = rows(|row| kind(row) == "max_k" && is_gaussian(row));
    assert_eq!(rows.len(), 9);
    for row in rows.iter().map(Row) {
        let most = Gaussian::largest_steps(row.ratio(), row.epsilon(), row.delta()).unwrap();
        assert_eq!(most.0 as f64, row.value(), "{}", row.0);
    }
}

#[test]
fn conversions_from_renyi() {
    let rows = rows(|row| kind(row) == "rdp_to_eps");
    assert_eq!(rows.len(), 16);
    for row in rows.iter().map(Row) {
        let bound = Renyi::new(row.order(), row.number("rdp")).unwrap();
        if row.source().starts_with("classical") {
            row.check(bound.epsilon_classical(row.delta()));
        } else {
            row.check(bound.epsilon(row.delta()));
        }
    }
}

#[test]
fn renyi_curves_without_replacement() {
    let rows = rows(|row| kind(row) == "rdp_eps");
    assert_eq!(rows.len(), 28);
    for row in rows.iter().map(Row) {
        let divergence = if row.has("thm") {
            let (batch, records) = (row.number("b") as u64, row.number("n") as u64);
            let base = BarkerTest::new(batch, BarkerBound::Paper).at(row.order());
            assert!((base / row.number("base_eps") - 1.0).abs() < 1e-14);
            corollary_2(batch, records, BarkerBound::Paper).unwrap().at(row.order())
        } else {
            let rate = Rate::new(row.number("q")).unwrap();
            Amplified::new(rate, Linear::gaussian(row.ratio())).at(row.order())
        };
        row.check(Bracket::at_most(divergence));
    }
}
