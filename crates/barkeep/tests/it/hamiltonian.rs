//! Holds the plans of `dp-hmc` to the thesis' iterations, and its refusals to their reasons.

use barkeep::accounting::Steps;
use barkeep::curator::Level;
use barkeep::{Fact, Plan, Spec};

/// A plan of dp-hmc for a thesis model: what a person would write.
fn plan(records: u64, epsilon: f64, sampler: &str) -> Result<Plan, barkeep::Error> {
    let text = format!(
        "[data]\npath = 'r.csv'\nrecords = {records}\n[data.columns]\n\
         x1 = {{ min = -100, max = 100, invalid = 0 }}\nx2 = {{ min = -100, max = 100, invalid = 0 }}\n\
         [model]\nname = 'banana'\n[privacy]\nepsilon = {epsilon}\ndelta = {}\n\
         [sampler]\nname = 'dp-hmc'\nstart = [0, 3]\n{sampler}\n",
        0.1 / records as f64
    );
    Plan::new(Spec::parse(&text, std::path::Path::new(".")).unwrap())
}

#[test]
fn plans_buy_the_thesis_iterations() {
    // Table A3 of the experiments: records, tau, tau_gradient, leapfrog, and steps at epsilon = 1, 2, 4, 6.
    let table = [
        ("flat banana, 2", 100_000, 0.1, 0.4, 10, [33, 119, 416, 848]),
        ("tempered, 2", 100_000, 0.2, 0.6, 10, [100, 361, 1263, 2576]),
        ("flat banana, 10", 200_000, 0.05, 0.2, 10, [15, 56, 197, 403]),
        ("tempered, 10", 200_000, 0.08, 0.2, 10, [24, 87, 308, 631]),
        ("gauss, 30", 200_000, 0.05, 0.1, 5, [10, 37, 133, 272]),
        ("narrow banana", 150_000, 0.15, 0.25, 5, [57, 207, 726, 1484]),
        ("correlated gauss", 200_000, 0.05, 0.2, 8, [16, 60, 213, 436]),
        ("circle", 100_000, 0.6, 1.9, 40, [396, 1422, 4966, 10124]),
    ];
    for (name, records, tau, tau_gradient, leapfrog, steps) in table {
        for (epsilon, steps) in [1.0, 2.0, 4.0, 6.0].into_iter().zip(steps) {
            let sampler = format!(
                "tau = {tau}\ntau_gradient = {tau_gradient}\nleapfrog = {leapfrog}\nstep = 0.001\n\
                 clip = 2.0\nclip_gradient = 1.0"
            );
            let plan = plan(records, epsilon, &sampler).unwrap();
            assert_eq!(plan.steps().0, steps, "{name} at {epsilon}");
            assert!(plan.epsilon().unwrap().get() <= epsilon);
        }
    }
}

const RELEASE: &str = "tau = 0.1\ntau_gradient = 0.4\nstep = 0.0005\nclip = 2.0\nclip_gradient = 1.0\n";

#[test]
fn a_kept_gradient_is_paid_for_once() {
    let fresh = plan(100_000, 4.0, RELEASE).unwrap();
    let kept = plan(100_000, 4.0, &format!("{RELEASE}reuse_gradient = true")).unwrap();
    // rho of a proposal: 1/(2·0.01n) + 11/(2·0.16n) against 10 of the latter, and one more at the start.
    let expected = 416.0 * (100.0 + 11.0 / 0.16) / (100.0 + 10.0 / 0.16);
    assert!((kept.steps().0 as f64 - expected).abs() < 2.0, "{} against {expected}", kept.steps().0);
    assert!(fresh.steps().0 == 416 && kept.epsilon().unwrap().get() <= 4.0);
}

/// Friction changes the path and the test, not the price.
#[test]
fn friction_is_free() {
    let with = plan(100_000, 4.0, &format!("{RELEASE}friction = true")).unwrap();
    assert_eq!(with.steps().0, 416);
    // B = η²σ²/4 with σ = 2·0.4·√n·1.
    let expected = 0.25 * (0.0005 * 0.8 * 100_000_f64.sqrt()).powi(2);
    let found = with.fact("friction").and_then(Fact::as_number).unwrap();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} against {expected}");
}

/// Gradients on batches are amplified, the test is not: between the steps that gradients of the same ratio on all records buy, and those of
/// the tests alone.
#[test]
fn batches_of_gradients_are_amplified() {
    let steps = |keys: &str| plan(10_000, 1.0, keys).unwrap().steps().0;
    let keys = "tau = 0.2\nstep = 0.0005\nclip = 2.0\nclip_gradient = 1.0\nleapfrog = 2\n";
    // A ratio of 8 either way.
    let (batch, full) = ("batch = 100\ntau_gradient = 0.8\n", "tau_gradient = 0.08\n");
    let [amplified, plain, tests] =
        [batch, full, "tau_gradient = 10\n"].map(|gradients| steps(&format!("{keys}{gradients}")));
    assert!(plain < 3 && 4 * plain < amplified && amplified <= tests, "{plain}, {amplified}, {tests}");
}

