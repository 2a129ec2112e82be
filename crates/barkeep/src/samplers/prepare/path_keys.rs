//! Reads the spec keys that shape a Hamiltonian path: its steps, its time and its mass.

use crate::plan::facts::{Fact, Facts};
use crate::samplers::entry::{MakeKernel, Setting};
use crate::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use crate::samplers::kernels::metropolis::Judgement;
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
