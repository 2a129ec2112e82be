//! Chooses between scores and dynamics: which branch runs, what it costs, and who is served by Langevin instead.

use barkeep::accounting::{Delta, Epsilon, Mu, Neighbours};
use barkeep::curator::{
    Ask, Asked, Choose, Decide, Refused, Sum, TableBuilder, Temper, Term, shape_sensitivity,
};
use barkeep::facts::Value;
use barkeep::insecure::Insecure;
use barkeep::run::rehearse::Rehearsal;
use barkeep::{Bill, Certificate, Plan, PublicRng, Run, Spec};
use std::path::Path;

fn plan(records: u64, formula: &str, more: &str) -> Plan {
    Plan::new(Spec::parse(&text(records, formula, more), Path::new("")).unwrap()).unwrap()
}

fn text(records: u64, formula: &str, more: &str) -> String {
    format!(
        "[data]\npath = 'x.csv'\nrecords = {records}\n[data.columns]\ny = {{ kind = 'bool', invalid = false }}\n\
         x = {{ min = -1, max = 1, invalid = 0 }}\n[model]\nformula = '{formula}'\nfamily = 'bernoulli'\n[privacy]\n\
         epsilon = 1\ndelta = 1e-3\n{more}\n"
    )
}

fn word(plan: &Plan, key: &str) -> Option<&'static str> {
    match plan.fact(key)?.value {
        Value::Word(word) => Some(word),
        _ => None,
    }
}

/// Runs a plan over records whose x has a spread, three tenths of which say yes.
fn run(plan: &Plan, records: u64, spread: f64) -> Run {
    let mut rng = PublicRng::new(3, 1);
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    for i in 0..records {
        let row = [f64::from(u8::from(i % 10 < 3)), (spread * rng.normal()).clamp(-1.0, 1.0)];
        let width = plan.view().source().columns().len();
        table.push_row(&row[..width]).unwrap();
    }
    plan.runner().insecure(Insecure::seed(4)).run(table.finish().unwrap()).unwrap()
}

#[test]
fn records_are_served_by_scores_however_many_they_are() {
    for records in [300, 20_000] {
        let plan = plan(records, "y ~ 1", "[sampler]\nseed = 1\nsteps = 900");
        assert_eq!((plan.sampler().name, word(&plan, "expected_branch")), ("auto", Some("noise-aware")));
        let json = plan.to_json();
        assert_eq!(json["facts"]["expected_branch"]["value"], "noise-aware");
        let Some(Bill::Gaussian { .. }) = plan.bill() else { panic!("a filter") };
        let certificate = Certificate::of(&plan);
        let epsilon = certificate.verify().unwrap().epsilon.get();
        assert!(epsilon <= 1.0 && epsilon > 0.999, "{epsilon}");
        let run = run(&plan, records, 0.3);
        assert_eq!(run.steps_used, [900]);
        let summary = run.summary();
        assert_eq!(summary.ran.as_deref(), Some("noise-aware"));
        assert_eq!(serde_json::to_value(summary).unwrap()["ran"], "noise-aware");
        // ln(0.3/0.7), to five reported standard deviations, which hardly exceed 1/√(n·0.21) where records are many.
        let found = &summary.parameters[0];
        let (mean, sd) = (found.mean.unwrap(), found.sd.unwrap());
        assert!((mean + 0.8473).abs() < 5.0 * sd, "{records}: {mean} {sd}");
        if records == 20_000 {
            assert!((0.8..1.3).contains(&(sd * (20_000.0_f64 * 0.21).sqrt())), "{sd}");
        }
    }
}

/// Time for dynamics is not enough: they must be expected to gain, and a file that does not fit into memory is not read thousands of times.
#[test]
fn dynamics_that_gain_little_are_not_taken() {
    let many = plan(20_000, "y ~ 1", "");
    let words = &many.fact("expected_branch").unwrap().words;
    assert!(words.contains("posterior standard deviations nearer"), "{words}");
    assert!(many.seconds() < 5.0, "{}", many.seconds());
    let text = text(2_000_000, "y ~ 1", "").replace("records =", "memory = '1MB'\nrecords =");
    let streamed = Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
    let words = &streamed.fact("expected_branch").unwrap().words;
    assert!(words.contains("read the file thousands of times"), "{words}");
    let named = plan(20_000, "y ~ 1", "[sampler]\nname = 'langevin'\nprecondition = 'learned'\nsteps = 900");
    assert_eq!(run(&named, 20_000, 0.3).summary().ran.as_deref(), Some("langevin"));
}

