//! Reads the spec keys that shape a random walk: its scale, its length and the coordinates it moves.

use crate::keys::{Key, Section, key};
use crate::public_rng::PublicRng;
use crate::samplers::entry::Setting;
use crate::samplers::parts::proposal::{Direction, Length, Scale, Walk, distance};
use crate::samplers::parts::whitening::public_precision;
use crate::spec::SpecError;
use crate::step::Proposal;
use barkeep_num::linear::Cholesky;
use std::sync::Arc;

/// The keys of a random walk.
pub(crate) const WALK_KEYS: [Key; 5] = [
    key(
        "proposal",
        "\"capped\" where the price of a step depends on its length, else \"gaussian\"",
        "\"gaussian\", \"capped\" (a Gaussian of bounded length) or \"uniform\" (in the ball of that radius)",
    ),
    key(
        "proposal_sd",
        "half a posterior standard deviation, all parameters together, where the model states its information",
        "standard deviation of the step: a number, or one per parameter",
    ),
    key(
        "proposal_covariance",
        "",
        "instead of proposal_sd: the covariance of a full step, as a list of rows",
    ),
    key(
        "proposal_cap",
        "root mean square length of a Gaussian step",
        "longest step of a capped or uniform proposal",
    ),
    key(
        "move",
        "\"full\"",
        "\"full\": all parameters; \"one\": one at random; \"guided\": one, along a sign that flips on rejection",
    ),
];

/// The length of a step as the spec names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gaussian,
    Capped,
    Uniform,
}

/// E dᵀPd of a step d that is not described, P the posterior's precision as the model's information has it: the square of its length in
/// posterior standard deviations.
///
/// **Why.** Where a step costs in proportion to the square of its length, a budget buys n ∝ 1/E dᵀPd steps. What it then buys in effective
/// draws was measured once, by `benchmarks/steps/efficiency.py`: of the best of a row 0.94 on average at 0.25, 0.88 at 0.5, 0.71 at 1 and 0.38
/// at 4, where walks without a budget do well. Acceptance at 0.25 is 0.47 for Barker's rule, whose limit is ½, and 0.73, 0.58 and 0.30 for
/// penalties of σ = ½, 1 and 2. Shorter steps gain little, and take time.
const USUAL: f64 = 0.25;

/// Proposals drawn to see how long those given in code are.
const TRIED: u32 = 256;

/// A walk as the spec describes it.
#[derive(Clone)]
pub(crate) struct WalkShape {
    /// Scale of a step.
    pub(crate) scale: Scale,
    /// Its length.
    pub(crate) length: Length,
    /// The coordinates it moves.
    pub(crate) direction: Direction,
    /// What proposes instead; the others then only say how long its steps are.
    pub(crate) given: Option<Arc<dyn Proposal>>,
}

impl WalkShape {
    /// The proposal given in code, or a walk by its keys; `capped` says whether steps are capped when the spec does not.
    ///
    /// # Errors
    /// As [`WalkShape::parse`], and for a key beside a proposal given in code.
    pub(crate) fn read(
        section: &Section<'_>,
        setting: &Setting<'_>,
        capped: bool,
    ) -> Result<Self, SpecError> {
        let dimension = setting.model.dimension();
        let Some(given) = setting.proposal else {
            return Self::parse(section, dimension, capped, &|direction| usual(setting, direction));
        };
        if let Some(key) = WALK_KEYS.iter().find(|key| section.has(key.name)) {
            return Err(section.error(key.name, "has no meaning beside a proposal given in code"));
        }
        let length = match given.longest() {
            Some(cap) if cap > 0.0 && cap.is_finite() => Length::Capped { cap },
            Some(_) => {
                return Err(section.error("name", "proposes by code whose longest step is not a length"));
            }
            None => Length::Gaussian,
        };
        // How long its steps are where the chain starts: a scale for what a plan shows, and nothing else.
        let mut rng = PublicRng::new(0, 0);
        let mut square = 0.0;
        for _ in 0..TRIED {
            let mut to = setting.reference.to_vec();
            given.propose(setting.reference, &mut to, &mut rng);
            square += distance(setting.reference, &to).powi(2) / f64::from(TRIED);
        }
        #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
        let sd = (square / dimension.max(1) as f64).sqrt();
        let sd = if sd.is_finite() && sd > 0.0 { sd } else { 1.0 };
        let scale = Scale::Diagonal(vec![sd; dimension]);
        Ok(Self { scale, length, direction: Direction::Full, given: Some(Arc::clone(given)) })
    }

    /// The walk at rest.
    pub(crate) fn walk(&self, rng: &mut PublicRng) -> Walk {
        Walk::new(self.scale.clone(), self.length, self.direction, rng).proposed_by(self.given.clone())
    }

