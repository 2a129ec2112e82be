//! Computes E e^(zL) of one step with Gaussian noise on a line of complex tilts z = s + iω, with a proved error.
//!
//! In the notation of [`normal`](super::normal) let n be the standard normal density and m = 1−q+q·r. A *branch* of losses ±ln m(y),
//! y from one end to another, adds ∫ n·m^β dy, with β = 1 + z for `Remove` (loss ln m, density n·m) and β = −z for `Add` (loss −ln m,
//! density n). Integrals are taken by a 16-point Gauss–Legendre rule on panels.
//!
//! # Proof of the errors
//! *Quadrature.* On a panel of middle x₀ and half-width h the integrand is analytic within the ellipse of foci x₀ ± h and semi-axes
//! u = h(ρ+1/ρ)/2, v = h(ρ−1/ρ)/2, as long as θ = cv < π/2: with w = qr/m between 0 and 1 at the real part x of a point x + it there,
//! m(x+it) = m(x)·(1 − w + w·e^(ict)), whose real part is positive. Hence
//!
//! - |n(x+it)| ≤ n(x)·e^(v²/2);
//! - |m(x+it)| ≤ m(x), and its square is m(x)²·(1 − 4w(1−w)·sin²(ct/2));
//! - |arg m| ≤ θ, and |tan arg m| = w·sin c|t|/(1 − w + w·cos ct) ≤ w·tan θ;
//! - |m^β| = |m|^(Re β)·e^(−Im β·arg m) ≤ |m|^(Re β)·e^(|ω|·|arg m|).
//!
//! Both m(x) and w grow with x, so their values at x₀ ± u bound the integrand by some M, and the rule is wrong by at most
//! 4.2·h·M·ρ^(−32)/(1−ρ^(−2)); see [`quadrature`](super::quadrature).
//!
//! *Rounding.* Weights and phases are wrong by a few units in the last place of the terms of their exponents; a rounded node y is the
//! right value at a point nearby. Turning a phase n times adds n times the error of one turn. All of it is charged with room to spare.
//!
//! *Large ω.* The loss has a density in its branch, n·m^β/|L'| with L' = cw. Its logarithm −y²/2 + (Re β + 1)·ln m − cy has the derivative
//! −y − c + (Re β + 1)·cw, a straight line and a multiple of a sigmoid: at most three zeros, so at most two maxima, ends included. A density
//! with two maxima below D varies by at most 4D in all, and its Fourier transform is at most 4D/ω.
//!
//! *In between.* C(ω) = |E e^(zL)|² = E cos(ω(L−L')), L' an independent copy, has |C''| ≤ E(L−L')² ≤ 2·m₀·m₂, with the mass m₀
//! and the second moment m₂ around any point. Between two points d apart it is at most the larger of the two values plus d²·m₀·m₂/4.
//! The second moment is bounded by x² ≤ (e^(ax) + e^(−ax) − 2)/a².

use std::f64::consts::PI;

use barkeep_num::vector::scalar::{exp, exp_m1, ln, ln_1p};
use barkeep_num::{log_add_exp, log1m_exp, vector};

use super::atoms::Atom;
use super::normal::{Kind, NormalPair};

/// Losses that have a density, branch by branch, and an atom besides.
#[derive(Debug, Clone)]
pub(super) struct Branches {
    pub(super) normal: Vec<NormalPair>,
    pub(super) atom: Option<Atom>,
}

/// What is wanted of a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// s.
    pub(super) tilt: f64,
    /// The largest ω for which the integrals are resolved.
    pub(super) reach: f64,
    /// Outputs of a density below e^(−depth) are left out.
    pub(super) depth: f64,
    /// Losses above this are capped.
    pub(super) top: f64,
    /// Error allowed to a panel.
    pub(super) tolerance: f64,
    /// Bins of this size are negligible after all steps.
    pub(super) decay: f64,
    /// About κ, the mean loss and its deviation after the tilt.
    pub(super) log_scale: f64,
    pub(super) mean: f64,
    pub(super) deviation: f64,
}

