//! Centred scores and tails of records against what the public side says of the same record.

use super::*;
use crate::families::bernoulli::Probit;
use crate::families::binomial::Binomial;
use crate::families::gamma::Gamma;
use crate::families::negative_binomial::NegativeBinomial;
use crate::families::poisson::Poisson;
use crate::families::student_t::StudentT;
use crate::{CentredScore, NodeRoom, ScoreBlock, Scorer};

const UNKNOWN: Nuisance = Nuisance::Unknown(Prior::HalfNormal { scale: 1.0 });

/// A regression with the largest responses to try it with, and how to make a response of a number in (−1, 1).
struct Case {
    name: &'static str,
    regression: Regression,
    tops: &'static [f64],
    response: fn(f64) -> f64,
    log_nuisance: f64,
}

fn design() -> Design {
    let features = vec!["a".into(), "b".into(), "c".into()];
    Design::new("y", features, true, Prior::Normal { mean: 0.0, sd: 2.5 }).unwrap()
}

fn cases() -> Vec<Case> {
    let count = |u: f64| (8.0 * (u + 1.0)).floor();
    let case = |name, family: Box<dyn Family>, tops, response, log_nuisance| Case {
        name,
        regression: regression(family),
        tops,
        response,
        log_nuisance,
    };
    let mut cases = vec![
        case("logit", Box::new(Logit), &[1.0], |u| f64::from(u > 0.0), 0.0),
        case("probit", Box::new(Probit), &[1.0], |u| f64::from(u > 0.0), 0.0),
        case("poisson", Box::new(Poisson), &[1e6, 3.0, 50.0, 1000.0], count, 0.0),
        case("normal", Box::new(Gaussian { sd: UNKNOWN }), &[1e6], |u| 40.0 * u, -0.4),
        case("student", Box::new(StudentT { degrees: 4.0, scale: UNKNOWN }), &[1e6], |u| 40.0 * u, 0.3),
        case("gamma", Box::new(Gamma { shape: UNKNOWN }), &[1e6], |u| u + 1.01, 0.7),
        // Its size is 1, whose ln Γ is 0.
        case("size 1", Box::new(NegativeBinomial { size: UNKNOWN }), &[1e6, 20.0, 500.0], count, 0.0),
        case("size 2.2", Box::new(NegativeBinomial { size: UNKNOWN }), &[f64::INFINITY], count, 0.8),
    ];
    let trials: [fn(Design) -> Design; 3] = [
        |design| design.with_fixed_trials(20.0).unwrap(),
        |design| design.with_fixed_trials(300.0).unwrap(),
        |design| design.with_trials("n", 10.0).unwrap(),
    ];
    for with_trials in trials {
        let regression = Regression::new(with_trials(design()), Box::new(Binomial)).unwrap();
        cases.push(Case {
            name: "binomial",
            regression,
            tops: &[1e6, 12.0],
            response: count,
            log_nuisance: 0.0,
        });
    }
    cases
}

/// Records in columns: responses, trials of at least the responses, features that reach η of `reach` with θ's coefficients of 1.
fn records(case: &Case, numbers: &mut Numbers) -> Vec<f64> {
    let mut values: Vec<f64> = (0..RECORDS).map(|_| (case.response)(numbers.next())).collect();
    if case.regression.trials().0 {
        let trials: Vec<f64> = values.iter().map(|y| y + (5.0 * (numbers.next() + 1.0)).floor()).collect();
        values.extend(trials);
    }
    values.extend(numbers.list(3 * RECORDS, 1.0));
    values
}

