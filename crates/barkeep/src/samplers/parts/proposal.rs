//! Proposes where a chain might go next, from public randomness alone.
//!
//! Every proposal here is symmetric: in the step for full and one-coordinate moves, and under reversal of the
//! direction for guided ones. So ln q(θ|θ')/q(θ'|θ) = 0 and only the prior enters the public offset.

use crate::public_rng::PublicRng;

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
}

impl Walk {
    /// A walk at rest; the signs of a guided walk are drawn here.
    #[must_use]
    pub(crate) fn new(scale: Scale, length: Length, direction: Direction, rng: &mut PublicRng) -> Self {
        let signs = match direction {
            Direction::Guided => (0..scale.dimension()).map(|_| rng.sign()).collect(),
            Direction::Full | Direction::One => Vec::new(),
        };
        Self { scale, length, direction, signs, last: 0 }
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
        match self.direction {
            Direction::Full => self.full(from, to, rng),
            Direction::One => {
                self.last = rng.index(from.len());
                to[self.last] += self.along(self.last, rng);
            }
            Direction::Guided => {
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
mod tests {
    use super::*;

    fn walk(length: Length, direction: Direction) -> (Walk, PublicRng) {
        let mut rng = PublicRng::new(1, 0);
        (Walk::new(Scale::Diagonal(vec![0.5, 2.0, 1.0]), length, direction, &mut rng), rng)
    }

    #[test]
    fn no_step_is_longer_than_its_cap() {
        for direction in [Direction::Full, Direction::One, Direction::Guided] {
            for length in [Length::Capped { cap: 0.7 }, Length::Uniform { cap: 0.7 }] {
                let (mut walk, mut rng) = walk(length, direction);
                let (from, mut to) = ([1e6, -3.0, 0.1], [0.0; 3]);
                for _ in 0..2000 {
                    let distance = walk.propose(&from, &mut to, &mut rng);
                    assert!(distance <= 0.7);
                    let moved = from.iter().zip(&to).filter(|(a, b)| a != b).count();
                    assert!(direction == Direction::Full || moved <= 1);
                }
            }
        }
    }

    #[test]
    fn a_guided_walk_keeps_its_sign_until_rejected() {
        let (mut walk, mut rng) = walk(Length::Gaussian, Direction::Guided);
        let (from, mut to) = ([0.0; 3], [0.0; 3]);
        for step in 0..200 {
            let before = walk.signs.clone();
            walk.propose(&from, &mut to, &mut rng);
            assert_eq!(to[walk.last].signum(), before[walk.last]);
            walk.observe(step % 2 == 0);
            assert_eq!(walk.signs[walk.last] == before[walk.last], step % 2 == 0);
        }
    }

    #[test]
    fn a_full_covariance_walk_has_that_covariance() {
        // L = [[2, 0], [1, 3]] gives covariance [[4, 2], [2, 10]]; 4e4 draws put each entry within 5 standard errors.
        let mut rng = PublicRng::new(3, 0);
        let mut walk =
            Walk::new(Scale::Cholesky(vec![2.0, 0.0, 1.0, 3.0]), Length::Gaussian, Direction::Full, &mut rng);
        let (n, mut sums, mut to) = (40_000, [0.0; 3], [0.0; 2]);
        for _ in 0..n {
            walk.propose(&[0.0, 0.0], &mut to, &mut rng);
            for (sum, term) in sums.iter_mut().zip([to[0] * to[0], to[0] * to[1], to[1] * to[1]]) {
                *sum += term / f64::from(n);
            }
        }
        for (mean, (truth, se)) in sums.iter().zip([(4.0, 0.029), (2.0, 0.034), (10.0, 0.071)]) {
            assert!((mean - truth).abs() < 5.0 * se, "{mean} against {truth}");
        }
    }

    #[test]
    fn uniform_steps_fill_the_ball() {
        // In d = 3 the cube of the relative radius is uniform: mean 1/2, standard error 0.2887/√n.
        let (mut walk, mut rng) = walk(Length::Uniform { cap: 2.0 }, Direction::Full);
        let (from, mut to, n) = ([0.0; 3], [0.0; 3], 20_000);
        let mut mean = 0.0;
        for _ in 0..n {
            mean += (walk.propose(&from, &mut to, &mut rng) / 2.0).powi(3) / f64::from(n);
        }
        assert!((mean - 0.5).abs() < 5.0 * 0.2887 / f64::from(n).sqrt());
    }
}
