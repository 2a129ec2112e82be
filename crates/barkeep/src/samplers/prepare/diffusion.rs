//! Prepares a full-batch diffusion from its spec keys by the default rules: whitening, clip, step, burn-in, forecast.
//!
//! The rules use public facts alone: the number of records n, the tempering T, the budget, the model's expected
//! information and prior, and the starting point. With B = w/√(nT) the clip of a whitened gradient, so that
//! u = √(nT)·Sᵀ∇ln p(x|θ) is clipped at w, a budget of μ buys diffusion time τ with τ·w² = μ²n/T.
//!
//! * **Clip** w = max(√d + 1.5, √(μ²n/(2000·T))). Under the model ‖u‖² has mean at most d. No budget cures the bias of a clip
//!   that is too small, so time beyond 2000 buys a wider clip. A clip that cuts off a mean m moves the posterior by √(nT)·m of
//!   its standard deviations. A regression whose gradients have no bound therefore takes the clip whose bias and error by
//!   chance and start together are least ([`Outlook`]). Where the model bounds its gradients under the schema and the
//!   information does not depend on θ, w is that bound: nothing is clipped.
//! * **Step** h = 1, half a relaxation time: published midpoints have the right variance for a Gaussian at any h below 4/Λ, Λ
//!   the posterior's largest curvature in whitened units. A whitening that rests on a guess of columns has Λ above 1, and
//!   with h > 4/Λ states swing about the mode; a free scale then grows with the residuals and never comes back, while midpoints
//!   look calm. So h = min(1, 3/Λ), Λ bounded from the columns' corners and the family; where gradients have no bound Λ is at
//!   least 1 + √2·w, the curvature of a log-scale at a gradient that is just not clipped. A shorter step costs passes over the
//!   records, and no privacy.
//! * **Burn-in** by time, t < 10: about 2·ln(distance of the start in posterior sd / 0.2). Where columns were guessed at least a
//!   third of the run: a column that spreads less than guessed relaxes more slowly.
//! * **Forecast** of the error of a posterior mean in posterior sd: [`Outlook`].

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{Forecast, MakeForecast, MakeKernel, Prepared, Price, Setting};
use crate::samplers::kernels::flow::{Asking, Flow, Integrator};
use crate::samplers::kernels::vigil::{BurnIn, Vigil};
use crate::samplers::noise_aware::Branch;
use crate::samplers::parts::whitening::{Whitening, WhiteningChoice};
use crate::samplers::prepare::judged::clipping;
use crate::samplers::prepare::learned;
use crate::samplers::prepare::outlook::{Outlook, stiffness};
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::{Mu, Neighbours, Sampling, Steps};
use barkeep_curator::{Clip, PrivacyModel, sum_cost};
use barkeep_data::Unit;
use barkeep_num::linear::{Cholesky, Spectrum};
use std::sync::Arc;

/// The keys of a diffusion.
pub(crate) const DIFFUSION_KEYS: [Key; 7] = [
    key(
        "precondition",
        "\"auto\"",
        "what whitens the posterior: \"fisher\" (the model's expected information at the start), \"fisher-local\" \
         (wherever the chain is), \"auto\" (local where the information varies), \"learned\" (the information over columns \
         that are asked about first, where the chain then starts too; langevin's alone, for a regression), \"none\", guesses \
         of the posterior's standard deviations, or of its covariance as a list of rows",
    ),
    key(
        "fisher_scale",
        "1",
        "multiplies the information; 0.5 if records carry half of what the model says. A person's is that of most_rows rows",
    ),
    key(
        "step",
        "1, or 3 over the largest curvature the columns' bounds allow",
        "time of a step in whitened units, where the posterior relaxes in time 2; below 4, with momentum below 2",
    ),
    key(
        "clip",
        "the larger of √parameters + 1.5 and √(μ²·records/(time·temper)), or the model's own bound",
        "bound on the norm of a record's whitened gradient, in units of one record's share of the posterior",
    ),
    key(
        "time",
        "2000; for a regression whose gradients have no bound what the clip of least error leaves",
        "diffusion time beyond which the budget goes into a wider clip",
    ),
    key(
        "burn_in_time",
        "10; of a regression at least a third of the run",
        "diffusion time the summary leaves out, unless burn_in says; at most half the run",
    ),
    key(
        "publish",
        "\"midpoint\"",
        "\"midpoint\" of each step, without the step's bias, or \"state\" after it",
    ),
];

