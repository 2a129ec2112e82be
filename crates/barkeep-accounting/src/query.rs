//! Answers a person's question about one mechanism: any two of steps, ε and δ give the third.
//!
//! What one step consists of is fixed when the [`Query`] is made; presets name the samplers of the papers.

use barkeep_num::try_largest_guessed;

use crate::decision::Memory;
use crate::engines::chooser::Accountant;
use crate::mechanisms::{BarkerMinibatch, Bernoulli, Decision, DiscreteGaussian, Gaussian, Laplace};
use crate::theorems::{gradients, thesis};
use crate::{
    Answer, BarkerBound, Contract, Cost, Delta, Epsilon, Error, GaussianRun, Mechanism, Most, Neighbours,
    Probability, Ratio, Risk, Rule, Sampling, Sensitivity, Steps, Variance,
};

/// A step that will be repeated.
///
/// ```
/// use barkeep_accounting::{Delta, Epsilon, Query, Steps};
/// let penalty = Query::penalty(0.1, 100_000)?;
/// let most = penalty.largest_steps(Epsilon::new(1.0)?, Delta::new(1e-6)?)?;
/// assert_eq!(most, Steps(56));
/// let answer = penalty.epsilon(most, Delta::new(1e-6)?)?;
/// assert!(answer.bracket.upper <= 1.0);
/// # Ok::<(), barkeep_accounting::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    per_step: Contract,
}

/// The most steps within what a budget leaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bought {
    /// How many; 0 if not even one is.
    pub steps: Steps,
    /// Their ε, where the search came across it: what [`Contract::epsilon_above`] finds for them, to the bit.
    pub epsilon: Option<f64>,
    /// What they mean for one person, where the search composed them: [`Contract::risk`] at the budget's δ, to the bit.
    pub risk: Option<Risk>,
}

impl Query {
    /// Any step, from the costs it is made of and how often each is paid within it.
    ///
    /// # Errors
    /// As [`Contract::new`].
    pub fn new(per_step: Vec<(Cost, Steps)>) -> Result<Self, Error> {
        Ok(Self { per_step: Contract::new(per_step)? })
    }

    /// The costs of one step.
    #[must_use]
    pub fn per_step(&self) -> &[(Cost, Steps)] {
        self.per_step.parts()
    }

    /// ε of `steps` steps at δ.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if no accountant reaches an answer, [`Error::Unbounded`] if there is none.
    pub fn epsilon(&self, steps: Steps, delta: Delta) -> Result<Answer, Error> {
        Accountant::new(self.per_step())?.epsilon(steps, delta)
    }

    /// δ of `steps` steps at ε.
    ///
    /// # Errors
    /// As [`Query::epsilon`].
    pub fn delta(&self, steps: Steps, epsilon: Epsilon) -> Result<Answer, Error> {
        Accountant::new(self.per_step())?.delta(steps, epsilon)
    }

    /// Whether `steps` steps are certainly within (ε, δ). What no accountant resolves is not.
    ///
    /// # Errors
    /// As [`Query::new`].
    pub fn fits(&self, steps: Steps, epsilon: Epsilon, delta: Delta) -> Result<bool, Error> {
        Accountant::new(self.per_step())?.fits(steps, epsilon, delta)
    }

    /// The most steps certainly within (ε, δ); 0 if not even one is. Of thousands on batches a thousandth may be missed.
    ///
    /// # Errors
    /// As [`Query::epsilon`].
    pub fn largest_steps(&self, epsilon: Epsilon, delta: Delta) -> Result<Steps, Error> {
        Ok(self.most(epsilon, delta)?.steps)
    }

    /// [`Query::largest_steps`], and how they were found.
    ///
    /// # Errors
    /// As [`Query::epsilon`].
    pub fn most(&self, epsilon: Epsilon, delta: Delta) -> Result<Most, Error> {
        Accountant::new(self.per_step())?.largest(epsilon, delta)
    }

