//! Asks the two questions of the gate, over records of a setting, as often as wanted.

use crate::setting::Setting;
use barkeep::accounting::{Neighbours, Rule, Sampling};
use barkeep::curator::insecure::SharedTable;
use barkeep::curator::{
    Ask, Budget, Clip, Decide, Gate, Level, NoiseRng, PrivacyModel, Shape, Sum, Temper, Term,
};
use barkeep::model::Likelihood;
use barkeep::model::terms::{self, Precondition};
use std::hint::black_box;
use std::sync::Arc;

/// Which question.
#[derive(Clone, Copy)]
pub(crate) enum Asked {
    /// May I move, all records asked?
    Decision,
    /// A decision over this many records.
    #[allow(dead_code, reason = "the program that counts instructions asks it")]
    Batch(u64),
    /// What is the sum of gradients?
    Gradient,
}

/// A gate on a setting's records.
pub(crate) struct Asker {
    gate: Gate,
    likelihood: Arc<dyn Likelihood>,
    theta: Vec<f64>,
    records: u64,
}

impl Asker {
    /// Opens a gate that nothing limits: what is timed is the question.
    pub(crate) fn new(setting: &Setting, table: &SharedTable) -> Self {
        let premises = PrivacyModel { neighbours: Neighbours::Substitute };
        let likelihood = Arc::clone(setting.parsed().likelihood());
        let curator = table.curator(premises, Budget::not_private()).unwrap();
        let gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(1)).unwrap();
        Self { gate, likelihood, theta: setting.theta.clone(), records: setting.records as u64 }
    }

    /// Asks once.
    pub(crate) fn ask(&mut self, asked: Asked) {
        match asked {
            Asked::Decision => self.decide(Sampling::Full, &Rule::Barker),
            Asked::Batch(batch) => {
                let batch = Sampling::WithoutReplacement { batch, records: self.records };
                self.decide(batch, &Rule::Penalty { sigma: 1.0 });
            }
            Asked::Gradient => self.gradient(),
        }
    }

    fn decide(&mut self, batch: Sampling, rule: &Rule) {
        let to: Vec<f64> = self.theta.iter().map(|x| x + 0.001).collect();
        let ratio = self.likelihood.ratio_program(&self.theta, &to).unwrap();
        let question = Decide {
            ratio: &ratio,
            offset: 0.3,
            temper: Temper::new(0.01).unwrap(),
            clip: Clip::new(0.01).unwrap(),
            batch,
            rule,
            level: Level::Decision,
        };
        black_box(self.gate.decide(black_box(&question)).unwrap());
    }

    fn gradient(&mut self) {
        let term = terms::gradient(&*self.likelihood, &self.theta, Precondition::Identity, &[]).unwrap();
        let question = Sum {
            term: Term::Program(barkeep::curator::Asked { term: &term, shape: Shape::Ball }),
            temper: Temper::NONE,
            clip: Clip::new(3.0).unwrap(),
            batch: Sampling::Full,
            sigma: 10.0,
        };
        let mut answer = vec![0.0; self.theta.len()];
        self.gate.sum(black_box(&question), &mut answer).unwrap();
        black_box(answer);
    }
}
