//! Runs the two dynamic programs side by side, on a grid as fine as a counted budget of work allows.

use super::acceptance::Acceptance;
use super::envelope::{Envelope, Fineness, reached};
use super::lower::Lower;
use super::pair::Pair;
use super::peak::{Peak, Run, strength};
use super::profile::{Profile, crossing};
use super::upper::{LEVELLING, Upper};
use crate::{Delta, Error, GaussianRun, Mu};

/// Nodes per standard deviation of one step's privacy loss, finest first. The chords of a grid with n nodes add about 1/(3n²) of
/// the loss variance, and as much is allowed to the envelope: 1 % of the variance at n = 8, 0.02 % at n = 64.
const FINENESS: [f64; 13] = [256.0, 128.0, 90.0, 64.0, 45.0, 32.0, 23.0, 19.0, 16.0, 13.5, 11.0, 9.5, 8.0];

/// The most nodes per deviation for more than a few steps: what a finer grid gains nobody would notice.
const FINEST: f64 = 45.0;

/// The part of the loss variance that corners may add, times the square of nodes per deviation.
const EXCESS: f64 = 0.3;

/// Evaluations the upper bound may cost: some ten milliseconds. Ten times as many find 0.1 to 0.6 % more steps, of lazy tests and
/// of penalty tests with little noise up to 2.3 %.
const WORK: f64 = 4e7;

/// Fewest nodes per standard deviation with which few steps may take longer.
const COARSEST: f64 = 11.0;

/// What blocks of one step would lose where the strongest coins' privacy loss is not skewed, and what is added times its skewness.
const LOST: f64 = 0.05;
const LOST_SKEWED: f64 = 0.4;

/// How much more work skewed coins are worth, by their skewness beyond 1: their blocks must be large.
const HARDER: f64 = 0.7;

/// Large blocks, and the nodes per deviation of their grids.
const LARGEST_BLOCK: f64 = 2048.0;
const FINEST_BLOCK: f64 = 16.0;

/// Powers tried in Chernoff's bound, in units of what is usual, and the part of it that is about the truth.
const POWERS: [f64; 8] = [0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0];
const CHERNOFF: f64 = 0.9;

/// Corners that an envelope has at least.
const FEWEST_CORNERS: f64 = 8.0;

/// Work grows with this power of nodes per deviation: finer envelopes have more corners.
const GROWTH: f64 = 1.4;

/// Steps up to which the tails are enclosed as closely as the middle, and how much longer they may take: no blocks are made of them.
const FEW: u64 = 64;
const LONGER: f64 = 6.0;

/// With so many steps to go corners must only gain no more than the strongest coins, on ways that spread less and less; with
/// fewer, the envelope is close everywhere.
const TIERS: [u64; 3] = [8, 64, 512];

/// How close the envelope of the first steps of many is: excess and decay.
const FIRST: (f64, f64) = (3e-3, 0.6);

/// Steps to go where corners are counted.
const MIDDLE: (f64, f64) = (128.0, 2048.0);

/// Evaluations after which a run that was planned too optimistically is given up.
const MOST_WORK: u64 = 4_000_000_000;

/// Nodes after which the grid is not prolonged.
const MOST_NODES: usize = 1 << 21;

/// How many times longer than planned it may become.
const PROLONGED: usize = 3;

/// Part of the smallest δ of interest that may be lost to cut-off tails.
const CUT: f64 = 1e-3;

/// A dynamic program ready to run.
#[derive(Clone)]
pub(super) struct Program {
    upper: Upper,
    lower: Option<Lower>,
    step: f64,
    /// Steps taken.
    pub(super) steps: u64,
    work: u64,
}

/// What becomes of the attacks that bound from below. The upper bound is the same to the bit.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Attacks {
    /// They are run.
    Run,
    /// They are not run: only the lower bound needs them.
    Spared,
}

/// Numbers of steps for which one grid is made.
///
/// A search and whoever computes ε of its answer again stand on the same grid, and find the same to the bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The last number that belongs to the stretch before.
    pub(super) after: u64,
    pub(super) last: u64,
}

impl Stretch {
    /// The end of the last stretch: beyond it all steps are treated alike.
    pub(super) const LAST: u64 = 1 << 52;

    /// The stretch with this many steps in it: half an octave.
    pub(super) fn of(steps: u64) -> Self {
        let above = steps.clamp(1, Self::LAST).next_power_of_two();
        let middle = above - above / 4;
        if steps <= middle && above > 2 {
            Self { after: above / 2, last: middle }
        } else {
            Self { after: middle.min(above - 1), last: above }
        }
    }
}

/// One kind of decision, for planning.
pub(super) struct Kind<'a> {
    rule: &'a dyn Acceptance,
    prepared: Option<Box<dyn Acceptance + 'a>>,
    sensitivity: f64,
    /// A loose envelope.
    envelope: Envelope,
}

