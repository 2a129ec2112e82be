//! Chooses the sampler of a private spec that names none.

use crate::facts::Fact;
use crate::spec::{Privacy, Spec};
use barkeep_accounting::Neighbours;
use barkeep_curator::Temper;
use barkeep_data::Unit;

/// Keys of `[sampler]` that do not ask for Langevin dynamics.
const COMMON: [&str; 3] = ["steps", "seed", "burn_in"];
/// The sampler where noise-aware questions can be asked.
pub(super) const AUTO: &str = "auto";
/// The sampler elsewhere, and of every model that is code outside barkeep.
pub(crate) const DEFAULT_SAMPLER: &str = "langevin";

/// The sampler of a private spec that names none.
pub(super) struct Choice {
    /// Its name.
    pub(super) name: &'static str,
    /// Why it is not the first choice, if so.
    reason: Option<&'static str>,
}

impl Choice {
    /// Chooses for a spec; nothing where the spec names a sampler or protects nothing.
    pub(super) fn of(spec: &Spec) -> Option<Self> {
        if spec.privacy() == Privacy::NotPrivate || spec.sampler_keys().contains_key("name") {
            return None;
        }
        let reason = against_auto(spec);
        Some(Self { name: reason.map_or(AUTO, |_| DEFAULT_SAMPLER), reason })
    }

    /// What a plan shows of it.
    pub(super) fn fact(&self) -> Option<Fact> {
        let name = self.name;
        self.reason.map(|reason| Fact::word("chosen", "sampler chosen", name, format!("{name}: {reason}")))
    }
}

/// Why a spec is not served by [`AUTO`], if so: Langevin dynamics serve it.
fn against_auto(spec: &Spec) -> Option<&'static str> {
    let is_substitution =
        matches!(spec.privacy(), Privacy::Budget { neighbours: Neighbours::Substitute, .. });
    let has_law = spec.model().regression().is_some_and(|regression| regression.law().is_some());
    if !spec.sampler_keys().keys().all(|key| COMMON.contains(&key.as_str())) {
        Some("[sampler] sets keys that noise-aware scores do not have")
    } else if !is_substitution {
        Some("noise-aware scores divide by the number of records, which is secret under add-remove")
    } else if spec.data().unit() == (Unit::Person { most_rows: None }) {
        Some("noise-aware scores need data.most_rows: how many rows persons have is part of their model")
    } else if spec.tempering() != Temper::NONE {
        Some("noise-aware scores have a likelihood of their own, and no power of it is meant by temper")
    } else if !has_law {
        Some("noise-aware scores need a regression whose family states its law")
    } else {
        None
    }
}
