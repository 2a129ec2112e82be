//! Checks convolutions against exact rational sums and exact binomials, and that the stated errors hold.

mod tilted;

use barkeep_num::convolution::{Cyclic, LONGEST};
use barkeep_num::ln_binomial;
use proptest::prelude::*;
use tilted::{convolve, saddle_tilt, tilted_power};

struct Row {
    kind: String,
    power: u64,
    a: Vec<f64>,
    b: Vec<f64>,
    result: Vec<f64>,
}

fn rows() -> Vec<Row> {
    let numbers =
        |cell: &str| -> Vec<f64> { cell.split_whitespace().map(|number| number.parse().unwrap()).collect() };
    let rows: Vec<Row> = include_str!("../tables/convolution.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(';').collect();
            Row {
                kind: cells[0].to_owned(),
                power: cells[1].parse().unwrap(),
                a: numbers(cells[2]),
                b: numbers(cells[3]),
                result: numbers(cells[4]),
            }
        })
        .collect();
    assert_eq!(rows.len(), 10);
    rows
}

#[test]
fn products_are_within_the_stated_error() {
    for row in rows().iter().filter(|row| row.kind == "product") {
        let product = convolve(&row.a, &row.b).unwrap();
        assert_eq!(product.values.len(), row.result.len());
        let norm = |x: &[f64]| x.iter().map(|value| value.abs()).sum::<f64>();
        assert!(product.error <= 3e-14 * norm(&row.a) * norm(&row.b), "the bound must be of use");
        for (got, expected) in product.values.iter().zip(&row.result) {
            assert!((got - expected).abs() <= product.error, "{got} {expected} {}", product.error);
        }
    }
}

/// Every entry is inside its bounds under any tilt, and under its own saddle point the bounds are tight: down to
/// e^(-2700) in this table.
#[test]
fn powers_are_within_bounds_and_tight_at_the_saddle_point() {
    let mut deepest = 0.0_f64;
    for row in rows().iter().filter(|row| row.kind == "power") {
        let logs: Vec<f64> = row.a.iter().map(|value| value.ln()).collect();
        for (index, expected) in row.result.iter().enumerate().step_by(7) {
            let tilt = saddle_tilt(&logs, index as f64 / row.power as f64).unwrap();
            let power = tilted_power(&logs, row.power, tilt).unwrap();
            for (other, log) in row.result.iter().enumerate() {
                let (low, high) = power.log_bounds(other).unwrap();
                assert!(low <= *log && *log <= high, "{low} {log} {high}");
            }
            let (low, high) = power.log_bounds(index).unwrap();
            assert!(high - low < 1e-9, "entry {index}: {low} {expected} {high}");
            deepest = deepest.min(*expected);
        }
    }
    assert!(deepest < -1000.0);
}

#[test]
fn powers_of_a_coin_are_binomials() {
    for (trials, success, wanted) in
        [(1000_u64, 0.5_f64, 900.0), (100_000, 0.01, 3000.0), (1_000_000, 0.3, 250_000.0)]
    {
        let logs = [(1.0 - success).ln(), success.ln()];
        let tilt = saddle_tilt(&logs, wanted / trials as f64).unwrap();
        let power = tilted_power(&logs, trials, tilt).unwrap();
        for offset in [-200.0, -3.0, 0.0, 50.0] {
            let successes = wanted + offset;
            let exact = ln_binomial(trials as f64, successes)
                + successes * logs[1]
                + (trials as f64 - successes) * logs[0];
            let (low, high) = power.log_bounds(successes as usize).unwrap();
            // The oracle itself is a difference of large logarithms.
            let own = 1e-14 * trials as f64;
            assert!(low - own <= exact && exact <= high + own, "{low} {exact} {high}");
        }
        let (low, high) = power.log_bounds(wanted as usize).unwrap();
        assert!(high - low < 1e-6, "{}", high - low);
    }
}

#[test]
fn lengths_that_cannot_be_are_refused() {
    assert!(Cyclic::new(0).is_none() && Cyclic::new(3).is_none() && Cyclic::new(2 * LONGEST).is_none());
    assert!(convolve(&[], &[1.0]).is_none() && convolve(&[1.0], &[]).is_none());
    assert!(tilted_power(&[], 3, 0.0).is_none() && tilted_power(&[0.0, 0.0], u64::MAX, 0.0).is_none());
    assert!(tilted_power(&[f64::NEG_INFINITY; 3], 3, 0.0).is_none());
    assert!(saddle_tilt(&[0.0], 0.0).is_none() && saddle_tilt(&[0.0, 0.0], 1.5).is_none());
    assert!(
        saddle_tilt(&[0.0, f64::NEG_INFINITY], 0.5).is_none() && saddle_tilt(&[0.0, 0.0], f64::NAN).is_none()
    );
}

#[test]
fn not_a_number_in_is_no_bound_out() {
    let estimate = convolve(&[1.0, f64::NAN], &[1.0, 1.0]).unwrap();
    assert!(!estimate.error.is_finite());
    let nothing = convolve(&[0.0, 0.0], &[1.0, 1.0]).unwrap();
    assert!(nothing.error.is_finite() && nothing.values.iter().all(|value| value.abs() <= nothing.error));
}

