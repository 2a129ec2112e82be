//! Checks that a run read back from its folder is the run that was written, and that edits are found.

use super::*;
use barkeep_curator::TableBuilder;

fn plan() -> Plan {
    let text = "[data]\npath = 'r.csv'\nrecords = 60\n[data.columns]\nx = { min = 0, max = 4, invalid = 0, scale = 'bounds' }\n\
                [model]\nname = 'gaussian'\n[privacy]\nepsilon = 20\ndelta = 1e-6\n\
                [sampler]\nname = 'langevin'\nstart = [0]\nsteps = 300\nchains = 2\n";
    Plan::new(Spec::parse(text, Path::new("")).unwrap()).unwrap()
}

fn run(plan: &Plan) -> Run {
    let mut table = TableBuilder::viewed(plan.view().clone(), plan.spec().count()).unwrap();
    (0..60).for_each(|k| table.push_row(&[f64::from(k % 5)]).unwrap());
    plan.run(table.finish().unwrap()).unwrap()
}

#[test]
fn a_run_read_back_is_the_run_that_was_written() {
    let (plan, scratch) = (plan(), tempfile::tempdir().unwrap());
    let run = run(&plan);
    let folder = scratch.path().join("out");
    run.save(&folder).unwrap();
    let (kept, read) = (Finished::of(&plan, &run), Finished::read(&folder).unwrap());
    assert_eq!(kept.draws(), read.draws());
    assert_eq!(kept.traces(), read.traces());
    assert_eq!(kept.summary(), read.summary());
    assert_eq!(read.summary().original_units.len(), 1);
    assert_eq!(read.plan().unwrap().epsilon(), plan.epsilon());

    let summary = folder.join(SUMMARY);
    let text = std::fs::read_to_string(&summary).unwrap();
    std::fs::write(&summary, text.replace("\"mean\"", "\"mean \"")).unwrap();
    assert!(matches!(Finished::read(&folder), Err(Error::Certificate(_))));
    std::fs::remove_file(&summary).unwrap();
    let shown = Finished::read(&folder).map(|_| ()).unwrap_err().to_string();
    assert!(shown.contains("it is not there"), "{shown}");
}

#[test]
fn long_runs_are_thinned_evenly() {
    let mut keeper = Keeper::new(&[100_000, 50_000], 10_000, 1);
    for (chain, length) in [(0, 100_000), (1, 50_000)] {
        (0..length).for_each(|place| keeper.take(chain, place, &[place as f64, 9.0]));
    }
    assert!(keeper.draws.len() <= MOST_DRAWS + 2 && keeper.draws.len() > MOST_DRAWS - 200);
    assert!(keeper.draws.iter().all(|draw| draw.len() == 1 && draw[0] >= 10_000.0));
    assert!(keeper.traces.iter().all(|trace| trace.steps.len() <= MOST_STATES));
    assert_eq!(keeper.traces[1].steps.first(), Some(&1));
}
