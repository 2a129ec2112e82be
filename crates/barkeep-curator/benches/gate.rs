//! Measures the two gates against plain f64 loops over the same records, in one run, on one thread.
//!
//! `cargo bench -p barkeep-curator --bench gate` prints for each question our time per record, the time of a
//! hand-written loop that adds up in f64 without clip or rounding ("plain"), and of the same loop with sixteen
//! running sums, which the compiler may vectorise ("wide"). For gradients it prints first the time of the same program's
//! outputs without clip, rounding and noise ("unclipped"), tile by tile, added up in f64 by such a loop.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs, reason = "a program that measures")]

use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_curator::{
    Ask, Asked, Budget, Clip, Curator, Decide, Gate, Level, NoiseRng, PrivacyModel, Shape, Sum, TableBuilder,
    Temper, Term,
};
use barkeep_data::{BLOCK, Block, Schema};
use barkeep_machine::{self as machine, Machine, Output, Program, Share, Source, TILE, Writer};
use barkeep_num::vector::dispatch;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

/// The log-ratio of two columns of normal records with variance 2: Σⱼ wⱼ(xⱼ − mⱼ).
fn log_ratio(weights: [f64; 2], middles: [f64; 2]) -> Program {
    let mut w = Writer::default();
    let start = -weights.iter().zip(middles).map(|(weight, middle)| weight * middle).sum::<f64>();
    let ratio = w.dot(start, weights.into_iter().zip([0, 1].map(Source::Column)));
    w.finish([Output::Dense(ratio)]).unwrap()
}

/// The gradients of normal records with variance 2: ½(xⱼ − θⱼ).
fn gradient(theta: &[f64]) -> machine::Term {
    let mut w = Writer::default();
    let entry = |(j, centre): (u32, &f64)| Output::Dense(w.deviation(0.5, Source::Column(j), *centre));
    let outputs: Vec<Output> = (0..).zip(theta).map(entry).collect();
    machine::Term::of(w.finish(outputs).unwrap())
}

/// Columns of public, made-up records, and a gate on the same records.
fn setting(records: usize, dimension: usize) -> (Vec<Vec<f64>>, Gate) {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let names: Vec<String> = (0..dimension).map(|column| format!("x{column}")).collect();
    let mut builder = TableBuilder::new(Schema::unbounded(names).unwrap(), records).unwrap();
    let mut columns = vec![Vec::with_capacity(records); dimension];
    for _ in 0..records {
        let row: Vec<f64> = (0..dimension).map(|_| uniform()).collect();
        columns.iter_mut().zip(&row).for_each(|(column, value)| column.push(*value));
        builder.push_row(&row).unwrap();
    }
    let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
    let curator = Curator::new(builder.finish().unwrap(), privacy_model, Budget::not_private());
    (columns, Gate::open(&Arc::new(curator.unwrap()), NoiseRng::insecure_seed(1)).unwrap())
}

/// Records in blocks as the curator reads them, column by column.
fn blocks(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let starts = (0..columns[0].len()).step_by(BLOCK);
    let block = |start: usize| {
        columns.iter().flat_map(|column| &column[start..(start + BLOCK).min(column.len())]).copied().collect()
    };
    starts.map(block).collect()
}

/// Σᵢ of what a program writes, a tile at a time.
#[inline(never)]
fn unclipped_gradient(program: &Program, machine: &mut Machine, blocks: &[Vec<f64>], out: &mut [f64]) {
    out.fill(0.0);
    for block in blocks {
        let records = block.len() / out.len();
        for tile in Block::over(block, records, records).tiles(TILE) {
            machine.run(program, tile);
            for (k, out) in out.iter_mut().enumerate() {
                let Share::Dense(column) = machine.share(program, tile, k) else { continue };
                *out += dispatch(
                    #[inline(always)]
                    || wide_sum(column),
                );
            }
        }
    }
}

