//! Asks the curator, stage by stage: columns, products, eight rounds of scores and the tail between them.

use crate::public_rng::PublicRng;
use crate::samplers::asker::{Asker, too_large};
use crate::samplers::noise_aware::draw::family::{Bins, Straying};
use crate::samplers::noise_aware::fit::expectation::{Round, Set, information};
use crate::samplers::noise_aware::fit::persons::{MadeUp, RowLaw, make_up};
use crate::samplers::noise_aware::fit::posterior::{Answered, Fit, Scene};
use crate::samplers::noise_aware::fit::tail::{Bias, EDGES, Part};
use crate::samplers::noise_aware::policy::clip::{Noise, choose};
use crate::samplers::noise_aware::questions::coordinates::Coordinates;
use crate::samplers::noise_aware::questions::shares::{ROUNDS, Shares};
use crate::samplers::noise_aware::synthetic::columns::{Grid, Known};
use crate::samplers::noise_aware::synthetic::copula::{Belief, Products, absent};
use crate::start::prior_mode;
use barkeep_accounting::{Neighbours, Ratio, Sampling};
use barkeep_curator::{
    Asked, Clip, Refused, Shape, Sum, Temper, Term, gram_width, shape_sensitivity, sigma_for,
};
use barkeep_model::terms::{self, Coordinate, powers_bound, powers_width};
use barkeep_model::{CentredScore, Law, Model, Regression, ScoreBlock};
use barkeep_num::linear::{Spectrum, diagonal, product};
use std::sync::Arc;

/// Made-up records, and how many where records are many.
const RECORDS: (usize, usize) = (512, 4096);
/// More records than this are many.
const MANY: f64 = 1e5;
/// Columns as they might be, and made-up records for each.
const OTHERS: (usize, usize) = (24, 256);
/// The round before which the tail is asked for.
pub(crate) const TAIL_ROUND: usize = 3;

/// A regression, its raw columns and the price of every question.
pub(crate) struct Setup {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) coordinates: Coordinates,
    pub(crate) shares: Shares,
    /// Records, or persons.
    pub(crate) records: f64,
    /// The most rows of a person; 1 of a record.
    pub(crate) most_rows: u64,
    pub(crate) law: Law,
}

/// What the first answers say: made-up records that look like the columns, and where to start.
pub(crate) struct Learned {
    pub(crate) set: Set,
    pub(crate) others: Vec<Set>,
    pub(crate) start: Vec<f64>,
    /// How many rows persons have.
    pub(crate) rows: RowLaw,
    /// The least share of a level or of a true-or-false value that is kept, as it is believed to be.
    rarest: Option<f64>,
    /// Levels and values that may have no record, and how many they may have.
    given_up: Vec<(String, f64)>,
}

/// Everything that draws need.
pub(crate) struct Found {
    pub(crate) set: Set,
    pub(crate) others: Vec<Set>,
    pub(crate) answered: Vec<Answered>,
    pub(crate) fit: Fit,
    /// The mode after each round.
    pub(crate) path: Vec<Vec<f64>>,
    /// Answered rounds that the fit does not rest on, because no fit to them was found.
    pub(crate) unused: usize,
    /// The rows of all persons, as they are believed to be; the number of records otherwise.
    pub(crate) total: f64,
    /// The least share of a level or of a true-or-false value that is kept, as it is believed to be.
    pub(crate) rarest: Option<f64>,
    /// Levels and values that may have no record, and how many they may have.
    pub(crate) given_up: Vec<(String, f64)>,
    /// How responses lie to their family, and what the last clips' bias is believed to be, in posterior standard deviations without privacy.
    pub(crate) straying: Option<(Straying, f64)>,
}

pub(crate) fn impossible(requirement: &'static str) -> Refused {
    Refused::Question { name: "model", requirement }
}

/// One noisy sum: at this ratio of noise to sensitivity, clipped at `clip`. Returns the noise.
pub(crate) fn sum(
    ask: &mut Asker<'_>,
    (term, shape): (&barkeep_machine::Term, Shape),
    clip: f64,
    ratio: Ratio,
    out: &mut [f64],
) -> Result<f64, Refused> {
    let clip = Clip::new(clip)?;
    let sensitivity = shape_sensitivity(shape, Temper::NONE, clip, Neighbours::Substitute)?;
    let sigma = sigma_for(ratio, sensitivity);
    let term = Term::Program(Asked { term, shape });
    ask.sum(&Sum { term, temper: Temper::NONE, clip, batch: Sampling::Full, sigma }, out)?;
    Ok(sigma)
}

