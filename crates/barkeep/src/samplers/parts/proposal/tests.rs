//! Holds walks to their caps, their covariances and their memory.

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
