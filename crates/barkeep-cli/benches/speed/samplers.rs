//! Times a step of every (sampler, model) whose time in the authors' code is recorded.

use crate::machine::{all_threads, exponentials, on_threads, race, streaming_sum};
use crate::setting::{Setting, numbers, run};
use std::hint::black_box;

/// One row.
struct Case {
    name: &'static str,
    setting: Setting,
    steps: u64,
    /// Milliseconds a step of the authors' code (NumPy, JAX) took on one core of a quiet machine of this kind.
    recorded: f64,
    /// Columns read in a step, counting each as often as it is read, on average.
    columns: f64,
    /// Records touched in a step by each of those reads.
    records: usize,
    /// Floating-point operations on a record in a step, counted from the formulas.
    operations: f64,
    /// Exponentials and logarithms on a record in a step; they are no part of `operations`.
    elementary: f64,
}

/// A log-ratio that is linear in d columns: x − m, ·w, + for each; clip (2), scale, round, add.
fn log_ratio(columns: f64) -> f64 {
    3.0 * columns + 5.0
}

/// A clipped gradient of d entries: x − m, ·w, square, +, scale, round, add for each; root, quotient, minimum.
fn gradient(columns: f64) -> f64 {
    7.0 * columns + 3.0
}

fn cases() -> Vec<Case> {
    let penalty = |name, a, d: usize, n, recorded, keys: &str, touched: f64| Case {
        name,
        setting: Setting::banana(a, d, n, &format!("name = 'penalty'\nlevel = 'release'\n{keys}")),
        steps: 200,
        recorded,
        columns: touched,
        records: n,
        operations: log_ratio(touched),
        elementary: 0.0,
    };
    let hmc = |name, a, d: usize, n, recorded, leapfrog: f64, keys: &str| Case {
        name,
        setting: Setting::banana(
            a,
            d,
            n,
            &format!("name = 'dp-hmc'\nlevel = 'release'\nleapfrog = {leapfrog}\n{keys}"),
        ),
        steps: 8,
        recorded,
        columns: (leapfrog + 2.0) * d as f64,
        records: n,
        operations: (leapfrog + 1.0) * gradient(d as f64) + log_ratio(d as f64),
        elementary: 0.0,
    };
    // One move of the first parameter bends into the second column; every other one needs a column.
    let one = |d: f64| (d + 1.0) / d;
    vec![
        penalty(
            "penalty, flat banana",
            20.0,
            2,
            100_000,
            0.91,
            "tau = 0.1\nclip = 2.0\nproposal_sd = 0.008",
            2.0,
        ),
        penalty(
            "penalty, flat banana",
            20.0,
            10,
            200_000,
            2.63,
            "tau = 0.1\nclip = 2.0\nproposal_sd = 0.0015",
            10.0,
        ),
        penalty(
            "penalty, Gauss",
            0.0,
            30,
            200_000,
            5.82,
            "tau = 0.06\nclip = 3.0\nproposal_sd = 0.00084",
            30.0,
        ),
        penalty(
            "penalty, one component",
            20.0,
            10,
            200_000,
            2.30,
            "tau = 0.1\nclip = 3.0\nproposal_sd = 0.0015\nmove = 'guided'",
            one(10.0),
        ),
        penalty(
            "penalty, one component",
            0.0,
            30,
            200_000,
            5.59,
            "tau = 0.2\nclip = 3.0\nproposal_sd = 0.00084\nmove = 'guided'",
            1.0,
        ),
        Case {
            name: "penalty, circle",
            setting: Setting {
                schema: vec!["r = { min = -1000, max = 1000, invalid = 0 }".to_owned()],
                model: "name = 'circle'".to_owned(),
                records: 100_000,
                sampler: "name = 'penalty'\nlevel = 'release'\ntau = 4.0\nclip = 0.002\nproposal_sd = 0.2"
                    .to_owned(),
                theta: vec![0.0, 3.0],
            },
            steps: 200,
            recorded: 0.85,
            columns: 1.0,
            records: 100_000,
            operations: 10.0,
            elementary: 0.0,
        },
        hmc(
            "dp-hmc, flat banana",
            20.0,
            2,
            100_000,
            17.19,
            10.0,
            "tau = 0.1\nclip = 2.0\nstep = 0.0005\ntau_gradient = 0.4\nclip_gradient = 1.0",
        ),
        hmc(
            "dp-hmc, flat banana",
            20.0,
            10,
            200_000,
            119.99,
            10.0,
            "tau = 0.05\nclip = 2.5\nstep = 0.00015\ntau_gradient = 0.2\nclip_gradient = 3.0",
        ),
        hmc(
            "dp-hmc, Gauss",
            0.0,
            30,
            200_000,
            406.15,
            5.0,
            "tau = 0.05\nclip = 2.5\nstep = 0.00025\ntau_gradient = 0.1\nclip_gradient = 6.0",
        ),
        Case {
            name: "barker-minibatch, mixture",
            setting: Setting {
                schema: numbers(1),
                model: "name = 'mixture'\nn0 = 100".to_owned(),
                records: 1_000_000,
                sampler: "name = 'barker-minibatch'\nbatch = 1000\nproposal_sd = 0.1".to_owned(),
                theta: vec![0.0, 1.0],
            },
            steps: 2000,
            recorded: 2.1,
            columns: 1.0,
            records: 1000,
            operations: 30.0,
            elementary: 4.0,
        },
    ]
}

