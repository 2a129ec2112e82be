//! Compares everything a run shows on neighbouring records: with the same draws every byte must be the same, and with
//! other draws everything that is not computed from them.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::{Folder, GOOD_SPEC};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;

/// All that can be seen of a run but the time it took.
#[derive(Debug, PartialEq)]
struct Seen {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// Twenty records, the first of which says `cells`.
fn records(cells: &str) -> String {
    let rows: String =
        (1..20).map(|i| format!("{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i))).collect();
    format!("x1,x2\n{cells}\n{rows}")
}

/// Runs a spec on twenty records, the first of which says `cells`.
fn run(folder: &Folder, spec: &str, cells: &str, seed: u32) -> (Seen, f64) {
    run_on(folder, spec, records(cells).as_bytes(), seed)
}

/// Runs a spec with all randomness seeded, as talkative as the program can be made.
fn run_on(folder: &Folder, spec: &str, records: &[u8], seed: u32) -> (Seen, f64) {
    folder.write("spec.toml", spec);
    std::fs::write(folder.path().join("records.csv"), records).unwrap();
    let started = Instant::now();
    let output = folder
        .command(&["sample", "spec.toml", "--out", "out", "--insecure-seed", &seed.to_string()])
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .env("RAYON_NUM_THREADS", "2")
        .output()
        .unwrap();
    let elapsed = started.elapsed().as_secs_f64();
    let out = folder.path().join("out");
    if out.join("summary.json").exists() {
        let report = folder.barkeep(&["report", "out"]);
        assert_eq!(report.code, 0, "{}", report.stderr);
    }
    let mut files = BTreeMap::new();
    if let Ok(entries) = std::fs::read_dir(&out) {
        for entry in entries {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let content = std::fs::read(&path).unwrap();
            // A seeded run's journal says how many words of noise each answer took, and with several chains in which order
            // they were answered: time. Of a journal only its length must not distinguish records.
            let shown = if name == "journal.bin" { content.len().to_le_bytes().to_vec() } else { content };
            files.insert(name, shown);
        }
        std::fs::remove_dir_all(&out).unwrap();
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let seen =
        Seen { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr), files };
    (seen, elapsed)
}

fn spec(sampler: &str) -> String {
    let head = GOOD_SPEC.split("[sampler]").next().unwrap();
    format!("{head}[sampler]\nstart = [0, 0]\nseed = 3\n{sampler}\n")
}

/// Samplers of bits, whose draws are often the same on neighbouring records.
const BITS: [&str; 3] = [
    "name = 'barker'\nproposal_sd = 0.02\nclip = 1\nsteps = 10",
    "name = 'barker'\nproposal_sd = 0.02\nclip = 1\nsteps = 10\nproposal = 'gaussian'\nchains = 2",
    "name = 'barker'\nproposal_sd = 0.05\nclip = 1\nsteps = 8\nmove = 'guided'",
];

/// Samplers of noisy sums, whose draws never are.
const SUMS: [&str; 2] = [
    "name = 'langevin'\nstep = 0.001\nsteps = 100",
    "name = 'dp-hmc'\ntau = 3\ntau_gradient = 6\nclip = 1\nclip_gradient = 1\nleapfrog = 2\nstep = 0.01\nsteps = 5",
];

/// Ordinary, at the bounds, beyond them, empty, unreadable, not a number, and quoted: whatever a record can say.
const CELLS: [&str; 8] =
    ["0.5,0.5", "10,-10", "1e308,-1e308", ",", "what,ever", "NaN,inf", "\"1\",\" 2 \"", "1e-320,-0"];

#[test]
fn with_the_same_draws_every_byte_is_the_same() {
    // In memory, and read anew at every pass.
    let streamed = spec(BITS[0]).replace("[data]", "[data]\nmemory = '1B'");
    for sampler in BITS.map(spec).iter().chain([&streamed]) {
        let (mut same, mut other) = (0, 0);
        for seed in 0..3 {
            let folder = Folder::new();
            let (first, _) = run(&folder, sampler, CELLS[0], seed);
            assert_eq!(first.code, Some(1), "ten draws are no posterior: {}", first.stderr);
            for cells in [CELLS[1], CELLS[3]] {
                let (second, _) = run(&folder, sampler, cells, seed);
                if first.files["draws.csv"] == second.files["draws.csv"] {
                    // Not an assertion on the whole: a failure must not print megabytes.
                    assert_eq!(first.stderr, second.stderr);
                    assert!(
                        first == second,
                        "{sampler} {cells}: something other than the draws distinguishes the records"
                    );
                    same += 1;
                } else {
                    other += 1;
                }
            }
        }
        assert!(same > 0, "{sampler}: no seed gave the same draws on neighbouring records ({other} did not)");
    }
}

/// A model written as text, by somebody nobody trusts: what it makes of a record shows in the draws or nowhere.
#[test]
fn a_text_shows_nothing_but_its_draws() {
    let text = "parameters
  a ~ normal(0, 1)
  b ~ normal(0, 1)
record
  x1 ~ normal(a, 1)
  odd = where(x1 > 3, log(-x1), exp(1000 * x1))
  x2 | censored ~ laplace(b, max(1, min(odd, 2)))
";
    let spec =
        spec(BITS[0]).replace("name = \"gaussian\"\ncovariance = 1", &format!("text = '''\n{text}'''"));
    let (mut same, folder) = (0, Folder::new());
    for seed in 0..3 {
        let (first, _) = run(&folder, &spec, CELLS[0], seed);
        assert_eq!(first.code, Some(1), "ten draws are no posterior: {}", first.stderr);
        for cells in [CELLS[1], CELLS[4]] {
            let (second, _) = run(&folder, &spec, cells, seed);
            assert_eq!(
                (second.code, second.stderr.lines().count()),
                (first.code, first.stderr.lines().count())
            );
            if first.files["draws.csv"] == second.files["draws.csv"] {
                assert!(first == second, "{cells}: something other than the draws distinguishes the records");
                same += 1;
            }
        }
    }
    assert!(same > 0, "no seed gave the same draws on neighbouring records");
}

/// Replaces every number by its sign and shape, so that lines can be compared that show numbers computed from draws.
fn masked(text: &str) -> String {
    let mut out = String::new();
    let mut number = false;
    for letter in text.chars() {
        let part = letter.is_ascii_digit() || (number && matches!(letter, '.' | 'e' | '-' | '+'));
        if part && !number {
            out.push('#');
        } else if !(part || letter == '-' || letter == ' ') {
            out.push(letter);
        }
        number = part;
    }
    out
}

/// Asserts that two runs differ in nothing but numbers computed from their draws.
fn assert_only_numbers_differ(first: &Seen, second: &Seen, context: &str) {
    assert_eq!(masked(&first.stderr), masked(&second.stderr), "{context}");
    assert_alike_but_for_draws(first, second, context);
}

/// Asserts that two runs differ in nothing but what is computed from their draws.
fn assert_alike_but_for_draws(first: &Seen, second: &Seen, context: &str) {
    // The verdict is computed from draws, and with it the exit code: here it may name another parameter, and nothing else.
    for seen in [first, second] {
        assert_eq!(seen.code, Some(1), "a few short steps are no posterior: {context}: {}", seen.stdout);
        assert!(seen.stdout.starts_with("Verdict: not to be trusted."), "{context}: {}", seen.stdout);
        assert_eq!(seen.stdout.lines().count(), 1, "{context}");
    }
    assert_same_files_and_plan(first, second, context);
}

/// Asserts that two runs were planned word for word alike, left the same files under the same certificate, and drew as often.
fn assert_same_files_and_plan(first: &Seen, second: &Seen, context: &str) {
    // The plan is printed before the first answer, word for word.
    let plan = |seen: &Seen| seen.stderr.split("\n\n").next().unwrap().to_owned();
    assert_eq!(plan(first), plan(second), "{context}");
    let names = |seen: &Seen| seen.files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(first), names(second), "{context}");
    // The hashes bind files of draws, so they are other where the draws are.
    let bound = ["\"draws_csv\"", "\"draws_parquet\"", "\"summary\"", "\"journal\""];
    let certificate = |seen: &Seen| {
        let text = String::from_utf8(seen.files["certificate.json"].clone()).unwrap();
        let lines = text.lines().filter(|line| !bound.iter().any(|name| line.contains(name)));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(certificate(first), certificate(second), "{context}");
    let lines = |seen: &Seen| seen.files["draws.csv"].iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(lines(first), lines(second), "{context}");
}

#[test]
fn with_other_draws_only_numbers_computed_from_them_differ() {
    for (sampler, cells) in [(SUMS[0], &CELLS[1..]), (SUMS[1], &CELLS[2..4]), (BITS[0], &CELLS[1..4])] {
        let folder = Folder::new();
        let (first, _) = run(&folder, &spec(sampler), CELLS[0], 9);
        for cells in cells {
            let (second, _) = run(&folder, &spec(sampler), cells, 9);
            assert_only_numbers_differ(&first, &second, &format!("{sampler} {cells}"));
        }
    }
}

/// How a file of records may be written.
#[derive(Debug, Clone, Copy)]
struct Shape {
    one_column: bool,
    line_end: &'static str,
    /// Whether every cell is in quotes, with a line break inside where it may be.
    quoted: bool,
    /// Whether the last line is ended like the others.
    last_ended: bool,
    packed: bool,
}

impl Shape {
    /// All of them.
    fn every() -> impl Iterator<Item = Self> {
        (0..32).map(|k| Self {
            one_column: k & 1 == 0,
            line_end: if k & 2 == 0 { "\n" } else { "\r\n" },
            quoted: k & 4 != 0,
            last_ended: k & 8 == 0,
            packed: k & 16 != 0,
        })
    }

    /// A file of twenty records of which one says `cell` in its first column. A missing cell is never in quotes.
    fn file(self, place: usize, cell: &str) -> Vec<u8> {
        let Self { one_column, line_end, quoted, last_ended, packed } = self;
        let row = |index: usize| {
            let own = if index == place { cell.to_owned() } else { format!("{}", 0.1 * index as f64) };
            let first = if quoted && !own.is_empty() { format!("\"{own}{line_end}\"") } else { own };
            if one_column { first } else { format!("{first},0.5") }
        };
        let header = if one_column { "x1" } else { "x1,x2" }.to_owned();
        let lines: Vec<String> = std::iter::once(header).chain((0..20).map(row)).collect();
        let text = lines.join(line_end) + if last_ended { line_end } else { "" };
        if !packed {
            return text.into_bytes();
        }
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text.as_bytes()).unwrap();
        packer.finish().unwrap()
    }

    /// A spec that reads such files.
    fn spec(self) -> String {
        let spec = spec(SUMS[0]).replace("steps = 100", "steps = 20");
        if !self.one_column {
            return spec;
        }
        let columns: Vec<&str> = spec.lines().filter(|line| !line.starts_with("x2")).collect();
        columns.join("\n").replace("start = [0, 0]", "start = [0]")
    }
}

/// A missing cell shows in no file, however it is written, and wherever the record stands.
#[test]
fn no_shape_of_a_file_distinguishes_a_missing_cell() {
    for shape in Shape::every() {
        let folder = Folder::new();
        let (there, _) = run_on(&folder, &shape.spec(), &shape.file(7, "0.5"), 5);
        for place in [0, 7, 19] {
            let (missing, _) = run_on(&folder, &shape.spec(), &shape.file(place, ""), 5);
            assert_only_numbers_differ(&there, &missing, &format!("{shape:?}, record {place}"));
        }
    }
}

/// Where neighbours add or remove a record, files of any number of records are read whole, and nothing shows how many.
#[test]
fn no_number_of_records_shows_where_neighbours_add_or_remove_one() {
    let declared = 20;
    let head =
        |sampler: &str| spec(sampler).replace("delta = 1e-6", "delta = 1e-6\nneighbours = 'add-remove'");
    let corrected = "name = 'barker-corrected'\nproposal_sd = 0.05\nclip = 0.1\nvariance = 1\nsteps = 5";
    // One refusal for every sampler that needs the number; the others run on any.
    for sampler in [BITS[0], BITS[1], BITS[2], corrected] {
        let folder = Folder::new();
        let text = head(sampler);
        let numbers = [declared, 0, 3000, declared - 1, declared + 1, 1, 10 * declared];
        // Its plan takes a second.
        let tried = if sampler == corrected { 3 } else { numbers.len() };
        let seen: Vec<Seen> = numbers[..tried]
            .iter()
            .map(|&records| run_on(&folder, &text, few(records).as_bytes(), 5).0)
            .collect();
        for other in &seen[1..] {
            assert_alike_but_for_draws(&seen[0], other, sampler);
        }
        // All records are used: two thousand more at one end pull the draws there.
        assert!(seen.iter().any(|other| other.files["draws.csv"] != seen[0].files["draws.csv"]));
    }
    for sampler in SUMS {
        let folder = Folder::new();
        let codes = [0, 19, 20].map(|records| run_on(&folder, &head(sampler), few(records).as_bytes(), 5).0);
        assert_eq!(codes[0].code, Some(2));
        assert!(codes[0].stderr.contains("add-remove"), "{}", codes[0].stderr);
        assert_eq!((&codes[0], &codes[0]), (&codes[1], &codes[2]));
    }
}

/// This many records of two columns.
fn few(records: u32) -> String {
    let rows =
        (0..records).map(|i| format!("{},{}\n", 0.1 * f64::from(i % 100), 1.0 - 0.05 * f64::from(i % 40)));
    format!("x1,x2\n{}", rows.collect::<String>())
}

/// Twenty persons, the first with these rows, which stand in the middle of the file; all others with one or two.
fn visits(rows: &[&str]) -> String {
    let others = |part: u32| {
        let row = move |i: u32| format!("p{i},{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i + part));
        (1..20).filter(move |i| part == 0 || i % 2 == 0).map(row).collect::<String>()
    };
    let own: String = rows.iter().map(|cells| format!("p0,{cells}\n")).collect();
    format!("who,x1,x2\n{}{own}{}", others(0), others(1))
}

/// Persons with other numbers of rows, and other rows, show in nothing but the draws.
#[test]
fn no_number_of_rows_shows_where_a_person_may_have_several() {
    let whose = "person = 'who'\npersons = 20\nmost_rows = 8";
    let many = vec![CELLS[0]; 3000];
    let blocks: [&[&str]; 6] = [&CELLS[..1], &CELLS[..2], &CELLS, &[","], &["", "NaN,inf"], &many];
    for sampler in [BITS[0], BITS[2], SUMS[0]] {
        let folder = Folder::new();
        let text = spec(sampler).replace("records = 20", whose);
        let seen: Vec<Seen> = blocks
            .iter()
            .map(|rows| {
                // A row has as many cells as the header: the empty one is two empty cells.
                let rows: Vec<&str> =
                    rows.iter().map(|row| if row.is_empty() { "," } else { *row }).collect();
                run_on(&folder, &text, visits(&rows).as_bytes(), 5).0
            })
            .collect();
        assert_eq!(seen[0].code, Some(1), "a few steps are no posterior: {}", seen[0].stderr);
        assert!(seen[0].stderr.contains("20 persons"), "{}", seen[0].stderr);
        for other in &seen[1..] {
            assert_alike_but_for_draws(&seen[0], other, sampler);
        }
    }
}

/// A noise-aware run on neighbours: the verdict follows the answers, and nothing else differs but them. All questions are
/// asked, so that journals are as long as each other.
#[test]
fn noise_aware_runs_differ_in_nothing_but_what_follows_from_answers() {
    let spec = "[data]\npath = 'records.csv'\nrecords = 20\n[data.columns]\nx1 = { kind = 'bool', invalid = false }\n\
                x2 = { min = -1, max = 1, invalid = 0 }\n[model]\nformula = 'x1 ~ x2'\nfamily = 'bernoulli'\n\
                [privacy]\nepsilon = 1\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nseed = 3\nsteps = 50\n";
    let file = |cells: &str| {
        let rows: String = (1..20).map(|i| format!("{},{}\n", i % 2, 1.0 - 0.1 * f64::from(i))).collect();
        format!("x1,x2\n{cells}\n{rows}")
    };
    let folder = Folder::new();
    let (first, _) = run_on(&folder, spec, file("1,0.5").as_bytes(), 9);
    assert!(matches!(first.code, Some(0 | 1)), "{}", first.stderr);
    for cells in ["0,-1", "true,1e308", ",", "what,ever", "NaN,inf", "\"1\",\" 0.2 \""] {
        let (second, _) = run_on(&folder, spec, file(cells).as_bytes(), 9);
        assert!(matches!(second.code, Some(0 | 1)), "{}", second.stderr);
        assert_eq!(second.stdout.lines().count(), 1, "{cells}");
        assert_same_files_and_plan(&first, &second, cells);
        assert_eq!(first.files["journal.bin"], second.files["journal.bin"], "{cells}");
    }
}

#[test]
fn time_is_told_not_claimed() {
    let folder = Folder::new();
    let mut times = Vec::new();
    for cells in CELLS {
        let (_, elapsed) = run(&folder, &spec(SUMS[0]), cells, 1);
        times.push(format!("{cells:?} {elapsed:.3} s"));
    }
    // No assertion: time is no part of the guarantee.
    println!("time of a run by what one record says: {}", times.join(", "));
}
