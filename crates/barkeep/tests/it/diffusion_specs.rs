//! Plans diffusions from specs: what the rules choose, what is warned of, what is refused, and that the bill adds up.

use barkeep::accounting::mechanisms::Gaussian;
use barkeep::accounting::{Cost, Mechanism, Neighbours, Sampling, Steps};
use barkeep::curator::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, PrivacyModel, Shape, Sum, TableBuilder, Temper, Term,
};
use barkeep::facts::Value;
use barkeep::model::terms::{Precondition, gradient};
use barkeep::{Bill, Certificate, Fact, Plan, Spec};
use std::path::Path;
use std::sync::Arc;

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

fn number(plan: &Plan, key: &str) -> f64 {
    plan.fact(key).and_then(Fact::as_number).unwrap()
}

#[test]
fn the_rule_needs_a_name_and_a_start() {
    for (sampler, expected) in [("langevin", 659), ("underdamped", 502)] {
        let plan = banana(&format!("name = '{sampler}'\nstart = [0, 3]")).unwrap();
        // τ·w² = μ²n/T with w = √2 + 1.5; a step with momentum costs (1+c)/(1−c) = 1.313 times as much.
        assert_eq!(plan.steps().0, expected, "{sampler}");
        assert_eq!((plan.burn_in().0, plan.level()), (10, None));
        assert_eq!(plan.fact("preconditioner").unwrap().value, Value::Word("local"));
        assert!(plan.warnings().is_empty(), "{:?}", plan.warnings());
        let error = if sampler == "langevin" { "0.079 posterior sd" } else { "0.090 posterior sd" };
        assert_eq!(plan.fact("expected_error").unwrap().words, error);
        let certificate = Certificate::of(&plan);
        assert!(certificate.verify().unwrap().epsilon.get() <= 1.0);
        assert!(certificate.released.iter().any(|released| released.contains("noisy sum")));
        let Some(Bill::Contract(contract)) = plan.bill() else { panic!("not a contract") };
        assert_eq!(contract.parts().len(), 1);
    }
}

#[test]
fn nothing_need_be_said_of_the_sampler() {
    let plan = banana("").unwrap();
    assert_eq!((plan.sampler().name, plan.steps().0), ("langevin", 659));
    assert_eq!(
        *plan.start(),
        barkeep::PlannedStart::Given(vec![barkeep::samplers::State {
            theta: vec![0.0, 0.0],
            log_prior: plan.spec().model().log_prior(&[0.0, 0.0]),
        }])
    );
    let baseline = spec(1000, "name = 'banana'", "private = false", "").err().unwrap();
    assert!(baseline.contains("`sampler.name`: is required"), "{baseline}");
}

#[test]
fn time_is_what_is_paid_for() {
    let steps =
        |step: &str| banana(&format!("name = 'langevin'\nstart = [0, 3]\nstep = {step}")).unwrap().steps().0;
    let (whole, half) = (steps("1"), steps("0.25"));
    assert!((4 * whole..=4 * whole + 3).contains(&half), "{whole} {half}");
}

