//! Answers what a composition of mechanisms costs, always from both sides.

use std::sync::Arc;

use barkeep_num::convolution::Planner;

use super::atoms::Losses;
use super::composer::Step;
use super::dominating_pair::{DominatingPair, SHIFTS};
use super::followed::Followed;
use super::normal::{Kind, NormalPair};
use super::plan::Target;
use super::query::Query;
use super::work::Work;
use crate::{Bracket, Delta, Epsilon, Error, Steps};

/// Directions of mechanisms that need not agree, at most.
const MOST_DIRECTIONS: u32 = 4;

/// How close the two ends of a bracket must be.
///
/// A bracket of ε is close enough if its ends differ by this much, relative, or if δ at its upper end is known that well. A
/// bracket of δ is if its ends differ by this much, relative; where that is more than can be done, as for very small δ, if they
/// differ by no more than a change of ε by this much would make.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    relative: f64,
    required: bool,
}

impl Accuracy {
    /// 1e-2, or else whatever bracket the limits on work leave.
    pub const WIDE: Self = Self { relative: 1e-2, required: false };

    /// 3e-3, or else whatever bracket the limits on work leave.
    pub const FAIR: Self = Self { relative: 3e-3, required: false };

    /// 1e-3, or else whatever bracket the limits on work leave.
    pub const CLOSE: Self = Self { relative: 1e-3, required: false };

    /// 1e-4, or else whatever bracket the limits on work leave.
    pub const NARROW: Self = Self { relative: 1e-4, required: false };

    /// 1e-5, or else whatever bracket the limits on work leave.
    pub const AIMED: Self = Self { relative: 1e-5, required: false };

    /// Checks the range.
    ///
    /// # Errors
    /// [`Error::Argument`] outside 1e-9 to 0.1.
    pub fn new(relative: f64) -> Result<Self, Error> {
        if (1e-9..=0.1).contains(&relative) {
            Ok(Self { relative, required: true })
        } else {
            Err(Error::Argument { name: "accuracy", requirement: "between 1e-9 and 0.1", value: relative })
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.relative
    }

    /// Whether a wider bracket is no answer.
    pub(super) fn is_required(self) -> bool {
        self.required
    }
}

impl Default for Accuracy {
    /// 1e-5.
    fn default() -> Self {
        Self { relative: 1e-5, required: true }
    }
}

/// Mechanisms used one after another, each chosen in view of the answers before, all fixed beforehand.
///
/// ```
/// use barkeep_accounting::pld::{Accuracy, Composition, DominatingPair};
/// use barkeep_accounting::{Delta, Neighbours, Rate, Ratio, Sampling, Steps};
/// // A thousand noisy batch gradients, each record in a batch with probability 0.01, noise equal to the sensitivity.
/// let sampling = Sampling::Poisson { rate: Rate::new(0.01)? };
/// let step = DominatingPair::subsampled_gaussian(Ratio::new(1.0)?, sampling, Neighbours::AddRemove)?;
/// let run = Composition::new().and(&step, Steps(1000));
/// let epsilon = run.epsilon(Delta::new(1e-6)?, Accuracy::default())?;
/// assert!(epsilon.lower <= Some(2.124_515_171) && 2.124_515_171 <= epsilon.upper);
/// assert!(epsilon.upper - epsilon.lower.unwrap_or(0.0) < 3e-5);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Composition {
    parts: Vec<(DominatingPair, u64)>,
    /// Σk/ratio² of the Gaussian mechanisms, which compose to one.
    gaussian: f64,
}

impl Composition {
    /// Nothing yet: δ(ε) = 0.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds steps of one mechanism.
    #[must_use]
    pub fn and(mut self, curve: &DominatingPair, steps: Steps) -> Self {
        match curve.gaussian {
            _ if steps.0 == 0 => {}
            Some(square) => self.gaussian += steps.0 as f64 * square,
            None => {
                match self.parts.iter_mut().find(|(known, _)| Arc::ptr_eq(&known.forward, &curve.forward)) {
                    Some((_, known)) => *known = known.saturating_add(steps.0),
                    None => self.parts.push((curve.clone(), steps.0)),
                }
            }
        }
        self
    }

