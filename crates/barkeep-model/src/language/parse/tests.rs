//! Holds messages to what a person needs: the place, the reason, what to write instead; and any bytes to an answer.

use barkeep_data::{Column, Schema};

use crate::check::uniform;
use crate::language::TextModel;

fn schema() -> Schema {
    Schema::new(vec![
        Column::real("y", 0.1, 10.0, 1.0).unwrap(),
        Column::real("z", -10.0, 10.0, 0.0).unwrap(),
        Column::boolean("event", false).unwrap(),
        Column::category("arm", vec!["control".into(), "drug".into()], "control").unwrap(),
        Column::integer("k", 0.0, 9.0, 0.0).unwrap(),
        Column::integer("many", 0.0, 1000.0, 0.0).unwrap(),
    ])
    .unwrap()
}

/// What is said of a faulty text.
fn fault(text: &str) -> String {
    TextModel::new(text, &schema()).map(|_| ()).expect_err(text).to_string()
}

#[test]
fn a_fault_shows_its_line_with_a_caret_and_a_suggestion() {
    let text = "parameters\n  shape > 0 ~ half_normal(1)\nrecord\n  y ~ weibul(shape, 1)\n";
    assert_eq!(
        fault(text),
        "line 4, column 7: there is no function or distribution `weibul`; did you mean `weibull`?\n    y ~ weibul(shape, 1)\n        ^^^^^^^^^^^^^^^^"
    );
}

#[test]
fn every_fault_says_what_to_do() {
    let with =
        |record: &str| format!("parameters\n a ~ normal(0, 1)\n s > 0 ~ half_normal(1)\nrecord\n {record}\n");
    let prior = |line: &str| format!("parameters\n {line}\nrecord\n z ~ normal(a, 1)\n");
    for (text, words) in [
        ("".to_owned(), "needs a section `record`"),
        ("parametres\n a ~ normal(0, 1)".to_owned(), "did you mean `parameters`?"),
        ("a ~ normal(0, 1)".to_owned(), "begins with a line `parameters`"),
        ("parameters\n a ~ normal(0, 1)".to_owned(), "needs a section `record`"),
        (with("z ~ normal(aa, s)"), "there is no `aa` here; did you mean `a`?"),
        (with("zz ~ normal(a, s)"), "there is no column `zz`; did you mean `z`?"),
        (with("z ~ normal(a)"), "write `normal(mean, sd)`: this has 1 arguments"),
        (with("z ~ normal(a, -1)"), "`sd` of `normal` must be above 0, not -1"),
        (with("z ~ normal(s, a)"), "`sd` of `normal` must be above 0: declare `a > 0`"),
        (with("z ~ weibull(s, exp(a))"), "column `z` must have min above 0 to follow this distribution"),
        (with("z ~ poisson(s)"), "column `z` must be an integer column"),
        (with("k | censored ~ beta_binomial(9, s, 1)"), "poisson_log, neg_binomial, point can be censored"),
        (
            with("many | truncated ~ beta_binomial(9, s, 1)"),
            "and counts between bounds that hold at most 256 values",
        ),
        (with("y | censord ~ weibull(s, exp(a))"), "did you mean `censored`?"),
        (with("y | censored(y > 3) ~ weibull(s, exp(a))"), "takes a bool column or `not` of one"),
        (with("z ~ normal(a + arm, s)"), "`arm == \"level\"`"),
        (with("z ~ normal(a * (arm == \"drg\"), s)"), "did you mean `drug`?"),
        (with("z ~ normal(a[1], s)"), "stands for one number"),
        (with("z = a"), "`z` is a column"),
        (with("exp = a"), "`exp` is a function"),
        (with("m = a\n m = s"), "declared twice"),
        (with("z ~ normal(a, s)\n z ~ normal(a, s)"), "follows two distributions"),
        (with("log_density = a * (z"), "this is never closed: write `)`"),
        (with("z ~ normal(a, exp(s)\n y ~ weibull(s, 1)"), "line 5, column 12: this is never closed"),
        (with("z ~ normal(a, 2 s)"), "a product is written with `*`"),
        (with("z ~ normal(a ** 2, s)"), "a power is written with `^`"),
        (with("z ~ normal(a, s);"), "leave out `;`"),
        (with("y | censored(!event) ~ weibull(s, 1)"), "write `not`"),
        (with("y censored(event) ~ weibull(s, 1)"), "write `|` before"),
        (with("y | censored(event) = weibull(s, 1)"), "expected `~` and a distribution"),
        (with("if event: y ~ weibull(s, 1)"), "write `where(condition, yes, no)`"),
        (with("for (i in 1:9) y ~ weibull(s, 1)"), "every line speaks of one record"),
        (with("y[1] ~ weibull(s, 1)"), "takes no index"),
        (with("target += a"), "write `log_density = …`"),
        (
            "parameters\n s > 0\n y | censored(event) ~ weibull(s, 1)\n".to_owned(),
            "write a line `record` above",
        ),
        ("parameters\n y ~ normal(0, 1)\nrecord\n z ~ normal(0, 1)\n".to_owned(), "below a line `record`"),
        (with("log_density = a * "), "before the line ends"),
        (with("log_density = a z"), "expected the end of the line"),
        (with("log_density = 3"), "must say how likely a record is"),
        (with("log_density = exp(a, z)"), "`exp` takes one argument, not 2"),
        (with("log_density = a $ z"), "does not belong in a model"),
        (with("arm ~ ordered_logistic(a, 1, 2)"), "has 2 levels: `ordered_logistic` needs 1 cuts, not 2"),
        (with("a ~ normal(z, 1)"), "`a` is no column"),
        (prior("a ~ gamma(1, 1)"), "declared above 0, as in `s > 0`"),
        (prior("a ~ poisson(3)"), "is not a whole number"),
        (prior("a ~ normal(z, 1)"), "a prior cannot use a column"),
        (prior("a[nowhere] ~ normal(0, 1)"), "there is no column `nowhere`"),
        (prior("a[z] ~ normal(0, 1)"), "must be a category, a bool, or an integer column"),
        (prior("2 < a < 1 ~ normal(0, 1)"), "between a smaller and a larger number"),
        (prior("simplex a ~ dirichlet(1)"), "needs a number of entries"),
        (prior("a = 1"), "at least one parameter"),
    ] {
        let said = fault(&text);
        assert!(said.contains(words), "{text}\n{said}");
        assert!(said.starts_with("line ") && said.contains('^'), "{said}");
    }
}

