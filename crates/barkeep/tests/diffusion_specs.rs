//! Plans diffusions from specs: what the rules choose, what is warned of, what is refused, and that the bill adds up.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::curator::Level;
use barkeep::{Bill, Certificate, Plan, Spec};
use std::path::Path;

fn spec(records: u64, model: &str, privacy: &str, sampler: &str) -> Result<Plan, String> {
    let text = format!(
        "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\nx1 = {{ min = -50, max = 50, invalid = 0 }}\n\
         x2 = {{ min = -50, max = 50, invalid = 0 }}\n[model]\n{model}\n[privacy]\n{privacy}\n[sampler]\n{sampler}\n"
    );
    let spec = Spec::parse(&text, Path::new("")).map_err(|error| error.to_string())?;
    Plan::new(spec).map_err(|error| error.to_string())
}

const BUDGET: &str = "epsilon = 1.0\ndelta = 1e-6";

fn banana(sampler: &str) -> Result<Plan, String> {
    spec(100_000, "name = 'banana'", BUDGET, sampler)
}

fn fact<'a>(plan: &'a Plan, name: &str) -> &'a str {
    &plan.facts.iter().find(|(found, _)| *found == name).unwrap().1
}

#[test]
fn the_rule_needs_a_name_and_a_start() {
    for (sampler, expected) in [("langevin", 659), ("underdamped", 502)] {
        let plan = banana(&format!("name = '{sampler}'\nstart = [0, 3]")).unwrap();
        // τ·w² = μ²n/T with w = √2 + 1.5; a step with momentum costs (1+c)/(1−c) = 1.313 times as much.
        assert_eq!(plan.steps, expected, "{sampler}");
        assert_eq!((plan.burn_in, plan.premises.level), (10, Level::Release));
        assert!(fact(&plan, "preconditioner").contains("wherever the chain is"));
        assert!(plan.warnings.is_empty(), "{:?}", plan.warnings);
        let error = if sampler == "langevin" { "0.078 posterior sd" } else { "0.089 posterior sd" };
        assert_eq!(fact(&plan, "expected error of a mean"), error);
        let certificate = Certificate::of(&plan, false);
        assert!(certificate.verify().unwrap().upper <= 1.0);
        assert!(certificate.released.iter().any(|released| released.contains("noisy sum")));
        let Some(Bill::Contract(contract)) = &plan.bill else { panic!("not a contract") };
        assert_eq!(contract.parts().len(), 1);
    }
}

#[test]
fn nothing_need_be_said_of_the_sampler() {
    let plan = banana("").unwrap();
    assert_eq!((plan.preset.name, plan.steps), ("langevin", 659));
    assert_eq!(
        plan.start,
        barkeep::start::Start::Given(vec![barkeep::sampler::State {
            at: vec![0.0, 0.0],
            log_prior: plan.spec.model.log_prior(&[0.0, 0.0]),
        }])
    );
    let baseline = spec(1000, "name = 'banana'", "private = false", "").err().unwrap();
    assert!(baseline.contains("`sampler.name`: is required"), "{baseline}");
}

#[test]
fn time_is_what_is_paid_for() {
    let steps =
        |step: &str| banana(&format!("name = 'langevin'\nstart = [0, 3]\nstep = {step}")).unwrap().steps;
    let (whole, half) = (steps("1"), steps("0.25"));
    assert!((4 * whole..=4 * whole + 3).contains(&half), "{whole} {half}");
}

#[test]
fn too_few_records_are_told_of() {
    let plan = spec(2000, "name = 'gaussian'", BUDGET, "name = 'langevin'\nstart = [0, 0]").unwrap();
    assert!(plan.warnings.iter().any(|warning| warning.contains("posterior standard deviations")));
    let fails = spec(100, "name = 'gaussian'", BUDGET, "name = 'langevin'\nstart = [0, 0]").err().unwrap();
    assert!(fails.contains("buys 0 steps"), "{fails}");
}

