//! `noise-aware`: a few noisy scores, asked for once; draws from the posterior given them are free.

use crate::Error;
use crate::plan::facts::{Fact, Facts};
use crate::public_rng::PublicRng;
use crate::samplers::Kernel;
use crate::samplers::entry::{Prepared, Price, SamplerEntry, Setting, StartRule};
use crate::samplers::example::{Example, LOGISTIC};
use crate::samplers::noise_aware::NoiseAware;
use crate::samplers::prepare::learned;
use crate::spec::section::Section;
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
    examples: &[Example::small_regression(400, "steps = 1"), Example::large(LOGISTIC, "")],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    let setup = learned::setup(section, setting)?;
    let questions = setup.questions()?;
    let asked = questions.iter().map(|(_, times)| times.0).sum();
    let facts: Facts = vec![
        Fact::count("questions", "questions asked of the records", asked),
        Fact::word("posterior", "posterior", "given the answers", "given the answers: it counts their noise"),
    ];
    let view = Some(setup.view().clone());
    let setup = Arc::new(setup);
    let forecast = setup.forecast();
    let kernel =
        Box::new(move |_: &mut PublicRng| Box::new(NoiseAware::new(Arc::clone(&setup))) as Box<dyn Kernel>);
    let price = Price::Once { questions, draws: DRAWS };
    Ok(Prepared { kernel, price, alternative: None, facts, burn_in: Some(0), forecast, view })
}
