//! Times the vector kernels beside the standard library: µs per thousand elements, which is ns per element.
//!
//! `cargo bench -p barkeep-num --bench vector`

use barkeep_num::vector;
use divan::{Bencher, black_box};

/// Elements per measurement: a thousand, so that the printed µs are ns per element.
const BLOCK: usize = 1000;

fn main() {
    divan::main();
}

/// A block of arguments spread over [low, high].
fn block(low: f64, high: f64) -> Vec<f64> {
    (0..BLOCK).map(|i| low + (high - low) * ((i * 379) % BLOCK) as f64 / BLOCK as f64).collect()
}

fn time(bencher: Bencher<'_, '_>, low: f64, high: f64, kernel: impl Fn(&mut [f64]) + Sync) {
    let inputs = block(low, high);
    let mut values = inputs.clone();
    bencher.bench_local(|| {
        values.copy_from_slice(black_box(&inputs));
        kernel(&mut values);
        black_box(&values);
    });
}

fn each(function: impl Fn(f64) -> f64) -> impl Fn(&mut [f64]) {
    move |values| values.iter_mut().for_each(|x| *x = function(*x))
}

#[divan::bench]
fn exp(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, vector::exp);
}

#[divan::bench]
fn exp_std(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, each(f64::exp));
}

#[divan::bench]
fn ln(bencher: Bencher<'_, '_>) {
    time(bencher, 1e-3, 1e3, vector::ln);
}

#[divan::bench]
fn ln_std(bencher: Bencher<'_, '_>) {
    time(bencher, 1e-3, 1e3, each(f64::ln));
}

#[divan::bench]
fn ln_1p(bencher: Bencher<'_, '_>) {
    time(bencher, -0.9, 10.0, vector::ln_1p);
}

#[divan::bench]
fn ln_1p_std(bencher: Bencher<'_, '_>) {
    time(bencher, -0.9, 10.0, each(f64::ln_1p));
}

#[divan::bench]
fn sigmoid(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, vector::sigmoid);
}

#[divan::bench]
fn sigmoid_std(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, each(|x| 1.0 / (1.0 + (-x).exp())));
}

#[divan::bench]
fn log_sigmoid(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, vector::log_sigmoid);
}

#[divan::bench]
fn log_sigmoid_std(bencher: Bencher<'_, '_>) {
    time(bencher, -20.0, 20.0, each(|x| x.min(0.0) - (-x.abs()).exp().ln_1p()));
}
