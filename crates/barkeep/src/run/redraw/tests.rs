//! Draws again from a journal, with no records in reach.

use super::*;
use crate::run::Unwatched;
use crate::spec::Spec;
use barkeep_curator::TableBuilder;
use std::path::PathBuf;

fn plan(sampler: &str) -> Plan {
    let text = format!(
        "[data]\npath = 'r.csv'\nrecords = 60\n[data.columns]\ny = {{ min = 0, max = 4, invalid = 0 }}\nx = {{ min = 0, max = 4, invalid = 0 }}\n\
         [model]\nformula = 'y ~ x'\nfamily = 'gaussian'\n[privacy]\nepsilon = 5\ndelta = 1e-6\n[sampler]\n{sampler}\n"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap()
}

/// Runs a plan in a folder.
fn ran(sampler: &str, folder: &Path) -> PathBuf {
    let plan = plan(sampler);
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    for k in 0..60 {
        table.push_row(&[f64::from(k % 5), f64::from(k % 4)]).unwrap();
    }
    let out = folder.join("out");
    Folder::claim(&out).unwrap().run_on(plan.runner(), table.finish().unwrap()).unwrap();
    out
}

#[test]
fn a_longer_run_begins_with_the_draws_there_were_and_costs_the_same() {
    let scratch = tempfile::tempdir().unwrap();
    let out = ran("name = 'noise-aware'\nsteps = 30", scratch.path());
    let to = scratch.path().join("again");
    let redraw = Redraw::open(&out, Some(90)).unwrap();
    let saved = redraw.run(Folder::claim(&to).unwrap(), &Unwatched).unwrap();
    assert_eq!(saved.steps_used, [90]);
    let (before, after) = (crate::Finished::read(&out).unwrap(), crate::Finished::read(&to).unwrap());
    assert_eq!(before.draws()[..], after.draws()[..30]);
    assert_eq!(before.certificate().epsilon, after.certificate().epsilon);
    after.certificate().verify().unwrap();
    let journal = |finished: &crate::Finished| finished.certificate().hashes.clone().unwrap().journal;
    assert_eq!(journal(&before), journal(&after));
    assert!(journal(&after).is_some());
    // And once more from there.
    assert_eq!(Redraw::open(&to, None).unwrap().plan().steps().0, 450);
}

#[test]
fn draws_that_are_paid_for_are_not_made_again() {
    let scratch = tempfile::tempdir().unwrap();
    let out = ran("name = 'langevin'\nstart = [0, 0, 0]\nsteps = 30", scratch.path());
    let to = scratch.path().join("again");
    let tried = Redraw::open(&out, Some(60)).and_then(|it| it.run(Folder::claim(&to).unwrap(), &Unwatched));
    let shown = tried.map(drop).unwrap_err().to_string();
    assert!(shown.contains("would have to be paid for"), "{shown}");
}
