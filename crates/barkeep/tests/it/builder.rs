//! Builds specs in code: the same plans and draws as from text, and own models with all that comes with a plan.

use barkeep::accounting::Neighbours;
use barkeep::curator::{Table, TableBuilder, Temper};
use barkeep::data::{Column, Records, Scale, Schema};
use barkeep::insecure::Insecure;
use barkeep::machine::{Source, Writer};
use barkeep::model::{GaussianMean, Gradient, Likelihood, Model};
use barkeep::{BuiltIn, Certificate, Data, Plan, Privacy, Run, Sampler, Spec};
use std::path::Path;

const RECORDS: u64 = 500;

fn schema() -> Schema {
    Schema::new(vec![Column::real("x", -10.0, 10.0, 0.0).unwrap()]).unwrap()
}

fn budget() -> Privacy {
    Privacy::budget(1.0, 1e-5).unwrap()
}

fn barker() -> Sampler {
    Sampler::named("barker").with("clip", 1).with("proposal_sd", 0.1).with("start", vec![0.0]).with("seed", 3)
}

fn table() -> Table {
    table_of(RECORDS)
}

fn table_of(records: u64) -> Table {
    let mut table = TableBuilder::new(schema(), records as usize).unwrap();
    (0..records).for_each(|i| table.push_row(&[(i % 7) as f64 - 2.5]).unwrap());
    table.finish().unwrap()
}

fn seeded(plan: &Plan) -> Run {
    plan.runner().insecure(Insecure::seed(7)).run(table()).unwrap()
}

/// A normal mean that is not one of barkeep's own models, although it asks one.
struct Shifted(GaussianMean);

impl Likelihood for Shifted {
    fn dimension(&self) -> usize {
        1
    }
    fn columns(&self) -> usize {
        1
    }
    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        self.0.write_density(theta, w)
    }
    fn has_gradient(&self) -> bool {
        true
    }
    fn write_gradient(&self, theta: &[f64], w: &mut Writer) -> Gradient {
        self.0.write_gradient(theta, w)
    }
}

impl Model for Shifted {
    fn parameter_names(&self) -> &[String] {
        self.0.parameter_names()
    }
    fn column_names(&self) -> &[String] {
        self.0.column_names()
    }
    fn log_prior(&self, theta: &[f64]) -> f64 {
        self.0.log_prior(theta)
    }
    fn prior_gradient(&self, theta: &[f64], out: &mut [f64]) {
        self.0.prior_gradient(theta, out);
    }
    fn simulate(&self, theta: &[f64], uniform: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        self.0.simulate(theta, uniform, row);
    }
}

fn own() -> Spec {
    let model = Shifted(GaussianMean::independent(&[1.0], 1000.0).unwrap());
    Spec::new(Data::new(schema(), Records(RECORDS)), model, budget())
}

#[test]
fn what_is_built_is_what_its_text_says() {
    let model = BuiltIn::named("gaussian").with("covariance", 2.0);
    let spec = Spec::built_in(&Data::new(schema(), Records(RECORDS)), model, budget()).unwrap();
    let built = spec.temper(Temper::new(0.5).unwrap()).sampler(barker()).plan().unwrap();
    let text = "[data]\npath = 'in memory'\nrecords = 500\ncolumns.x = { min = -10, max = 10, invalid = 0 }\n\
                [model]\nname = 'gaussian'\ncovariance = 2\ntemper = 0.5\n[privacy]\nepsilon = 1\ndelta = 1e-5\n\
                [sampler]\nname = 'barker'\nclip = 1\nproposal_sd = 0.1\nstart = [0]\nseed = 3\n";
    let written = Spec::parse(text, Path::new("")).unwrap().plan().unwrap();
    assert_eq!(built.to_json(), written.to_json());
    assert_eq!(seeded(&built).draws, seeded(&written).draws);
    // Its certificate holds the text, from which it is planned again.
    let verified = Certificate::of(&built).verify().unwrap();
    assert_eq!((Some(verified.epsilon), verified.not_planned), (built.epsilon(), None));
}

