//! Reads records anew at every pass, from CSV and Parquet: the same draws to the bit as in memory, and a run that stops where the
//! file does not stay what it was.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::accounting::Steps;
use barkeep::curator::{Refused, Table};
use barkeep::data::{CsvOptions, Unit};
use barkeep::insecure::Insecure;
use barkeep::samplers::SAMPLERS;
use barkeep::{Error, Plan, PublicRng, Run, Watch};
use parquet::data_type::{DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use written::{plan, refusal, series};

/// Rows simulated from a plan's own model, with a cell here and there that is missing or outside the bounds.
fn simulated(plan: &Plan, theta: &[f64]) -> Vec<Vec<f64>> {
    let (model, records) = (&**plan.spec().model(), plan.spec().data().records().as_len());
    let mut rng = PublicRng::new(3, 7);
    let mut row = vec![0.0; model.columns()];
    let rows = (0..records).map(|i| {
        model.simulate(theta, &mut || rng.open_uniform(), &mut row);
        match i % 50 {
            7 => row[0] = f64::NAN,
            8 => row[0] = 1e9,
            _ => {}
        }
        row.clone()
    });
    rows.collect()
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.spec().data().schema().columns().iter().map(|column| column.name()).collect()
}

fn write_csv(path: &Path, names: &[&str], rows: &[Vec<f64>]) {
    let mut text = names.join(",") + "\n";
    for row in rows {
        let cells: Vec<String> =
            row.iter().map(|x| if x.is_nan() { String::new() } else { x.to_string() }).collect();
        text += &(cells.join(",") + "\n");
    }
    std::fs::write(path, text).unwrap();
}

/// Groups of rows, as they come.
fn write_parquet(path: &Path, names: &[&str], groups: impl Iterator<Item = Vec<Vec<f64>>>) {
    // Whose row it is, a whole number says; no float does.
    let kind = |name: &str| if name == "who" { "int64" } else { "double" };
    let fields: String = names.iter().map(|name| format!("required {} {name};", kind(name))).collect();
    let schema = Arc::new(parse_message_type(&format!("message records {{ {fields} }}")).unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(WriterProperties::new())).unwrap();
    for rows in groups {
        let mut group = writer.next_row_group().unwrap();
        for (j, name) in names.iter().enumerate() {
            let values = rows.iter().map(|row| row[j]);
            let mut column = group.next_column().unwrap().unwrap();
            if kind(name) == "int64" {
                let values: Vec<i64> = values.map(|value| value.to_string().parse().unwrap()).collect();
                column.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            } else {
                column.typed::<DoubleType>().write_batch(&values.collect::<Vec<_>>(), None, None).unwrap();
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

fn bits(run: &Run) -> Vec<u64> {
    (0..run.draws.chains().len()).flat_map(|chain| series(run, chain)).flatten().map(f64::to_bits).collect()
}

fn run(plan: &Plan, table: Table) -> Result<Run, Error> {
    plan.runner().insecure(Insecure::seed(11)).run(table)
}

const SPEC: &str = "[data]\npath = 'PATH'\nrecords = 5000\nMEMORYreport = { share = 0.02 }\n[data.columns]\n\
                    y = { min = -4, max = 4, invalid = 0 }\na = { min = -1, max = 1, invalid = 0, precision = 'f32' }\n\
                    [model]\nformula = 'y ~ a'\nfamily = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-5\n\
                    [sampler]\nname = 'noise-aware'\nsteps = 50\nseed = 5\n";

fn written_plan(path: &Path, memory: Option<&str>) -> Plan {
    let memory = memory.map_or(String::new(), |memory| format!("memory = '{memory}'\n"));
    plan(&SPEC.replace("PATH", path.to_str().unwrap()).replace("MEMORY", &memory)).unwrap()
}

/// The records of a plan, read anew at every pass in so many bytes.
fn streamed(plan: &Plan, path: &Path, memory: u64) -> Table {
    let (count, options) = (plan.spec().count(), CsvOptions::default());
    Table::stream_files(&[path], plan.view(), count, options, memory, &mut |_| {}).unwrap()
}

#[test]
fn every_sampler_draws_the_same_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for example in SAMPLERS.iter().flat_map(|entry| entry.examples().take(1)) {
        let path = folder.path().join("records.csv");
        let placed = example.text.replace("simulated.csv", path.to_str().unwrap());
        let plan = plan(&format!("{placed}seed = 5\n")).unwrap().stopping_after(Steps(3));
        write_csv(&path, &names(&plan), &simulated(&plan, example.theta));
        let found = run(&plan, streamed(&plan, &path, 1)).unwrap();
        let expected = run(&plan, plan.read_records(&mut |_| {}).unwrap()).unwrap();
        assert_eq!(bits(&found), bits(&expected), "{}", example.title);
    }
}

#[test]
fn parquet_in_stretches_draws_the_same_as_csv_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let csv = folder.path().join("records.csv");
    let parquet = folder.path().join("records.parquet");
    let whole = written_plan(&csv, None);
    let rows = simulated(&whole, &[0.3, -0.5, 0.1]);
    write_csv(&csv, &names(&whole), &rows);
    write_parquet(&parquet, &names(&whole), rows.chunks(1700).map(<[_]>::to_vec));
    let expected = run(&whole, whole.read_records(&mut |_| {}).unwrap()).unwrap();
    let plan = written_plan(&parquet, Some("1B"));
    let mut shown = 0;
    let table = plan.read_records(&mut |read| shown = read.0).unwrap();
    let found = run(&plan, table).unwrap();
    assert_eq!(bits(&found), bits(&expected));
    // Bad cells were counted as the file was read first.
    assert_eq!(format!("{:?}", found.summary().faults), format!("{:?}", expected.summary().faults));
    assert!(shown > 4000);
}

/// Sums and squares of batches that lie in several stretches, of which most hold a member and some may hold none.
#[test]
fn batches_draw_the_same_in_any_stretches() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.csv");
    for (privacy, sampler) in [
        ("epsilon = 1\ndelta = 1e-6", "name = 'sgld'\nbatch = 3\nstep_size = 1e-4\nclip = 1"),
        ("private = false", "name = 'barker-seita'\nbatch = 2000\nproposal_sd = 0.01"),
    ] {
        let text = format!(
            "[data]\npath = '{}'\nrecords = 5000\n[data.columns]\nx1 = {{ min = -2, max = 2, invalid = 0 }}\n\
             x2 = {{ min = -2, max = 2, invalid = 0 }}\n[model]\nname = 'gaussian'\ncovariance = 1\n[privacy]\n{privacy}\n\
             [sampler]\n{sampler}\nsteps = 8\nstart = [0, 0]\nseed = 3\n",
            path.display()
        );
        let plan = plan(&text).unwrap();
        write_csv(&path, &names(&plan), &simulated(&plan, &[0.3, -0.5]));
        let expected = run(&plan, plan.read_records(&mut |_| {}).unwrap()).unwrap();
        for memory in [1, 70_000] {
            let found = run(&plan, streamed(&plan, &path, memory)).unwrap();
            assert_eq!(bits(&found), bits(&expected), "{sampler} {memory}");
        }
    }
}

/// Replaces the file after the first step.
struct Replaces<'a>(&'a Path, AtomicBool);

impl Watch for Replaces<'_> {
    fn step(&self, _chain: usize, _outcome: barkeep::Outcome) {
        if !self.1.swap(true, Ordering::Relaxed) {
            std::fs::write(self.0, "x1,x2\n0.5,0.5\n").unwrap();
        }
    }
}

