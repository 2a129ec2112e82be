//! Compares the two noise laws with their exact masses and moments, tests/tables/noise.csv.

use crate::test_support::statistics::{NORMAL_LIMIT, assert_fits};
use crate::{LatticeSigma, NoiseRng, discrete_gaussian, rounded_normal};

/// As in make_noise.py, which makes no bin that expects fewer than 20.
const DRAWS: usize = 300_000;

type Sampler = fn(&mut NoiseRng, LatticeSigma) -> i128;

fn sampler(law: &str) -> Sampler {
    match law {
        "rounded-normal" => rounded_normal,
        "discrete-gaussian" => discrete_gaussian,
        _ => panic!("an unknown law in the table"),
    }
}

/// One law at one σ: its bins (inclusive upper ends, the last one open) and the moments of z/σ.
struct Exact {
    law: &'static str,
    sigma: f64,
    ends: Vec<i128>,
    probabilities: Vec<f64>,
    moments: Vec<f64>,
}

fn table() -> Vec<Exact> {
    let mut all: Vec<Exact> = Vec::new();
    for line in include_str!("../../tests/tables/noise.csv").lines() {
        let fields: Vec<&'static str> = line.split(',').collect();
        let [law, sigma, kind, key, value] = fields[..] else { panic!("five columns") };
        let (sigma, value): (f64, f64) = (sigma.parse().unwrap(), value.parse().unwrap());
        if all.last().is_none_or(|last| (last.law, last.sigma) != (law, sigma)) {
            all.push(Exact { law, sigma, ends: vec![], probabilities: vec![], moments: vec![] });
        }
        let current = all.last_mut().unwrap();
        match (kind, key) {
            ("bin", "inf") => current.probabilities.push(value),
            ("bin", end) => {
                current.ends.push(end.parse().unwrap());
                current.probabilities.push(value);
            }
            _ => current.moments.push(value),
        }
    }
    all
}

fn draws(exact: &Exact, seed: u64, count: usize) -> Vec<i128> {
    let sigma = LatticeSigma::new(exact.sigma).unwrap();
    let mut rng = NoiseRng::insecure_seed(seed);
    (0..count).map(|_| sampler(exact.law)(&mut rng, sigma)).collect()
}

#[test]
fn masses_and_first_four_moments_are_exact() {
    let table = table();
    assert_eq!(table.len(), 20);
    for (seed, exact) in table.iter().enumerate() {
        let what = format!("{} at sigma {}", exact.law, exact.sigma);
        let sample = draws(exact, 100 + seed as u64, DRAWS);
        let bin = |z: i128| exact.ends.partition_point(|&end| end < z);
        let mut counts = vec![0; exact.probabilities.len()];
        sample.iter().for_each(|&z| counts[bin(z)] += 1);
        assert_fits(&counts, &exact.probabilities, &what);

        // The mean of (z/σ)^p has variance (E (z/σ)^2p − (E (z/σ)^p)²)/N; odd moments are 0.
        let [second, fourth, sixth, eighth] = exact.moments[..] else { panic!("four moments") };
        let expected = [(0.0, second), (second, fourth), (0.0, sixth), (fourth, eighth)];
        for (power, (mean, square)) in (1..).zip(expected) {
            let sum: f64 = sample.iter().map(|&z| (z as f64 / exact.sigma).powi(power)).sum();
            let score = (sum / DRAWS as f64 - mean) / ((square - mean * mean) / DRAWS as f64).sqrt();
            assert!(score.abs() < NORMAL_LIMIT, "{what}: moment {power} is off by {score:.2} sd");
        }
    }
}

#[test]
fn successive_draws_are_independent() {
    // Pairs of eighths of the law. The table's 64 bins have equal probability up to the lattice, below 10⁻⁶ here.
    for (seed, exact) in table().iter().filter(|exact| exact.sigma > 1e6).enumerate() {
        let sample = draws(exact, 200 + seed as u64, 100_000);
        let eighth = |z: i128| exact.ends.partition_point(|&end| end < z) / 8;
        let mut counts = vec![0; 64];
        sample.chunks_exact(2).for_each(|pair| counts[8 * eighth(pair[0]) + eighth(pair[1])] += 1);
        assert_fits(&counts, &[1.0 / 64.0; 64], &format!("{} at sigma {}", exact.law, exact.sigma));
    }
}

/// Noise drawn through floating point betrays itself in its last bits: some integers are never reached, and which ones
/// are depends on the secret it was added to (Mironov 2012). Here every residue is as likely as any other: by
/// Poisson summation up to e^(−2π²σ²/m²) modulo m, below 10⁻⁷⁰ for all tested.
#[test]
fn last_bits_are_uniform() {
    for (seed, exact) in table().iter().filter(|exact| exact.sigma > 1e6).enumerate() {
        let what = format!("{} at sigma {}", exact.law, exact.sigma);
        let sample = draws(exact, 300 + seed as u64, 100_000);
        for modulus in [1024, 1000, 3] {
            let mut counts = vec![0; modulus];
            sample.iter().for_each(|z| counts[z.rem_euclid(modulus as i128) as usize] += 1);
            assert_fits(&counts, &vec![1.0 / modulus as f64; modulus], &what);
        }
        // Every single bit up to a quarter of σ.
        for bit in 0..exact.sigma.log2() as u32 - 2 {
            let ones = sample.iter().filter(|&&z| z >> bit & 1 == 1).count() as u64;
            assert_fits(&[ones, sample.len() as u64 - ones], &[0.5, 0.5], &format!("{what}, bit {bit}"));
        }
    }
}

#[test]
fn seeded_draws_are_the_same_in_every_version() {
    let mut rng = NoiseRng::insecure_seed(7);
    let sigma = LatticeSigma::new(1000.0).unwrap();
    let normal = [(); 4].map(|()| rounded_normal(&mut rng, sigma));
    let discrete = [(); 4].map(|()| discrete_gaussian(&mut rng, sigma));
    assert_eq!((normal, discrete), ([-973, -812, -251, 1233], [37, 1321, -21, -572]));
}
