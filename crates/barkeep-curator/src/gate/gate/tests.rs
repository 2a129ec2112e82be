//! Asks gates as samplers do, and compares secret sums across orders, thread counts and neighbouring data sets.

mod persons;

use super::*;
use crate::gate::priced::Question;
use crate::insecure::SharedTable;
use crate::lattice::{Moments, reach};
use crate::test_support::echo::{EXTREMES, Echo, ball, table};
use crate::{
    Budget, Clip, LARGEST_DRAWN_RATIO, Level, PrivacyModel, Spent, TableBuilder, Temper, Term, decide_cost,
    sum_cost,
};
use barkeep_accounting::mechanisms::{Gaussian, NoisyDecision};
use barkeep_accounting::{Component, Contract, Correction, Cost, Neighbours, Rate, Rule, Steps};
use barkeep_data::{Count, Schema, View};
use barkeep_machine::{Output, Program, Source, Writer};
use proptest::prelude::*;
use std::sync::LazyLock;

/// A run on records with the given terms.
fn curator(rows: &[Vec<f64>], neighbours: Neighbours, budget: Budget) -> Arc<Curator> {
    Arc::new(Curator::new(table(rows), PrivacyModel { neighbours }, budget).unwrap())
}

fn open(rows: &[Vec<f64>]) -> Gate {
    let curator = curator(rows, Neighbours::Substitute, Budget::not_private());
    Gate::open(&curator, NoiseRng::insecure_seed(5)).unwrap()
}

fn decide<'a>(batch: Sampling, rule: &'a Rule) -> Decide<'a> {
    let clip = Clip::new(1.0).unwrap();
    Decide {
        ratio: &Echo::of(1).ratio,
        offset: 0.0,
        temper: Temper::NONE,
        clip,
        batch,
        rule,
        level: Level::Decision,
    }
}

fn sum<'a>(dimension: usize, batch: Sampling, sigma: f64) -> Sum<'a> {
    let term = ball(&Echo::of(dimension).gradient);
    Sum { term, temper: Temper::NONE, clip: Clip::new(1.0).unwrap(), batch, sigma }
}

/// What the curator computes and keeps to itself: Σu, Σu² of a batch, and the integer vectors of a term, and of one with a program
/// over units.
fn secrets(gate: &mut Gate, dimension: usize, positions: Option<&[u32]>) -> (i64, u128, [Vec<i64>; 2]) {
    let curator = &*gate.curator;
    let paid = |question: Sum<'static>| {
        curator.budget().charge(0, question.price(curator.privacy_model()).unwrap()).unwrap()
    };
    let question = decide(Sampling::Full, &Rule::Barker);
    let charged = curator.budget().charge(0, question.price(curator.privacy_model()).unwrap()).unwrap();
    let moments: Moments = curator.moments(&charged, positions, &mut gate.workers).unwrap().open();
    let plain = sum(dimension, Sampling::Full, 1.0);
    let score = Sum { term: ball(&Echo::of(dimension).score), ..plain };
    let vectors = [plain, score].map(|question| {
        let widths = curator.widths(question.term).unwrap();
        curator.vector(&paid(question), widths, positions, &mut gate.workers).unwrap().open().to_vec()
    });
    (moments.sum(), moments.squares(), vectors)
}

/// Rows of ordinary terms with an extreme here and there, made from a seed.
fn rows(seed: u64, records: usize, dimension: usize) -> Vec<Vec<f64>> {
    let mut rng = NoiseRng::insecure_seed(seed);
    let mut term = || match rng.below(50) {
        0 => EXTREMES[rng.below(EXTREMES.len() as u64) as usize],
        _ => rng.below(1 << 40) as f64 / (1_u64 << 39) as f64 - 1.0,
    };
    (0..records).map(|_| (0..dimension).map(|_| term()).collect()).collect()
}

