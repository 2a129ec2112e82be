//! Uses permits in every adaptive order, and looks for records on a Poisson batch that are worse than antipodal ones.

use super::*;
use crate::mechanisms::{Bernoulli, Gaussian};
use crate::{Probability, Rate, Ratio, Sampling};

/// A bit: 1 with probability p on one data set and q on the other.
type Bit = (f64, f64);

/// Σ max(0, P − a·Q) over all answers, for the worst way to choose every next permit in view of the answers so far.
fn adaptive(bits: [Bit; 2], left: [u64; 2], (p, q): (f64, f64), a: f64) -> f64 {
    let mut worst = (p - a * q).max(0.0);
    for line in 0..2 {
        if left[line] > 0 {
            let mut rest = left;
            rest[line] -= 1;
            let (one, other) = bits[line];
            let after = adaptive(bits, rest, (p * one, q * other), a)
                + adaptive(bits, rest, (p * (1.0 - one), q * (1.0 - other)), a);
            worst = worst.max(after);
        }
    }
    worst
}

/// The same for all permits in a fixed order.
fn fixed(bits: &[Bit], (p, q): (f64, f64), a: f64) -> f64 {
    match bits {
        [] => (p - a * q).max(0.0),
        [(one, other), rest @ ..] => {
            fixed(rest, (p * one, q * other), a) + fixed(rest, (p * (1.0 - one), q * (1.0 - other)), a)
        }
    }
}

#[test]
fn no_adaptive_order_of_permits_reveals_more_than_all_of_them() {
    for (first, second) in [((0.6, 0.5), (0.2, 0.3)), ((0.9, 0.8), (0.5, 0.35)), ((0.05, 0.01), (0.5, 0.45))]
    {
        let (bits, steps) = ([first, second], [3, 2]);
        let cost = |(p, q): Bit| {
            let (p, q) = (Probability::new(p).unwrap(), Probability::new(q).unwrap());
            Cost::new(Bernoulli { p, q }, Sampling::Full, Neighbours::Substitute).unwrap()
        };
        let contract =
            Contract::new(vec![(cost(first), Steps(steps[0])), (cost(second), Steps(steps[1]))]).unwrap();
        let all = [first, first, first, second, second];
        for epsilon in [0.0_f64, 0.1, 0.4, 1.0] {
            let found = adaptive(bits, steps, (1.0, 1.0), epsilon.exp());
            let product = fixed(&all, (1.0, 1.0), epsilon.exp());
            assert!((found - product).abs() < 1e-12, "{found} {product}");
            let mirrored = bits.map(|(p, q)| (q, p));
            let worse = found.max(adaptive(mirrored, steps, (1.0, 1.0), epsilon.exp()));
            let sold = contract.delta(Epsilon::new(epsilon).unwrap()).unwrap().upper;
            assert!(worse <= sold + 1e-14, "{first:?} {second:?} {epsilon}: {worse} sold at {sold}");
        }
    }
}

/// H_a of (1−q)N(0)+qN(x) against (1−q)N(0)+qN(x') in the plane, on a fine grid; noise 1.
fn excess(rate: f64, x: (f64, f64), other: (f64, f64), a: f64) -> f64 {
    let step = 0.05;
    let normal = |dx: f64, dy: f64| (-0.5 * (dx * dx + dy * dy)).exp() / std::f64::consts::TAU;
    let range = || (-180..=180).map(|i| step * f64::from(i));
    let mut sum = 0.0;
    for (u, v) in range().flat_map(|u| range().map(move |v| (u, v))) {
        let density = |(cx, cy): (f64, f64)| (1.0 - rate) * normal(u, v) + rate * normal(u - cx, v - cy);
        sum += (density(x) - a * density(other)).max(0.0);
    }
    sum * step * step
}

#[test]
fn no_pair_of_records_on_a_poisson_batch_is_worse_than_an_antipodal_one() {
    let (rate, length) = (0.3, 1.5);
    // The sensitivity of exchanging two records of this length, over noise 1.
    let gaussian = Gaussian { ratio: Ratio::new(1.0 / (2.0 * length)).unwrap() };
    let sampling = Sampling::Poisson { rate: Rate::new(rate).unwrap() };
    let cost = Cost::new(gaussian, sampling, Neighbours::Substitute).unwrap();
    let contract = Contract::new(vec![(cost, Steps(1))]).unwrap();
    for epsilon in [0.0, 0.3, 1.0] {
        let sold = contract.delta(Epsilon::new(epsilon).unwrap()).unwrap().upper;
        let at = |angle: f64, size: f64| (size * angle.cos(), size * angle.sin());
        let mut most: f64 = 0.0;
        for (angle, sizes) in
            (0..=8).flat_map(|k| [(1.0, 1.0), (1.0, 0.6), (0.6, 1.0), (1.0, 0.0), (0.0, 1.0)].map(|s| (k, s)))
        {
            let angle = std::f64::consts::PI * f64::from(angle) / 8.0;
            let (x, other) = (at(0.0, sizes.0 * length), at(angle, sizes.1 * length));
            let found = excess(rate, x, other, epsilon.exp());
            assert!(found <= sold + 1e-4, "{epsilon} {x:?} {other:?}: {found} sold at {sold}");
            most = most.max(found);
        }
        assert!(most > sold - 1e-3, "{epsilon}: {most} of {sold}");
    }
}
