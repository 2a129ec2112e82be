//! `hmc`: Hamiltonian Monte Carlo, a baseline that protects nothing and says so.

use crate::plan::facts::{Fact, Facts};
use crate::samplers::entry::{MakeKernel, Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{BANANA, Example};
use crate::samplers::kernels::leapfrog::{Hamiltonian, Mass, Path};
use crate::samplers::kernels::metropolis::{Acceptance, ClipBound, Judgement};
use crate::spec::section::{Key, Section, key};
use crate::spec::{Privacy, SpecError};
use barkeep_accounting::{Neighbours, Rule, Sampling};
use barkeep_curator::{Clip, Level};
use std::sync::Arc;

/// The keys of a path.
pub(crate) const PATH_KEYS: [Key; 3] = [
    key("leapfrog", "10", "L, leapfrog steps of a proposal"),
    key("step", "", "η, the time of one leapfrog step"),
    key("mass", "1", "a mass, a list of masses, or a matrix as a list of rows"),
];

const KEYS: [Key; 2] = [
    key(
        "clip",
        "1000",
        "bound on one record's log-ratio; it also sets how finely log-ratios are rounded, clip·2^-30",
    ),
    key("clip_gradient", "1000", "bound on one record's gradient, in Euclidean norm"),
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

/// The baseline.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "hmc",
    summary: "Hamiltonian Monte Carlo; NOT PRIVATE, a baseline",
    keys: &[&PATH_KEYS, &KEYS],
    start: StartRule::Required,
    private: false,
    examples: &[
        Example::small(20, "step = 0.05\nsteps = 100"),
        Example::large(BANANA, "leapfrog = 3\nstep = 0.001"),
    ],
    prepare: |section, setting| {
        if setting.privacy != Privacy::NotPrivate {
            let reason = "\"hmc\" protects nothing; say so with [privacy] private = false, or use \"dp-hmc\"";
            return Err(section.error("name", reason).into());
        }
        let (mass, step, leapfrog) = path(section, setting.model.dimension())?;
        let bound = |key| Ok::<f64, SpecError>(section.positive(key)?.unwrap_or(1000.0));
        let path = Path {
            mass,
            step,
            leapfrog,
            temper: setting.temper,
            clip: clip(section, "clip_gradient", bound("clip_gradient")?)?,
            sigma: 0.0,
            // Exact gradients are worth keeping: the same sum would be asked for again.
            reuse: true,
        };
        let judgement = Judgement {
            clip: ClipBound::Constant(clip(section, "clip", bound("clip")?)?.get()),
            acceptance: Acceptance::Fixed(Rule::Metropolis),
            temper: setting.temper,
            batch: Sampling::Full,
            neighbours: Neighbours::Substitute,
            level: Level::Decision,
        };
        let facts = path_facts(&path);
        let kernel = kernels(setting, path, judgement);
        Ok(Prepared {
            kernel,
            price: Price::NotPrivate,
            alternative: None,
            facts,
            burn_in: None,
            forecast: None,
        })
    },
};