fn shuffled(mut rows: Vec<Vec<f64>>, seed: u64) -> Vec<Vec<f64>> {
    let mut rng = NoiseRng::insecure_seed(seed);
    for last in (1..rows.len()).rev() {
        rows.swap(last, rng.below(last as u64 + 1) as usize);
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Sizes around whole blocks, and enough of them that eight threads have a share each.
    #[test]
    fn sums_are_the_same_for_any_order_and_number_of_threads(
        seed in any::<u64>(), records in prop_oneof![1_usize..3000, 133_000_usize..135_000], dimension in 1_usize..4,
    ) {
        let rows = rows(seed, records, dimension);
        let expected = secrets(&mut open(&rows), dimension, None);
        let shuffled = shuffled(rows.clone(), seed ^ 1);
        for threads in [1, 2, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let workers = pool.install(|| {
                let mut gate = open(&shuffled);
                prop_assert_eq!(&secrets(&mut gate, dimension, None), &expected);
                // Memory of an earlier question must not show.
                prop_assert_eq!(&secrets(&mut gate, dimension, None), &expected);
                Ok(gate.workers.len())
            })?;
            prop_assert!(records < 3000 || workers == threads);
        }
    }

    #[test]
    fn a_batch_is_summed_as_a_table_of_its_records_would_be(seed in any::<u64>(), records in 1_usize..5000, dimension in 1_usize..4) {
        let rows = rows(seed, records, dimension);
        let mut rng = NoiseRng::insecure_seed(seed ^ 2);
        let positions: Vec<u32> = (0..records as u32).filter(|_| rng.below(3) == 0).collect();
        let chosen: Vec<_> = positions.iter().map(|&position| rows[position as usize].clone()).collect();
        prop_assume!(!chosen.is_empty());
        let everyone: Vec<u32> = (0..chosen.len() as u32).collect();
        let expected = secrets(&mut open(&chosen), dimension, Some(&everyone));
        prop_assert_eq!(secrets(&mut open(&rows), dimension, Some(&positions)), expected);
    }

    #[test]
    fn substituting_any_record_by_anything_stays_within_reach(seed in any::<u64>(), records in 1_usize..3000, dimension in 1_usize..4) {
        let mut rows = rows(seed, records, dimension);
        let mut gate = open(&rows);
        let (before, _, vectors) = secrets(&mut gate, dimension, None);
        let theta = (seed % records as u64) as usize;
        for extreme in EXTREMES.into_iter().chain([1.0, -1.0]) {
            rows[theta] = vec![extreme; dimension];
            let (after, _, neighbours) = secrets(&mut open(&rows), dimension, None);
            prop_assert!((before - after).unsigned_abs() as f64 <= reach(Neighbours::Substitute));
            for (vector, neighbour) in vectors.iter().zip(&neighbours) {
                let moved: i128 = vector.iter().zip(neighbour).map(|(a, b)| i128::from(a - b).pow(2)).sum();
                prop_assert!(moved <= 1 << 62);
            }
        }
    }
}

/// The law of a frequency: |count − np| ≤ 4.9·√(np(1−p)) but with probability 1e-6.
fn plausible(count: u32, trials: u32, probability: f64) -> bool {
    let deviation = (f64::from(trials) * probability * (1.0 - probability)).sqrt();
    (f64::from(count) - f64::from(trials) * probability).abs() <= 4.9 * deviation
}

#[test]
fn decisions_come_up_as_often_as_the_rule_says() {
    // λ = ½(0.5 + 0.25 − 1 (clipped)) + 0.7.
    let rows = [vec![0.5], vec![0.25], vec![-7.0]];
    let mut gate = open(&rows);
    for rule in [Rule::Barker, Rule::Metropolis, Rule::Penalty { sigma: 1.5 }] {
        let mut question = decide(Sampling::Full, &rule);
        question.offset = 0.7;
        question.temper = Temper::new(0.5).unwrap();
        let accepted = (0..20_000).filter(|_| gate.decide(&question).unwrap()).count() as u32;
        assert!(plausible(accepted, 20_000, rule.accept(0.5 * -0.25 + 0.7)), "{rule:?} {accepted}");
    }
}

#[test]
fn noise_is_drawn_at_release_level_and_the_bit_has_the_same_law() {
    let rows = [vec![0.5], vec![0.25], vec![-7.0]];
    let curator = curator(&rows, Neighbours::Substitute, Budget::not_private());
    let mut gate = Gate::open(&curator, NoiseRng::insecure_seed(6)).unwrap();
    let atom = |weight, mean| Component { weight, mean, sd: 0.0 };
    let correction = Correction::new(vec![atom(0.75, 0.0), atom(0.125, 3.0), atom(0.125, -3.0)]).unwrap();
    let lazy = Rule::Lazy { keep: 0.7, rule: Box::new(Rule::Penalty { sigma: 0.5 }) };
    let rules =
        [Rule::Penalty { sigma: 1.5 }, Rule::Corrected { variance: 2.0, correction }, lazy, Rule::Barker];
    // 2^-40: more noise than the lattice holds; the rest is taken in expectation.
    for clip in [1.0, 2_f64.powi(-40)] {
        for rule in &rules {
            let mut question = decide(Sampling::Full, rule);
            question.clip = Clip::new(clip).unwrap();
            question.offset = 0.7;
            question.level = Level::Release;
            let accepted = (0..20_000).filter(|_| gate.decide(&question).unwrap()).count() as u32;
            let log_ratio = if clip == 1.0 { -0.25 + 0.7 } else { 0.7 };
            assert!(plausible(accepted, 20_000, rule.accept(log_ratio)), "{rule:?} {clip} {accepted}");
        }
    }
}

#[test]
fn a_decision_at_release_level_costs_the_noise_that_is_drawn() {
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let ratio = |clip: f64, sigma: f64| {
        let clip = Clip::new(clip).unwrap();
        let cost = decide_cost(
            Temper::NONE,
            clip,
            Sampling::Full,
            &Rule::Penalty { sigma },
            Level::Release,
            privacy_model,
        );
        match cost.unwrap().mechanism() {
            barkeep_accounting::Mechanism::NoisyDecision(NoisyDecision { ratio }) => ratio.get(),
            other => panic!("{other:?}"),
        }
    };
    assert!((ratio(0.5, 3.0) / 3.0 - 1.0).abs() < 1e-15 && ratio(0.5, 3.0) <= 3.0);
    // As much as the lattice holds.
    assert!((ratio(2_f64.powi(-40), 3.0) / LARGEST_DRAWN_RATIO - 1.0).abs() < 1e-15);
}

#[test]
fn a_batch_of_one_decides_by_the_record_drawn() {
    // n = 4, b = 1: λ* = 4·r and no variance, so the acceptance rate is the mean of a(4r) over records.
    let rows = [vec![0.5], vec![0.25], vec![-0.5], vec![0.0]];
    let rule = Rule::Penalty { sigma: 1.0 };
    let question = decide(Sampling::WithoutReplacement { batch: 1, records: 4 }, &rule);
    let mut gate = open(&rows);
    let accepted = (0..20_000).filter(|_| gate.decide(&question).unwrap()).count() as u32;
    let expected = rows.iter().map(|row| rule.accept(4.0 * row[0])).sum::<f64>() / 4.0;
    assert!(plausible(accepted, 20_000, expected), "{accepted} {expected}");
}

#[test]
fn noise_has_the_asked_scale_and_none_is_added_where_nothing_is_private() {
    let rows = [vec![0.5, 0.0], vec![0.125, -0.25], vec![30.0, 40.0]];
    let mut gate = open(&rows);
    let mut out = [0.0; 2];
    gate.sum(&sum(2, Sampling::Full, 0.0), &mut out).unwrap();
    // The third record is clipped, to within 4.02·10^-5 of the clip.
    assert!((out[0] - 1.225).abs() < 4.02e-5 && (out[1] - 0.55).abs() < 4.02e-5, "{out:?}");
    let exact = out;
    let (mut mean, mut square) = ([0.0; 2], [0.0; 2]);
    for _ in 0..20_000 {
        gate.sum(&sum(2, Sampling::Full, 2.5), &mut out).unwrap();
        for j in 0..2 {
            mean[j] += (out[j] - exact[j]) / 20_000.0;
            square[j] += (out[j] - exact[j]).powi(2) / 20_000.0;
        }
    }
    for j in 0..2 {
        // Standard errors 2.5/√20000 and 6.25·√(2/20000); 4.9 of them leave a probability of 1e-6.
        assert!(
            mean[j].abs() < 4.9 * 0.0177 && (square[j] - 6.25).abs() < 4.9 * 0.0625,
            "{mean:?} {square:?}"
        );
    }
}

#[test]
fn poisson_batches_keep_each_record_with_its_rate() {
    let rows: Vec<Vec<f64>> =
        (0..3).map(|k| (0..3).map(|j| if j == k { 0.25 } else { 0.0 }).collect()).collect();
    let mut gate = open(&rows);
    let question = sum(3, Sampling::Poisson { rate: Rate::new(0.3).unwrap() }, 0.0);
    let mut counts = [0; 3];
    let mut out = [0.0; 3];
    for _ in 0..20_000 {
        gate.sum(&question, &mut out).unwrap();
        for j in 0..3 {
            counts[j] += u32::from(out[j] > 0.1);
        }
    }
    assert!(counts.iter().all(|&count| plausible(count, 20_000, 0.3)), "{counts:?}");
}

fn bought(costs: Vec<(Cost, u64)>) -> Budget {
    let parts = costs.into_iter().map(|(cost, steps)| (cost, Steps(steps))).collect();
    Budget::permits(&Contract::new(parts).unwrap())
}

#[test]
fn a_chain_gets_exactly_what_was_bought_and_a_refusal_leaves_no_trace() {
    let rows = [vec![0.5, 0.0], vec![0.125, -0.25]];
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let clip = Clip::new(1.0).unwrap();
    let moves =
        decide_cost(Temper::NONE, clip, Sampling::Full, &Rule::Barker, Level::Decision, privacy_model)
            .unwrap();
    let sums = sum_cost(Temper::NONE, clip, Sampling::Full, 5.0, privacy_model).unwrap();
    let run = |interruptions: bool| {
        let budget = bought(vec![(moves.clone(), 20), (sums.clone(), 10)]).marked_not_private();
        let curator = curator(&rows, privacy_model.neighbours, budget);
        let mut gate = Gate::open(&curator, NoiseRng::insecure_seed(9)).unwrap();
        let (mut answers, mut out) = (Vec::new(), [0.0; 2]);
        let mut asked = 0;
        while let Ok(accepted) = gate.decide(&decide(Sampling::Full, &Rule::Barker)) {
            answers.push(f64::from(u8::from(accepted)));
            asked += 1;
            if interruptions {
                // Too wide a clip, too little noise, another rule, a program of columns that are not there: all refused.
                let mut wide = decide(Sampling::Full, &Rule::Barker);
                wide.clip = Clip::new(1.0_f64.next_up()).unwrap();
                assert_eq!(gate.decide(&wide), Err(Refused::Exhausted));
                assert_eq!(gate.sum(&sum(2, Sampling::Full, 4.999), &mut out), Err(Refused::Exhausted));
                assert_eq!(
                    gate.decide(&decide(Sampling::Full, &Rule::Penalty { sigma: 9.0 })),
                    Err(Refused::Exhausted)
                );
                let beyond = Decide { ratio: &BEYOND, ..decide(Sampling::Full, &Rule::Barker) };
                assert!(matches!(gate.decide(&beyond), Err(Refused::Question { .. })));
            }
            if asked % 2 == 0 {
                gate.sum(&sum(2, Sampling::Full, 5.0), &mut out).unwrap();
                answers.extend(out);
            }
        }
        assert_eq!(asked, 20);
        assert_eq!(gate.sum(&sum(2, Sampling::Full, 5.0), &mut out), Err(Refused::Exhausted));
        let all = vec![(moves.clone(), Steps(20)), (sums.clone(), Steps(10))];
        assert_eq!(curator.budget().spent(), Spent::Permits(all));
        answers
    };
    assert_eq!(run(false), run(true));
}

/// Reads the third column.
static BEYOND: LazyLock<Program> = LazyLock::new(|| {
    let mut w = Writer::default();
    let third = w.dot(0.0, [(1.0, Source::Column(2))]);
    w.finish([Output::Dense(third)]).unwrap()
});

#[test]
fn malformed_questions_are_refused_before_anything_is_spent() {
    let rows = [vec![0.5, 0.0], vec![0.125, -0.25]];
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let clip = Clip::new(1.0).unwrap();
    let barker =
        decide_cost(Temper::NONE, clip, Sampling::Full, &Rule::Barker, Level::Decision, privacy_model)
            .unwrap();
    let gaussian = sum_cost(Temper::NONE, clip, Sampling::Full, 1e-3, privacy_model).unwrap();
    let unspent = Spent::Permits(vec![(barker.clone(), Steps(0)), (gaussian.clone(), Steps(0))]);
    let budget = bought(vec![(barker, 5), (gaussian, 5)]).marked_not_private();
    let curator = curator(&rows, privacy_model.neighbours, budget);
    let mut gate = Gate::open(&curator, NoiseRng::insecure_seed(1)).unwrap();
    let mut refused = |change: &dyn Fn(&mut Decide<'_>)| {
        let mut question = decide(Sampling::Full, &Rule::Barker);
        change(&mut question);
        let answer = gate.decide(&question);
        assert!(matches!(answer, Err(Refused::Question { .. } | Refused::Accounting(_))), "{answer:?}");
    };
    // Two outputs, and a column that is not there.
    refused(&|question| question.ratio = &Echo::of(2).gradient.row);
    refused(&|question| question.ratio = &BEYOND);
    refused(&|question| question.offset = f64::NEG_INFINITY);
    refused(&|question| question.offset = f64::NAN);
    refused(&|question| question.rule = &Rule::Penalty { sigma: -1.0 });
    refused(&|question| question.batch = Sampling::Poisson { rate: Rate::new(0.5).unwrap() });
    for (batch, records) in [(0, 2), (3, 2), (1, 3), (1, 2)] {
        // The last is a batch of these very records: no rule without noise decides on one.
        refused(&|question| question.batch = Sampling::WithoutReplacement { batch, records });
    }
    let mut refused = |length: usize, change: &dyn Fn(&mut Sum<'_>)| {
        let mut question = sum(2, Sampling::Full, 5.0);
        change(&mut question);
        let mut out = vec![0.125; length];
        let answer = gate.sum(&question, &mut out);
        assert!(matches!(answer, Err(Refused::Question { .. } | Refused::Accounting(_))), "{answer:?}");
        assert!(out.iter().all(|&untouched| untouched == 0.125));
    };
    refused(3, &|_| ());
    refused(3, &|question| question.term = ball(&Echo::of(3).gradient));
    // The sum over all records would be priced as that of a batch.
    refused(4, &|question| {
        question.term = Term::Faults;
        question.batch = Sampling::WithoutReplacement { batch: 1, records: 2 };
    });
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-12, 1e12] {
        refused(2, &|question| question.sigma = sigma);
    }
    refused(2, &|question| question.batch = Sampling::WithoutReplacement { batch: 1, records: 3 });
    assert_eq!(curator.budget().spent(), unspent);
}