#[test]
fn every_kind_of_column_survives_being_written() {
    let columns = vec![
        Column::boolean("y", true).unwrap(),
        Column::integer("n", -3.0, 9.0, 2.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::category("g", vec!["a".into(), "b \"c\"".into()], "b \"c\"").unwrap(),
        Column::real("x", 1e-300, 0.1, 0.05).unwrap(),
    ];
    let data = Data::in_file(Schema::new(columns).unwrap(), Records(9), "r.csv").delimited_by(b';');
    let model = BuiltIn::named("regression").with("formula", "y ~ n + g + x").with("family", "bernoulli");
    let spec = Spec::built_in(&data, model, budget()).unwrap();
    assert_eq!((spec.data().csv_options().delimiter, spec.data().path()), (b';', Path::new("r.csv")));
    assert_eq!(spec.data().view().source(), data.schema());
    assert_eq!(Spec::parse(&spec.text(), Path::new("")).unwrap().data(), spec.data());
}

#[test]
fn an_own_model_is_planned_certified_and_run() {
    let plan = own().sampler(barker()).plan().unwrap();
    assert!(plan.spec().model_name().ends_with("builder::Shifted"));
    // The same density, clip and rule cost what they cost the model it asks.
    let model = BuiltIn::named("gaussian");
    let same = Spec::built_in(&Data::new(schema(), Records(RECORDS)), model, budget()).unwrap();
    let same = same.sampler(barker()).plan().unwrap();
    assert_eq!((plan.steps(), plan.epsilon(), plan.bill()), (same.steps(), same.epsilon(), same.bill()));
    let run = seeded(&plan);
    assert!(!run.certificate.private && run.draws.is_not_private());
    assert_eq!(run.certificate.steps_used.as_ref(), Some(&run.steps_used));

    let run = plan.run(table()).unwrap();
    assert!(run.certificate.private && run.summary().parameters[0].mean.is_some());
    assert!(run.certificate.premises.iter().any(|premise| premise.contains("builder::Shifted")));
    let out = tempfile::tempdir().unwrap();
    run.save(out.path().join("results")).unwrap();
    assert!(run.save(out.path().join("results")).is_err(), "an earlier result is never overwritten");
    let read = Certificate::read(&out.path().join("results/certificate.json")).unwrap();
    // What is saved binds the files it is saved beside.
    assert!(read.hashes.is_some() && run.certificate.hashes.is_none());
    assert_eq!(Certificate { hashes: None, ..read }, run.certificate);
    for file in ["draws.csv", "draws.parquet", "summary.json"] {
        assert!(out.path().join("results").join(file).exists(), "{file}");
    }
}

/// Whoever builds a table cannot make a certificate speak of another number of records than its run read.
#[test]
fn a_table_of_another_size_is_refused_where_its_size_is_public() {
    let plan = own().sampler(barker()).plan().unwrap();
    for records in [1, RECORDS - 1, RECORDS + 1] {
        let refused = plan.run(table_of(records)).err().unwrap().to_string();
        assert_eq!(
            refused,
            "spec key `data.records`: is not the number of records, or persons, in the table"
        );
    }
    let Privacy::Budget { epsilon, delta, .. } = budget() else { unreachable!("a budget") };
    let secret = Privacy::Budget { epsilon, delta, neighbours: Neighbours::AddRemove };
    let model = Shifted(GaussianMean::independent(&[1.0], 1000.0).unwrap());
    let secret = Spec::new(Data::new(schema(), Records(RECORDS)), model, secret);
    let plan = secret.sampler(barker()).plan().unwrap();
    for records in [1, RECORDS - 1, RECORDS + 1] {
        assert!(plan.run(table_of(records)).is_ok());
    }
}

/// A certificate of an own model holds together without the model's code, and says what was not checked.
#[test]
fn an_own_models_certificate_is_verified_as_far_as_it_can_be() {
    let certificate = Certificate::of(&own().sampler(barker()).plan().unwrap());
    let verified = certificate.verify().unwrap();
    assert!(verified.epsilon.get() <= 1.0);
    assert!(verified.not_planned.unwrap().contains("builder::Shifted"));
    let forged = |change: fn(&mut Certificate)| {
        let mut forged = certificate.clone();
        change(&mut forged);
        forged.verify().unwrap_err().to_string()
    };
    assert!(forged(|c| c.records = Records(5)).contains("records is not what the spec"));
    assert!(forged(|c| c.sampler = "penalty".into()).contains("sampler is not what the spec"));
    assert!(forged(|c| c.chains = 2).contains("chains is not what the spec"));
    assert!(forged(|c| c.model = "another".into()).contains("model is not what the spec"));
    assert!(forged(|c| c.premises.truncate(1)).contains("premises is not what the spec"));
    assert!(
        forged(|c| c.spec = c.spec.replace("1e-5", "1e-4").replace("0.00001", "0.0001")).contains("delta")
    );
    let error = Spec::parse(&certificate.spec, Path::new("")).err().unwrap().to_string();
    assert!(error.contains("`model.own`") && error.contains("only that program can plan it"), "{error}");
}

#[test]
fn faults_are_named_as_in_a_text() {
    let refusal = |spec: Spec| spec.plan().err().unwrap().to_string();
    let typo = refusal(own().sampler(barker().with("clp", 1)));
    assert_eq!(typo, "spec key `sampler.clp`: unknown key; did you mean `clip`?");
    assert!(refusal(own().sampler(Sampler::named("barkr"))).contains("did you mean `barker`?"));
    let model = Shifted(GaussianMean::independent(&[1.0], 1000.0).unwrap());
    let wide = Schema::new(vec![
        Column::real("x", 0.0, 1.0, 0.0).unwrap(),
        Column::real("z", 0.0, 1.0, 0.0).unwrap(),
    ]);
    let wide = Spec::new(Data::new(wide.unwrap(), Records(5)), model, budget());
    assert!(refusal(wide).contains("reads 1 columns, but 2 are declared"));
    for records in [0, (1 << 32) + 1] {
        let model = Shifted(GaussianMean::independent(&[1.0], 1000.0).unwrap());
        assert!(
            refusal(Spec::new(Data::new(schema(), Records(records)), model, budget()))
                .contains("`data.records`")
        );
    }
    assert!(Privacy::budget(-1.0, 0.1).is_err() && Privacy::budget(1.0, 0.0).is_err());
}