impl<'a> Kind<'a> {
    /// # Errors
    /// [`Error::Unresolved`] if the acceptance function cannot be enclosed.
    pub(super) fn new(rule: &'a dyn Acceptance, sensitivity: f64) -> Result<Self, Error> {
        let prepared = rule.prepared();
        let asked = prepared.as_deref().unwrap_or(rule);
        let envelope = Envelope::new(asked, sensitivity, Fineness { excess: 1e-2, decay: 2.0, tail: 1e-12 })?;
        Ok(Self { rule, prepared, sensitivity, envelope })
    }

    fn rule(&self) -> &dyn Acceptance {
        self.prepared.as_deref().unwrap_or(self.rule)
    }

    /// An envelope as close as this, below a peak where there is one.
    fn enclosed(&self, fineness: Fineness, peak: Option<&Peak>) -> Result<Envelope, Error> {
        Envelope::below(self.rule(), self.sensitivity, fineness, peak, Some(self.envelope.strongest))
    }

    /// The variance of a step's privacy loss at its largest.
    pub(super) fn information(&self) -> f64 {
        self.envelope.information
    }

    /// About how far the privacy loss of this many steps reaches at probability `floor`: as that of Gaussian noise does, or by
    /// Chernoff's bound, which follows rare outcomes.
    fn reach(&self, steps: f64, floor: f64) -> f64 {
        let gaussian = window(steps, self.information(), floor);
        let coins = || self.envelope.inner.iter().filter(|pair| pair.toward.is_finite());
        let at = |power: f64| {
            let grown = |pair: &Pair| {
                let (toward, away) = pair.masses();
                toward * libm::expm1(power * pair.toward) + away * libm::expm1(-power * pair.away)
            };
            (steps * libm::log1p(coins().map(grown).fold(0.0, f64::max)) - libm::log(floor)) / power
        };
        let steepest = libm::log(1.0 / floor) / gaussian;
        let bound = POWERS.map(|power| at(power * steepest)).into_iter().fold(f64::INFINITY, f64::min);
        gaussian.max(CHERNOFF * bound)
    }

    /// The skewness of the strongest coins' privacy loss, without its sign.
    fn skewness(&self) -> f64 {
        let strongest = self.envelope.inner.iter().max_by(|a, b| strength(**a).total_cmp(&strength(**b)));
        let (one, other) = strongest.map_or((0.5, 0.5), |pair| pair.masses());
        (one - other).abs() / (one * other).sqrt()
    }

    /// Evaluations that a program may cost.
    fn most_work(&self, patience: f64) -> f64 {
        WORK * patience * (1.0 + HARDER * (self.skewness() - 1.0).clamp(0.0, 6.0))
    }

    /// What blocks of one step lose, if the loss falls with the root of the size at every size; about as measured from 256 on.
    pub(super) fn apart(&self) -> f64 {
        LOST + LOST_SKEWED * self.skewness()
    }

    /// A run of this many steps down to this δ.
    pub(super) fn run(&self, steps: f64, delta: f64) -> Run {
        let information = self.information();
        let epsilon = window(steps, information, delta);
        Run { steps, information, epsilon: if epsilon.is_finite() { epsilon } else { 1.0 } }
    }

    /// From which step on corners must stay below which strongest coins; at first everywhere close.
    fn tiers(&self, run: Run, stretch: Stretch) -> Vec<(u64, Option<Peak>)> {
        let ends = TIERS.into_iter().skip(1).chain([stretch.last]).map(|end| end.min(stretch.last));
        let within = TIERS.into_iter().zip(ends).filter(|(from, end)| from < end);
        let peak = |(from, end)| (from, Some(self.peak(run, (from as f64, end as f64))));
        [(0, None)].into_iter().chain(within.map(peak)).collect()
    }

    /// About the information of steps of Gaussian noise that cost as much as these.
    pub(super) fn effective(&self, run: Run) -> f64 {
        self.peak(run, (0.5 * run.steps, 0.5 * run.steps)).information()
    }

    /// The strongest coins with so many steps of a run to go.
    pub(super) fn peak(&self, run: Run, to_go: (f64, f64)) -> Peak {
        let reached = |t, mirrored| reached(self.rule(), self.sensitivity, t, mirrored);
        Peak::new(&self.envelope, run, to_go, reached)
    }
}

/// The δ below which tails are cut off, for δ ≥ `smallest` after this many steps.
fn floor(steps: f64, smallest: f64) -> f64 {
    (CUT * smallest / (1.0 + steps / LEVELLING)).max(1e-284)
}