#[test]
fn a_bit_costs_less_than_the_noise_behind_it() {
    // At release level the budget buys 33, whatever the clip.
    let constant = RELEASE.replace("clip = 2.0", "clip = 0.01");
    let decision = plan(100_000, 1.0, &format!("{constant}level = 'decision'")).unwrap();
    let decision = decision.compare_levels().unwrap();
    assert!(decision.steps().0 > 33 && decision.epsilon().unwrap().get() <= 1.0, "{}", decision.steps().0);
    let release = decision.affordable().iter().find(|found| found.level == Level::Release).unwrap();
    assert_eq!(release.steps, Steps(33));
}

#[test]
fn faults_are_refused_with_the_reason() {
    let with = |extra: &str| plan(100_000, 1.0, &format!("{RELEASE}{extra}")).err().unwrap().to_string();
    assert!(with("level = 'decision'\nclip_scale = 'distance'").contains("known only after its gradients"));
    assert!(with("keep = 0.5").contains("`sampler.keep`: has a meaning for rule = \"lazy-barker\" only"));
    assert!(with("mass = [1, -1]").contains("`sampler.mass`"));
    assert!(with("mass = [[1, 2], [2, 1]]").contains("`sampler.mass`"));
    assert!(with("leapfrog = 0").contains("`sampler.leapfrog`"));
    assert!(with("rule = 'metropolis'").contains("`sampler.rule`: must be one of"));
    assert!(with("batch = 100001").contains("`sampler.batch`"));
    assert!(with("friction = true\nbatch = 1000").contains("which records a batch held"));
    assert!(
        with("friction = true\nreuse_gradient = true").contains("`sampler.friction`: needs a fresh gradient")
    );
    assert!(with("friction = true\nmass = [[2, 1], [1, 2]]").contains("not a full matrix"));
    let without =
        |old: &str, new: &str| plan(100_000, 1.0, &RELEASE.replace(old, new)).err().unwrap().to_string();
    assert!(without("tau = 0.1\n", "").contains("`sampler.tau`: is required"));
    assert!(without("tau_gradient = 0.4\n", "").contains("`sampler.tau_gradient`: is required"));
    assert!(without("tau = 0.1\n", "rule = 'barker'\nlevel = 'release'\n").contains("nothing to release"));
    assert!(without("clip_gradient = 1.0", "clip_gradient = 1e30").contains("`sampler.clip_gradient`"));
}

/// Where the spec gives no step, it follows from the model's information and the gradients' noise: for one mean of n records of variance 1 the mass is
/// n, a step is in posterior standard deviations, and noise of standard deviation σ brings a path a heat of ½(L − ½)η²σ²/n.
#[test]
fn a_step_that_is_not_given_follows_from_public_facts() {
    let step = |tau: f64, tau_gradient: f64, friction: bool| {
        let text = format!(
            "[data]\npath = 'r.csv'\nrecords = 10000\n[data.columns]\nx = {{ min = -100, max = 100, invalid = 0 }}\n\
             [model]\nname = 'gaussian'\nprior_variance = 1e6\n[privacy]\nepsilon = 8\ndelta = 1e-6\n\
             [sampler]\nname = 'dp-hmc'\nstart = [0]\ntau = {tau}\ntau_gradient = {tau_gradient}\nclip = 3\nclip_gradient = 3\n\
             leapfrog = 5\nfriction = {friction}\n",
        );
        let plan = Plan::new(Spec::parse(&text, std::path::Path::new(".")).unwrap()).unwrap();
        plan.fact("step").and_then(Fact::as_number).unwrap()
    };
    // σ = 2·3·τ_g·√n.
    let warm = |tau_gradient: f64| (2.0 / (4.5 * (6.0 * tau_gradient).powi(2))).sqrt();
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-4, "{found}, {expected}");
    near(step(0.05, 0.5, true), 0.4);
    near(step(0.05, 0.5, false), warm(0.5));
    near(step(0.05, 0.1, false), 0.4);
    // The test's noise is 2·3·τ per posterior standard deviation, and a path is 5η long.
    near(step(0.5, 0.5, true), 2.0 / (5.0 * 3.0));
    // A model without information needs one.
    let without = RELEASE.replace("step = 0.0005\n", "mass = [[2, 1], [1, 2]]\n");
    assert!(plan(100_000, 1.0, &without).err().unwrap().to_string().contains("`sampler.step`: is required"));
}