/// Prints the table.
pub(crate) fn print() {
    let threads = all_threads();
    println!(
        "A step of each sampler. \"recorded\" is the authors' code on one core, \"sum\" the time of a plain streaming"
    );
    println!(
        "sum over the columns the step reads, as often as it reads them. For the batch of 1000 records, spread over a"
    );
    println!("million, the share is that of the vector exponentials and logarithms it takes instead.");
    println!();
    println!(
        "{:<26} {:>3} {:>8} {:>9} {:>9} {:>6} {:>9} {:>11} {:>7} {:>8} {:>7} {:>6}",
        "sampler, model",
        "d",
        "n",
        "recorded",
        "1 thread",
        "ratio",
        format!("{threads} threads"),
        "records/s",
        "GB/s",
        "Gflop/s",
        "sum",
        "share"
    );
    for case in cases() {
        // Short runs are tried more often: a core shared with others is seldom left alone for long.
        let rounds = if case.columns * case.records as f64 > 1e7 { 12 } else { 100 };
        let (table, columns) = (case.setting.table(), case.setting.plain_columns());
        let plan = case.setting.plan(case.steps);
        let [ours, bound] = on_threads(1, || {
            let repeat = case.columns / case.setting.columns() as f64;
            let mut limit = || {
                if case.elementary > 0.0 {
                    (0..case.steps)
                        .for_each(|_| exponentials((case.elementary * case.records as f64) as usize));
                } else {
                    _ = black_box(streaming_sum(&columns));
                }
            };
            let times = race(rounds, &mut [&mut || run(&plan, &table), &mut limit]);
            let bound = if case.elementary > 0.0 { times[1] / case.steps as f64 } else { times[1] * repeat };
            [times[0] / case.steps as f64, bound]
        });
        let [all] =
            on_threads(threads, || [race(rounds, &mut [&mut || run(&plan, &table)])[0] / case.steps as f64]);
        println!(
            "{:<26} {:>3} {:>8} {:>6.2} ms {:>6.3} ms {:>5.0}x {:>6.3} ms {:>11.3e} {:>7.1} {:>8.2} {:>4.0} us {:>4.0} %",
            case.name,
            case.setting.theta.len(),
            case.setting.records,
            case.recorded,
            ours * 1e3,
            case.recorded / (ours * 1e3),
            all * 1e3,
            case.records as f64 / ours,
            case.columns * 8.0 * case.records as f64 / ours * 1e-9,
            case.operations * case.records as f64 / ours * 1e-9,
            bound * 1e6,
            100.0 * bound / ours
        );
    }
}