impl Setup {
    pub(crate) fn regression(&self) -> Result<&Regression, Refused> {
        self.model.regression().ok_or(impossible("a regression"))
    }

    pub(crate) fn top(&self) -> f64 {
        self.coordinates.view.schema().columns().first().map_or(f64::INFINITY, |response| response.range().1)
    }

    pub(crate) fn columns(&self) -> usize {
        self.model.columns()
    }

    /// Asks about the columns.
    pub(crate) fn learn(&self, ask: &mut Asker<'_>, rng: &mut PublicRng) -> Result<Learned, Refused> {
        let regression = self.regression()?;
        let mut asked = self.coordinates.asked.clone();
        asked.extend(self.coordinates.response);
        let (mut grids, rows) =
            ask_columns(ask, (&asked, self.asked_rows()), self.shares.columns, self.records)?;
        let response = grids.pop().map(|grid| grid.known()).ok_or(impossible("one with a response"))?;
        let products = match self.shares.gram {
            Some(ratio) => Some(ask_products(ask, &self.coordinates.asked, ratio, self.records, &grids)?),
            None => None,
        };
        if let Some(products) = &products {
            products.update(&mut grids, &self.coordinates.raws);
        }
        let raws = &self.coordinates.raws;
        let absent = absent(raws, &grids, self.records * rows.mean());
        let made = |belief: Belief, count: usize| {
            let rows = belief.without(&absent).rows(&self.coordinates, self.columns(), count);
            Set::new(regression, &rows, self.columns())
        };
        // Without columns all records look the same.
        let count = match raws.is_empty() {
            true => 1,
            false if self.records > MANY => RECORDS.1,
            false => RECORDS.0,
        };
        let set = made(Belief::new(raws, &grids, products.as_ref(), None), count);
        let others: Vec<Set> = if raws.is_empty() {
            Vec::new()
        } else {
            (0..OTHERS.0)
                .map(|_| made(Belief::new(raws, &grids, products.as_ref(), Some(rng)), OTHERS.1))
                .collect()
        };
        let kept = raws.iter().zip(&grids).enumerate();
        let kept = kept.filter(|(j, (raw, _))| raw.is_binary() && !absent.contains(j));
        let shares = kept.map(|(_, (_, grid))| {
            let share = 0.5 * (1.0 + grid.known().mean);
            share.min(1.0 - share)
        });
        let rarest = shares.reduce(f64::min);
        let given_up = absent.iter().map(|j| {
            let most = grids[*j].count(self.records * rows.mean()).1.ceil();
            (self.coordinates.name(&raws[*j]), most)
        });
        let given_up = given_up.collect();
        let start = self.start(regression, &response, &set);
        Ok(Learned { set, others, start, rows, rarest, given_up })
    }

    /// Asks for scores, round by round, and fits.
    pub(crate) fn score(&self, ask: &mut Asker<'_>, learned: Learned) -> Result<Found, Refused> {
        let regression = self.regression()?;
        let Learned { set, others, start: mut theta, rows, rarest, given_up } = learned;
        let scene = Scene { rarest, ..self.scene(regression, &set, &others, &rows) };
        let (mut answered, mut path, mut fit, mut unused): (Vec<Answered>, _, _, _) =
            (Vec::new(), vec![theta.clone()], None, 0);
        let mut bias = self.bias(regression, scene.records);
        // Clips are chosen by what the tail says; what a clip's bias can be is believed as before where records stray.
        let (mut believed, mut straying) = (bias.clone(), None);
        for k in 0..ROUNDS.len() {
            let mut round = self.round(&scene, &theta)?;
            if k == TAIL_ROUND {
                let bins = self.ask_tail(ask, &round, scene.records, &mut bias)?;
                straying = match &fit {
                    Some(fit) if !bins.is_empty() && rows.is_one() => {
                        Straying::judge(&scene, &round, &bins, fit)
                    }
                    _ => None,
                };
                believed = match straying {
                    Some(straying) if straying.is_sure() => {
                        (believed.0.larger(&bias.0), believed.1.larger(&bias.1))
                    }
                    _ => bias.clone(),
                };
            }
            self.choose_clips(&scene, &mut round, &bias, &rows)?;
            self.ask_scores(ask, k, &mut round)?;
            let round = Answered::new(&scene, round).ok_or(impossible("one with a law"))?;
            answered.push(round);
            let renewals = if k + 1 < ROUNDS.len() { 2 } else { 4 };
            unused += 1;
            if let Some(found) = scene.posterior().fit(&answered, &theta, &believed, renewals) {
                theta.clone_from(&found.mode);
                (fit, unused) = (Some(found), 0);
            }
            path.push(theta.clone());
        }
        let fit = fit.ok_or(impossible("one whose posterior the answers determine; give proper priors"))?;
        let total = scene.records;
        // Draws and checks take the rounds that the fit's V is about, and no others.
        answered.truncate(ROUNDS.len() - unused);
        let last = answered.last().map_or((1.0, 1.0), |one| one.round.narrowness);
        let pull = believed.0.at(last.0).max(believed.1.at(last.1));
        let straying = straying.map(|straying| (straying, pull));
        Ok(Found { set, others, answered, fit, path, unused, total, rarest, given_up, straying })
    }

