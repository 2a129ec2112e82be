//! Runs every sampler by person: one row each gives the draws of records to the bit, rows may stand anywhere in a file, and
//! what does not fit is refused before anything is spent.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::curator::{PersonsBuilder, Table};
use barkeep::data::{Column, Count, Records, Schema, Unit};
use barkeep::insecure::Insecure;
use barkeep::model::GaussianMean;
use barkeep::samplers::{ExampleSpec, SAMPLERS, SamplerEntry};
use barkeep::spec::BuiltIn;
use barkeep::{Data, Plan, Privacy, PublicRng, Run, Sampler, Spec};
use std::io::Write;
use written::{plan, refusal, run, series, simulated};

/// An example's spec with its records taken for persons of one row.
fn by_person(example: &ExampleSpec) -> String {
    let records = example.text.lines().find(|line| line.starts_with("records = ")).unwrap();
    let count = records.trim_start_matches("records = ");
    let persons = format!("person = 'id'\npersons = {count}\nmost_rows = 1");
    format!("{}seed = 5\n", example.text.replace(records, &persons))
}

/// The rows that [`simulated`] draws, each of a person of its own.
fn persons_of(plan: &Plan, theta: &[f64], seed: u64) -> Table {
    let data = plan.spec().data();
    let (model, records) = (&**plan.spec().model(), data.records().as_len());
    let mut rng = PublicRng::new(seed, 7);
    let view = barkeep::data::View::all(data.schema().clone());
    let mut builder = PersonsBuilder::new(view, Count::Exactly(records), Some(1)).unwrap();
    let mut row = vec![0.0; model.columns()];
    for person in 0..records {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        builder.push_row(&format!("person {person}"), &row).unwrap();
    }
    builder.finish().unwrap()
}

fn bits(run: &Run) -> Vec<u64> {
    let chains = 0..run.draws.chains().len();
    chains.flat_map(|chain| series(run, chain)).flatten().map(f64::to_bits).collect()
}

#[test]
fn persons_of_one_row_give_the_draws_of_records_to_the_bit() {
    let mut compared = 0;
    // One example of each sampler, and every kind of question that noise-aware asks.
    let some =
        |entry: &'static SamplerEntry| entry.examples().take(if entry.name == "noise-aware" { 3 } else { 1 });
    for example in SAMPLERS.iter().flat_map(some) {
        let records = plan(&format!("{}seed = 5\n", example.text)).unwrap();
        let persons = plan(&by_person(&example)).unwrap();
        let expected = run(&records, simulated(&records, example.theta, 3).0, 11);
        let found = run(&persons, persons_of(&persons, example.theta, 3), 11);
        assert_eq!(bits(&found), bits(&expected), "{}", example.title);
        assert_eq!(persons.epsilon(), records.epsilon(), "{}", example.title);
        compared += 1;
    }
    assert!(compared > 20, "{compared}");
}

/// A plan's records by person, of 1 to `most` rows each, and the mean of each column over all rows.
fn several(plan: &Plan, theta: &[f64], most: usize) -> (Table, Vec<f64>, f64) {
    let data = plan.spec().data();
    let (model, persons) = (&**plan.spec().model(), data.records().as_len());
    let mut rng = PublicRng::new(8, 7);
    let mut builder =
        PersonsBuilder::new(plan.view().clone(), Count::Exactly(persons), Some(most as u64)).unwrap();
    let (mut row, mut sums, mut rows) = (vec![0.0; model.columns()], vec![0.0; model.columns()], 0.0);
    for person in 0..persons {
        for _ in 0..1 + (person * 7) % most {
            model.simulate(theta, &mut || rng.open_uniform(), &mut row);
            let columns = plan.view().schema().columns();
            row.iter_mut()
                .zip(columns)
                .for_each(|(x, column)| *x = x.clamp(column.range().0, column.range().1));
            // Responses of a regression follow the features as they are admitted.
            model.respond(theta, &mut || rng.open_uniform(), &mut row);
            builder.push_row(&person.to_string(), &row).unwrap();
            sums.iter_mut().zip(&row).for_each(|(sum, x)| *sum += x);
            rows += 1.0;
        }
    }
    (builder.finish().unwrap(), sums.iter().map(|sum| sum / rows).collect(), rows)
}

