//! Breaks runs of the real program: kills, full disks, forbidden folders, two at once. What is left must be whole, its
//! certificate must cover what was answered, and `resume` must end it without buying an answer twice.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod program;

use program::{Folder, GOOD_SPEC, Shown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Steps of the run that is broken, each of which waits for the disk.
const STEPS: usize = 150;

/// Bytes of a record of the journal: a sum of two numbers.
const RECORD: usize = 29 + 16 + 8;
/// Bytes of the journal's last record.
const END: usize = 29 + 32 + 8;

/// A run long enough to be killed anywhere: before, amid and after its steps, and while files are written.
fn ready() -> Folder {
    let folder = Folder::new();
    let head = GOOD_SPEC.split("[sampler]").next().unwrap();
    let sampler = format!("name = 'langevin'\nstep = 0.000003\nsteps = {STEPS}\nstart = [0, 0]\nseed = 6\n");
    folder.write("spec.toml", &format!("{head}[sampler]\n{sampler}"));
    folder.write("chains.toml", &format!("{head}[sampler]\n{sampler}chains = 2\n"));
    let rows: String =
        (0..20).map(|i| format!("{},{}\n", 0.1 * f64::from(i), 1.0 - 0.05 * f64::from(i))).collect();
    folder.write("records.csv", &format!("x1,x2\n{rows}"));
    folder
}

fn epsilon(certificate: &str) -> Option<f64> {
    let certificate: serde_json::Value = serde_json::from_str(certificate).unwrap();
    certificate["epsilon"].as_f64()
}

/// How far a killed run came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reached {
    Nothing,
    Claim,
    Journal,
    Certificate,
    Draws,
    End,
}

/// Checks everything in an output folder: each file is whole, and no draw is without a certificate of the full bill, if
/// there is a bill.
fn examine(out: &Path, full: Option<f64>) -> Reached {
    let Ok(entries) = std::fs::read_dir(out) else { return Reached::Nothing };
    let names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let read = |name: &str| std::fs::read(out.join(name)).unwrap();
    for name in &names {
        match name.as_str() {
            "certificate.json" => {
                let stated = epsilon(&String::from_utf8(read(name)).unwrap());
                assert!(stated >= full, "less than was answered");
            }
            "draws.csv" => {
                let text = String::from_utf8(read(name)).unwrap();
                assert!(text.ends_with('\n'), "a torn line");
                assert_eq!((text.lines().count() - 1) % STEPS, 0);
                let cells = |line: &str| line.split(',').count();
                assert!(text.lines().all(|line| cells(line) == cells(text.lines().next().unwrap())));
            }
            "draws.parquet" => {
                let bytes = read(name);
                assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "a torn file");
            }
            "summary.json" => {
                serde_json::from_slice::<serde_json::Value>(&read(name)).unwrap();
            }
            ".barkeep-run" | "journal.bin" | "NOT-PRIVATE.txt" => {}
            hidden => assert!(hidden.starts_with('.') && hidden.ends_with(".partial"), "unexpected {hidden}"),
        }
    }
    let has = |name: &str| names.iter().any(|found| found == name);
    let certified = has("certificate.json");
    for result in ["draws.csv", "draws.parquet", "summary.json"] {
        assert!(certified || !has(result), "{result} without a certificate");
    }
    match (certified, has("draws.csv"), has(".barkeep-run")) {
        (true, true, false) => {
            assert!(!names.iter().any(|name| name.starts_with(".draws-")), "a spool is left: {names:?}");
            Reached::End
        }
        (true, true, true) => Reached::Draws,
        (true, false, _) => Reached::Certificate,
        (false, ..) if has("journal.bin") => Reached::Journal,
        (false, ..) => Reached::Claim,
    }
}

