//! `auto`: asks about the columns first, then for scores or by Langevin dynamics, whichever the answers favour.

use crate::Error;
use crate::keys::Section;
use crate::samplers::entry::{Prepared, SamplerEntry, Setting, StartRule};
use crate::samplers::example::Example;
use crate::samplers::prepare::learned;

/// The sampler.
pub(crate) const ENTRY: SamplerEntry = SamplerEntry {
    name: "auto",
    summary: "asks about the columns first, then for scores as \"noise-aware\", or as \"langevin\" where there is time enough",
    keys: &[],
    start: StartRule::Independent,
    private: true,
    gradients: true,
    examples: &[
        Example::small_regression(400, "steps = 1"),
        Example::small_regression(5_000, "steps = 900").named("on many records"),
    ],
    prepare,
};

fn prepare(section: &Section<'_>, setting: &Setting<'_>) -> Result<Prepared, Error> {
    learned::prepare(section, setting, None)
}