/// Margin of the clip over √d.
pub(crate) const CLIP_MARGIN: f64 = 1.5;
/// Diffusion time that leaves an error of 0.045 posterior sd; more gains little.
const ENOUGH_TIME: f64 = 2000.0;
/// Reads the keys, prices a step and makes the kernel; `integrator` makes one of a given step.
pub(crate) fn prepare(
    section: &Section<'_>,
    setting: &Setting<'_>,
    friction: f64,
    integrator: impl Fn(f64) -> Integrator,
) -> Result<Prepared, Error> {
    let Privacy::Budget { epsilon, delta, neighbours } = setting.privacy else {
        return Err(section
            .error(
                "name",
                "is a private sampler; give [privacy] epsilon and delta, or use rwmh as a baseline",
            )
            .into());
    };
    if neighbours == Neighbours::AddRemove {
        return Err(section
            .error(
                "name",
                "whitens by the number of records, which is secret under add-remove; use \"barker\"",
            )
            .into());
    }
    if section.text("precondition").ok().flatten() == Some("learned") {
        return learned(section, setting, &integrator(1.0));
    }
    let model = setting.model;
    let whitening = whitening(section, setting)?;
    let step = section.positive("step")?;
    let longest = integrator(1.0).longest_step();
    if step.is_some_and(|step| step >= longest) {
        return Err(section.error("step", format!("must be below {longest}: longer steps diverge")).into());
    }
    if step.is_none() && section.text("precondition").ok().flatten() == Some("none") {
        return Err(section.error("step", "is required with precondition = \"none\"").into());
    }
    let weight = setting.records * setting.temper.get();
    let frame = Whitening::new(&whitening, model, weight, setting.reference).ok_or_else(|| {
        section.error(
            "precondition",
            "is required: the model does not know its Fisher information at the start; give guesses of the posterior's \
             standard deviations, or \"none\"",
        )
    })?;
    let chains = section.count("chains")?.unwrap_or(1);
    // Chains share the budget: each has μ/√chains.
    let mu = Mu::largest_within(epsilon, delta).get() / (chains as f64).sqrt();
    let paid = mu * mu * setting.records / setting.temper.get();
    let bound = hard_bound(setting, &frame, weight);
    let stiffness = stiffness(setting, &frame, weight);
    let given = section.positive("clip")?;
    let clipped = match given {
        Some(width) => bound.is_none_or(|bound| width < bound),
        None => bound.is_none(),
    };
    let outlook = Outlook::new(setting, friction, stiffness.is_some(), clipped && model.has_long_gradients());
    let width = match (given, bound) {
        (Some(clip), _) => clip,
        (None, Some(bound)) => bound,
        (None, None) => {
            let usual = (model.dimension() as f64).sqrt() + CLIP_MARGIN;
            match section.positive("time")? {
                None if model.has_long_gradients() => outlook.best_width(usual, paid),
                time => usual.max((paid / time.unwrap_or(ENOUGH_TIME)).sqrt()),
            }
        }
    };
    let steep = stiffness.unwrap_or(1.0);
    let steep = if clipped && model.has_long_gradients() {
        steep.max(1.0 + std::f64::consts::SQRT_2 * width)
    } else {
        steep
    };
    let step = step.unwrap_or_else(|| integrator(1.0).steady_step(steep));
    let clip = Clip::new(width / weight.sqrt()).map_err(|error| section.error("clip", error.to_string()))?;
    let integrator = integrator(step);
    let asking = Asking {
        temper: setting.temper,
        clip,
        records: setting.records,
        batch: Sampling::Full,
        inflation: 1.0,
    };
    let privacy_model = PrivacyModel { neighbours };
    let cost = sum_cost(asking.temper, clip, Sampling::Full, integrator.noise(), privacy_model)?;
    let midpoints = section.choice("publish", &[("midpoint", true), ("state", false)])?.unwrap_or(true);
    let mut facts = facts(&frame, width, clip, &integrator, step, setting.unit);
    facts.push(clipping(!clipped, setting.unit));
    let burn_in_time = section.positive("burn_in_time")?;
    let third = stiffness.is_some() && burn_in_time.is_none();
    let burn_in = BurnIn { draws: (burn_in_time.unwrap_or(10.0) / step).ceil() as u64, third };
    let vigil = Vigil { friction, bias: outlook.bias(width), burn_in };
    let model = Arc::clone(model);
    let kernel: MakeKernel = Box::new(move |_| {
        let (model, whitening) = (Arc::clone(&model), whitening.clone());
        Box::new(Flow::new(model, whitening, integrator.clone(), asking, midpoints).watched(vigil))
    });
    Ok(Prepared {
        kernel,
        price: Price::PerStep(None, vec![(cost, Steps(1))]),
        alternative: None,
        facts,
        burn_in: None,
        forecast: Some(forecast(outlook, burn_in, step, width)),
        view: None,
    })
}