/// ε of the plan, below which no certificate may be.
fn planned(folder: &Folder) -> Option<f64> {
    let plan: serde_json::Value =
        serde_json::from_str(&folder.barkeep(&["plan", "spec.toml", "--json"]).stdout).unwrap();
    assert_eq!(plan["steps_per_chain"], STEPS);
    plan["epsilon"]["upper"].as_f64()
}

/// Asserts that a run ended, whatever its verdict.
fn assert_ended(shown: &Shown) {
    assert!(matches!(shown.code, 0 | 1), "{}: {}", shown.code, shown.stderr);
}

/// Runs the program in the background and kills it after a while.
fn kill_after(folder: &Folder, arguments: &[&str], moment: Duration) {
    let mut child = folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The files of a run that has ended.
const RESULTS: [&str; 4] = ["certificate.json", "draws.csv", "draws.parquet", "summary.json"];

fn assert_same(folder: &Folder, one: &str, other: &str) {
    for file in RESULTS {
        let [one, other] = [one, other].map(|out| std::fs::read(folder.path().join(out).join(file)).unwrap());
        assert!(one == other, "{file} is not that of the run nobody killed");
    }
}

/// Kills this many runs at moments spread over the length of a whole one, and continues each; every third is killed
/// again while it continues. Private runs alternate with seeded ones of two chains, whose draws must be equal to the bit.
#[expect(clippy::print_stdout, reason = "SECURITY.md quotes it")]
fn kill(rounds: u32) {
    let folder = ready();
    let started = Instant::now();
    folder.sample("spec.toml", "private");
    let length = started.elapsed();
    let seeded = ["sample", "chains.toml", "--insecure-seed", "5", "--out"];
    assert_ended(&folder.barkeep(&[&seeded[..], &["seeded"]].concat()));
    let full = planned(&folder);
    assert_eq!(examine(&folder.path().join("private"), full), Reached::End);
    let journal = |out: &str| std::fs::read(folder.path().join(out).join("journal.bin")).unwrap();
    let whole = journal("private").len();
    let header = whole - STEPS * RECORD - END;

    let mut reached = Vec::new();
    let mut again = 0;
    for round in 0..rounds {
        let out = format!("out{round}");
        let private = round % 2 == 0;
        let mut arguments = if private { vec!["sample", "spec.toml", "--out"] } else { seeded.to_vec() };
        arguments.push(&out);
        let full = full.filter(|_| private);
        // Multiples of the golden ratio fill the interval evenly, whatever their number.
        let moment = length.mul_f64((f64::from(round) * 0.618_033_988_749_895).fract() * 1.1);
        kill_after(&folder, &arguments, moment);
        let place = folder.path().join(&out);
        let came = examine(&place, full);
        reached.push(came);
        // What a killed run left is not mistaken for an empty folder, and another run does not touch it.
        if came > Reached::Nothing && round % 8 == 0 {
            let refused = folder.barkeep(&["sample", "spec.toml", "--out", &out]);
            assert_eq!(refused.code, 2, "{}", refused.stderr);
            assert!(refused.stderr.contains("not empty"), "{}", refused.stderr);
        }
        if came >= Reached::Certificate && private {
            let verified = folder.barkeep(&["verify", &format!("{out}/certificate.json")]);
            assert_eq!(verified.code, 0, "{}", verified.stderr);
        }
        let kept = if came >= Reached::Journal { journal(&out) } else { Vec::new() };
        if round % 3 == 0 {
            kill_after(&folder, &["resume", &out], moment.mul_f64(0.7));
            again += 1;
            if came >= Reached::Journal {
                examine(&place, full);
            }
        }
        let resumed = folder.barkeep(&["resume", &out]);
        match (came, resumed.code) {
            // Nothing was asked, so nothing is lost.
            (Reached::Nothing | Reached::Claim, 2) => {
                assert!(resumed.stderr.contains("no journal"), "{}", resumed.stderr);
                if place.exists() {
                    std::fs::remove_dir_all(&place).unwrap();
                }
                assert_ended(&folder.barkeep(&arguments));
            }
            (Reached::Journal | Reached::Certificate | Reached::Draws | Reached::End, 2) => {
                assert!(resumed.stderr.contains("has ended"), "{came:?}: {}", resumed.stderr);
            }
            _ => assert_ended(&resumed),
        }
        assert_eq!(examine(&place, full), Reached::End);
        let ended = journal(&out);
        if private {
            // As many answers as were planned, and those that were kept are still there: none was bought twice.
            assert_eq!(ended.len(), whole);
            let answered = (kept.len() - kept.len().saturating_sub(header) % RECORD).min(whole - END);
            assert!(ended[..answered] == kept[..answered]);
        } else {
            assert_eq!(ended.len(), journal("seeded").len());
            assert_same(&folder, &out, "seeded");
        }
        std::fs::remove_dir_all(place).unwrap();
    }
    let count = |what: Reached| reached.iter().filter(|reached| **reached == what).count();
    println!(
        "{rounds} kills, {again} of them followed by another: {} before the folder, {} before the journal, {} before the \
         certificate, {} amid the steps, {} amid the files, {} after",
        count(Reached::Nothing),
        count(Reached::Claim),
        count(Reached::Journal),
        count(Reached::Certificate),
        count(Reached::Draws),
        count(Reached::End)
    );
}

#[test]
fn a_killed_run_leaves_whole_files_and_the_full_bill_and_is_resumed() {
    kill(10);
}

/// A regression of forty records by noise-aware scores: few questions, each on the disk before the next.
fn scored() -> Folder {
    let folder = Folder::new();
    let spec = "[data]\npath = 'records.csv'\nrecords = 40\n[data.columns]\ny = { kind = 'bool', invalid = false }\n\
                x = { min = -1, max = 1, invalid = 0 }\n[model]\nformula = 'y ~ x'\nfamily = 'bernoulli'\n\
                [privacy]\nepsilon = 1\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\nseed = 6\n";
    folder.write("spec.toml", &format!("{spec}steps = {STEPS}\n"));
    let rows: String = (0..40).map(|i| format!("{},{}\n", i % 2, 1.0 - 0.05 * f64::from(i))).collect();
    folder.write("records.csv", &format!("y,x\n{rows}"));
    folder
}

/// Kills noise-aware runs amid their questions and their fit; each ends as the run that nobody killed, to the bit.
fn kill_scored(rounds: u32) {
    let folder = scored();
    let arguments =
        |out: &'static str| ["sample", "spec.toml", "--anyway", "--insecure-seed", "5", "--out", out];
    let started = Instant::now();
    assert_ended(&folder.barkeep(&arguments("whole")));
    let length = started.elapsed();
    let journal = |out: &str| std::fs::read(folder.path().join(out).join("journal.bin")).unwrap();
    for round in 0..rounds {
        let moment = length.mul_f64((f64::from(round) * 0.618_033_988_749_895).fract() * 1.1);
        kill_after(&folder, &arguments("out"), moment);
        let out = folder.path().join("out");
        let came = examine(&out, None);
        let kept = if came >= Reached::Journal { journal("out") } else { Vec::new() };
        if came < Reached::Journal {
            if out.exists() {
                std::fs::remove_dir_all(&out).unwrap();
            }
            assert_ended(&folder.barkeep(&arguments("out")));
        } else if came < Reached::End {
            assert_ended(&folder.barkeep(&["resume", "out"]));
        }
        assert_eq!(examine(&out, None), Reached::End);
        assert_same(&folder, "out", "whole");
        // Answers that were on the disk are still there, and no other was bought in their place.
        let ended = journal("out");
        assert_eq!(ended.len(), journal("whole").len());
        let same = kept.iter().zip(&ended).take_while(|(kept, ended)| kept == ended).count();
        // A torn last record is written anew: the longest is that of the products.
        assert!(same + 200 >= kept.len(), "round {round}: {same} of {} bytes", kept.len());
        std::fs::remove_dir_all(out).unwrap();
    }
}

#[test]
fn a_killed_noise_aware_run_is_resumed_to_the_bit() {
    kill_scored(4);
}

#[test]
#[ignore = "slow: cargo test -p barkeep-cli --test faults -- --ignored --nocapture"]
fn a_hundred_kills_of_noise_aware_runs_lose_nothing() {
    kill_scored(100);
}

#[test]
#[ignore = "slow: cargo test -p barkeep-cli --test faults -- --ignored --nocapture"]
fn three_hundred_kills_lose_nothing() {
    kill(300);
}

/// Waits until the journal has some answers.
fn wait_for_answers(folder: &Folder, out: &str) {
    let path = folder.path().join(out).join("journal.bin");
    let mut first = None;
    for _ in 0..20_000 {
        let length = std::fs::metadata(&path).map_or(0, |data| data.len());
        if length > 0 && length > *first.get_or_insert(length) + 10 * RECORD as u64 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    unreachable!("the run gets no answers");
}

#[test]
fn an_interrupted_run_is_resumed_to_the_same_files() {
    let folder = ready();
    let spec = folder.read("chains.toml").replace("steps = 150", "steps = 600");
    folder.write("long.toml", &spec);
    let run = ["sample", "long.toml", "--insecure-seed", "5", "--out"];
    assert_ended(&folder.barkeep(&[&run[..], &["whole"]].concat()));
    let mut command = folder.command(&[&run[..], &["out"]].concat());
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_answers(&folder, "out");
    // While it runs nobody else may.
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("another process"), "{}", shown.stderr);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{said}");
    assert!(said.contains("barkeep resume out"), "{said}");
    let lines = |out: &str| folder.read(&format!("{out}/draws.csv")).lines().count();
    assert!(lines("out") > 1 && lines("out") < lines("whole"));

    // What was kept is bound by the certificate: an answer cut off is not bought again.
    let path = folder.path().join("out/journal.bin");
    let kept = std::fs::read(&path).unwrap();
    std::fs::write(&path, &kept[..kept.len() - RECORD - 16]).unwrap();
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("cut off or edited"), "{}", shown.stderr);
    std::fs::write(&path, &kept).unwrap();

    // Two at once: one ends the run, the other changes nothing.
    let resumed: Vec<_> = (0..2)
        .map(|_| {
            let mut command = folder.command(&["resume", "out"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let ended: Vec<_> = resumed.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let mut codes: Vec<_> = ended.iter().map(|output| output.status.code().unwrap()).collect();
    codes.sort_unstable();
    assert!(matches!(codes[..], [0 | 1, 2]), "{codes:?}");
    assert_same(&folder, "out", "whole");
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("has ended"), "{}", shown.stderr);
    assert_same(&folder, "out", "whole");
}

#[test]
fn what_cannot_be_resumed_is_refused_and_left_alone() {
    let folder = ready();
    for (spec, out) in [("spec.toml", "out"), ("chains.toml", "other")] {
        let mut command = folder.command(&["sample", spec, "--out", out]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_answers(&folder, out);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let at = |name: &str| folder.path().join(name);
    let journal = std::fs::read(at("out/journal.bin")).unwrap();
    let refused = |arguments: &[&str], why: &str| {
        let before = std::fs::read(at("out/journal.bin")).unwrap_or_default();
        let shown = folder.barkeep(&[&["resume", "out"], arguments].concat());
        assert_eq!(shown.code, 2, "{}", shown.stderr);
        assert!(shown.stderr.contains(why), "{why}: {}", shown.stderr);
        assert!(std::fs::read(at("out/journal.bin")).unwrap_or_default() == before, "{why}: changed");
        assert_eq!(examine(&at("out"), planned(&folder)), Reached::Certificate);
    };
    // Records that are gone, or not as many.
    std::fs::rename(at("records.csv"), at("moved.csv")).unwrap();
    refused(&[], "records.csv");
    folder.write("records.csv", "x1,x2\n0,0\n");
    refused(&[], "records");
    std::fs::remove_file(at("records.csv")).unwrap();
    // A journal of another spec, of another version, cut within its header, damaged, gone.
    std::fs::copy(at("other/journal.bin"), at("out/journal.bin")).unwrap();
    refused(&[], "another run");
    let put = |bytes: &[u8]| std::fs::write(at("out/journal.bin"), bytes).unwrap();
    let mut changed = journal.clone();
    changed[16] = 9;
    put(&changed);
    refused(&[], "version 9");
    put(&journal[..1000]);
    refused(&[], "header is not whole");
    let mut damaged = journal.clone();
    let middle = damaged.len() - 5 * RECORD;
    damaged[middle] ^= 1;
    put(&damaged);
    refused(&[], "damaged");
    std::fs::remove_file(at("out/journal.bin")).unwrap();
    refused(&[], "no journal");
    // And after all that the run still ends.
    put(&journal);
    assert_ended(&folder.barkeep(&["resume", "out", "--records", "moved.csv"]));
    assert_eq!(examine(&at("out"), planned(&folder)), Reached::End);
    let shown = folder.barkeep(&["resume", "nowhere"]);
    assert!(shown.code == 2 && shown.stderr.contains("no journal"), "{}", shown.stderr);
}

/// The most memory a run ever held, in KiB, by GNU time.
fn peak(folder: &Folder, spec: &str, out: &str) -> u64 {
    let (code, said) =
        shell(folder, &format!("command time -f '%M' barkeep sample {spec} --out {out} --no-journal"));
    assert!(matches!(code, 0 | 1), "{said}");
    said.lines().last().unwrap().trim().parse().unwrap()
}

/// A hundred times the steps, and no more memory than the pieces that are held at a time: 65 536 draws of a parameter and
/// a row group. Held in memory, two chains of a million draws of two parameters would be 34 MB, and the same again in
/// every array the summary makes of them.
#[test]
#[ignore = "slow, and needs GNU time: cargo test --release -p barkeep-cli --test faults -- --ignored --nocapture memory"]
fn memory_does_not_grow_with_the_steps() {
    let folder = ready();
    for (sampler, keys) in [
        ("rwmh", "proposal_sd = 0.1\nstart = [0, 0]\nchains = 2"),
        ("langevin", "step = 1e-9\nstart = [0, 0]\nchains = 2"),
        ("statistics", ""),
    ] {
        let head = GOOD_SPEC.split("[sampler]").next().unwrap();
        let head = if sampler == "rwmh" {
            format!("{}[privacy]\nprivate = false\n", head.split("[privacy]").next().unwrap())
        } else {
            head.to_owned()
        };
        let peaks = [10_000, 100_000, 1_000_000].map(|steps| {
            let spec = format!("{head}[sampler]\nname = '{sampler}'\n{keys}\nsteps = {steps}\nseed = 6\n");
            folder.write("long.toml", &spec);
            peak(&folder, "long.toml", &format!("{sampler}-{steps}"))
        });
        println!("{sampler}: {peaks:?} KiB for 10^4, 10^5 and 10^6 steps a chain");
        assert!(peaks[2] < peaks[1] + 4 * 1024, "{sampler}: {peaks:?}");
        assert!(peaks[2] < peaks[0] + 24 * 1024, "{sampler}: {peaks:?}");
    }
}

#[test]
fn a_run_without_a_journal_leaves_none() {
    let folder = ready();
    assert_ended(&folder.barkeep(&["sample", "spec.toml", "--out", "out", "--no-journal"]));
    assert!(!folder.exists("out/journal.bin"));
    let shown = folder.barkeep(&["resume", "out"]);
    assert!(shown.code == 2 && shown.stderr.contains("no journal"), "{}", shown.stderr);
}

/// Runs a shell line in a folder with `barkeep` standing for the program.
fn shell(folder: &Folder, line: &str) -> (i32, String) {
    let line = line.replace("barkeep", env!("CARGO_BIN_EXE_barkeep"));
    let output = Command::new("sh")
        .args(["-c", &line])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_file_that_cannot_grow_leaves_the_certificate_and_a_message_and_is_resumed() {
    let folder = ready();
    // Files of 6 KiB at most: room for a certificate, not for all answers.
    let (code, said) = shell(&folder, "trap '' XFSZ; ulimit -f 12; exec barkeep sample spec.toml --out out");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("cannot write") && said.contains("journal.bin"), "{said}");
    assert_eq!(examine(&folder.path().join("out"), planned(&folder)), Reached::Certificate);
    assert_eq!(folder.barkeep(&["verify", "out/certificate.json"]).code, 0);
    assert_ended(&folder.barkeep(&["resume", "out"]));
    assert_eq!(examine(&folder.path().join("out"), planned(&folder)), Reached::End);
}

/// Whether this machine lets a test mount file systems of its own.
fn may_mount(folder: &Folder) -> bool {
    shell(folder, "unshare -Urm true").0 == 0
}

#[test]
fn a_full_disk_leaves_the_certificate_and_a_message() {
    let folder = ready();
    std::fs::create_dir(folder.path().join("disk")).unwrap();
    if !may_mount(&folder) {
        println!("not run: no mounts on this machine; the test of a file that cannot grow stands in");
        return;
    }
    for size in ["4k", "8k", "16k"] {
        let saved = format!("saved{size}");
        let (code, said) = shell(
            &folder,
            &format!(
                "unshare -Urm sh -c 'mount -t tmpfs -o size={size} tmpfs disk && barkeep sample spec.toml --out \
                 disk/out; code=$?; cp -r disk/out {saved}; exit $code'"
            ),
        );
        assert_eq!(code, 2, "{size}: {said}");
        assert!(said.contains("cannot write"), "{size}: {said}");
        let came = examine(&folder.path().join(&saved), planned(&folder));
        assert!(came <= Reached::Certificate);
        let shown = folder.barkeep(&["resume", &saved]);
        if came >= Reached::Journal && !shown.stderr.contains("not whole") {
            assert_ended(&shown);
        } else {
            assert_eq!(shown.code, 2, "{}", shown.stderr);
        }
    }
}

#[test]
fn a_forbidden_folder_is_refused_before_anything_is_asked() {
    let folder = ready();
    folder.write("file", "not a folder");
    let shown = folder.barkeep(&["sample", "spec.toml", "--out", "file/out"]);
    assert_eq!(shown.code, 2);
    assert!(shown.stderr.contains("cannot write"), "{}", shown.stderr);
    std::fs::create_dir(folder.path().join("shut")).unwrap();
    if may_mount(&folder) {
        let (code, said) = shell(
            &folder,
            "unshare -Urm sh -c 'mount --bind shut shut && mount -o remount,ro,bind shut && \
             barkeep sample spec.toml --out shut/out'",
        );
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("cannot write"), "{said}");
        assert_eq!(std::fs::read_dir(folder.path().join("shut")).unwrap().count(), 0);
    }
}

#[test]
fn a_standard_output_that_is_full_is_told() {
    let folder = ready();
    let (code, said) = shell(&folder, "barkeep plan spec.toml --json > /dev/full");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("standard output"), "{said}");
}

#[test]
fn of_two_runs_at_once_one_gets_the_folder() {
    let folder = ready();
    for round in 0..4 {
        let out = format!("shared{round}");
        let runs: Vec<_> = (0..3)
            .map(|_| {
                let mut command = folder.command(&["sample", "spec.toml", "--out", &out]);
                command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let ended: Vec<_> = runs.into_iter().map(|run| run.wait_with_output().unwrap()).collect();
        let codes: Vec<i32> = ended.iter().map(|output| output.status.code().unwrap_or(-1)).collect();
        // The run that gets the folder ends with its verdict: 1 where it is not to be trusted.
        let ran = |code: i32| matches!(code, 0 | 1);
        assert_eq!(codes.iter().filter(|code| ran(**code)).count(), 1, "{codes:?}");
        for output in ended.iter().filter(|output| !output.status.code().is_some_and(ran)) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains("not empty"), "{said}");
        }
        assert_eq!(examine(&folder.path().join(&out), planned(&folder)), Reached::End);
    }
}

/// A clock that jumps cannot matter to code that does not read it; the program's progress bar alone does.
#[test]
fn no_library_reads_a_clock() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("barkeep-cli"))
        .map(|path| path.join("src"))
        .collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            for word in ["SystemTime", "Instant::", "chrono::", "clock_gettime", "UNIX_EPOCH"] {
                assert!(!text.contains(word), "{} reads a clock: {word}", path.display());
            }
        }
    }
    assert!(files > 100, "only {files} files were looked at");
}

