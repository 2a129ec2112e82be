//! Holds the builder to bounded work, whatever a text makes of its names, and to laws that are laws.

use barkeep_data::{Column, Schema};

use crate::Model;
use crate::check::uniform;
use crate::language::TextModel;

fn schema() -> Schema {
    Schema::new(vec![
        Column::real("y", 0.1, 10.0, 1.0).unwrap(),
        Column::real("z", -10.0, 10.0, 0.0).unwrap(),
        Column::boolean("event", false).unwrap(),
        Column::category("arm", vec!["control".into(), "drug".into()], "control").unwrap(),
        Column::integer("k", 0.0, 9.0, 0.0).unwrap(),
    ])
    .unwrap()
}

fn fault(text: &str) -> String {
    TextModel::new(text, &schema()).map(|_| ()).expect_err(text).to_string()
}

/// Zeros and ones have no density on the real line.
#[test]
fn a_bool_column_takes_no_law_of_numbers() {
    for law in ["normal(a, 1)", "student_t(4, a, 1)", "exponential(exp(a))"] {
        let said = fault(&format!("parameters\n a ~ normal(0, 1)\nrecord\n event ~ {law}\n"));
        assert!(said.contains("must not be a bool column") && said.contains("bernoulli_logit"), "{said}");
    }
    let text = "parameters\n a ~ normal(0, 1)\nrecord\n event ~ bernoulli_logit(a)\n";
    assert!(TextModel::new(text, &schema()).is_ok());
}

/// Texts in which names double what they stand for, open sums again and again, or fill tables.
#[test]
fn a_text_that_grows_by_its_names_is_refused_or_stays_small() {
    let chain = |first: &str, next: &dyn Fn(usize) -> String, last: &str, count: usize| {
        let lines: String = (1..count).map(|k| format!(" m{k} = {}\n", next(k - 1))).collect();
        format!("parameters\n a\nrecord\n m0 = {first}\n{lines} {last}\n")
            .replace("LAST", &format!("m{}", count - 1))
    };
    let doubled =
        chain("normal(a, 1)", &|k| format!("mixture(0.5, m{k}, m{k})"), "log_density = lpdf(z, LAST)", 60);
    assert!(
        fault(&doubled).contains("may have 100 distributions, and this one has 128"),
        "{}",
        fault(&doubled)
    );
    let vectors = format!(
        "parameters\n b[1000]\nrecord\n log_density = lpdf(k, categorical_logit({}))\n",
        vec!["b"; 3000].join(", ")
    );
    assert!(fault(&vectors).contains("at most 1001 arguments, and this has 3000000"), "{}", fault(&vectors));
    let calls: String = (0..200).map(|k| format!(" + lpdf(k + {k}, categorical_logit(b))")).collect();
    let calls = format!("parameters\n b[1000]\nrecord\n log_density = 0{calls}\n");
    assert!(fault(&calls).contains("operations here, and may have 50000"), "{}", fault(&calls));
    let sums = |next: &dyn Fn(usize) -> String| {
        let uses: String = (0..1000).map(|k| format!(" + exp(m{k})")).collect();
        chain("z", next, &format!("log_density = 0{uses}"), 1000)
    };
    for (text, most) in [
        (sums(&|k| format!("m{k} + a * {k}")), 40_000),
        (sums(&|k| format!("a * {k} + m{k}")), 40_000),
        (sums(&|k| format!("{k} * a - m{k}")), 40_000),
        (chain("a * z", &|k| format!("m{k} + square(m{k})"), "log_density = LAST", 1500), 60_000),
        (
            chain("a * z", &|k| format!("log_sum_exp(m{k}, a, m{k} * m{k})"), "log_density = LAST", 1000),
            60_000,
        ),
        (
            chain("a * z", &|k| format!("where(m{k} > 0, m{k} * m{k}, m{k} + 1)"), "log_density = LAST", 900),
            60_000,
        ),
        (chain("a * z", &|k| format!("m{k}^15"), "log_density = LAST", 900), 100_000),
    ] {
        let model = TextModel::new(&text, &schema()).unwrap_or_else(|error| panic!("{error}"));
        assert!(model.size() < most, "{} of {most}: {}", model.size(), &text[..120]);
    }
}

