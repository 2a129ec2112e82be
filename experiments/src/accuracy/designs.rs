//! Simulates regressions to hold plans to: skewed and correlated columns, rare levels, every family and link.

use super::lookalikes::{LookAlike, exponential, level};
use barkeep::PublicRng;

/// A design at one budget.
pub(crate) struct Design {
    pub(crate) records: LookAlike,
    pub(crate) epsilon: f64,
    /// Whether it had been measured, and was looked at, when the forecast of scores was written.
    pub(crate) seen: bool,
}

/// A design that was measured before the forecast was written.
const fn seen(design: Design) -> Design {
    Design { seen: true, ..design }
}

const fn design(
    epsilon: f64,
    name: &'static str,
    text: &'static str,
    record: fn(&mut PublicRng) -> Vec<f64>,
    truth: &'static [f64],
) -> Design {
    Design { records: LookAlike { name, text, record, truth: Some(truth) }, epsilon, seen: false }
}

/// A design whose records have responses of their own, which do not follow the family.
const fn astray(
    epsilon: f64,
    name: &'static str,
    text: &'static str,
    record: fn(&mut PublicRng) -> Vec<f64>,
) -> Design {
    Design { records: LookAlike { name, text, record, truth: None }, epsilon, seen: false }
}

/// All of them; responses follow their families, but for those of the last four.
pub(crate) static DESIGNS: [Design; 20] = [
    seen(design(3.0, "clicks: logistic, n = 500, skewed and rare", CLICKS, click, &[-0.6, 1.2, 0.8, -0.9])),
    seen(design(1.0, "probit, n = 2000, columns of correlation 0.8", PROBIT, probit, &[0.3, 0.8, -0.5, 0.4])),
    seen(design(
        0.3,
        "logistic, n = 30 000, factor with a rare level",
        LARGE,
        large,
        &[-1.0, 1.5, 0.4, 0.3, -0.4, 0.2, 0.5],
    )),
    seen(design(
        1.0,
        "accidents: poisson with exposure, n = 3000",
        ACCIDENTS,
        accident,
        &[-0.3, 0.9, 0.4, -0.3],
    )),
    design(1.0, "shops: negative binomial, n = 10 000", SHOPS, shop, &[1.2, 0.9, -0.4, 0.3, 0.4]),
    seen(design(
        3.0,
        "gaussian, n = 500, columns of correlation 0.6",
        SMALL,
        small,
        &[2.0, 1.5, -1.0, 0.6, 0.0],
    )),
    seen(design(1.0, "gaussian, n = 30 000, rare level", RARE, rare, &[5.0, 2.0, -1.0, 0.5, 1.0, 0.4])),
    design(1.0, "durations: gamma, n = 5000, two flags", DURATIONS, duration, &[1.0, 0.8, 0.4, -0.3, 0.7]),
    design(1.0, "student_t, n = 8000", STUDENT, small, &[2.0, 1.5, -1.0, 0.6, -0.2]),
    design(1.0, "passes: binomial of 1 to 20 trials, n = 2000", PASSES, pass, &[0.4, 0.9, -0.5]),
    design(1.0, "waits: exponential, n = 4000", WAITS, probit, &[0.5, 0.6, -0.4, 0.3]),
    design(0.3, "counts: poisson, n = 20 000, skewed", COUNTS, click, &[0.4, 1.2, 0.5, -0.5]),
    design(3.0, "curve: gaussian with a square, n = 5000", CURVE, curve, &[1.0, 1.5, 0.8, 0.7, 0.2]),
    design(3.0, "logistic with an interaction, n = 1500", CROSSED, click, &[-0.3, 0.9, 0.5, -0.7, 0.6]),
    design(1.0, "leaks: logistic, n = 8000, skewed", LEAKS, click, &[-1.2, 1.1, -0.4, 0.8]),
    design(0.3, "probit, n = 6000, columns of correlation 0.8", PROBITS, probit, &[-0.2, 0.6, 0.4, -0.7]),
    astray(1.0, "bent: logistic, n = 5000, a curve fitted by a line", BENT, bent),
    astray(1.0, "heavy: gaussian, n = 3000, errors of Student's t", HEAVY, heavy),
    astray(1.0, "crowds: poisson, n = 4000, counts spread twice as far", CROWDS, crowd),
    astray(3.0, "skewed: gamma, n = 3000, a lognormal", SKEWED, skewed),
];

