//! Holds Hamiltonian kernels against posteriors known in closed form, with exact and with very noisy gradients, and
//! their plans against the thesis' iterations.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod closed_form;

use barkeep::accounting::theorems::thesis::VarianceSensitivity;
use barkeep::accounting::{Neighbours, Ratio, Rule, Sampling, Steps};
use barkeep::curator::{Clip, Level, Temper};
use barkeep::model::{Banana, Bend, GaussianMean};
use barkeep::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use barkeep::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement};
use barkeep::{Plan, Spec};
use closed_form::{RECORDS, assert_moments, follow, records};
use std::sync::Arc;

const STEPS: usize = 40_000;

/// A path whose gradients have noise `sigma` on a sum of about 6 per posterior standard deviation.
fn path(mass: &[f64], step: f64, leapfrog: u64, sigma: f64, reuse: bool) -> Path {
    Path {
        mass: Mass::new(mass, 2).unwrap(),
        step,
        leapfrog,
        temper: Temper::NONE,
        clip: Clip::new(50.0).unwrap(),
        sigma,
        reuse,
    }
}

fn judgement(acceptance: Acceptance, temper: Temper) -> Judgement {
    Judgement {
        // No log-ratio of these records comes near it: clipping is not active.
        clip: ClipBound::Constant(50.0),
        acceptance,
        temper,
        batch: Sampling::Full,
        neighbours: Neighbours::Substitute,
        level: Level::Decision,
    }
}

#[test]
fn a_gaussian_posterior_is_sampled_whatever_mass_noise_rule_or_reuse() {
    let model = || GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let identity = [1.0, 0.0, 0.0, 1.0];
    let (light, dense) = ([30.0, 0.0, 0.0, 20.0], [49.0, -15.0, -15.0, 25.0]);
    let fixed = Acceptance::Fixed;
    let lazy = Rule::Lazy { keep: 0.7, rule: Box::new(Rule::Barker) };
    let by_ratio =
        Acceptance::PenaltyRatio { ratio: Ratio::new(0.008).unwrap(), variance: VarianceSensitivity::Tight };
    let cases = [
        ("exact gradients", path(&identity, 0.05, 5, 0.0, false), fixed(Rule::Metropolis)),
        ("exact gradients, kept", path(&identity, 0.05, 5, 0.0, true), fixed(Rule::Metropolis)),
        ("diagonal mass", path(&light, 0.4, 3, 0.0, true), fixed(Rule::Metropolis)),
        ("dense mass", path(&dense, 0.5, 3, 0.0, true), fixed(Rule::Metropolis)),
        ("noisy gradients", path(&identity, 0.06, 4, 4.0, false), fixed(Rule::Barker)),
        ("noisy gradients, dense mass", path(&dense, 0.4, 3, 3.0, false), by_ratio),
        ("very noisy gradients", path(&light, 0.3, 1, 10.0, false), fixed(lazy)),
        ("noisy gradients, kept", path(&identity, 0.06, 3, 4.0, true), fixed(Rule::Barker)),
        (
            "noisy gradients, one leap, kept",
            path(&identity, 0.15, 1, 8.0, true),
            fixed(Rule::Penalty { sigma: 1.0 }),
        ),
    ];
    for (seed, (name, path, acceptance)) in cases.into_iter().enumerate() {
        let (table, data_mean) = records(&model(), &[1.0, -1.0]);
        let (mean, covariance) = model().posterior(RECORDS as f64, 1.0, &data_mean).unwrap();
        let model = Arc::new(model());
        let judgement = judgement(acceptance, Temper::NONE);
        let series = follow(Arc::clone(&model), table, &mean, STEPS, 1 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(name, &series, &mean, &covariance);
    }
}

#[test]
fn clipped_and_noisy_gradients_leave_a_tempered_banana_in_place() {
    let temper = Temper::new(0.5).unwrap();
    for (seed, (clip, sigma, reuse)) in
        [(50.0, 0.0, false), (0.4, 2.0, false), (0.4, 2.0, true)].into_iter().enumerate()
    {
        let model = Banana::new(Bend { a: 0.7, b: 0.1, m: 0.2 }, &[2.0, 1.0], 25.0).unwrap();
        let (table, data_mean) = records(&model, &[0.4, 1.0]);
        let (mean, covariance) = model.posterior(RECORDS as f64, 0.5, &data_mean).moments();
        let path = Path {
            temper,
            clip: Clip::new(clip).unwrap(),
            ..path(&[1.0, 0.0, 0.0, 1.0], 0.15, 4, sigma, reuse)
        };
        let model = Arc::new(model);
        let judgement = judgement(Acceptance::Fixed(Rule::Barker), temper);
        let series = follow(Arc::clone(&model), table, &mean, STEPS, 70 + seed as u64, |_| {
            Box::new(Hamiltonian::new(model, path, judgement))
        });
        assert_moments(&format!("clip {clip}, noise {sigma}, reuse {reuse}"), &series, &mean, &covariance);
    }
}

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
    let without =
        |old: &str, new: &str| plan(100_000, 1.0, &RELEASE.replace(old, new)).err().unwrap().to_string();
    assert!(without("tau = 0.1\n", "").contains("`sampler.tau`: is required"));
    assert!(without("tau_gradient = 0.4\n", "").contains("`sampler.tau_gradient`: is required"));
    assert!(without("tau = 0.1\n", "rule = 'barker'\nlevel = 'release'\n").contains("nothing to release"));
    assert!(without("clip_gradient = 1.0", "clip_gradient = 1e30").contains("`sampler.clip_gradient`"));
}
