//! Draws from laws with known moments, whatever the fit says.

use super::*;

/// A normal law with correlated coordinates, and a fit that may be wrong.
struct Known {
    mean: Vec<f64>,
    precision: Vec<f64>,
    fit: Fit,
}

impl Target for Known {
    fn height(&self, theta: &[f64]) -> f64 {
        self.sloped(theta).map_or(f64::NEG_INFINITY, |(height, _)| height)
    }

    fn sloped(&self, theta: &[f64]) -> Option<(f64, Vec<f64>)> {
        let away: Vec<f64> = theta.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        let slope: Vec<f64> = self.precision.chunks_exact(away.len()).map(|row| -dot(row, &away)).collect();
        Some((0.5 * dot(&slope, &away), slope))
    }

    fn propose(&self, rng: &mut PublicRng) -> Vec<f64> {
        around(&self.fit, rng)
    }

    fn proposed(&self, theta: &[f64]) -> f64 {
        density_around(&self.fit, theta)
    }

    fn fit(&self) -> &Fit {
        &self.fit
    }
}

/// Mean (1, −2), standard deviations 1 and `sd`; the fit has unit covariance round a mode.
fn known(mode: [f64; 2], sd: f64, correlation: f64) -> Known {
    let sd = [1.0, sd];
    let covariance = correlation * sd[0] * sd[1];
    let matrix = [sd[0] * sd[0], covariance, covariance, sd[1] * sd[1]];
    let precision = Cholesky::new(&matrix, 2).unwrap().inverse();
    Known { mean: vec![1.0, -2.0], precision, fit: Fit::at(&mode) }
}

#[test]
fn draws_have_the_moments_of_their_law_however_wrong_the_fit_is() {
    for (mode, wide, correlation, is_hamiltonian) in [
        ([1.2, -1.9], 1.1, 0.1, false),
        ([1.2, -1.5], 3.0, 0.8, true),
        ([7.0, -12.0], 3.0, 0.8, true),
        ([40.0, 60.0], 3.0, 0.8, true),
    ] {
        let target = known(mode, wide, correlation);
        let mut rng = PublicRng::new(8, 0);
        let mut chains = Chains::new(&target, &mut rng);
        let draws: Vec<Vec<f64>> = (0..8000)
            .map(|_| {
                if chains.is_empty() {
                    chains.refill(&target, &mut rng);
                }
                chains.next().unwrap().0
            })
            .collect();
        assert_eq!(matches!(chains.moves, Moves::Hamiltonian { .. }), is_hamiltonian, "{}", chains.taken());
        let checks = chains.checks();
        assert!(checks.iter().all(|check| check.grade == Grade::Trustworthy), "{checks:?}");
        let count = draws.len() as f64;
        let mean = |f: &dyn Fn(&[f64]) -> f64| draws.iter().map(|draw| f(draw)).sum::<f64>() / count;
        for (j, (centre, sd)) in [(1.0, 1.0), (-2.0, wide)].into_iter().enumerate() {
            // Four Monte Carlo errors where a draw in eight counts.
            let error = 4.0 * sd / (count / 8.0).sqrt();
            assert!((mean(&|draw| draw[j]) - centre).abs() < error, "{mode:?} {}", mean(&|draw| draw[j]));
            let square = mean(&|draw| (draw[j] - centre).powi(2));
            assert!((square.sqrt() / sd - 1.0).abs() < 4.0 / (count / 4.0).sqrt(), "{mode:?} {square}");
        }
        let together = mean(&|draw| (draw[0] - 1.0) * (draw[1] + 2.0)) / wide;
        assert!((together - correlation).abs() < 0.1, "{mode:?} {together}");
    }
}

/// A density that nobody can evaluate away from a point.
struct Nowhere(Fit);

impl Target for Nowhere {
    fn height(&self, _: &[f64]) -> f64 {
        f64::NEG_INFINITY
    }

    fn sloped(&self, _: &[f64]) -> Option<(f64, Vec<f64>)> {
        None
    }

    fn propose(&self, rng: &mut PublicRng) -> Vec<f64> {
        around(&self.0, rng)
    }

    fn proposed(&self, theta: &[f64]) -> f64 {
        density_around(&self.0, theta)
    }

    fn fit(&self) -> &Fit {
        &self.0
    }
}

#[test]
fn chains_that_cannot_move_leave_the_fit_and_say_so() {
    let target = Nowhere(Fit::at(&[3.0]));
    let mut rng = PublicRng::new(8, 0);
    let mut chains = Chains::new(&target, &mut rng);
    chains.refill(&target, &mut rng);
    let draws: Vec<f64> = (0..BATCH).map(|_| chains.next().unwrap().0[0]).collect();
    assert!(draws.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(chains.checks()[0].grade, Grade::NotToBeTrusted);
    assert!(!chains.checks()[0].remedy.is_empty());
}