#[test]
fn costs_follow_from_the_question() {
    let clip = Clip::new(0.5).unwrap();
    let ratio = |cost: Cost| match cost.mechanism() {
        barkeep_accounting::Mechanism::Gaussian(Gaussian { ratio })
        | barkeep_accounting::Mechanism::NoisyDecision(NoisyDecision { ratio }) => ratio.get(),
        other => panic!("{other:?}"),
    };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-12;
    let substitute = PrivacyModel { neighbours: Neighbours::Substitute };
    let either = PrivacyModel { neighbours: Neighbours::AddRemove };
    // Δ = 2TB, or TB where a record is added or removed.
    let sums =
        |privacy_model| ratio(sum_cost(Temper::NONE, clip, Sampling::Full, 3.0, privacy_model).unwrap());
    assert!(near(sums(substitute), 3.0) && near(sums(either), 6.0));
    let rule = Rule::Penalty { sigma: 3.0 };
    let moves = |privacy_model| {
        ratio(decide_cost(Temper::NONE, clip, Sampling::Full, &rule, Level::Release, privacy_model).unwrap())
    };
    assert!(near(moves(substitute), 3.0) && near(moves(either), 6.0) && moves(substitute) < 3.0);
    // A lazy rule is post-processing of the rule inside.
    let lazy = Rule::Lazy { keep: 0.5, rule: Box::new(rule.clone()) };
    let cost = decide_cost(Temper::NONE, clip, Sampling::Full, &lazy, Level::Release, substitute).unwrap();
    assert_eq!(ratio(cost), moves(substitute));
    // No noise, nothing to release.
    assert!(
        decide_cost(Temper::NONE, clip, Sampling::Full, &Rule::Barker, Level::Release, substitute).is_err()
    );
    assert!(
        decide_cost(Temper::NONE, clip, Sampling::Full, &Rule::Barker, Level::Decision, substitute).is_ok()
    );
    // Minibatch penalty, κ = 2: e = nTB/b, c = 2e + 2e²(1 − 1/b).
    let sampling = Sampling::WithoutReplacement { batch: 100, records: 1000 };
    let cost =
        decide_cost(Temper::new(0.01).unwrap(), clip, sampling, &rule, Level::Release, substitute).unwrap();
    let e: f64 = 1000.0 * 0.01 * 0.5 / 100.0;
    assert!((ratio(cost.clone()) / (3.0 / (2.0 * e + 2.0 * e * e * 0.99)) - 1.0).abs() < 1e-8);
    assert_eq!(cost.sampling(), sampling);
}

