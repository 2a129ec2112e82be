//! Proposals given in code: asymmetric ones over a discrete parameter reach the exact posterior, and cost what their length costs.

use barkeep::curator::{Table, TableBuilder};
use barkeep::data::{Column, Records, Schema};
use barkeep::insecure::Insecure;
use barkeep::machine::{Source, Writer};
use barkeep::model::{Likelihood, Model};
use barkeep::samplers::{Proposal, SAMPLERS};
use barkeep::{BuiltIn, Data, Plan, Privacy, PublicRng, Sampler, Spec};

const LEVELS: usize = 5;
const RECORDS: [f64; 3] = [1.0, 2.5, 3.0];

/// A whole number from 0 to 4, all equally likely before records, each of which is it plus normal noise. It has no gradient.
struct Level(Vec<String>);

impl Likelihood for Level {
    fn dimension(&self) -> usize {
        1
    }
    fn columns(&self) -> usize {
        1
    }
    fn write_density(&self, theta: &[f64], w: &mut Writer) -> Source {
        let apart = w.sub(Source::Column(0), theta[0]);
        w.product((0.0, -0.5, apart), (0.0, 1.0, apart))
    }
}

impl Model for Level {
    fn parameter_names(&self) -> &[String] {
        &self.0
    }
    fn column_names(&self) -> &[String] {
        &self.0
    }
    fn log_prior(&self, theta: &[f64]) -> f64 {
        let whole = theta[0].fract() == 0.0 && (0.0..LEVELS as f64).contains(&theta[0]);
        if whole { 0.0 } else { f64::NEG_INFINITY }
    }
    fn simulate(&self, _: &[f64], _: &mut dyn FnMut() -> f64, row: &mut [f64]) {
        row.fill(0.0);
    }
}

/// One up with probability 0.8, else one down; at the ends the only way there is.
struct Drift {
    /// Whether it owns up to its drift.
    honest: bool,
}

impl Drift {
    fn up(at: f64) -> f64 {
        if at <= 0.0 {
            1.0
        } else if at >= (LEVELS - 1) as f64 {
            0.0
        } else {
            0.8
        }
    }
}

impl Proposal for Drift {
    fn propose(&self, from: &[f64], to: &mut [f64], rng: &mut PublicRng) {
        to[0] = if rng.uniform() < Self::up(from[0]) { from[0] + 1.0 } else { from[0] - 1.0 };
    }
    fn log_ratio(&self, from: &[f64], to: &[f64]) -> f64 {
        let chance = |from: f64, to: f64| {
            if to > from { Self::up(from) } else { 1.0 - Self::up(from) }
        };
        if self.honest { (chance(to[0], from[0]) / chance(from[0], to[0])).ln() } else { 0.0 }
    }
    fn longest(&self) -> Option<f64> {
        Some(1.0)
    }
}

fn schema() -> Schema {
    Schema::new(vec![Column::real("x", -10.0, 10.0, 0.0).unwrap()]).unwrap()
}

fn spec(privacy: Privacy) -> Spec {
    let data = Data::new(schema(), Records(RECORDS.len() as u64));
    Spec::new(data, Level(vec!["level".to_owned()]), privacy)
}

fn table() -> Table {
    let mut table = TableBuilder::new(schema(), RECORDS.len()).unwrap();
    RECORDS.iter().for_each(|x| table.push_row(&[*x]).unwrap());
    table.finish().unwrap()
}

/// How often each level was drawn, as a share.
fn shares(plan: &Plan) -> Vec<f64> {
    let run = plan.runner().insecure(Insecure::seed(3)).run(table()).unwrap();
    let draws = run.draws.chains()[0].series(0, 0);
    (0..LEVELS)
        .map(|level| draws.iter().filter(|x| **x == level as f64).count() as f64 / draws.len() as f64)
        .collect()
}

fn exact() -> Vec<f64> {
    let weight = |level: usize| RECORDS.iter().map(|x| -0.5 * (x - level as f64).powi(2)).sum::<f64>().exp();
    let total: f64 = (0..LEVELS).map(weight).sum();
    (0..LEVELS).map(|level| weight(level) / total).collect()
}