    /// The most steps that stay within (ε, δ) after `first` was paid once; None if `first` alone does not.
    ///
    /// **Privacy.** The answer was itself composed and seen to fit; that it is the largest rests on ε growing with the steps.
    ///
    /// # Errors
    /// As [`Query::epsilon`] and [`Contract::new`].
    pub fn most_after(
        &self,
        first: &[(Cost, Steps)],
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Option<Bought>, Error> {
        let memory = Memory::default();
        let mut accountant = Accountant::remembering(self.per_step(), &memory)?;
        let most = accountant.largest(epsilon, delta)?;
        let alone = most.steps;
        if first.is_empty() {
            return Ok(Some(Bought {
                steps: alone,
                epsilon: most.epsilon,
                risk: accountant.risk_found(alone, delta),
            }));
        }
        let cost = |steps: u64| {
            let whole = self.after(first, Steps(steps))?;
            Accountant::remembering(whole.parts(), &memory)?.epsilon_above(Steps(1), delta)
        };
        // Composing is expensive. The loss of a run, as that of Gaussian noise, grows about in proportion to its steps.
        let loss = |epsilon: f64| gaussian_loss(epsilon, delta);
        let start = cost(0)?;
        if start > epsilon.get() {
            return Ok(None);
        }
        let (aim, slope) = (loss(epsilon.get()) - loss(start), loss(epsilon.get()) / alone.0.max(1) as f64);
        let found = try_largest_guessed(0, alone.0.saturating_add(1), aim / slope, |steps| {
            let spent = cost(steps)?;
            Ok((spent <= epsilon.get(), steps as f64 * aim / (loss(spent) - loss(start))))
        })?;
        Ok(Some(Bought { steps: Steps(found), epsilon: None, risk: None }))
    }

    /// The contract of `first`, once, and this step, `steps` times.
    ///
    /// # Errors
    /// As [`Contract::new`].
    pub fn after(&self, first: &[(Cost, Steps)], steps: Steps) -> Result<Contract, Error> {
        let times = |(cost, times): &(Cost, Steps)| (cost.clone(), Steps(times.0.saturating_mul(steps.0)));
        Contract::new(first.iter().cloned().chain(self.per_step().iter().map(times)).collect())
    }

    /// About the most steps that stay within (ε, δ) after `first` was paid once, for showing only; none if `first` alone does
    /// not, or where there is no telling.
    ///
    /// Of many decisions, as many as if each were Gaussian noise of the same information. That is the limit of many small ones: k of
    /// them are then k·Δ²·sup a'²/(a(1−a))-private in the sense of μ².
    ///
    /// # Errors
    /// As [`Query::most_after`].
    pub fn roughly_after(
        &self,
        first: &[(Cost, Steps)],
        epsilon: Epsilon,
        delta: Delta,
    ) -> Result<Option<Steps>, Error> {
        let alone = Accountant::new(self.per_step())?.roughly(epsilon, delta)?;
        if first.is_empty() {
            return Ok(alone);
        }
        let start = Accountant::new(first)?.epsilon_above(Steps(1), delta)?;
        if start > epsilon.get() {
            return Ok(None);
        }
        let left = 1.0 - gaussian_loss(start, delta) / gaussian_loss(epsilon.get(), delta);
        // A cast saturates.
        Ok(alone.map(|Steps(alone)| Steps((alone as f64 * left) as u64)))
    }

    fn single(
        mechanism: impl Into<Mechanism>,
        sampling: Sampling,
        neighbours: Neighbours,
    ) -> Result<Self, Error> {
        Self::new(vec![(Cost::new(mechanism, sampling, neighbours)?, Steps(1))])
    }

    fn full(mechanism: impl Into<Mechanism>) -> Result<Self, Error> {
        Self::single(mechanism, Sampling::Full, Neighbours::Substitute)
    }

    /// A Gaussian mechanism on full or sampled batches.
    ///
    /// Poisson batches under substitution take the ratio to the whole substitution sensitivity, records of norm at most
    /// half of it.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn gaussian(ratio: Ratio, sampling: Sampling, neighbours: Neighbours) -> Result<Self, Error> {
        Self::single(Gaussian { ratio }, sampling, neighbours)
    }