/// A panel with its nodes, and more than its weight.
#[derive(Debug, Clone, Copy)]
struct Panel {
    pair: NormalPair,
    middle: f64,
    half: f64,
    weight: f64,
}

/// The losses of one step as weighted nodes: p·e^(sℓ−κ) at ℓ − mean, turning with ω.
pub(super) struct Characteristic {
    range: Range,
    panels: Vec<Panel>,
    weights: Vec<f64>,
    losses: Vec<f64>,
    /// Weights times e^(iω(ℓ−mean)), and the factors of one turn.
    turned: Complexes,
    turn: Complexes,
    /// Turns made so far, and by one factor.
    turns: f64,
    stride: f64,
    spacing: f64,
    /// Rounding of a sum of weights, and of phases for each unit of ω.
    rounding: f64,
    phase_rounding: f64,
    /// The largest relative rounding of a weight.
    roughest: f64,
    /// At least the mass and the second moment around the mean, of all weights.
    pub(super) mass: f64,
    pub(super) second: f64,
    /// At least the weight of atoms, and 4D summed over branches.
    pub(super) still: f64,
    pub(super) variation: f64,
    /// What was left out or capped.
    pub(super) ends: Ends,
}

/// What is not among the nodes, as logarithms of masses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends {
    /// At least what was left out; it may have any loss.
    pub(super) dropped: f64,
    /// What capping put at infinity, from above and from below.
    pub(super) infinite: (f64, f64),
    /// At least the mass of capped losses, and where they were capped.
    pub(super) capped: f64,
    pub(super) top: f64,
}

/// Real and imaginary parts apart, for loops without shuffles.
#[derive(Debug, Clone, Default)]
struct Complexes {
    re: Vec<f64>,
    im: Vec<f64>,
}

/// A value and a bound on its error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bin {
    pub(super) re: f64,
    pub(super) im: f64,
    pub(super) error: f64,
}

impl Bin {
    pub(super) fn size(&self) -> f64 {
        (self.re * self.re + self.im * self.im).sqrt()
    }
}

/// Roundings charged: 32·2⁻⁵³.
const UNIT: f64 = 16.0 * f64::EPSILON;

/// Rounding charged to a turn: 8·2⁻⁵³.
const TURN: f64 = 4.0 * f64::EPSILON;

/// The largest relative rounding of a weight.
const ROUGHEST: f64 = 1e-10;

/// Likelihood ratios stay below e^this.
const LARGEST_RATIO: f64 = 600.0;

/// Semi-axes tried, as sums relative to the half-width.
const ELLIPSES: [f64; 4] = [3.0, 5.0, 8.0, 14.0];

/// Half-widths of panels, in noise units, and the most panels.
const WIDEST: f64 = 1.6;
const NARROWEST: f64 = 1e-4;
const MOST_PANELS: usize = 4000;

/// The positive nodes and the weights of the rule of 16 points on [−1, 1].
pub(super) const SIXTEEN: [(f64, f64); 8] = [
    (0.9894009349916499, 0.027152459411754096),
    (0.9445750230732326, 0.062253523938647894),
    (0.8656312023878318, 0.09515851168249279),
    (0.755404408355003, 0.12462897125553388),
    (0.6178762444026438, 0.14959598881657674),
    (0.45801677765722737, 0.16915651939500254),
    (0.2816035507792589, 0.18260341504492358),
    (0.09501250983763744, 0.1894506104550685),
];

/// ln √(2π).
const LOG_ROOT: f64 = 0.918_938_533_204_672_7;

/// Distance of the coordinates at which a density is looked at.
const SCANNED: f64 = 0.125;

/// How far beyond where the variation takes over panels are resolved, and how well, relative to what the bins must have decayed by.
const WIDER: f64 = 1.1;
const ROUGH: f64 = 1e-3;

