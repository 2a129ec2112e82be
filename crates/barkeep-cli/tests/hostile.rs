//! Runs hostile requests, made up over every key, on pairs of neighbouring data sets: nothing but the draws may tell the two apart.
//!
//! A request is a good one with one to three keys changed to something an attacker would try. Refused or run, by `sample` with all
//! randomness seeded or by `job run` with a ledger, it must show the same on both: exit code, words, names of files and what they hold but for
//! draws, and the ledger's entries.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::Folder;
use std::collections::BTreeMap;

/// A small generator of numbers (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[(self.next() % from.len() as u64) as usize]
    }
}

/// How the data set is declared: by record or by person, its number public or secret.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Declared {
    by_person: bool,
    secret: bool,
}

const UNITS: usize = 20;

impl Declared {
    const ALL: [Self; 4] = [
        Self { by_person: false, secret: false },
        Self { by_person: true, secret: false },
        Self { by_person: false, secret: true },
        Self { by_person: true, secret: true },
    ];

    fn set(self) -> String {
        let unit = match self.by_person {
            true => format!("person = 'who'\npersons = {UNITS}\nmost_rows = 3\n"),
            false => format!("records = {UNITS}\n"),
        };
        let number = if self.secret { "number = 'secret'\n" } else { "" };
        format!(
            "id = 'clinic'\npath = 'records.csv'\n{unit}{number}[columns]\nx = {{ min = -1, max = 1, invalid = 0 }}\n\
             y = {{ kind = 'bool', invalid = false }}\nn = {{ kind = 'integer', min = 0, max = 9, invalid = 3 }}\n\
             c = {{ kind = 'category', levels = ['a', 'b', 'q'], invalid = 'a' }}\n"
        )
    }

    /// A file whose first unit says this, one row each.
    fn records(self, own: &[&str]) -> String {
        let row = |i: usize| {
            format!(
                "p{i},{},{},{},{},note\n",
                0.1 * i as f64 - 1.0,
                i.is_multiple_of(2),
                i % 9,
                ["a", "b", "q"][i % 3]
            )
        };
        let others: String = (1..UNITS).map(row).collect();
        let own: String = own.iter().map(|cells| format!("p0,{cells}\n")).collect();
        format!("who,x,y,n,c,note\n{own}{others}")
    }
}

/// What a unit's rows may say: ordinary, empty, outside, unreadable, ragged, with delimiters that an attacker would like, endless.
const ROWS: [&str; 10] = [
    "0.5,true,3,a,n",
    ",,,,",
    "1e308,2,-7,z,q",
    "q,n,NaN,q,q",
    "0.5,true,3,a,n,n,n",
    "0.5",
    "\"0,5\",\"t\"\"rue\",\"\n\",\"q\",\"n\nn\"",
    " 0.25 , no ,9007199254740993,b, ",
    "-inf,inf,1e-320,é,\u{feff}",
    "0.1,false,4,b,'",
];

/// The lines of a good request.
fn good(declared: Declared) -> Vec<(&'static str, String)> {
    let line = |section: &'static str, text: &str| (section, text.to_owned());
    let mut lines = vec![
        line("data", "set = 'clinic.dataset.toml'"),
        line("data", "columns = ['x', 'y', 'n', 'c']"),
        line("model", "formula = 'y ~ x + n'"),
        line("model", "family = 'bernoulli'"),
        line("privacy", "epsilon = 1"),
        line("privacy", "delta = 1e-6"),
        line("sampler", "name = 'barker'"),
        line("sampler", "proposal_sd = 0.05"),
        line("sampler", "clip = 1"),
        line("sampler", "steps = 6"),
        line("sampler", "start = [0, 0, 0]"),
        line("sampler", "seed = 3"),
    ];
    if declared.secret {
        lines.push(line("privacy", "neighbours = 'add-remove'"));
    }
    lines
}

