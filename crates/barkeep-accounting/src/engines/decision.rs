//! Prices decisions of which only the bit leaves: the optimal attack on any number of them, bounded from both sides.
//!
//! # The setting
//! A step's bit is "accept" with probability a(t) on one data set and a(t+s) on its neighbour, |s| ≤ Δ, with a an
//! [`Acceptance`] function, Δ the sensitivity of the log-ratio, and t anything: an adversary who has seen the bits so far, and knows all
//! but one record, steers t and s. Write H_x(P‖Q) = Σ max(0, P − xQ); (ε, δ)-privacy is H_{e^ε} ≤ δ for both orders of
//! every two neighbours.
//!
//! # Theorem
//! Let F₀(x) = max(0, 1−x) and
//!
//! > F_{j+1}(x) = sup over t and |s| ≤ Δ of p·F_j(xq/p) + (1−p)·F_j(x(1−q)/(1−p)),  p = a(t), q = a(t+s),
//!
//! a term with p = 0 being 0, one with q = 0 being p. Then k decisions are (ε, F_k(e^ε))-private for every ε, and no smaller δ holds
//! against every adversary. The supremum is reached at s = ±Δ.
//!
//! **Proof.** Split the law of j+1 bits by the first bit b, which has probability P(b) or Q(b): with P_b, Q_b the laws of the rest,
//! max(0, P(b)P_b − xQ(b)Q_b) = P(b)·max(0, P_b − x(Q(b)/P(b))Q_b), so H_x(P‖Q) = Σ_b P(b)·H_{xQ(b)/P(b)}(P_b‖Q_b). The adversary's choices
//! after b are free of those before and of those after the other outcome, so the supremum of the right side over them is the
//! theorem's with F_j; and the choice of the first t and s is free. An adversary who randomises averages such values.
//! For fixed t the bracket is convex in q (each term is a perspective of the convex F_j), so on a(t−Δ) ≤ q ≤ a(t+Δ) it is largest
//! at an end. ∎
//!
//! Three properties carry the computation. F_j is **convex and non-increasing**, a supremum of such functions x ↦ H_x(P‖Q). It **mirrors**,
//! F_j(x) = 1 − x + x·F_j(1/x): the adversary's choices are closed under exchange of P and Q, and H_x(P‖Q) = 1 − x + x·H_{1/x}(Q‖P). And it
//! **dominates**: whatever came before j decisions, they add no more than the pair of distributions with curve F_j.
//!
//! # Mixing
//! Any interleaving of Gaussian releases (each of fixed ratio) with decisions costs at most all releases first, then all
//! decisions: for a release G before which a bit is decided, sup_t E_G[…] ≤ E_G[sup_t …], and the right side is the bit decided
//! after seeing the release. So the curve F_k composes with the releases' as if it were one mechanism, even when they fall between its
//! bits: [`composition`] hands it over.
//!
//! # How it is computed
//! The supremum over t becomes a maximum over a few corners of an enclosing polygon, chosen by what coins gain an adversary on the way of
//! the run; the upper program runs them over a grid, every rounding upward; the lower one finds attacks that can be carried
//! out. Both are proved where they are written.
//! Beyond some thousand steps, blocks of steps are composed by their privacy-loss distributions. Work is counted and
//! limited; past the limit the closed forms answer: a bounded range, or zero-concentration.
//!
//! What is priced is the ideal coin; what a computed one adds is [`Rule::coin_error`](crate::Rule::coin_error).

mod acceptance;
mod attack;
mod blocks;
mod closed;
mod envelope;
mod lower;
mod memory;
mod mixture;
mod pair;
mod peak;
mod profile;
mod program;
mod renyi;
mod search;
#[cfg(test)]
mod tests;
mod upper;

pub use acceptance::{Acceptance, Shape};
pub use profile::Profile;
pub use renyi::{Divergences, bounded_range, divergence, zcdp};

use crate::pld::{Accuracy, Composition, DominatingPair};
use crate::{Bracket, Delta, Epsilon, Error, GaussianRun, Mu, Sensitivity, Steps};
use attack::Attack;
use blocks::Blocks;
use closed::Closed;
pub(crate) use memory::Memory;
pub(crate) use program::Attacks;
use program::{Kind, Program, Stretch};
pub(crate) use search::{Longest, longest};