/// With much budget, noisy statistics and the number of rows they come with give the posterior of all rows.
#[test]
fn statistics_of_persons_give_the_posterior_of_their_rows() {
    let text = "[data]\npath = 'r.csv'\nperson = 'who'\npersons = 500\nmost_rows = 4\n[data.columns]\n\
         x1 = { min = -30, max = 20, invalid = 0 }\nx2 = { min = -20, max = 30, invalid = 0 }\n\
         [model]\nname = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_variance = 4\n\
         [privacy]\nepsilon = 50000\ndelta = 1e-6\n[sampler]\nname = 'statistics'\nsteps = 8000\n";
    let plan = plan(text).unwrap();
    let (table, centre, rows) = several(&plan, &[1.0, -1.0], 4);
    let model = GaussianMean::new(&[1.0, 0.6, 0.6, 2.0], &[0.0, 0.0], &[4.0, 0.0, 0.0, 4.0]).unwrap();
    let (mean, covariance) = model.posterior(rows, 1.0, &centre).unwrap();
    let run = run(&plan, table, 5);
    for (j, draws) in series(&run, 0).iter().enumerate() {
        let (found, sd) = written::moments(draws);
        let expected = covariance[3 * j].sqrt();
        assert!((found - mean[j]).abs() < 0.3 * expected, "{found} {}", mean[j]);
        assert!((0.95..1.1).contains(&(sd / expected)), "{sd} {expected}");
    }
}

/// The posterior given answers about persons is that of their rows where much is spent: as wide, and about the true values.
#[test]
fn scores_of_persons_give_the_posterior_of_their_rows() {
    let text = "[data]\npath = 'r.csv'\nperson = 'who'\npersons = 4000\nmost_rows = 6\n[data.columns]\n\
         y = { kind = 'bool', invalid = false }\nx = { min = -1, max = 1, invalid = 0 }\n\
         [model]\nformula = 'y ~ x'\nfamily = 'bernoulli'\n\
         [privacy]\nepsilon = 30\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nsteps = 2000\n";
    let plan = plan(text).unwrap();
    let truth = [-0.5, 1.0];
    let (table, _, rows) = several(&plan, &truth, 6);
    let run = run(&plan, table, 5);
    for (j, draws) in series(&run, 0).iter().enumerate() {
        let (mean, sd) = written::moments(draws);
        assert!((mean - truth[j]).abs() < 4.0 * sd, "{j}: {mean} {sd}");
        // The information of a row about the intercept is p(1 − p), and a third of that about the slope of a feature that fills its
        // bounds; both shrink by a tenth where the predictor varies.
        let own = (if j == 0 { 1.0 } else { 3.0 } / (0.215 * rows)).sqrt();
        assert!((0.9..1.35).contains(&(sd / own)), "{j}: {sd} {own}");
    }
}

/// Intervals hold the true values as often as they say, for persons of 1 to 9 rows at ε = 1: 40 sets of 3000 persons each.
#[test]
#[ignore = "takes minutes: cargo test --release -p barkeep --test persons -- --ignored --nocapture"]
fn intervals_of_persons_hold_the_true_values() {
    let response = ["kind = 'bool', invalid = false", "min = -8, max = 8, invalid = 0"];
    let cases = [
        ("bernoulli", response[0], vec![-0.5, 1.5, -1.0]),
        ("gaussian", response[1], vec![-0.5, 1.5, -1.0, -0.3]),
    ];
    for (family, response, truth) in cases {
        let text = format!(
            "[data]\npath = 'r.csv'\nperson = 'who'\npersons = 3000\nmost_rows = 9\n[data.columns]\ny = {{ {response} }}\n\
             a = {{ min = -1, max = 1, invalid = 0 }}\nb = {{ min = -1, max = 1, invalid = 0 }}\n[model]\n\
             formula = 'y ~ a + b'\nfamily = '{family}'\n[privacy]\nepsilon = 1\ndelta = 1e-6\n[sampler]\n\
             name = 'noise-aware'\nsteps = 1000\n"
        );
        let plan = plan(&text).unwrap();
        let (mut held, mut all, mut squares) = (0.0, 0.0, 0.0);
        for seed in 0..40 {
            let table = visited(&plan, &truth, seed);
            for (j, draws) in series(&run(&plan, table, seed), 0).iter().enumerate() {
                let below = draws.iter().filter(|draw| **draw < truth[j]).count() as f64 / draws.len() as f64;
                held += f64::from(u8::from((0.025..=0.975).contains(&below)));
                let (mean, sd) = written::moments(draws);
                squares += ((mean - truth[j]) / sd).powi(2);
                all += 1.0;
            }
        }
        let (coverage, size) = (held / all, f64::sqrt(squares / all));
        println!("{family}: {coverage:.3} of 95 % intervals, errors of {size:.2} reported sd");
        assert!(coverage > 0.88, "{family}: {coverage}");
    }
}

