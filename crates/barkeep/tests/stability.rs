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

use barkeep::samplers::SAMPLERS;
use std::fmt::Write;
use written::{plan, run, simulated};

/// More than one block of records for each of several threads.
const RECORDS: usize = 40_000;

/// A model as a spec spells it: its columns, itself, where its records come from and chains start.
struct Model {
    columns: &'static str,
    text: &'static str,
    theta: &'static [f64],
}

const GAUSSIAN: Model = Model {
    columns: "x1 = { min = -30, max = 30, invalid = 0 }\nx2 = { min = -30, max = 30, invalid = 0 }",
    text: "name = 'gaussian'\ncovariance = [[1, 0.6], [0.6, 2]]\nprior_variance = 4",
    theta: &[0.5, -1.0],
};

const BANANA: Model = Model {
    columns: "x1 = { min = -50, max = 50, invalid = 0 }\nx2 = { min = -50, max = 50, invalid = 0 }",
    text: "name = 'banana'",
    theta: &[0.0, 3.0],
};

const CIRCLE: Model = Model {
    columns: "r = { min = -50, max = 50, invalid = 0 }",
    text: "name = 'circle'",
    theta: &[0.0, 3.0],
};

const MIXTURE: Model = Model {
    columns: "x = { min = -50, max = 50, invalid = 0 }",
    text: "name = 'mixture'\nn0 = 100",
    theta: &[0.0, 1.0],
};

const BERNOULLI: Model =
    Model { columns: "x = { kind = 'bool', invalid = false }", text: "name = 'bernoulli'", theta: &[0.4] };

const LOGISTIC: Model = Model {
    columns: "y = { kind = 'bool', invalid = false }\nx1 = { min = -1, max = 1, invalid = 0 }\nx2 = { min = -1, max = 1, invalid = 0 }",
    text: "formula = 'y ~ x1 + x2'\nfamily = 'bernoulli'",
    theta: &[0.2, -0.4, 0.6],
};

/// Every sampler at least once, every kernel at least once.
const CASES: &[(&Model, &str)] = &[
    (&GAUSSIAN, "name = 'barker'\nproposal_sd = 0.01\nclip = 3"),
    (&BANANA, "name = 'lazy-barker'\nproposal_sd = 0.01\nclip = 3"),
    (&BANANA, "name = 'penalty'\ntau = 0.05\nproposal_sd = 0.01\nclip = 3"),
    (
        &LOGISTIC,
        "name = 'penalty'\ntau = 0.3\nproposal_sd = 0.02\nclip = 3\nmove = 'guided'\nlevel = 'release'",
    ),
    (&MIXTURE, "name = 'penalty-minibatch'\ntau = 1\nbatch = 1000\nproposal_sd = 0.3\nclip = 1"),
    (&GAUSSIAN, "name = 'barker-corrected'\nproposal_sd = 0.01\nclip = 3"),
    (&MIXTURE, "name = 'barker-minibatch'\nbatch = 1000\nproposal_sd = 0.3"),
    (
        &BANANA,
        "name = 'dp-hmc'\nleapfrog = 3\nstep = 0.001\ntau = 0.3\nclip = 3\ntau_gradient = 0.5\nclip_gradient = 1",
    ),
    (&GAUSSIAN, "name = 'langevin'"),
    (&LOGISTIC, "name = 'langevin'"),
    (&BANANA, "name = 'underdamped'"),
    (&GAUSSIAN, "name = 'sgld'\nbatch = 1000\nstep_size = 0.01\nclip = 3"),
    (&LOGISTIC, "name = 'sgnht'\nbatch = 1000\nstep_size = 0.01\nclip = 1"),
    (&GAUSSIAN, "name = 'sgfs'\nbatch = 1000\nstep_size = 0.01\nclip = 3"),
    (&GAUSSIAN, "name = 'dpvi'"),
    (&GAUSSIAN, "name = 'statistics'"),
    (&BERNOULLI, "name = 'ops'\nlow = -3\nhigh = 3"),
    (&CIRCLE, "name = 'rwmh'\nproposal_sd = 0.1"),
    (&BANANA, "name = 'hmc'\nleapfrog = 3\nstep = 0.001"),
];

/// One line: model, sampler, number of draws, a digest of all their bits, the last draw.
fn line(model: &Model, sampler: &str) -> String {
    let quoted = |text: &str| text.split('\'').nth(1).unwrap_or_default().to_owned();
    let baseline = ["name = 'rwmh'", "name = 'hmc'"].iter().any(|name| sampler.starts_with(name));
    let privacy = if baseline { "private = false" } else { "epsilon = 8\ndelta = 1e-5" };
    let start = if ["dpvi", "statistics", "ops"].contains(&quoted(sampler).as_str()) {
        String::new()
    } else {
        format!("start = {:?}", model.theta)
    };
    let text = format!(
        "[data]\npath = 'simulated'\nrecords = {RECORDS}\n[data.columns]\n{}\n[model]\n{}\n[privacy]\n{privacy}\n\
         [sampler]\nseed = 5\nsteps = 12\n{sampler}\n{start}\n",
        model.columns, model.text
    );
    let plan = plan(&text).unwrap_or_else(|error| panic!("{sampler}: {error}"));
    let (table, _) = simulated(&plan, model.theta, 3);
    let run = run(&plan, table, 11);
    let chain = &run.draws.chains()[0];
    let values = (0..run.draws.dimension()).map(|j| chain.series(j, 0)).collect::<Vec<_>>();
    // FNV-1a over the bits of every value.
    let digest = values.iter().flatten().fold(0xcbf2_9ce4_8422_2325_u64, |digest, value| {
        value
            .to_bits()
            .to_le_bytes()
            .iter()
            .fold(digest, |digest, byte| (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let last: Vec<String> = values.iter().map(|series| format!("{:?}", series.last().unwrap())).collect();
    format!("{},{},{},{digest:016x},{}", quoted(model.text), quoted(sampler), chain.len(), last.join(" "))
}

#[test]
fn every_sampler_is_held() {
    for preset in SAMPLERS {
        let held = CASES.iter().any(|(_, sampler)| sampler.starts_with(&format!("name = '{}'", preset.name)));
        assert!(held, "no draws of {} are held", preset.name);
    }
}

#[test]
fn draws_are_the_same_to_the_bit() {
    let mut found = "model,sampler,draws,digest,last draw\n".to_owned();
    for (model, sampler) in CASES {
        writeln!(found, "{}", line(model, sampler)).unwrap();
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
    let (model, sampler) = CASES[1];
    let on = |threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| line(model, sampler))
    };
    let one = on(1);
    for threads in [2, 3, 8] {
        assert_eq!(on(threads), one);
    }
}
