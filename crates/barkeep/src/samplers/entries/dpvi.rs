//! `dpvi`: fits a mean-field normal to the posterior by clipped noisy gradients, then draws from it for free (Jälkö, Dikmen and
//! Honkela 2017).
//!
//! [`variational`](crate::samplers::kernels::variational) has the mathematics.

use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{DEFAULT_FREE_DRAWS, Prepared, Price, SamplerEntry, StartRule};
use crate::samplers::example::{Example, GAUSSIAN};
use crate::samplers::kernels::variational::{Fit, Variational};
use crate::samplers::prepare::fit::FIT_KEYS;
use crate::samplers::prepare::judged::needs_budget;
use crate::spec::Privacy;
use crate::start::reference;
use std::sync::Arc;

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "dpvi",
    summary: "mean-field normal fitted by clipped noisy gradients; draws from it are free (Jälkö et al. 2017)",
    keys: &[&FIT_KEYS],
    start: StartRule::Independent,
    private: true,
    gradients: true,
    examples: &[
        Example::small(100, "iterations = 10\nsteps = 1"),
        Example::small(100, "iterations = 10\nsteps = 1\nbatch = 20").named("batches"),
        Example::large(GAUSSIAN, ""),
    ],
    prepare: |section, setting| {
        needs_budget(section, setting)?;
        let Privacy::Budget { epsilon, delta, .. } = setting.privacy else {
            return Err(section.error("name", "needs a budget").into());
        };
        // The kernel starts where the chain does; here it is only checked that one can start there.
        let from = reference(section, &**setting.model);
        let fit = Arc::new(Fit::parse(section, setting, from, epsilon, delta)?);
        let price = Price::Once { questions: fit.questions(), draws: DEFAULT_FREE_DRAWS };
        let (facts, forecast) = (fit.facts(), Some(fit.forecast()));
        let model = Arc::clone(setting.model);
        let kernel = Box::new(move |_: &mut PublicRng| {
            Box::new(Variational::new(Arc::clone(&model), Arc::clone(&fit))) as Box<dyn Kernel>
        });
        Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast, view: None })
    },
};
