//! Charges runs on tables in memory to an account: the custodian's ledger knows the data again, or nothing is spent.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use barkeep::accounting::{Delta, Epsilon, Neighbours};
use barkeep::curator::{Table, TableBuilder};
use barkeep::ledger::{Ledger, Records, Unit};
use barkeep::{Error, Folder, Plan, Spec};
use std::path::Path;

const SPEC: &str = "[data]\npath = 'nowhere.csv'\nrecords = 60\n[data.columns]\nx = { min = 0, max = 4, invalid = 0 }\n\
    [model]\nname = 'gaussian'\n[privacy]\nepsilon = 20\ndelta = 1e-6\nledger = 'books'\naccount = 'people'\n\
    [sampler]\nname = 'langevin'\nstart = [0]\nsteps = 40\n";

/// The cells of the table below, as its owner writes them down.
fn write(first: f64, sink: &mut dyn FnMut(&[u8])) {
    sink(b"x\n");
    (0..60).for_each(|k| sink(&(if k == 0 { first } else { f64::from(k % 5) }).to_le_bytes()));
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

    // Nobody says which data it is; the account does not know it; a run in memory has no folder to be continued from.
    assert!(matches!(claim("a").run_on(plan.runner(), table(&plan)), Err(Error::Spec(_))));
    assert!(matches!(
        claim("b").identified_by(|sink| write(0.0, sink)).run_on(plan.runner(), table(&plan)),
        Err(Error::Ledger(_))
    ));
    assert!(matches!(plan.run(table(&plan)), Err(Error::Spec(_))));
    assert_eq!(spent(), (0, 0));
    assert!(!scratch.path().join("a").exists() && !scratch.path().join("b").exists());

    ledger.add("people", "frame", Records::Memory(&|sink| write(0.0, sink)), None).unwrap();
    assert!(matches!(
        claim("c").identified_by(|sink| write(1.0, sink)).run_on(plan.runner(), table(&plan)),
        Err(Error::Ledger(_))
    ));
    assert_eq!(spent(), (0, 0));
    let run = claim("d").identified_by(|sink| write(0.0, sink)).run_on(plan.runner(), table(&plan)).unwrap();
    assert_eq!(spent(), (1, 1));
    run.certificate.check_ledger(&ledger).unwrap();
    ledger.check(None).unwrap();
    // A file that says the same bytes is another thing.
    let path: &Path = &scratch.path().join("frame.bin");
    let mut bytes = Vec::new();
    write(0.0, &mut |part| bytes.extend_from_slice(part));
    std::fs::write(path, bytes).unwrap();
    assert_eq!(ledger.add("people", "file", path, None).unwrap(), 1);
}