/// A table of any number of records is asked, and none at all is answered by noise.
#[test]
fn no_question_is_refused_for_the_number_of_records_where_it_is_secret() {
    let permits = || {
        let privacy_model = PrivacyModel { neighbours: Neighbours::AddRemove };
        let Decide { temper, clip, batch, rule, level, .. } = decide(Sampling::Full, &Rule::Barker);
        let bit = decide_cost(temper, clip, batch, rule, level, privacy_model).unwrap();
        let noisy = |batch| sum_cost(temper, clip, batch, 1.0, privacy_model).unwrap();
        bought(vec![(bit, 1), (noisy(Sampling::Full), 1), (noisy(poisson()), 1)])
    };
    for records in [0, 1, 2, 20] {
        let schema = Schema::unbounded(["x0"]).unwrap();
        let mut builder = TableBuilder::viewed(View::all(schema), Count::About(2)).unwrap();
        (0..records).for_each(|_| builder.push_row(&[0.5]).unwrap());
        let table = builder.finish().unwrap();
        let privacy_model = PrivacyModel { neighbours: Neighbours::AddRemove };
        let curator = Arc::new(Curator::new(table, privacy_model, permits()).unwrap());
        let mut gate = Gate::open(&curator, NoiseRng::from_os().unwrap()).unwrap();
        gate.decide(&decide(Sampling::Full, &Rule::Barker)).unwrap();
        for batch in [Sampling::Full, poisson()] {
            let mut out = [f64::NAN];
            gate.sum(&sum(1, batch, 1.0), &mut out).unwrap();
            assert!(out[0].is_finite());
        }
        assert_eq!(gate.decide(&decide(Sampling::Full, &Rule::Barker)), Err(Refused::Exhausted));
    }
    let empty = TableBuilder::viewed(View::all(Schema::unbounded(["x0"]).unwrap()), Count::About(2)).unwrap();
    let public = PrivacyModel { neighbours: Neighbours::Substitute };
    assert!(Curator::new(empty.finish().unwrap(), public, Budget::not_private()).is_err());
}