#[test]
fn a_law_does_not_depend_on_what_it_is_the_law_of() {
    let with = |record: &str| format!("parameters\n a\n s > 0\nrecord\n {record}\n");
    for (record, words) in [
        ("z ~ normal(a * z, s)", "cannot depend on `z` itself"),
        ("m = z + y\n z ~ normal(a + m, s)", "cannot depend on `z` itself"),
        ("y | censored(event) ~ weibull(s, exp(a * event))", "cannot depend on `event` itself"),
        ("z ~ normal(a * y, s)\n y ~ weibull(s, 1)", "write this line before the one of `z`"),
        ("z ~ normal(a * y, s)\n y ~ weibull(s, exp(a * z))", "`z` above depends on `y`"),
    ] {
        let said = fault(&with(record));
        assert!(said.contains(words), "{said}");
    }
    assert!(TextModel::new(&with("y ~ weibull(s, 1)\n z ~ normal(a * y, s)"), &schema()).is_ok());
}

#[test]
fn constrained_values_and_names_among_parameters_are_reported() {
    let text = "parameters\n a\n s > 0\n ordered c[2]\n simplex w[2]\n double = 2 * a + s\nrecord\n z ~ normal(a, s)\n";
    let model = TextModel::new(text, &schema()).unwrap();
    assert_eq!(model.parameter_names(), ["a", "log_s", "c[1]", "log_gap_c[2]", "logit_w[1]"]);
    assert_eq!(model.quantity_names(), ["s", "c[2]", "w[1]", "w[2]", "double"]);
    let values = model.quantities(&[1.0, 0.5, -1.0, 0.25, 0.0]);
    for (found, expected) in
        values.iter().zip([0.5f64.exp(), -1.0 + 0.25f64.exp(), 0.5, 0.5, 2.0 + 0.5f64.exp()])
    {
        assert!((found - expected).abs() < 1e-14, "{found} {expected}");
    }
    let said = fault("parameters\n x > 0\n log_x > 0\nrecord\n z ~ normal(x, log_x)\n");
    assert!(said.contains("would be called `log_x`"), "{said}");
}

/// Any bytes, and texts of the gallery with bytes changed, dropped and repeated: an answer, with its place where it is a fault.
#[test]
fn any_bytes_get_an_answer() {
    let gallery = [
        include_str!("../../../../../examples/models/weibull-survival.model"),
        include_str!("../../../../../examples/models/ordinal.model"),
        include_str!("../../../../../examples/models/zero-inflated.model"),
        include_str!("../../../../../examples/models/varying-intercepts.model"),
    ];
    let levels = |names: &str| names.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let schema = Schema::new(vec![
        Column::real("t", 0.01, 10.0, 1.0).unwrap(),
        Column::boolean("event", false).unwrap(),
        Column::category("arm", levels("control drug"), "control").unwrap(),
        Column::real("age", -1.0, 1.0, 0.0).unwrap(),
        Column::category("answer", levels("never seldom often always"), "never").unwrap(),
        Column::boolean("new", false).unwrap(),
        Column::integer("visits", 0.0, 40.0, 0.0).unwrap(),
        Column::category("hospital", levels("north south"), "north").unwrap(),
        Column::boolean("ill", false).unwrap(),
    ])
    .unwrap();
    let next = &mut uniform(93);
    let (mut read, mut refused) = (0, 0);
    for round in 0..3000 {
        let mut at = |count: usize| (next() * count as f64) as usize;
        let mut bytes: Vec<u8> = match round % 5 {
            0 => (0..at(300)).map(|_| at(256) as u8).collect(),
            kind => gallery[kind - 1].bytes().collect(),
        };
        for _ in 0..at(4) {
            let (from, length) = (at(bytes.len().max(1)), 1 + at(12));
            let to = (from + length).min(bytes.len());
            match at(3) {
                0 => bytes.splice(from..to, [at(128) as u8]).for_each(drop),
                1 => bytes.drain(from..to).for_each(drop),
                _ => {
                    let again = bytes[from..to].to_vec();
                    bytes.splice(from..from, again).for_each(drop);
                }
            }
        }
        match TextModel::new(&String::from_utf8_lossy(&bytes), &schema) {
            Ok(_) => read += 1,
            Err(error) => {
                assert!(error.line >= 1 && error.column >= 1 && !error.reason.is_empty());
                assert!(error.to_string().len() < 2000);
                refused += 1;
            }
        }
    }
    assert!(read > 300 && refused > 1000, "{read} read, {refused} refused");
}