impl Kind<'_> {
    /// About how many corners envelopes below the strongest coins of a run have.
    pub(super) fn corners(&self, run: Run) -> f64 {
        let peak = self.peak(run, (MIDDLE.0, MIDDLE.0.max(run.steps.min(MIDDLE.1))));
        let aim = Fineness { excess: EXCESS / 256.0, decay: f64::INFINITY, tail: 1e-15 };
        let envelope = self.enclosed(aim, Some(&peak));
        envelope.map_or(64.0, |envelope| envelope.outer.len() as f64)
    }

    /// About the part of the loss variance that a program of this many steps adds; none if it would cost too much.
    pub(super) fn would_add(&self, steps: f64, smallest: f64, corners: f64, patience: f64) -> Option<f64> {
        let reach = self.reach(steps, floor(steps, smallest)) / self.information().sqrt();
        let fits = |fineness: &f64| {
            let corners = corners * (fineness / 16.0).powf(GROWTH - 1.0);
            0.7 * steps * reach * fineness * corners <= self.most_work(patience)
        };
        FINENESS.into_iter().filter(|fineness| *fineness <= FINEST).find(fits).map(added)
    }
}

/// About the part of the loss variance that a grid of this many nodes per deviation adds, with its envelope.
fn added(fineness: f64) -> f64 {
    (1.0 / 3.0 + EXCESS) / (fineness * fineness)
}

/// About how far the privacy loss of this many steps reaches at probability `floor`, for planning only.
fn window(steps: f64, information: f64, floor: f64) -> f64 {
    let gaussian = Mu::new((steps * information).sqrt()).and_then(GaussianRun::from_mu);
    let reach = gaussian.and_then(|gaussian| Ok(gaussian.epsilon(Delta::new(floor)?).upper));
    reach.unwrap_or(f64::INFINITY)
}

impl Program {
    /// Plans for a stretch of steps, with an eye on δ ≥ `smallest`. None if they are too many for the usual work.
    ///
    /// # Errors
    /// [`Error::Unresolved`] if the acceptance function cannot be enclosed.
    pub(super) fn plan(
        kind: &Kind<'_>,
        stretch: Stretch,
        smallest: f64,
        wanted: Attacks,
    ) -> Result<Option<Self>, Error> {
        let run = kind.run(stretch.last as f64, smallest);
        // Blocks lose less than coarser grids.
        let most = added(FINEST_BLOCK) + kind.apart() / LARGEST_BLOCK.sqrt();
        let coarsest = if stretch.last <= FEW { 0.0 } else { (added(1.0) / most).sqrt() };
        Self::within(kind, run, stretch, smallest, wanted, 1.0, coarsest)
    }

    /// The same for steps that belong to a run, with `patience` times the usual work and at least so many nodes per deviation.
    pub(super) fn within(
        kind: &Kind<'_>,
        run: Run,
        stretch: Stretch,
        smallest: f64,
        wanted: Attacks,
        patience: f64,
        coarsest: f64,
    ) -> Result<Option<Self>, Error> {
        let steps = stretch.last as f64;
        let floor = floor(steps, smallest);
        let few = stretch.last <= FEW;
        // Few steps need no grid finer than their envelope, and no blocks are made of them.
        let longer = |fineness: f64| match fineness {
            _ if !few => 1.0,
            fine if fine > 64.0 => 0.1,
            coarse if coarse < COARSEST => LONGER,
            _ => 1.0,
        };
        let reach = kind.reach(steps, floor);
        let spanned = reach / kind.information().sqrt();
        let mut failure = None;
        // The last work counted, and nodes per deviation there.
        let mut last = (0.7 * steps * spanned * FEWEST_CORNERS, 1.0);
        let tiers = if few { vec![(0, None)] } else { kind.tiers(run, stretch) };
        let finest = if few { f64::INFINITY } else { FINEST };
        let wanted_fineness = |fineness: &f64| (coarsest..=finest).contains(fineness);
        for fineness in FINENESS.into_iter().filter(wanted_fineness) {
            let most_work = kind.most_work(patience) * longer(fineness);
            let growth = if last.1 > 1.0 { GROWTH } else { 1.0 };
            if last.0 * (fineness / last.1).powf(growth) > 1.1 * most_work {
                continue;
            }
            let excess = EXCESS / (fineness * fineness);
            let tail = floor / 64.0;
            // A cell over which the rare outcome decays by e^c adds about c²/8 of the loss. Few steps live in the tails, where cells are this large,
            // and are cheap: there it is brought below what the grid adds.
            let spread = 1.0 + steps / 50.0 + (steps / 150.0).powi(2);
            let close = if few {
                Fineness { excess, decay: 0.02 * spread, tail }
            } else {
                Fineness { excess: FIRST.0, decay: FIRST.1, tail }
            };
            let enclose = |(from, peak): &(u64, Option<Peak>)| {
                let below = Fineness { excess, decay: f64::INFINITY, tail };
                let aim = if peak.is_some() { below } else { close };
                Ok((*from, kind.enclosed(aim, peak.as_ref())?))
            };
            // At small sensitivities rounding may forbid the finest envelopes.
            let envelopes: Vec<(u64, Envelope)> = match tiers.iter().map(enclose).collect() {
                Ok(envelopes) => envelopes,
                Err(error) => {
                    failure = Some(error);
                    continue;
                }
            };
            failure = None;
            let information = envelopes.iter().map(|(_, envelope)| envelope.information).fold(0.0, f64::max);
            let step = information.sqrt() / fineness;
            let outer = envelopes.iter().flat_map(|(_, envelope)| &envelope.outer);
            let furthest = outer.map(|pair| pair.toward).fold(0.0, f64::max);
            let nodes = reach.min(steps * furthest) / step;
            // Grids grow with the root of the steps.
            let grown = |steps: f64| 0.7 * nodes * (steps / stretch.last as f64).sqrt() * steps;
            let ends = envelopes.iter().skip(1).map(|(from, _)| *from as f64).chain([steps]);
            let work: f64 = envelopes
                .iter()
                .zip(ends)
                .map(|((from, envelope), end)| {
                    (grown(end) - grown(*from as f64)) * envelope.outer.len() as f64
                })
                .sum();
            if work <= most_work {
                let lower = match wanted {
                    Attacks::Run => Some(Lower::new(&kind.attacks(excess, spread, tail, steps)?, step)),
                    Attacks::Spared => None,
                };
                let polygons: Vec<(u64, Vec<Pair>)> =
                    envelopes.into_iter().map(|(from, envelope)| (from, envelope.outer)).collect();
                // Where it reaches further than planned the grid ends early: sound, and never slow.
                let most_nodes = MOST_NODES.min(PROLONGED * (nodes as usize + 1));
                let upper = Upper::new(&polygons, step, floor, most_nodes);
                return Ok(Some(Self { upper, lower, step, steps: 0, work: 0 }));
            }
            last = (work, fineness);
        }
        failure.map_or(Ok(None), Err)
    }