/// Sensitivities for which a dynamic program is run; outside, closed forms answer.
const SENSITIVITIES: std::ops::RangeInclusive<f64> = 1e-9..=32.0;

/// Below this δ no grid is made; the closed forms are as good as zero there.
const SMALLEST_DELTA: f64 = 1e-110;

fn too_many_steps() -> Error {
    Error::Unresolved { what: "a composition of decisions", reason: "too many steps for this sensitivity" }
}

/// A composition of decisions, by one dynamic program or by blocks.
pub(crate) enum Composed {
    Whole(Profile),
    Blocks { blocks: Blocks, steps: Steps, attack: Option<Attack> },
}

impl Composed {
    fn new(
        rule: &dyn Acceptance,
        sensitivity: f64,
        steps: Steps,
        smallest: f64,
        attacks: Attacks,
    ) -> Result<Self, Error> {
        if !SENSITIVITIES.contains(&sensitivity) {
            return Err(too_many_steps());
        }
        let (kind, stretch) = (Kind::new(rule, sensitivity)?, Stretch::of(steps.0));
        if let Some(mut program) = Program::plan(&kind, stretch, smallest, attacks)? {
            while program.steps < steps.0 {
                program.advance()?;
            }
            return Ok(Self::Whole(program.profile()));
        }
        let blocks = Blocks::new(&kind, stretch, smallest)?;
        let attack = match attacks {
            Attacks::Run => Some(Attack::new(rule, sensitivity, steps.0 as f64)?),
            Attacks::Spared => None,
        };
        Ok(Self::Blocks { blocks, steps, attack })
    }

    fn epsilon(&self, delta: Delta) -> Result<Bracket, Error> {
        match self {
            Self::Whole(profile) => profile.epsilon(delta),
            Self::Blocks { blocks, steps, attack } => {
                let upper = blocks.epsilon(*steps, delta)?;
                Ok(Bracket { lower: attack.as_ref().map(|attack| attack.epsilon(delta.get(), upper)), upper })
            }
        }
    }

    fn delta(&self, epsilon: Epsilon) -> Result<Bracket, Error> {
        match self {
            Self::Whole(profile) => Ok(profile.delta(epsilon)),
            Self::Blocks { blocks, steps, attack } => {
                let upper = blocks.delta(*steps, epsilon)?;
                let lower = attack.as_ref().map(|attack| attack.delta(epsilon.get()).clamp(0.0, upper));
                Ok(Bracket { lower, upper })
            }
        }
    }
}

/// ε of k decisions at a given δ.
///
/// **Privacy.** The upper end holds for every adversary who steers each step's log-ratio by the bits before it; no ε below the lower end
/// holds against all of them.
///
/// # Errors
/// [`Error::Argument`] or [`Error::Mismatch`] for an invalid rule; [`Error::Unresolved`] if the steps are too many for the
/// dynamic programs and the rule has no closed form either.
///
/// ```
/// use barkeep_accounting::{Delta, Rule, Sensitivity, Steps, decision};
/// let cost = decision::epsilon(&Rule::Barker, Sensitivity::new(0.05)?, Steps(89), Delta::new(1e-6)?)?;
/// assert!(cost.upper <= 1.0 && cost.lower > Some(0.99));
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
pub fn epsilon(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    delta: Delta,
) -> Result<Bracket, Error> {
    Decisions::new(rule, sensitivity, steps, delta, Attacks::Run)?.epsilon(delta)
}

/// A number of decisions, composed once and asked for ε at any δ down to about the one they were composed for.
pub(crate) struct Decisions<'a> {
    rule: &'a dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    composed: Result<Composed, Error>,
    attacks: Attacks,
}

impl<'a> Decisions<'a> {
    /// Without attacks brackets may have no lower end; the upper one is the same to the bit.
    pub(crate) fn new(
        rule: &'a dyn Acceptance,
        sensitivity: Sensitivity,
        steps: Steps,
        smallest: Delta,
        attacks: Attacks,
    ) -> Result<Self, Error> {
        rule.check()?;
        let composed = match steps.0 {
            0 => Err(too_many_steps()),
            _ => Composed::new(rule, sensitivity.get(), steps, lowest(smallest), attacks),
        };
        Ok(Self { rule, sensitivity, steps, composed, attacks })
    }

