//! `noise-aware`: a few noisy scores, asked for once; draws from the posterior given them are free.

use crate::Error;
use crate::facts::{Fact, Facts};
use crate::keys::Section;
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{MakeKernel, Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{Example, GAUSSIAN, LOGISTIC};
use crate::samplers::noise_aware::{NoiseAware, WholeScores, WholeSetup};
use crate::samplers::prepare::learned;
use std::sync::Arc;

/// Draws when the spec does not say.
const DRAWS: u64 = 2000;

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "noise-aware",
    summary: "a few noisy scores, asked for once; the posterior given them counts the noise, and draws are free",
    keys: &[],
    start: StartRule::Independent,
    private: true,
    gradients: true,
    examples: &[
        Example::small_regression(400, "steps = 1"),
        Example::large(LOGISTIC, ""),
        Example::large(GAUSSIAN, ""),
    ],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let (questions, view, forecast, kernel): (_, _, _, MakeKernel) = if setting.model.regression().is_some() {
        let setup = Arc::new(learned::setup(section, setting)?);
        let (questions, view, forecast) = (setup.questions()?, setup.view().clone(), setup.forecast());
        let kernel =
            move |_: &mut PublicRng| Box::new(NoiseAware::new(Arc::clone(&setup))) as Box<dyn Kernel>;
        (questions, Some(view), forecast, Box::new(kernel))
    } else {
        let whole = learned::whole(section, setting)?;
        let setup = WholeSetup::new(setting, whole).map_err(|reason| section.error("name", reason))?;
        let setup = Arc::new(setup);
        let (questions, view, forecast) =
            (setup.questions()?, setup.view(), setup.forecast(&setting.foreseen.scores));
        let kernel =
            move |_: &mut PublicRng| Box::new(WholeScores::new(Arc::clone(&setup))) as Box<dyn Kernel>;
        (questions, view, forecast, Box::new(kernel))
    };
    let asked = questions.iter().map(|(_, times)| times.0).sum();
    let facts: Facts = vec![
        Fact::count("questions", "questions asked of the records", asked),
        Fact::word("posterior", "posterior", "given the answers", "given the answers: it counts their noise"),
    ];
    let price = Price::Once { questions, draws: DRAWS };
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast, view })
}
