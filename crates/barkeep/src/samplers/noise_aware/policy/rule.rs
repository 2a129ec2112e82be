//! Weighs scores against Langevin dynamics once the columns are known, and runs whichever the answers favour.
//!
//! Langevin dynamics forget their start and then average: a mean is off by about 2/√τ posterior standard deviations, τ the diffusion
//! time that μ² buys. Every record pays for the longest whitened gradient w that bounds admit, τ = μ²n/w². Scores are off by what
//! their noise and their clip cost, whatever w is, and take eight passes over the records instead of thousands. Their error falls
//! like 1/√n too. So dynamics are taken only where there is time [`ENOUGH`] and the plan expects them to gain [`WORTH`]; never over a file
//! that every pass reads anew.
//!
//! **Privacy.** All answers are Gaussian, each charged by its own μ² to one filter over the whole. Which branch is taken, its
//! whitening, its step and its clip are functions of earlier answers and public facts: the filter allows that (Smith and Thakurta
//! 2022; Koskela, Tobaben and Honkela 2023).

use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::kernels::flow::{Asking, Flow, Integrator};
use crate::samplers::kernels::vigil::{BurnIn, Vigil};
use crate::samplers::noise_aware::draw::draws::NoiseAware;
use crate::samplers::noise_aware::fit::expectation::Set;
use crate::samplers::noise_aware::fit::persons::RowLaw;
use crate::samplers::noise_aware::questions::ask::{Learned, Setup};
use crate::samplers::noise_aware::synthetic::columns::Grid;
use crate::samplers::noise_aware::synthetic::copula::Belief;
use crate::samplers::parts::whitening::WhiteningChoice;
use crate::samplers::{Kernel, Report, State};
use crate::start::prior_mode;
use crate::step::Outcome;
use barkeep_accounting::Sampling;
use barkeep_curator::{Clip, Refused, Temper};
use barkeep_data::Schema;
use std::sync::Arc;

/// Diffusion time from which on dynamics are preferred to scores.
///
/// `cargo run --release -p experiments -- crossing` runs both at growing n: five coefficients, features of sd 0.3, ε = 1, the median
/// rms error of six tables against the posterior without privacy. Logistic regression, n = 30 000, 100 000 and 300 000: scores are
/// off by 0.37, 0.24 and 0.16 sd, dynamics by 3.2, 0.85 and 0.58, for which the plan expects time 8, 28 and 83. So no crossing was
/// seen up to there, and larger n were not measured. A time of 400 leaves dynamics an error of 2/√360 = 0.1 sd; scores would reach that
/// at about 1.2 million records if they went on to gain like n^−0.35: both are extrapolations. Linear regression with an unknown sd:
/// scores 1.14, 0.94 and 0.70, dynamics 14 and 5.7 at the first two; their gradients have no bound, and [`LARGEST_BIAS`] keeps
/// dynamics out.
pub(crate) const ENOUGH: f64 = 400.0;
/// What dynamics must be expected to gain on scores, in posterior standard deviations of a mean: they take thousands of passes over the
/// records, scores some ten. At a million records dynamics were off by 0.09 and scores by 0.17.
pub(crate) const WORTH: f64 = 0.15;
/// The longest step in learned coordinates: the information at the start may be several times that at the posterior.
const LONGEST_STEP: f64 = 0.5;
/// Diffusion time that is left out: twice the logarithm of a start a thousand standard deviations away over 0.2, twice over.
const BURN_IN: f64 = 40.0;
/// A clip that is expected to move means by more than this many posterior standard deviations is no choice where scores, which
/// are centred, can be asked for.
const LARGEST_BIAS: f64 = 0.1;
/// Slack of a bound against rounding, and of the last step's price.
const SLACK: f64 = 1e-6;

/// One of the two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branch {
    /// Noise-aware scores.
    Scores,
    /// Langevin dynamics.
    Dynamics,
}

impl Branch {
    /// The sampler that runs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scores => "noise-aware",
            Self::Dynamics => "langevin",
        }
    }
}