#[test]
fn what_is_wrong_is_named() {
    for (sampler, expected) in [
        ("name = 'langevin'\nstart = [0, 3]\nstep = 4", "`sampler.step`: must be below 4"),
        ("name = 'underdamped'\nstart = [0, 3]\nstep = 2", "`sampler.step`: must be below 2"),
        ("name = 'langevin'\nstart = [0, 3]\nclip = 0", "`sampler.clip`"),
        ("name = 'langevin'\nstart = [0, 3]\nclipp = 1", "did you mean `clip`?"),
        ("name = 'langevin'\nstart = [0, 3]\nprecondition = 'fischer'", "did you mean `fisher`?"),
        ("name = 'langevin'\nstart = [0, 3]\nprecondition = [1]", "must hold 2 numbers above 0"),
        ("name = 'langevin'\nstart = [0, 3]\nprecondition = [1, -1]", "must hold 2 numbers above 0"),
        ("name = 'langevin'\nstart = [0, 3]\nprecondition = [[1, 2], [2, 1]]", "positive definite"),
        ("name = 'langevin'\nstart = [0, 3]\nprecondition = 'none'", "`sampler.step`: is required"),
        (
            "name = 'langevin'\nstart = [0, 3]\nprecondition = [1, 1]\nfisher_scale = 2",
            "`sampler.fisher_scale`",
        ),
        ("name = 'langevin'\nstart = [0, 3]\npublish = 'all'", "`sampler.publish`: must be one of"),
        ("name = 'underdamped'\nstart = [0, 3]\nfriction = -1", "`sampler.friction`"),
        ("name = 'sgld'\nstart = [0, 3]\nstep_size = 1e-5\nclip = 5", "`sampler.batch`: is required"),
        (
            "name = 'sgld'\nstart = [0, 3]\nbatch = 200000\nstep_size = 1e-5\nclip = 5",
            "`sampler.batch`: must be at most",
        ),
        ("name = 'sgld'\nstart = [0, 3]\nbatch = 100\nclip = 5", "`sampler.step_size`: is required"),
        ("name = 'sgld'\nstart = [0, 3]\nbatch = 100\nstep_size = 1e-5", "`sampler.clip`: is required"),
        (
            "name = 'sgld'\nstart = [0, 3]\nbatch = 100\nstep_size = 1e-5\nclip = 5\ndecay = 0.3",
            "`sampler.steps`: is required",
        ),
        (
            "name = 'sgld'\nstart = [0, 3]\nbatch = 100\nstep_size = 1e-5\nclip = 5\ncalibration = 'paper'\nsteps = 100",
            "`sampler.calibration`",
        ),
    ] {
        let error = banana(sampler).err().unwrap_or_default();
        assert!(error.contains(expected), "{sampler} gave {error:?}");
    }
    let add_remove = "epsilon = 1.0\ndelta = 1e-6\nneighbours = 'add-remove'";
    for sampler in ["name = 'langevin'", "name = 'sgld'\nbatch = 100\nstep_size = 1e-5\nclip = 5"] {
        let error =
            spec(1000, "name = 'banana'", add_remove, &format!("{sampler}\nstart = [0, 3]")).err().unwrap();
        assert!(error.contains("add-remove"), "{error}");
    }
}

#[test]
fn stochastic_gradients_are_bought_or_scheduled() {
    let sgld = |keys: &str| {
        banana(&format!("name = 'sgld'\nstart = [0, 3]\nbatch = 1000\nstep_size = 1e-6\nclip = 5\n{keys}"))
    };
    let bought = sgld("").unwrap();
    assert_eq!(fact(&bought, "noise over temperature 1"), "1.0000 times the variance");
    assert!(Certificate::of(&bought, false).verify().unwrap().upper <= 1.0);
    // More steps than that need more noise than the dynamics.
    let hot = sgld(&format!("steps = {}", 4 * bought.steps)).unwrap();
    assert!(
        hot.steps >= 4 * bought.steps - 4
            && fact(&hot, "noise over temperature 1") > "1.0000 times the variance"
    );
    let steps = bought.steps / 2;
    let scheduled = sgld(&format!("steps = {steps}\ndecay = 0.33\nstages = 4")).unwrap();
    let Some(Bill::Contract(contract)) = &scheduled.bill else { panic!("not a contract") };
    assert_eq!((scheduled.steps, contract.parts().len()), (steps, 4));
    assert!(Certificate::of(&scheduled, false).verify().unwrap().upper <= 1.0);
}
