//! Answers from closed forms alone: looser, and valid for any number of steps.

use super::acceptance::Acceptance;
use crate::{Delta, Epsilon, Rho, Sensitivity, Steps};

/// Room for the rounding of a product or two.
const ROOM: f64 = 1.0 + 4.0 * f64::EPSILON;

/// What is known of one decision without a search.
pub(super) struct Closed {
    /// It is (pure, 0)-private.
    pure: f64,
    /// It is ρ-zCDP.
    rho: f64,
}

impl Closed {
    pub(super) fn new(rule: &dyn Acceptance, sensitivity: Sensitivity) -> Self {
        let step = sensitivity.get();
        // A lazy rule rejects with probability at least 1 − κ.
        let most = -libm::log1p(-rule.keep());
        let pure = rule.accept_range(step).max(rule.reject_range(step).min(most)) * ROOM;
        Self { pure, rho: rule.zcdp(step).unwrap_or(f64::INFINITY) * ROOM }
    }

    /// Whether there is a closed form at all.
    pub(super) fn exists(&self) -> bool {
        self.pure.is_finite() || self.rho.is_finite()
    }

    pub(super) fn epsilon(&self, steps: Steps, delta: Delta) -> f64 {
        let pure = self.pure * steps.0 as f64 * ROOM;
        self.composed(steps).map_or(pure, |rho| rho.epsilon(delta).upper.min(pure))
    }

    pub(super) fn delta(&self, steps: Steps, epsilon: Epsilon) -> f64 {
        if steps.0 == 0 || self.pure * steps.0 as f64 * ROOM <= epsilon.get() {
            return 0.0;
        }
        self.composed(steps).map_or(1.0, |rho| rho.delta(epsilon).upper)
    }

    pub(super) fn largest_steps(&self, epsilon: Epsilon, delta: Delta) -> Steps {
        let fits = |steps: u64| self.epsilon(Steps(steps), delta) <= epsilon.get();
        Steps(barkeep_num::largest_integer(0, 1 << 53, fits).unwrap_or(0))
    }

    fn composed(&self, steps: Steps) -> Option<Rho> {
        Rho::new(self.rho * steps.0 as f64 * ROOM).ok()
    }
}