/// Long sequences wrap around, and a power of a cyclic sequence equals repeated products.
#[test]
fn sequences_wrap_around() {
    let cyclic = Cyclic::new(8).unwrap();
    let long: Vec<f64> = (0..19).map(f64::from).collect();
    let spectrum = cyclic.spectrum(long);
    let once = cyclic.powers(&[(&spectrum, 1)]);
    // 0 + 8 + 16, 1 + 9 + 17, 2 + 10 + 18, 3 + 11, …
    let expected = [24.0, 27.0, 30.0, 14.0, 16.0, 18.0, 20.0, 22.0];
    for (got, expected) in once.values.iter().zip(expected) {
        assert!((got - expected).abs() <= once.error);
    }
    let unit = cyclic.powers(&[(&spectrum, 0)]);
    assert!((unit.values[0] - 1.0).abs() <= unit.error && unit.values[1].abs() <= unit.error);
}

proptest! {
    /// Against the definition, in f64 with its own small error, for the powers that take different paths.
    #[test]
    fn powers_agree_with_the_definition(
        sequence in prop::collection::vec(0.0_f64..1.0, 1..6),
        power in prop::sample::select(vec![0_u64, 1, 2, 3, 17, 64, 65, 100]),
    ) {
        let total: f64 = sequence.iter().sum::<f64>() + 1e-3;
        let weights: Vec<f64> = sequence.iter().map(|value| value / total).collect();
        let mut direct = vec![1.0];
        for _ in 0..power {
            let mut next = vec![0.0; direct.len() + weights.len() - 1];
            for (i, x) in direct.iter().enumerate() {
                for (j, y) in weights.iter().enumerate() {
                    next[i + j] += x * y;
                }
            }
            direct = next;
        }
        let cyclic = Cyclic::new(1024).unwrap();
        let spectrum = cyclic.spectrum(weights);
        let estimate = cyclic.powers(&[(&spectrum, power)]);
        for (index, got) in estimate.values.iter().enumerate() {
            let expected = direct.get(index).copied().unwrap_or(0.0);
            prop_assert!((got - expected).abs() <= estimate.error + 1e-14 * expected);
        }
    }

    #[test]
    fn any_bits_are_answered(bits in prop::collection::vec(any::<u64>(), 1..9), power in any::<u64>(), tilt in any::<u64>()) {
        let values: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
        let estimate = convolve(&values, &values).unwrap();
        prop_assert_eq!(estimate.values.len(), 2 * values.len() - 1);
        let _ = saddle_tilt(&values, f64::from_bits(tilt));
        let _ = tilted_power(&values, power % 1000, f64::from_bits(tilt));
    }
}

/// e^(−2πik/N), wrong by little more than the rounding of its parts: the angle is carried at twice the precision of f64.
fn root(k: usize, length: usize) -> (f64, f64) {
    /// 2π − fl(2π).
    const REST: f64 = 2.449_293_598_294_706_4e-16;
    let share = (k % length) as f64 / length as f64;
    // The nearest quarter turn is taken off exactly.
    let quarters = (4.0 * share).round();
    let share = share - quarters / 4.0;
    let angle = std::f64::consts::TAU * share;
    let rest = std::f64::consts::TAU.mul_add(share, -angle) + REST * share;
    let (sine, cosine) = angle.sin_cos();
    let (sine, cosine) = (rest.mul_add(cosine, sine), (-rest).mul_add(sine, cosine));
    match quarters as i64 {
        0 | 4 => (cosine, -sine),
        1 => (-sine, -cosine),
        2 => (-cosine, sine),
        _ => (sine, cosine),
    }
}

/// What a transform makes of a single 1 at `index`: the weights of single paths. The largest error in units of 2⁻⁵³.
fn largest_error(length: usize, index: usize) -> f64 {
    let mut values = vec![0.0; length];
    values[index] = 1.0;
    let spectrum = Cyclic::new(length).unwrap().spectrum(values);
    let error = |(k, bin): (usize, (f64, f64))| {
        let (re, im) = root(k * index, length);
        (bin.0 - re).hypot(bin.1 - im)
    };
    spectrum.bins().enumerate().map(error).fold(0.0, f64::max) * 2.0 / f64::EPSILON
}

/// Index 1 shows the roots of the step that takes the halves apart, index 2 those of the first step of the complex transform.
#[test]
fn roots_of_unity_are_as_near_as_the_bound_assumes() {
    let mut worst: f64 = 0.0;
    for power in 2..=18 {
        for index in [1, 2] {
            worst = worst.max(largest_error(1 << power, index % (1 << power)));
        }
    }
    // The bound's 7.7, and a little for the reference. Were they within 1, as one might assume, this test would not see it.
    assert!((2.0..8.5).contains(&worst), "{worst}");
}

/// Every path of short transforms, many of long ones.
#[test]
fn single_paths_are_within_the_bound() {
    for power in 1..=16_u32 {
        let length = 1_usize << power;
        let stride = (length / 64).max(1) | 1;
        let bound = 9.0 * (f64::from(power) + 2.0);
        let worst = (0..length).step_by(stride).map(|index| largest_error(length, index)).fold(0.0, f64::max);
        assert!(worst < bound, "{length}: {worst} of {bound}");
    }
}