    /// ε at δ.
    ///
    /// # Errors
    /// As [`epsilon`].
    pub(crate) fn epsilon(&self, delta: Delta) -> Result<Bracket, Error> {
        if self.steps.0 == 0 {
            return Ok(Bracket { lower: Some(0.0), upper: 0.0 });
        }
        let known = Closed::new(self.rule, self.sensitivity).epsilon(self.steps, delta);
        match self.composed.as_ref().map_err(Clone::clone).and_then(|composed| composed.epsilon(delta)) {
            Ok(found) => {
                let upper = found.upper.min(known);
                Ok(Bracket { lower: found.lower.map(|lower| lower.min(upper)), upper })
            }
            Err(_) if known.is_finite() => {
                let attack = || Attack::new(self.rule, self.sensitivity.get(), self.steps.0 as f64).ok();
                let attack = if self.attacks == Attacks::Run { attack() } else { None };
                Ok(Bracket { lower: attack.map(|attack| attack.epsilon(delta.get(), known)), upper: known })
            }
            Err(error) => Err(error),
        }
    }
}

/// Decisions composed for δ from some value on, to be [`followed`].
///
/// # Errors
/// As [`epsilon`].
pub(crate) fn composed(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    smallest: Delta,
) -> Result<Composed, Error> {
    rule.check()?;
    Composed::new(rule, sensitivity.get(), steps, lowest(smallest), Attacks::Spared)
}

/// δ at ε, from above.
type Along = Box<dyn Fn(Epsilon) -> Result<f64, Error>>;

/// δ of k decisions at any ε, from above, given their composition; blocks of them are composed this closely, where δ is at least `least`.
///
/// # Errors
/// As [`epsilon`].
pub(crate) fn followed<'a>(
    rule: &'a dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    composed: Result<Composed, Error>,
    accuracy: Accuracy,
    least: Delta,
) -> Result<impl Fn(Epsilon) -> Result<f64, Error> + 'a, Error> {
    let along: Result<Along, Error> = match composed {
        Ok(Composed::Whole(profile)) => Ok(Box::new(move |epsilon| Ok(profile.delta(epsilon).upper))),
        Ok(Composed::Blocks { blocks, steps, .. }) => {
            let followed = blocks.compose(steps)?.followed(accuracy, least)?;
            Ok(Box::new(move |epsilon| followed.delta(epsilon)))
        }
        Err(error) => Err(error),
    };
    Ok(move |epsilon| {
        let known = Closed::new(rule, sensitivity).delta(steps, epsilon);
        match along.as_ref().map_err(Clone::clone).and_then(|along| along(epsilon)) {
            Ok(found) => Ok(found.min(known)),
            Err(_) if known < 1.0 => Ok(known),
            Err(error) => Err(error),
        }
    })
}

/// The δ down to which a grid is made for this one.
fn lowest(delta: Delta) -> f64 {
    delta.get().max(SMALLEST_DELTA)
}

/// δ of k decisions at a given ε.
///
/// # Errors
/// As [`epsilon`].
pub fn delta(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    epsilon: Epsilon,
) -> Result<Bracket, Error> {
    rule.check()?;
    let closed = Closed::new(rule, sensitivity);
    let known = closed.delta(steps, epsilon);
    if known < SMALLEST_DELTA {
        return Ok(Bracket { lower: Some(0.0), upper: known });
    }
    // A guess at the answer, for the tails to be cut below it.
    let strength = information(rule, sensitivity).unwrap_or(1.0) * steps.0 as f64;
    let like = Mu::new(strength.sqrt()).and_then(GaussianRun::from_mu);
    let mut smallest =
        like.map_or(1e-10, |gaussian| gaussian.delta(epsilon).upper).clamp(SMALLEST_DELTA, 0.1);
    let mut found = Err(too_many_steps());
    for _ in 0..3 {
        found = Composed::new(rule, sensitivity.get(), steps, smallest, Attacks::Run)
            .and_then(|composed| composed.delta(epsilon));
        let Ok(Bracket { lower, upper }) = found else { break };
        if upper >= 0.1 * smallest || smallest <= SMALLEST_DELTA {
            break;
        }
        // What was cut off may be most of the answer: aim lower, at a δ that is reached for certain if there is one.
        let next = lower.filter(|lower| *lower > 0.0).unwrap_or(smallest * smallest);
        smallest = next.min(0.5 * smallest).max(SMALLEST_DELTA);
    }
    match found {
        Ok(Bracket { lower, upper }) => {
            let upper = upper.min(known);
            Ok(Bracket { lower: lower.map(|lower| lower.min(upper)), upper })
        }
        Err(_) if known < 1.0 => {
            let attack = Attack::new(rule, sensitivity.get(), steps.0 as f64).ok();
            let lower = attack.map(|attack| attack.delta(epsilon.get()).clamp(0.0, known));
            Ok(Bracket { lower, upper: known })
        }
        Err(error) => Err(error),
    }
}

