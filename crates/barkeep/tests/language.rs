//! Runs every model of the gallery from its spec to its certificate, and holds texts to the built-in models they write down.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::data::Records;
use barkeep::{Plan, Simulation, Spec};
use std::path::{Path, PathBuf};
use written::{refusal, run, series, simulated};

/// The specs of the gallery.
fn gallery() -> Vec<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/models"));
    let mut specs: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    specs.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    specs.sort();
    specs
}

/// θ in the line of a spec that says how to simulate its records.
fn theta(text: &str) -> Vec<f64> {
    let line = text.lines().find(|line| line.contains("--theta=")).unwrap();
    let numbers = line.split("--theta=").nth(1).unwrap().split(' ').next().unwrap();
    numbers.split(',').map(|number| number.parse().unwrap()).collect()
}

#[test]
fn every_model_of_the_gallery_runs_and_is_certified_with_its_text() {
    let specs = gallery();
    assert_eq!(specs.len(), 11);
    for path in specs {
        let folder = tempfile::tempdir().unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        let text =
            written.replace("records = 20000", "records = 500").replace("epsilon = 4", "epsilon = 200")
                + "steps = 3\n";
        let name = path.file_stem().unwrap().to_str().unwrap();
        let model = std::fs::read_to_string(path.with_extension("model")).unwrap();
        std::fs::write(folder.path().join(format!("{name}.model")), &model).unwrap();
        let spec = Spec::parse(&text, folder.path()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let simulation = if spec.model().simulates() {
            Simulation::of_spec(&spec)
        } else {
            let table = toml::Table::from_iter([("name".to_owned(), name.into())]);
            Simulation::of_model(&table, spec.model().dimension()).unwrap()
        };
        let csv = folder.path().join(format!("{name}.csv"));
        simulation.write_csv(&csv, b',', &theta(&written), Records(500), 1).unwrap();
        let plan = Plan::new(spec).unwrap_or_else(|error| panic!("{name}: {error}"));
        let table = plan.read_records(&mut |_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
        let run = plan.run(table).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(run.draws.dimension(), theta(&written).len(), "{name}");
        let last: Vec<f64> = series(&run, 0).iter().map(|series| *series.last().unwrap()).collect();
        assert!(last.iter().all(|value| value.is_finite()), "{name}: {last:?}");
        // The file is not needed again: its text is in the certificate, and verifying builds it anew.
        let held: toml::Table = run.certificate.spec.parse().unwrap();
        assert_eq!(held["model"]["text"].as_str(), Some(model.as_str()), "{name}");
        run.certificate.verify().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// A spec of a model over these columns.
fn spec(columns: &str, model: &str, sampler: &str) -> String {
    format!(
        "[data]\npath = 'none.csv'\nrecords = 5000\n[data.columns]\n{columns}\n[model]\n{model}\n[privacy]\nepsilon = 8\n\
         delta = 1e-5\n[sampler]\n{sampler}\nsteps = 200\nseed = 5\n"
    )
}

#[test]
fn draws_of_the_papers_models_as_text_are_those_of_the_built_in_ones() {
    let gallery = |name: &str| {
        let path = format!("{}/../../examples/models/{name}.model", env!("CARGO_MANIFEST_DIR"));
        format!("text = '''\n{}'''", std::fs::read_to_string(path).unwrap())
    };
    let banana = "x1 = { min = -50, max = 50, invalid = 0 }\nx2 = { min = -50, max = 50, invalid = 0 }";
    let mixture = "x = { min = -50, max = 50, invalid = 0 }";
    let walk = "name = 'barker'\nproposal_sd = 0.05\nclip = 0.2";
    // Short steps: between the two modes of a mixture long ones pull neighbouring chains apart, and a rounding with them.
    let dynamics = "name = 'langevin'\nclip = 5\nprecondition = [0.1, 0.1]\nstep = 0.05";
    for (name, columns, theta) in [("banana", banana, [0.0, 3.0]), ("mixture", mixture, [0.0, 1.0])] {
        // The last is what a spec gets that says nothing: long steps in a metric whose slope is a central difference. A
        // rounding grows in both, so only the first draws are compared, and less closely.
        for (sampler, compared, rounding) in [(walk, 200, 1e-9), (dynamics, 200, 1e-9), ("", 20, 1e-7)] {
            let sampler = format!("{sampler}\nstart = {theta:?}");
            let plan = |model: &str| {
                let spec = Spec::parse(&spec(columns, model, &sampler), Path::new("")).unwrap();
                Plan::new(spec).unwrap_or_else(|error| panic!("{name}: {error}"))
            };
            let (text, built_in) = (plan(&gallery(name)), plan(&format!("name = '{name}'")));
            assert_eq!(text.steps(), built_in.steps());
            let draws = |plan: &Plan| series(&run(plan, simulated(&built_in, &theta, 3).0, 11), 0);
            let mut moved = 0;
            let (found, expected) = (draws(&text), draws(&built_in));
            let first = |series: &[Vec<f64>]| -> Vec<f64> {
                series.iter().flat_map(|series| series[..compared].to_vec()).collect()
            };
            for (found, expected) in first(&found).iter().zip(&first(&expected)) {
                assert!(
                    (found - expected).abs() <= rounding * (1.0 + expected.abs()),
                    "{name}: {found} {expected}"
                );
                moved += usize::from(*expected != theta[0] && *expected != theta[1]);
            }
            assert!(moved > 20, "{name} hardly moved");
        }
    }
}

#[test]
fn a_bounded_text_is_not_clipped_and_the_plan_says_so() {
    let columns = "y = { kind = 'bool', invalid = false }\nx = { min = -1, max = 1, invalid = 0 }";
    let text = "text = '''\nparameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\nrecord\n y ~ bernoulli_logit(a + b * x)\n'''";
    let plan =
        Plan::new(Spec::parse(&spec(columns, text, "name = 'langevin'"), Path::new("")).unwrap()).unwrap();
    let words = format!("{:?}", plan.fact("clipping"));
    assert!(words.contains("none: bounds"), "{words}");
}

#[test]
fn a_fault_of_a_text_names_key_line_and_place() {
    let columns = "y = { min = 0.1, max = 9, invalid = 1 }";
    let said = refusal(&spec(columns, "text = '''\nparameters\n s > 0\nrecord\n y ~ weibul(s, 1)\n'''", ""));
    assert!(
        said.contains("model.text")
            && said.contains("line 4, column 6")
            && said.contains("did you mean `weibull`?"),
        "{said}"
    );
    let said = refusal(&spec(columns, "file = 'nowhere.model'", ""));
    assert!(said.contains("model.file") && said.contains("cannot read"), "{said}");
    let said = refusal(&spec(columns, "file = 'a'\ntext = 'b'", ""));
    assert!(said.contains("say the same thing"), "{said}");
    let said = refusal(&spec(columns, "txt = 'b'", ""));
    assert!(said.contains("name"), "{said}");
}

/// A spec whose model names the second and the third of three columns.
const PARTLY: &str = "[data]\npath = 'none.csv'\nrecords = 400\n[data.columns]\n\
     unused = { min = 0, max = 1, invalid = 0 }\n\
     x = { min = -50, max = 50, invalid = 0, typical = [2, 4] }\n\
     y = { min = 0, max = 1000, invalid = 0, scale = 'bounds' }\n\
     [model]\ntext = '''\nparameters\n a ~ normal(0, 1)\n s > 0 ~ half_normal(1)\n twice = 2 * s\nrecord\n y ~ normal(a + 0.001 * x, s)\n'''\n\
     [privacy]\nepsilon = 50\ndelta = 1e-5\n[sampler]\nname = 'langevin'\nsteps = 20\nseed = 1\n";

#[test]
fn simulated_records_of_a_text_are_typical_and_in_their_own_units() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec::parse(PARTLY, folder.path()).unwrap();
    let csv = folder.path().join("none.csv");
    let simulation = Simulation::of_spec(&spec);
    assert!(simulation.filling_bounds().is_empty());
    simulation.write_csv(&csv, b',', &[0.2, -4.0], Records(400), 1).unwrap();
    let written = std::fs::read_to_string(&csv).unwrap();
    let mut lines = written.lines();
    assert_eq!(lines.next(), Some("x,y"));
    for line in lines {
        let values: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        // y has mean 500 + 500·(0.2 + 0.001·x) in its own unit and a standard deviation of 500·e⁻⁴, about 9.
        assert!((2.0..=4.0).contains(&values[0]), "{line}");
        assert!((values[1] - 601.5).abs() < 55.0, "{line}");
    }
}

#[test]
fn what_a_text_calls_by_name_is_summarised_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec::parse(PARTLY, folder.path()).unwrap();
    let csv = folder.path().join("none.csv");
    Simulation::of_spec(&spec).write_csv(&csv, b',', &[0.2, -1.0], Records(400), 1).unwrap();
    let plan = Plan::new(spec).unwrap();
    let run = plan.run(plan.read_records(&mut |_| {}).unwrap()).unwrap();
    let summary = run.summary();
    let names: Vec<&str> = summary.quantities.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["s", "twice"]);
    let (s, twice) = (summary.quantities[0].mean.unwrap(), summary.quantities[1].mean.unwrap());
    assert!((twice - 2.0 * s).abs() < 1e-12 && s > 0.0);
    let shown = summary.to_string();
    assert!(shown.contains("\nlog_s ") && shown.contains("\ns ") && shown.contains("\ntwice "), "{shown}");
    run.save(folder.path().join("results")).unwrap();
    let draws = std::fs::read_to_string(folder.path().join("results/draws.csv")).unwrap();
    assert_eq!(draws.lines().next(), Some("chain,draw,warmup,a,log_s,s,twice"));
    let last: Vec<f64> =
        draws.lines().last().unwrap().split(',').skip(3).map(|cell| cell.parse().unwrap()).collect();
    assert!((last[1].exp() - last[2]).abs() < 1e-12 && last[3] == 2.0 * last[2], "{last:?}");
    let held = std::fs::read_to_string(folder.path().join("results/summary.json")).unwrap();
    let held: serde_json::Value = serde_json::from_str(&held).unwrap();
    assert_eq!(held["quantities"][1]["name"], "twice");
}

/// Persons of several rows: a text clips and adds by person as the family it writes down does.
#[test]
fn a_text_counts_persons_as_the_family_does() {
    let folder = tempfile::tempdir().unwrap();
    let visits: String = (0..240)
        .map(|k| format!("{},{},{}\n", k % 80, k % 3 == 0 || k % 7 == 1, (k * 37 % 100) as f64 / 50.0 - 1.0))
        .collect();
    std::fs::write(folder.path().join("visits.csv"), format!("id,ill,x\n{visits}")).unwrap();
    let text = "text = '''\nparameters\n a ~ normal(0, 1)\n b ~ normal(0, 1)\nrecord\n ill ~ bernoulli_logit(a + b * x)\n'''";
    let formula = "formula = 'ill ~ x'\nfamily = 'bernoulli'\n[model.priors]\nintercept = 'normal(0, 1)'\nx = 'normal(0, 1)'";
    for sampler in [
        "name = 'barker'\nproposal_sd = 0.2\nclip = 1\nstart = [0, 0]",
        "name = 'langevin'\nclip = 2\nprecondition = [1, 1]\nstep = 0.1",
    ] {
        let draws = |model: &str| {
            let spec = format!(
                "[data]\npath = 'visits.csv'\nperson = 'id'\npersons = 80\nmost_rows = 3\n[data.columns]\n\
                 ill = {{ kind = 'bool', invalid = false }}\nx = {{ min = -1, max = 1, invalid = 0 }}\n\
                 [model]\n{model}\n[privacy]\nepsilon = 20\ndelta = 1e-4\n[sampler]\n{sampler}\nsteps = 60\nseed = 2\n"
            );
            let plan = Plan::new(Spec::parse(&spec, folder.path()).unwrap())
                .unwrap_or_else(|error| panic!("{error}"));
            let table = plan.read_records(&mut |_| {}).unwrap();
            series(&run(&plan, table, 7), 0)
        };
        let (found, expected) = (draws(text), draws(formula));
        for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((found - expected).abs() <= 1e-9, "{sampler}: {found} {expected}");
        }
        assert!(expected[1].iter().any(|value| *value != expected[1][0]), "{sampler}: nothing moved");
    }
}