/// ln m and w at a coordinate.
fn mixture(pair: &NormalPair, y: f64) -> (f64, f64) {
    let (c, q) = (pair.shift, pair.rate);
    let exponent = c * (y - 0.5 * c);
    if q == 1.0 {
        (exponent, 1.0)
    } else if q <= 0.5 || exponent > -0.5 {
        let excess = exp_m1(exponent);
        (ln_1p(q * excess), q * (excess + 1.0) / (1.0 + q * excess))
    } else {
        let (rest, shifted) = (1.0 - q, q * exp(exponent));
        (ln(rest + shifted), shifted / (rest + shifted))
    }
}

/// The sign of the loss beside ln m, and Re β.
fn exponents(pair: &NormalPair, tilt: f64) -> (f64, f64) {
    if pair.kind == Kind::Add { (-1.0, -tilt) } else { (1.0, 1.0 + tilt) }
}

impl Panel {
    /// By how much the rule may be wrong on this panel, with weights p·e^(tℓ−κ) and phases e^(iωℓ).
    fn error(&self, tilt: f64, omega: f64, log_scale: f64) -> f64 {
        let Self { pair, middle, half, .. } = *self;
        let (_, power) = exponents(&pair, tilt);
        let bound = |ellipse: f64| {
            let (u, v) = (0.5 * half * (ellipse + 1.0 / ellipse), 0.5 * half * (ellipse - 1.0 / ellipse));
            let theta = pair.shift * v;
            if theta > 1.2 || pair.shift * (middle + u).abs() > LARGEST_RATIO {
                return f64::INFINITY;
            }
            let (low, high) = (middle - u, middle + u);
            let nearest = 0.0_f64.clamp(low, high);
            let (log_high, share) = mixture(&pair, high);
            let log_mixed = if power >= 0.0 {
                power * log_high
            } else {
                let dent = (4.0 * share).min(1.0) * libm::pow(libm::sin(0.5 * theta), 2.0);
                power * (mixture(&pair, low).0 + 0.5 * ln_1p(-dent))
            };
            let angle = theta.min(share * libm::tan(theta));
            let log = 0.5 * (v * v - nearest * nearest) + log_mixed + omega * angle - log_scale;
            // 1.001 for the rounding of all this.
            let rule = 4.2 * half / (2.0 * PI).sqrt() / (1.0 - 1.0 / (ellipse * ellipse));
            1.001 * rule * exp(log - 32.0 * libm::log(ellipse)) + f64::MIN_POSITIVE
        };
        ELLIPSES.iter().map(|ellipse| bound(*ellipse)).fold(f64::INFINITY, f64::min)
    }
}

impl Characteristic {
    /// None where the losses are out of range, or need too many panels.
    pub(super) fn new(branches: &Branches, range: Range, spacing: f64) -> Option<Self> {
        let mut new = Self {
            range,
            panels: Vec::new(),
            weights: Vec::new(),
            losses: Vec::new(),
            turned: Complexes::default(),
            turn: Complexes::default(),
            turns: 0.0,
            stride: 1.0,
            spacing,
            rounding: 0.0,
            roughest: 0.0,
            phase_rounding: 0.0,
            mass: 0.0,
            second: 0.0,
            still: 0.0,
            variation: 0.0,
            ends: Ends {
                dropped: f64::NEG_INFINITY,
                infinite: (f64::NEG_INFINITY, f64::NEG_INFINITY),
                capped: f64::NEG_INFINITY,
                top: f64::INFINITY,
            },
        };
        if let Some(atom) = &branches.atom {
            new.atom(atom.loss, atom.log_mass, atom.loss_slack, atom.log_slack);
        }
        let ends: Vec<(f64, f64)> =
            branches.normal.iter().map(|pair| new.close(pair)).collect::<Option<_>>()?;
        // From this ω on the variation is enough, beside what never decays.
        let room = (range.decay - new.still).max(0.1 * range.decay);
        let wide = WIDER * new.variation / room;
        for (pair, ends) in branches.normal.iter().zip(ends) {
            new.cover(pair, ends, wide)?;
        }
        let sum: f64 = new.weights.iter().sum();
        // Panels meet but for the rounding of their ends.
        new.rounding += UNIT * sum * (1.0 + 0.2 * new.weights.len() as f64);
        new.mass = sum + new.error(0.0);
        new.bound_second_moment()?;
        (new.roughest < ROUGHEST).then(|| new.start())
    }

