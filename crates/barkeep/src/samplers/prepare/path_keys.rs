//! Reads the spec keys that shape a Hamiltonian path: its steps, its time and its mass.

use crate::facts::{Fact, Facts};
use crate::keys::{Key, Section, key};
use crate::samplers::entry::{MakeKernel, Setting};
use crate::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use crate::samplers::kernels::metropolis::{ClipBound, Judgement};
use crate::samplers::parts::whitening::public_precision;
use crate::spec::SpecError;
use barkeep_curator::Clip;
use barkeep_num::linear::Spectrum;
use std::sync::Arc;

/// The keys of a path.
pub(crate) const PATH_KEYS: [Key; 3] = [
    key("leapfrog", "10", "L, leapfrog steps of a proposal"),
    key(
        "step",
        "of dp-hmc: one that serves well under a budget, where the model states its information",
        "η, the time of one leapfrog step",
    ),
    key(
        "mass",
        "1; where no step is given, the diagonal of the posterior's precision by the model's information",
        "a mass, a list of masses, or a matrix as a list of rows",
    ),
];

/// What the spec says of a path: mass and step, where it gives them, and number of leapfrog steps.
pub(crate) fn path(
    section: &Section<'_>,
    dimension: usize,
) -> Result<(Option<Mass>, Option<f64>, u64), SpecError> {
    let leapfrog = section.count("leapfrog")?.unwrap_or(10);
    if leapfrog > MOST_LEAPFROG {
        return Err(section.error("leapfrog", format!("must be at most {MOST_LEAPFROG}")));
    }
    let step = section.positive("step")?;
    let mass = match section.matrix("mass", dimension)? {
        None => None,
        Some(matrix) => Some(Mass::new(&matrix, dimension).ok_or_else(|| {
            section.error("mass", "must be above 0, or a symmetric and positive definite matrix")
        })?),
    };
    Ok((mass, step, leapfrog))
}

/// Bounds on a step η that the spec does not give.
///
/// **Why.** `experiments acceptance` measures the error of a posterior mean under a budget against η at d = 2, 8 and 20, with and without friction.
/// The least error lies at this bound or at a step next to it in five of the six: 0.4 of a posterior standard deviation at d = 2, and where noise
/// rejects more, at an acceptance of some 15 to 60 %. With friction at d = 8 these bounds give about 0.16, and 0.4 was best: an error of 0.34, of 0.38 at
/// 0.2. A point is four runs, its error uncertain by some tenths of itself.
mod usual {
    /// η in units of the fastest oscillation of a path, 1/√Λ with Λ the largest eigenvalue of M⁻¹P.
    pub(super) const STEP: f64 = 0.4;
    /// Kinetic energy that the gradients' noise brings to a path without friction, ½(L − ½)η²σ²·tr M⁻¹.
    pub(super) const HEAT: f64 = 1.0;
    /// Standard deviation of a test's noise that follows the length of the move, about ηL·√(tr M⁻¹).
    pub(super) const NOISE: f64 = 2.0;
}

/// The posterior's precision at the public point to plan with, by the model's information; none where it does not know.
fn precision(setting: &Setting<'_>) -> Option<Vec<f64>> {
    let counted = setting.records * setting.temper.get() * setting.rows()?;
    public_precision(&**setting.model, counted, setting.reference)
}

/// Masses where the spec gives none and no step: the diagonal of the posterior's precision; else 1.
pub(crate) fn usual_mass(setting: &Setting<'_>, step: Option<f64>) -> Mass {
    let dimension = setting.model.dimension();
    let known = precision(setting).filter(|_| step.is_none());
    let diagonal = known.map(|precision| precision.into_iter().step_by(dimension + 1).collect::<Vec<f64>>());
    let masses = diagonal.filter(|masses| masses.iter().all(|mass| *mass > 0.0 && mass.is_finite()));
    Mass::Diagonal(masses.unwrap_or_else(|| vec![1.0; dimension]))
}

/// What limits a step: the noise of gradients, per coordinate, that no friction takes up, and that of a test per unit of the move's length.
pub(crate) struct Noises {
    pub(crate) gradient: f64,
    pub(crate) test: f64,
}

/// The step where the spec gives none, for diagonal masses and a model that states its information: as long as paths stay near the posterior
/// and as noises allow.
pub(crate) fn usual_step(setting: &Setting<'_>, mass: &Mass, leapfrog: u64, noises: &Noises) -> Option<f64> {
    let Mass::Diagonal(masses) = mass else { return None };
    let (precision, dimension) = (precision(setting)?, masses.len());
    let root = |k: usize| masses[k].sqrt();
    let scaled: Vec<f64> = precision
        .iter()
        .enumerate()
        .map(|(k, entry)| entry / (root(k / dimension) * root(k % dimension)))
        .collect();
    let (_, fastest) = Spectrum::new(&scaled, dimension)?.range();
    #[expect(clippy::cast_precision_loss, reason = "a count of leapfrog steps is small")]
    let leaps = leapfrog as f64;
    let lightness = masses.iter().map(|mass| mass.recip()).sum::<f64>();
    let heat = 0.5 * (leaps - 0.5) * noises.gradient.powi(2) * lightness;
    let noise = noises.test * leaps * lightness.sqrt();
    // A noise that is 0 limits nothing: the quotient is infinite.
    let step = (usual::STEP / fastest.sqrt()).min((usual::HEAT / heat).sqrt()).min(usual::NOISE / noise);
    (step > 0.0 && step.is_finite()).then_some(step)
}

/// A proposal with more leapfrog steps is a mistake in the spec.
const MOST_LEAPFROG: u64 = 100_000;

/// The clip bound a key gives.
pub(crate) fn clip(section: &Section<'_>, key: &str, bound: f64) -> Result<Clip, SpecError> {
    Clip::new(bound).map_err(|error| section.error(key, error.to_string()))
}

/// The keys of what a baseline clips.
pub(crate) const BASELINE_CLIP_KEYS: [Key; 2] = [
    key(
        "clip",
        "1000",
        "bound on one record's log-ratio; it also sets how finely log-ratios are rounded, clip·2^-30",
    ),
    key(
        "clip_scale",
        "\"constant\"",
        "\"constant\": the bound is clip; \"distance\": it is clip times the length of the move",
    ),
];

/// What a baseline clips.
pub(crate) fn baseline_clip(section: &Section<'_>) -> Result<ClipBound, SpecError> {
    let written = section.positive("clip")?.unwrap_or(1000.0);
    let scaled = section.choice("clip_scale", &[("distance", true), ("constant", false)])?;
    Ok(match scaled.unwrap_or(false) {
        true => ClipBound::PerDistance(written),
        false => ClipBound::Constant(clip(section, "clip", written)?.get()),
    })
}

/// Makes the kernels of a path.
pub(crate) fn kernels(setting: &Setting<'_>, path: Path, judgement: Judgement) -> MakeKernel {
    let model = Arc::clone(setting.model);
    Box::new(move |_| Box::new(Hamiltonian::new(Arc::clone(&model), path.clone(), judgement.clone())))
}

/// What a plan shows of a path.
pub(crate) fn path_facts(path: &Path) -> Facts {
    #[expect(clippy::cast_precision_loss, reason = "a count of leapfrog steps is small")]
    let length = path.step * path.leapfrog as f64;
    let asked = path.leapfrog + u64::from(!path.reuse);
    vec![
        Fact::decimal("step", "time of a leapfrog step", path.step),
        Fact::decimal("path_time", "time of a path", length),
        Fact::count("gradients", "gradients of a proposal", asked),
    ]
}