    /// Takes one more step.
    ///
    /// # Errors
    /// [`Error::Unresolved`] when the work limit is reached.
    pub(super) fn advance(&mut self) -> Result<(), Error> {
        if self.work > MOST_WORK {
            return Err(Error::Unresolved { what: "a composition of decisions", reason: "too many steps" });
        }
        self.work += self.upper.advance();
        if let Some(lower) = &mut self.lower {
            self.work += lower.advance(self.upper.nodes().0.len());
        }
        self.steps += 1;
        Ok(())
    }

    /// ε after the steps taken, from above; None if the grid does not reach down to this δ.
    pub(super) fn epsilon(&self, delta: Delta) -> Option<f64> {
        let (upper, flat) = self.upper.nodes();
        crossing(upper, flat, self.step, delta.get())
    }

    /// Stores the upper bound after the steps taken in a profile made of a program before.
    pub(super) fn store(&self, profile: &mut Profile) {
        let (upper, flat) = self.upper.nodes();
        profile.upper.clear();
        profile.upper.extend_from_slice(upper);
        profile.flat = flat;
    }

    /// Both bounds after the steps taken.
    pub(super) fn profile(&self) -> Profile {
        let (upper, flat) = self.upper.nodes();
        let tests = self.lower.as_ref().map(Lower::tests);
        let (hits, alarms) =
            tests.map_or((Vec::new(), Vec::new()), |(hits, alarms)| (hits.to_vec(), alarms.to_vec()));
        Profile { step: self.step, upper: upper.to_vec(), flat, hits, alarms }
    }
}

impl Kind<'_> {
    /// The reachable pairs worth trying: for few steps nearly all of them, for many some near the strongest.
    fn attacks(&self, excess: f64, spread: f64, tail: f64, steps: f64) -> Result<Vec<Pair>, Error> {
        let finest = if steps <= FEW as f64 { 0.02 } else { 0.1 };
        let aim = Fineness { excess, decay: (finest * spread).min(8.0), tail };
        let envelope = self.enclosed(aim, None)?;
        let (weakest, apart) = if steps <= 64.0 { (0.0, 0.02) } else { (0.02, 0.15) };
        let mut pairs: Vec<Pair> = Vec::new();
        let mut last = f64::NEG_INFINITY;
        for pair in &envelope.inner {
            // The log-odds of the two ratios move about as t does.
            let place = libm::log(pair.toward / pair.away);
            let strong = pair.moments().1 >= weakest * envelope.information;
            if place.is_finite() && strong && (place - last).abs() >= apart {
                pairs.push(*pair);
                last = place;
            }
        }
        Ok(pairs)
    }
}