    /// Reads the keys; `capped` says whether steps are capped when the spec does not, `usual` what scale they have then.
    ///
    /// # Errors
    /// A key that is missing, out of range, or contradicts another.
    fn parse(
        section: &Section<'_>,
        dimension: usize,
        capped: bool,
        usual: &dyn Fn(Direction) -> Option<Scale>,
    ) -> Result<Self, SpecError> {
        let direction = section
            .choice(
                "move",
                &[("full", Direction::Full), ("one", Direction::One), ("guided", Direction::Guided)],
            )?
            .unwrap_or(Direction::Full);
        let kind = section
            .choice(
                "proposal",
                &[("gaussian", Kind::Gaussian), ("capped", Kind::Capped), ("uniform", Kind::Uniform)],
            )?
            .unwrap_or(if capped { Kind::Capped } else { Kind::Gaussian });
        let scale = scale(section, dimension, direction, kind, usual)?;
        // The cap sets the price of every step: no longer than what a typical step needs.
        let typical = scale.root_mean_square(direction);
        let cap = section.positive("proposal_cap")?;
        let length = match (kind, cap) {
            (Kind::Gaussian, Some(_)) => {
                return Err(section.error(
                    "proposal_cap",
                    "has no meaning for proposal = \"gaussian\", which has no longest step",
                ));
            }
            (Kind::Gaussian, None) => Length::Gaussian,
            (Kind::Uniform, Some(_)) if section.has("proposal_sd") => {
                return Err(section.error(
                    "proposal_sd",
                    "has no meaning for proposal = \"uniform\", whose length is proposal_cap",
                ));
            }
            (Kind::Uniform, Some(cap)) => Length::Uniform { cap },
            (Kind::Uniform, None) => {
                return Err(section.error("proposal_cap", "is required for proposal = \"uniform\""));
            }
            (Kind::Capped, cap) => {
                let cap = cap.unwrap_or(typical);
                // Below this a draw would be refused too often to be worth waiting for.
                if cap < 0.8 * typical {
                    return Err(section.error(
                        "proposal_cap",
                        format!(
                            "is shorter than 0.8 times the root mean square step ({typical:.6}); \
                             lower proposal_sd or use proposal = \"uniform\""
                        ),
                    ));
                }
                Length::Capped { cap }
            }
        };
        Ok(Self { scale, length, direction, given: None })
    }
}

fn scale(
    section: &Section<'_>,
    dimension: usize,
    direction: Direction,
    kind: Kind,
    usual: &dyn Fn(Direction) -> Option<Scale>,
) -> Result<Scale, SpecError> {
    if let Some(covariance) = section.matrix("proposal_covariance", dimension)? {
        if section.has("proposal_sd") {
            return Err(
                section.error("proposal_covariance", "and proposal_sd say the same thing; give one of them")
            );
        }
        if direction != Direction::Full || kind == Kind::Uniform {
            return Err(section
                .error("proposal_covariance", "needs move = \"full\" and a Gaussian or capped proposal"));
        }
        let factor = Cholesky::new(&covariance, dimension)
            .ok_or_else(|| section.error("proposal_covariance", "must be symmetric and positive definite"))?;
        return Ok(Scale::Cholesky(factor.lower().to_vec()));
    }
    let sd = match section.value("proposal_sd") {
        Some(toml::Value::Array(_)) => {
            let sd = section.numbers("proposal_sd")?.unwrap_or_default();
            if sd.len() != dimension || sd.iter().any(|s| *s <= 0.0) {
                return Err(section.error("proposal_sd", format!("must hold {dimension} numbers above 0")));
            }
            sd
        }
        Some(_) => vec![section.positive("proposal_sd")?.unwrap_or(1.0); dimension],
        // A uniform step has its cap for a scale.
        None if kind == Kind::Uniform => vec![1.0; dimension],
        None => {
            let reason = "is required: the model states no information that a step could be scaled by";
            return usual(direction).ok_or_else(|| section.error("proposal_sd", reason));
        }
    };
    Ok(Scale::Diagonal(sd))
}

/// The scale of a step where the spec gives none: [`USUAL`], at the public point to plan with; for steps along one coordinate, given the
/// others.
fn usual(setting: &Setting<'_>, direction: Direction) -> Option<Scale> {
    let dimension = setting.model.dimension();
    let counted = setting.records * setting.temper.get() * setting.rows()?;
    let precision = public_precision(&**setting.model, counted, setting.reference)?;
    match direction {
        Direction::Full => {
            #[expect(clippy::cast_precision_loss, reason = "dimensions are small")]
            let share = USUAL / dimension as f64;
            let covariance: Vec<f64> =
                Cholesky::new(&precision, dimension)?.inverse().iter().map(|entry| share * entry).collect();
            Some(Scale::Cholesky(Cholesky::new(&covariance, dimension)?.lower().to_vec()))
        }
        Direction::One | Direction::Guided => {
            let sd: Vec<f64> =
                (0..dimension).map(|j| (USUAL / precision[j * dimension + j]).sqrt()).collect();
            sd.iter().all(|sd| *sd > 0.0 && sd.is_finite()).then_some(Scale::Diagonal(sd))
        }
    }
}
