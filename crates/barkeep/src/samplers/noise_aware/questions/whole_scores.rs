//! Asks for scores of a model that is no regression, and draws from the posterior given them, round each of its modes.

use crate::diagnostics::Check;
use crate::public_rng::PublicRng;
use crate::samplers::asker::Asker;
use crate::samplers::entry::{Expected, Forecast, MakeForecast, Questions, Setting};
use crate::samplers::noise_aware::draw::checks::{
    agreement, conflict, covariance_at, drift, unchecked, width_of,
};
use crate::samplers::noise_aware::draw::free::{Chains, Target, around, density_around};
use crate::samplers::noise_aware::fit::posterior::{Answered, Fit, Posterior};
use crate::samplers::noise_aware::fit::whole::{Clips, Source, Whole};
use crate::samplers::noise_aware::policy::clip::Noise;
use crate::samplers::noise_aware::questions::ask::{ask_columns, ask_products, impossible, sum};
use crate::samplers::noise_aware::questions::coordinates::Coordinates;
use crate::samplers::noise_aware::questions::shares::{LEARNING, Shares, priced, rounds_of};
use crate::samplers::noise_aware::synthetic::columns::Grid;
use crate::samplers::noise_aware::synthetic::copula::{Belief, absent, width};
use crate::samplers::noise_aware::synthetic::origin::{Columns, Origin, Rows};
use crate::samplers::{Kernel, Report, State};
use crate::step::Outcome;
use barkeep_accounting::{Neighbours, Ratio};
use barkeep_curator::{Refused, Shape};
use barkeep_data::{Unit, View};
use barkeep_model::Likelihood;
use barkeep_model::terms::{self, Centre, Precondition};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// Points of the prior that a search starts from beside where it is, in the first rounds and the last.
const STARTS: usize = 7;
/// The same where responses are given columns: their slopes leave few modes, and searches take longer.
const GIVEN: usize = 3;
const SEARCHED: usize = 3;
/// Points of the prior that a forecast looks at.
const FORESEEN: usize = 5;
/// A mode lower than the highest by more than this has no share in the draws.
const DEPTH: f64 = 12.0;
/// Columns as they might be, and made-up rows for each.
const OTHERS: (usize, usize) = (12, 128);

/// Points of the prior, and what clips make of scores there, whatever the budget and the number of records.
#[derive(Default)]
pub(crate) struct LookedAt(OnceLock<Vec<(Vec<f64>, Clips)>>);

/// A model and the price of every question.
pub(crate) struct WholeSetup {
    /// Before the first answer.
    source: Source,
    rounds: Vec<Ratio>,
    /// All rounds as if they were one answer.
    together: Ratio,
    /// What is asked about columns that responses are given.
    learning: Option<Learning>,
    start: Vec<f64>,
}

/// Questions about columns.
struct Learning {
    coordinates: Coordinates,
    /// Of the moments and of the products.
    ratios: (Ratio, Ratio),
}

