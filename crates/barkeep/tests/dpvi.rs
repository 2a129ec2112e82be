//! Holds the variational fit against the normal it should find, and starts chains from it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::model::{Banana, Bend, GaussianMean};
use barkeep::{Bill, Certificate, PlannedStart};
use written::{assert_unbiased, moments, plan, refusal, run, series, simulated};

const RECORDS: usize = 4000;

/// Two correlated coordinates: the mean field has the inverse of the precision's diagonal for variances.
fn spec(epsilon: f64, sampler: &str) -> String {
    format!(
        "[data]\npath = 'r.csv'\nrecords = {RECORDS}\n[data.columns]\n\
         x1 = {{ min = -50, max = 50, invalid = 0 }}\nx2 = {{ min = -50, max = 50, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_mean = [0.5, 0]\nprior_variance = 4\n\
         [privacy]\nepsilon = {epsilon}\ndelta = 1e-6\n[sampler]\n{sampler}\n"
    )
}

/// Fails unless repeated fits have the exact mean, and the mean field's standard deviations up to `slack`.
fn assert_finds(name: &str, text: &str, slack: f64) {
    let plan = plan(text).unwrap();
    let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    // Precision of one record: [[2, −0.6], [−0.6, 1]]/1.64.
    let sd = [2.0, 1.0].map(|x| (RECORDS as f64 * x / 1.64 + 0.25).sqrt().recip());
    let mut found = vec![[Vec::new(), Vec::new()]; 2];
    for seed in 0..24 {
        let (table, centre) = simulated(&plan, &[1.0, -1.0], 3);
        let (mean, _) = model.posterior(RECORDS as f64, 1.0, &centre).unwrap();
        for (j, draws) in series(&run(&plan, table, seed), 0).iter().enumerate() {
            let (m, s) = moments(draws);
            found[j][0].push((m - mean[j]) / sd[j]);
            found[j][1].push(s / sd[j]);
        }
    }
    for (j, [mean, spread]) in found.iter().enumerate() {
        assert_unbiased(&format!("{name}: mean {j}"), mean, 0.0, 0.0);
        assert_unbiased(&format!("{name}: sd {j}"), spread, 1.0, slack);
        // The noise is small enough for the comparison to mean something.
        assert!(moments(mean).1 < 0.5 && moments(spread).1 < 0.1, "{name}: {found:?}");
    }
}

#[test]
fn the_mean_field_of_a_normal_posterior_is_found() {
    assert_finds("all records", &spec(8.0, "name = 'dpvi'\nsteps = 4000\nstart = [0, 0]"), 0.0);
    assert_finds("batches", &spec(8.0, "name = 'dpvi'\nsteps = 4000\nbatch = 800\niterations = 200"), 0.0);
}

/// Fits at a small budget scatter about the posterior's mean by their noise, which is known: draws are wider by as much, and the
/// plan says so beforehand.
#[test]
fn widths_include_the_known_noise() {
    let plan = plan(&spec(0.5, "name = 'dpvi'\nsteps = 2000\nstart = [1, -1]")).unwrap();
    let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.5, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let sd = [2.0, 1.0].map(|x| (RECORDS as f64 * x / 1.64 + 0.25).sqrt().recip());
    let (mut scatter, mut width) = (Vec::new(), Vec::new());
    for seed in 0..40 {
        let (table, centre) = simulated(&plan, &[1.0, -1.0], 3);
        let (mean, _) = model.posterior(RECORDS as f64, 1.0, &centre).unwrap();
        for (j, draws) in series(&run(&plan, table, seed), 0).iter().enumerate() {
            let (m, s) = moments(draws);
            scatter.push(((m - mean[j]) / sd[j]).powi(2));
            width.push((s / sd[j]).powi(2));
        }
    }
    let (scatter, width) = (moments(&scatter).0, moments(&width).0);
    // Eighty squares of a normal have a mean within a third of its expectation, at two standard errors.
    assert!(scatter > 0.2, "noise that shows: {scatter}");
    assert!((width / (1.0 + scatter) - 1.0).abs() < 0.35, "{width} where 1 + {scatter} is expected");
    let expected = plan.expected().unwrap();
    assert!((0.5..2.0).contains(&(expected.error / scatter.sqrt())), "{expected:?} {scatter}");
    assert!((expected.width - width.sqrt()).abs() < 0.35 * width.sqrt(), "{expected:?} {width}");
}