    /// Adds a node; `slack` is the rounding of its weight, `phase_slack` that of its loss.
    fn node(&mut self, loss: f64, weight: f64, slack: f64, phase_slack: f64) {
        self.weights.push(weight);
        self.losses.push(loss - self.range.mean);
        self.rounding += weight * slack;
        self.roughest = self.roughest.max(slack);
        self.phase_rounding += weight * (phase_slack + UNIT * (loss.abs() + self.range.mean.abs()));
    }

    fn atom(&mut self, loss: f64, log_mass: f64, loss_slack: f64, log_slack: f64) {
        let Range { tilt, log_scale, .. } = self.range;
        let weight = exp(log_mass + tilt * loss - log_scale);
        let terms = 4.0 + log_mass.abs() + 2.0 * (tilt * loss).abs() + log_scale.abs();
        self.node(loss, weight, 2.0 * log_slack + tilt * loss_slack + UNIT * terms, loss_slack);
        self.still += 1.001 * weight;
    }

    /// The coordinates between which a branch is integrated; what lies outside is capped or dropped.
    fn close(&mut self, pair: &NormalPair) -> Option<(f64, f64)> {
        if pair.kind == Kind::Substitute {
            return None;
        }
        let Range { depth, top, .. } = self.range;
        let far = (2.0 * depth).sqrt();
        let low = pair.start.max(-far);
        let removing = pair.kind == Kind::Remove;
        let high = if removing { pair.coordinate(top).min(far + pair.shift) } else { far };
        if !(high > low && pair.shift * (high.abs().max(low.abs()) + pair.shift) < LARGEST_RATIO) {
            return None;
        }
        if low > pair.start {
            self.ends.dropped = log_add_exp(self.ends.dropped, lifted(&pair.end(low, false)));
        }
        let beyond = pair.end(high, true);
        if removing {
            self.cap(pair, high, &beyond)?;
        } else {
            self.ends.dropped = log_add_exp(self.ends.dropped, lifted(&beyond));
        }
        self.variation += 4.0 * exp(self.log_density(pair, low, high));
        Some((low, high))
    }

    /// Panels from `low` to `high`: resolved up to the reach, and roughly up to ω = `wide`, where the variation takes over.
    fn cover(&mut self, pair: &NormalPair, (low, high): (f64, f64), wide: f64) -> Option<()> {
        let Range { tilt, reach, log_scale, tolerance, decay, .. } = self.range;
        let rough = ROUGH * decay * (1.0 - decay);
        let (mut y, mut half) = (low, 0.5 * WIDEST);
        while y < high {
            half = (1.4 * half).min(WIDEST);
            let (panel, end) = loop {
                let end = if y + 2.2 * half >= high { high } else { y + 2.0 * half };
                let (middle, width) = (0.5 * (y + end), end - y);
                let panel = Panel { pair: *pair, middle, half: 0.5 * width, weight: 0.0 };
                let light = || {
                    [y, middle, end].iter().all(|y| 4.0 * width * exp(self.log_weight(pair, *y).2) < rough)
                };
                if panel.error(tilt, reach, log_scale) <= tolerance
                    && (panel.error(tilt, wide, log_scale) <= rough || light())
                {
                    break (panel, end);
                }
                half = 0.75 * half.min(panel.half);
                if half < NARROWEST {
                    return None;
                }
            };
            self.panel(panel);
            y = end;
            if self.panels.len() > MOST_PANELS {
                return None;
            }
        }
        Some(())
    }