/// What an attacker tries, by section.
const TRIED: [(&str, &[&str]); 4] = [
    (
        "data",
        &[
            "path = 'records.csv'",
            "delimiter = 'q'",
            "delimiter = 'n'",
            "quote = 'n'",
            "person = 'note'",
            "person = 'c'",
            "persons = 1",
            "persons = 20",
            "records = 20",
            "records = 19",
            "most_rows = 1",
            "number = 'secret'",
            "id = 'other'",
            "schema = 'clinic.dataset.toml'",
            "set = 'records.csv'",
            "set = 'other.toml'",
            "memory = '1B'",
            "report = { share = 0.1 }",
            "report = { share = 2 }",
            "columns = ['x', 'y']",
            "columns = ['note', 'y']",
            "columns = ['who', 'x', 'y']",
            "columns = { x = { min = 0, max = 0.5 }, y = {}, n = { max = 4 } }",
            "columns = { x = { min = -9 }, y = {}, n = {} }",
            "columns = { x = { levels = ['1'] }, y = {}, n = {} }",
            "columns = { x = { kind = 'category' }, y = {}, n = {} }",
            "columns = { x = { invalid = 1 }, y = {}, n = {} }",
            "columns = { x = { scale = 'bounds' }, y = {}, n = { scale = 'bounds' } }",
            "columns = { x = { precision = 'f32' }, y = {}, n = {} }",
            "columns = { x = { typical = [0, 1] }, y = {}, n = {} }",
        ],
    ),
    (
        "model",
        &[
            "formula = 'y ~ x'",
            "formula = 'y ~ c'",
            "formula = 'y ~ x:n + c'",
            "formula = 'y ~ note'",
            "formula = 'n ~ x'",
            "family = 'poisson'",
            "family = 'gaussian'",
            "family = 'student-t'",
            "temper = 0.5",
            "temper = 2",
            "n0 = 10",
            "n0 = 100",
            "text = 'parameters\\n  a ~ normal(0, 1)\\nrecord\\n  x ~ normal(a, 1)\\n'",
            "file = 'records.csv'",
            "name = 'gaussian'",
            "sd = 1",
            "own = 'mine'",
        ],
    ),
    (
        "privacy",
        &[
            "epsilon = 1e-4",
            "epsilon = 0.001",
            "epsilon = 30",
            "epsilon = -1",
            "delta = 0.5",
            "delta = 1e-9",
            "neighbours = 'add-remove'",
            "neighbours = 'substitute'",
            "private = false",
            "analyst = 'bob'",
            "project = 'p'",
            "account = 'other'",
        ],
    ),
    (
        "sampler",
        &[
            "name = 'langevin'",
            "name = 'penalty'",
            "name = 'rwmh'",
            "name = 'statistics'",
            "name = 'ops'",
            "name = 'lazy-barker'",
            "name = 'nothing'",
            "steps = 1",
            "steps = 0",
            "steps = 12",
            "chains = 2",
            "chains = 0",
            "clip = 0",
            "clip = 1e-3",
            "clip = 1e300",
            "proposal_sd = 1e300",
            "proposal_sd = 1e-300",
            "start = [9, 9, 9]",
            "start = [0]",
            "start = 'prior'",
            "seed = -1",
            "burn_in = 5",
            "burn_in = 100",
            "step = 0.001",
            "move = 'guided'",
            "fraction = 0.5",
        ],
    ),
];

/// A request, and whether it is a job's.
fn request(dice: &mut Dice, declared: Declared) -> String {
    let mut lines = good(declared);
    for _ in 0..*dice.pick(&[1, 1, 1, 1, 2, 3]) {
        let (section, tried) = dice.pick(&TRIED);
        let line = *dice.pick(tried);
        let key = line.split(" =").next().unwrap();
        // In the place of what it had said, now and then twice, now and then nothing.
        match dice.next() % 8 {
            0 => lines.retain(|(own, text)| !(own == section && text.starts_with(key))),
            _ => {
                lines.retain(|(own, text)| !(own == section && text.split(" =").next() == Some(key)));
                lines.push((section, line.to_owned()));
            }
        }
    }
    // A seed that nobody gives is drawn, and its digits make a journal's header longer or shorter.
    if !lines.iter().any(|(_, text)| text.starts_with("seed")) {
        lines.push(("sampler", "seed = 3".to_owned()));
    }
    let section = |name: &str| {
        let own = lines.iter().filter(|(own, _)| *own == name).map(|(_, text)| format!("{text}\n"));
        format!("[{name}]\n{}", own.collect::<String>())
    };
    ["data", "model", "privacy", "sampler"].map(section).concat()
}

