use super::super::atoms::log_excess;
use super::super::{Accuracy, Composition, DominatingPair};
use super::*;
use crate::{Delta, Epsilon, GaussianRun, Mu, Ratio};

/// μ of one step, and dots of its curve.
const STEP: f64 = 1e-3;

/// δ of Gaussian noise at any ε, by closed form.
fn gaussian(mu: f64, epsilon: f64) -> f64 {
    let cdf = |x: f64| libm::exp(barkeep_num::ln_normal_cdf(x));
    cdf(0.5 * mu - epsilon / mu) - libm::exp(epsilon) * cdf(-0.5 * mu - epsilon / mu)
}

fn dots() -> Vec<(f64, f64)> {
    let place = |index: i32| f64::from(index) * 9.0 * STEP / 1500.0;
    (-1500..=1500).map(place).map(|epsilon| (epsilon, gaussian(STEP, epsilon).max(1e-300))).collect()
}

/// A block's curve is nowhere below that of the noise it stands for, and hardly above it.
#[test]
fn a_block_is_as_many_steps() {
    let atoms = super::super::knots::dominating(&dots()).unwrap();
    for each in [2, 64, 256] {
        let block = block(&atoms, each, 1 << 20, libm::log(1e-6)).unwrap();
        let mu = STEP * (each as f64).sqrt();
        for deviations in [-6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0] {
            let epsilon = deviations * mu;
            let exact = libm::log(gaussian(mu, epsilon));
            let found = log_excess(&block.upper.atoms, epsilon).1;
            let found = barkeep_num::log_add_exp(found, block.upper.above);
            assert!(found >= exact - 1e-9, "{each} {deviations}: {found} {exact}");
            assert!(
                found <= exact + 2e-3 * (1.0 + deviations * deviations),
                "{each} {deviations}: {found} {exact}"
            );
        }
    }
}

/// Many steps in blocks cost at least what closed forms say, and hardly more than on one lattice, also when the last block is not full.
#[test]
fn blocks_compose_to_what_steps_do() {
    let (curve, delta) = (DominatingPair::from_dots(&dots()).unwrap(), Delta::new(1e-6).unwrap());
    for steps in [1 << 15, 60_001] {
        let (block, each) = curve.in_blocks(Steps(steps), delta).unwrap();
        assert!(each.0 > 1 && whole(Steps(steps)).0.is_multiple_of(each.0));
        let run = Composition::new().and(&block, Steps(steps.div_ceil(each.0)));
        let found = run.epsilon(delta, Accuracy::AIMED).unwrap().upper;
        let ratio = Ratio::new(1.0 / STEP).unwrap();
        let exact = GaussianRun::new(ratio, Steps(steps)).unwrap().epsilon(delta).upper;
        assert!((exact..1.001 * exact).contains(&found), "{steps}: {found} {exact}");
        let one = Composition::new().and(&curve, Steps(steps)).epsilon(delta, Accuracy::CLOSE).unwrap().upper;
        assert!(found < 1.0005 * one, "{steps}: {found} {one}");
    }
    // Curves that are known from below too are left alone, and so are few steps.
    let known = DominatingPair::gaussian(Ratio::new(1.0).unwrap()).unwrap();
    assert!(known.in_blocks(Steps(1 << 20), delta).is_none());
    assert!(curve.in_blocks(Steps(1000), delta).is_none());
}

/// A search that may miss some finds nearly as many steps as closed forms allow, and no more: single ones, and in blocks.
#[test]
fn a_search_misses_few_of_many() {
    let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(1e-6).unwrap());
    let exact = (Mu::largest_within(epsilon, delta).get() / STEP).powi(2);
    let curve = DominatingPair::from_dots(&dots()).unwrap();
    let (block, each) = curve.in_blocks(Steps(exact as u64), delta).unwrap();
    for (curve, each) in [(curve, Steps(1)), (block, each)] {
        let once = Composition::new().and(&curve, Steps(1));
        let found = once.largest_repetitions(epsilon, delta, Accuracy::CLOSE).unwrap().0 * each.0;
        assert!((0.998 * exact..exact).contains(&(found as f64)), "{each:?}: {found} {exact}");
    }
}
