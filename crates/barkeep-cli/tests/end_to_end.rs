//! Runs the real program from spec to certificate.

mod program;

use program::{Folder, GOOD_SPEC};

fn ready() -> Folder {
    let folder = Folder::new();
    folder.write("spec.toml", GOOD_SPEC);
    let mut records = String::from("x2,x1\n");
    for i in 0..20 {
        records.push_str(&format!("{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i)));
    }
    folder.write("records.csv", &records);
    folder
}

#[test]
fn a_sample_is_certified_and_verifies() {
    let folder = ready();
    let shown = folder.sample("spec.toml", "out");
    assert!(
        shown.stderr.contains("differentially private when one record is substituted"),
        "{}",
        shown.stderr
    );

    let certificate: serde_json::Value = serde_json::from_str(&folder.read("out/certificate.json")).unwrap();
    let epsilon = certificate["epsilon"].as_f64().unwrap();
    assert!(epsilon > 0.5 && epsilon <= 1.0, "{epsilon}");
    assert_eq!(certificate["private"], true);
    assert_eq!(certificate["level"], "decision");
    assert_eq!(certificate["steps_used"][0], certificate["steps_per_chain"]);

    let draws = folder.read("out/draws.csv");
    let mut lines = draws.lines();
    assert!(lines.next().unwrap().starts_with("chain,draw,warmup,"));
    assert_eq!(lines.count() as u64, certificate["steps_per_chain"].as_u64().unwrap());

    let verified = folder.barkeep(&["verify", "out/certificate.json"]);
    assert_eq!(verified.code, 0, "{}", verified.stderr);
    assert!(verified.stdout.contains("verified"));
}

/// Means, by parameter, of the lines of draws.csv that are no warm-up.
fn means(draws: &str) -> Vec<f64> {
    let kept: Vec<Vec<f64>> = draws
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect::<Vec<_>>())
        .filter(|cells| cells[2] == "false")
        .map(|cells| cells[3..].iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect())
        .collect();
    (0..kept[0].len()).map(|j| kept.iter().map(|row| row[j]).sum::<f64>() / kept.len() as f64).collect()
}

#[test]
fn draws_without_warm_up_have_the_means_of_the_summary() {
    let folder = ready();
    for (sampler, warm) in [
        ("name = 'barker'\nproposal_sd = 0.05\nclip = 1\nstart = [0, 0]\nchains = 2", true),
        ("name = 'langevin'\nclip = 4\nstart = [0, 0]", true),
        ("name = 'statistics'\nsteps = 50", false),
    ] {
        let head = GOOD_SPEC.split("[sampler]").next().unwrap().replace("epsilon = 1.0", "epsilon = 8.0");
        folder.write("spec.toml", &format!("{head}[sampler]\n{sampler}\n"));
        let out = sampler.split('\'').nth(1).unwrap();
        folder.sample("spec.toml", out);
        let summary: serde_json::Value =
            serde_json::from_str(&folder.read(&format!("{out}/summary.json"))).unwrap();
        let draws = folder.read(&format!("{out}/draws.csv"));
        assert_eq!(draws.contains(",true,"), warm, "{sampler}");
        let all = draws.lines().count() as u64 - 1;
        assert_eq!(all - draws.matches(",true,").count() as u64, summary["draws"].as_u64().unwrap());
        for (found, row) in means(&draws).iter().zip(summary["parameters"].as_array().unwrap()) {
            let stated = row["mean"].as_f64().unwrap();
            assert!((found - stated).abs() <= 1e-12 * (1.0 + stated.abs()), "{sampler}: {found} {stated}");
        }
    }
}

#[test]
fn one_draw_is_never_a_posterior() {
    let folder = ready();
    let head = GOOD_SPEC.split("[sampler]").next().unwrap();
    folder.write("spec.toml", &format!("{head}[sampler]\nname = 'statistics'\nsteps = 1\n"));
    let shown = folder.barkeep(&["sample", "spec.toml", "--anyway", "--out", "out"]);
    assert_eq!(shown.code, 1);
    assert!(shown.stdout.contains("One draw is not a posterior. Remedy:"), "{}", shown.stdout);
    assert!(folder.exists("out/draws.csv"), "results are written all the same");
}

#[test]
fn a_certificate_that_says_too_little_fails() {
    let folder = ready();
    folder.sample("spec.toml", "out");
    let text = folder.read("out/certificate.json");
    let honest: serde_json::Value = serde_json::from_str(&text).unwrap();

    let mut smaller = honest.clone();
    smaller["epsilon"] = (honest["epsilon"].as_f64().unwrap() * 0.99).into();
    folder.write("smaller.json", &smaller.to_string());
    assert_eq!(folder.barkeep(&["verify", "smaller.json"]).code, 1);

    let mut longer = honest.clone();
    longer["bill"]["contract"][0][1] = (honest["bill"]["contract"][0][1].as_u64().unwrap() * 2).into();
    folder.write("longer.json", &longer.to_string());
    assert_eq!(folder.barkeep(&["verify", "longer.json"]).code, 1);

    folder.write("garbage.json", "{}");
    assert_eq!(folder.barkeep(&["verify", "garbage.json"]).code, 2);
    assert_eq!(folder.barkeep(&["verify", "nowhere.json"]).code, 2);
}

#[test]
fn an_insecure_seed_repeats_the_run_on_any_number_of_threads_and_says_so() {
    let folder = ready();
    folder.write("spec.toml", &GOOD_SPEC.replace("start = [0, 0]", "start = [0, 0]\nseed = 5\nchains = 3"));
    let mut seen = Vec::new();
    for threads in ["1", "2", "3"] {
        let out = format!("out{threads}");
        let output = folder
            .command(&["sample", "spec.toml", "--out", &out, "--insecure-seed", "11"])
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert!(stderr.contains("NOT PRIVATE"));
        folder.assert_verdict(&out, output.status.code().unwrap(), &stdout, &stderr);
        let certificate = folder.read(&format!("{out}/certificate.json"));
        assert!(certificate.contains("NOT PRIVATE") && !certificate.contains("\"private\": true"));
        assert!(folder.read(&format!("{out}/summary.json")).contains("NOT PRIVATE"));
        seen.push(folder.read(&format!("{out}/draws.csv")));
        assert_eq!(folder.barkeep(&["verify", &format!("{out}/certificate.json")]).code, 1);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn fresh_noise_differs_even_when_proposals_repeat() {
    let folder = ready();
    folder.write("spec.toml", &GOOD_SPEC.replace("start = [0, 0]", "start = [0, 0]\nseed = 5"));
    for out in ["a", "b"] {
        folder.sample("spec.toml", out);
    }
    assert_ne!(folder.read("a/draws.csv"), folder.read("b/draws.csv"));
}

#[test]
fn a_plan_needs_no_records() {
    let folder = Folder::new();
    folder.write("spec.toml", GOOD_SPEC);
    let shown = folder.barkeep(&["plan", "spec.toml", "--json"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    let plan: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert!(plan["steps_per_chain"].as_u64().unwrap() > 0);
    assert!(plan["epsilon"]["upper"].as_f64().unwrap() <= 1.0);
}

const REGRESSION: &str = "[data]\npath = 'r.csv'\nrecords = 20000\n[data.columns]\n\
    y = { kind = 'bool', invalid = false }\nx = { min = 0, max = 100, invalid = 0, scale = 'bounds' }\n\
    [model]\nformula = 'y ~ x'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n\
    [sampler]\nname = 'langevin'\n";

#[test]
fn a_plan_solves_for_epsilon_and_says_what_else_would_give() {
    let folder = Folder::new();
    folder.write("spec.toml", REGRESSION);
    let json = |arguments: &[&str]| -> serde_json::Value {
        let shown = folder.barkeep(arguments);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        serde_json::from_str(&shown.stdout).unwrap()
    };
    let plan = json(&["plan", "spec.toml", "--json"]);
    let error = plan["expected_error"].as_f64().unwrap();
    let others: Vec<f64> =
        (0..3).map(|k| plan["alternatives"][k]["expected_error"].as_f64().unwrap()).collect();
    assert!(others[0] > error && others[1] < error && others[2] < error, "{error} {others:?}");
    assert!(plan["expected_width"].as_f64().unwrap() > 0.5);
    let range = &plan["expected_error_range"];
    assert!(range[0].as_f64().unwrap() < error && error < range[1].as_f64().unwrap(), "{range}");

    let solved = json(&["plan", "spec.toml", "--json", "--error", "0.5"]);
    assert!(solved["expected_error"].as_f64().unwrap() <= 0.5);
    let epsilon = solved["solved"]["epsilon"].as_f64().unwrap();
    assert!(solved["epsilon"]["upper"].as_f64().unwrap() <= epsilon);
    let shown = folder.barkeep(&["plan", "spec.toml", "--error", "0.5"]);
    assert!(shown.stdout.starts_with("An error of 0.5 posterior sd takes epsilon"), "{}", shown.stdout);
    assert_eq!(folder.barkeep(&["plan", "spec.toml", "--error", "0"]).code, 2);
}

#[test]
fn a_rehearsal_on_columns_that_fill_their_bounds_says_so() {
    let folder = Folder::new();
    let simulate = |spec: &str| {
        folder.write("spec.toml", spec);
        let arguments = ["simulate", "spec.toml", "--records", "400", "--theta", "0,1", "--out", "r.csv"];
        let shown = folder.barkeep(&arguments);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        let column = |line: &str| line.split(',').nth(1).unwrap().parse::<f64>().unwrap();
        (shown.stderr, folder.read("r.csv").lines().skip(1).map(column).collect::<Vec<f64>>())
    };
    let (said, cells) = simulate(REGRESSION);
    assert!(said.contains("x fill their bounds") && said.contains("typical = [low, high]"), "{said}");
    assert!(cells.iter().any(|x| *x < 30.0) && cells.iter().any(|x| *x > 90.0));
    let typical = REGRESSION.replace("max = 100,", "max = 100, typical = [40, 80],");
    let (said, cells) = simulate(&typical);
    assert!(!said.contains("bounds"), "{said}");
    assert!(cells.iter().all(|x| (40.0..=80.0).contains(x)));
    for (wrong, words) in [
        ("[80, 40]", "the smaller first"),
        ("[40, 180]", "within min and max"),
        ("[40]", "must be two numbers"),
    ] {
        folder.write("spec.toml", &typical.replace("[40, 80]", wrong));
        let shown = folder.barkeep(&["plan", "spec.toml"]);
        assert_eq!(shown.code, 2);
        assert!(
            shown.stderr.contains("data.columns.x.typical") && shown.stderr.contains(words),
            "{}",
            shown.stderr
        );
    }
    folder.write("spec.toml", &REGRESSION.replace("kind = 'bool',", "kind = 'bool', typical = [0, 1],"));
    assert!(folder.barkeep(&["plan", "spec.toml"]).stderr.contains("does not apply to a column of kind"));
}

#[test]
fn a_plan_looks_ahead_without_records() {
    let folder = Folder::new();
    let spec = GOOD_SPEC
        .replace("name = \"barker\"", "name = \"penalty\"\ntau = 2")
        .replace("records.csv", "no/such/file.csv");
    let planned = |spec: &str| {
        folder.write("spec.toml", spec);
        let shown = folder.barkeep(&["plan", "spec.toml", "--json"]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        serde_json::from_str::<serde_json::Value>(&shown.stdout).unwrap()
    };
    let plan = planned(&spec);
    for level in ["decision", "release"] {
        assert!(plan["affordable_steps"][level].as_u64().unwrap() > 0, "{plan}");
    }
    let other = planned(&spec.replace("tau = 2", "tau = 2\nlevel = \"release\""));
    assert_eq!(other["affordable_steps"], plan["affordable_steps"]);
    for fact in ["expected_acceptance", "expected_clipped_share", "expected_effective_draws", "noise_sd"] {
        assert!(plan["facts"][fact]["value"].is_number(), "no {fact} in {plan}");
        assert!(plan["facts"][fact]["words"].as_str().is_some_and(|words| !words.is_empty()), "{plan}");
    }
    let warnings = plan["warnings"].to_string();
    assert!(warnings.contains("effective draws"), "{warnings}");
}

#[test]
fn a_baseline_says_what_it_is() {
    let folder = ready();
    let spec = GOOD_SPEC
        .replace("epsilon = 1.0\ndelta = 1e-6", "private = false")
        .replace("name = \"barker\"", "name = \"rwmh\"\nsteps = 50");
    folder.write("spec.toml", &spec);
    let shown = folder.sample("spec.toml", "out");
    assert!(shown.stderr.contains("NOT PRIVATE"));
    assert!(folder.read("out/certificate.json").contains("NOT PRIVATE"));
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_valid_result_and_the_full_bill() {
    let folder = ready();
    // Steps short enough that the budget buys more of them than can be made before the interrupt.
    let spec = GOOD_SPEC
        .replace("proposal_sd = 0.05", "proposal_sd = 0.00003")
        .replace("start = [0, 0]", "start = [0, 0]\nsteps = 2000000");
    folder.write("spec.toml", &spec);
    let mut child = folder
        .command(&["sample", "spec.toml", "--out", "out"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while !folder.exists("out/certificate.json") {
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(child.try_wait().unwrap().is_none(), "ended before it began");
    }
    std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    let certificate: serde_json::Value = serde_json::from_str(&folder.read("out/certificate.json")).unwrap();
    let used = certificate["steps_used"][0].as_u64().unwrap();
    assert!(used < certificate["steps_per_chain"].as_u64().unwrap());
    assert_eq!(folder.read("out/draws.csv").lines().count() as u64, used + 1);
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
}

#[test]
fn simulated_records_can_be_sampled() {
    let folder = Folder::new();
    for (model, theta, columns) in
        [("gaussian", "1,-1", 2), ("banana", "0,3", 2), ("circle", "0,3", 1), ("mixture", "0,1", 1)]
    {
        let shown =
            folder.barkeep(&["simulate", model, "--records", "50", "--theta", theta, "--out", "r.csv"]);
        assert_eq!(shown.code, 0, "{}", shown.stderr);
        let text = folder.read("r.csv");
        assert_eq!(text.lines().count(), 51);
        let header = text.lines().next().unwrap();
        let names: Vec<&str> = header.split(',').collect();
        assert_eq!(names.len(), columns);
        let mut spec = String::from("[data]\npath = 'r.csv'\nrecords = 50\n[data.columns]\n");
        for name in names {
            spec.push_str(&format!("{name} = {{ min = -100, max = 100, invalid = 0 }}\n"));
        }
        spec.push_str(&format!(
            "[model]\nname = '{model}'\n[privacy]\nepsilon = 2\ndelta = 1e-5\n\
             [sampler]\nname = 'barker'\nproposal_sd = 0.1\nclip = 0.5\nstart = [{theta}]\n"
        ));
        folder.write("spec.toml", &spec);
        folder.sample("spec.toml", &format!("out-{model}"));
    }
    assert_eq!(
        folder.barkeep(&["simulate", "banana", "--records", "5", "--theta", "1", "--out", "r.csv"]).code,
        2
    );
}

#[test]
fn catalogues_list_every_key() {
    let folder = Folder::new();
    for command in ["models", "samplers"] {
        assert!(!folder.barkeep(&[command]).stdout.is_empty());
        let json = folder.barkeep(&[command, "--json"]).stdout;
        let listed: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert!(listed["entries"].as_array().unwrap().len() > 3);
    }
    let all = folder.barkeep(&["spec", "all"]).stdout;
    for (section, key) in [
        ("privacy", "epsilon"),
        ("model", "n0"),
        ("penalty", "proposal_cap"),
        ("lazy-barker", "keep"),
        ("barker-minibatch", "bound"),
    ] {
        let one = folder.barkeep(&["spec", section]).stdout;
        assert_eq!(folder.barkeep(&["help", "spec", section]).stdout, one);
        assert!(all.contains(&format!("\n  {key} ")) && one.contains(&format!("\n  {key} ")), "no {key}");
        assert!(one.lines().count() < 40 && folder.barkeep(&["spec"]).stdout.contains(section), "{one}");
    }
    let unknown = folder.barkeep(&["spec", "colunms"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("there is no section or name colunms; there are data, columns"),
        "{}",
        unknown.stderr
    );
}
