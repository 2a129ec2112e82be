//! Reads the spec keys that shape a Hamiltonian path: its steps, its time and its mass.

use crate::plan::facts::{Fact, Facts};
use crate::samplers::entry::{MakeKernel, Setting};
use crate::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use crate::samplers::kernels::metropolis::{ClipBound, Judgement};
use crate::spec::SpecError;
use crate::spec::section::{Key, Section, key};
use barkeep_curator::Clip;
use std::sync::Arc;

/// The keys of a path.
pub(crate) const PATH_KEYS: [Key; 3] = [
    key("leapfrog", "10", "L, leapfrog steps of a proposal"),
    key("step", "", "η, the time of one leapfrog step"),
    key("mass", "1", "a mass, a list of masses, or a matrix as a list of rows"),
];

/// What the spec says of a path: mass, step and number of leapfrog steps.
pub(crate) fn path(section: &Section<'_>, dimension: usize) -> Result<(Mass, f64, u64), SpecError> {
    let leapfrog = section.count("leapfrog")?.unwrap_or(10);
    if leapfrog > MOST_LEAPFROG {
        return Err(section.error("leapfrog", format!("must be at most {MOST_LEAPFROG}")));
    }
    let step = section.require("step", section.positive("step")?)?;
    let mass = match section.matrix("mass", dimension)? {
        None => Mass::Diagonal(vec![1.0; dimension]),
        Some(matrix) => Mass::new(&matrix, dimension).ok_or_else(|| {
            section.error("mass", "must be above 0, or a symmetric and positive definite matrix")
        })?,
    };
    Ok((mass, step, leapfrog))
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
        Fact::decimal("path_time", "time of a path", length),
        Fact::count("gradients", "gradients of a proposal", asked),
    ]
}