impl WholeSetup {
    /// Prepares the method for a budget that allows one answer at ratio `whole`.
    ///
    /// # Errors
    /// The reason why the model is not served.
    pub(crate) fn new(setting: &Setting<'_>, whole: Ratio) -> Result<Self, &'static str> {
        if !matches!(setting.unit, Unit::Record | Unit::Person { most_rows: Some(1) }) {
            return Err("needs a formula where persons may have several rows; use \"langevin\"");
        }
        let (model, likelihood) = (Arc::clone(setting.model), Arc::clone(setting.likelihood));
        let coordinates = match (model.uniforms(), likelihood.given()) {
            (None, Err(reason)) => return Err(reason),
            (None, Ok(_)) => Some(
                Coordinates::given(setting.view, model.responses())
                    .ok_or("needs columns that can be read beside the text's")?,
            ),
            (Some(_), _) => None,
        };
        let origin = match (model.uniforms(), &coordinates) {
            (Some(uniforms), _) => Origin::whole(uniforms),
            (None, coordinates) => believed(&*likelihood, coordinates.as_ref()),
        };
        let source = Source { model, likelihood, origin, records: setting.records };
        let poor = |_| "needs a larger budget";
        let start = setting.reference.to_vec();
        let learning = coordinates.filter(|coordinates| !coordinates.raws.is_empty());
        let Some(coordinates) = learning else {
            let rounds = rounds_of(whole).map_err(poor)?;
            return Ok(Self { source, rounds, together: whole, learning: None, start });
        };
        let shares = Shares::new(whole, LEARNING, true, false, source.dimension(), false).map_err(poor)?;
        let rounds = shares.rounds.iter().map(|(ratio, _)| *ratio).collect();
        let ratios = (shares.columns, shares.gram.unwrap_or(shares.columns));
        let learning = Some(Learning { coordinates, ratios });
        Ok(Self { source, rounds, together: shares.together.0, learning, start })
    }

    /// What is read of the records, where that is more than the model's columns.
    pub(crate) fn view(&self) -> Option<View> {
        self.learning.as_ref().map(|learning| learning.coordinates.view.clone())
    }

    /// What is asked, as it is paid for.
    ///
    /// # Errors
    /// As [`barkeep_accounting::Cost::new`].
    pub(crate) fn questions(&self) -> Result<Questions, barkeep_accounting::Error> {
        let learning = self.learning.iter().flat_map(|learning| [&learning.ratios.0, &learning.ratios.1]);
        priced(&mut learning.chain(&self.rounds).collect::<Vec<_>>(), Neighbours::Substitute)
    }

    /// The noise of all rounds as if they were one answer.
    fn noise(&self) -> Noise {
        Noise { per_clip: 2.0 * self.together.get(), records: self.source.records }
    }

    /// What a run can be expected to achieve: the median over points of the prior of what noise and clip cost there, in standard
    /// deviations of a posterior that may have several modes.
    ///
    /// The prior's own precision is left out, as if there were endless records. With it few records would look well served, since
    /// the prior then says all, and more records worse; without it the error falls with n and ε.
    pub(crate) fn forecast(&self, seen: &LookedAt) -> Option<MakeForecast> {
        let source = Source { origin: self.source.origin.few(), ..self.source.clone() };
        let endless = Source { records: f64::INFINITY, ..source.clone() };
        let looked_at = seen.0.get_or_init(|| {
            let points = self.starts(&self.start).into_iter().skip(1).take(FORESEEN);
            points.filter_map(|theta| endless.clips(&theta).map(|(clips, _)| (theta, clips))).collect()
        });
        let cost = |clips: &Clips| clips.chosen(self.noise()).map(|(cost, _)| cost);
        let mut costs: Vec<(f64, &[f64])> =
            looked_at.iter().filter_map(|(theta, clips)| Some((cost(clips)?, &theta[..]))).collect();
        if costs.is_empty() {
            costs.push((cost(&self.source.clips(&self.start)?.0)?, &self.start));
        }
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (cost, theta) = costs[costs.len() / 2];
        // Columns that responses are given leave few modes, and climbs among them take long.
        let within = match source.origin {
            Origin::Whole { .. } => source.beside_rivals(theta, &self.starts(theta)[1..]).unwrap_or(1.0),
            Origin::Given(_) => 1.0,
        };
        let error = ((cost - 1.0) * within).max(1e-4).sqrt();
        let width = (1.0 + error * error).sqrt();
        let expected = Expected { error, range: (0.7 * error, 1.5 * error), width };
        Some(Box::new(move |_| Forecast { expected: Some(expected), ..Forecast::default() }))
    }

    /// Asks about the columns that responses are given: made-up rows that look like them.
    fn learn(&self, ask: &mut Asker<'_>, rng: &mut PublicRng) -> Result<Source, Refused> {
        let Some(Learning { coordinates, ratios }) = &self.learning else { return Ok(self.source.clone()) };
        let (raws, asked, records) = (&coordinates.raws, &coordinates.asked, self.source.records);
        let (mut grids, _) = ask_columns(ask, (asked, None), ratios.0, records)?;
        let products = ask_products(ask, asked, ratios.1, records, &grids)?;
        products.update(&mut grids, raws);
        let columns = self.source.likelihood.columns();
        let absent = absent(raws, &grids, records);
        let made = |belief: Belief, count: usize| {
            Rows::new(&belief.without(&absent).rows(coordinates, columns, count), columns)
        };
        let count = suitable(&*self.source.likelihood);
        let believed = made(Belief::new(raws, &grids, Some(&products), None), count);
        let others = (0..OTHERS.0)
            .map(|_| made(Belief::new(raws, &grids, Some(&products), Some(rng)), OTHERS.1))
            .collect();
        let columns = Columns { believed, others, has_columns: true, used: width(raws) };
        Ok(Source { origin: Origin::Given(Arc::new(columns)), ..self.source.clone() })
    }

    /// Asks round by round, and fits.
    fn score(&self, ask: &mut Asker<'_>, rng: &mut PublicRng) -> Result<Found, Refused> {
        let lost = || impossible("one whose posterior the answers determine; give proper priors");
        let source = self.learn(ask, rng)?;
        let (d, mut theta) = (source.dimension(), self.start.clone());
        let (mut answered, mut path): (Vec<Answered>, _) = (Vec::new(), vec![theta.clone()]);
        let (mut modes, mut unused) = (Vec::new(), 0);
        for (k, ratio) in self.rounds.iter().enumerate() {
            let mut round = source.round(&theta, self.noise()).ok_or_else(lost)?;
            let clip = round.clips().0;
            let has_own = round.centre.is_empty();
            let centre = if has_own { Centre::Expected } else { Centre::Same(&round.centre) };
            let matrix = Precondition::Dense(&round.whitening);
            let term = terms::shifted(&*source.likelihood, &round.theta, matrix, clip, centre)
                .ok_or(impossible("one whose terms the machine can run"))?;
            let mut answer = vec![0.0; d];
            let noise = sum(ask, (&term, Shape::Ball), clip, *ratio, &mut answer)?;
            (round.answer, round.noise) = (answer, vec![noise; d]);
            answered.push(source.answered(round));
            let is_last = k + 1 == self.rounds.len();
            let starts = if k < SEARCHED || is_last { self.starts(&theta) } else { vec![theta.clone()] };
            let found = search(&source, &answered, &starts);
            unused += 1;
            if let Some(best) = found.first() {
                theta.clone_from(&best.fit.mode);
                (modes, unused) = (found, 0);
            }
            path.push(theta.clone());
        }
        if modes.is_empty() {
            return Err(lost());
        }
        // Draws take the rounds that the modes were found for, and no others.
        answered.truncate(self.rounds.len() - unused);
        Ok(Found { source, answered, modes, path, unused })
    }

    /// Where searches start: here, and at points of the prior.
    fn starts(&self, here: &[f64]) -> Vec<Vec<f64>> {
        let mut rng = PublicRng::new(0, 2);
        let mut starts = vec![here.to_vec()];
        let count = if self.learning.is_some() { GIVEN } else { STARTS };
        for _ in 0..count {
            let mut point = here.to_vec();
            if self.source.model.sample_prior(&mut || rng.open_uniform(), &mut point) {
                starts.push(point);
            }
        }
        starts
    }
}

/// Columns as they are declared or usually are, for responses given them.
pub(crate) fn believed(likelihood: &dyn Likelihood, coordinates: Option<&Coordinates>) -> Origin {
    let columns = likelihood.columns();
    let count = suitable(likelihood);
    let (rows, used) = match coordinates.filter(|coordinates| !coordinates.raws.is_empty()) {
        Some(coordinates) => {
            let raws = &coordinates.raws;
            let grids: Vec<Grid> = raws.iter().map(|raw| Grid::new(raw.is_binary())).collect();
            let belief = Belief::before(coordinates, &grids);
            (Rows::new(&belief.rows(coordinates, columns, count), columns), width(raws))
        }
        None => (Rows::new(&vec![0.0; columns * count], columns), 0),
    };
    let has_columns = used > 0;
    Origin::Given(Arc::new(Columns { believed: rows, others: Vec::new(), has_columns, used }))
}

/// How many rows suit a model.
fn suitable(likelihood: &dyn Likelihood) -> usize {
    Rows::suitable(likelihood.given().map_or(1, |given| given.stand_ins()))
}

/// The modes found from some starts, the one that agrees best with the answers first.
///
/// Answers that disagree widen a fit. A fit far off, where all terms are clipped, is widened until it explains any answer, so
/// heights of fits that were widened differently do not compare: modes are judged by their heights before that.
fn search(source: &Source, answered: &[Answered], starts: &[Vec<f64>]) -> Vec<Mode> {
    let all: Vec<Mode> = starts
        .par_iter()
        .filter_map(|start| {
            let (fit, whole) = source.fit(answered, start)?;
            let height = posterior(source, &whole).log_posterior(answered, &fit, &fit.mode);
            let d = fit.mode.len();
            let root = (0..d).map(|j| libm::log(fit.factor.lower()[j * d + j])).sum();
            let reference = fit.mode.clone();
            let prior = source.model.log_prior(&fit.mode);
            let honest = prior - fit.inflation * (prior - height);
            height.is_finite().then_some(Mode { fit, reference, height, honest, root })
        })
        .collect();
    let mut modes: Vec<Mode> = Vec::new();
    let mut all = all;
    all.sort_by(|a, b| b.honest.total_cmp(&a.honest));
    for mode in all {
        let lowest = modes
            .first()
            .map_or(f64::NEG_INFINITY, |first| first.honest - DEPTH * first.fit.inflation.max(1.0));
        let is_new = modes.iter().all(|known| known.fit.distance(&mode.fit.mode) > 4.0);
        if is_new && mode.honest > lowest {
            modes.push(mode);
        }
    }
    modes
}

fn posterior<'a>(source: &'a Source, whole: &'a Whole<'_>) -> Posterior<'a> {
    Posterior { model: &*source.model, records: source.records, expects: whole }
}