#[test]
fn too_few_records_are_reported() {
    let plan = spec(2000, "name = 'gaussian'", BUDGET, "name = 'langevin'\nstart = [0, 0]").unwrap();
    assert!(plan.warnings().iter().any(|warning| warning.contains("privacy moves means by much")));
    let fails = spec(100, "name = 'gaussian'", BUDGET, "name = 'langevin'\nstart = [0, 0]").err().unwrap();
    assert!(fails.contains("does not buy one step; it takes an epsilon of about"), "{fails}");
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

/// A stochastic-gradient sampler on the banana.
fn stochastic(name: &str, keys: &str) -> Result<Plan, String> {
    banana(&format!("name = '{name}'\nstart = [0, 3]\nbatch = 1000\nstep_size = 1e-6\nclip = 5\n{keys}"))
}

/// Questions and how often each is asked.
fn contract(plan: &Plan) -> &[(Cost, Steps)] {
    let Some(Bill::Contract(contract)) = plan.bill() else { panic!("not a contract") };
    contract.parts()
}

/// ε of the bill.
fn spent(plan: &Plan) -> f64 {
    plan.epsilon().unwrap().get()
}

#[test]
fn stochastic_gradients_are_bought_or_scheduled() {
    for name in ["sgld", "sgnht", "sgfs"] {
        let bought = stochastic(name, "").unwrap();
        assert_eq!(number(&bought, "noise_over_temperature_1"), 1.0);
        assert!(spent(&bought) <= 1.0);
        // More steps than that need more noise than the dynamics.
        let hot = stochastic(name, &format!("steps = {}", 4 * bought.steps().0)).unwrap();
        assert!(hot.steps().0 >= 4 * bought.steps().0 - 4 && number(&hot, "noise_over_temperature_1") > 1.0);
        let steps = bought.steps().0 / 2;
        let scheduled = stochastic(name, &format!("steps = {steps}\ndecay = 0.33\nstages = 4")).unwrap();
        assert_eq!((scheduled.steps().0, contract(&scheduled).len()), (steps, 4), "{name}");
        assert!(spent(&scheduled) <= 1.0);
    }
}

/// The published noise as a ratio to the sensitivity, for 20 passes over 100 000 records in batches of 1000 at ε = 1, δ = 1e-6:
/// for sgld and sgnht √(128·NT/(τε²)·ln(2.5NT/(τδ))·ln(2/δ))·τ/(2N); for sgfs σ of Algorithm 4 at half the budget, times τ/2,
/// over the √(1 + 1/49) that squares add to a record's share. Worked out by hand.
#[test]
fn the_papers_calibration_is_the_published_noise_where_that_holds() {
    // The same for all three: the least noise depends on the batch and the number of steps alone.
    let tight = spent(&stochastic("sgld", "steps = 2000").unwrap());
    for (name, expected, few) in
        [("sgld", 45.538_031_9, 21), ("sgnht", 45.538_031_9, 21), ("sgfs", 46.855_270_2, 5)]
    {
        let published = stochastic(name, "steps = 2000\ncalibration = 'paper'").unwrap();
        let [(cost, steps)] = contract(&published) else { panic!("one kind of question") };
        let Mechanism::Gaussian(Gaussian { ratio }) = cost.mechanism() else {
            panic!("a Gaussian mechanism")
        };
        assert_eq!((published.steps().0, steps.0), (2000, 2000), "{name}");
        assert!((ratio.get() / expected - 1.0).abs() < 1e-8, "{name}: {}", ratio.get());
        // Far more noise than is needed, so far less is spent than promised.
        let published = spent(&published);
        assert!(published < 0.5 * tight && tight <= 1.0, "{name}: {published} {tight}");
        // Its premise: at least ε²N/(32·τ·ln(2/δ)) = 0.215 passes, and 0.051 with half the budget.
        let short = stochastic(name, &format!("steps = {few}\ncalibration = 'paper'")).err().unwrap();
        assert!(short.contains("more passes over the data"), "{name}: {short}");
        let endless = stochastic(name, "calibration = 'paper'").err().unwrap();
        assert!(endless.contains("`sampler.steps`: is required"), "{name}: {endless}");
    }
}

#[test]
fn scoring_wants_a_frame_that_stays() {
    for kind in ["auto", "fisher-local"] {
        let refused = stochastic("sgfs", &format!("precondition = '{kind}'")).err().unwrap();
        assert!(refused.contains("the same everywhere"), "{refused}");
    }
    assert!(stochastic("sgfs", "precondition = 'fisher'").is_ok());
    // A midpoint would be off: states are exact.
    assert!(stochastic("sgfs", "publish = 'midpoint'").err().unwrap().contains("publish"));
}

/// A logistic regression on one feature within ±2.
fn logistic(sampler: &str) -> Plan {
    let text = format!(
        "[data]\npath = 'x.csv'\nrecords = 10000\n[data.columns]\ny = {{ kind = 'bool', invalid = false }}\n\
         x = {{ min = -2, max = 2, invalid = 0 }}\n[model]\nformula = 'y ~ x'\nfamily = 'bernoulli'\n[privacy]\n{BUDGET}\n\
         [sampler]\nstart = [0, 0]\n{sampler}\n"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

/// |∂ℓ/∂η| ≤ 1, so a gradient is at most as long as (1, ±2): √5; and S = diag(0.01, 0.02) makes (0.01, 0.04) of it, a hundred times
/// which is the share of one record in ten thousand.
#[test]
fn a_bound_of_the_models_own_takes_the_place_of_a_clip() {
    let given = logistic("precondition = [0.01, 0.02]");
    assert!((number(&given, "clip") - 17.0_f64.sqrt()).abs() < 1e-4);
    let (batch, step) = ("batch = 100", "step_size = 1e-6");
    let stochastic = logistic(&format!("name = 'sgld'\n{batch}\n{step}"));
    assert!((number(&stochastic, "clip") - 5.0_f64.sqrt()).abs() < 1e-6);
    // Nothing is clipped by it: gradients as long as they can be add up as if there were no clip, but for the 4.02·10^-5 by which
    // the clip's root may err for each of the six.
    let room = 6.0 * 5.0_f64.sqrt() * 4.02e-5;
    let likelihood = Arc::clone(stochastic.spec().likelihood());
    let mut builder = TableBuilder::new(stochastic.spec().data().schema().clone(), 6).unwrap();
    let rows = [[1.0, 2.0], [0.0, -2.0], [1.0, 2.0], [0.0, 2.0], [1.0, -2.0], [1.0, 2.0]];
    rows.iter().for_each(|row| builder.push_row(row).unwrap());
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let lipschitz = stochastic.spec().model().lipschitz(stochastic.spec().data().schema()).unwrap();
    let curator = Curator::new(builder.finish().unwrap(), privacy_model, Budget::not_private()).unwrap();
    let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap();
    let mut sum = |theta: &[f64], clip: f64| {
        let mut out = [0.0; 2];
        let term = gradient(&*likelihood, theta, Precondition::Identity, &[]).unwrap();
        let term = Term::Program(Asked { term: &term, shape: Shape::Ball });
        let clip = Clip::new(clip).unwrap();
        let question = Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma: 0.0 };
        gate.sum(&question, &mut out).unwrap();
        out
    };
    for theta in [[-90.0, 0.0], [0.0, 0.0], [3.0, -40.0]] {
        let probability = |x: f64| 1.0 / (1.0 + (-theta[0] - theta[1] * x).exp());
        let bounded = sum(&theta, lipschitz);
        for (j, found) in bounded.iter().enumerate() {
            let plain: f64 = rows.iter().map(|[y, x]| (y - probability(*x)) * [1.0, *x][j]).sum();
            assert!((found - plain).abs() < room, "{theta:?}: {found} {plain}");
        }
        // A clip a tenth shorter is felt where gradients are long.
        assert!(theta == [0.0, 0.0] || sum(&theta, 0.9 * lipschitz) != bounded);
    }
}