    /// A discrete Gaussian mechanism on an integer.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn discrete_gaussian(variance: Variance, sensitivity: u64) -> Result<Self, Error> {
        Self::full(DiscreteGaussian { variance, sensitivity })
    }

    /// A Laplace mechanism.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn laplace(ratio: Ratio) -> Result<Self, Error> {
        Self::full(Laplace { ratio })
    }

    /// A bit with probability p on one data set and q on the other; the worse direction is reported.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn bernoulli(p: Probability, q: Probability) -> Result<Self, Error> {
        Self::full(Bernoulli { p, q })
    }

    /// An acceptance decision of which only the bit leaves.
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn decision(rule: Rule, sensitivity: Sensitivity) -> Result<Self, Error> {
        Self::full(Decision { rule, sensitivity })
    }

    /// The minibatch Barker test (NeurIPS Theorem 2, Corollary 2).
    ///
    /// # Errors
    /// As [`Cost::new`].
    pub fn barker_minibatch(batch: u64, records: u64, bound: BarkerBound) -> Result<Self, Error> {
        let sampling = Sampling::WithoutReplacement { batch, records };
        Self::single(BarkerMinibatch { batch, records, bound }, sampling, Neighbours::Substitute)
    }

    /// Minibatch DP penalty with noise variance τc² (thesis Theorem 3.5), by its dominating pair.
    ///
    /// # Errors
    /// As [`Cost::new`] and [`thesis::minibatch_ratio`].
    pub fn penalty_minibatch(tau: f64, batch: u64, records: u64) -> Result<Self, Error> {
        let sampling = Sampling::WithoutReplacement { batch, records };
        Self::gaussian(thesis::minibatch_ratio(tau)?, sampling, Neighbours::Substitute)
    }

    /// DP penalty with σ = τ√n·Δ (thesis Theorem 3.2), priced as if the noisy log-ratio were released.
    ///
    /// # Errors
    /// As [`thesis::penalty_ratio`].
    pub fn penalty(tau: f64, records: u64) -> Result<Self, Error> {
        Self::gaussian(thesis::penalty_ratio(tau, records)?, Sampling::Full, Neighbours::Substitute)
    }

    /// One proposal of DP Hamiltonian Monte Carlo (thesis Theorem 4.3).
    ///
    /// # Errors
    /// As [`thesis::Hmc::releases`].
    pub fn hmc(proposal: thesis::Hmc) -> Result<Self, Error> {
        let releases = proposal.releases()?.into_iter().map(|(ratio, steps)| {
            let mechanism = Gaussian { ratio };
            Ok((Cost::new(mechanism, Sampling::Full, Neighbours::Substitute)?, steps))
        });
        Self::new(releases.collect::<Result<_, Error>>()?)
    }

    /// One Langevin step of diffusion time `time`, gradients clipped to `clip`, likelihood to the power `temper`.
    ///
    /// # Errors
    /// As [`gradients::langevin_ratio`].
    pub fn langevin(clip: f64, time: f64, temper: f64) -> Result<Self, Error> {
        let ratio = gradients::langevin_ratio(clip, time, temper)?;
        Self::gaussian(ratio, Sampling::Full, Neighbours::Substitute)
    }
}

/// ρ of the Gaussian noise that is (ε, δ)-private; infinite for an ε that is none.
fn gaussian_loss(epsilon: f64, delta: Delta) -> f64 {
    Epsilon::new(epsilon)
        .map_or(f64::INFINITY, |epsilon| GaussianRun::largest_within(epsilon, delta).rho().upper)
}