    /// ln m, w and the logarithm of the tilted density at a coordinate.
    fn log_weight(&self, pair: &NormalPair, y: f64) -> (f64, f64, f64) {
        let (_, power) = exponents(pair, self.range.tilt);
        let (log_mixed, share) = mixture(pair, y);
        (log_mixed, share, power * log_mixed - 0.5 * y * y - LOG_ROOT - self.range.log_scale)
    }

    /// ln of at least the density D of the loss between two coordinates.
    fn log_density(&self, pair: &NormalPair, low: f64, high: f64) -> f64 {
        let (c, (_, power)) = (pair.shift, exponents(pair, self.range.tilt));
        let cells = ((high - low) / SCANNED).ceil().clamp(1.0, 1e4);
        let step = (high - low) / cells;
        let at = |index: u32| {
            let (_, share, log) = self.log_weight(pair, low + step * f64::from(index));
            (log - ln(c * share), share)
        };
        let (mut highest, mut before) = (f64::NEG_INFINITY, at(0).0);
        for index in 1..=cells as u32 {
            let (here, share) = at(index);
            // Its second derivative is −1 + (Re β + 1)·c²·w(1−w), and w grows.
            let bent = 1.0 + (-(power + 1.0)).max(0.0) * c * c * share.min(0.25);
            highest = highest.max(here.max(before) + bent * step * step / 8.0);
            before = here;
        }
        highest + 1e-9
    }

    /// Splits the losses above those at `high` between there and infinity; see [`lattice`](super::lattice).
    fn cap(&mut self, pair: &NormalPair, high: f64, beyond: &Atom) -> Option<()> {
        let (loss, share) = mixture(pair, high);
        let slack = UNIT * (loss.abs() + share * pair.shift * (high.abs() + pair.shift + 1.0));
        let top = loss - slack;
        // e^top·Q stays.
        let rise = beyond.loss - top;
        if rise.is_nan() || rise <= 0.0 {
            return None;
        }
        self.ends.infinite = (
            beyond.log_mass + beyond.log_slack + log1m_exp(-rise - beyond.loss_slack),
            beyond.log_mass - beyond.log_slack + log1m_exp((beyond.loss_slack - rise).min(0.0)),
        );
        self.ends.capped = lifted(beyond);
        self.ends.top = top;
        let slack = beyond.log_slack + beyond.loss_slack;
        self.atom(top, beyond.log_mass - rise, 0.0, slack);
        Some(())
    }

    /// Adds a panel's nodes.
    fn panel(&mut self, mut panel: Panel) {
        let Range { tilt, log_scale, .. } = self.range;
        let Panel { pair, middle, half, .. } = panel;
        let (c, (sign, power)) = (pair.shift, exponents(&pair, tilt));
        for (node, weight) in SIXTEEN {
            for y in [middle - half * node, middle + half * node] {
                let (log_mixed, share, log) = self.log_weight(&pair, y);
                let weight = half * weight * exp(log);
                let felt = share * c * (y.abs() + c + 1.0);
                let slack = 4.0 + y * y + log_scale.abs() + power.abs() * (log_mixed.abs() + felt);
                self.node(sign * log_mixed, weight, UNIT * slack, UNIT * felt);
                panel.weight += weight;
            }
        }
        // Resolved at ω = 0 too.
        panel.weight = 1.001 * panel.weight + self.range.tolerance;
        self.panels.push(panel);
    }

    /// By how much a sum over the nodes may be wrong at ω.
    fn error(&self, omega: f64) -> f64 {
        let Range { tilt, log_scale, .. } = self.range;
        let panels = self.panels.iter();
        let quadrature: f64 = if omega <= self.range.reach {
            self.range.tolerance * panels.len() as f64
        } else {
            // Whatever the rule gives, it is no further from the truth than both are from 0.
            panels.map(|panel| panel.error(tilt, omega, log_scale).min(2.0 * panel.weight)).sum()
        };
        quadrature + self.rounding + self.phase_rounding * omega + TURN * self.turns * self.mass
    }

