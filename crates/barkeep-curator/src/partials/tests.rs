//! Asks shards as a driver does: the same answers as of one table, and a refusal wherever a shard is not what it should be.

use super::carried::Carried;
use super::*;
use crate::sums::terms::Summed;
use crate::test_support::echo::{Echo, ball};
use crate::test_support::questions::answers;
use crate::{
    Ask, Asked, Budget, Clip, Curator, Gate, NoiseRng, PersonsBuilder, PrivacyModel, Refused, Shape, Spent,
    Sum, Table, TableBuilder, Temper, sum_cost,
};
use barkeep_accounting::{Contract, Neighbours, Sampling, Steps};
use barkeep_data::{Column, Count, Schema, Unit, View};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

const PLAN: PlanIdentity = [7; 32];
const SUBSTITUTE: PrivacyModel = PrivacyModel { neighbours: Neighbours::Substitute };

fn schema() -> Schema {
    Schema::new(vec![
        Column::real("y", -3.0, 3.0, 0.0).unwrap(),
        Column::real("a", -1.0, 1.0, 0.0).unwrap(),
        Column::boolean("b", false).unwrap(),
    ])
    .unwrap()
}

/// Rows by person, some with a cell that must be clamped; row i is person i's first, or one more of an earlier one.
fn rows(count: usize) -> Vec<(String, [f64; 3])> {
    let mut rng = NoiseRng::insecure_seed(3);
    let mut number = || rng.below(1 << 30) as f64 / (1_u64 << 29) as f64 - 1.0;
    (0..count)
        .map(|i| (format!("{}", i % 61), [3.3 * number(), number(), f64::from(number() > 0.2)]))
        .collect()
}

/// Which rows of which persons lie together.
fn divided(rows: &[(String, [f64; 3])], shards: usize, by_person: bool) -> Vec<Vec<(String, [f64; 3])>> {
    let place =
        |i: usize, who: &str| if by_person { who.len() * 7 + who.as_bytes()[0] as usize } else { i * i };
    let mut divided = vec![Vec::new(); shards];
    for (i, row) in rows.iter().enumerate() {
        divided[place(i, &row.0) % shards].push(row.clone());
    }
    divided
}

/// How rows become a table, of which these may be a shard.
fn table(rows: &[(String, [f64; 3])], unit: Unit, count: Count) -> Table {
    match unit {
        Unit::Record => {
            let mut builder = TableBuilder::viewed(View::all(schema()), count).unwrap();
            rows.iter().for_each(|(_, row)| builder.push_row(row).unwrap());
            builder.finish().unwrap()
        }
        Unit::Person { most_rows } => {
            let mut builder = PersonsBuilder::new(View::all(schema()), count, most_rows).unwrap();
            rows.iter().for_each(|(who, row)| builder.push_row(who, row).unwrap());
            builder.finish().unwrap()
        }
    }
}

/// Workers in this process, and what is done to the answers on their way.
struct Local {
    shards: Vec<Shard>,
    fault: Arc<Mutex<Fault>>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    None,
    Lost,
    Doubled,
    /// The last answer is of the question before.
    Stale,
    /// One byte differs, counted from the start or, below zero, from the end.
    Byte(isize),
    Short,
}

impl Shards for Local {
    fn ask(&self, question: &[u8]) -> Result<Vec<Partial>, Refused> {
        let mut partials = Vec::new();
        // In reverse: the order must not matter.
        for shard in self.shards.iter().rev() {
            partials.push(shard.partial(question)?);
        }
        match *self.fault.lock().unwrap() {
            Fault::None => {}
            Fault::Lost => drop(partials.pop()),
            Fault::Doubled => partials.push(self.shards[0].partial(question)?),
            Fault::Stale => {
                let mut earlier = question.to_vec();
                // The last byte of the ticket, after magic, version and plan.
                earlier[16 + 4 + env!("CARGO_PKG_VERSION").len() + 32 + 16] ^= 1;
                partials[0] = self.shards.last().unwrap().partial(&earlier)?;
            }
            Fault::Byte(place) => {
                let mut bytes = partials.pop().unwrap().into_bytes();
                let place = if place < 0 { bytes.len() - place.unsigned_abs() } else { place as usize };
                bytes[place] ^= 0x40;
                partials.push(Partial::from_bytes(bytes));
            }
            Fault::Short => {
                let mut bytes = partials.pop().unwrap().into_bytes();
                bytes.pop();
                partials.push(Partial::from_bytes(bytes));
            }
        }
        Ok(partials)
    }
}