/// Persons of 1 to 9 rows, whose features are alike: each person's vary by a third of what they vary between persons.
fn visited(plan: &Plan, theta: &[f64], seed: u64) -> Table {
    let persons = plan.spec().data().records().as_len();
    let mut rng = PublicRng::new(seed, 12);
    let mut builder = PersonsBuilder::new(plan.view().clone(), Count::Exactly(persons), Some(9)).unwrap();
    for person in 0..persons {
        let own = [0.3 * rng.normal(), 0.3 * rng.normal()];
        for _ in 0..1 + (person * 5) % 9 {
            let mut row = vec![0.0, own[0] + 0.1 * rng.normal(), own[1] + 0.1 * rng.normal()];
            row[1..].iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
            plan.spec().model().respond(theta, &mut || rng.open_uniform(), &mut row);
            builder.push_row(&person.to_string(), &row).unwrap();
        }
    }
    builder.finish().unwrap()
}

/// Visits of 40 persons, five each; the count and the file that holds them.
const PERSONS: usize = 40;

fn spec(folder: &std::path::Path, keys: &str, sampler: &str) -> String {
    format!(
        "[data]\npath = '{}/visits.csv'\n{keys}\n[data.columns]\n\
         ill = {{ kind = 'bool', invalid = false }}\n\
         [model]\nname = 'bernoulli'\n\
         [privacy]\nepsilon = 20\ndelta = 1e-3\n[sampler]\n{sampler}seed = 4\n",
        folder.display()
    )
}

const KEYS: &str = "person = 'patient_id'\npersons = 40\nmost_rows = 5";
const BARKER: &str = "name = 'barker'\nproposal_sd = 0.1\nstart = [0]\nsteps = 20\n";
const SGLD: &str = "name = 'sgld'\nbatch = 10\nstep_size = 0.001\nclip = 5\nsteps = 12\nstart = [0]\n";

/// A visit: who came, and what was measured.
fn visits() -> Vec<(String, u8)> {
    let mut rng = PublicRng::new(9, 0);
    let visit = |k: usize| (format!("p-{:02}", k % PERSONS), u8::from(rng.uniform() < 0.3));
    (0..5 * PERSONS).map(visit).collect()
}

fn write(folder: &std::path::Path, visits: &[(String, u8)]) {
    let mut file = std::fs::File::create(folder.join("visits.csv")).unwrap();
    writeln!(file, "ill,patient_id,note").unwrap();
    visits.iter().for_each(|(who, value)| writeln!(file, "{value},{who},x").unwrap());
}

/// The draws of a spec on the file there.
fn drawn(text: &str) -> Vec<u64> {
    let plan = plan(text).unwrap();
    let table = plan.read_records(&mut |_| panic!("the number of rows is shown")).unwrap();
    bits(&plan.runner().insecure(Insecure::seed(3)).run(table).unwrap())
}

#[test]
fn rows_may_stand_anywhere_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let visits = visits();
    // The first visits of all stay in front, so that batches draw the same persons.
    let (first, rest) = visits.split_at(PERSONS);
    let mut grouped = first.to_vec();
    let mut sorted = rest.to_vec();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    grouped.extend(sorted);
    let mut contiguous = visits.clone();
    contiguous.sort_by(|a, b| b.0.cmp(&a.0));
    for sampler in [BARKER, SGLD] {
        let text = spec(folder.path(), KEYS, sampler);
        write(folder.path(), &visits);
        let expected = drawn(&text);
        write(folder.path(), &grouped);
        assert_eq!(drawn(&text), expected);
        // Where all persons are asked, their order does not matter either.
        write(folder.path(), &contiguous);
        assert_eq!(drawn(&text) == expected, sampler == BARKER);
    }
}

#[test]
fn rows_beyond_the_most_do_not_count_and_cells_are_never_refused() {
    let folder = tempfile::tempdir().unwrap();
    let text = spec(folder.path(), KEYS, BARKER);
    write(folder.path(), &visits());
    let expected = drawn(&text);
    let mut more = visits();
    more.extend((0..700).map(|k| (format!("p-{:02}", k % 3), 1)));
    write(folder.path(), &more);
    assert_eq!(drawn(&text), expected);
    // A person without a name is a person: of all rows without one.
    let mut nameless = visits();
    nameless.iter_mut().filter(|(who, _)| who == "p-07").for_each(|(who, _)| who.clear());
    write(folder.path(), &nameless);
    assert_eq!(drawn(&text), expected);
}

