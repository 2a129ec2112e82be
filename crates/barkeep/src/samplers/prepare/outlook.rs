//! Foresees how far a diffusion's means will be off: by chance, by its start, by its columns and by its clip; public facts alone.
//!
//! In posterior standard deviations, for a direction whose information is λ times the guess that whitens it:
//!
//! * **chance** √(2γ/(λτ)), τ the diffusion time that is kept; at most 1, the spread itself;
//! * **start** D times the mean of e^(−λt/γ) over the kept time. D is 0.4 √(nT) times the root of a parameter's mean information:
//!   real coefficients move a predictor by about 0.4. Where the response's scale is unknown its start is about three times
//!   too large, and a posterior sd a third of what it looks like there. The ten problems this was compared with have 0.09 to
//!   0.4 √n (bernoulli), 0.4 to 2.6 √n (others);
//! * **columns** λ: a column of sd s within [−1, 1] has λ = 3s². Without a declared spread s is log-normal around 0.35 (sd 0.7 of
//!   its logarithm);
//! * **clip** at w of gradients without a bound moves a mean by about 0.15 √(nT)·d/w²: measured on incomes, whose records
//!   are farther out than their model says; delays of flights have five times that.

use crate::samplers::entry::{Expected, Setting};
use crate::samplers::parts::whitening::Whitening;

/// Information of a direction over its guess, with shares: columns whose spread nobody declared.
const GUESSED: [(f64, f64); 3] = [(0.09, 0.25), (0.37, 0.5), (1.0, 0.25)];
/// The same for columns of a declared spread, and where the model needs no guess.
const DECLARED: [(f64, f64); 3] = [(0.5, 0.25), (1.0, 0.5), (1.0, 0.25)];
const KNOWN: [(f64, f64); 1] = [(1.0, 1.0)];
/// How far a coefficient moves a predictor.
const EFFECT: f64 = 0.4;
/// How much too large an unknown scale starts.
const SCALE: f64 = 3.0;
/// The mean that a clip at one whitened unit cuts off.
const TAIL: f64 = 0.15;

/// Steepness of a declared column at the ends of its typical values, over its guess: 3 where they are spread evenly, and some
/// more for a family's curvature.
const TYPICAL: f64 = 4.0;

/// What is known of a diffusion before it starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook {
    /// γ: 2 for overdamped dynamics.
    friction: f64,
    /// D.
    distance: f64,
    rates: &'static [(f64, f64)],
    /// w² times the bias of a clip at w.
    tail: f64,
}

impl Outlook {
    /// Of dynamics with a friction; `guessed` where their whitening rests on a guess of columns.
    pub(crate) fn new(setting: &Setting<'_>, friction: f64, guessed: bool, clipped: bool) -> Self {
        if !guessed {
            return Self { friction, distance: 0.0, rates: &KNOWN, tail: 0.0 };
        }
        let model = &**setting.model;
        let (d, weight) = (model.dimension(), setting.records * setting.temper.get());
        let mut information = vec![0.0; d * d];
        let known = model.fisher(setting.reference, &mut information);
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let mean = information.iter().step_by(d + 1).sum::<f64>() / d as f64;
        let effect = EFFECT * if model.has_long_gradients() { SCALE } else { 1.0 };
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let tail = if clipped { TAIL * weight.sqrt() * d as f64 } else { 0.0 };
        Self {
            friction,
            distance: if known { effect * (weight * mean).sqrt() } else { 0.0 },
            rates: if setting.spread_declared { &DECLARED } else { &GUESSED },
            tail,
        }
    }

    /// γ.
    pub(crate) fn friction(&self) -> f64 {
        self.friction
    }

    /// The bias of a clip, in posterior standard deviations.
    pub(crate) fn bias(&self, width: f64) -> f64 {
        self.tail / (width * width)
    }

    /// The mean over the kept time of e^(−rate·t/γ) and of its square.
    fn decay(&self, rate: f64, left_out: f64, time: f64) -> (f64, f64) {
        let mean = |rate: f64| {
            let (slope, kept) = (rate / self.friction, time - left_out);
            if slope * kept < 1e-9 {
                return libm::exp(-slope * left_out);
            }
            libm::exp(-slope * left_out) * -libm::expm1(-slope * kept) / (slope * kept)
        };
        (mean(rate), mean(2.0 * rate))
    }

    /// Squares of the error of a mean and of the reported spread along a direction.
    fn direction(&self, rate: f64, width: f64, left_out: f64, time: f64) -> (f64, f64) {
        let kept = (time - left_out).max(f64::MIN_POSITIVE);
        let chance = (2.0 * self.friction / (rate * kept)).min(1.0);
        let (mean, square) = self.decay(rate, left_out, time);
        let start = self.distance * mean;
        let drift = self.distance * self.distance * (square - mean * mean).max(0.0);
        (chance + start * start + self.bias(width).powi(2), 1.0 - chance + drift)
    }

    /// What a run of some diffusion time achieves, of which a part is left out, with a clip.
    pub(crate) fn expected(&self, width: f64, left_out: f64, time: f64) -> Expected {
        let (mut error, mut spread) = (0.0, 0.0);
        for (rate, share) in self.rates {
            let (off, wide) = self.direction(*rate, width, left_out, time);
            error += share * off;
            spread += share * wide;
        }
        let at = |rate: f64| self.direction(rate, width, left_out, time).0.sqrt();
        let rates = || self.rates.iter().map(|(rate, _)| *rate);
        let (slow, fast) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        Expected { error: error.sqrt(), range: (at(fast), at(slow)), width: spread.sqrt() }
    }

    /// The clip with the least error where time is `paid`/w²; none below `usual`.
    pub(crate) fn best_width(&self, usual: f64, paid: f64) -> f64 {
        let error = |width: f64| {
            let time = paid / (width * width);
            self.expected(width, time / 3.0, time).error
        };
        let widths = (0..80).map(|k| usual * libm::exp(0.05 * f64::from(k)));
        widths
            .fold((usual, f64::INFINITY), |best, width| {
                let error = error(width);
                if error < best.1 { (width, error) } else { best }
            })
            .0
    }
}

/// Whether a frame rests on a guess of columns, and how much steeper than the guess the posterior may be: at least 1.
///
/// By the columns' bounds, whatever records say; where all columns are declared, by what is typical of them. Then the few
/// records beyond could still be too steep together, which the verdict's look at forces sees.
pub(crate) fn stiffness(setting: &Setting<'_>, frame: &Whitening, weight: f64) -> Option<f64> {
    let bound = setting.model.stiffness_through(setting.schema, setting.reference, frame.transposed())?;
    // A person's rows are as steep as they are many.
    let corners = weight * bound * setting.rows().unwrap_or(1.0);
    #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
    let typical = TYPICAL * setting.model.dimension() as f64;
    Some(if setting.spread_declared { corners.min(typical) } else { corners }.max(1.0))
}

#[cfg(test)]
mod tests;
