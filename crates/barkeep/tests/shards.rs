//! Runs every sampler on shards that answer as a cluster's workers do: the same draws to the bit as on one table, also when a
//! shard was lost in the middle.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::accounting::Steps;
use barkeep::curator::{PersonsBuilder, Refused, Table, TableBuilder};
use barkeep::data::{Cell, Count, Frame, Unavailable, Unit};
use barkeep::insecure::Insecure;
use barkeep::samplers::SAMPLERS;
use barkeep::shards::{Partial, Shards, Worker, partial};
use barkeep::{Error, Plan, PublicRng, Run};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use written::{plan, series};

/// Rows of numbers with the person each belongs to, as an engine would hand a partition over.
#[derive(Clone)]
struct Rows {
    header: Vec<String>,
    rows: Vec<(String, Vec<f64>)>,
    turned: bool,
}

impl Frame for Rows {
    fn header(&self) -> &[String] {
        &self.header
    }

    fn refused(&self, _position: usize) -> Option<&'static str> {
        None
    }

    fn unidentifying(&self, _position: usize) -> Option<&'static str> {
        None
    }

    fn turn(&mut self) -> Result<Option<usize>, Unavailable> {
        let turned = std::mem::replace(&mut self.turned, true);
        Ok((!turned).then_some(self.rows.len()))
    }

    fn cells(&self, position: usize, rows: Range<usize>, show: &mut dyn FnMut(Cell<'_>)) {
        for (who, row) in &self.rows[rows] {
            match row.get(position) {
                Some(value) => show(Cell::Double(*value)),
                None => show(Cell::Text(who.as_bytes())),
            }
        }
    }
}

/// Records simulated from a plan's own model; a person has each `persons`-th.
fn simulated(plan: &Plan, theta: &[f64], rows: usize, persons: usize) -> Rows {
    let model = &**plan.spec().model();
    let mut rng = PublicRng::new(3, 7);
    let mut header: Vec<String> =
        plan.spec().data().schema().columns().iter().map(|column| column.name().to_owned()).collect();
    header.push("id".to_owned());
    let rows = (0..rows).map(|i| {
        let mut row = vec![0.0; model.columns()];
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        ((i % persons).to_string(), row)
    });
    Rows { rows: rows.collect(), header, turned: false }
}

/// All rows in one table in memory.
fn whole(plan: &Plan, rows: &Rows) -> Table {
    let count = plan.spec().count();
    match plan.spec().data().unit() {
        Unit::Record => {
            let mut builder = TableBuilder::viewed(plan.view().clone(), count).unwrap();
            rows.rows.iter().for_each(|(_, row)| builder.push_row(row).unwrap());
            builder.finish().unwrap()
        }
        Unit::Person { most_rows } => {
            let mut builder = PersonsBuilder::new(plan.view().clone(), count, most_rows).unwrap();
            rows.rows.iter().for_each(|(who, row)| builder.push_row(who, row).unwrap());
            builder.finish().unwrap()
        }
    }
}

/// Rows in shards, those of a person in one of them.
fn divided(rows: &Rows, shards: usize) -> Vec<Rows> {
    (0..shards)
        .map(|shard| {
            let own = |who: &str| who.parse::<usize>().unwrap() * 7 % 11 % shards == shard;
            let kept = rows.rows.iter().filter(|(who, _)| own(who)).cloned().collect();
            Rows { rows: kept, ..rows.clone() }
        })
        .collect()
}

/// An engine whose workers read their rows anew at every question, as Spark's do; it loses a shard at one of them.
struct Engine {
    worker: Worker,
    parts: Vec<Rows>,
    asked: Arc<AtomicU64>,
    lost_at: u64,
}

impl Shards for Engine {
    fn ask(&self, question: &[u8]) -> Result<Vec<Partial>, Refused> {
        let lost = self.asked.fetch_add(1, Ordering::Relaxed) == self.lost_at;
        let parts = self.parts.iter().enumerate().skip(usize::from(lost));
        Ok(parts
            .map(|(place, part)| {
                let shard = self.worker.shard(place as u32, &mut part.clone()).unwrap();
                Partial::from_bytes(shard.partial(question).unwrap().into_bytes())
            })
            .collect())
    }
}

fn sharded(plan: &Plan, parts: Vec<Rows>, lost_at: u64) -> (Table, Arc<AtomicU64>) {
    let asked = Arc::new(AtomicU64::new(0));
    let worker = Worker::new(&plan.for_workers().unwrap()).unwrap();
    let engine = Engine { worker, parts, asked: Arc::clone(&asked), lost_at };
    (plan.sharded(Box::new(engine)).unwrap(), asked)
}

fn bits(run: &Run) -> Vec<u64> {
    (0..run.draws.chains().len()).flat_map(|chain| series(run, chain)).flatten().map(f64::to_bits).collect()
}

/// A regression that noise-aware scores serve.
const REGRESSION: &str = "[data]\npath = 'nowhere.csv'\nRECORDS\n[data.columns]\n\
                          y = { min = -4, max = 4, invalid = 0 }\na = { min = -1, max = 1, invalid = 0, precision = 'f32' }\n\
                          [model]\nformula = 'y ~ a'\nfamily = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-5\n\
                          [sampler]\nname = 'noise-aware'\nsteps = 50\nseed = 5\n";

