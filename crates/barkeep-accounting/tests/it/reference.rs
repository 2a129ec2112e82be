//! Checks every row of the reference values: within its tolerance, and inside our bracket.
//!
//! `reference/accounting.json` holds values computed elsewhere at high precision (mpmath, arb, contour integrals in long
//! double); its conventions are explained in `reference/README.md`.

use barkeep_accounting::pld::{Accuracy, Composition, DominatingPair as Pair};
use barkeep_accounting::renyi::{Amplified, Curve, Linear};
use barkeep_accounting::theorems::barker::{BarkerTest, corollary_2};
use barkeep_accounting::{
    BarkerBound, Bracket, Delta, Epsilon, GaussianRun, Neighbours, Order, Probability, Query, Rate, Ratio,
    Renyi, Rho, Sampling, Steps, Variance,
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
    let all: Vec<Value> = serde_json::from_str(include_str!("../reference/accounting.json")).unwrap();
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
        let run = GaussianRun::new(ratio, row.steps()).unwrap();
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
        let run = GaussianRun::new(row.ratio(), row.steps()).unwrap();
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
        let most = GaussianRun::largest_steps(row.ratio(), row.epsilon(), row.delta()).unwrap();
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

/// The mechanism behind a pair of subsampled Gaussians, see `reference/README.md`.
fn sampled(row: &Row) -> Query {
    let rate = row.number("q");
    let poisson = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
    let batches = Sampling::WithoutReplacement { batch: (rate * 1e6).round() as u64, records: 1_000_000 };
    let (sensitivity, sampling, neighbours) = match row.text("pair").split([':', ' ']).next().unwrap() {
        "R" => (1.0, poisson, Neighbours::AddRemove),
        "R2" => (2.0, poisson, Neighbours::AddRemove),
        "S" => (2.0, poisson, Neighbours::Substitute),
        "Z1" => (1.0, batches, Neighbours::Substitute),
        "Z2" => (2.0, batches, Neighbours::Substitute),
        other => panic!("unknown pair {other}"),
    };
    Query::gaussian(Ratio::new(row.number("sigma") / sensitivity).unwrap(), sampling, neighbours).unwrap()
}

fn is_added(row: &Row) -> bool {
    row.text("pair").starts_with("A:")
}

/// The truth lies inside, and the ends are no further apart than asked for.
fn check_between(row: &Row, value: f64, bracket: Bracket, accuracy: f64) {
    let lower = bracket.lower.unwrap();
    assert!(lower <= value && value <= bracket.upper, "{}: {bracket:?}", row.0);
    assert!(bracket.upper - lower <= accuracy * value, "{}: {bracket:?}", row.0);
}

#[test]
fn epsilon_of_subsampled_gaussians() {
    let rows = rows(|row| kind(row) == "eps" && row.has("pair") && !is_added(row));
    assert_eq!(rows.len(), 32);
    for row in rows.iter().map(Row) {
        let answer = sampled(&row).epsilon(row.steps(), row.delta()).unwrap();
        check_between(&row, row.value(), answer.bracket, 1.1e-5);
    }
}

/// One record added: N(0) against (1−q)N(0) + qN(1), by itself, as a curve δ(ε) given from outside.
#[test]
fn epsilon_of_added_records() {
    let rows = rows(|row| kind(row) == "eps" && is_added(row));
    assert_eq!(rows.len(), 4);
    for row in rows.iter().map(Row) {
        let (rate, sigma) = (row.number("q"), row.number("sigma"));
        // P > aM where 1 > a(1−q+qL), L = e^((2x−1)/(2σ²)): below some x.
        let added = move |epsilon: f64| {
            let a = epsilon.exp();
            let ratio = (1.0 / a - (1.0 - rate)) / rate;
            if ratio <= 0.0 {
                return (0.0, 0.0);
            }
            let edge = sigma * sigma * ratio.ln() + 0.5;
            let (base, moved) =
                (barkeep_num::normal_cdf(edge / sigma), barkeep_num::normal_cdf((edge - 1.0) / sigma));
            let delta = base - a * ((1.0 - rate) * base + rate * moved);
            let rounding = 1e-15 * (base + a);
            ((delta - rounding).max((1.0 - a).max(0.0)), (delta + rounding).min(1.0))
        };
        let run = Composition::new().and(&Pair::from_function(added), row.steps());
        let bracket = run.epsilon(row.delta(), Accuracy::new(1e-4).unwrap()).unwrap();
        check_between(&row, row.value(), bracket, 1e-3);
        // Removing a record is worse, and is what a query reports.
        let poisson = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
        let query = Query::gaussian(row.ratio(), poisson, Neighbours::AddRemove).unwrap();
        assert!(query.epsilon(row.steps(), row.delta()).unwrap().bracket.upper > row.value());
    }
}

fn check_largest(count: usize, belongs: impl Fn(&Row) -> bool) {
    let rows = rows(|row| kind(row) == "max_k" && row.has("pair") && belongs(row));
    assert_eq!(rows.len(), count);
    for row in rows.iter().map(Row) {
        let most = sampled(&row).largest_steps(row.epsilon(), row.delta()).unwrap();
        assert_eq!(most.0 as f64, row.value(), "{}", row.0);
    }
}

#[test]
fn largest_steps_of_subsampled_gaussians() {
    check_largest(7, |row| row.value() < 10_000.0);
}

/// δ of one step more and one less differ from 1e-6 by 7e-5 of it only, which takes a fine lattice.
#[test]
#[ignore = "slow: cargo test --release -p barkeep-accounting --test it reference -- --ignored"]
fn largest_steps_of_subsampled_gaussians_at_a_close_call() {
    check_largest(1, |row| row.value() > 10_000.0);
}

/// The reference takes 0.49 for 49 hundredths, our bracket for the nearest f64, and is narrower than the difference. A decimal lies
/// between the neighbours of its f64, and δ grows with the distance of p and q: so does the truth.
#[test]
fn delta_of_bits() {
    let rows = rows(|row| kind(row) == "delta" && row.text("mech").starts_with("Bern"));
    assert_eq!(rows.len(), 8);
    for row in rows.iter().map(Row) {
        let (p, q) = (row.number("p"), row.number("p_prime"));
        let (low, high) = (p.min(q), p.max(q));
        let between = |low: f64, high: f64, epsilon: f64| {
            let query =
                Query::bernoulli(Probability::new(low).unwrap(), Probability::new(high).unwrap()).unwrap();
            query.delta(row.steps(), Epsilon::new(epsilon).unwrap()).unwrap().bracket
        };
        let epsilon = row.number("eps");
        let closer = between(low.next_up(), high.next_down(), epsilon.next_up());
        let further = between(low.next_down(), high.next_up(), epsilon.next_down());
        let both = row.0["value"].as_array().unwrap();
        let worse = number(&both[0]).max(number(&both[1]));
        check_between(&row, worse, Bracket::new(closer.lower.unwrap(), further.upper), 1e-11);
        let ours = between(low, high, epsilon);
        assert!(ours.upper - ours.lower.unwrap() <= number(&row.0["tolerance"]) * worse);
    }
}

#[test]
fn delta_of_discrete_gaussians() {
    let rows = rows(|row| kind(row) == "delta" && row.text("mech").starts_with("discrete"));
    assert_eq!(rows.len(), 6);
    for row in rows.iter().map(Row) {
        let variance = Variance::new(row.number("sigma2")).unwrap();
        let query = Query::discrete_gaussian(variance, row.number("sensitivity") as u64).unwrap();
        let answer = query.delta(row.steps(), row.epsilon()).unwrap();
        check_between(&row, row.value(), answer.bracket, 1e-6);
    }
}
