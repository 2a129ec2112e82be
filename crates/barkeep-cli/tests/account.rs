//! Runs `barkeep account` as a person would: every mechanism, every pair of given numbers, bad arguments.

#![expect(clippy::unwrap_used, reason = "an answer without the number asked for is a failure")]

mod program;

use program::Folder;
use serde_json::Value;

fn answer(arguments: &str) -> Value {
    let mut words: Vec<&str> = vec!["account"];
    words.extend(arguments.split_whitespace());
    words.push("--json");
    let shown = Folder::new().barkeep(&words);
    assert_eq!(shown.code, 0, "{arguments}: {}", shown.stderr);
    serde_json::from_str(&shown.stdout).unwrap()
}

fn upper(answer: &Value, name: &str) -> f64 {
    answer[name]["upper"].as_f64().unwrap()
}

/// Every mechanism at settings whose answer is known from the papers or the reference values.
#[test]
fn known_numbers() {
    let subsampled = "subsampled-gaussian --ratio 1 --rate 0.01 --sampling poisson --neighbours add-remove";
    for (arguments, name, value, tolerance) in [
        ("gaussian --ratio 1 --steps 1 --epsilon 1", "delta", 0.126_936_737_506_643_95, 1e-12),
        ("penalty --tau 0.1 --records 100000 --epsilon 4 --delta 1e-6", "steps", 702.0, 0.0),
        (
            "hmc --tau 0.1 --tau-gradient 0.4 --leapfrog 10 --records 100000 --epsilon 4 --delta 1e-6",
            "steps",
            416.0,
            0.0,
        ),
        (&format!("{subsampled} --steps 1000 --delta 1e-6"), "epsilon", 2.124_515_171, 1e-5),
        (&format!("{subsampled} --epsilon 1 --delta 1e-6"), "steps", 120.0, 0.0),
        (
            "subsampled-gaussian --ratio 2 --rate 0.01 --sampling without-replacement --neighbours substitute \
             --epsilon 1 --delta 1e-6",
            "steps",
            1425.0,
            0.0,
        ),
        (
            "subsampled-gaussian --ratio 1 --rate 0.01 --sampling poisson --neighbours substitute \
             --epsilon 1 --delta 1e-6",
            "steps",
            554.0,
            0.0,
        ),
        (
            "discrete-gaussian --variance 1 --sensitivity 1 --steps 1 --epsilon 1",
            "delta",
            0.141_351_339_405_621_92,
            1e-5,
        ),
        ("bernoulli --p 0.5 --q 0.4 --steps 1 --epsilon 0.1", "delta", 0.057_931_632_769_740_95, 1e-5),
        (
            "barker-minibatch --batch 1000 --records 1000000 --bound paper --steps 20000 --delta 1e-6",
            "epsilon",
            1.0004,
            1e-4,
        ),
        ("decision --rule barker --sensitivity 0.05 --epsilon 1 --delta 1e-6", "steps", 89.0, 0.02),
        (
            "decision --rule penalty --sigma 2 --sensitivity 0.05 --epsilon 2 --delta 1e-6",
            "steps",
            596.0,
            0.02,
        ),
        // Pure differential privacy: at ε = 1/ratio nothing is left over.
        ("laplace --ratio 2 --steps 1 --epsilon 0.5", "delta", 0.0, 1e-12),
        // One step of diffusion time 4 with gradients of norm 1/4: μ = 1/2, the Gaussian of ratio 2.
        ("langevin --clip 0.25 --time 4 --epsilon 1", "delta", 0.006_829_594_983, 1e-9),
    ] {
        let answer = answer(arguments);
        let found = if name == "steps" { answer["steps"].as_f64().unwrap() } else { upper(&answer, name) };
        assert!(
            (found - value).abs() <= tolerance * value.max(1e-300) || (value == 0.0 && found <= tolerance),
            "{arguments}: {found}, not {value}"
        );
        assert!(!answer["method"].as_str().unwrap().is_empty());
        for quantity in ["epsilon", "delta"] {
            if let Some(lower) = answer[quantity]["lower"].as_f64() {
                assert!(lower <= upper(&answer, quantity), "{arguments}");
            }
        }
    }
}