#[test]
fn a_file_that_changes_stops_the_run_and_its_journal_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.csv");
    let text = format!(
        "[data]\npath = '{}'\nrecords = 20\nmemory = '1B'\n[data.columns]\nx1 = {{ min = -2, max = 2, invalid = 0 }}\n\
         x2 = {{ min = -2, max = 2, invalid = 0 }}\n[model]\nname = 'gaussian'\ncovariance = 1\n[privacy]\nepsilon = 1\n\
         delta = 1e-6\n[sampler]\nname = 'barker'\nproposal_sd = 0.02\nclip = 1\nsteps = 10\nstart = [0, 0]\nseed = 3\n",
        path.display()
    );
    let plan = plan(&text).unwrap();
    let rows = simulated(&plan, &[0.3, -0.5]);
    write_csv(&path, &names(&plan), &rows);
    let expected = bits(&run(&plan, plan.read_records(&mut |_| {}).unwrap()).unwrap());
    let (journal, watch) = (folder.path().join("run"), Replaces(&path, AtomicBool::new(false)));
    let runner = || plan.runner().insecure(Insecure::seed(11));
    let stopped = runner().watch(&watch).journal(&journal).run(plan.read_records(&mut |_| {}).unwrap());
    assert!(matches!(stopped.err(), Some(Error::Refused(Refused::Unasked { .. }))));
    // Another number of records is refused at once, as ever.
    assert!(matches!(plan.read_records(&mut |_| {}).err(), Some(Error::Data(_))));
    write_csv(&path, &names(&plan), &rows);
    let run = runner().resume(&journal).run(plan.read_records(&mut |_| {}).unwrap()).unwrap();
    assert_eq!(bits(&run), expected);
}

