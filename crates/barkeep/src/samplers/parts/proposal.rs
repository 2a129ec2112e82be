//! Proposes where a chain might go next, from public randomness alone.
//!
//! Every walk here is symmetric: in the step for full and one-coordinate moves, and under reversal of the
//! direction for guided ones. So ln q(θ|θ')/q(θ'|θ) = 0 and only the prior enters the public offset. A [`Proposal`] given in code states
//! its own ratio.

use crate::public_rng::PublicRng;
use crate::step::Proposal;
use std::sync::Arc;

/// How long a step may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Length {
    /// Gaussian, of any length.
    Gaussian,
    /// Gaussian conditioned on a Euclidean length of at most `cap`, by redrawing.
    Capped {
        /// The longest step.
        cap: f64,
    },
    /// Uniform in the ball, or for one coordinate the interval, of radius `cap`; the scale is not used.
    Uniform {
        /// The longest step.
        cap: f64,
    },
}

/// Which coordinates a step changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// All at once.
    Full,
    /// One, chosen uniformly (the thesis' OCU).
    One,
    /// One, chosen uniformly, along a remembered sign that flips on rejection (the thesis' GWMH).
    Guided,
}

/// The scale of a Gaussian step: one row of a lower triangular factor per coordinate, or standard deviations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// A standard deviation per coordinate.
    Diagonal(Vec<f64>),
    /// Lower triangular factor of the covariance, row-major; for full moves only.
    Cholesky(Vec<f64>),
}

impl Scale {
    fn dimension(&self) -> usize {
        match self {
            Self::Diagonal(sd) => sd.len(),
            Self::Cholesky(factor) => factor.len().isqrt(),
        }
    }

    /// Root mean square length of an uncapped step that moves the given coordinates.
    #[must_use]
    pub(crate) fn root_mean_square(&self, direction: Direction) -> f64 {
        match (self, direction) {
            (Self::Diagonal(sd), Direction::Full) => sd.iter().map(|s| s * s).sum::<f64>().sqrt(),
            (Self::Diagonal(sd), _) => sd.iter().copied().fold(0.0, f64::max),
            // The trace of L·Lᵀ is the sum of the squares of L.
            (Self::Cholesky(factor), _) => factor.iter().map(|x| x * x).sum::<f64>().sqrt(),
        }
    }
}

/// A random walk with its memory.
pub(crate) struct Walk {
    scale: Scale,
    length: Length,
    direction: Direction,
    /// Remembered signs of a guided walk.
    signs: Vec<f64>,
    /// The coordinate proposed last.
    last: usize,
    /// What proposes instead.
    given: Option<Arc<dyn Proposal>>,
}

impl Walk {
    /// A walk at rest; the signs of a guided walk are drawn here.
    #[must_use]
    pub(crate) fn new(scale: Scale, length: Length, direction: Direction, rng: &mut PublicRng) -> Self {
        let signs = match direction {
            Direction::Guided => (0..scale.dimension()).map(|_| rng.sign()).collect(),
            Direction::Full | Direction::One => Vec::new(),
        };
        Self { scale, length, direction, signs, last: 0, given: None }
    }

    /// The walk, with another in its place to propose.
    #[must_use]
    pub(crate) fn proposed_by(self, given: Option<Arc<dyn Proposal>>) -> Self {
        Self { given, ..self }
    }

    /// The longest step this walk can take, if there is one.
    #[must_use]
    pub(crate) fn longest(length: Length) -> Option<f64> {
        match length {
            Length::Gaussian => None,
            Length::Capped { cap } | Length::Uniform { cap } => Some(cap),
        }
    }

    /// Writes the proposed state to `to` and returns its Euclidean distance from `from`.
    pub(crate) fn propose(&mut self, from: &[f64], to: &mut [f64], rng: &mut PublicRng) -> f64 {
        to.copy_from_slice(from);
        match (&self.given, self.direction) {
            (Some(given), _) => given.propose(from, to, rng),
            (None, Direction::Full) => self.full(from, to, rng),
            (None, Direction::One) => {
                self.last = rng.index(from.len());
                to[self.last] += self.along(self.last, rng);
            }
            (None, Direction::Guided) => {
                self.last = rng.index(from.len());
                to[self.last] += self.signs[self.last] * self.along(self.last, rng).abs();
            }
        }
        let distance = distance(from, to);
        // Adding the step to a large coordinate can round it up past the cap; the cap is what is paid for.
        match Self::longest(self.length) {
            Some(cap) if distance > cap => {
                to.copy_from_slice(from);
                0.0
            }
            _ => distance,
        }
    }

    /// ln q(from|to)/q(to|from); None where proposals are symmetric.
    pub(crate) fn log_ratio(&self, from: &[f64], to: &[f64]) -> Option<f64> {
        self.given.as_ref().map(|given| given.log_ratio(from, to))
    }

    /// Learns the fate of the last proposal.
    pub(crate) fn observe(&mut self, accepted: bool) {
        if self.direction == Direction::Guided && !accepted {
            self.signs[self.last] = -self.signs[self.last];
        }
    }

    /// One coordinate's step.
    fn along(&self, coordinate: usize, rng: &mut PublicRng) -> f64 {
        let sd = match &self.scale {
            Scale::Diagonal(sd) => sd[coordinate],
            Scale::Cholesky(factor) => factor[coordinate * self.scale.dimension() + coordinate],
        };
        match self.length {
            Length::Gaussian => sd * rng.normal(),
            Length::Capped { cap } => loop {
                let step = sd * rng.normal();
                if step.abs() <= cap {
                    break step;
                }
            },
            Length::Uniform { cap } => cap * (2.0 * rng.uniform() - 1.0),
        }
    }

    /// Adds a step of all coordinates to `to`.
    fn full(&self, from: &[f64], to: &mut [f64], rng: &mut PublicRng) {
        match self.length {
            Length::Gaussian => self.gaussian(from, to, rng),
            Length::Capped { cap } => loop {
                self.gaussian(from, to, rng);
                if distance(from, to) <= cap {
                    break;
                }
            },
            Length::Uniform { cap } => {
                #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
                let radius = cap * rng.uniform().powf(1.0 / from.len() as f64);
                let direction: Vec<f64> = from.iter().map(|_| rng.normal()).collect();
                let length = direction.iter().map(|z| z * z).sum::<f64>().sqrt();
                for ((t, f), z) in to.iter_mut().zip(from).zip(&direction) {
                    *t = f + radius * z / length;
                }
            }
        }
    }

    fn gaussian(&self, from: &[f64], to: &mut [f64], rng: &mut PublicRng) {
        match &self.scale {
            Scale::Diagonal(sd) => {
                for ((t, f), s) in to.iter_mut().zip(from).zip(sd) {
                    *t = f + s * rng.normal();
                }
            }
            Scale::Cholesky(factor) => {
                to.copy_from_slice(from);
                let d = from.len();
                for column in 0..d {
                    let z = rng.normal();
                    for row in column..d {
                        to[row] += factor[row * d + column] * z;
                    }
                }
            }
        }
    }
}

/// Euclidean distance.
pub(crate) fn distance(from: &[f64], to: &[f64]) -> f64 {
    from.iter().zip(to).map(|(a, b)| (b - a) * (b - a)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