#[test]
fn what_is_given_comes_back_as_given() {
    let answer = answer("gaussian --ratio 3 --steps 7 --delta 1e-5");
    assert_eq!(answer["steps"], 7);
    assert_eq!(answer["delta"]["lower"], answer["delta"]["upper"]);
    assert_eq!(upper(&answer, "delta"), 1e-5);
    assert!(answer["epsilon"]["lower"].as_f64().unwrap() <= upper(&answer, "epsilon"));
}

#[test]
fn a_lazy_rule_buys_more_steps() {
    let steps = |extra: &str| {
        answer(&format!("decision --rule barker --sensitivity 0.1 --epsilon 1 --delta 1e-6 {extra}"))["steps"]
            .as_u64()
            .unwrap()
    };
    assert!(steps("--lazy 0.5") > steps(""));
}

#[test]
fn people_get_a_sentence() {
    let shown =
        Folder::new().barkeep(&["account", "gaussian", "--ratio", "10", "--epsilon", "1", "--delta", "1e-6"]);
    assert_eq!(shown.code, 0);
    assert!(shown.stdout.starts_with("steps    5\n"), "{}", shown.stdout);
    assert!(shown.stdout.contains("The budget pays for 5 steps"), "{}", shown.stdout);
}

#[test]
fn bad_arguments_are_code_two_and_named() {
    for (arguments, expected) in [
        ("gaussian --ratio 1 --steps 5", "give two of"),
        ("gaussian --ratio 1 --steps 5 --epsilon 1 --delta 1e-6", "leave one out"),
        ("gaussian --ratio 0 --steps 5 --delta 1e-6", "ratio must be"),
        ("gaussian --ratio -1 --steps 5 --delta 1e-6", "ratio must be"),
        ("gaussian --ratio nan --steps 5 --delta 1e-6", "ratio must be"),
        ("gaussian --ratio 1 --steps 5 --delta 0", "delta must be"),
        ("gaussian --ratio 1 --steps 5 --delta 1", "delta must be"),
        ("gaussian --ratio 1 --steps 5 --epsilon -1", "epsilon must be"),
        ("gaussian --ratio 1 --steps five --delta 1e-6", "--steps"),
        ("gaussian --ration 1 --steps 5 --delta 1e-6", "--ratio"),
        ("gauss --ratio 1", "gauss"),
        ("decision --rule penalty --sensitivity 0.1 --steps 5 --delta 1e-6", "needs --sigma"),
        ("decision --rule barker --sigma 1 --sensitivity 0.1 --steps 5 --delta 1e-6", "no noise"),
        ("decision --rule barker --sensitivity -1 --steps 5 --delta 1e-6", "sensitivity must be"),
        ("decision --rule barker --lazy 2 --sensitivity 0.1 --steps 5 --delta 1e-6", "keep"),
        ("bernoulli --p 2 --q 0.5 --steps 5 --delta 1e-6", "must be"),
        (
            "subsampled-gaussian --ratio 1 --rate 2 --sampling poisson --neighbours substitute --steps 5 --delta 1e-6",
            "rate must be",
        ),
        (
            "subsampled-gaussian --ratio 1 --rate 0.1 --sampling without-replacement --neighbours add-remove \
             --steps 5 --delta 1e-6",
            "substitute",
        ),
        ("barker-minibatch --batch 10 --records 5 --steps 5 --delta 1e-6", "batch"),
        ("penalty --tau 0.1 --records 0 --steps 5 --delta 1e-6", "records"),
        ("langevin --clip 0 --time 1 --delta 1e-6", "clip"),
    ] {
        let mut words: Vec<&str> = vec!["account"];
        words.extend(arguments.split_whitespace());
        let shown = Folder::new().barkeep(&words);
        assert_eq!(shown.code, 2, "{arguments}: {} {}", shown.stdout, shown.stderr);
        assert!(shown.stderr.contains(expected), "{arguments}: no {expected:?} in: {}", shown.stderr);
    }
}

