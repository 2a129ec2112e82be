//! Holds the line to the lattice, which computes the same another way.

use std::sync::Arc;

use barkeep_num::convolution::Planner;

use super::super::atoms::Losses;
use super::super::composer::{Composer, Fineness};
use super::super::normal::{Kind, NormalPair, WithoutReplacement};
use super::super::plan::Target;
use super::super::query::Query;
use super::super::work::Work;
use super::*;

fn steps(losses: impl Losses + 'static, steps: u64) -> Step {
    Step { losses: Arc::new(losses), steps }
}

/// Bounds of ln δ at the ε planned for a ln δ: by a line, if it resolves, and by a lattice.
fn both(steps: &[Step], log_delta: f64) -> (Option<(f64, f64)>, (f64, f64)) {
    let work = Work::new();
    let model = Query::new(steps, log_delta, &work).unwrap().into_model();
    let plan = model.plan(Target::LogDelta(log_delta));
    let epsilon = plan.saddle.epsilon;
    let line = Line::new(steps, &plan, 1e-7, 0).map(|line| line.log_delta(epsilon));
    let count: f64 = steps.iter().map(|step| step.steps as f64).sum();
    let tilt = plan.saddle.tilt;
    let step = (4e-3 / (tilt * (1.0 + tilt) * count)).sqrt();
    let fineness = Fineness { step, tolerance: 1e-6, concentrated: false };
    let bounds = Composer::new(steps, &plan, fineness, &mut Planner::default(), &work).unwrap().compose(1);
    (line, (bounds.lower.log_delta(epsilon), bounds.upper.log_delta(epsilon)))
}

fn check(name: &str, steps: &[Step], log_delta: f64) {
    let (line, lattice) = both(steps, log_delta);
    let (lower, upper) = line.unwrap_or_else(|| panic!("{name}: no line"));
    assert!(upper - lower < 3e-6 && lower < upper, "{name}: {lower} to {upper}");
    assert!(lower <= lattice.1 && lattice.0 <= upper, "{name}: {lower} to {upper}, lattice {lattice:?}");
    assert!(lattice.1 - lattice.0 < 0.1, "{name}: {lattice:?}");
}

#[test]
fn line_and_lattice_agree() {
    for (ratio, rate, count, log_delta) in [
        (3.0, 0.003, 500_u64, -14.0),
        (1.0, 0.02, 300, -11.5),
        (0.9, 0.03, 2000, -16.0),
        (1.5, 3e-4, 2000, -18.0),
        (4.7, 7e-4, 27_000, -15.0),
        (0.8, 0.01, 400, -12.0),
        (8.0, 0.9, 40, -10.0),
        (2.0, 0.3, 30, -30.0),
        (1.2, 0.05, 200, -100.0),
    ] {
        let pair = |kind| NormalPair::new(kind, 1.0 / ratio, rate);
        check(&format!("remove {ratio} {rate}"), &[steps(pair(Kind::Remove), count)], log_delta);
        check(&format!("add {ratio} {rate}"), &[steps(pair(Kind::Add), count)], log_delta);
        let batches = WithoutReplacement::new(1.0 / ratio, rate);
        check(&format!("batches {ratio} {rate}"), &[steps(batches, count)], log_delta);
    }
}

#[test]
fn several_kinds_share_a_line() {
    let sampled = steps(NormalPair::new(Kind::Remove, 0.8, 0.01), 700);
    let other = steps(NormalPair::new(Kind::Remove, 0.3, 0.05), 200);
    let whole = steps(NormalPair::new(Kind::Remove, 0.4, 1.0), 1);
    check("three kinds", &[sampled, other, whole], -13.0);
}

/// Without what is charged, the two bounds would be one: each charge is seen in one of them.
#[test]
fn bounds_are_apart_by_what_is_charged() {
    let steps = [steps(NormalPair::new(Kind::Remove, 1.0, 0.01), 500)];
    let work = Work::new();
    let plan = Query::new(&steps, -14.0, &work).unwrap().into_model().plan(Target::LogDelta(-14.0));
    let width = |tolerance: f64| {
        let (lower, upper) = Line::new(&steps, &plan, tolerance, 0).unwrap().log_delta(plan.saddle.epsilon);
        (upper - lower) / tolerance
    };
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let width = width(tolerance);
        assert!((1e-3..3.0).contains(&width), "{tolerance}: {width} times that");
    }
}

/// Fewer steps than a line can resolve are left to the lattice.
#[test]
fn one_rare_step_has_no_line() {
    let rare = [steps(NormalPair::new(Kind::Remove, 1.6, 1e-4), 2)];
    assert!(both(&rare, -18.0).0.is_none());
}