/// 30 000 dependent draws: a share is off by about 0.006, and 0.03 is five of that. Without its ratio the chain drifts.
#[test]
fn an_asymmetric_walk_over_levels_draws_from_the_posterior() {
    let walk = Sampler::named("rwmh").with("steps", 30_000).with("start", vec![2.0]).with("seed", 5);
    let off = |honest: bool| {
        let plan =
            spec(Privacy::NotPrivate).sampler(walk.clone()).propose_by(Drift { honest }).plan().unwrap();
        shares(&plan).iter().zip(exact()).map(|(found, exact)| (found - exact).abs()).fold(0.0, f64::max)
    };
    assert!(off(true) < 0.03, "{} off", off(true));
    assert!(off(false) > 0.1, "the test sees no ratio: {} off", off(false));
}

/// Its longest step is what every step costs; a step beyond it is not taken. Where nothing proposes, or a walk is described too, it is refused.
#[test]
fn a_proposal_in_code_costs_what_its_longest_step_costs() {
    let budget = || Privacy::budget(30.0, 1e-5).unwrap();
    let barker = Sampler::named("barker").with("clip", 1).with("start", vec![2.0]);
    let plan = spec(budget()).sampler(barker.clone()).propose_by(Drift { honest: true }).plan().unwrap();
    let uniform = barker.clone().with("proposal", "uniform").with("proposal_cap", 1.0);
    let same = spec(budget()).sampler(uniform.clone()).plan().unwrap();
    assert_eq!((plan.bill(), plan.epsilon()), (same.bill(), same.epsilon()));
    assert!(plan.run(table()).unwrap().certificate.verify().is_ok());
    let refused = |spec: Spec| spec.propose_by(Drift { honest: true }).plan().err().unwrap().to_string();
    assert!(refused(spec(budget()).sampler(uniform)).contains("beside a proposal given in code"));
    let langevin = Sampler::named("langevin").with("start", vec![2.0]);
    assert!(refused(spec(budget()).sampler(langevin)).contains("makes no proposals"));
}

/// Where the spec describes no step, the model's information does: Barker's rule then accepts nearly half, whatever the model's scale. A model
/// that states none needs a scale.
#[test]
fn a_step_that_is_not_described_follows_from_the_models_information() {
    for covariance in [1e-4, 1.0, 100.0] {
        let model = BuiltIn::named("gaussian").with("covariance", covariance);
        let data = Data::new(schema(), Records(1000));
        let spec = Spec::built_in(&data, model, Privacy::budget(1.0, 1e-5).unwrap()).unwrap();
        let barker = Sampler::named("barker").with("clip", 1).with("start", vec![0.0]);
        let plan = spec.sampler(barker).plan().unwrap();
        let accepted = plan.fact("expected_acceptance").unwrap().as_number().unwrap();
        assert!((0.45..0.5).contains(&accepted), "covariance {covariance}: {accepted}");
    }
    let barker = Sampler::named("barker").with("clip", 1).with("start", vec![2.0]);
    let refused =
        spec(Privacy::budget(30.0, 1e-5).unwrap()).sampler(barker).plan().err().unwrap().to_string();
    assert!(refused.contains("`sampler.proposal_sd`: is required"), "{refused}");
}

/// A model without gradients is refused, before anything is charged, by whatever follows them, and by a start that fits by them.
#[test]
fn samplers_that_follow_gradients_refuse_a_model_without() {
    for entry in SAMPLERS.iter().filter(|entry| entry.gradients) {
        let privacy = if entry.private { Privacy::budget(1.0, 1e-6).unwrap() } else { Privacy::NotPrivate };
        let sampler = Sampler::named(entry.name).with("start", vec![2.0]);
        let refused = spec(privacy).sampler(sampler).plan().err().unwrap().to_string();
        assert!(refused.contains("gradients") && refused.contains("barker"), "{}: {refused}", entry.name);
    }
    for name in ["rwmh", "barker", "penalty"] {
        assert!(SAMPLERS.iter().any(|entry| entry.name == name && !entry.gradients), "{name}");
    }
    let fit = toml::Table::from_iter([("epsilon".to_owned(), toml::Value::Float(0.2))]);
    let fit = toml::Table::from_iter([("dpvi".to_owned(), toml::Value::Table(fit))]);
    let sampler = Sampler::named("barker").with("start", toml::Value::Table(fit)).with("clip", 1);
    let sampler = sampler.with("proposal_sd", 0.5);
    let privacy = Privacy::budget(1.0, 1e-6).unwrap();
    let refused = spec(privacy).sampler(sampler).plan().err().unwrap().to_string();
    assert!(refused.contains("gradients"), "{refused}");
}