/// The rows of persons of 1 to 7 rows each, in three orders: person by person, the same with some rows at the end, and mixed.
fn orders(persons: usize, rows: &[Vec<f64>]) -> [(&'static str, Vec<Vec<f64>>); 3] {
    let whose = (0..persons).flat_map(|who| std::iter::repeat_n(who as f64, 1 + who * 5 % 7));
    let grouped: Vec<_> =
        whose.zip(rows.iter().cycle()).map(|(who, row)| [&[who], &row[..]].concat()).collect();
    let (mut nearly, mut late, mut mixed) = (Vec::new(), Vec::new(), grouped.clone());
    for (i, row) in grouped.iter().enumerate() {
        if i % 400 == 77 { &mut late } else { &mut nearly }.push(row.clone());
    }
    let mut rng = PublicRng::new(5, 7);
    (1..mixed.len()).rev().for_each(|i| mixed.swap(i, (rng.open_uniform() * (i + 1) as f64) as usize));
    [("person by person", grouped), ("some late", [nearly, late].concat()), ("mixed", mixed)]
}

/// Rows of persons wherever they stand, also across stretches, row groups and files: sums, log-ratios, batches and bad cells.
#[test]
fn persons_draw_the_same_from_files_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let [csv, more, parquet] = ["one.csv", "two.csv", "all.parquet"].map(|name| folder.path().join(name));
    const PERSONS: usize = 1250;
    let keys = |memory: &str| {
        format!(
            "[data]\npath = '{}'\nperson = 'who'\npersons = {PERSONS}\n{memory}report = {{ share = 0.02 }}\nMOST\n[data.columns]\n\
             y = {{ min = -4, max = 4, invalid = 0 }}\na = {{ min = -1, max = 1, invalid = 0 }}\n[model]\nformula = 'y ~ a'\n\
             family = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-5\n[sampler]\nseed = 5\n",
            parquet.display()
        )
    };
    let start = "steps = 4\nstart = [0, 0, 0]\n";
    let samplers = [
        ("", "name = 'langevin'\nfisher_scale = 5\nsteps = 4\n".to_owned()),
        ("most_rows = 3", format!("name = 'barker'\nproposal_sd = 0.02\nclip = 1\n{start}")),
        ("most_rows = 4", format!("name = 'sgld'\nbatch = 30\nstep_size = 1e-4\nclip = 1\n{start}")),
        ("most_rows = 2", "name = 'noise-aware'\nsteps = 20\n".to_owned()),
    ];
    let planned = |memory: &str, (most_rows, sampler): &(&str, String)| {
        plan(&(keys(memory).replace("MOST", most_rows) + sampler)).unwrap()
    };
    let plans: Vec<Plan> = samplers.iter().map(|sampler| planned("", sampler)).collect();
    for (order, rows) in orders(PERSONS, &simulated(&plans[0], &[0.3, -0.5, 0.1])) {
        let (first, second) = rows.split_at(rows.len() / 2);
        write_csv(&csv, &["who", "y", "a"], first);
        write_csv(&more, &["who", "y", "a"], second);
        write_parquet(&parquet, &["who", "y", "a"], rows.chunks(1700).map(<[_]>::to_vec));
        for (plan, (_, sampler)) in plans.iter().zip(&samplers) {
            // This one is slow: once, in the hardest order.
            let is_slow = sampler.contains("noise-aware");
            if is_slow && order != "mixed" {
                continue;
            }
            let expected = run(plan, plan.read_records(&mut |_| {}).unwrap()).unwrap();
            let Unit::Person { most_rows } = plan.spec().data().unit() else { unreachable!() };
            let ways = [(&[&parquet][..], 90_000, 2), (&[&csv, &more][..], 1, 1)];
            for (paths, memory, threads) in ways.into_iter().take(if is_slow { 1 } else { 2 }) {
                let (view, count, options) = (plan.view(), plan.spec().count(), CsvOptions::default());
                let table =
                    Table::stream_files_persons(paths, view, "who", count, most_rows, options, memory)
                        .unwrap();
                assert_eq!(table.unit(), Unit::Person { most_rows });
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let found = pool.install(|| run(plan, table)).unwrap();
                let what = format!("{order}, {most_rows:?}, {memory}");
                assert_eq!(bits(&found), bits(&expected), "{what}");
                let faults = |run: &Run| format!("{:?}", run.summary().faults.as_ref().unwrap());
                assert_eq!(faults(&found), faults(&expected), "{what}");
            }
        }
        // By the spec's key. Rows are as many as persons times most_rows: nobody's number is shown.
        let plan = planned("memory = '50KB'\n", &samplers[1]);
        let table = plan.read_records(&mut |_| unreachable!("the number of rows is shown")).unwrap();
        let expected = run(&plans[1], plans[1].read_records(&mut |_| {}).unwrap()).unwrap();
        std::fs::write(&parquet, "").unwrap();
        assert!(matches!(run(&plan, table), Err(Error::Refused(Refused::Unasked { .. }))));
        write_parquet(&parquet, &["who", "y", "a"], rows.chunks(1000).map(<[_]>::to_vec));
        assert_eq!(bits(&run(&plan, plan.read_records(&mut |_| {}).unwrap()).unwrap()), bits(&expected));
    }
}