/// A clock that goes wild: every reading jumps by up to years, forth and back.
#[cfg(target_os = "linux")]
const WILD_CLOCK: &str = "
#include <time.h>
#include <sys/time.h>
static unsigned long state = 88172645463325252UL;
static long jump(void) {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return (long)(state % 400000000UL);
}
int clock_gettime(clockid_t clock, struct timespec *at) {
    (void)clock; at->tv_sec = 1000000000L + jump(); at->tv_nsec = jump(); return 0;
}
int gettimeofday(struct timeval *at, void *zone) {
    (void)zone; at->tv_sec = 1000000000L + jump(); at->tv_usec = jump() % 1000000L; return 0;
}
time_t time(time_t *at) { time_t now = 1000000000L + jump(); if (at) *at = now; return now; }
";

#[cfg(target_os = "linux")]
#[test]
fn a_clock_that_jumps_changes_no_byte() {
    let folder = ready();
    folder.write("clock.c", WILD_CLOCK);
    // Whoever builds this test has a linker driver; where it is no C compiler there is nothing to preload.
    let (code, said) = shell(&folder, "cc -shared -fPIC -o clock.so clock.c");
    if code != 0 {
        println!("not run: no C compiler to make a wild clock with: {said}");
        return;
    }
    let clock = folder.path().join("clock.so");
    // Only a dynamically linked program hears a preloaded clock; this one shows a year between 2001 and 2014.
    let year = Command::new("date").arg("+%Y").env("LD_PRELOAD", &clock).output().unwrap().stdout;
    assert!(String::from_utf8(year).unwrap().trim().parse::<u32>().unwrap() < 2015, "the clock is not wild");
    let run = |out: &str, preload: Option<&Path>| {
        let mut command = folder.command(&["sample", "spec.toml", "--out", out, "--insecure-seed", "5"]);
        if let Some(preload) = preload {
            command.env("LD_PRELOAD", preload);
        }
        let output = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        folder.assert_verdict(out, output.status.code().unwrap(), &text(output.stdout), &text(output.stderr));
    };
    run("steady", None);
    run("wild", Some(&clock));
    assert_same(&folder, "steady", "wild");
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let folder = ready();
    let mut child = folder
        .command(&["sample", "spec.toml", "--out", "out"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Stopped and continued, as a laptop's lid does it: the clock jumps by the time in between.
    let signal = |name: &str| Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    std::thread::sleep(Duration::from_millis(10));
    signal("-STOP");
    std::thread::sleep(Duration::from_millis(300));
    signal("-CONT");
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 1)), "done, whatever the verdict");
    assert_eq!(examine(&folder.path().join("out"), planned(&folder)), Reached::End);
}