#[test]
fn every_sampler_draws_the_same_from_shards() {
    let (mut compared, mut refused) = (0, Vec::new());
    for example in SAMPLERS.iter().flat_map(|entry| entry.examples().take(1)) {
        let plan = plan(&format!("{}seed = 5\n", example.text)).unwrap().stopping_after(Steps(3));
        let records = plan.spec().data().records().as_len();
        let rows = simulated(&plan, example.theta, records, records);
        let run = |table| plan.runner().insecure(Insecure::seed(11)).run(table);
        let (table, _) = sharded(&plan, divided(&rows, 2), u64::MAX);
        match run(table) {
            Ok(found) => {
                let expected = run(whole(&plan, &rows)).unwrap();
                assert_eq!(bits(&found), bits(&expected), "{}", example.title);
                compared += 1;
            }
            // Batches of single records are not asked for, and that is said before anything is charged.
            Err(Error::Refused(Refused::Question { name: "batch", .. })) => refused.push(example.title),
            Err(error) => panic!("{}: {error}", example.title),
        }
    }
    assert!(compared > 9 && refused.len() < compared, "{compared} {refused:?}");
}

#[test]
fn any_number_of_shards_and_persons_draws_the_same() {
    let by_person = "person = 'id'\npersons = 200\nmost_rows = 4";
    for (records, counts) in [("records = 600", &[1, 4][..]), (by_person, &[3])] {
        let plan = plan(&REGRESSION.replace("RECORDS", records)).unwrap();
        let persons = plan.spec().data().records().as_len();
        let rows = simulated(&plan, &[0.3, -0.5, 0.1], 600, persons);
        let run = |table| plan.runner().insecure(Insecure::seed(11)).run(table).unwrap();
        let expected = bits(&run(whole(&plan, &rows)));
        for &shards in counts {
            let (table, asked) = sharded(&plan, divided(&rows, shards), u64::MAX);
            assert_eq!(bits(&run(table)), expected, "{records} {shards}");
            // One job for counting and one for each question.
            assert!((8..40).contains(&asked.load(Ordering::Relaxed)));
        }
    }
}

#[test]
fn a_run_that_lost_a_shard_continues_to_the_same_draws() {
    let plan = plan(&REGRESSION.replace("RECORDS", "records = 600")).unwrap();
    let rows = simulated(&plan, &[0.3, -0.5, 0.1], 600, 600);
    let seed = || Insecure::seed(11);
    let (table, all) = sharded(&plan, divided(&rows, 2), u64::MAX);
    let expected = bits(&plan.runner().insecure(seed()).run(table).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (table, _) = sharded(&plan, divided(&rows, 3), 5);
    let lost = plan.runner().insecure(seed()).journal(folder.path()).run(table).err().unwrap();
    assert!(matches!(lost, Error::Refused(Refused::Unasked { .. })), "{lost}");
    let (table, asked) = sharded(&plan, divided(&rows, 3), u64::MAX);
    let run = plan.runner().insecure(seed()).resume(folder.path()).run(table).unwrap();
    assert_eq!(bits(&run), expected);
    // What the journal holds was not asked again.
    assert_eq!(asked.load(Ordering::Relaxed) + 4, all.load(Ordering::Relaxed));
}

#[test]
fn workers_refuse_what_is_not_theirs() {
    let text = REGRESSION.replace("RECORDS", "records = 60");
    let plan = plan(&text).unwrap();
    let rows = simulated(&plan, &[0.3, -0.5, 0.1], 60, 60);
    let worker = || Worker::new(&plan.for_workers().unwrap()).unwrap();
    let engine = |parts: Vec<Rows>| {
        Box::new(Engine { worker: worker(), parts, asked: Arc::default(), lost_at: u64::MAX })
    };
    // A record too many in sum, and one too few.
    let mut more = divided(&rows, 2);
    let twice = more[0].rows[0].clone();
    more[1].rows.push(twice);
    for parts in [more.clone(), vec![more[1].clone()]] {
        let refused = plan.sharded(engine(parts)).err().unwrap();
        assert!(refused.to_string().contains("data.records must be"), "{refused}");
    }
    // Another schema.
    let mut other = rows.clone();
    other.header[1] = "b".to_owned();
    assert!(matches!(worker().shard(0, &mut other).err(), Some(Error::Data(_))));
    // Another plan, and no plan at all.
    let own = plan.for_workers().unwrap();
    assert!(plan.sharded(Box::new(Spark(own, rows.clone()))).is_ok());
    let other = text.replace("epsilon = 2", "epsilon = 3").into_bytes();
    let refused = plan.sharded(Box::new(Spark(other, rows))).err().unwrap();
    assert!(refused.to_string().contains("another plan than the driver"), "{refused}");
    assert!(Worker::new(b"\xff").is_err() && Worker::new(b"no spec").is_err());
    assert_eq!(plan.spec().count(), Count::Exactly(60));
}

/// One worker that starts from bytes at every question, which are all it gets, and answers twice, as a speculating engine lets it.
struct Spark(Vec<u8>, Rows);

impl Shards for Spark {
    fn ask(&self, question: &[u8]) -> Result<Vec<Partial>, Refused> {
        let answer = || match partial(&self.0, question, 0, &mut self.1.clone()) {
            Ok(partial) => Ok(partial.into_bytes()),
            Err(Error::Refused(refused)) => Err(refused),
            Err(error) => panic!("{error}"),
        };
        let (once, again) = (answer()?, answer()?);
        assert!(once == again, "a partial is a pure function");
        Ok(vec![Partial::from_bytes(once)])
    }
}