    pub(crate) fn scene<'a>(
        &'a self,
        regression: &'a Regression,
        set: &'a Set,
        others: &'a [Set],
        rows: &RowLaw,
    ) -> Scene<'a> {
        let records = self.records * rows.mean();
        Scene { model: &*self.model, regression, records, top: self.top(), set, others, rarest: None }
    }

    /// The scene that a fit was made in.
    pub(crate) fn scene_of<'a>(&'a self, regression: &'a Regression, found: &'a Found) -> Scene<'a> {
        let Found { set, others, total, rarest, .. } = found;
        let (records, top) = (*total, self.top());
        Scene { model: &*self.model, regression, records, top, set, others, rarest: *rarest }
    }

    /// The most rows of a person, where the number of rows is asked for.
    fn asked_rows(&self) -> Option<u64> {
        (self.most_rows > 1).then_some(self.most_rows)
    }

    /// How many rows persons are taken to have before the first answer.
    pub(crate) fn rows_before(&self) -> RowLaw {
        let known = Grid::new(false).known();
        RowLaw::new(self.most_rows, known.mean, known.square)
    }

    /// A start from the moments of the mapped response, slopes at the prior's mode.
    fn start(&self, regression: &Regression, response: &Known, set: &Set) -> Vec<f64> {
        let mut theta = prior_mode(&*self.model);
        let (d, has_nuisance) = regression.parts();
        let Some(map) = self.coordinates.response else { return theta };
        let (centre, variance) = (
            (response.mean - map.shift) / map.scale,
            (response.square + response.variance) / (map.scale * map.scale),
        );
        let (level, nuisance) = match self.law {
            Law::Logit | Law::Probit | Law::Binomial => (
                self.law.predictor_of_share((0.5 * (1.0 + response.mean)).clamp(0.03, 0.97)).unwrap_or(0.0),
                0.0,
            ),
            Law::Normal => (centre, 0.5 * libm::log(variance)),
            Law::StudentT { .. } => (centre, 0.5 * libm::log(variance) - 0.35),
            Law::Gamma => (centre + 0.25 * variance, libm::log((1.0 / variance.max(1e-3)).clamp(0.3, 30.0))),
            Law::Poisson | Law::NegativeBinomial => {
                (centre + 0.5 * variance, libm::log((1.0 / variance.max(1e-3)).clamp(0.3, 30.0)))
            }
        };
        let offset = set.offsets.iter().sum::<f64>() / set.len().max(1) as f64;
        if regression.has_intercept() {
            theta[0] = level - offset;
        }
        if has_nuisance {
            theta[d] = nuisance;
        }
        theta
    }

    /// What a clip's bias is believed to be before the tail is asked for.
    pub(crate) fn bias(&self, regression: &Regression, rows: f64) -> (Bias, Bias) {
        if self.shares.tail.is_none() {
            let two_values = matches!(self.law, Law::Logit | Law::Probit);
            return (if two_values { Bias::of_two_values() } else { Bias::none() }, Bias::none());
        }
        let second = if regression.parts().1 { Bias::expected(Part::Nuisance, rows) } else { Bias::none() };
        (Bias::expected(Part::Coefficients, rows), second)
    }

    /// A round at θ: its whitening by the information there.
    pub(crate) fn round(&self, scene: &Scene<'_>, theta: &[f64]) -> Result<Round, Refused> {
        let lost = || impossible("one with a finite information");
        let (d, has_nuisance) = scene.regression.parts();
        let parameters = d + usize::from(has_nuisance);
        let (mut matrix, mut other) =
            information(scene.regression, (scene.set, RECORDS.0), theta, scene.top).ok_or_else(lost)?;
        let mut prior = vec![0.0; parameters * parameters];
        self.model.prior_precision(theta, &mut prior);
        for j in 0..d {
            for k in 0..d {
                matrix[j * d + k] += prior[j * parameters + k] / scene.records;
            }
        }
        if has_nuisance {
            other += prior[d * parameters + d] / scene.records;
        }
        // Features in different units are made comparable before small eigenvalues are raised.
        let units: Vec<f64> = (0..d).map(|j| 1.0 / matrix[j * d + j].max(1e-300).sqrt()).collect();
        let scaled: Vec<f64> =
            matrix.iter().enumerate().map(|(k, entry)| entry * units[k / d] * units[k % d]).collect();
        let spectrum = Spectrum::new(&scaled, d).ok_or_else(lost)?;
        let least = 1e-4 * spectrum.range().1;
        let root = spectrum.map(|value| 1.0 / value.max(least).sqrt());
        let whitening = product(&root, &diagonal(&units), d);
        let stretch = if has_nuisance { 1.0 / other.max(1e-300).sqrt() } else { 0.0 };
        let finite = whitening.iter().chain([&stretch]).all(|entry| entry.is_finite());
        if !finite {
            return Err(lost());
        }
        Ok(Round {
            theta: theta.to_vec(),
            whitening,
            is_singular: spectrum.range().0 < least,
            stretch,
            narrowness: (1.0, 1.0),
            answer: vec![0.0; parameters],
            noise: vec![0.0; parameters],
            centre: Vec::new(),
            gains: None,
        })
    }

    /// Chooses how narrow rows are clipped and, where persons have several, their sums.
    fn choose_clips(
        &self,
        scene: &Scene<'_>,
        round: &mut Round,
        bias: &(Bias, Bias),
        rows: &RowLaw,
    ) -> Result<(), Refused> {
        let pick = |block, ratio: Ratio, bias: &Bias| {
            let noise = Noise { per_clip: rows.noise_of(2.0 * ratio.get()), records: scene.records };
            choose(scene.regression, round, block, scene.set, scene.top, noise, bias)
                .ok_or(impossible("one whose scores inform about every parameter"))
        };
        let coefficients = pick(ScoreBlock::Coefficients, self.shares.together.0, &bias.0)?;
        let nuisance = match self.shares.together.1 {
            Some(ratio) => pick(ScoreBlock::Nuisance, ratio, &bias.1)?,
            None => 1.0,
        };
        round.narrowness = (coefficients, nuisance);
        if !rows.is_one() {
            let (first, second) = make_up(scene.regression, round, scene.set, rows, scene.top)
                .ok_or(impossible("one with a law"))?;
            let own = round.clips();
            let gain =
                |made: &MadeUp, own: f64, ratio: Ratio| made.choose(own, 2.0 * ratio.get(), self.records);
            let coefficients = gain(&first, own.0, self.shares.together.0);
            let nuisance = match (second, self.shares.together.1) {
                (Some(made), Some(ratio)) => gain(&made, own.1, ratio),
                _ => coefficients.clone(),
            };
            round.gains = Some((coefficients, nuisance));
        }
        Ok(())
    }

    /// Asks for the scores of round k.
    fn ask_scores(&self, ask: &mut Asker<'_>, k: usize, round: &mut Round) -> Result<(), Refused> {
        let (first, second) = self.shares.rounds[k];
        let (coefficients, nuisance) = round.outer_clips();
        let mut answer = round.answer.clone();
        let d = answer.len() - usize::from(second.is_some());
        let (regression, top) = (self.regression()?, self.top());
        let lawless = || impossible("one with a law");
        let asked = terms::centred(regression, round.coefficients(), top).ok_or_else(lawless)?;
        let noise = sum(ask, (&asked, Shape::Ball), coefficients, first, &mut answer[..d])?;
        round.noise[..d].fill(noise);
        if let Some(ratio) = second {
            let asked = terms::centred(regression, round.nuisance(), top).ok_or_else(lawless)?;
            round.noise[d] = sum(ask, (&asked, Shape::Ball), nuisance, ratio, &mut answer[d..])?;
        }
        round.answer = answer;
        Ok(())
    }

    /// Asks how far out records lie, and renews what a clip's bias is believed to be. Returns the bins, none where nothing is asked.
    fn ask_tail(
        &self,
        ask: &mut Asker<'_>,
        round: &Round,
        rows: f64,
        bias: &mut (Bias, Bias),
    ) -> Result<Vec<Bins>, Refused> {
        let mut all = Vec::new();
        let Some(ratio) = self.shares.tail else { return Ok(all) };
        let mut learn = |score: CentredScore<'_>, part| -> Result<Bias, Refused> {
            let mut bins = [0.0; EDGES.len()];
            let term = terms::tail(self.regression()?, score, &EDGES, self.top())
                .ok_or(impossible("one with a law"))?;
            let noise =
                sum(ask, (&term, Shape::Ball), std::f64::consts::SQRT_2, ratio, &mut bins)? / self.records;
            let excess = bins.map(|bin| bin / self.records);
            all.push(Bins { block: score.block, excess, noise });
            Ok(Bias::given(&excess, noise, part, rows))
        };
        bias.0 = learn(round.coefficients(), Part::Coefficients)?;
        if self.shares.together.1.is_some() {
            bias.1 = learn(round.nuisance(), Part::Nuisance)?;
        }
        Ok(all)
    }
}