/// All that can be seen of a run.
struct Seen {
    /// Whether it ran; else the exit code.
    code: Result<(), i32>,
    /// What is said before the first answer, or why there is none.
    words: String,
    /// What files hold, but for draws.
    files: BTreeMap<String, String>,
    ledger: String,
}

/// The custodian's room on one of two neighbouring data sets.
struct Room(Folder);

impl Room {
    fn new(declared: Declared, records: &str) -> Self {
        let folder = Folder::new();
        folder.write("clinic.dataset.toml", &declared.set());
        folder.write("records.csv", records);
        let ok = |arguments: &[&str]| {
            let shown = folder.barkeep(arguments);
            assert_eq!(shown.code, 0, "{arguments:?}: {}{records}", shown.stderr);
        };
        ok(&["dataset", "check", "clinic.dataset.toml"]);
        ok(&["key", "new", "key"]);
        ok(&["ledger", "new", "books"]);
        let unit = if declared.by_person { "person" } else { "record" };
        let neighbours = if declared.secret { "add-remove" } else { "substitute" };
        let total = ["--epsilon", "10000", "--delta", "1e-3", "--unit", unit, "--neighbours", neighbours];
        ok(&[&["ledger", "open", "books", "people"][..], &total].concat());
        ok(&["ledger", "add", "books", "people", "clinic.dataset.toml"]);
        Self(folder)
    }

    /// Runs a request as a job, or as a spec with all randomness seeded, and clears up.
    fn run(&self, text: &str, job: bool) -> Seen {
        let folder = &self.0;
        let (out, shown) = match job {
            true => {
                // As its sender's program would have packed it, or as nobody's would.
                let spec = text.replace("clinic.dataset.toml", "clinic");
                let spec = spec.replace("[privacy]\n", "[privacy]\nledger = 'books'\naccount = 'people'\n");
                let request = serde_json::json!({
                    "kind": "barkeep-request", "format": 2, "spec": spec, "signature": null,
                });
                folder.write("a.request", &request.to_string());
                let run = [
                    "job",
                    "run",
                    "a.request",
                    "--set",
                    "clinic.dataset.toml",
                    "--ledger",
                    "books",
                    "--sign",
                    "key",
                ];
                ("a.tar.run", folder.barkeep(&run))
            }
            false => {
                folder.write("spec.toml", text);
                ("out", folder.barkeep(&["sample", "spec.toml", "--out", "out", "--insecure-seed", "5"]))
            }
        };
        let ran = folder.exists(&format!("{out}/summary.json"));
        let code = if ran { Ok(()) } else { Err(shown.code) };
        let plan = shown.stderr.split("\n\n").next().unwrap_or_default().to_owned();
        let plan = plan.split("\nVerdict").next().unwrap_or_default().to_owned();
        let words = if ran { plan } else { format!("{}{}", shown.stdout, shown.stderr) };
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(folder.path().join(out)).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = std::fs::read(&path).unwrap();
            files.insert(name.clone(), shown_of(&name, &bytes));
        }
        let _ = std::fs::remove_dir_all(folder.path().join(out));
        let _ = std::fs::remove_file(folder.path().join("a.tar"));
        let ledger = folder.barkeep(&["ledger", "log", "books"]).stdout;
        Seen { code, words: masked(&words), files, ledger: masked(&ledger) }
    }
}

/// What a file shows that is no draw, and not computed from draws.
fn shown_of(name: &str, bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match name {
        "certificate.json" => {
            let bound = [
                "\"draws_csv\"",
                "\"draws_parquet\"",
                "\"summary\"",
                "\"journal\"",
                "\"run\"",
                "\"signature\"",
                "\"key\"",
            ];
            let kept = text.lines().filter(|line| !bound.iter().any(|name| line.contains(name)));
            kept.collect::<Vec<_>>().join("\n")
        }
        "draws.csv" => text.lines().count().to_string(),
        "journal.bin" => bytes.len().to_string(),
        _ => String::new(),
    }
}