#[test]
fn what_does_not_fit_is_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &visits());
    let with = |keys: &str| spec(folder.path(), keys, BARKER);
    for (keys, words) in [
        ("person = 'patient_id'\nrecords = 200", "data.records"),
        ("person = 'patient_id'", "data.persons"),
        ("records = 200\npersons = 40", "needs person"),
        ("records = 200\nmost_rows = 4", "needs person"),
        ("person = 'patient_id'\npersons = 0", "data.persons"),
        ("person = 'patient_id'\npersons = 40\nmost_rows = 0", "data.most_rows"),
        ("person = 'ill'\npersons = 40", "data.columns declares too"),
        ("person = 'patient_id'\npeople = 40", "people"),
    ] {
        let shown = refusal(&with(keys));
        assert!(shown.contains(words), "{keys}: {shown}");
    }
    for (keys, words) in [
        ("person = 'patient_id'\npersons = 41\nmost_rows = 5", "data.persons = 41"),
        ("person = 'patient_id'\npersons = 39\nmost_rows = 5", "another number of persons"),
        ("person = 'patient_ids'\npersons = 40\nmost_rows = 5", "did you mean patient_id?"),
    ] {
        let error = plan(&with(keys)).unwrap().read_records(&mut |_| {}).err().unwrap().to_string();
        assert!(error.contains(words) && !error.contains("p-"), "{keys}: {error}");
    }
    // Bounds for a row bound nobody whose rows are not counted.
    let unbounded = "person = 'patient_id'\npersons = 40";
    for (sampler, words) in [
        (BARKER, "most_rows"),
        ("name = 'langevin'\nsteps = 5\n", "data.most_rows is required"),
        ("name = 'ops'\nlow = -1\nhigh = 1\n", "most_rows"),
        ("name = 'statistics'\n", "most_rows"),
    ] {
        let shown = refusal(&spec(folder.path(), unbounded, sampler));
        assert!(shown.contains(words), "{sampler}: {shown}");
    }
    assert!(
        plan(&spec(folder.path(), unbounded, "name = 'langevin'\nfisher_scale = 5\nsteps = 5\n")).is_ok()
    );
}

#[test]
fn plan_and_certificate_speak_of_persons() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &visits());
    let plan = plan(&spec(folder.path(), KEYS, BARKER)).unwrap();
    assert_eq!(plan.to_json()["unit"]["person"]["most_rows"], 5);
    // A person's five rows reach five times as far as one.
    let one = refusal_free(&spec(folder.path(), &KEYS.replace("= 5", "= 1"), BARKER));
    let ratio = plan.fact("clip_bound").unwrap().as_number().unwrap()
        / one.fact("clip_bound").unwrap().as_number().unwrap();
    assert!((ratio - 5.0).abs() < 1e-9, "{ratio}");
    let run = plan.run(plan.read_records(&mut |_| {}).unwrap()).unwrap();
    let certificate = run.certificate;
    assert!(certificate.statement.ends_with("when one `patient_id`'s rows, at most 5, are substituted."));
    assert_eq!(certificate.unit, Unit::Person { most_rows: Some(5) });
    assert_eq!(certificate.records, Records(40));
    assert!(certificate.premises.iter().any(|premise| premise.contains("same identifier")));
    assert!(certificate.public[0].contains("number of persons"));
    certificate.verify().unwrap();
    let mut forged = certificate.clone();
    forged.unit = Unit::Person { most_rows: None };
    assert!(forged.verify().is_err());
    forged.statement = forged.statement.replace(", at most 5,", "");
    assert!(forged.verify().is_err());
    let mut forged = certificate.clone();
    forged.person = Some("visit".to_owned());
    assert!(forged.verify().is_err());
    forged.statement = forged.statement.replace("patient_id", "visit");
    assert!(forged.verify().is_err());
}

fn refusal_free(text: &str) -> Plan {
    plan(text).unwrap()
}

#[test]
fn a_builder_says_the_same_as_toml() {
    let schema = Schema::new(vec![Column::real("pressure", -4.0, 4.0, 0.0).unwrap()]).unwrap();
    let data = Data::new(schema, Records(40)).by_person("patient_id").most_rows(5);
    let privacy = Privacy::budget(2.0, 1e-3).unwrap();
    let model = BuiltIn::named("gaussian").with("covariance", vec![vec![1.0]]).with("prior_variance", 4.0);
    let sampler = Sampler::named("langevin").with("steps", 5);
    let plan = Spec::built_in(&data, model, privacy).unwrap().sampler(sampler).plan().unwrap();
    assert_eq!(plan.spec().data(), &data);
    let text = plan.spec().text();
    assert!(
        ["person = \"patient_id\"", "persons = 40", "most_rows = 5"].iter().all(|key| text.contains(key))
    );
    // A table of records would be another promise than the certificate's.
    let view = || plan.spec().data().view().clone();
    let mut records = barkeep::curator::TableBuilder::viewed(view(), Count::Exactly(40)).unwrap();
    (0..40).for_each(|_| records.push_row(&[0.5]).unwrap());
    assert!(plan.run(records.finish().unwrap()).err().unwrap().to_string().contains("PersonsBuilder"));
    let mut persons = PersonsBuilder::new(view(), Count::Exactly(40), Some(5)).unwrap();
    (0..120).for_each(|k| persons.push_row(&format!("{}", k % 40), &[0.5]).unwrap());
    plan.run(persons.finish().unwrap()).unwrap();
}