const LEAKS: &str = "[data]\npath = 'simulated'\nrecords = 8000\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = 0, max = 8, invalid = 1, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
c = { min = -4, max = 4, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

const PROBITS: &str = "[data]\npath = 'simulated'\nrecords = 6000\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
c = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'bernoulli'\nlink = 'probit'\n[privacy]\nepsilon = 0.3\ndelta = 1e-6\n";

const BENT: &str = "[data]\npath = 'simulated'\nrecords = 5000\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

/// y, whose logit bends with a, and two normal columns.
fn bent(rng: &mut PublicRng) -> Vec<f64> {
    let (a, b) = (rng.normal().clamp(-3.0, 3.0), rng.normal().clamp(-3.0, 3.0));
    let eta = -0.8 + 0.7 * a + 0.5 * a * a - 0.4 * b;
    vec![f64::from(u8::from(rng.open_uniform() < 1.0 / (1.0 + (-eta).exp()))), a, b]
}

const HEAVY: &str = "[data]\npath = 'simulated'\nrecords = 3000\n[data.columns]
y = { min = -15, max = 15, invalid = 0 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b'\nfamily = 'gaussian'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

/// y with errors of Student's t of 4 degrees of freedom, and two normal columns.
fn heavy(rng: &mut PublicRng) -> Vec<f64> {
    let (a, b) = (rng.normal().clamp(-3.0, 3.0), rng.normal().clamp(-3.0, 3.0));
    let square = 0.5 * (exponential(rng) + exponential(rng));
    let y = 0.5 + 0.6 * a - 0.3 * b + rng.normal() / square.sqrt();
    vec![y.clamp(-15.0, 15.0), a, b]
}

const CROWDS: &str = "[data]\npath = 'simulated'\nrecords = 4000\n[data.columns]
y = { kind = 'integer', min = 0, max = 60, invalid = 0 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b'\nfamily = 'poisson'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

/// y, a Poisson count around a gamma of shape 2 whose mean is about 2, and two normal columns.
fn crowd(rng: &mut PublicRng) -> Vec<f64> {
    let (a, b) = (rng.normal().clamp(-3.0, 3.0), rng.normal().clamp(-3.0, 3.0));
    let mean = (0.7 + 0.3 * a - 0.2 * b).exp() * 0.5 * (exponential(rng) + exponential(rng));
    // Poisson by the gaps between arrivals.
    let (mut count, mut time) = (0.0, exponential(rng));
    while time < mean && count < 60.0 {
        time += exponential(rng);
        count += 1.0;
    }
    vec![count, a, b]
}

const SKEWED: &str = "[data]\npath = 'simulated'\nrecords = 3000\n[data.columns]
y = { min = 0.01, max = 100, invalid = 1 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b'\nfamily = 'gamma'\n[privacy]\nepsilon = 3.0\ndelta = 1e-6\n";

/// y, whose logarithm is normal, and two normal columns.
fn skewed(rng: &mut PublicRng) -> Vec<f64> {
    let (a, b) = (rng.normal().clamp(-3.0, 3.0), rng.normal().clamp(-3.0, 3.0));
    vec![(0.8 + 0.4 * a + 0.2 * b + 0.7 * rng.normal()).exp().clamp(0.01, 100.0), a, b]
}

const CLICKS: &str = "[data]\npath = 'simulated'\nrecords = 500\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = 0, max = 8, invalid = 1, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
c = { min = -4, max = 4, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 3.0\ndelta = 1e-6\n";

const CROSSED: &str = "[data]\npath = 'simulated'\nrecords = 1500\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = 0, max = 8, invalid = 1, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
c = { min = -4, max = 4, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c + a:b'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 3.0\ndelta = 1e-6\n";

const COUNTS: &str = "[data]\npath = 'simulated'\nrecords = 20000\n[data.columns]
y = { kind = 'integer', min = 0, max = 40, invalid = 0 }
a = { min = 0, max = 8, invalid = 1, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
c = { min = -4, max = 4, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'poisson'\n[privacy]\nepsilon = 0.3\ndelta = 1e-8\n";

/// y, a skewed column, a rare flag, a normal column.
fn click(rng: &mut PublicRng) -> Vec<f64> {
    let a = exponential(rng).clamp(0.0, 8.0);
    let b = f64::from(u8::from(rng.open_uniform() < 0.15));
    vec![0.0, a, b, (1.2 * rng.normal()).clamp(-4.0, 4.0)]
}

const PROBIT: &str = "[data]\npath = 'simulated'\nrecords = 2000\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
c = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'bernoulli'\nlink = 'probit'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

const WAITS: &str = "[data]\npath = 'simulated'\nrecords = 4000\n[data.columns]
y = { min = 0.001, max = 50, invalid = 1 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
c = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'exponential'\n[privacy]\nepsilon = 1.0\ndelta = 1e-7\n";

/// y and three normal columns, each pair with this correlation.
fn correlated(rng: &mut PublicRng, correlation: f64) -> Vec<f64> {
    let shared = correlation.sqrt() * rng.normal();
    let mut cells = vec![0.0];
    cells.extend((0..3).map(|_| (shared + (1.0 - correlation).sqrt() * rng.normal()).clamp(-3.0, 3.0)));
    cells
}

fn probit(rng: &mut PublicRng) -> Vec<f64> {
    correlated(rng, 0.8)
}

const SMALL: &str = "[data]\npath = 'simulated'\nrecords = 500\n[data.columns]
y = { min = -10, max = 15, invalid = 2 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
c = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'gaussian'\n[privacy]\nepsilon = 3.0\ndelta = 1e-6\n";

const STUDENT: &str = "[data]\npath = 'simulated'\nrecords = 8000\n[data.columns]
y = { min = -10, max = 15, invalid = 2 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
c = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'student_t'\n[privacy]\nepsilon = 1.0\ndelta = 1e-7\n";

fn small(rng: &mut PublicRng) -> Vec<f64> {
    correlated(rng, 0.6)
}

const LARGE: &str = "[data]\npath = 'simulated'\nrecords = 30000\n[data.columns]
y = { kind = 'bool', invalid = false }
a = { min = 0, max = 20, invalid = 2, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
f = { kind = 'category', levels = ['p', 'q', 'r', 's', 't'], invalid = 'p' }
[model]\nformula = 'y ~ a + b + f'\nfamily = 'bernoulli'\n[privacy]\nepsilon = 0.3\ndelta = 1e-8\n";

/// y, a sum of two exponentials, a flag, a factor whose last level has one record in a hundred.
fn large(rng: &mut PublicRng) -> Vec<f64> {
    let a = (2.0 * (exponential(rng) + exponential(rng))).clamp(0.0, 20.0);
    let b = f64::from(u8::from(rng.open_uniform() < 0.4));
    vec![0.0, a, b, level(rng, &[0.4, 0.7, 0.9, 0.99])]
}

const ACCIDENTS: &str = "[data]\npath = 'simulated'\nrecords = 3000\n[data.columns]
y = { kind = 'integer', min = 0, max = 60, invalid = 0 }
a = { min = 0, max = 10, invalid = 1, scale = 'bounds' }
f = { kind = 'category', levels = ['p', 'q', 'r'], invalid = 'p' }
exposure = { min = -2, max = 2, invalid = 0 }
[model]\nformula = 'y ~ a + f + offset(exposure)'\nfamily = 'poisson'\n[privacy]\nepsilon = 1.0\ndelta = 1e-7\n";

/// y, a log-normal column, a factor, an offset.
fn accident(rng: &mut PublicRng) -> Vec<f64> {
    let a = (0.8 * rng.normal()).exp().clamp(0.0, 10.0);
    vec![0.0, a, level(rng, &[0.5, 0.85]), (0.6 * rng.normal()).clamp(-2.0, 2.0)]
}

const SHOPS: &str = "[data]\npath = 'simulated'\nrecords = 10000\n[data.columns]
y = { kind = 'integer', min = 0, max = 100, invalid = 0 }
a = { min = 0, max = 10, invalid = 1, scale = 'bounds' }
f = { kind = 'category', levels = ['p', 'q', 'r'], invalid = 'p' }
[model]\nformula = 'y ~ a + f'\nfamily = 'negative_binomial'\n[privacy]\nepsilon = 1.0\ndelta = 1e-8\n";

/// y, a log-normal column, a factor.
fn shop(rng: &mut PublicRng) -> Vec<f64> {
    let a = (0.8 * rng.normal()).exp().clamp(0.0, 10.0);
    vec![0.0, a, level(rng, &[0.5, 0.85])]
}

const RARE: &str = "[data]\npath = 'simulated'\nrecords = 30000\n[data.columns]
y = { min = -10, max = 20, invalid = 5 }
a = { min = 0, max = 10, invalid = 1, scale = 'bounds' }
f = { kind = 'category', levels = ['p', 'q', 'r', 's'], invalid = 'p' }
[model]\nformula = 'y ~ a + f'\nfamily = 'gaussian'\n[privacy]\nepsilon = 1.0\ndelta = 1e-8\n";

/// y, a log-normal column, a factor whose last level has two records in a hundred.
fn rare(rng: &mut PublicRng) -> Vec<f64> {
    let a = (0.8 * rng.normal()).exp().clamp(0.0, 10.0);
    vec![0.0, a, level(rng, &[0.5, 0.85, 0.98])]
}

const DURATIONS: &str = "[data]\npath = 'simulated'\nrecords = 5000\n[data.columns]
y = { min = 0.01, max = 100, invalid = 2 }
a = { min = 0, max = 8, invalid = 1, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
c = { kind = 'bool', invalid = false }
[model]\nformula = 'y ~ a + b + c'\nfamily = 'gamma'\n[privacy]\nepsilon = 1.0\ndelta = 1e-7\n";

/// y, a skewed column, two flags.
fn duration(rng: &mut PublicRng) -> Vec<f64> {
    let flag = |rng: &mut PublicRng, share: f64| f64::from(u8::from(rng.open_uniform() < share));
    vec![0.0, exponential(rng).clamp(0.0, 8.0), flag(rng, 0.5), flag(rng, 0.1)]
}

const PASSES: &str = "[data]\npath = 'simulated'\nrecords = 2000\n[data.columns]
y = { kind = 'integer', min = 0, max = 20, invalid = 0 }
taken = { kind = 'integer', min = 1, max = 20, invalid = 1 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
[model]\nformula = 'y | trials(taken) ~ a + b'\nfamily = 'binomial'\n[privacy]\nepsilon = 1.0\ndelta = 1e-6\n";

/// y, trials, a normal column, a flag.
fn pass(rng: &mut PublicRng) -> Vec<f64> {
    let trials = (1.0 + 20.0 * rng.open_uniform()).floor().min(20.0);
    vec![0.0, trials, rng.normal().clamp(-3.0, 3.0), f64::from(u8::from(rng.open_uniform() < 0.3))]
}

const CURVE: &str = "[data]\npath = 'simulated'\nrecords = 5000\n[data.columns]
y = { min = -8, max = 10, invalid = 1 }
a = { min = -3, max = 3, invalid = 0, scale = 'bounds' }
b = { kind = 'bool', invalid = false }
[model]\nformula = 'y ~ poly(a, 2) + b'\nfamily = 'gaussian'\n[privacy]\nepsilon = 3.0\ndelta = 1e-7\n";

/// y, a normal column, a flag.
fn curve(rng: &mut PublicRng) -> Vec<f64> {
    vec![0.0, rng.normal().clamp(-3.0, 3.0), f64::from(u8::from(rng.open_uniform() < 0.3))]
}
