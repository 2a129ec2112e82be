//! Cuts, edits and swaps journals, and continues runs from every answer on.

use super::format::scan;
use super::*;
use crate::insecure::Insecure;
use crate::run::draws::Outcome;
use crate::{Run, Spec, Watch};
use barkeep_curator::{Table, TableBuilder};
use std::sync::atomic::{AtomicU64, Ordering};

/// Plans that ask each kind of question: sums, decisions of several chains, a fit before the chains, a choice.
const SAMPLERS: [&str; 5] = [
    "name = 'langevin'\nstep = 0.01\nsteps = 9\nstart = [0]",
    "name = 'barker'\nproposal_sd = 0.1\nclip = 0.2\nsteps = 6\nchains = 3\nstart = [0]",
    "name = 'barker'\nproposal_sd = 0.1\nclip = 0.2\nsteps = 5\nchains = 2\nstart = { dpvi = { epsilon = 0.5, iterations = 4 } }",
    "name = 'ops'\nlow = -1\nhigh = 1\ngrid = 5",
    "name = 'statistics'\nsteps = 5",
];

fn plan(sampler: &str) -> Plan {
    let text = format!(
        "[data]\npath = 'records.csv'\nrecords = 40\n[data.columns]\nx = {{ min = -1, max = 1, invalid = 0 }}\n\
         [model]\nname = 'gaussian'\n[privacy]\nepsilon = 2\ndelta = 1e-4\n[sampler]\n{sampler}\n"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

fn table(plan: &Plan) -> Table {
    let mut table = TableBuilder::new(plan.spec().data().schema().clone(), 40).unwrap();
    for record in 0..40 {
        table.push_row(&[0.02 * f64::from(record) - 0.3]).unwrap();
    }
    table.finish().unwrap()
}

/// Stops a run after a number of steps of all chains.
struct After(AtomicU64);

impl Watch for After {
    fn step(&self, _chain: usize, _outcome: Outcome) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn stop(&self) -> bool {
        i64::from_ne_bytes(self.0.load(Ordering::Relaxed).to_ne_bytes()) <= 0
    }
}

fn bytes(run: &Run) -> Vec<u64> {
    run.draws.pooled(0).iter().map(|value| value.to_bits()).collect()
}

fn answers(path: &Path) -> u64 {
    let file = File::open(path).unwrap();
    let Scan { opening, .. } = scan(&mut BufReader::new(&file), file.metadata().unwrap().len()).ok().unwrap();
    (0..=4).map(|chain| opening.digests.answers(chain)).sum()
}

#[test]
fn a_run_cut_anywhere_continues_to_the_same_bits_and_buys_nothing_twice() {
    for sampler in SAMPLERS {
        let plan = plan(sampler);
        let seeded = || plan.runner().insecure(Insecure::seed(3));
        let plain = seeded().run(table(&plan)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole");
        let kept = seeded().journal(&whole).run(table(&plan)).unwrap();
        assert_eq!(bytes(&kept), bytes(&plain), "a journal changes no draw: {sampler}");
        let journal = std::fs::read(whole.join(JOURNAL)).unwrap();
        let (asked, digest) = (answers(&whole.join(JOURNAL)), digest(&whole.join(JOURNAL)).unwrap());
        assert!(asked > 0);

        // Every length a killed machine may leave behind, torn records among them.
        let header = Journal::open(&whole).unwrap().start as usize;
        let cut = folder.path().join("cut");
        for length in (header..=journal.len()).step_by(if journal.len() - header > 600 { 7 } else { 3 }) {
            std::fs::create_dir_all(&cut).unwrap();
            std::fs::write(cut.join(JOURNAL), &journal[..length]).unwrap();
            let before = answers(&cut.join(JOURNAL));
            let continued = seeded().resume(&cut).run(table(&plan)).unwrap();
            assert_eq!(bytes(&continued), bytes(&plain), "{sampler}: cut to {length} bytes");
            assert_eq!(continued.certificate, plain.certificate);
            assert!(before <= asked && answers(&cut.join(JOURNAL)) == asked, "{sampler}: {length}");
            assert_eq!(super::digest(&cut.join(JOURNAL)).unwrap(), digest);
        }
    }
}

#[test]
fn a_continued_run_keeps_its_public_randomness_and_draws_fresh_noise() {
    let plan = plan(SAMPLERS[0]);
    let folder = tempfile::tempdir().unwrap();
    let first =
        plan.runner().watch(&After(AtomicU64::new(4))).journal(folder.path()).run(table(&plan)).unwrap();
    assert_eq!((first.steps_used.clone(), first.interrupted), (vec![4], true));
    let journal = std::fs::read(folder.path().join(JOURNAL)).unwrap();
    let mut ends = Vec::new();
    for _ in 0..2 {
        std::fs::write(folder.path().join(JOURNAL), &journal).unwrap();
        let run = plan.runner().resume(folder.path()).run(table(&plan)).unwrap();
        assert_eq!((run.seed, run.steps_used.clone(), run.interrupted), (first.seed, vec![9], false));
        assert_eq!(bytes(&run)[..4], bytes(&first)[..]);
        ends.push(bytes(&run)[4..].to_vec());
    }
    assert_ne!(ends[0], ends[1], "the noise of a private run must be new");
}

#[test]
fn an_ended_run_asks_nothing_more() {
    let plan = plan(SAMPLERS[1]);
    let folder = tempfile::tempdir().unwrap();
    let run = plan.runner().journal(folder.path()).run(table(&plan)).unwrap();
    let journal = std::fs::read(folder.path().join(JOURNAL)).unwrap();
    let again = plan.runner().resume(folder.path()).run(table(&plan)).unwrap();
    assert_eq!(bytes(&again), bytes(&run));
    assert_eq!(std::fs::read(folder.path().join(JOURNAL)).unwrap(), journal);
    assert!(plan.runner().journal(folder.path()).run(table(&plan)).is_err(), "a journal is never replaced");
    assert_eq!(std::fs::read(folder.path().join(JOURNAL)).unwrap(), journal);
}

/// What continuing by `runner` is refused with; the journal must not change.
fn refused(folder: &Path, runner: crate::Runner<'_>, table: Table) -> String {
    let before = std::fs::read(folder.join(JOURNAL)).unwrap();
    let error = runner.resume(folder).run(table).err().unwrap();
    assert_eq!(std::fs::read(folder.join(JOURNAL)).unwrap(), before, "a refused journal was changed");
    error.to_string()
}

#[test]
fn journals_of_other_runs_and_versions_are_refused() {
    let (plan, other) = (plan(SAMPLERS[0]), plan(SAMPLERS[1]));
    let folder = tempfile::tempdir().unwrap();
    plan.runner().watch(&After(AtomicU64::new(4))).journal(folder.path()).run(table(&plan)).unwrap();
    let path = folder.path().join(JOURNAL);
    let said = refused(folder.path(), other.runner(), table(&other));
    assert!(said.contains("another spec"), "{said}");
    let said = refused(folder.path(), plan.runner().insecure(Insecure::seed(1)), table(&plan));
    assert!(said.contains("plans the spec differently"), "{said}");
    {
        let _held = Journal::open(folder.path()).unwrap();
        let said = refused(folder.path(), plan.runner(), table(&plan));
        assert!(said.contains("another process"), "{said}");
    }
    let whole = std::fs::read(&path).unwrap();
    let mut changed = whole.clone();
    changed[16] = 2;
    std::fs::write(&path, &changed).unwrap();
    let said = refused(folder.path(), plan.runner(), table(&plan));
    assert!(said.contains("version 2"), "{said}");
    for length in [0, 10, 19, 23, 100, 600] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let said = refused(folder.path(), plan.runner(), table(&plan));
        assert!(said.contains("header is not whole"), "{said}");
    }
    std::fs::write(&path, b"x1,x2\n0.3,0.4\n0.1,0.2\n").unwrap();
    let said = refused(folder.path(), plan.runner(), table(&plan));
    assert!(said.contains("no journal"), "{said}");
}

#[test]
fn a_damaged_journal_is_never_taken_for_a_torn_one() {
    let plan = plan(SAMPLERS[0]);
    let folder = tempfile::tempdir().unwrap();
    plan.runner().watch(&After(AtomicU64::new(6))).journal(folder.path()).run(table(&plan)).unwrap();
    let path = folder.path().join(JOURNAL);
    let (whole, start) =
        (std::fs::read(&path).unwrap(), Journal::open(folder.path()).unwrap().start as usize);
    let record = (whole.len() - start) / 6;
    assert_eq!(start + 6 * record, whole.len());
    // Any byte of the header and of all answers but the last, which a machine may have been writing when it died.
    for position in 0..whole.len() - record {
        let mut damaged = whole.clone();
        damaged[position] ^= 1 << (position % 8);
        std::fs::write(&path, &damaged).unwrap();
        let error = Journal::open(folder.path()).err();
        assert!(error.is_some(), "byte {position} of {start} and {record}");
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
}

#[test]
fn an_answer_is_given_to_its_own_question_only() {
    let plan = plan(SAMPLERS[0]);
    let folder = tempfile::tempdir().unwrap();
    let seeded = || plan.runner().insecure(Insecure::seed(3));
    seeded().watch(&After(AtomicU64::new(6))).journal(folder.path()).run(table(&plan)).unwrap();
    let path = folder.path().join(JOURNAL);
    // A forger who keeps every hash right, but changes the first answer: the second question is then another.
    let file = File::open(&path).unwrap();
    let mut reader = BufReader::new(&file);
    let opening = format::read_header(&mut reader).ok().unwrap();
    let (mut records, mut scratch) = (Vec::new(), Vec::new());
    while let Ok(Some((record, _))) = format::read_record(&mut reader, u64::MAX, true, &mut scratch) {
        records.push(record);
    }
    assert_eq!(records.len(), 6);
    records[0].answer[6] ^= 1;
    let (mut forged, mut digests) = format::header_bytes(&opening.header, &opening.place).unwrap();
    for record in &records {
        record.write(&mut digests, &mut scratch).unwrap();
        forged.extend(&scratch);
    }
    std::fs::write(&path, &forged).unwrap();
    let said = refused(folder.path(), seeded(), table(&plan));
    assert!(said.contains("answers another question"), "{said}");
}

#[test]
fn a_disk_that_fails_releases_nothing() {
    let plan = plan(SAMPLERS[1]);
    let folder = tempfile::tempdir().unwrap();
    let header =
        Header { seed: 1, insecure_seed: None, signed_by: None, certificate: Certificate::of(&plan) };
    let mut journal = Journal::create(folder.path(), header, &plan).unwrap();
    // A file that cannot be written to.
    journal.file = File::open(folder.path().join(JOURNAL)).unwrap();
    let record = |chain| Record {
        chain,
        kind: Kind::Decide,
        identity: Identity::default(),
        answer: vec![1],
        position: None,
    };
    assert_eq!(journal.append(&record(0)), Err(Refused::NotKept));
    assert_eq!(journal.append(&record(1)), Err(Refused::NotKept));
    let said = journal.explain(Refused::NotKept.into()).to_string();
    assert!(said.contains("cannot write") && said.contains(JOURNAL), "{said}");
}

#[test]
fn chains_that_write_at_once_lose_no_record() {
    let plan = plan("name = 'barker'\nproposal_sd = 0.1\nclip = 0.2\nsteps = 6\nchains = 8\nstart = [0]");
    let folder = tempfile::tempdir().unwrap();
    let header =
        Header { seed: 1, insecure_seed: None, signed_by: None, certificate: Certificate::of(&plan) };
    let journal = Journal::create(folder.path(), header, &plan).unwrap();
    std::thread::scope(|scope| {
        for chain in 0..8_u32 {
            let journal = &journal;
            scope.spawn(move || {
                for count in 0..20_u8 {
                    let record = Record {
                        chain,
                        kind: Kind::Decide,
                        identity: [count; 16],
                        answer: vec![count % 2],
                        position: None,
                    };
                    journal.append(&record).unwrap();
                    let progress = journal.progress();
                    assert!(progress.synced >= progress.digests.answers(chain));
                }
            });
        }
    });
    let digest = journal.close(true).unwrap();
    let opened = Journal::open(folder.path()).unwrap();
    assert_eq!((opened.kept.clone(), opened.ended), ([vec![20; 8], vec![0]].concat(), true));
    assert_eq!(super::digest(&folder.path().join(JOURNAL)).unwrap(), digest);
}