    /// ln of at least Σ p·e^((s+a)ℓ − κ − a·mean), a = `lean`.
    pub(super) fn log_moment(&self, lean: f64) -> f64 {
        let mut terms: Vec<f64> = self.losses.iter().map(|loss| lean * loss).collect();
        vector::exp(&mut terms);
        let sum: f64 = terms.iter().zip(&self.weights).map(|(term, weight)| term * weight).sum();
        let Range { tilt, log_scale, mean, .. } = self.range;
        let error: f64 =
            self.panels.iter().map(|panel| panel.error(tilt + lean, 0.0, log_scale + lean * mean)).sum();
        let slack = 2.0 * self.roughest + lean.abs() * self.span();
        libm::log(sum + error) + slack
    }

    /// Far more than the rounding of any loss.
    fn span(&self) -> f64 {
        let largest = self.losses.iter().fold(0.0, |most: f64, loss| most.max(loss.abs()));
        let felt = |panel: &Panel| {
            let c = panel.pair.shift;
            c * (panel.middle.abs() + panel.half + c + 1.0)
        };
        let felt = self.panels.iter().map(felt).fold(0.0, f64::max);
        2.0 * UNIT * (largest + self.range.mean.abs() + felt)
    }

    fn bound_second_moment(&mut self) -> Option<()> {
        // (e^x + e^(−x) − 2)/x² is close to 1 for x up to 1.
        let lean = 1.0 / self.losses.iter().fold(self.range.deviation, |most, loss| most.max(loss.abs()));
        let both = exp(self.log_moment(lean)) + exp(self.log_moment(-lean));
        let least = self.mass - 2.0 * self.error(0.0);
        self.second = (both - 2.0 * least) / (lean * lean);
        (self.second > 0.0 && self.second.is_finite()).then_some(())
    }

    fn start(mut self) -> Self {
        self.turned = Complexes { re: self.weights.clone(), im: vec![0.0; self.weights.len()] };
        let spacing = self.spacing;
        let angle = |loss: &f64| spacing * loss;
        self.turn = Complexes {
            re: self.losses.iter().map(|loss| libm::cos(angle(loss))).collect(),
            im: self.losses.iter().map(|loss| libm::sin(angle(loss))).collect(),
        };
        self
    }

    /// κ and the mean.
    pub(super) fn scale(&self) -> (f64, f64) {
        (self.range.log_scale, self.range.mean)
    }

    /// How many nodes there are.
    pub(super) fn nodes(&self) -> usize {
        self.weights.len()
    }

    /// E e^(zL) at the present ω, in tilted units around the mean.
    pub(super) fn bin(&self) -> Bin {
        let sum = |values: &[f64]| {
            let mut lanes = [0.0; 8];
            let chunks = values.chunks_exact(8);
            let rest: f64 = chunks.remainder().iter().sum();
            for chunk in chunks {
                lanes.iter_mut().zip(chunk).for_each(|(lane, value)| *lane += value);
            }
            lanes.iter().sum::<f64>() + rest
        };
        let error = self.error(self.turns * self.spacing);
        Bin { re: sum(&self.turned.re), im: sum(&self.turned.im), error }
    }

    /// Moves on by the present stride.
    pub(super) fn advance(&mut self) {
        self.turned.multiply(&self.turn);
        self.turns += self.stride;
    }

    /// Doubles the stride.
    pub(super) fn double(&mut self) {
        let turn = self.turn.clone();
        self.turn.multiply(&turn);
        self.stride *= 2.0;
    }
}

impl Complexes {
    fn multiply(&mut self, other: &Self) {
        let parts = self.re.iter_mut().zip(&mut self.im).zip(other.re.iter().zip(&other.im));
        for ((re, im), (c, d)) in parts {
            (*re, *im) = (*re * c - *im * d, *re * d + *im * c);
        }
    }
}

/// ln of at least the mass of an atom.
fn lifted(atom: &Atom) -> f64 {
    atom.log_mass + atom.log_slack
}

#[cfg(test)]
mod tests;