/// Adds the questions' μ² up from their noise and sensitivity, and answers with nothing.
#[derive(Default)]
struct Meter {
    squares: f64,
    questions: u64,
}

impl Ask for Meter {
    fn decide(&mut self, _: &Decide<'_>) -> Result<bool, Refused> {
        panic!("no decisions")
    }

    fn sum(&mut self, asked: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        let neighbours = Neighbours::Substitute;
        let Term::Program(Asked { shape, .. }) = asked.term else { panic!("no counts of bad cells") };
        let sensitivity = shape_sensitivity(shape, Temper::NONE, asked.clip, neighbours)?;
        self.squares += (sensitivity.get() / asked.sigma).powi(2);
        self.questions += 1;
        out.fill(0.0);
        Ok(())
    }

    fn choose(&mut self, _: &Choose<'_>) -> Result<usize, Refused> {
        panic!("no choices")
    }
}

#[test]
fn either_branch_spends_no_more_than_is_certified() {
    let whole = Mu::largest_within(Epsilon::new(1.0).unwrap(), Delta::new(1e-3).unwrap()).get().powi(2);
    let learned = "[sampler]\nname = 'langevin'\nprecondition = 'learned'\nsteps = 900";
    for (records, formula, sampler, fewest, least) in [
        (300, "y ~ 1", "[sampler]\nsteps = 9", 9, 0.999),
        (20_000, "y ~ x", "[sampler]\nsteps = 900", 10, 0.3),
        // Not all is spent where the longest step is steady.
        (20_000, "y ~ 1", learned, 901, 0.3),
    ] {
        let plan = plan(records, formula, sampler);
        let (mut meter, mut rng) = (Meter::default(), PublicRng::new(1, 1));
        Rehearsal::of(&plan).perform(0, &mut meter, &mut rng).unwrap();
        let share = meter.squares / whole;
        assert!(share <= 1.0 && share > least, "{formula} {records} {sampler}: {share}");
        assert!(meter.questions >= fewest, "{formula} {records}: {}", meter.questions);
    }
}

#[test]
fn whom_scores_do_not_serve_langevin_does_and_says_why() {
    let plans = [
        (text(2000, "y ~ x", "[sampler]\nstep = 0.5"), "keys"),
        (text(2000, "y ~ x\ntemper = 0.5", ""), "power"),
        (
            text(2000, "y ~ x", "")
                .replace("formula = 'y ~ x'\nfamily = 'bernoulli'", "name = 'gaussian'")
                .replace("kind = 'bool', invalid = false", "min = -1, max = 1, invalid = 0"),
            "regression",
        ),
    ];
    for (text, reason) in plans {
        let text = text.replace("'y ~ x\ntemper = 0.5'", "'y ~ x'\ntemper = 0.5");
        let plan = Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap();
        assert_eq!((plan.sampler().name, word(&plan, "chosen")), ("langevin", Some("langevin")));
        let words = &plan.fact("chosen").unwrap().words;
        assert!(words.contains(reason), "{words}");
    }
    // Persons are served where the most rows of one are declared, and elsewhere a message says what to declare.
    let persons = |most: &str| {
        let text =
            text(2000, "y ~ x", "").replace("records = ", &format!("person = 'who'\n{most}persons = "));
        Plan::new(Spec::parse(&text, Path::new("")).unwrap())
    };
    assert_eq!(persons("most_rows = 2\n").unwrap().sampler().name, "auto");
    assert!(persons("").err().unwrap().to_string().contains("most_rows"));
    // Whoever names a sampler is not lectured.
    let named = plan(2000, "y ~ x", "[sampler]\nname = 'langevin'");
    assert!(named.fact("chosen").is_none());
}

#[test]
fn learned_whitening_refuses_what_it_chooses_itself() {
    let refused = |sampler: &str| {
        let text = text(20_000, "y ~ x", &format!("[sampler]\n{sampler}"));
        Spec::parse(&text, Path::new(""))
            .map_err(barkeep::Error::from)
            .and_then(Plan::new)
            .err()
            .unwrap()
            .to_string()
    };
    let learned = "name = 'langevin'\nprecondition = 'learned'";
    assert!(refused(&format!("{learned}\nclip = 3")).contains("follows from what is learned"));
    assert!(refused(&format!("{learned}\nchains = 2")).contains("must be 1"));
    assert!(refused("name = 'underdamped'\nprecondition = 'learned'").contains("\"langevin\" alone"));
}