    /// ε at a given δ.
    ///
    /// # Errors
    /// [`Error::Unbounded`] if δ is below the mass at infinite loss; [`Error::Unresolved`] if the bracket cannot be made as
    /// narrow as asked for within the limits on work and memory.
    pub fn epsilon(&self, delta: Delta, accuracy: Accuracy) -> Result<Bracket, Error> {
        let log_delta = libm::log(delta.get());
        self.worst(Target::LogDelta(log_delta), accuracy)
    }

    /// δ at a given ε.
    ///
    /// # Errors
    /// [`Error::Unresolved`] as for [`Composition::epsilon`].
    pub fn delta(&self, epsilon: Epsilon, accuracy: Accuracy) -> Result<Bracket, Error> {
        self.worst(Target::Epsilon(epsilon.get()), accuracy)
    }

    /// All of this, to be asked for δ at many ε, mostly where it is at least `least`.
    ///
    /// # Errors
    /// As [`Composition::epsilon`].
    pub(crate) fn followed(&self, accuracy: Accuracy, least: Delta) -> Result<Followed, Error> {
        Followed::new(self.directions()?, accuracy, least)
    }

    /// How often all of this can be repeated within (ε, δ): never once too often, and at most a fraction `accuracy` too seldom.
    ///
    /// Exact wherever the brackets of δ after n and after n + 1 repetitions exclude δ, and refined until they do
    /// or the limits on work are met.
    ///
    /// ```
    /// use barkeep_accounting::pld::{Accuracy, Composition, DominatingPair};
    /// use barkeep_accounting::{Delta, Epsilon, Neighbours, Rate, Ratio, Sampling, Steps};
    /// let sampling = Sampling::Poisson { rate: Rate::new(0.01)? };
    /// let step = DominatingPair::subsampled_gaussian(Ratio::new(1.0)?, sampling, Neighbours::AddRemove)?;
    /// let once = Composition::new().and(&step, Steps(1));
    /// let most = once.largest_repetitions(Epsilon::new(1.0)?, Delta::new(1e-6)?, Accuracy::default())?;
    /// assert_eq!(most, Steps(120));
    /// # Ok::<(), barkeep_accounting::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Unbounded`] if it costs nothing, [`Error::Unresolved`] as for [`Composition::epsilon`].
    pub fn largest_repetitions(
        &self,
        epsilon: Epsilon,
        delta: Delta,
        accuracy: Accuracy,
    ) -> Result<Steps, Error> {
        let log_delta = libm::log(delta.get());
        let (mut planner, work) = (Planner::default(), Work::new());
        let mut fewest: Option<u64> = None;
        for direction in self.directions()? {
            let query = Query::new(&direction, log_delta, &work)?;
            // Often another direction allows more: then one look is enough.
            let seen = |times: &u64| *times > 0;
            if fewest
                .filter(seen)
                .is_some_and(|times| query.fits(times, epsilon.get(), log_delta, &mut planner))
            {
                continue;
            }
            let times = query.largest_repetitions(epsilon.get(), log_delta, accuracy, &mut planner)?;
            fewest = Some(fewest.map_or(times, |fewest| fewest.min(times)));
        }
        fewest.map(Steps).ok_or(Error::Unbounded("nothing is asked: it can be repeated without end"))
    }

    /// About how often all of this can be repeated within (ε, δ), from its outline alone; none where there is no telling.
    ///
    /// For showing, and to begin a search: nothing is certified by it.
    pub(crate) fn roughly_repeated(&self, epsilon: Epsilon, delta: Delta) -> Result<Option<Steps>, Error> {
        let log_delta = libm::log(delta.get());
        let work = Work::new();
        let mut fewest = f64::INFINITY;
        for direction in self.directions()? {
            let query = Query::new(&direction, log_delta, &work)?;
            fewest = fewest.min(query.into_model().repetitions(epsilon.get(), log_delta));
        }
        // A cast saturates.
        Ok(fewest.is_finite().then_some(Steps(fewest as u64)))
    }

