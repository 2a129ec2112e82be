//! Asks a gate one question of every kind, to compare tables that must answer alike.

use crate::sums::own_terms::{Public, made_up_theta};
use crate::sums::terms::Terms;
use crate::{Ask, Choose, Clip, Decide, Gate, Level, Sum, Temper, Term};
use barkeep_accounting::{Rule, Sampling};
use barkeep_data::Schema;
use barkeep_model::Likelihood;

/// Answers to a decision, a choice and a sum of every term there is, in bits.
pub(crate) fn answers(gate: &mut Gate, likelihood: &dyn Likelihood, schema: &Schema) -> Vec<u64> {
    let theta = made_up_theta(likelihood.dimension(), 0.5);
    let other: Vec<f64> = theta.iter().map(|x| x + 0.01).collect();
    let public = Public::new(likelihood, schema);
    let clip = Clip::new(0.7).unwrap();
    let mut answers = Vec::new();
    for rule in [Rule::Barker, Rule::Penalty { sigma: 1.0 }] {
        let question = Decide {
            from: &theta,
            to: &other,
            offset: 0.1,
            temper: Temper::NONE,
            clip,
            batch: Sampling::Full,
            rule: &rule,
            level: Level::Decision,
            along: None,
        };
        answers.push(u64::from(gate.decide(&question).unwrap()));
    }
    let candidates = [theta.clone(), other.clone(), vec![0.0; theta.len()]].concat();
    let question = Choose {
        reference: &theta,
        candidates: &candidates,
        offsets: &[0.0; 3],
        range: (-1.0, 1.5),
        power: 0.1,
    };
    answers.push(gate.choose(&question).unwrap() as u64);
    let every = public.every_term(&theta);
    let possible = |term: &&Term<'_>| Terms::new(**term, likelihood, schema).is_ok();
    for term in every.iter().filter(possible).chain([&Term::Faults]) {
        let width = match term {
            Term::Faults => gate.faults(),
            term => Terms::new(*term, likelihood, schema).unwrap().width(),
        };
        let mut out = vec![0.0; width];
        let question = Sum { term: *term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma: 1.0 };
        gate.sum(&question, &mut out).unwrap();
        answers.extend(out.iter().map(|x| x.to_bits()));
    }
    assert!(answers.len() > 60);
    answers
}
