//! Holds priors against dual numbers, quadrature and their own draws.

use num_dual::{DualNum, second_derivative};

use super::*;

const ALL: [Prior; 6] = [
    Prior::Normal { mean: 0.5, sd: 2.0 },
    Prior::StudentT { degrees: 4.0, location: -0.5, scale: 1.5 },
    Prior::Cauchy { location: 1.0, scale: 0.5 },
    Prior::HalfNormal { scale: 1.25 },
    Prior::Exponential { rate: 0.75 },
    Prior::Flat,
];

/// The kernel of each density, written with products and powers instead of logarithms.
fn log_kernel<D: DualNum<Primitive = f64> + Copy>(prior: &Prior, x: D) -> D {
    match *prior {
        Prior::Normal { mean, sd } => ((x - mean) / sd).powi(2) * -0.5,
        Prior::StudentT { degrees, location, scale } => {
            (((x - location) / scale).powi(2) / degrees + 1.0).powf(-0.5 * (degrees + 1.0)).ln()
        }
        Prior::Cauchy { location, scale } => (((x - location) / scale).powi(2) + 1.0).recip().ln(),
        Prior::HalfNormal { scale } => (x / scale).powi(2) * -0.5,
        Prior::Exponential { rate } => x * -rate,
        Prior::Flat => x * 0.0,
    }
}

#[test]
fn derivatives_agree_with_dual_numbers() {
    for prior in ALL {
        for x in [0.01, 0.3, 0.9, 1.7, 6.5] {
            let (_, first, second) = second_derivative(|x| log_kernel(&prior, x), x);
            assert!((prior.derivative(x) - first).abs() < 1e-13 * (1.0 + first.abs()));
            assert!((prior.second_derivative(x) - second).abs() < 1e-13 * (1.0 + second.abs()));
        }
    }
}

#[test]
fn densities_integrate_to_one() {
    // x = sinh(sinh(t)) makes the integrand vanish doubly exponentially: the trapezoid rule is then exact
    // to rounding even for Cauchy tails.
    for prior in ALL.into_iter().filter(|prior| *prior != Prior::Flat) {
        let step = 1.0 / 512.0;
        let total: f64 = (-3000..=3000)
            .map(|k| {
                let t = f64::from(k) * step;
                let (x, slope) = (t.sinh().sinh(), t.sinh().cosh() * t.cosh());
                // Positive densities: half a line, so substitute x = e^y first.
                let (x, slope) = if prior.is_positive() { (x.exp(), slope * x.exp()) } else { (x, slope) };
                let term = prior.log_density(x).exp() * slope;
                if term.is_finite() { term * step } else { 0.0 }
            })
            .sum();
        assert!((total - 1.0).abs() < 1e-10, "{prior:?}: {total}");
    }
}

#[test]
fn draws_follow_the_density() {
    for prior in ALL.into_iter().filter(|prior| *prior != Prior::Flat) {
        let uniform = &mut crate::check::uniform(7);
        let mut draws: Vec<f64> = (0..20_000).map(|_| prior.sample(uniform).unwrap()).collect();
        draws.sort_by(f64::total_cmp);
        let below = |x: f64| {
            let low = if prior.is_positive() { 0.0 } else { -4000.0 };
            let steps = 200_000;
            let step = (x - low) / f64::from(steps);
            (0..steps).map(|k| prior.log_density(low + (f64::from(k) + 0.5) * step).exp() * step).sum::<f64>()
        };
        for quantile in [0.1, 0.3, 0.5, 0.7, 0.9] {
            let x = draws[(quantile * 20_000.0) as usize];
            // The level of a sample quantile has standard error √(q(1−q)/n) ≤ 0.0036; five of them.
            assert!((below(x) - quantile).abs() < 0.018, "{prior:?} at {quantile}: {}", below(x));
        }
    }
    assert!(Prior::Flat.sample(&mut crate::check::uniform(1)).is_none());
}

#[test]
fn nonsense_is_refused() {
    let bad = [
        Prior::Normal { mean: f64::NAN, sd: 1.0 },
        Prior::Normal { mean: 0.0, sd: 0.0 },
        Prior::StudentT { degrees: -1.0, location: 0.0, scale: 1.0 },
        Prior::StudentT { degrees: 3.0, location: 0.0, scale: f64::INFINITY },
        Prior::Cauchy { location: f64::INFINITY, scale: 1.0 },
        Prior::HalfNormal { scale: -1.0 },
        Prior::Exponential { rate: f64::NAN },
    ];
    for prior in bad {
        assert!(matches!(prior.checked("prior"), Err(Error::Key { key: "prior", .. })));
    }
    for prior in ALL {
        assert_eq!(prior.checked("prior"), Ok(prior));
    }
    assert_eq!(Prior::HalfNormal { scale: 1.0 }.log_density(-0.1), f64::NEG_INFINITY);
}
