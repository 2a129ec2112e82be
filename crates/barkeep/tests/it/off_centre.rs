//! Runs diffusions on columns that fill a corner of their bounds, where a whitening that guesses is too soft: steps of the default
//! rule arrive, steps of 1 swing about the posterior, and the verdict tells them apart.

use barkeep::data::Records;
use barkeep::diagnostics::Grade;
use barkeep::insecure::Insecure;
use barkeep::{Plan, Run, Simulation, Spec};
use std::path::Path;

const RECORDS: u64 = 1500;
const THETA: [f64; 4] = [0.3, 0.4, -0.2, -2.5];

/// A regression with heavy tails on two columns; `typical` says where they lie, for whoever may know.
fn spec(folder: &Path, typical: &str, sampler: &str) -> Spec {
    let text = format!(
        "[data]\npath = 'r.csv'\nrecords = {RECORDS}\n[data.columns]\n\
         y = {{ min = -1, max = 1, invalid = 0, scale = 'bounds' }}\n\
         a = {{ min = 0, max = 10, invalid = 1, scale = 'bounds'{typical} }}\n\
         b = {{ min = 0, max = 10, invalid = 1, scale = 'bounds'{typical} }}\n\
         [model]\nformula = 'y ~ a + b'\nfamily = 'student_t'\n\
         [privacy]\nepsilon = 30\ndelta = 1e-6\n[sampler]\nname = 'langevin'\nseed = 4\n{sampler}\n"
    );
    Spec::parse(&text, folder).unwrap()
}

/// A run on records whose columns lie from 0 to 2.
fn run(typical: &str, sampler: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let simulation = Simulation::of_spec(&spec(folder.path(), ", typical = [0, 2]", ""));
    simulation.write_csv(&folder.path().join("r.csv"), b',', &THETA, Records(RECORDS), 8).unwrap();
    let plan = Plan::new(spec(folder.path(), typical, sampler)).unwrap();
    let table = plan.read_records(&mut |_| {}).unwrap();
    plan.runner().insecure(Insecure::seed(2)).run(table).unwrap()
}

/// Mean of the last parameter, the log-scale.
fn log_scale(run: &Run) -> f64 {
    run.summary().parameters.last().unwrap().mean.unwrap()
}

#[test]
fn steps_of_the_default_rule_arrive_at_the_scale() {
    let run = run("", "");
    let (found, verdict) = (log_scale(&run), &run.summary().verdict);
    // A posterior sd is 0.024, and the Monte Carlo error of slow directions shows in the residuals.
    assert!((found - THETA[3]).abs() < 0.1, "{found}: {verdict}");
}

#[test]
fn steps_of_one_do_not_arrive_and_are_not_trusted() {
    let run = run("", "step = 1");
    let (found, verdict) = (log_scale(&run), &run.summary().verdict);
    assert!((found - THETA[3]).abs() > 0.5, "{found}: {verdict}");
    assert_eq!(verdict.grade, Grade::NotToBeTrusted, "{verdict}");
    let force = verdict.checks.iter().find(|check| check.key == "force").unwrap();
    assert_eq!(force.grade, Grade::NotToBeTrusted, "{verdict}");
}

#[test]
fn whoever_declares_what_is_typical_gets_a_posterior_to_trust() {
    let run = run(", typical = [0, 2]", "");
    let (found, verdict) = (log_scale(&run), &run.summary().verdict);
    assert!((found - THETA[3]).abs() < 0.07, "{found}: {verdict}");
    assert_eq!(verdict.grade, Grade::Trustworthy, "{verdict}");
}