/// Several bills in one call: exactly where fixed in advance, by a filter where chosen adaptively.
#[test]
fn bills_are_composed() {
    let folder = Folder::new();
    let gaussian = |ratio: f64, steps: u64| {
        format!(
            r#"[[{{"mechanism":{{"gaussian":{{"ratio":{ratio}}}}},"sampling":"full","neighbours":"substitute"}},{steps}]]"#
        )
    };
    folder.write("one.json", &gaussian(10.0, 50));
    folder.write("two.json", &gaussian(20.0, 200));
    folder.write("not.json", "[[1,");
    let ask = |words: &[&str]| folder.barkeep(words);
    let json = |words: &[&str]| -> Value { serde_json::from_str(&ask(words).stdout).unwrap() };
    // 50/100 + 200/400 = 1: as a hundred steps of ratio 10.
    let single =
        json(&["account", "gaussian", "--ratio", "10", "--steps", "100", "--delta", "1e-6", "--json"]);
    for adaptive in [false, true] {
        let mut words = vec!["account", "compose", "one.json", "two.json", "--delta", "1e-6", "--json"];
        if adaptive {
            words.push("--adaptive");
        }
        let both = json(&words);
        // A filter has half of δ for its Gaussian arm, and sets a little aside for coins.
        let above = upper(&both, "epsilon") / upper(&single, "epsilon") - 1.0;
        assert!(if adaptive { (0.01..0.05).contains(&above) } else { above.abs() < 1e-9 }, "{both}");
    }
    assert_eq!(ask(&["account", "compose", "not.json", "--delta", "1e-6"]).code, 2);
    let stderr = ask(&["account", "compose", "not.json", "--delta", "1e-6"]).stderr;
    assert!(stderr.contains("line 1"), "{stderr}");
}

/// A list gives a table, `--solve` a number of the mechanism, `--meaning` words, and curves are files.
#[test]
fn tables_solutions_and_curves() {
    let folder = Folder::new();
    let json = |words: &str| -> Value {
        let words: Vec<&str> = words.split_whitespace().collect();
        let shown = folder.barkeep(&words);
        assert_eq!(shown.code, 0, "{words:?}: {}", shown.stderr);
        serde_json::from_str(&shown.stdout).unwrap()
    };
    let table = json("account gaussian --ratio 10 --steps 10,100 --delta 1e-5,1e-6 --json");
    assert_eq!(table.as_array().unwrap().len(), 4);
    let noise = json("account gaussian --solve noise --steps 100 --epsilon 1 --delta 1e-6 --json");
    assert!((noise["solved"].as_f64().unwrap() - 42.2).abs() < 0.1, "{noise}");
    assert!(upper(&noise, "epsilon") <= 1.0);
    let rate = "account subsampled-gaussian --ratio 1 --sampling poisson --neighbours add-remove --solve rate \
                --steps 1000 --epsilon 2 --delta 1e-6 --json";
    let rate = json(rate);
    assert!((0.008..0.01).contains(&rate["solved"].as_f64().unwrap()), "{rate}");
    let meaning = json("account gaussian --ratio 1 --steps 1 --delta 1e-6 --meaning --json");
    // 2Φ(½) − 1.
    assert!((meaning["meaning"]["advantage"].as_f64().unwrap() - 0.382_924_922_548).abs() < 1e-9);
    json("account gaussian --ratio 1 --steps 1 --delta 1e-6 --curve c.csv --trade-off t.svg --json");
    assert!(folder.read("c.csv").starts_with("epsilon,delta\n0e0,"));
    assert!(folder.read("t.svg").contains("true positives"));
    // Three records of one person are a mechanism of a third of the ratio.
    let group = json("account gaussian --ratio 6 --steps 1 --delta 1e-5 --group 3 --json");
    let exact = json("account gaussian --ratio 2 --steps 1 --delta 1e-5 --json");
    let (group, exact) = (upper(&group, "epsilon"), upper(&exact, "epsilon"));
    assert!(group >= exact && group < 1.05 * exact, "{group} {exact}");
}
