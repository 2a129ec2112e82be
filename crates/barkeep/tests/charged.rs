//! Charges runs on tables in memory to an account: the custodian's ledger knows the data again, or nothing is spent.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::accounting::{Delta, Epsilon, Neighbours};
use barkeep::curator::{Table, TableBuilder};
use barkeep::custody::Holding;
use barkeep::ledger::{Ledger, Unit};
use barkeep::{Error, Folder, Outcome, Plan, Spec, Watch};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

const SPEC: &str = "[data]\npath = 'nowhere.csv'\nrecords = 60\n[data.columns]\nx = { min = 0, max = 4, invalid = 0 }\n\
    [model]\nname = 'gaussian'\n[privacy]\nepsilon = 20\ndelta = 1e-6\nledger = 'books'\naccount = 'people'\n\
    [sampler]\nname = 'langevin'\nstart = [0]\nsteps = 40\n";

/// Which data the table below is: a hash of its cells, as its owner takes it.
fn identity(first: u8) -> [u8; 32] {
    [first; 32]
}

fn table(plan: &Plan) -> Table {
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    (0..60).for_each(|k| table.push_row(&[f64::from(k % 5)]).unwrap());
    table.finish().unwrap()
}

#[test]
fn a_table_in_memory_is_charged_once_its_account_knows_it() {
    let scratch = tempfile::tempdir().unwrap();
    let ledger = Ledger::create(&scratch.path().join("books")).unwrap();
    let (epsilon, delta) = (Epsilon::new(30.0).unwrap(), Delta::new(1e-5).unwrap());
    ledger.open_account("people", (epsilon, delta), Neighbours::Substitute, Unit::Record, None).unwrap();
    let plan = Plan::new(Spec::parse(SPEC, scratch.path()).unwrap()).unwrap();
    let spent = || {
        let books = ledger.books().unwrap();
        let runs = books.account("people").unwrap().runs().to_vec();
        (runs.len(), runs.iter().filter(|run| books.run(run).unwrap().ended()).count())
    };
    let claim = |name: &str| Folder::claim(&scratch.path().join(name)).unwrap();

    // A run in memory has no folder to be continued from, and one in a folder pays before its records are read.
    assert!(matches!(claim("a").run_on(plan.runner(), table(&plan)), Err(Error::Spec(_))));
    assert!(matches!(plan.run(table(&plan)), Err(Error::Spec(_))));
    // The account knows no such data.
    assert!(matches!(claim("b").reserve(plan.runner()), Err(Error::Ledger(_))));
    assert_eq!(spent(), (0, 0));
    assert!(!scratch.path().join("a").exists() && !scratch.path().join("b").exists());

    let held = Holding::of(plan.spec().data().clone(), plan.spec().count());
    held.add_frame(&ledger, "people", "frame", identity(0), None).unwrap();
    // Other data than the account's: what was reserved before it was read stays spent.
    let reserved = claim("c").reserve(plan.runner()).unwrap();
    assert_eq!(spent(), (1, 0));
    let refused = reserved.run(table(&plan), Some(identity(1))).unwrap_err().to_string();
    assert!(refused.contains("other records") && refused.contains("stays spent"), "{refused}");
    let run = claim("d").reserve(plan.runner()).unwrap().run(table(&plan), Some(identity(0))).unwrap();
    assert_eq!(spent(), (2, 1));
    run.certificate.check_ledger(&ledger).unwrap();
    ledger.check(None).unwrap();
}