/// Prepares dynamics whose whitening and start are paid for: a share of the budget asks about the columns.
fn learned(section: &Section<'_>, setting: &Setting<'_>, integrator: &Integrator) -> Result<Prepared, Error> {
    if !matches!(integrator, Integrator::Overdamped { .. }) {
        let reason = "\"learned\" is for \"langevin\" alone";
        return Err(section.error("precondition", reason).into());
    }
    for key in ["fisher_scale", "step", "clip", "time", "burn_in_time", "publish"] {
        if section.value(key).is_some() {
            let reason = "has no meaning with precondition = \"learned\": it follows from what is learned";
            return Err(section.error(key, reason).into());
        }
    }
    learned::prepare(section, setting, Some(Branch::Dynamics))
}

/// What `precondition` may name.
#[derive(Debug, Clone, Copy)]
enum Precondition {
    Auto,
    Fisher,
    FisherLocal,
    /// Read before: the only one that asks.
    Learned,
    None,
}

impl Precondition {
    const NAMES: [(&'static str, Self); 5] = [
        ("auto", Self::Auto),
        ("fisher", Self::Fisher),
        ("fisher-local", Self::FisherLocal),
        ("learned", Self::Learned),
        ("none", Self::None),
    ];
}

/// Reads `precondition` and `fisher_scale`.
pub(crate) fn whitening(section: &Section<'_>, setting: &Setting<'_>) -> Result<WhiteningChoice, SpecError> {
    let dimension = setting.model.dimension();
    let scale = section.positive("fisher_scale")?;
    let given = |factor: Vec<f64>| match scale {
        Some(_) => Err(section.error("fisher_scale", "has no meaning where the preconditioner is given")),
        None => Ok(WhiteningChoice::Given(factor)),
    };
    let diagonal = |entries: &[f64]| {
        let mut factor = vec![0.0; dimension * dimension];
        factor.iter_mut().step_by(dimension + 1).zip(entries).for_each(|(entry, given)| *entry = *given);
        factor
    };
    match section.value("precondition") {
        Some(toml::Value::Array(rows)) if rows.iter().any(toml::Value::is_array) => {
            let covariance = section.matrix("precondition", dimension)?.unwrap_or_default();
            let factor = Cholesky::new(&covariance, dimension)
                .ok_or_else(|| section.error("precondition", "must be symmetric and positive definite"))?;
            given(factor.lower().to_vec())
        }
        Some(toml::Value::Array(_)) => {
            let entries = section.numbers("precondition")?.unwrap_or_default();
            if entries.len() != dimension || entries.iter().any(|entry| *entry <= 0.0) {
                return Err(section.error("precondition", format!("must hold {dimension} numbers above 0")));
            }
            given(diagonal(&entries))
        }
        _ => {
            let fisher = |local| {
                match (setting.rows(), scale) {
                (Some(rows), scale) => {
                    Ok(WhiteningChoice::Fisher { local, scale: rows * scale.unwrap_or(1.0) })
                }
                (None, Some(scale)) => Ok(WhiteningChoice::Fisher { local, scale }),
                (None, None) => Err(section.error(
                    "fisher_scale",
                    "or data.most_rows is required: a person's rows have the information of as many records, and too long \
                     a step diverges; give about the number of rows a person has",
                )),
            }
            };
            match section.choice("precondition", &Precondition::NAMES)?.unwrap_or(Precondition::Auto) {
                Precondition::Auto => fisher(None),
                Precondition::Fisher => fisher(Some(false)),
                Precondition::FisherLocal => fisher(Some(true)),
                Precondition::Learned => {
                    Err(section.error("precondition", "\"learned\" is for \"langevin\" alone"))
                }
                Precondition::None => given(diagonal(&vec![1.0; dimension])),
            }
        }
    }
}

/// √(nT)·‖S‖·L: a bound on every whitened gradient, where the frame is the same everywhere and the model has one.
fn hard_bound(setting: &Setting<'_>, frame: &Whitening, weight: f64) -> Option<f64> {
    if frame.is_local() {
        return None;
    }
    // Slightly wider than the bound, so that neither rounding nor the clip's own slack touches anything.
    const SLACK: f64 = 1.0 + 1e-6;
    if let Some(bound) = setting.lipschitz_through(frame.transposed()) {
        let bound = weight.sqrt() * bound * SLACK;
        return (bound.is_finite() && bound > 0.0).then_some(bound);
    }
    let lipschitz = setting.lipschitz()?;
    let (factor, d) = (frame.factor(), setting.model.dimension());
    let gram: Vec<f64> =
        (0..d * d).map(|k| (0..d).map(|i| factor[i * d + k / d] * factor[i * d + k % d]).sum()).collect();
    let (_, square) = Spectrum::new(&gram, d)?.range();
    let bound = (weight * square).sqrt() * lipschitz * SLACK;
    (bound.is_finite() && bound > 0.0).then_some(bound)
}

/// The constants of a step, as the plan shows them.
fn facts(frame: &Whitening, width: f64, clip: Clip, integrator: &Integrator, step: f64, unit: Unit) -> Facts {
    let share = match unit {
        Unit::Record => "one record's share",
        Unit::Person { .. } => "one person's share",
    };
    let (kind, words) = match frame.is_local() {
        true => ("local", "Fisher information wherever the chain is"),
        false => ("constant", "the same everywhere"),
    };
    vec![
        Fact::word("preconditioner", "preconditioner", kind, words),
        Fact::number("step_time", "time of a step", step, format!("{}", (1e6 * step).round() / 1e6)),
        Fact::number(
            "clip",
            "clip of a whitened gradient",
            width,
            format!("{width:.6} for {share}, {:.6e} itself", clip.get()),
        )
        .unit(share),
        Fact::decimal("gradient_noise_sd", "noise sd of a gradient", integrator.noise()),
    ]
}

/// What a run can be expected to achieve, by its number of steps.
fn forecast(outlook: Outlook, burn_in: BurnIn, step: f64, width: f64) -> MakeForecast {
    Box::new(move |steps| {
        #[expect(clippy::cast_precision_loss, reason = "a forecast")]
        let (time, left_out) = (steps as f64 * step, burn_in.of(steps) as f64 * step);
        let relaxations = time / outlook.friction();
        let mut facts = vec![
            Fact::number("diffusion_time", "diffusion time", time, format!("{time:.1}")),
            Fact::number("relaxation_times", "relaxation times", relaxations, format!("{relaxations:.1}")),
        ];
        let bias = outlook.bias(width);
        if bias > 0.0 {
            let words = format!("about {bias:.3} posterior sd, if records lie as far out as they often do");
            facts.push(Fact::number("clip_bias", "bias of the clip", bias, words).unit("posterior sd"));
        }
        Forecast {
            facts,
            warnings: Vec::new(),
            expected: Some(outlook.expected(width, left_out, time)),
            burn_in: Some(burn_in.of(steps)),
        }
    })
}
