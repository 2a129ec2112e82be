use super::*;
use crate::public_rng::PublicRng;

const BURN_IN: BurnIn = BurnIn { draws: 10, third: true };

/// What is found of an overdamped flow on a normal of curvature `stiff` in two dimensions, from a distance.
fn watched(step: f64, stiff: f64, distance: f64, steps: usize, bias: f64) -> Vec<Check> {
    let mut watch = Watched::new(Vigil { friction: 2.0, bias, burn_in: BURN_IN }, 2);
    let (mut rng, noise) = (PublicRng::new(7, 0), 2.0 / step.sqrt());
    let mut x = [distance, -distance];
    for _ in 0..steps {
        let force = x.map(|x| -stiff * x + noise * rng.normal());
        watch.force(&force, noise, step);
        let by = force.map(|force| 0.5 * step * force);
        watch.displaced(&by);
        x = [x[0] + by[0], x[1] + by[1]];
    }
    watch.checks()
}

fn grade(checks: &[Check], key: &str) -> Grade {
    checks.iter().find(|check| check.key == key).unwrap().grade
}

#[test]
fn a_good_run_passes_every_check() {
    for (step, distance) in [(1.0, 0.0), (0.25, 300.0), (1.0, 5.0)] {
        let checks = watched(step, 1.0, distance, 400, 0.1);
        assert!(checks.iter().all(|check| check.grade == Grade::Trustworthy), "{checks:?}");
        assert_eq!(checks.len(), 4);
    }
}

#[test]
fn too_little_time_is_not_to_be_trusted() {
    assert_eq!(grade(&watched(0.01, 1.0, 0.0, 100, 0.0), "relaxation_times"), Grade::NotToBeTrusted);
}

#[test]
fn a_start_that_is_still_in_the_mean_is_seen() {
    // Time 24, a third left out: e^(−4) of 2000 at the first draw kept.
    assert_eq!(grade(&watched(1.0, 1.0, 2000.0, 24, 0.0), "start"), Grade::NotToBeTrusted);
    assert_eq!(grade(&watched(1.0, 1.0, 60.0, 24, 0.0), "start"), Grade::Trustworthy);
}

#[test]
fn steps_that_swing_about_the_posterior_are_seen() {
    // Curvature 3.9 with steps of 1: the state's variance is 40 times the posterior's, and midpoints look calm.
    assert_eq!(grade(&watched(1.0, 3.9, 0.0, 400, 0.0), "force"), Grade::NotToBeTrusted);
    assert_eq!(grade(&watched(1.0, 2.0, 0.0, 400, 0.0), "force"), Grade::Trustworthy);
    // The same curvature with shorter steps is no harm.
    assert_eq!(grade(&watched(0.25, 3.9, 0.0, 1600, 0.0), "force"), Grade::Trustworthy);
}

#[test]
fn a_biased_clip_is_said() {
    assert_eq!(grade(&watched(1.0, 1.0, 0.0, 100, 0.8), "clip_bias"), Grade::Wide);
    assert_eq!(grade(&watched(1.0, 1.0, 0.0, 100, 9.0), "clip_bias"), Grade::NotToBeTrusted);
    assert!(
        watched(1.0, 1.0, 0.0, 100, 0.0).iter().all(|check| check.key != "clip_bias"),
        "nothing is clipped"
    );
}

#[test]
fn a_third_at_least_and_a_half_at_most_is_left_out() {
    assert_eq!((BURN_IN.of(300), BURN_IN.of(24), BURN_IN.of(4)), (100, 10, 2));
    assert_eq!(BurnIn { third: false, ..BURN_IN }.of(300), 10);
}

#[test]
fn the_later_half_is_summed_in_bounded_memory() {
    let mut recent = Recent::default();
    for steps in 1..=100_000_u64 {
        recent.push(steps as f64);
        assert!(recent.sums.len() <= Recent::MOST);
        if steps % 997 == 0 || steps < 20 {
            let (sum, count) = recent.late();
            // The last `count` numbers, which are the later half but for less than one sum's.
            let first = steps - count;
            assert_eq!(sum, ((first + 1)..=steps).map(|number| number as f64).sum::<f64>(), "{steps}");
            assert!(first >= steps / 2 && first - steps / 2 < 1 << recent.doublings, "{steps}: {count}");
            assert!(steps > Recent::MOST as u64 || count == steps - steps / 2);
        }
    }
}