/// A sum with running sums for the widest instructions.
#[inline(always)]
fn wide_sum(column: &[f64]) -> f64 {
    let mut sums = [0.0; 32];
    let chunks = column.chunks_exact(32);
    let rest: f64 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for k in 0..32 {
            sums[k] += chunk[k];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// Σᵢ Σⱼ wⱼ(xᵢⱼ − mⱼ) for two columns, with `SUMS` running sums.
#[inline(never)]
fn plain_log_ratio<const SUMS: usize>(columns: &[Vec<f64>], weights: [f64; 2], middles: [f64; 2]) -> f64 {
    let mut sums = [0.0; SUMS];
    let (first, second) = (columns[0].chunks_exact(SUMS), columns[1].chunks_exact(SUMS));
    for (first, second) in first.zip(second) {
        for k in 0..SUMS {
            sums[k] += weights[0] * (first[k] - middles[0]) + weights[1] * (second[k] - middles[1]);
        }
    }
    sums.iter().sum()
}

/// Σᵢ w(xᵢⱼ − θⱼ) per column, with `SUMS` running sums.
#[inline(never)]
fn plain_gradient<const SUMS: usize>(columns: &[Vec<f64>], weight: f64, theta: &[f64], out: &mut [f64]) {
    for ((column, theta), out) in columns.iter().zip(theta).zip(out) {
        let mut sums = [0.0; SUMS];
        for chunk in column.chunks_exact(SUMS) {
            for k in 0..SUMS {
                sums[k] += weight * (chunk[k] - theta);
            }
        }
        *out = sums.iter().sum();
    }
}

/// The shortest time of each of some competitors, taken in turn so that a busy machine slows all alike.
fn race(rounds: usize, competitors: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; competitors.len()];
    for _ in 0..rounds {
        for (best, competitor) in best.iter_mut().zip(competitors.iter_mut()) {
            let start = Instant::now();
            competitor();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    best
}

fn report(name: &str, records: usize, against: &[&str], times: &[f64]) {
    print!("{name:<28} {:8.3} ns/record", times[0] * 1e9 / records as f64);
    for (name, time) in against.iter().zip(&times[1..]) {
        print!("   {name} {:8.3}, ratio {:5.2}", time * 1e9 / records as f64, times[0] / time);
    }
    println!();
}

fn decide(records: usize) {
    let (columns, mut gate) = setting(records, 2);
    // From (0.1, −0.2) to (0.11, −0.19).
    let program = log_ratio([0.005; 2], [0.105, -0.195]);
    let question = Decide {
        ratio: &program,
        offset: 0.3,
        temper: Temper::NONE,
        clip: Clip::new(0.01).unwrap(),
        batch: Sampling::Full,
        rule: &Rule::Barker,
        level: Level::Decision,
    };
    let weights = [0.005, 0.005];
    let times = race(
        400,
        &mut [
            &mut || drop(black_box(gate.decide(black_box(&question)))),
            &mut || _ = black_box(plain_log_ratio::<1>(black_box(&columns), weights, [0.105, -0.195])),
            &mut || _ = black_box(plain_log_ratio::<16>(black_box(&columns), weights, [0.105, -0.195])),
        ],
    );
    report(&format!("decide, d = 2, n = {records}"), records, &["plain", "wide"], &times);
}

fn decide_on_batch(records: usize, batch: usize) {
    let (columns, mut gate) = setting(records, 2);
    // From (0.1, −0.2) to (0.11, −0.19).
    let program = log_ratio([0.005; 2], [0.105, -0.195]);
    let question = Decide {
        ratio: &program,
        offset: 0.3,
        temper: Temper::new(1e-4).unwrap(),
        clip: Clip::new(0.01).unwrap(),
        batch: Sampling::WithoutReplacement { batch: batch as u64, records: records as u64 },
        rule: &Rule::Penalty { sigma: 1.0 },
        level: Level::Decision,
    };
    // As many positions as a batch holds, spread out, in order, the same every time: kinder than drawing them.
    let positions: Vec<usize> = (0..batch).map(|k| k * (records / batch) + k % 7).collect();
    let mut plain = || {
        let (mut sum, mut square) = (0.0, 0.0);
        for &position in black_box(&positions) {
            let ratio = 0.005 * (columns[0][position] - 0.105) + 0.005 * (columns[1][position] + 0.195);
            sum += ratio;
            square += ratio * ratio;
        }
        black_box((sum, square));
    };
    let mut ours = || drop(black_box(gate.decide(black_box(&question))));
    let times = race(2000, &mut [&mut ours, &mut plain]);
    report(&format!("decide, b = {batch} of {records}"), batch, &["plain"], &times);
}

fn sum(records: usize, dimension: usize) {
    let (columns, mut gate) = setting(records, dimension);
    let theta: Vec<f64> = (0..dimension).map(|j| 0.01 * j as f64).collect();
    let term = gradient(&theta);
    let question = Sum {
        term: Term::Program(Asked { term: &term, shape: Shape::Ball }),
        temper: Temper::NONE,
        clip: Clip::new(0.5).unwrap(),
        batch: Sampling::Full,
        sigma: 10.0,
    };
    let (mut ours, mut unclipped, mut plain, mut wide) =
        (theta.clone(), theta.clone(), theta.clone(), theta.clone());
    let (blocks, mut machine) = (blocks(&columns), Machine::default());
    let times = race(
        if dimension > 4 { 60 } else { 400 },
        &mut [
            &mut || drop(black_box(gate.sum(black_box(&question), &mut ours))),
            &mut || {
                unclipped_gradient(&term.row, &mut machine, black_box(&blocks), black_box(&mut unclipped))
            },
            &mut || plain_gradient::<1>(black_box(&columns), 0.5, &theta, black_box(&mut plain)),
            &mut || plain_gradient::<16>(black_box(&columns), 0.5, &theta, black_box(&mut wide)),
        ],
    );
    report(&format!("sum, d = {dimension}, n = {records}"), records, &["unclipped", "plain", "wide"], &times);
}

fn main() {
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    single.install(|| {
        decide(100_000);
        decide(1_000_000);
        decide_on_batch(1_000_000, 1000);
        sum(100_000, 2);
        sum(200_000, 2);
        sum(200_000, 30);
    });
}
