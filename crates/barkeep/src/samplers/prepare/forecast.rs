//! Looks ahead from public facts alone: how often a test will accept, how much it will clip and what the draws are worth.
//!
//! Near its mode a posterior is about normal with precision P = nT·F(θ) + the prior's, F the model's expected information
//! of one record. At stationarity a step d then has λ ~ N(−q/2, q) with q = dᵀPd, and one record's log-ratio about
//! N(0, dᵀFd). Averages are taken over proposals drawn as the sampler will draw them, with a fixed seed.

use crate::facts::{Fact, Facts, Value};
use crate::public_rng::PublicRng;
use crate::samplers::entry::{Expected, Forecast, MakeForecast, Setting};
use crate::samplers::kernels::metropolis::{Acceptance, Judgement};
use crate::samplers::parts::proposal::{Direction, Length, Scale};
use crate::samplers::parts::whitening::public_precision;
use crate::samplers::prepare::walk_keys::WalkShape;
use barkeep_accounting::{LARGEST_SIGMA, Rule, SMALLEST_SIGMA, Sampling};
use barkeep_model::Model;
use barkeep_num::linear::{Cholesky, Spectrum, transpose};
use barkeep_num::{normal_cdf, vector};

/// Proposals averaged over: errors of about a percent.
const PROPOSALS: u32 = 4096;
/// Effective draws below which a mean is off by more than a tenth of a posterior standard deviation.
const FEW_EFFECTIVE: f64 = 100.0;
/// The fact that is stated even where it is not known.
const ACCEPTANCE: &str = "expected_acceptance";
const ACCEPTANCE_LABEL: &str = "expected acceptance";

/// What can be said of a judged walk before it starts.
pub(crate) fn forecast(setting: &Setting<'_>, shape: &WalkShape, judgement: &Judgement) -> MakeForecast {
    let silent = |reason: &'static str| -> MakeForecast {
        Box::new(move |_| Forecast {
            facts: vec![Fact::new(ACCEPTANCE, ACCEPTANCE_LABEL, Value::Absent, reason)],
            ..Forecast::default()
        })
    };
    let model = &**setting.model;
    if shape.given.is_some() {
        return silent("not known: proposals are given in code");
    }
    let Some(rows) = setting.rows() else {
        return silent("not known: data.most_rows does not say how many rows a person has");
    };
    let counted = setting.records * setting.temper.get();
    let Some(normal) = Normal::at(model, setting.reference, counted, rows) else {
        return silent(
            "not known: the model states no information, or too little to look normal at the start",
        );
    };
    let averaged = Averaged {
        counted,
        rows,
        scale: shape.scale.clone(),
        length: shape.length,
        direction: shape.direction,
        judgement: judgement.clone(),
    };
    let outlook = || normal.outlook(shape, judgement).ok_or(());
    match setting.foreseen.walks.of(averaged, outlook).ok() {
        Some(outlook) => Box::new(move |steps| outlook.after(steps)),
        None => silent("not known: every proposal is refused or asks what the rule cannot answer"),
    }
}

/// The posterior as a normal law.
struct Normal {
    /// F, the information of one record, column by column.
    information: Vec<f64>,
    /// L with L·Lᵀ = P.
    precision: Cholesky,
    /// nT.
    counted: f64,
}

/// All that averages over proposals are computed from beside the model and the start.
#[derive(PartialEq)]
pub(crate) struct Averaged {
    counted: f64,
    rows: f64,
    scale: Scale,
    length: Length,
    direction: Direction,
    judgement: Judgement,
}

/// Averages over proposals.
#[derive(Clone)]
pub(crate) struct Outlook {
    acceptance: f64,
    clipped: f64,
    /// Steps for one effective draw of the slowest direction.
    steps_per_draw: f64,
}

impl Normal {
    /// Each of `counted` records has `rows` times the information of one row.
    fn at(model: &dyn Model, theta: &[f64], counted: f64, rows: f64) -> Option<Self> {
        let mut information = vec![0.0; theta.len() * theta.len()];
        model.fisher(theta, &mut information);
        let mut information = transpose(&information, theta.len());
        information.iter_mut().for_each(|entry| *entry *= rows);
        let precision = Cholesky::new(&public_precision(model, counted * rows, theta)?, theta.len())?;
        Some(Self { information, precision, counted })
    }

    /// dᵀFd; `room` is overwritten.
    #[inline(always)]
    fn record_variance(&self, step: &[f64], room: &mut [f64]) -> f64 {
        room.fill(0.0);
        for (column, d) in self.information.chunks_exact(step.len()).zip(step) {
            room.iter_mut().zip(column).for_each(|(sum, f)| *sum += f * d);
        }
        room.iter().zip(step).map(|(product, d)| d * product).sum()
    }

    /// Lᵀd: the step in units of posterior standard deviations.
    #[inline(always)]
    fn whiten(&self, step: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (i, (row, d)) in self.precision.lower().chunks_exact(step.len()).zip(step).enumerate() {
            out.iter_mut().zip(&row[..=i]).for_each(|(sum, entry)| *sum += entry * d);
        }
    }