/// The largest number of decisions found to be (ε, δ)-private: never too many.
///
/// **Precision.** Up to some hundred steps mostly the true number, or one less; beyond, mostly within 0.6 %. Of lazy tests and of penalty
/// tests with little noise some 2 % may be missed.
///
/// # Errors
/// As [`epsilon`].
///
/// ```
/// use barkeep_accounting::{Delta, Epsilon, Rule, Sensitivity, Steps, decision};
/// let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
/// let steps = decision::largest_steps(&Rule::Barker, Sensitivity::new(0.05)?, epsilon, delta)?;
/// assert_eq!(steps, Steps(89));
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
pub fn largest_steps(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Steps, Error> {
    match longest(rule, sensitivity, epsilon, delta, &|_, ideal| ideal(delta)) {
        Ok(Some(found)) => Ok(found.steps),
        _ => largest_known(rule, sensitivity, epsilon, delta),
    }
}

/// The most decisions that closed forms allow.
///
/// # Errors
/// As [`epsilon()`].
pub(crate) fn largest_known(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    epsilon: Epsilon,
    delta: Delta,
) -> Result<Steps, Error> {
    rule.check()?;
    let closed = Closed::new(rule, sensitivity);
    if closed.exists() { Ok(closed.largest_steps(epsilon, delta)) } else { Err(too_many_steps()) }
}

/// μ² of one decision in the limit of many small ones, Δ²·sup a'²/(a(1−a)); for planning, not a bound.
///
/// # Errors
/// As [`epsilon`].
pub(crate) fn information(rule: &dyn Acceptance, sensitivity: Sensitivity) -> Result<f64, Error> {
    rule.check()?;
    Ok(Kind::new(rule, sensitivity.get())?.information())
}

/// δ as a function of ε for k decisions, for δ down to about `smallest`.
///
/// # Errors
/// As [`epsilon`]; [`Error::Unresolved`] also if the steps are too many for one dynamic program.
pub fn profile(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    smallest: Delta,
) -> Result<Profile, Error> {
    rule.check()?;
    match Composed::new(rule, sensitivity.get(), steps, lowest(smallest), Attacks::Run)? {
        Composed::Whole(profile) => Ok(profile),
        Composed::Blocks { .. } => Err(too_many_steps()),
    }
}

/// Below this δ the curve of a single decision is not followed.
const SINGLE_STEP_FLOOR: f64 = 1e-30;

/// The curve of one decision, as a fixed pair.
pub(crate) fn single(rule: &dyn Acceptance, sensitivity: Sensitivity) -> Result<DominatingPair, Error> {
    profile(rule, sensitivity, Steps(1), Delta::trusted(SINGLE_STEP_FLOOR))?.curve()
}

/// k decisions as mechanisms to be composed with others, for δ down to about `smallest`.
///
/// **Privacy.** Valid also when Gaussian releases of fixed ratio fall between the decisions (see the module's proof). Brackets of
/// the composition have no lower end.
///
/// # Errors
/// As [`epsilon`].
pub fn composition(
    rule: &dyn Acceptance,
    sensitivity: Sensitivity,
    steps: Steps,
    smallest: Delta,
) -> Result<Composition, Error> {
    rule.check()?;
    match Composed::new(rule, sensitivity.get(), steps, lowest(smallest), Attacks::Spared)? {
        Composed::Whole(profile) => Ok(Composition::new().and(&profile.curve()?, Steps(1))),
        Composed::Blocks { blocks, steps, .. } => blocks.compose(steps),
    }
}
