//! Reads what `[sampler]` says to every sampler, once: which sampler, how many chains and steps, which seed.

use super::default_sampler::Choice;
use crate::Error;
use crate::keys::{Section, SpecError, named};
use crate::samplers::{SAMPLERS, SamplerEntry};
use crate::spec::Spec;
use crate::start::reference;

/// Chains beyond this are a mistake in the spec.
const MOST_CHAINS: u64 = 1000;

/// `[sampler]`, with its keys known to be the sampler's.
pub(super) struct Request<'s> {
    /// The sampler.
    pub(super) sampler: &'static SamplerEntry,
    /// How it was chosen, where the spec does not name it.
    pub(super) choice: Option<Choice>,
    /// The sampler's own keys.
    pub(super) section: Section<'s>,
    /// The number of chains.
    pub(super) chains: u64,
    /// A public point to plan with.
    pub(super) reference: Vec<f64>,
}

/// What is asked for beside the sampler's own keys.
pub(super) struct Extent {
    /// Most steps of a chain, if the spec says.
    pub(super) cap: Option<u64>,
    /// Seed of the proposals, if the spec gives one.
    pub(super) seed: Option<u64>,
}

impl<'s> Request<'s> {
    /// Reads the section.
    ///
    /// # Errors
    /// An unknown sampler or key, or too many chains.
    pub(super) fn read(spec: &'s Spec) -> Result<Self, SpecError> {
        let (keys, choice) = (spec.sampler_keys(), Choice::of(spec));
        let default = choice.as_ref().map(|choice| choice.name);
        let sampler = named("sampler", keys, default, SAMPLERS, |entry| entry.name)?;
        let section = Section::new("sampler", keys, sampler.all_keys())?;
        let chains = section.count("chains")?.unwrap_or(1);
        if chains > MOST_CHAINS {
            return Err(section.error("chains", format!("must be at most {MOST_CHAINS}")));
        }
        let reference = reference(&section, &**spec.model());
        Ok(Self { sampler, choice, section, chains, reference })
    }

    /// How far chains go, of a sampler that suits the spec.
    ///
    /// # Errors
    /// A sampler that the spec's model or proposal does not go with; a number that is none.
    pub(super) fn extent(&self, spec: &Spec) -> Result<Extent, Error> {
        if spec.own_proposal().is_some() {
            self.check_proposal(spec)?;
        }
        if self.sampler.gradients && !spec.likelihood().has_gradient() {
            return Err(self.section.error("name", without_gradients(self.sampler.name)).into());
        }
        Ok(Extent { cap: self.section.count("steps")?, seed: self.seed()? })
    }

    /// Refuses a proposal given in code where nothing proposes, or where the certificate could not say that code is missing.
    fn check_proposal(&self, spec: &Spec) -> Result<(), SpecError> {
        if !spec.has_own_model() {
            let reason =
                "proposes by code of another program, which goes with a model of that program: see Spec::new";
            return Err(self.section.error("name", reason));
        }
        if !self.sampler.all_keys().any(|key| key.name == "proposal") {
            let reason = "makes no proposals, but one is given in code; use \"barker\"";
            return Err(self.section.error("name", reason));
        }
        Ok(())
    }

    fn seed(&self) -> Result<Option<u64>, SpecError> {
        match self.section.value("seed") {
            None => Ok(None),
            Some(toml::Value::Integer(seed)) if *seed >= 0 => Ok(Some(seed.unsigned_abs())),
            Some(_) => Err(self.section.error("seed", "must be a whole number of at least 0")),
        }
    }

    /// Steps to leave out of the summary: what the spec says, or `usual`, or half of them, which it never exceeds unasked.
    ///
    /// # Errors
    /// All of them, or no whole number.
    pub(super) fn burn_in(&self, steps: u64, usual: Option<u64>) -> Result<u64, SpecError> {
        match self.section.value("burn_in") {
            None => Ok(usual.map_or(steps / 2, |usual| usual.min(steps / 2))),
            Some(toml::Value::Integer(n)) if *n >= 0 && n.unsigned_abs() < steps => Ok(n.unsigned_abs()),
            Some(_) => {
                let reason = format!("must be a whole number from 0 to {}", steps - 1);
                Err(self.section.error("burn_in", reason))
            }
        }
    }
}

/// Why a sampler that follows gradients does not run on a model without, and which do.
fn without_gradients(name: &str) -> String {
    let others: Vec<&str> =
        SAMPLERS.iter().filter(|entry| !entry.gradients).map(|entry| entry.name).collect();
    format!("{name} follows gradients, which the model does not have; these need none: {}", others.join(", "))
}
