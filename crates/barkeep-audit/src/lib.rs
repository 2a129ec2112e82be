//! Attacks the program that runs: plays mechanisms and whole samplers on neighbouring data sets, many times, and reports how
//! much ε an attacker can prove, beside what is certified.
//!
//! A [`Game`] is a mechanism with two neighbouring data sets built in; [`attack`] plays it and returns a lower bound on
//! its ε that is wrong with a stated probability at most. [`audit_all`] lists every mechanism of the curator and
//! every private sampler; [`audit_plan`] takes a plan as it would be run. Both use the real curator, gate, kernel and
//! budget. Only the records are made up, one at each end of what the bounds admit, and every decision is steered to
//! where it reveals most.
//!
//! A bound above the certificate refutes it. A bound below proves nothing, but shows how much of the price an attack of this
//! kind can explain.

mod evidence;
mod game;
mod outcomes;
mod pair;
mod plain;
mod probe;
mod proportion;
mod samplers;
mod scored;
mod simple;
mod staged;
mod watched;
mod worst;

pub use evidence::{Claim, Effort, attack};
pub use game::{Each, Game, Source, World};
pub use proportion::{at_least, at_most};
pub use watched::Progress;
use watched::{Place, Watched};

use barkeep::Error;
use barkeep::plan::{Bill, Plan};
use barkeep::spec::{Privacy, SpecError};
use serde::Serialize;

/// The probability that any bound of one audit is above the truth, all rows together.
pub const ALPHA: f64 = 1e-3;

/// What one attack found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What was attacked.
    pub mechanism: String,
    /// ε as certified.
    pub certified: f64,
    /// The δ of both.
    pub delta: f64,
    /// The ε an attacker has proved.
    pub audited: f64,
    /// Trials in each of the two worlds.
    pub trials: u64,
    /// Whether the price is that of what leaves; else it includes a number that stays inside, and the bound must stay
    /// far below.
    pub priced_as_released: bool,
}

impl Row {
    /// Whether the certificate stands.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.audited <= self.certified
    }
}

/// How to audit.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Trials in each world; chosen by the work of one where absent.
    pub trials: Option<u64>,
    /// Repeats an audit. Records are made up, so that no seed endangers them.
    pub seed: Option<u64>,
    /// Hears how far the audit is, from any thread.
    pub watch: Option<&'a (dyn Fn(Progress<'_>) + Sync)>,
}

/// Trials of a mechanism in each world, where none are asked for.
pub const TRIALS: u64 = 400_000;

/// Questions all trials of a sampler in one world ask together, about.
const QUESTIONS: u64 = 6_000_000;

/// Attacks every mechanism of the curator and every private sampler; `found` hears of each row at once.
///
/// # Errors
/// Whatever keeps a mechanism from running.
pub fn audit_all(options: Options<'_>, found: &mut dyn FnMut(&Row)) -> Result<Vec<Row>, Error> {
    let source = Source::new(options.seed)?;
    let examples = samplers::examples();
    let mechanisms = || simple::SIMPLE.iter().chain(scored::SCORED);
    let games = mechanisms().count() + examples.len() + 1;
    let alpha = ALPHA / games as f64;
    let mut rows = Vec::new();
    for entry in mechanisms() {
        let case = entry(Effort { trials: options.trials.unwrap_or(TRIALS), alpha, source })?;
        let watched = Watched::new(
            &*case.game,
            &case.name,
            case.effort,
            Place { index: rows.len(), games, watch: options.watch },
        );
        let row = Row {
            mechanism: case.name.clone(),
            certified: case.contract.epsilon(case.claim.delta)?.upper,
            delta: case.claim.delta.get(),
            audited: attack(&watched, case.claim, case.effort)?,
            trials: case.effort.trials,
            priced_as_released: case.priced_as_released,
        };
        found(&row);
        rows.push(row);
    }
    for example in &examples {
        let mechanism = format!("sampler {}", example.title);
        let place = Place { index: rows.len(), games, watch: options.watch };
        let row = attack_plan(&samplers::plan(example)?, mechanism, options, alpha, source, place)?;
        found(&row);
        rows.push(row);
    }
    let place = Place { index: rows.len(), games, watch: options.watch };
    let row = outcomes::audit(options, alpha, source, place)?;
    found(&row);
    rows.push(row);
    Ok(rows)
}

/// Why a baseline is not audited.
fn nothing_to_audit() -> Error {
    SpecError::new("privacy.private", "is false: a baseline certifies nothing, so there is nothing to audit")
        .into()
}

/// Attacks one plan with all of [`ALPHA`].
///
/// # Errors
/// A baseline, which certifies nothing; whatever keeps the plan from running.
pub fn audit_plan(plan: &Plan, options: Options<'_>) -> Result<Row, Error> {
    let place = Place { index: 0, games: 1, watch: options.watch };
    let name = format!("sampler {}", plan.sampler().name);
    attack_plan(plan, name, options, ALPHA, Source::new(options.seed)?, place)
}

fn attack_plan(
    plan: &Plan,
    mechanism: String,
    options: Options<'_>,
    alpha: f64,
    source: Source,
    place: Place<'_>,
) -> Result<Row, Error> {
    let (Some(epsilon), Privacy::Budget { delta, .. }) = (plan.epsilon(), plan.spec().privacy()) else {
        return Err(nothing_to_audit());
    };
    let trials = options.trials.unwrap_or_else(|| (QUESTIONS / samplers::work(plan)).clamp(2_000, TRIALS));
    let game = samplers::game(plan, source)?;
    let claim = Claim { delta, gaussian: samplers::is_gaussian(plan) };
    let effort = Effort { trials, alpha, source };
    let watched = Watched::new(&game, &mechanism, effort, place);
    let audited = attack(&watched, claim, effort)?;
    Ok(Row {
        mechanism,
        certified: epsilon.get(),
        delta: delta.get(),
        audited,
        trials,
        priced_as_released: match plan.bill() {
            Some(Bill::Contract(contract) | Bill::Once(contract)) => {
                samplers::priced_as_released(contract.parts())
            }
            // A filter charges answers as they are asked for.
            Some(Bill::Gaussian { .. } | Bill::Filter { .. }) | None => true,
        },
    })
}