fn poisson() -> Sampling {
    Sampling::Poisson { rate: Rate::new(0.5).unwrap() }
}

#[test]
fn only_a_paid_tab_with_secret_randomness_calls_itself_private() {
    let rows = [vec![0.5]];
    let private = curator(&rows, Neighbours::Substitute, bought(Vec::new()));
    let open = curator(&rows, Neighbours::Substitute, Budget::not_private());
    assert!(Gate::open(&private, NoiseRng::from_os().unwrap()).unwrap().is_private());
    // Seeded noise protects nobody: only a run that is marked may use it.
    let seeded = Gate::open(&private, NoiseRng::insecure_seed(1));
    assert!(matches!(seeded, Err(Refused::Question { name: "noise", .. })));
    let marked = curator(&rows, Neighbours::Substitute, bought(Vec::new()).marked_not_private());
    assert!(!Gate::open(&marked, NoiseRng::insecure_seed(1)).unwrap().is_private());
    assert!(!Gate::open(&marked, NoiseRng::from_os().unwrap()).unwrap().is_private());
    // So is a table that others use too, and what it is asked is paid for nonetheless.
    let shared = SharedTable::from(table(&rows));
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let twin = Arc::new(shared.curator(privacy_model, bought(Vec::new())).unwrap());
    let mut gate = Gate::open(&twin, NoiseRng::from_os().unwrap()).unwrap();
    assert!(!gate.is_private());
    assert_eq!(gate.decide(&decide(Sampling::Full, &Rule::Barker)), Err(Refused::Exhausted));
    assert!(!Gate::open(&open, NoiseRng::from_os().unwrap()).unwrap().is_private());
}