/// Two copies of an interrupted folder: one continues, the other is refused before it asks, and its certificate does not verify.
#[test]
fn a_copied_folder_is_continued_once() {
    let scratch = tempfile::tempdir().unwrap();
    let ledger = Ledger::create(&scratch.path().join("books")).unwrap();
    let (epsilon, delta) = (Epsilon::new(30.0).unwrap(), Delta::new(1e-5).unwrap());
    ledger.open_account("people", (epsilon, delta), Neighbours::Substitute, Unit::Record, None).unwrap();
    let rows: String = (0..60).map(|k| format!("{}\n", k % 5)).collect();
    std::fs::write(scratch.path().join("nowhere.csv"), format!("x\n{rows}")).unwrap();
    std::fs::write(scratch.path().join("spec.toml"), SPEC).unwrap();
    let held = Holding::read(&scratch.path().join("spec.toml")).unwrap();
    held.add(&ledger, "people", "survey", &held.inspect().unwrap(), None).unwrap();
    let plan = Plan::new(Spec::parse(SPEC, scratch.path()).unwrap()).unwrap();
    let original = scratch.path().join("run");
    let stopped = After(AtomicU64::new(5));
    let run = Folder::claim(&original).unwrap().run(plan.runner().watch(&stopped)).unwrap();
    assert!(run.interrupted);
    run.certificate.check_ledger(&ledger).unwrap();
    let copy = |name: &str| {
        let to = scratch.path().join(name);
        std::fs::create_dir(&to).unwrap();
        for file in std::fs::read_dir(&original).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
        to
    };
    let (first, second) = (copy("first"), copy("second"));
    let resume = |folder: &Path| {
        let (folder, plan) = Folder::resume(folder, None).unwrap();
        folder.run(plan.runner())
    };
    let ended = resume(&first).unwrap();
    ended.certificate.check_ledger(&ledger).unwrap();
    let entries = ledger.entries().unwrap().len();
    for folder in [&second, &original] {
        let before = std::fs::read(folder.join("draws.csv")).unwrap();
        let refused = resume(folder).unwrap_err().to_string();
        assert!(refused.contains("has ended"), "{refused}");
        assert_eq!(std::fs::read(folder.join("draws.csv")).unwrap(), before);
    }
    assert_eq!(ledger.entries().unwrap().len(), entries);
    // The certificate from before is of a state that the ledger has left behind.
    let said = run.certificate.check_ledger(&ledger).unwrap_err().to_string();
    assert!(said.contains("another certificate"), "{said}");
}

/// Of two copies of which neither has ended, the one that continues first holds the lease.
#[test]
fn a_lease_is_held_by_one_copy() {
    let scratch = tempfile::tempdir().unwrap();
    let ledger = Ledger::create(&scratch.path().join("books")).unwrap();
    let (epsilon, delta) = (Epsilon::new(30.0).unwrap(), Delta::new(1e-5).unwrap());
    ledger.open_account("people", (epsilon, delta), Neighbours::Substitute, Unit::Record, None).unwrap();
    let rows: String = (0..60).map(|k| format!("{}\n", k % 5)).collect();
    std::fs::write(scratch.path().join("nowhere.csv"), format!("x\n{rows}")).unwrap();
    let plan = Plan::new(Spec::parse(SPEC, scratch.path()).unwrap()).unwrap();
    let held = Holding::of(plan.spec().data().clone(), plan.spec().count());
    held.add(&ledger, "people", "survey", &held.inspect().unwrap(), None).unwrap();
    let (original, copy) = (scratch.path().join("run"), scratch.path().join("copy"));
    let after = |steps| After(AtomicU64::new(steps));
    Folder::claim(&original).unwrap().run(plan.runner().watch(&after(5))).unwrap();
    std::fs::create_dir(&copy).unwrap();
    for file in std::fs::read_dir(&original).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let resume = |folder: &Path, steps| {
        let (folder, plan) = Folder::resume(folder, None).unwrap();
        folder.run(plan.runner().watch(&after(steps)))
    };
    assert!(resume(&original, 5).unwrap().interrupted);
    let refused = resume(&copy, 5).unwrap_err().to_string();
    assert!(
        refused.contains("another copy of its folder") || refused.contains("had more answers"),
        "{refused}"
    );
    let ended = resume(&original, 1000).unwrap();
    assert!(!ended.interrupted);
    ended.certificate.check_ledger(&ledger).unwrap();
    ledger.check(None).unwrap();
}

/// Stops a run after a number of steps.
struct After(AtomicU64);

impl Watch for After {
    fn step(&self, _chain: usize, _outcome: Outcome) {
        let _ =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_sub(1)));
    }

    fn stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}