/// What each question is asked with.
fn ask(case: &Case, check: impl Fn(&Case, CentredScore<'_>, f64, &[f64])) {
    let mut numbers = Numbers(17);
    let (d, has_nuisance) = case.regression.parts();
    for reach in [0.3, 2.0, 30.0] {
        let values = records(case, &mut numbers);
        let mut theta = numbers.list(d, reach / 2.0);
        theta.extend(has_nuisance.then_some(case.log_nuisance));
        let whitening = numbers.list(d * d, 1.0);
        for clip in [0.2, 1.0, 6.0] {
            for top in case.tops {
                let block = ScoreBlock::Coefficients;
                // Without a top the counts of a large mean have no weights that could be compared.
                if reach < 10.0 || *top < f64::INFINITY {
                    check(
                        case,
                        CentredScore { theta: &theta, block, whitening: &whitening, clip },
                        *top,
                        &values,
                    );
                    if has_nuisance {
                        let block = ScoreBlock::Nuisance;
                        check(
                            case,
                            CentredScore { theta: &theta, block, whitening: &[0.8], clip },
                            *top,
                            &values,
                        );
                    }
                }
            }
        }
    }
}

/// What is known of one record at θ.
struct Record {
    y: f64,
    predictor: f64,
    trials: f64,
    /// a, or the one number of a nuisance.
    whitened: Vec<f64>,
    length: f64,
}

/// The terms of all records, entry by entry, from the term of one.
fn by_record(
    case: &Case,
    asked: CentredScore<'_>,
    values: &[f64],
    mut term: impl FnMut(&Record) -> Vec<f64>,
) -> Vec<f64> {
    let mut out = Vec::new();
    for i in 0..RECORDS {
        let row = column(values, RECORDS, i);
        let (predictor, trials) = case.regression.predictor(asked.theta, &row);
        let whitened: Vec<f64> = match asked.block {
            ScoreBlock::Coefficients => {
                let features: Vec<f64> = case.regression.features(&row).collect();
                let entry = |row: &[f64]| row.iter().zip(&features).map(|(w, x)| w * x).sum();
                asked.whitening.chunks_exact(features.len()).map(entry).collect()
            }
            ScoreBlock::Nuisance => asked.whitening.to_vec(),
        };
        let length = whitened.iter().map(|a| a * a).sum::<f64>().sqrt();
        let own = term(&Record { y: row[0], predictor, trials, whitened, length });
        out.resize(own.len() * RECORDS, f64::NAN);
        own.iter().enumerate().for_each(|(k, entry)| out[k * RECORDS + i] = *entry);
    }
    out
}

#[test]
fn centred_scores_are_those_of_the_public_side() {
    for case in cases() {
        ask(&case, |case, asked, top, values| {
            let scorer = case.regression.scorer(asked, top).unwrap();
            let room = &mut NodeRoom::default();
            let expected = by_record(case, asked, values, |record| {
                let Record { y, predictor, trials, whitened, length } = record;
                let bound = scorer.bound(*length);
                let centre = scorer.centre(*predictor, *trials, bound, room);
                let slope = scorer.slopes_of(*predictor, *trials, &[*y], room)[0];
                whitened.iter().map(|a| a * Scorer::factor(slope, bound, centre)).collect()
            });
            let term = centred(&case.regression, asked, top).unwrap();
            let found = write(&term, values, RECORDS);
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let apart = (found - expected).abs();
                assert!(
                    apart <= STEP * asked.clip,
                    "{} {:?} top {top}, clip {}, record {}: {found} {expected}",
                    case.name,
                    asked.block,
                    asked.clip,
                    k % RECORDS
                );
            }
        });
    }
}

#[test]
fn tails_are_those_of_the_public_side() {
    let edges = [0.0, 0.11, 0.43, 1.7, 5.3];
    for case in cases() {
        ask(&case, |case, asked, top, values| {
            let scorer = case.regression.scorer(asked, top).unwrap();
            let (rule, room) = (case.regression.nodes(asked.theta, top).unwrap(), &mut NodeRoom::default());
            let mut beyond = [f64::NAN; 6];
            let expected = by_record(case, asked, values, |record| {
                let Record { y, predictor, trials, whitened, length } = record;
                let unit = length / (whitened.len() as f64).sqrt();
                let size = scorer.slopes_of(*predictor, *trials, &[*y], room)[0].abs() * unit;
                let (law, at) = ((&rule, *predictor), (*predictor, *trials));
                scorer.shares_beyond(law, at, unit, &edges, &mut beyond, room);
                let is_in = |k: usize| size > edges[k] && edges.get(k + 1).is_none_or(|next| size <= *next);
                let share = |k: usize| (beyond[k] - beyond[k + 1]).max(0.0);
                (0..edges.len()).map(|k| f64::from(u8::from(is_in(k))) - share(k)).collect()
            });
            let term = tail(&case.regression, asked, &edges, top).unwrap();
            assert_eq!(term.fold, Fold::Mean);
            let found = write(&term, values, RECORDS);
            for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                let apart = (found - expected).abs();
                assert!(
                    apart <= STEP,
                    "{} {:?} top {top}, bin {}, record {}: {found} {expected}",
                    case.name,
                    asked.block,
                    k / RECORDS,
                    k % RECORDS
                );
            }
        });
    }
}
