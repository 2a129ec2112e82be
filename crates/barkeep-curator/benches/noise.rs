//! Measures what protecting randomness costs: words and lattice noise; `gate` times coins and batches.

use barkeep_curator::{LatticeSigma, NoiseRng, discrete_gaussian, rounded_normal};
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