/// Asks for moments of some coordinates, and after them for those of the number of rows a person has.
pub(crate) fn ask_columns(
    ask: &mut Asker<'_>,
    (asked, most_rows): (&[Coordinate], Option<u64>),
    ratio: Ratio,
    records: f64,
) -> Result<(Vec<Grid>, RowLaw), Refused> {
    let mut sums = vec![0.0; powers_width(asked, most_rows)];
    let term = terms::columns(asked, most_rows).map_err(too_large)?;
    let noise = sum(ask, (&term, Shape::Ball), powers_bound(asked, most_rows), ratio, &mut sums)? / records;
    let mut means = sums.iter().map(|sum| sum / records);
    let grids: Vec<Grid> = asked
        .iter()
        .map(|one| {
            let mut grid = Grid::new(!one.squared);
            let first = means.next().unwrap_or(0.0);
            let second = if one.squared { means.next() } else { None };
            grid.observe_moments(first, second, noise, records);
            grid
        })
        .collect();
    let rows = most_rows.map_or_else(RowLaw::one, |most| {
        let mut grid = Grid::new(false);
        grid.observe_moments(means.next().unwrap_or(0.0), means.next(), noise, records);
        let known = grid.known();
        RowLaw::new(most, known.mean, known.square)
    });
    Ok((grids, rows))
}