#[test]
fn a_wrong_guess_of_the_scale_is_corrected_by_the_records() {
    // Guesses twice too large and a third too small; 1/sqrt of an average is biased by the noise it averages, well
    // below the slack, and the guess itself keeps a share of one iteration in some hundred.
    let guess = "scale = [0.0286, 0.021]\nclip = 20\niterations = 400\nrate = 0.2";
    assert_finds("guessed", &spec(100.0, &format!("name = 'dpvi'\nsteps = 4000\n{guess}")), 0.02);
}

const BARKER: &str =
    "name = 'barker'\nproposal_sd = 0.01\nclip = 0.05\nclip_scale = 'constant'\nchains = 2\n";

#[test]
fn chains_start_from_a_fit_they_have_paid_for() {
    for sampler in [
        BARKER.to_owned(),
        "name = 'langevin'\n".to_owned(),
        BARKER.replace("barker", "penalty") + "tau = 0.5\nlevel = 'release'\n",
        "name = 'dp-hmc'\ntau = 0.5\ntau_gradient = 1\nstep = 0.001\nclip = 3\nclip_gradient = 3\nreuse_gradient = true\n"
            .to_owned(),
    ] {
        let without = plan(&spec(2.0, &format!("{sampler}start = [1, -1]"))).unwrap();
        let with = plan(&spec(2.0, &format!("{sampler}start = {{ dpvi = {{ epsilon = 0.7 }} }}"))).unwrap();
        assert!(with.steps().0 < without.steps().0 && 2 * with.steps().0 > without.steps().0, "{} {}", with.steps().0, without.steps().0);
        let Some(Bill::Contract(contract)) = with.bill() else { panic!("a contract") };
        assert_eq!(contract.parts()[0].1.0, 100);
        let mut certificate = Certificate::of(&with);
        let (table, centre) = simulated(&with, &[1.0, -1.0], 5);
        let run = run(&with, table, 11);
        certificate.steps_used = Some(run.steps_used.clone());
        let epsilon = certificate.verify().unwrap().epsilon.get();
        assert!(epsilon <= 2.0 && epsilon > 1.9, "{epsilon}");
        assert!(run.steps_used.iter().all(|used| *used == with.steps().0));
        // The prior's mode is 30 standard deviations away; the fit's noise leaves about one.
        for chain in 0..with.chains() as usize {
            let first = [0, 1].map(|j| series(&run, chain)[j][0]);
            assert!((first[0] - centre[0]).abs() < 0.15 && (first[1] - centre[1]).abs() < 0.2, "{first:?}");
        }
    }
}

/// The steps asked for, or a word on why not: the fit is paid for from the same budget.
#[test]
fn sgld_after_a_fit_runs_what_was_asked_for_or_says_why_not() {
    let text = |step: &str| {
        let start = "start = { dpvi = { epsilon = 0.5 } }";
        spec(2.0, &format!("name = 'sgld'\nbatch = 100\nsteps = 50\nstep_size = {step}\nclip = 1\n{start}"))
    };
    let small = plan(&text("0.00001")).unwrap();
    assert_eq!(small.steps().0, 50);
    assert!(small.epsilon().unwrap().get() <= 2.0);
    match plan(&text("0.1")) {
        Ok(plan) => {
            let why = format!("asks for 50 steps of each chain; the budget buys {}", plan.steps().0);
            let said = plan.warnings().iter().any(|warning| warning.contains(&why));
            assert!(plan.steps().0 == 50 || said, "{} steps", plan.steps().0);
        }
        Err(error) => assert!(error.to_string().contains("budget"), "{error}"),
    }
}

#[test]
fn a_fit_starts_where_the_spec_says() {
    let text = "start = { dpvi = { epsilon = 0.5, from = [3, 4], iterations = 50 } }";
    let plan = plan(&spec(2.0, &format!("{BARKER}{text}"))).unwrap();
    let PlannedStart::Fit(fit) = plan.start() else { panic!("a fit") };
    assert_eq!(fit.from, [3.0, 4.0]);
}