/// Langevin dynamics in learned coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Dynamics {
    /// S, row by row, with S·Sᵀ = (nF + prior precision)⁻¹.
    factor: Vec<f64>,
    /// n, or the rows of all persons as they are believed to be.
    pub(crate) records: f64,
    /// w.
    width: f64,
    /// What the clip is expected to move means by, in posterior standard deviations.
    bias: f64,
    /// h.
    step: f64,
    /// τ of all steps.
    pub(crate) time: f64,
    /// Whether S whitens every direction; along one that the columns hardly tell of, time is worth less than it says.
    pub(crate) is_whitened: bool,
}

/// A clip where gradients have no bound: its width and, times its square, its bias.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnClip {
    pub(crate) width: f64,
    pub(crate) tail: f64,
}

/// What weighing takes beside the answers; public.
pub(crate) struct Rule {
    pub(crate) setup: Arc<Setup>,
    /// What the model sees of the columns.
    pub(crate) schema: Schema,
    /// Langevin's clip where gradients have no bound.
    pub(crate) own: OwnClip,
    /// Steps of the chain.
    pub(crate) steps: u64,
    /// The branch that is taken whatever the answers say.
    pub(crate) forced: Option<Branch>,
    /// Whether the start is given, not learned.
    pub(crate) started: bool,
}

impl Rule {
    /// The branch that public facts alone let expect, and the dynamics they let expect.
    pub(crate) fn expected(&self) -> (Branch, Option<Dynamics>) {
        let setup = &self.setup;
        let Ok(regression) = setup.regression() else { return (Branch::Scores, None) };
        let raws = &setup.coordinates.raws;
        let grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
        let rows =
            Belief::before(&setup.coordinates, &grids).rows(&setup.coordinates, setup.columns(), MADE_UP);
        let set = Set::new(regression, &rows, setup.columns());
        self.branch(&set, &prior_mode(&*setup.model), &setup.rows_before())
    }

    /// The branch for columns as a set has them, and the dynamics if they were taken.
    fn branch(&self, set: &Set, start: &[f64], rows: &RowLaw) -> (Branch, Option<Dynamics>) {
        let dynamics = self.dynamics(set, start, rows);
        let worth_it = |it: &Dynamics| it.is_whitened && it.time >= ENOUGH && it.bias <= LARGEST_BIAS;
        let better = dynamics.as_ref().is_some_and(worth_it);
        let favoured = if better { Branch::Dynamics } else { Branch::Scores };
        (self.forced.unwrap_or(favoured), dynamics)
    }

    /// Dynamics whitened by the information at `start` over a set, for what of the budget is left.
    ///
    /// A person's gradient is as long as the most rows of one make it, or clipped as that of a usual person would be; n is the
    /// number of rows.
    fn dynamics(&self, set: &Set, start: &[f64], rows: &RowLaw) -> Option<Dynamics> {
        let setup = &self.setup;
        let regression = setup.regression().ok()?;
        let scene = setup.scene(regression, set, &[], rows);
        let round = setup.round(&scene, start).ok()?;
        let (d, has_nuisance) = regression.parts();
        let size = d + usize::from(has_nuisance);
        let (records, root) = (scene.records, scene.records.sqrt());
        let most = setup.most_rows as f64;
        let (mut factor, mut transposed) = (vec![0.0; size * size], vec![0.0; size * size]);
        for j in 0..d {
            for k in 0..d {
                let entry = round.whitening[j * d + k] / root;
                transposed[j * size + k] = entry;
                factor[k * size + j] = entry;
            }
        }
        if has_nuisance {
            factor[size * size - 1] = round.stretch / root;
            transposed[size * size - 1] = round.stretch / root;
        }
        let bound = setup.model.lipschitz_through(&self.schema, &transposed).map(|bound| bound * root * most);
        let bound = bound.filter(|bound| bound.is_finite() && *bound > 0.0);
        let (width, bias) = match bound {
            Some(bound) => (bound * (1.0 + SLACK), 0.0),
            None => (self.own.width * rows.mean().sqrt(), self.own.tail / (self.own.width * self.own.width)),
        };
        let mu = (1.0 - SLACK) / setup.shares.whole.get();
        let paid = setup.shares.left * mu * mu * records;
        // A gradient that is just not clipped curves a logarithm of a scale by its own length.
        let steep = if bound.is_some() { 1.0 } else { 1.0 + std::f64::consts::SQRT_2 * width };
        let longest = LONGEST_STEP.min(Integrator::Overdamped { step: 1.0 }.steady_step(steep));
        #[expect(clippy::cast_precision_loss, reason = "steps are far fewer than 2^53")]
        let steps = self.steps as f64;
        let step = (paid / (width * width * steps)).min(longest);
        Some(Dynamics {
            factor,
            records,
            width,
            bias,
            step,
            time: step * steps,
            is_whitened: !round.is_singular,
        })
    }
}

