//! Holds the penalty test under discrete noise to detailed balance: the discrete Gaussian, exactly where σ²/u is whole, and the rounded normal.

use barkeep_accounting::Rule;
use barkeep_num::normal_cdf;

/// A law on the integers, far enough into the tails.
struct Law(Vec<(f64, f64)>);

impl Law {
    /// The discrete Gaussian of standard deviation parameter s.
    fn discrete_gaussian(s: f64) -> Self {
        let all: Vec<(f64, f64)> = integers(s).map(|z| (z, (-z * z / (2.0 * s * s)).exp())).collect();
        let total: f64 = all.iter().map(|(_, weight)| weight).sum();
        Self(all.into_iter().map(|(z, weight)| (z, weight / total)).collect())
    }

    /// A normal of standard deviation s, rounded: what the curator draws.
    fn rounded_normal(s: f64) -> Self {
        let weight = |z: f64| normal_cdf((0.5 - z.abs()) / s) - normal_cdf((-0.5 - z.abs()) / s);
        Self(integers(s).map(|z| (z, weight(z))).collect())
    }

    /// The penalty's probability of acceptance where noise is u times a draw of this law.
    fn accepts(&self, log_ratio: f64, unit: f64, sigma: f64) -> f64 {
        let one =
            |(z, weight): &(f64, f64)| weight * (log_ratio + unit * z - 0.5 * sigma * sigma).exp().min(1.0);
        self.0.iter().map(one).sum()
    }

    /// The largest |ln a(λ) − ln(e^λ·a(−λ))|.
    fn off(&self, unit: f64, sigma: f64) -> f64 {
        let off = |log_ratio: f64| {
            (self.accepts(log_ratio, unit, sigma) / self.accepts(-log_ratio, unit, sigma)).ln() - log_ratio
        };
        (0..40).map(|k| off(0.1 * f64::from(k) + 0.03).abs()).fold(0.0, f64::max)
    }
}

fn integers(s: f64) -> impl Iterator<Item = f64> {
    let most = (40.0 * s).ceil() as i64 + 40;
    (-most..=most).map(|z| z as f64)
}

#[test]
fn a_discrete_gaussian_keeps_detailed_balance_where_the_variance_is_whole() {
    // σ²/u = 1, 2 and 6: lattices so coarse that hardly any noise is left between their points.
    for (unit, sigma) in [(1.0, 1.0), (0.5, 1.0), (1.5, 3.0)] {
        let off = Law::discrete_gaussian(sigma / unit).off(unit, sigma);
        assert!(off < 1e-12, "u = {unit}, σ = {sigma}: {off}");
    }
}

#[test]
fn elsewhere_it_is_off_by_no_more_than_the_bound() {
    let mut seen = 0.0_f64;
    for (unit, sigma) in [(1.3, 1.0), (0.9, 0.5), (2.1, 1.0), (1.0, 1.1), (0.7, 1.0)] {
        let law = Law::discrete_gaussian(sigma / unit);
        let bound = unit / (sigma * (2.0 * std::f64::consts::PI).sqrt());
        for k in 0..40 {
            let log_ratio = 0.1 * f64::from(k) + 0.03;
            let back = log_ratio.exp() * law.accepts(-log_ratio, unit, sigma);
            let off = (law.accepts(log_ratio, unit, sigma) - back).abs();
            assert!(off <= bound, "u = {unit}, σ = {sigma}, λ = {log_ratio}: {off} above {bound}");
            seen = seen.max(off);
        }
    }
    // The bound is not met for want of anything to see.
    assert!(seen > 1e-3, "{seen}");
}

#[test]
fn a_rounded_normal_is_off_by_no_more_than_its_lattice() {
    for (unit, sigma) in [(1.0, 1.0), (0.5, 1.0), (0.1, 1.0), (0.01, 0.5)] {
        let law = Law::rounded_normal(sigma / unit);
        assert!(law.off(unit, sigma) <= unit, "u = {unit}, σ = {sigma}");
        // As near the rule itself, which the noise is drawn for.
        let rule = Rule::Penalty { sigma };
        for log_ratio in [-2.0, -0.3, 0.0, 0.4, 1.7] {
            let (exact, found) = (rule.coin(log_ratio, 0.0).accept(), law.accepts(log_ratio, unit, sigma));
            assert!((found / exact).ln().abs() <= 0.5 * unit + 1e-9, "{log_ratio}: {found} against {exact}");
        }
    }
}