/// Every run has its own name, date and hashes.
fn masked(text: &str) -> String {
    let drawn = |word: &&str| {
        word.len() >= 12 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || b"-:TZ".contains(&byte))
    };
    let words = text.split(' ').map(|word| if drawn(&word) { "·" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

/// Tries this many requests on pairs of neighbours.
#[expect(clippy::print_stdout, reason = "SECURITY.md quotes it")]
fn attack(pairs: u64, seed: u64) {
    let hands = 4;
    let told: Vec<[u64; 2]> = std::thread::scope(|scope| {
        let hand = |hand: u64| {
            move || {
                let (mut told, mut dice) = ([0; 2], Dice(seed ^ hand << 32));
                let mut left = pairs.div_ceil(hands);
                while left > 0 {
                    let declared = Declared::ALL[(dice.next() % 4) as usize];
                    let (one, other) = neighbours(&mut dice, declared);
                    let rooms = [&one, &other].map(|records| Room::new(declared, records));
                    for _ in 0..left.min(25) {
                        let (text, job) = (request(&mut dice, declared), dice.next() % 3 == 0);
                        let [first, second] = [&rooms[0], &rooms[1]].map(|room| room.run(&text, job));
                        let context = format!("{text}\njob: {job}\n{one}\n{other}");
                        assert_eq!((&first.code, &first.words), (&second.code, &second.words), "{context}");
                        assert_eq!(first.ledger, second.ledger, "{context}");
                        assert!(first.files.keys().eq(second.files.keys()), "{context}");
                        for (name, shown) in &first.files {
                            assert_eq!(*shown, second.files[name], "{name}\n{context}");
                        }
                        told[usize::from(first.code.is_ok())] += 1;
                    }
                    left -= left.min(25);
                }
                told
            }
        };
        let hands: Vec<_> = (0..hands).map(|number| scope.spawn(hand(number))).collect();
        hands.into_iter().map(|hand| hand.join().unwrap()).collect()
    });
    let sum = |place: usize| told.iter().map(|hand| hand[place]).sum::<u64>();
    println!("{} pairs of runs: {} requests refused alike, {} run alike", sum(0) + sum(1), sum(0), sum(1));
    assert!(sum(1) > pairs / 10 && sum(0) > pairs / 10, "neither all refused nor all run");
}

/// Two files that differ in what one unit says: its one row, or, where persons have rows, any rows; none where the number is secret.
fn neighbours(dice: &mut Dice, declared: Declared) -> (String, String) {
    let rows = |dice: &mut Dice, most: u64| -> Vec<&'static str> {
        let count = if declared.by_person { 1 + dice.next() % most } else { 1 };
        (0..count).map(|_| *dice.pick(&ROWS)).collect()
    };
    // A ragged row names nobody: that is another person, whose number is public.
    let whole = |rows: Vec<&'static str>| -> Vec<&'static str> {
        let named = |row: &&str| {
            !declared.by_person
                || declared.secret
                || row.split("\",\"").count() == 5
                || row.matches(',').count() == 4
        };
        let kept: Vec<&str> = rows.into_iter().filter(|row| named(row)).collect();
        if kept.is_empty() { vec![ROWS[0]] } else { kept }
    };
    let one = whole(rows(dice, 5));
    let other =
        if declared.secret && dice.next().is_multiple_of(2) { Vec::new() } else { whole(rows(dice, 5)) };
    (declared.records(&one), declared.records(&other))
}

#[test]
fn no_request_tells_neighbours_apart() {
    attack(300, 1);
}

#[test]
#[ignore = "slow: cargo test -p barkeep-cli --test hostile -- --ignored --nocapture"]
fn five_thousand_requests_tell_no_neighbours_apart() {
    attack(5000, 2);
}
