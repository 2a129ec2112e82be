//! Holds each bound to what it bounds, computed with far more nodes.

use super::*;

fn pairs() -> Vec<NormalPair> {
    let mut pairs = Vec::new();
    for (shift, rate) in [(0.3, 0.01), (1.0, 0.2), (1.5, 1e-3), (0.7, 0.8), (0.5, 1.0)] {
        for kind in [Kind::Remove, Kind::Add] {
            pairs.push(NormalPair::new(kind, shift, rate));
        }
    }
    pairs
}

/// The rule on `parts` panels from y to z: ∫ n·m^β with β as for s + iω.
fn integral(pair: &NormalPair, (y, z): (f64, f64), (tilt, omega): (f64, f64), parts: u32) -> (f64, f64) {
    let (sign, power) = exponents(pair, tilt);
    let (mut re, mut im) = (0.0, 0.0);
    let half = 0.5 * (z - y) / f64::from(parts);
    for part in 0..parts {
        let middle = y + half * (2.0 * f64::from(part) + 1.0);
        for (node, weight) in SIXTEEN {
            for y in [middle - half * node, middle + half * node] {
                let (log_mixed, _) = mixture(pair, y);
                let weight = half * weight * (power * log_mixed - 0.5 * y * y - LOG_ROOT).exp();
                re += weight * (omega * sign * log_mixed).cos();
                im += weight * (omega * sign * log_mixed).sin();
            }
        }
    }
    (re, im)
}

#[test]
fn rule_is_exact_up_to_its_degree() {
    for degree in 0..32 {
        let power = |x: f64| x.powi(degree);
        let sum: f64 = SIXTEEN.iter().map(|(node, weight)| weight * (power(*node) + power(-node))).sum();
        let truth = if degree % 2 == 0 { 2.0 / f64::from(degree + 1) } else { 0.0 };
        assert!((sum - truth).abs() < 1e-15, "{degree}: {sum}");
    }
    let sum: f64 = SIXTEEN.iter().map(|(node, weight)| weight * 2.0 * node.powi(32)).sum();
    assert!((sum - 2.0 / 33.0).abs() > 1e-10);
}

/// Wide panels and fast phases, so that the rule is seen to fail, and never by more than was said.
#[test]
fn quadrature_errors_are_bounded() {
    let mut close: f64 = 0.0;
    for pair in pairs() {
        for (middle, half) in [(-3.0, 1.0), (0.0, 1.5), (1.0, 2.5), (4.0, 1.0), (2.0, 0.4)] {
            for tilt in [0.2, 3.0, 20.0] {
                for omega in [0.0, 5.0, 40.0, 300.0] {
                    let ends = (middle - half, middle + half);
                    let rough = integral(&pair, ends, (tilt, omega), 1);
                    let fine = integral(&pair, ends, (tilt, omega), 64);
                    let panel = Panel { pair, middle, half, weight: 0.0 };
                    let bound = panel.error(tilt, omega, 0.0);
                    let off = (rough.0 - fine.0).hypot(rough.1 - fine.1);
                    let size = integral(&pair, ends, (tilt, 0.0), 64).0;
                    assert!(
                        off <= bound + 1e-12 * size,
                        "{pair:?} {middle} {half} {tilt} {omega}: {off} {bound}"
                    );
                    if off > 1e-9 * size {
                        close = close.max(off / bound);
                    }
                }
            }
        }
    }
    // Nor by nothing compared with it.
    assert!(close > 1e-6, "{close}");
}

/// Bins at any ω, by nodes resolved far beyond, lie below the bounds for what is between two points and for what is far away.
#[test]
fn decay_is_bounded() {
    for pair in pairs().into_iter().filter(|pair| pair.rate < 1.0) {
        let branches = Branches { normal: vec![pair], atom: None };
        let tilt = 2.0;
        let (low, high) = (-9.0, 9.0 + pair.shift);
        let (mass, _) = integral(&pair, (low, high), (tilt, 0.0), 200);
        let moment = |power: i32| {
            let nodes = 2000;
            let (sign, exponent) = exponents(&pair, tilt);
            (0..nodes)
                .map(|index| {
                    let y = low + (high - low) * (f64::from(index) + 0.5) / f64::from(nodes);
                    let (log_mixed, _) = mixture(&pair, y);
                    (exponent * log_mixed - 0.5 * y * y - LOG_ROOT).exp() * (sign * log_mixed).powi(power)
                })
                .sum::<f64>()
                * (high - low)
                / f64::from(nodes)
        };
        let mean = moment(1) / mass;
        let deviation = (moment(2) / mass - mean * mean).sqrt();
        let range = Range {
            tilt,
            reach: 5.0 / deviation,
            depth: 40.0,
            top: 1e3,
            tolerance: 1e-13,
            decay: 0.5,
            log_scale: mass.ln(),
            mean,
            deviation,
        };
        let step = Characteristic::new(&branches, range, 0.1 / deviation).unwrap();
        let second = deviation * deviation;
        assert!(step.second >= second * (1.0 - 1e-9) && step.second < 1.5 * second, "{pair:?}");
        let size = |omega: f64| {
            let (re, im) = integral(&pair, (low, high), (tilt, omega), 200);
            re.hypot(im) / mass
        };
        for index in 1..40 {
            let omega = 0.3 * f64::from(index) / deviation;
            assert!(size(omega) <= step.variation / omega, "{pair:?} {index}");
            let (before, after) = (omega - 0.2 / deviation, omega + 0.2 / deviation);
            let square = |omega: f64| size(omega).powi(2);
            let bend = 0.25 * (0.4 / deviation).powi(2) * step.mass * step.second;
            assert!(square(omega) <= square(before).max(square(after)) + bend, "{pair:?} {index}");
        }
    }
}

/// Turning the nodes step by step ends where integrating anew does.
#[test]
fn turned_bins_are_within_their_errors() {
    let pair = NormalPair::new(Kind::Remove, 1.0, 0.05);
    let branches = Branches { normal: vec![pair], atom: None };
    let (tilt, top) = (4.0, 1.0);
    let range = Range {
        tilt,
        reach: 200.0,
        depth: 40.0,
        top,
        tolerance: 1e-14,
        decay: 0.9,
        log_scale: 0.01,
        mean: 0.02,
        deviation: 0.1,
    };
    let mut step = Characteristic::new(&branches, range, 0.7).unwrap();
    let end = pair.coordinate(step.ends.top);
    let beyond = pair.end(end, true);
    for turn in 0..280 {
        let omega = 0.7 * f64::from(turn);
        let (re, im) = integral(&pair, (-9.0, end), (tilt, omega), 400);
        let atom = (step.ends.top * (tilt + 1.0) + beyond.log_mass - beyond.loss).exp();
        let (re, im) = (re + atom * (omega * step.ends.top).cos(), im + atom * (omega * step.ends.top).sin());
        // Around the mean.
        let (cos, sin) = ((omega * range.mean).cos(), (omega * range.mean).sin());
        let scale = (-range.log_scale).exp();
        let truth = (scale * (re * cos + im * sin), scale * (im * cos - re * sin));
        let bin = step.bin();
        let off = (bin.re - truth.0).hypot(bin.im - truth.1);
        assert!(off <= bin.error + 1e-12, "{turn}: {off} {}", bin.error);
        assert!(bin.error < 1e-10);
        step.advance();
    }
}
