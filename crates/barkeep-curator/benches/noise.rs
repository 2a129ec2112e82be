//! Measures what protecting randomness costs: words, coins, lattice noise, batches.

use barkeep_accounting::{Rate, Rule};
use barkeep_curator::{Batch, LatticeSigma, NoiseRng, discrete_gaussian, flip, rounded_normal};
use divan::Bencher;

/// Draws per measured iteration, so that the clock's own cost vanishes.
const DRAWS: usize = 1000;

const SIGMAS: [f64; 6] = [0.5, 1.5, 10.0, 1024.0 + 1.0 / 3.0, 1e9, 4_503_599_627_370_495.5];

fn main() {
    divan::main();
}

#[divan::bench(counters = [DRAWS])]
fn word(bencher: Bencher) {
    let mut rng = NoiseRng::insecure_seed(1);
    bencher.bench_local(|| (0..DRAWS).fold(0, |sum: u64, _| sum ^ rng.next_u64()));
}

/// The flip alone, and with the rule that makes the coin from a log-ratio.
#[divan::bench(counters = [DRAWS])]
fn coin(bencher: Bencher) {
    let mut rng = NoiseRng::insecure_seed(1);
    let coins: Vec<_> = (0..DRAWS).map(|i| Rule::Barker.coin(i as f64 / 100.0 - 5.0, 0.0)).collect();
    bencher.bench_local(|| coins.iter().filter(|coin| flip(&mut rng, coin)).count());
}

#[divan::bench(args = ["barker", "penalty"], counters = [DRAWS])]
fn coin_with_its_rule(bencher: Bencher, rule: &str) {
    let rule = if rule == "barker" { Rule::Barker } else { Rule::Penalty { sigma: 2.0 } };
    let mut rng = NoiseRng::insecure_seed(1);
    let log_ratio = |i: usize| i as f64 / 100.0 - 5.0;
    bencher.bench_local(|| (0..DRAWS).filter(|&i| flip(&mut rng, &rule.coin(log_ratio(i), 0.0))).count());
}

#[divan::bench(args = [1_000, 100_000, 900_000])]
fn batch_of_a_million(bencher: Bencher, size: u64) {
    let mut rng = NoiseRng::insecure_seed(1);
    let mut batch = Batch::new();
    bencher.bench_local(|| batch.draw_without_replacement(&mut rng, size, 1_000_000));
}

#[divan::bench(args = [1e-3, 1e-1, 0.9])]
fn poisson_batch_of_a_million(bencher: Bencher, rate: f64) {
    let rate = Rate::new(rate).expect("a rate");
    let mut rng = NoiseRng::insecure_seed(1);
    let mut batch = Batch::new();
    bencher.bench_local(|| batch.draw_poisson(&mut rng, rate, 1_000_000));
}

#[divan::bench(args = SIGMAS, counters = [DRAWS])]
fn rounded_normal_draw(bencher: Bencher, sigma: f64) {
    let sigma = LatticeSigma::new(sigma).expect("in range");
    let mut rng = NoiseRng::insecure_seed(1);
    bencher.bench_local(|| (0..DRAWS).fold(0, |sum: i128, _| sum ^ rounded_normal(&mut rng, sigma)));
}

#[divan::bench(args = SIGMAS, counters = [DRAWS])]
fn discrete_gaussian_draw(bencher: Bencher, sigma: f64) {
    let sigma = LatticeSigma::new(sigma).expect("in range");
    let mut rng = NoiseRng::insecure_seed(1);
    bencher.bench_local(|| (0..DRAWS).fold(0, |sum: i128, _| sum ^ discrete_gaussian(&mut rng, sigma)));
}