/// One mode of the posterior.
struct Mode {
    fit: Fit,
    /// Where records are made up to judge draws near it.
    reference: Vec<f64>,
    height: f64,
    /// The height before answers that disagree widened the fit.
    honest: f64,
    /// ½ ln of the covariance's determinant.
    root: f64,
}

/// Answers and the modes they leave.
struct Found {
    /// As the answers about columns left it.
    source: Source,
    answered: Vec<Answered>,
    modes: Vec<Mode>,
    path: Vec<Vec<f64>>,
    /// Answered rounds for which no mode was found.
    unused: usize,
}

/// The posterior round its modes, with what is expected near each.
struct Joint<'a> {
    found: &'a Found,
    wholes: Vec<Option<Whole<'a>>>,
    /// What each mode has of the posterior, up to a factor.
    shares: Vec<f64>,
}

impl<'a> Joint<'a> {
    fn new(found: &'a Found) -> Self {
        let whole = |mode: &Mode| Whole::new(&found.source, &found.answered, &mode.reference);
        let highest = found.modes.first().map_or(0.0, |mode| mode.height);
        let share = |mode: &Mode| libm::exp(mode.height - highest + mode.root);
        let wholes = found.modes.par_iter().map(whole).collect();
        Self { found, wholes, shares: found.modes.iter().map(share).collect() }
    }