    fn outlook(&self, shape: &WalkShape, judgement: &Judgement) -> Option<Outlook> {
        let mut judgement = judgement.clone();
        if let Acceptance::Fixed(rule @ Rule::Corrected { .. }) = &mut judgement.acceptance {
            // The correction makes it Barker's test, nearly.
            *rule = Rule::Barker;
        }
        let dimension = self.precision.dimension();
        let mut rng = PublicRng::new(0, 0);
        let mut walk = shape.walk(&mut rng);
        let (from, mut step) = (vec![0.0; dimension], vec![0.0; dimension]);
        let (mut acceptance, mut clipped, mut jumps) = (0.0, 0.0, vec![0.0; dimension * dimension]);
        let mut whitened = vec![0.0; dimension];
        for _ in 0..PROPOSALS {
            let distance = walk.propose(&from, &mut step, &mut rng);
            let (clip, rule) = judgement.at(distance).ok()?;
            let (variance, q) = vector::dispatch(
                #[inline(always)]
                || {
                    let variance = self.record_variance(&step, &mut whitened);
                    self.whiten(&step, &mut whitened);
                    (variance, whitened.iter().map(|z| z * z).sum::<f64>())
                },
            );
            let accept =
                self.rule(rule, judgement.batch, variance)?.accept(-0.5 * q + q.sqrt() * rng.normal());
            acceptance += accept / f64::from(PROPOSALS);
            clipped += 2.0 * normal_cdf(-clip.get() / variance.sqrt()) / f64::from(PROPOSALS);
            vector::dispatch(
                #[inline(always)]
                || {
                    for (row, a) in jumps.chunks_exact_mut(dimension).zip(&whitened) {
                        let weight = accept * a;
                        row.iter_mut().zip(&whitened).for_each(|(jump, b)| *jump += weight * b);
                    }
                },
            );
        }
        jumps.iter_mut().for_each(|jump| *jump /= f64::from(PROPOSALS));
        // An autoregression whose squared jumps have this mean: 1 − ρ is half of it, in the slowest direction.
        let (slowest, _) = Spectrum::new(&jumps, dimension)?.range();
        if slowest <= 0.0 {
            return None;
        }
        let gap = (0.5 * slowest).min(1.0);
        Some(Outlook { acceptance, clipped, steps_per_draw: (2.0 - gap) / gap })
    }

    /// The rule on the whole data's λ that does what the batch's does: a batch adds its variance to the noise.
    fn rule(&self, rule: Rule, batch: Sampling, variance: f64) -> Option<Rule> {
        match (rule, batch) {
            (Rule::Penalty { sigma }, Sampling::WithoutReplacement { batch, .. }) => {
                #[expect(clippy::cast_precision_loss, reason = "a batch is at most 2^32")]
                let own = self.counted * self.counted / batch as f64 * variance;
                let sigma = (sigma * sigma + own).sqrt().clamp(SMALLEST_SIGMA, LARGEST_SIGMA);
                Some(Rule::Penalty { sigma })
            }
            (Rule::Penalty { sigma }, Sampling::Full | Sampling::Poisson { .. }) => {
                Some(Rule::Penalty { sigma: sigma.min(LARGEST_SIGMA) })
            }
            (
                rule @ (Rule::Metropolis | Rule::Barker | Rule::Corrected { .. } | Rule::Lazy { .. }),
                Sampling::Full | Sampling::Poisson { .. } | Sampling::WithoutReplacement { .. },
            ) => rule.validate().is_ok().then_some(rule),
        }
    }
}

impl Outlook {
    fn after(&self, steps: u64) -> Forecast {
        let Self { acceptance, clipped, steps_per_draw } = self;
        #[expect(clippy::cast_precision_loss, reason = "a forecast")]
        let effective = 0.5 * steps as f64 / steps_per_draw;
        let facts: Facts = vec![
            Fact::number(
                ACCEPTANCE,
                ACCEPTANCE_LABEL,
                *acceptance,
                format!("{acceptance:.2} at stationarity, if the posterior is about normal near the start"),
            ),
            Fact::number(
                "expected_clipped_share",
                "expected share clipped",
                *clipped,
                format!("{:.2} % of log-ratios, if the model is right", 100.0 * clipped),
            ),
            Fact::number(
                "expected_effective_draws",
                "expected effective draws",
                effective,
                format!("{effective:.0} of a chain's second half: one in {steps_per_draw:.0} steps"),
            ),
        ];
        let mut warnings = Vec::new();
        if effective < FEW_EFFECTIVE {
            warnings.push(format!(
                "expect about {effective:.0} effective draws of a chain: its means will be off by about {:.2} posterior \
                 standard deviations",
                1.0 / effective.max(1.0).sqrt()
            ));
        }
        if *clipped > MUCH_CLIPPED {
            warnings.push(format!(
                "about {:.0} % of log-ratios would be clipped if the model is right, which biases the draws; raise \
                 clip or shorten the steps",
                100.0 * clipped
            ));
        }
        // A chain's Monte Carlo error adds to what its mean would be off; its draws do not know it.
        let error = 1.0 / effective.max(1.0).sqrt();
        Forecast {
            facts,
            warnings,
            expected: Some(Expected { error, range: (error, error), width: 1.0 }),
            burn_in: None,
        }
    }
}

/// A share of clipped log-ratios above this is worth a word.
const MUCH_CLIPPED: f64 = 0.05;
