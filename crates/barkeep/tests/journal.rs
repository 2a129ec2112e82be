//! Cuts the journal of every sampler's run and continues it: the draws are the same to the bit, and nothing is asked twice.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod written;

use barkeep::accounting::Steps;
use barkeep::curator::insecure::SharedTable;
use barkeep::insecure::Insecure;
use barkeep::samplers::SAMPLERS;
use barkeep::{JOURNAL, Plan, Run, Spec};
use std::path::Path;
use written::simulated;

fn bits(run: &Run) -> Vec<u64> {
    run.draws.pooled(0).iter().map(|value| value.to_bits()).collect()
}

#[test]
fn every_sampler_continues_to_the_same_bits() {
    // Journals cut at every place: `run/journal/tests.rs`. Here each sampler's is cut early, in the middle or late, in turn.
    for (number, example) in SAMPLERS.iter().filter_map(|entry| entry.examples().next()).enumerate() {
        let spec = Spec::parse(&example.text, Path::new("")).unwrap();
        let plan = Plan::new(spec).unwrap().stopping_after(Steps(6));
        let table: SharedTable = simulated(&plan, example.theta, 3).0.into();
        let seed = || Insecure::seed(11);
        let plain = plan.runner().run_shared(&table, seed()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(JOURNAL);
        let kept = plan.runner().journal(folder.path()).run_shared(&table, seed()).unwrap();
        assert!(bits(&kept) == bits(&plain), "{}: a journal changes draws", example.title);
        let whole = std::fs::read(&path).unwrap();
        // The answers fill less than the header where each is a bit.
        let header = 24 + u32::from_le_bytes(whole[20..24].try_into().unwrap()) as usize;
        let part = [0.2, 0.5, 0.9][number % 3];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place in a file")]
        let cut = header + 300 + ((whole.len() - header).saturating_sub(300) as f64 * part) as usize;
        std::fs::write(&path, &whole[..cut.min(whole.len())]).unwrap();
        let continued = plan.runner().resume(folder.path()).run_shared(&table, seed()).unwrap();
        assert!(bits(&continued) == bits(&plain), "{}: cut at {part}", example.title);
        assert_eq!(continued.certificate, plain.certificate);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), whole.len() as u64, "{}", example.title);
    }
}