    /// The mode that θ is nearest to, and the posterior there.
    fn nearest(&self, theta: &[f64]) -> Option<(&Fit, Posterior<'_>)> {
        let modes = self.found.modes.iter().zip(&self.wholes);
        let near = modes.min_by(|a, b| a.0.fit.distance(theta).total_cmp(&b.0.fit.distance(theta)))?;
        Some((&near.0.fit, posterior(&self.found.source, near.1.as_ref()?)))
    }
}

impl Target for Joint<'_> {
    fn height(&self, theta: &[f64]) -> f64 {
        self.nearest(theta).map_or(f64::NEG_INFINITY, |(fit, posterior)| {
            posterior.log_posterior(&self.found.answered, fit, theta)
        })
    }

    fn sloped(&self, theta: &[f64]) -> Option<(f64, Vec<f64>)> {
        let (fit, posterior) = self.nearest(theta)?;
        posterior.sloped(&self.found.answered, fit, theta)
    }

    fn propose(&self, rng: &mut PublicRng) -> Vec<f64> {
        let mut left = rng.uniform() * self.shares.iter().sum::<f64>();
        let chosen = self.shares.iter().position(|share| {
            left -= share;
            left < 0.0
        });
        around(&self.found.modes[chosen.unwrap_or(0)].fit, rng)
    }

    /// A mixture round the modes: a mode's height counts its share without its width, by which its density is divided.
    fn proposed(&self, theta: &[f64]) -> f64 {
        let modes = self.found.modes.iter();
        let terms: Vec<f64> = modes.map(|mode| mode.height + density_around(&mode.fit, theta)).collect();
        barkeep_num::log_sum_exp(&terms)
    }

    fn fit(&self) -> &Fit {
        &self.found.modes[0].fit
    }
}