#[test]
fn memory_is_a_number_with_a_unit() {
    let head = "[data]\npath = 'r.csv'\nrecords = 1000\nMEMORY\n[data.columns]\ny = { min = -4, max = 4, invalid = 0 }\n[model]\n\
                name = 'gaussian'\ncovariance = 1\n[privacy]\nepsilon = 2\ndelta = 1e-5\n[sampler]\nstart = [0]\n";
    for (text, bytes) in
        [("4GB", 4_000_000_000), ("1.5 MiB", 1_572_864), ("7b", 7), ("20TB", 20_000_000_000_000)]
    {
        let plan = plan(&head.replace("MEMORY", &format!("memory = '{text}'"))).unwrap();
        assert_eq!(plan.spec().data().memory_limit(), Some(bytes));
    }
    for text in ["4", "GB", "0MB", "-1GB", "4 parsecs", ""] {
        let refused = refusal(&head.replace("MEMORY", &format!("memory = '{text}'")));
        assert!(refused.contains("data.memory"), "{refused}");
    }
}

/// The most memory this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() * 1024
}

/// Six columns that would take 480 MB are fitted in 16 MB of records, and grow by nothing else. `BARKEEP_RECORDS` gives another
/// number.
#[test]
#[ignore = "takes minutes: cargo test --release -p barkeep --test streamed -- --ignored --nocapture"]
fn memory_stays_below_the_limit() {
    let records: usize = std::env::var("BARKEEP_RECORDS").map_or(10_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.parquet");
    let features = ["a", "b", "c", "d", "e"];
    let columns: String =
        features.iter().map(|name| format!("{name} = {{ min = -1, max = 1, invalid = 0 }}\n")).collect();
    let text = format!(
        "[data]\npath = '{}'\nrecords = {records}\nmemory = '16MB'\n[data.columns]\ny = {{ min = -8, max = 8, invalid = 0 }}\n\
         {columns}[model]\nformula = 'y ~ {}'\nfamily = 'gaussian'\n[privacy]\nepsilon = 1\ndelta = 1e-9\n[sampler]\n\
         name = 'noise-aware'\nsteps = 200\nseed = 5\n",
        path.display(),
        features.join(" + ")
    );
    let plan = plan(&text).unwrap();
    let mut rng = PublicRng::new(3, 7);
    let mut row = || {
        let x: Vec<f64> = features.iter().map(|_| 2.0 * rng.open_uniform() - 1.0).collect();
        let noise: f64 = (0..12).map(|_| rng.open_uniform()).sum::<f64>() - 6.0;
        [vec![0.5 + x[0] - 0.25 * x[1] + noise], x].concat()
    };
    let names = [&["y"], &features[..]].concat();
    const GROUP: usize = 100_000;
    let sizes = (0..records).step_by(GROUP).map(|start| GROUP.min(records - start));
    write_parquet(&path, &names, sizes.map(|size| (0..size).map(|_| row()).collect()));
    let before = peak();
    let started = std::time::Instant::now();
    let table = plan.read_records(&mut |_| {}).unwrap();
    let opened = started.elapsed();
    let run = plan.run(table).unwrap();
    println!(
        "{records} records: opened in {opened:.1?}, fitted in {:.1?}; peak {} MB, {} MB before",
        started.elapsed(),
        peak() / 1_000_000,
        before / 1_000_000
    );
    assert!(peak() < before + 64_000_000);
    let slope = run.summary().parameters[1].mean.unwrap();
    assert!((slope - 1.0).abs() < 0.05, "{slope}");
}