fn sharded(
    parts: &[Vec<(String, [f64; 3])>],
    unit: Unit,
    count: Count,
    fault: &Arc<Mutex<Fault>>,
) -> Result<Table, Refused> {
    let shards = parts.iter().enumerate().map(|(place, rows)| {
        // Faults are counted as all records' are, whatever the shard's number is.
        let table = match (unit, count) {
            (Unit::Record, Count::Exactly(_)) if !rows.is_empty() => {
                table(rows, unit, Count::Exactly(rows.len()))
            }
            (Unit::Person { .. }, Count::Exactly(_)) if !rows.is_empty() => {
                let persons: std::collections::BTreeSet<&String> = rows.iter().map(|(who, _)| who).collect();
                table(rows, unit, Count::Exactly(persons.len()))
            }
            _ => table(rows, unit, Count::About(1)),
        };
        Shard::new(table, PLAN, place as u32)
    });
    let shards = Box::new(Local { shards: shards.collect(), fault: Arc::clone(fault) });
    Table::sharded(shards, &Whole { schema: &schema(), columns: 3, unit, count, plan: PLAN })
}

fn open(table: Table, budget: Budget) -> Gate {
    let curator = Curator::new(table, SUBSTITUTE, budget).unwrap();
    Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(11)).unwrap()
}

#[test]
fn any_number_of_shards_answers_as_one_table() {
    let rows = rows(3000);
    for unit in [Unit::Record, Unit::Person { most_rows: None }, Unit::Person { most_rows: Some(20) }] {
        let count = Count::Exactly(if unit == Unit::Record { 3000 } else { 61 });
        let expected = answers(&mut open(table(&rows, unit, count), Budget::not_private()), &schema());
        for shards in [1, 2, 4, 130] {
            let parts = divided(&rows, shards, unit != Unit::Record);
            let sharded = sharded(&parts, unit, count, &Arc::new(Mutex::new(Fault::None)));
            let mut gate = open(sharded.unwrap(), Budget::not_private());
            assert_eq!(answers(&mut gate, &schema()), expected, "{unit} {shards}");
        }
    }
}

#[test]
fn what_is_wrong_from_the_start_is_refused_before_anything_is_charged() {
    let rows = rows(500);
    let (unit, count) = (Unit::Record, Count::Exactly(500));
    let refused = |parts: &[Vec<_>], fault| sharded(parts, unit, count, &Arc::new(Mutex::new(fault))).err();
    let parts = divided(&rows, 3, false);
    assert_eq!(refused(&parts, Fault::None), None);
    let head = (16 + 4) as isize;
    for (fault, said) in [
        (Fault::Lost, "data.records must be"),
        (Fault::Doubled, "a shard answered twice"),
        (Fault::Stale, "another question"),
        (Fault::Short, "damaged"),
        (Fault::Byte(3), "neither a question nor an answer"),
        (Fault::Byte(head), "another version"),
        (Fault::Byte(head + env!("CARGO_PKG_VERSION").len() as isize), "another plan"),
        // The number of records.
        (Fault::Byte(-12), "data.records must be"),
    ] {
        let refused = refused(&parts, fault).unwrap().to_string();
        assert!(refused.contains(said), "{fault:?}: {refused}");
    }
    // A record in two shards, or in none.
    let mut twice = parts.clone();
    twice[0].push(rows[1].clone());
    assert!(matches!(refused(&twice, Fault::None), Some(Refused::Question { name: "data.records", .. })));
    twice[0].drain(..2);
    assert!(matches!(refused(&twice, Fault::None), Some(Refused::Question { name: "data.records", .. })));
    // A person in two shards.
    let (unit, count) = (Unit::Person { most_rows: None }, Count::Exactly(61));
    let refused = |parts: &[Vec<_>]| sharded(parts, unit, count, &Arc::new(Mutex::new(Fault::None))).err();
    assert_eq!(refused(&divided(&rows, 3, true)), None);
    assert!(matches!(
        refused(&divided(&rows, 3, false)),
        Some(Refused::Question { name: "data.records", .. })
    ));
}

