//! Holds every sampler's draws to the bit: a change that alters one shows here, and is either a mistake or meant.
//!
//! If it is meant, `BARKEEP_REWRITE=1 cargo test -p barkeep --test stability` writes `tables/draws.csv` anew, in a commit
//! of its own that says why. Noise and proposals have fixed seeds; the draws are the same for any number of threads.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot set itself up has failed"
)]

mod written;

use barkeep::samplers::{ExampleSpec, SAMPLERS, SamplerEntry};
use barkeep::{Plan, Spec};
use std::fmt::Write;
use written::{run, series, simulated};

/// The plan of an example whose proposals have a fixed seed.
fn plan(example: &ExampleSpec) -> Plan {
    let text = format!("{}seed = 5\n", example.text);
    let spec = Spec::parse(&text, std::path::Path::new("")).unwrap();
    Plan::new(spec).unwrap_or_else(|error| panic!("{}: {error}", example.title))
}

/// One line: the example, the number of draws, a digest of all their bits, the last draw.
fn line(example: &ExampleSpec, plan: &Plan) -> String {
    let (table, _) = simulated(plan, example.theta, 3);
    let run = run(plan, table, 11);
    let values: Vec<Vec<f64>> = (0..run.draws.chains().len()).flat_map(|chain| series(&run, chain)).collect();
    // FNV-1a over the bits of every value.
    let digest = values.iter().flatten().fold(0xcbf2_9ce4_8422_2325_u64, |digest, value| {
        value
            .to_bits()
            .to_le_bytes()
            .iter()
            .fold(digest, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let last: Vec<String> = values.iter().map(|series| format!("{:?}", series.last().unwrap())).collect();
    let draws: usize = run.draws.chains().iter().map(|chain| chain.len()).sum();
    format!("\"{}\",{draws},{digest:016x},{}", example.title, last.join(" "))
}

#[test]
fn draws_are_the_same_to_the_bit() {
    let mut found = "example,draws,digest,last draw\n".to_owned();
    for example in SAMPLERS.iter().flat_map(SamplerEntry::examples) {
        writeln!(found, "{}", line(&example, &plan(&example))).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables/draws.csv");
    if std::env::var_os("BARKEEP_REWRITE").is_some() {
        std::fs::write(path, &found).expect("a table that can be written");
    }
    let held = std::fs::read_to_string(path).unwrap();
    for (found, held) in found.lines().zip(held.lines()) {
        assert_eq!(found, held, "draws changed; the head of this file says what to do if that is meant");
    }
    assert_eq!(found.lines().count(), held.lines().count());
}

#[test]
fn draws_do_not_depend_on_the_number_of_threads() {
    let lazy = SAMPLERS.iter().find(|sampler| sampler.name == "lazy-barker").unwrap();
    let example = lazy.examples().find(|example| !example.audited).expect("one on many records");
    let plan = plan(&example);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| line(&example, &plan))
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert_eq!(on(threads), one);
    }
}