/// Asks at its first step, and draws from then on.
pub(crate) struct WholeScores {
    setup: Arc<WholeSetup>,
    found: Option<Found>,
    chains: Option<Chains>,
}

impl WholeScores {
    /// A kernel that has not asked yet.
    pub(crate) fn new(setup: Arc<WholeSetup>) -> Self {
        Self { setup, found: None, chains: None }
    }

    /// The next draw.
    fn advance(&mut self, rng: &mut PublicRng) -> Option<(Vec<f64>, Outcome)> {
        let found = self.found.as_ref()?;
        if self.chains.as_ref().is_none_or(Chains::is_empty) {
            let target = Joint::new(found);
            let chains = self.chains.get_or_insert_with(|| Chains::new(&target, rng));
            if chains.is_empty() {
                chains.refill(&target, rng);
            }
        }
        self.chains.as_mut()?.next()
    }

    /// What the fit says of itself.
    fn checks(&self, found: &Found) -> Vec<Check> {
        let Some(best) = found.modes.first() else { return Vec::new() };
        let fit = &best.fit;
        let mut checks = vec![agreement(fit), drift(fit, &found.path, found.unused)];
        checks.extend(self.chains.iter().flat_map(Chains::checks));
        let conflict = conflict(fit, &*self.setup.source.model);
        checks.push(
            conflict.unwrap_or_else(|| unchecked("prior_conflict", "whether priors contradict the answers")),
        );
        checks.push(
            widths(&found.source, fit).unwrap_or_else(|| unchecked("width", "the width of the intervals")),
        );
        checks.push(unchecked("family", "whether records follow the model"));
        let count = found.modes.len() as f64;
        checks.push(Check::passed("modes", count, format!("draws were taken round {count} modes")));
        checks
    }
}

/// Reported widths over those without privacy, by the information at the mode.
fn widths(source: &Source, fit: &Fit) -> Option<Check> {
    let d = fit.mode.len();
    let (mut matrix, mut prior) = (source.information(&fit.mode)?, vec![0.0; d * d]);
    source.model.prior_precision(&fit.mode, &mut prior);
    matrix.iter_mut().zip(&prior).for_each(|(entry, prior)| *entry = source.records * *entry + prior);
    let own = barkeep_num::linear::Cholesky::new(&matrix, d)?.inverse();
    let ratios: Vec<f64> =
        (0..d).map(|j| (covariance_at(fit.factor.lower(), d, j) / own[j * d + j]).sqrt()).collect();
    Some(width_of(source.model.parameter_names(), &ratios))
}

impl Kernel for WholeScores {
    fn step(
        &mut self,
        state: &mut State,
        ask: &mut Asker<'_>,
        rng: &mut PublicRng,
    ) -> Result<Outcome, Refused> {
        if self.found.is_none() {
            self.found = Some(self.setup.score(ask, rng)?);
        }
        let Some((theta, outcome)) = self.advance(rng) else { return Ok(Outcome::Rejected) };
        state.theta = theta;
        state.log_prior = self.setup.source.model.log_prior(&state.theta);
        Ok(outcome)
    }

    fn report(&self) -> Report {
        let checks = self.found.as_ref().map(|found| self.checks(found)).unwrap_or_default();
        let path = self.found.as_ref().map(|found| found.path.clone()).unwrap_or_default();
        Report { checks, independent: true, warmup: Some(0), branch: None, path }
    }
}

#[cfg(test)]
mod tests;