    /// The worst over all directions.
    fn worst(&self, target: Target, accuracy: Accuracy) -> Result<Bracket, Error> {
        let mut directions = self.directions()?;
        if target == Target::Epsilon(0.0) {
            // H₁ does not change when P and Q are exchanged: of a direction and its mirror image one is enough.
            directions.truncate(directions.len().div_ceil(2));
        }
        let log_delta = match target {
            Target::LogDelta(log_delta) => log_delta,
            // δ may be anything that f64 can tell from 0.
            Target::Epsilon(_) => -745.0,
        };
        let work = Work::new();
        let mut queries: Vec<Query<'_>> = (directions.iter().filter(|steps| !steps.is_empty()))
            .map(|steps| Query::new(steps, log_delta, &work))
            .collect::<Result<_, Error>>()?;
        if queries.len() > 1 {
            queries.sort_by(|a, b| b.estimate(target).total_cmp(&a.estimate(target)));
        }
        let mut planner = Planner::default();
        let mut worst: Option<Bracket> = None;
        for query in queries {
            // The first is probably the worst; of the others it is enough to know that they are not worse.
            let known = worst.and_then(|worst| worst.lower).filter(|lower| *lower > 0.0);
            let covered = known.is_some_and(|lower| match target {
                Target::LogDelta(log_delta) => query.fits(1, lower, log_delta, &mut planner),
                Target::Epsilon(epsilon) => query.fits(1, epsilon, libm::log(lower), &mut planner),
            });
            if covered {
                continue;
            }
            let Bracket { lower, upper } = match target {
                Target::LogDelta(log_delta) => query.epsilon(log_delta, accuracy, &mut planner)?,
                Target::Epsilon(epsilon) => query.delta(epsilon, accuracy, &mut planner)?,
            };
            worst = Some(worst.map_or(Bracket { lower, upper }, |worst| Bracket {
                lower: worst.lower.zip(lower).map(|(a, b)| a.max(b)),
                upper: worst.upper.max(upper),
            }));
        }
        Ok(worst.unwrap_or(Bracket { lower: Some(0.0), upper: 0.0 }))
    }

    /// All steps in each combination of directions that may occur.
    fn directions(&self) -> Result<Vec<Vec<Step>>, Error> {
        // Aligned mechanisms turn together; every other asymmetric one turns by itself.
        let mut turns: Vec<Option<u32>> = Vec::new();
        let mut free = 0;
        let mut aligned = None;
        for (curve, _) in &self.parts {
            let turn = match (&curve.backward, curve.aligned) {
                (None, _) => None,
                (Some(_), true) => Some(*aligned.get_or_insert_with(|| {
                    free += 1;
                    free - 1
                })),
                (Some(_), false) => {
                    free += 1;
                    Some(free - 1)
                }
            };
            turns.push(turn);
        }
        if free > MOST_DIRECTIONS {
            return Err(Error::Mismatch("too many different asymmetric mechanisms in one composition"));
        }
        let shift = self.gaussian.sqrt();
        if self.gaussian > 0.0 && !SHIFTS.contains(&shift) {
            return Err(Error::Unresolved {
                what: "the composition",
                reason: "its Gaussian mechanisms amount to a ratio outside 1e-3 to 1e100",
            });
        }
        let direction = |choice: u32| {
            let mut steps: Vec<Step> = (self.parts.iter().zip(&turns))
                .map(|((curve, steps), turn)| {
                    let turned = turn.is_some_and(|turn| choice >> turn & 1 == 1);
                    let losses = curve.backward.as_ref().filter(|_| turned).unwrap_or(&curve.forward);
                    Step { losses: Arc::clone(losses), steps: *steps }
                })
                .collect();
            if self.gaussian > 0.0 {
                let pair: Arc<dyn Losses> = Arc::new(NormalPair::new(Kind::Remove, shift, 1.0));
                steps.push(Step { losses: pair, steps: 1 });
            }
            steps
        };
        Ok((0..1_u32 << free).map(direction).collect())
    }
}