/// Asks for the products of standardised coordinates.
pub(crate) fn ask_products(
    ask: &mut Asker<'_>,
    asked: &[Coordinate],
    ratio: Ratio,
    records: f64,
    grids: &[Grid],
) -> Result<Products, Refused> {
    let p = grids.len();
    let known: Vec<Known> = grids.iter().map(Grid::known).collect();
    let centres: Vec<f64> = known.iter().map(|known| known.mean).collect();
    let spreads: Vec<f64> = known.iter().map(|known| (known.square + known.variance).sqrt()).collect();
    let radius = (p as f64).sqrt() + 0.7;
    let mut sums = vec![0.0; gram_width(p)];
    let term = terms::standardised(asked, &centres, &spreads).map_err(too_large)?;
    let noise = sum(ask, (&term, Shape::Outer), radius, ratio, &mut sums)? / records;
    let (shrunk, squared) = shrinkage(p, radius);
    let firsts = sums[..p].iter().map(|sum| sum / (records * shrunk)).collect();
    let mut seconds = vec![0.0; p * p];
    let pairs = (0..p).flat_map(|j| (j..p).map(move |k| (j, k)));
    for ((j, k), sum) in pairs.zip(&sums[p..]) {
        let entry = sum / (records * squared);
        seconds[j * p + k] = entry;
        seconds[k * p + j] = entry;
    }
    let pair = noise * std::f64::consts::FRAC_1_SQRT_2;
    let noise = (pair / shrunk, noise / squared, pair / squared);
    Ok(Products { centres, spreads, firsts, seconds, noise, radius })
}

/// What shortening to a radius takes off the mean and the second moments of p standard normals, by a fixed average.
fn shrinkage(p: usize, radius: f64) -> (f64, f64) {
    const DRAWS: usize = 4000;
    let mut rng = PublicRng::new(0, 0);
    let (mut first, mut second) = (0.0, 0.0);
    for _ in 0..DRAWS {
        let square: f64 = (0..p).map(|_| rng.normal().powi(2)).sum();
        let factor = (radius / square.sqrt()).min(1.0);
        first += factor / DRAWS as f64;
        second += factor * factor * square / (p as f64 * DRAWS as f64);
    }
    (first, second)
}