#[test]
fn faults_are_refused_with_the_reason() {
    let start = |inside: &str| refusal(&spec(1.0, &format!("{BARKER}start = {{ {inside} }}")));
    assert!(start("dpvi = { epsilon = 1 }").contains("`sampler.start.dpvi.epsilon`: must be below"));
    assert!(start("dpvi = { }").contains("`sampler.start.dpvi.epsilon`: is required"));
    assert!(start("dpv = { epsilon = 0.1 }").contains("did you mean `dpvi`?"));
    assert!(start("dpvi = { epsilon = 0.1, form = [1, 2] }").contains("did you mean `from`?"));
    assert!(start("dpvi = { epsilon = 0.1, from = [1] }").contains("must hold 2 numbers"));
    assert!(start("dpvi = { epsilon = 0.1, rate = 2 }").contains("`sampler.start.dpvi.rate`"));
    assert!(start("dpvi = { epsilon = 0.1, batch = 5000 }").contains("at most data.records, 4000"));
    assert!(start("dpvi = { epsilon = 0.99999 }").contains("does not buy one step for each of 2 chains"));
    let gaussian = BARKER.replace("clip_scale = 'constant'", "proposal = 'gaussian'");
    let varying = refusal(&spec(1.0, &format!("{gaussian}start = {{ dpvi = {{ epsilon = 0.1 }} }}")));
    assert!(varying.contains("steps whose price varies"), "{varying}");
    let own = refusal(&spec(1.0, "name = 'dpvi'\nstart = { dpvi = { epsilon = 0.1 } }"));
    assert!(own.contains("do not depend on a start"), "{own}");
    assert!(refusal(&spec(1.0, "name = 'dpvi'\niterations = 1")).contains("`sampler.iterations`"));
    assert!(refusal(&spec(1.0, "name = 'dpvi'\nscale = [1, -1]")).contains("`sampler.scale`"));
    assert!(refusal(&spec(1.0, "name = 'dpvi'\nchains = 2")).contains("`sampler.chains`"));
    let secret =
        spec(1.0, "name = 'dpvi'").replace("delta = 1e-6", "delta = 1e-6\nneighbours = 'add-remove'");
    assert!(refusal(&secret).contains("number of records"));
    let baseline = spec(1.0, "name = 'dpvi'").replace("epsilon = 1\ndelta = 1e-6", "private = false");
    assert!(refusal(&baseline).contains("private sampler"));
    let flat = spec(1.0, "name = 'dpvi'")
        .replace(
            "name = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_mean = [0.5, 0]\nprior_variance = 4",
            "name = 'circle'",
        )
        .replace("x2 = { min = -50, max = 50, invalid = 0 }\n", "");
    assert!(refusal(&flat).contains("`sampler.scale`: is required"), "{}", refusal(&flat));
}

/// From the prior's mode a bent posterior is hundreds of its own spreads away, and the bend differs between a mean and a draw.
#[test]
fn a_fit_finds_a_bent_posterior_from_afar() {
    let text = "[data]\npath = 'r.csv'\nrecords = 20000\n[data.columns]\n\
         x1 = { min = -50, max = 50, invalid = 0 }\nx2 = { min = -50, max = 50, invalid = 0 }\n\
         [model]\nname = 'banana'\n[privacy]\nepsilon = 4\ndelta = 1e-6\n[sampler]\nname = 'dpvi'\nsteps = 200\n";
    let plan = plan(text).unwrap();
    let model = Banana::new(Bend { a: 20.0, b: 0.0, m: 0.0 }, &[20.0, 2.5], 1000.0).unwrap();
    for seed in 0..8 {
        let (table, centre) = simulated(&plan, &[0.0, 3.0], 3);
        let (exact, covariance) = model.posterior(20000.0, 1.0, &centre).moments();
        for (j, draws) in series(&run(&plan, table, seed), 0).iter().enumerate() {
            let off = (moments(draws).0 - exact[j]) / covariance[3 * j].sqrt();
            assert!(off.abs() < 2.0, "seed {seed}, parameter {j}: {off} posterior sd away");
        }
    }
}
