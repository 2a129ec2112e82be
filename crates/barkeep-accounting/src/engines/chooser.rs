//! Chooses the tightest accountant that is valid for every part of a composition, and adds what rounded coins cost.
//!
//! * all Gaussian on full batches: the closed form, exact;
//! * decisions of one kind: optimal adaptive composition by dynamic programming;
//! * one kind of bit: the binomial sum, exact;
//! * anything with the minibatch Barker test, which has only a Rényi curve: Rényi divergences of all parts;
//! * everything else: privacy-loss distributions, decisions entering as [`Mixture`] says.
//!
//! Where privacy-loss distributions do not resolve, Rényi divergences bound the answer from above.

use std::cell::RefCell;

use barkeep_num::{smallest_real, try_largest_integer};

use super::bits::Bits;
use super::mixture::Mixture;
use crate::decision::{Attacks, Composed, Decisions, Longest, Memory};
use crate::mechanisms::{Bernoulli, Suits};
use crate::pld::Accuracy;
use crate::price::Detail;
use crate::renyi::RenyiComposition;
use crate::{
    Answer, Bracket, CoinError, Cost, Delta, Epsilon, Error, GaussianRun, Most, Mu, PrivacyCurve, Risk, Rule,
    Sensitivity, Steps, decision,
};

/// What one round of steps costs, ready to be asked about any number of rounds.
pub(crate) struct Accountant {
    engine: Engine,
    /// Of one round.
    coins: CoinError,
    /// What the last search for decisions composed, and for which δ: whoever asks for its curve need not compose it again.
    found: Option<(Steps, Delta, Composed)>,
}

enum Engine {
    Gaussian(GaussianRun),
    Decision { rule: Rule, sensitivity: Sensitivity, steps: Steps, bound: Option<Renyi> },
    Bits { bits: Bits, steps: Steps, many: Box<Engine> },
    Mixture { mixture: Mixture, bound: Option<Renyi> },
    Renyi(Renyi),
}

/// δ at ε, from above.
type Curve<'a> = dyn Fn(Epsilon) -> Result<f64, Error> + 'a;

/// The δ that a curve is followed down to.
const SMALLEST_OF_CURVE: f64 = 1e-12;

/// The δ for which a curve of mixed steps is followed first: sampled batches have rare large losses, and a lattice made for a larger δ
/// does not show how little is left far beyond.
const RARE: f64 = 1e-10;

struct Renyi {
    composition: RenyiComposition,
    classical: bool,
}

/// Rounds whose coins are set aside at first: enough for most questions, and cheap.
const ASIDE: u64 = 4096;

/// Searches made at most until the number of coins set aside is right.
const SEARCHES: usize = 6;

/// Single rounds tried on top: the coins set aside may have been some too many.
const TRIED_ON_TOP: usize = 3;

/// More rounds than these are not tried one by one: nobody misses one of them, and each takes a program.
const COUNTED: u64 = 1 << 20;

impl Accountant {
    pub(crate) fn new(round: &[(Cost, Steps)]) -> Result<Self, Error> {
        Self::remembering(round, &Memory::default())
    }

    /// As [`Accountant::new`], for one of several questions that share what they compute of decisions.
    pub(crate) fn remembering(round: &[(Cost, Steps)], memory: &Memory) -> Result<Self, Error> {
        let parts: Vec<&(Cost, Steps)> = round
            .iter()
            .filter(|(cost, steps)| steps.0 > 0 && !matches!(cost.suits(), Suits::Free))
            .collect();
        let coins = parts
            .iter()
            .fold(CoinError::NONE, |sum, (cost, steps)| sum.and(CoinError::of(cost).times(*steps)));
        let engine = if let Some(gaussian) = all_gaussian(&parts)? {
            Engine::Gaussian(gaussian)
        } else if let Some((rule, sensitivity, steps)) = one_decision(&parts) {
            Engine::Decision { rule, sensitivity, steps, bound: renyi(&parts).ok() }
        } else if let Some((bits, steps)) = one_bit(&parts) {
            let many =
                Engine::Mixture { mixture: Mixture::new(&parts, memory.clone())?, bound: renyi(&parts).ok() };
            Engine::Bits { bits, steps, many: Box::new(many) }
        } else if parts.iter().any(|(cost, _)| matches!(cost.suits(), Suits::Divergences { .. })) {
            Engine::Renyi(renyi(&parts)?)
        } else {
            Engine::Mixture { mixture: Mixture::new(&parts, memory.clone())?, bound: renyi(&parts).ok() }
        };
        Ok(Self { engine, coins, found: None })
    }