/// Made-up records of an expectation before the first answer.
const MADE_UP: usize = 256;

impl Dynamics {
    /// The posterior's error expected of them, in standard deviations.
    pub(crate) fn expected_error(&self) -> f64 {
        (4.0 / (self.time - self.burn_in_time()).max(1.0)).min(1.0).sqrt().hypot(self.bias)
    }

    fn burn_in_time(&self) -> f64 {
        BURN_IN.min(0.5 * self.time)
    }

    /// Draws to leave out.
    pub(crate) fn burn_in(&self) -> u64 {
        (self.burn_in_time() / self.step).ceil() as u64
    }

    /// The kernel.
    fn flow(self, setup: &Setup) -> Result<Flow, Refused> {
        let clip = Clip::new(self.width / self.records.sqrt())?;
        let (temper, batch) = (Temper::NONE, Sampling::Full);
        let asking = Asking { temper, clip, records: self.records, batch, inflation: 1.0 };
        let burn_in = BurnIn { draws: self.burn_in(), third: false };
        let vigil = Vigil { friction: 2.0, bias: self.bias, burn_in };
        let integrator = Integrator::Overdamped { step: self.step };
        let whitening = WhiteningChoice::Given(self.factor);
        Ok(Flow::new(Arc::clone(&setup.model), whitening, integrator, asking, true).watched(vigil))
    }
}

/// Asks about the columns at its first step, weighs, and goes on as the branch does.
pub(crate) struct Weighing {
    rule: Arc<Rule>,
    running: Option<Running>,
}

enum Running {
    Scores(Box<NoiseAware>),
    Dynamics { flow: Box<Flow>, burn_in: u64 },
}

impl Weighing {
    /// A kernel that has not asked yet.
    pub(crate) fn new(rule: Arc<Rule>) -> Self {
        Self { rule, running: None }
    }

    /// Takes a branch.
    fn weigh(&self, learned: Learned, state: &mut State) -> Result<Running, Refused> {
        let setup = &self.rule.setup;
        let (branch, dynamics) = self.rule.branch(&learned.set, &learned.start, &learned.rows);
        match (branch, dynamics) {
            (Branch::Dynamics, Some(dynamics)) => {
                if !self.rule.started {
                    state.theta.clone_from(&learned.start);
                    state.log_prior = setup.model.log_prior(&state.theta);
                }
                let burn_in = dynamics.burn_in();
                Ok(Running::Dynamics { flow: Box::new(dynamics.flow(setup)?), burn_in })
            }
            (Branch::Scores | Branch::Dynamics, _) => {
                Ok(Running::Scores(Box::new(NoiseAware::after(Arc::clone(setup), learned))))
            }
        }
    }
}

impl Kernel for Weighing {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        let running = match self.running.take() {
            Some(running) => running,
            None => self.weigh(self.rule.setup.learn(ask, rng)?, state)?,
        };
        match self.running.insert(running) {
            Running::Scores(kernel) => kernel.step(state, ask, rng),
            Running::Dynamics { flow, .. } => flow.step(state, ask, rng),
        }
    }

    fn published<'a>(&'a self, state: &'a State) -> &'a [f64] {
        match &self.running {
            Some(Running::Dynamics { flow, .. }) => flow.published(state),
            Some(Running::Scores(_)) | None => &state.theta,
        }
    }

    fn report(&self) -> Report {
        match &self.running {
            Some(Running::Scores(kernel)) => {
                Report { branch: Some(Branch::Scores.name()), ..kernel.report() }
            }
            Some(Running::Dynamics { flow, burn_in }) => {
                Report { branch: Some(Branch::Dynamics.name()), warmup: Some(*burn_in), ..flow.report() }
            }
            None => Report::default(),
        }
    }
}