/// Two questions are bought. One is asked while something is wrong: it is charged, and nothing comes out.
#[test]
fn what_goes_wrong_later_stops_the_run_and_releases_nothing() {
    let rows = rows(500);
    let parts = divided(&rows, 3, false);
    let (sigma, clip) = (5.0, Clip::new(0.7).unwrap());
    let cost = sum_cost(Temper::NONE, clip, Sampling::Full, sigma, SUBSTITUTE).unwrap();
    let term = ball(&Echo::of(3).gradient);
    let question = Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma };
    for wrong in [Fault::Lost, Fault::Doubled, Fault::Stale, Fault::Short, Fault::Byte(50), Fault::Byte(-1)] {
        let fault = Arc::new(Mutex::new(Fault::None));
        let table = sharded(&parts, Unit::Record, Count::Exactly(500), &fault).unwrap();
        let budget = Budget::permits(&Contract::new(vec![(cost.clone(), Steps(2))]).unwrap());
        let mut gate = open(table, budget.clone().marked_not_private());
        *fault.lock().unwrap() = wrong;
        let mut out = [f64::NAN; 3];
        assert!(matches!(gate.sum(&question, &mut out), Err(Refused::Unasked { .. })), "{wrong:?}");
        assert!(out.iter().all(|x| x.is_nan()), "{wrong:?}");
        assert!(matches!(budget.spent(), Spent::Permits(lines) if lines[0].1 == Steps(1)));
        *fault.lock().unwrap() = Fault::None;
        gate.sum(&question, &mut out).unwrap();
        // The noise of the lost answer was not drawn.
        let mut whole = [0.0; 3];
        open(self::table(&rows, Unit::Record, Count::Exactly(500)), Budget::not_private())
            .sum(&question, &mut whole)
            .unwrap();
        assert_eq!(out.map(f64::to_bits), whole.map(f64::to_bits));
        assert_eq!(gate.sum(&question, &mut out), Err(Refused::Exhausted));
    }
}

#[test]
fn a_batch_is_refused_before_it_is_charged() {
    let fault = Arc::new(Mutex::new(Fault::None));
    let table = sharded(&divided(&rows(500), 2, false), Unit::Record, Count::Exactly(500), &fault).unwrap();
    let batch = Sampling::WithoutReplacement { batch: 5, records: 500 };
    let (sigma, clip) = (5.0, Clip::new(0.7).unwrap());
    let cost = sum_cost(Temper::NONE, clip, batch, sigma, SUBSTITUTE).unwrap();
    let budget = Budget::permits(&Contract::new(vec![(cost, Steps(2))]).unwrap());
    let term = ball(&Echo::of(3).gradient);
    let refused = open(table, budget.clone().marked_not_private())
        .sum(&Sum { term, temper: Temper::NONE, clip, batch, sigma }, &mut [0.0; 3]);
    assert!(matches!(refused, Err(Refused::Question { name: "batch", .. })));
    assert!(matches!(budget.spent(), Spent::Permits(lines) if lines[0].1 == Steps(0)));
}

/// Where the number of records is secret, any number is taken and none compared.
#[test]
fn a_secret_number_of_records_is_not_compared() {
    let fault = Arc::new(Mutex::new(Fault::None));
    for parts in [divided(&rows(40), 3, false), divided(&rows(1), 3, false), vec![]] {
        assert!(sharded(&parts, Unit::Record, Count::About(500), &fault).is_ok());
    }
}

/// What is asked comes out of its bytes as it went in.
#[test]
fn questions_are_carried_to_the_bit() {
    let (echo, clip) = (Echo::of(3), Clip::new(0.7).unwrap());
    let shapes = [
        Shape::Ball,
        Shape::Interval { low: -0.1, high: 0.3 },
        Shape::Positive,
        Shape::Outer,
        Shape::Indexed { low: 0.0, high: 0.5 },
        Shape::ByGroup { threshold: 2.5 },
    ];
    let terms = shapes.map(|shape| Summed::Term { asked: Asked { term: &echo.score, shape }, clip });
    let programs = [echo.ratio.clone(), Echo::of(2).ratio.clone()];
    let others = [
        Summed::Faults,
        Summed::Ratio { program: &echo.ratio, clip },
        Summed::Choices { programs: &programs, centre: 0.25, clip },
    ];
    let carried = terms.into_iter().chain(others).map(Carried::of).chain([Carried::Count]);
    for carried in carried {
        let mut bytes = wire::question_head(&PLAN, &[1; 24]);
        carried.write(&mut bytes);
        let read = Carried::read(wire::read_question(&bytes, &PLAN).unwrap().1).unwrap();
        // Not by `==`: constants that are not numbers differ from themselves.
        assert_eq!(format!("{read:?}"), format!("{carried:?}"));
    }
}

proptest! {
    /// Whatever comes in place of a question is refused or answered; nothing panics.
    #[test]
    fn any_bytes_may_come(bytes in prop::collection::vec(any::<u8>(), 0..200), place in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let shard = Shard::new(table(&rows(20), Unit::Record, Count::Exactly(20)), PLAN, 0);
        prop_assert!(shard.partial(&bytes).is_err());
        let mut question = wire::question_head(&PLAN, &[1; 24]);
        let clip = Clip::new(1.0).unwrap();
        Carried::of(Summed::Ratio { program: &Echo::of(1).ratio, clip }).write(&mut question);
        prop_assert!(shard.partial(&question).is_ok());
        let at = place.index(question.len());
        question[at] = byte;
        let _ = shard.partial(&question);
        question.truncate(at);
        prop_assert!(shard.partial(&question).is_err());
    }
}