#[test]
fn a_text_that_is_too_large_is_refused_with_a_number() {
    let terms = |count: usize| vec!["z"; count].join("+");
    let text = |count: usize| format!("parameters\n a\nrecord\n log_density = a * ({})", terms(count));
    assert!(
        fault(&text(500_000)).contains("at most 100000 bytes, and this text has 1000041"),
        "{}",
        &fault(&text(500_000))[..200]
    );
    assert!(fault(&text(20_000)).contains("at most 10000 numbers, names and signs"));
    assert!(TextModel::new(&text(4000), &schema()).is_ok());
    let deep = |count: usize| {
        format!("parameters\n a\nrecord\n log_density = a*z + {}z{}", "(".repeat(count), ")".repeat(count))
    };
    assert!(fault(&deep(5000)).contains("nested 100 deep"));
    assert!(TextModel::new(&deep(90), &schema()).is_ok());
    let minus = format!("parameters\n a\nrecord\n log_density = a*z {}z", "-".repeat(9000));
    assert!(TextModel::new(&minus, &schema()).is_ok());
    assert!(
        fault("parameters\n a[1000]\n b[1000]\nrecord\n z ~ normal(a[1], 1)")
            .contains("may have 1000 parameters")
    );
}

#[test]
fn any_text_made_of_a_models_words_gets_an_answer() {
    let words = [
        "parameters",
        "record",
        "\n",
        "\n",
        "a",
        "b",
        "z",
        "y",
        "arm",
        "event",
        "k",
        "~",
        "=",
        "|",
        "<",
        ">",
        "0",
        "1",
        "2.5",
        "1e9",
        "(",
        ")",
        "[",
        "]",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "normal",
        "weibull",
        "mixture",
        "ordered",
        "simplex",
        "dirichlet",
        "censored",
        "truncated",
        "not",
        "and",
        "or",
        "==",
        "\"drug\"",
        "`k`",
        "exp",
        "log",
        "where",
        "log_density",
        "#",
        "point",
        "ordered_logistic",
        "flat",
        "lpdf",
        "\u{e9}",
        "\"",
        ".",
    ];
    let next = &mut uniform(90);
    for round in 0..20_000 {
        let mut text = String::new();
        if round % 2 == 0 {
            text.push_str("parameters\n a ~ normal(0, 1)\n b > 0\nrecord\n z ~ normal(a, b)\n ");
        }
        for _ in 0..(40.0 * next()) as usize {
            text.push_str(words[(next() * words.len() as f64) as usize]);
            text.push(' ');
        }
        match TextModel::new(&text, &schema()) {
            Ok(_) => {}
            Err(error) => assert!(error.line >= 1 && error.column >= 1 && !error.reason.is_empty()),
        }
    }
}
