//! Sums every term in plain arithmetic and compares.

use super::*;

#[test]
fn tails_are_those_of_the_whole_sum() {
    for (trials, p) in [(1_u32, 0.3_f64), (40, 0.1), (300, 0.5), (2000, 0.004), (5000, 0.9)] {
        // Masses from the mode outward, then normalised.
        let mode = (f64::from(trials) * p) as u32;
        let mut masses = vec![0.0_f64; trials as usize + 1];
        masses[mode as usize] = 1.0;
        for k in mode..trials {
            let ratio = p / (1.0 - p) * f64::from(trials - k) / f64::from(k + 1);
            masses[k as usize + 1] = masses[k as usize] * ratio;
        }
        for k in (0..mode).rev() {
            let ratio = p / (1.0 - p) * f64::from(trials - k) / f64::from(k + 1);
            masses[k as usize] = masses[k as usize + 1] / ratio;
        }
        let whole: f64 = masses.iter().sum();
        for least in [0, 1, mode / 2, mode, mode + 1, mode + 30, trials, trials + 1] {
            let from = (least as usize).min(masses.len());
            let yes = masses[from..].iter().rev().sum::<f64>() / whole;
            let no = masses[..from].iter().sum::<f64>() / whole;
            let found = at_least(f64::from(trials), p, f64::from(least));
            for ((low, high), truth) in [(found.yes, yes), (found.no, no)] {
                // The plain sums are good to some 1e-12 of themselves.
                assert!(low <= truth * (1.0 + 1e-11), "{trials} {p} {least}: {low:e} {truth:e}");
                assert!(truth <= high * (1.0 + 1e-11) + 1e-300, "{trials} {p} {least}: {truth:e} {high:e}");
                assert!(high - low <= 1e-8 * high.max(f64::MIN_POSITIVE) + 1e-300, "{low:e} {high:e}");
            }
        }
    }
}