    /// The accountant's name, for people.
    pub(crate) fn method(&self) -> &'static str {
        self.engine.method()
    }

    /// ε of `rounds` rounds, coins included.
    pub(crate) fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Answer, Error> {
        let mut method = self.method();
        if rounds.0 == 0 {
            return Ok(Answer { bracket: Bracket::exact(0.0), method });
        }
        let Self { engine, coins, .. } = self;
        let coins = coins.times(rounds);
        if let Engine::Decision { rule, sensitivity, steps, .. } = engine {
            // Composed once, whatever the coins ask.
            let asked = steps.times(rounds)?;
            let decisions = Decisions::new(rule, *sensitivity, asked, delta, Attacks::Run)?;
            if let Ok(bracket) = coins.epsilon(delta, |delta| decisions.epsilon(delta)) {
                return Ok(Answer { bracket, method });
            }
        }
        let bracket = coins.epsilon(delta, |delta| {
            let answer = engine.epsilon(rounds, delta)?;
            method = answer.method.unwrap_or(method);
            Ok(answer.bracket)
        })?;
        Ok(Answer { bracket, method })
    }

    /// The upper end of [`epsilon`](Accountant::epsilon) alone, to the bit, without what its lower end takes: attacks on decisions, and a second look
    /// where coins are rounded.
    pub(crate) fn epsilon_above(&mut self, rounds: Steps, delta: Delta) -> Result<f64, Error> {
        if let Engine::Decision { rule, sensitivity, steps, .. } = &self.engine {
            let decisions = Decisions::new(rule, *sensitivity, steps.times(rounds)?, delta, Attacks::Spared)?;
            let ideal = |delta: Delta| Ok(decisions.epsilon(delta)?.upper);
            if let Ok(upper) = self.coins.times(rounds).epsilon_above(delta, ideal) {
                return Ok(upper);
            }
        }
        if rounds.0 == 0 {
            return Ok(0.0);
        }
        let Self { engine, coins, .. } = self;
        coins.times(rounds).epsilon_above(delta, |delta| Ok(engine.epsilon(rounds, delta)?.bracket.upper))
    }

    /// δ at ε of `rounds` rounds, coins included.
    pub(crate) fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Answer, Error> {
        let mut method = self.method();
        if rounds.0 == 0 {
            return Ok(Answer { bracket: Bracket::exact(0.0), method });
        }
        let Self { engine, coins, .. } = self;
        let bracket = coins.times(rounds).delta(epsilon, |epsilon| {
            let answer = engine.delta(rounds, epsilon)?;
            method = answer.method.unwrap_or(method);
            Ok(answer.bracket)
        })?;
        Ok(Answer { bracket, method })
    }

    /// δ of `rounds` rounds at every ε, coins included.
    pub(crate) fn curve(&mut self, rounds: Steps, detail: Detail) -> Result<PrivacyCurve, Error> {
        if let Ok(Some(curve)) = self.composed_curve(rounds, detail) {
            return Ok(curve);
        }
        let accountant = RefCell::new(self);
        PrivacyCurve::with(
            detail,
            |delta| accountant.borrow_mut().epsilon_above(rounds, delta),
            |epsilon| Ok(accountant.borrow_mut().delta(rounds, epsilon)?.bracket.upper),
        )
    }

    /// What the rounds of the last search mean for one person; None where it did not compose them.
    pub(crate) fn risk_found(&mut self, rounds: Steps, delta: Delta) -> Option<Risk> {
        self.found.as_ref()?;
        self.curve(rounds, Detail::Risk(delta)).ok().map(|curve| curve.risk())
    }

    /// The curve of what is composed once and then asked for any ε; None for other engines.
    fn composed_curve(&mut self, rounds: Steps, detail: Detail) -> Result<Option<PrivacyCurve>, Error> {
        let (smallest, accuracy) = match detail {
            Detail::Whole => (Delta::trusted(SMALLEST_OF_CURVE), Accuracy::CLOSE),
            Detail::Risk(delta) => (delta, Accuracy::FAIR),
        };
        let found = self.found.take();
        let composed: Box<Curve<'_>> = match &self.engine {
            Engine::Decision { rule, sensitivity, steps, .. } => {
                let steps = steps.times(rounds)?;
                let composed = match found {
                    Some((found, delta, composed)) if (found, delta) == (steps, smallest) => Ok(composed),
                    _ => decision::composed(rule, *sensitivity, steps, smallest),
                };
                Box::new(decision::followed(rule, *sensitivity, steps, composed, accuracy, detail.least())?)
            }
            Engine::Mixture { mixture, .. } => {
                // The losses of blocks are neither rare nor large.
                let least = if mixture.is_in_blocks(rounds) { detail.least() } else { Delta::trusted(RARE) };
                let composed = mixture.composed_for(rounds, smallest)?.followed(accuracy, least)?;
                Box::new(move |epsilon| composed.delta(epsilon))
            }
            Engine::Gaussian(_) | Engine::Bits { .. } | Engine::Renyi(_) => return Ok(None),
        };
        let coins = self.coins.times(rounds);
        let found = |epsilon: Epsilon| coins.delta_above(epsilon, &composed);
        let end = |delta: Delta| {
            let fits =
                |epsilon: f64| found(Epsilon::trusted(epsilon)).is_ok_and(|spent| spent <= delta.get());
            smallest_real(0.0, 700.0, 0.05, fits)
                .ok_or(Error::Unbounded("delta is below the chance of an infinite privacy loss"))
        };
        PrivacyCurve::with(detail, end, found).map(Some)
    }

    /// Whether `rounds` rounds are certainly within (ε, δ). What no accountant resolves is not.
    ///
    /// Rényi divergences are asked first where they are at hand: they cost little, and a yes is a yes.
    pub(crate) fn fits(&mut self, rounds: Steps, epsilon: Epsilon, delta: Delta) -> Result<bool, Error> {
        if let Engine::Mixture { bound: Some(renyi), .. } = &mut self.engine {
            let coins = self.coins.times(rounds);
            if coins.delta(epsilon, |epsilon| Ok(renyi.delta(rounds, epsilon)))?.upper <= delta.get() {
                return Ok(true);
            }
        }
        match self.delta(rounds, epsilon) {
            Ok(spent) => Ok(spent.bracket.upper <= delta.get()),
            Err(Error::Unresolved { .. } | Error::Unbounded(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The most rounds that are certainly within (ε, δ), coins included, and the method that shows it.
    pub(crate) fn largest(&mut self, epsilon: Epsilon, delta: Delta) -> Result<Most, Error> {
        let method = self.method();
        let most = |steps: Steps, method: &'static str| Most { steps, method, epsilon: None };
        match &self.engine {
            Engine::Decision { rule, sensitivity, steps, .. } => {
                let (rule, sensitivity, steps) = (rule.clone(), *sensitivity, *steps);
                let price = |asked: Steps, ideal: &dyn Fn(Delta) -> Result<f64, Error>| {
                    self.coins.times(Steps(asked.0.div_ceil(steps.0))).epsilon_above(delta, ideal)
                };
                if let Ok(Some(Longest { steps: found, spent, composed })) =
                    decision::longest(&rule, sensitivity, epsilon, delta, &price)
                {
                    let whole = found.0.is_multiple_of(steps.0);
                    let epsilon = whole.then_some(spent);
                    self.found = composed.map(|composed| (found, delta, composed));
                    return Ok(Most { steps: Steps(found.0 / steps.0), method, epsilon });
                }
                let mut found = self.coins_aside(epsilon, delta, None, |epsilon, delta| {
                    let most = decision::largest_known(&rule, sensitivity, epsilon, delta)?;
                    Ok(Steps(most.0 / steps.0))
                })?;
                let tries = if found.0 < COUNTED { TRIED_ON_TOP } else { 0 };
                for _ in 0..tries {
                    let more = Steps(found.0.saturating_add(1));
                    match self.epsilon_above(more, delta) {
                        Ok(upper) if upper <= epsilon.get() => found = more,
                        _ => break,
                    }
                }
                Ok(most(found, method))
            }
            Engine::Bits { bits, steps, .. } => match bits.largest_steps(epsilon, delta) {
                // Too many for the sum. The other engine is left in its place: nobody asks for fewer afterwards.
                Err(Error::Unresolved { .. }) => {
                    let nothing = Engine::Gaussian(GaussianRun::nothing());
                    if let Engine::Bits { many, .. } = std::mem::replace(&mut self.engine, nothing) {
                        self.engine = *many;
                    }
                    self.largest(epsilon, delta)
                }
                found => Ok(most(Steps(found?.0 / steps.0), method)),
            },
            Engine::Mixture { mixture, .. } => {
                // With about the right number of coins set aside one search is enough.
                let rough =
                    if self.coins == CoinError::NONE { None } else { mixture.roughly(epsilon, delta)? };
                let found =
                    self.coins_aside(epsilon, delta, rough, |epsilon, delta| mixture.largest(epsilon, delta));
                let coins = self.coins;
                let Engine::Mixture { bound: Some(renyi), mixture } = &mut self.engine else {
                    return Ok(most(found?, method));
                };
                // The Rényi divergences of decisions take seconds, and allow less than their programs. Blocks of steps are never out of
                // a lattice's reach.
                if let Ok(found) = found
                    && (mixture.has_decisions() || mixture.is_in_blocks(found))
                {
                    return Ok(most(found, method));
                }
                // Asked directly: through `delta` every look would first try what has just failed.
                let mut fits = |rounds: u64| {
                    let rounds = Steps(rounds);
                    let spent =
                        coins.times(rounds).delta(epsilon, |epsilon| Ok(renyi.delta(rounds, epsilon)))?;
                    Ok(spent.upper <= delta.get())
                };
                match found {
                    // Past the reach of the lattice Rényi divergences may allow more; one look tells.
                    Ok(found) => {
                        let more = found.0.saturating_add(found.0 / 1000).saturating_add(1);
                        Ok(match try_largest_integer(more, u64::MAX, fits)? {
                            Some(more) => most(Steps(more), renyi.method()),
                            None => most(found, method),
                        })
                    }
                    Err(Error::Unresolved { .. }) => {
                        let found = try_largest_integer(0, u64::MAX, &mut fits)?.unwrap_or(0);
                        Ok(most(Steps(found), renyi.method()))
                    }
                    Err(error) => Err(error),
                }
            }
            Engine::Gaussian(_) | Engine::Renyi(_) => {
                let fits = |rounds: u64| Ok(self.delta(Steps(rounds), epsilon)?.bracket.upper <= delta.get());
                Ok(most(Steps(try_largest_integer(0, u64::MAX, fits)?.unwrap_or(0)), method))
            }
        }
    }

    /// About the most rounds within (ε, δ), for showing only: of many decisions as many as if each were Gaussian noise of the same
    /// information, their limit; of mixed steps what their outline says. Elsewhere exact. None where there is no telling.
    pub(crate) fn roughly(&mut self, epsilon: Epsilon, delta: Delta) -> Result<Option<Steps>, Error> {
        match &self.engine {
            Engine::Decision { rule, sensitivity, steps, .. } => {
                let one = decision::information(rule, *sensitivity)? * steps.0 as f64;
                let allowed = Mu::largest_within(epsilon, delta).get();
                // A cast saturates.
                Ok((one > 0.0).then_some(Steps((allowed * allowed / one) as u64)))
            }
            Engine::Mixture { mixture, .. } => mixture.roughly(epsilon, delta),
            Engine::Gaussian(_) | Engine::Bits { .. } | Engine::Renyi(_) => {
                Ok(Some(self.largest(epsilon, delta)?.steps))
            }
        }
    }

    /// Asks for the most rounds with ideal coins, what the coins of as many rounds cost set aside before.
    ///
    /// If r rounds fit beside the coins of c, min(r, c) rounds fit with their own.
    fn coins_aside(
        &self,
        epsilon: Epsilon,
        delta: Delta,
        rough: Option<Steps>,
        ideal: impl Fn(Epsilon, Delta) -> Result<Steps, Error>,
    ) -> Result<Steps, Error> {
        if self.coins == CoinError::NONE {
            return ideal(epsilon, delta);
        }
        let more = |steps: u64| steps.saturating_add(steps / 64).saturating_add(1);
        let (mut fitting, mut beyond) = (0, u64::MAX);
        let mut aside = rough.map_or(ASIDE, |Steps(rough)| more(rough));
        for _ in 0..SEARCHES {
            let (left, found) = loop {
                match self.coins.times(Steps(aside)).reduced(epsilon, delta) {
                    Some((left, delta)) => break (left, ideal(left, delta)?.0),
                    None if aside / 8 <= fitting => return Ok(Steps(fitting)),
                    None => (beyond, aside) = (aside, aside / 8),
                }
            };
            fitting = fitting.max(found.min(aside));
            if found >= aside {
                aside = more(found);
            } else {
                beyond = beyond.min(aside);
                // About the right number was set aside, or so little that it does not matter.
                let enough = if rough.is_some() { 1e-3 } else { 1e-7 };
                if epsilon.get() - left.get() < enough * epsilon.get() {
                    break;
                }
            }
            if beyond - fitting <= 1 {
                break;
            }
            // Above what fits and below what does not; between them, the middle.
            aside = if aside < beyond { aside } else { fitting + (beyond - fitting) / 2 };
        }
        Ok(Steps(fitting))
    }
}

/// A bracket, and the method if it was not the first choice.
struct Found {
    bracket: Bracket,
    method: Option<&'static str>,
}

impl From<Bracket> for Found {
    fn from(bracket: Bracket) -> Self {
        Self { bracket, method: None }
    }
}

impl Engine {
    fn method(&self) -> &'static str {
        match self {
            Self::Gaussian(_) => "closed form of the Gaussian mechanism",
            Self::Decision { .. } => "optimal adaptive composition of decisions",
            Self::Bits { .. } => "exact sum over the number of ones",
            Self::Mixture { mixture, .. } => mixture.method(),
            Self::Renyi(renyi) => renyi.method(),
        }
    }

    fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Found, Error> {
        match self {
            Self::Gaussian(round) => Ok(round.repeated(rounds)?.epsilon(delta).into()),
            Self::Decision { rule, sensitivity, steps, bound } => {
                let first = decision::epsilon(rule, *sensitivity, steps.times(rounds)?, delta);
                fallback(first, bound, |renyi| renyi.epsilon(rounds, delta))
            }
            Self::Bits { bits, steps, many } => {
                let exact = steps.times(rounds).and_then(|steps| bits.epsilon(steps, delta));
                or_many(exact, many, |many| many.epsilon(rounds, delta))
            }
            Self::Mixture { mixture, bound } => {
                better(mixture, mixture.epsilon(rounds, delta), bound, |renyi| renyi.epsilon(rounds, delta))
            }
            Self::Renyi(renyi) => Ok(renyi.epsilon(rounds, delta)?.into()),
        }
    }

    fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Result<Found, Error> {
        match self {
            Self::Gaussian(round) => Ok(round.repeated(rounds)?.delta(epsilon).into()),
            Self::Decision { rule, sensitivity, steps, bound } => {
                let first = decision::delta(rule, *sensitivity, steps.times(rounds)?, epsilon);
                fallback(first, bound, |renyi| Ok(renyi.delta(rounds, epsilon)))
            }
            Self::Bits { bits, steps, many } => {
                let exact = steps.times(rounds).and_then(|steps| bits.delta(steps, epsilon));
                or_many(exact, many, |many| many.delta(rounds, epsilon))
            }
            Self::Mixture { mixture, bound } => {
                better(mixture, mixture.delta(rounds, epsilon), bound, |renyi| {
                    Ok(renyi.delta(rounds, epsilon))
                })
            }
            Self::Renyi(renyi) => Ok(renyi.delta(rounds, epsilon).into()),
        }
    }
}

/// The exact sum, or privacy-loss distributions where it would be too long.
fn or_many(
    exact: Result<Bracket, Error>,
    many: &mut Engine,
    ask: impl FnOnce(&mut Engine) -> Result<Found, Error>,
) -> Result<Found, Error> {
    match exact {
        Err(Error::Unresolved { .. }) => {
            let method = many.method();
            let found = ask(many)?;
            Ok(Found { method: found.method.or(Some(method)), ..found })
        }
        exact => Ok(exact?.into()),
    }
}

/// The first answer, or a bound by Rényi divergences where it did not resolve.
fn fallback(
    first: Result<Bracket, Error>,
    bound: &mut Option<Renyi>,
    second: impl FnOnce(&mut Renyi) -> Result<Bracket, Error>,
) -> Result<Found, Error> {
    match (first, bound) {
        (Err(refusal @ Error::Unresolved { .. }), Some(renyi)) => {
            let method = Some(renyi.method());
            // If that gives nothing either, the first refusal says more.
            second(renyi).map(|bracket| Found { bracket, method }).or(Err(refusal))
        }
        (first, _) => Ok(first?.into()),
    }
}

/// As [`fallback`], and where the first answer is far from narrow the better of the two.
///
/// Not tried when there are decisions: their bracket has no lower end, and their Rényi divergences are expensive.
fn better(
    mixture: &Mixture,
    first: Result<Bracket, Error>,
    bound: &mut Option<Renyi>,
    second: impl FnOnce(&mut Renyi) -> Result<Bracket, Error>,
) -> Result<Found, Error> {
    let wide = |found: &Bracket| found.lower.is_none_or(|lower| found.upper > 1.02 * lower);
    match (first, bound) {
        (Ok(first), Some(renyi)) if !mixture.has_decisions() && wide(&first) => match second(renyi) {
            Ok(bound) if bound.upper < first.upper => {
                let bracket = Bracket { lower: first.lower, upper: bound.upper };
                Ok(Found { bracket, method: Some(renyi.method()) })
            }
            _ => Ok(first.into()),
        },
        (first, bound) => fallback(first, bound, second),
    }
}

impl Renyi {
    fn method(&self) -> &'static str {
        if self.classical { "Rényi divergence, converted as published" } else { "Rényi divergence" }
    }

    fn epsilon(&mut self, rounds: Steps, delta: Delta) -> Result<Bracket, Error> {
        if self.classical {
            self.composition.epsilon_classical(rounds, delta)
        } else {
            self.composition.epsilon(rounds, delta)
        }
    }

    fn delta(&mut self, rounds: Steps, epsilon: Epsilon) -> Bracket {
        if self.classical {
            self.composition.delta_classical(rounds, epsilon)
        } else {
            self.composition.delta(rounds, epsilon)
        }
    }
}

/// All parts as one Gaussian mechanism, if they are.
fn all_gaussian(parts: &[&(Cost, Steps)]) -> Result<Option<GaussianRun>, Error> {
    let mut sum = GaussianRun::nothing();
    for (cost, steps) in parts {
        match cost.suits() {
            Suits::ClosedForm(ratio) => sum = sum.and(GaussianRun::new(ratio, *steps)?)?,
            Suits::Free => {}
            Suits::Decisions { .. } | Suits::Bits(_) | Suits::Losses | Suits::Divergences { .. } => {
                return Ok(None);
            }
        }
    }
    Ok(Some(sum))
}

/// The first part and the steps of all, if all are steps of one mechanism.
fn one_kind<'a>(parts: &[&'a (Cost, Steps)]) -> Option<(&'a Cost, Steps)> {
    let (first, _) = parts.first()?;
    let same = parts.iter().all(|(cost, _)| cost.mechanism() == first.mechanism());
    let steps = parts.iter().try_fold(0_u64, |sum, (_, steps)| sum.checked_add(steps.0))?;
    same.then_some((first, Steps(steps)))
}

/// All parts as decisions by one rule within one sensitivity, if they are.
fn one_decision(parts: &[&(Cost, Steps)]) -> Option<(Rule, Sensitivity, Steps)> {
    let (cost, steps) = one_kind(parts)?;
    let Suits::Decisions { rule, sensitivity } = cost.suits() else { return None };
    Some((rule.clone(), sensitivity, steps))
}

/// All parts as one kind of bit, if they are.
fn one_bit(parts: &[&(Cost, Steps)]) -> Option<(Bits, Steps)> {
    let (cost, steps) = one_kind(parts)?;
    let Suits::Bits(Bernoulli { p, q }) = cost.suits() else { return None };
    Bits::new(p, q).map(|bits| (bits, steps))
}

fn renyi(parts: &[&(Cost, Steps)]) -> Result<Renyi, Error> {
    let curves: Result<Vec<_>, Error> =
        parts.iter().map(|(cost, steps)| Ok((cost.divergences()?, *steps))).collect();
    let published = |cost: &Cost| matches!(cost.suits(), Suits::Divergences { as_published: true });
    let classical = parts.iter().all(|(cost, _)| published(cost));
    Ok(Renyi { composition: RenyiComposition::new(curves?), classical })
}