#[test]
fn what_a_journal_answers_is_charged_and_moves_no_randomness() {
    let (rule, rows) = (Rule::Penalty { sigma: 2.0 }, [vec![0.5], vec![-0.5]]);
    let asked = Decide { level: Level::Release, ..decide(Sampling::Full, &rule) };
    let model = PrivacyModel { neighbours: Neighbours::Substitute };
    let cost = decide_cost(asked.temper, asked.clip, asked.batch, &rule, asked.level, model).unwrap();
    let sums = sum_cost(Temper::NONE, Clip::new(1.0).unwrap(), Sampling::Full, 3.0, model).unwrap();
    let contract = Contract::new(vec![(cost, Steps(5)), (sums, Steps(2))]).unwrap();
    let new = || {
        let budget = Budget::permits(&contract).marked_not_private();
        Gate::open(&curator(&rows, Neighbours::Substitute, budget), NoiseRng::insecure_seed(5)).unwrap()
    };
    let mut gate = new();
    let summed = sum(1, Sampling::Full, 3.0);
    let mut out = [0.0];
    let first: Vec<bool> = (0..3).map(|_| gate.decide(&asked).unwrap()).collect();
    gate.sum(&summed, &mut out).unwrap();
    let position = gate.seeded_position().unwrap();
    let rest: Vec<bool> = (0..2).map(|_| gate.decide(&asked).unwrap()).collect();

    let mut continued = new();
    for _ in &first {
        continued.charge(&AnyQuestion::Decide(asked)).unwrap();
    }
    continued.charge(&AnyQuestion::Sum(summed)).unwrap();
    assert_eq!(continued.seeded_position(), Some(0));
    continued.continue_seeded(position);
    assert_eq!((0..2).map(|_| continued.decide(&asked).unwrap()).collect::<Vec<_>>(), rest);
    // Of five decisions and two sums, all decisions and one sum are spent.
    assert_eq!(continued.charge(&AnyQuestion::Decide(asked)), Err(Refused::Exhausted));
    continued.charge(&AnyQuestion::Sum(summed)).unwrap();
    assert_eq!(continued.sum(&summed, &mut out), Err(Refused::Exhausted));
}
