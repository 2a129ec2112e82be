//! Puts steps on a common lattice fine enough for the accuracy asked for, and brackets δ(ε) of their composition.

use std::sync::Arc;

use barkeep_num::convolution::Planner;

use super::atoms::{Anchor, Atoms, Losses, Sides};
use super::composed::Composed;
use super::engine::{Engine, Part, Side};
use super::lattice::{self, Nodes, Tilt};
use super::plan::{Plan, Saddle, Window};
use super::sketch::{Sketch, Spread};
use super::work::Work;
use crate::Error;

/// The longest lattice: with its atoms and transforms a query stays below 300 MB, as `/usr/bin/time -v barkeep account …` shows.
const LONGEST_LATTICE: usize = 1 << 21;

/// The shortest lattice.
const SHORTEST_LATTICE: usize = 1 << 8;

/// Relative error of a transform, per step composed: 6·2⁻⁵³ times the levels of a long one.
const TRANSFORM_NOISE: f64 = 2e-14;

/// ln of the tilted mass of all steps that is moved up to the lowest node.
const RAISED: f64 = -25.0;

/// Transforms of one lattice for each step: atoms, two to make its sides, and those of their composition.
const WORK_PER_POINT: usize = 6;

/// The most atoms of one step.
const MOST_ATOMS: f64 = 4e6;

/// One direction of a mechanism, and how often it is used.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) losses: Arc<dyn Losses>,
    pub(super) steps: u64,
}

/// The steps on a lattice, transformed, ready to be composed any number of times.
pub(super) struct Composer {
    engine: Engine,
    upper: Vec<Part>,
    lower: Vec<Part>,
    steps: Vec<u64>,
    tilt: f64,
    /// Whether the lower side bounds the truth, and not just the upper curve.
    pub(super) certified: bool,
}

/// Bounds of one composition from both sides.
pub(super) struct Bounds {
    pub(super) upper: Composed,
    pub(super) lower: Composed,
}

/// What remains of a lattice to be chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fineness {
    /// The widest step allowed; ignored where all losses lie on a lattice of their own.
    pub(super) step: f64,
    /// Relative error of δ that may come from anything else.
    pub(super) tolerance: f64,
    /// Whether a node is made for losses that nearly always occur; see [`lattice`](super::lattice).
    pub(super) concentrated: bool,
}

/// The lattice of all steps: a spacing, or a whole fraction of the spacing some mechanisms have by nature.
struct Common {
    step: f64,
    length: usize,
    /// Natural spacing and its number of steps.
    natural: Option<(f64, i64)>,
}

impl Common {
    fn choose(steps: &[Step], window: &Window, fineness: Fineness) -> Result<Self, Error> {
        let anchors: Vec<Option<Anchor>> = steps.iter().map(|step| step.losses.anchor()).collect();
        let width = window.high - window.low;
        let longest = LONGEST_LATTICE / steps.len().max(1).next_power_of_two();
        let unresolved = Error::Unresolved {
            what: "the composition",
            reason: "it needs a longer lattice than is allowed",
        };
        let length = |step: f64| {
            let points = width / step;
            (points < longest as f64 - 2.0)
                .then(|| (points as usize + 2).next_power_of_two().max(SHORTEST_LATTICE))
                .ok_or_else(|| unresolved.clone())
        };
        if let Some(leader) = anchors.iter().flatten().next() {
            let same = |anchor: &Option<Anchor>| {
                anchor.is_some_and(|anchor| anchor.exact && close(anchor.spacing, leader.spacing))
            };
            let parts =
                if anchors.iter().all(same) { 1.0 } else { (leader.spacing / fineness.step).ceil().max(1.0) };
            let step = leader.spacing / parts;
            if !(step > 0.0 && parts < 1e12) {
                return Err(unresolved);
            }
            return Ok(Self { step, length: length(step)?, natural: Some((leader.spacing, parts as i64)) });
        }
        // A little coarser rather than twice as long.
        let length = length(1.15 * fineness.step)?;
        // Few digits, so that multiples are exact; the whole length is used.
        let step = few_digits(width / (length as f64 - 2.0));
        Ok(Self { step, length, natural: None })
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * a.abs().max(b.abs())
}

/// The next number up with 21 binary digits.
pub(super) fn few_digits(x: f64) -> f64 {
    let mask = (1_u64 << 32) - 1;
    f64::from_bits((x.to_bits() + mask) & !mask)
}

impl Composer {
    /// # Errors
    /// [`Error::Unresolved`] if the lattice would be too long, or no work is left for it: its atoms, its transforms, and those of
    /// one composition from both sides.
    pub(super) fn new(
        steps: &[Step],
        plan: &Plan,
        fineness: Fineness,
        planner: &mut Planner,
        work: &Work,
    ) -> Result<Self, Error> {
        let saddle = &plan.saddle;
        let count: f64 = plan.model.sketches.iter().map(Sketch::steps).sum();
        let window = plan.window(fineness.tolerance, TRANSFORM_NOISE * (count + 10.0));
        let unresolved = |reason: &'static str| Error::Unresolved { what: "the composition", reason };
        if !(window.low.is_finite() && window.high.is_finite() && window.high > window.low) {
            return Err(unresolved("its losses are out of the range of the arithmetic"));
        }
        let common = Common::choose(steps, &window, fineness)?;
        if !work.spend(WORK_PER_POINT * common.length * steps.len()) {
            return Err(unresolved("the work that is allowed is done"));
        }
        let cyclic = planner
            .cyclic(common.length)
            .ok_or_else(|| unresolved("it needs a longer lattice than is allowed"))?;
        let engine =
            Engine { cyclic, step: common.step, window, rate: window.tilt, reference: saddle.epsilon };
        let (mut upper, mut lower, mut certified) = (Vec::new(), Vec::new(), true);
        for (step, sketch) in steps.iter().zip(&plan.model.sketches) {
            let tilt = Tilt { rate: window.tilt, log_scale: sketch.cumulants(window.tilt).value };
            let nodes = place(step, sketch, saddle, &common, fineness.concentrated)
                .ok_or_else(|| unresolved("one step needs more lattice points than are allowed"))?;
            let (above, below): (Atoms, Option<Atoms>) = match step.losses.atoms(&nodes.boundaries()) {
                Sides::Both(atoms) => (atoms, None),
                Sides::Apart { upper, lower } => {
                    certified &= lower.is_some();
                    (upper, lower)
                }
            };
            upper.push(engine.part(&nodes, &lattice::split(&above, &nodes, tilt), tilt));
            lower.push(engine.part(
                &nodes,
                &lattice::merge(below.as_ref().unwrap_or(&above), &nodes, tilt),
                tilt,
            ));
        }
        Ok(Self {
            engine,
            upper,
            lower,
            steps: steps.iter().map(|step| step.steps).collect(),
            tilt: saddle.tilt,
            certified,
        })
    }

    /// Lattice points, each of which every composition transforms.
    pub(super) fn length(&self) -> usize {
        self.engine.cyclic.length()
    }

    /// The tilt of the saddle point it was made for.
    pub(super) fn tilt(&self) -> f64 {
        self.tilt
    }

    /// The composition of `times` repetitions of all steps.
    pub(super) fn compose(&self, times: u64) -> Bounds {
        Bounds { upper: self.side(Side::Upper, times), lower: self.side(Side::Lower, times) }
    }

    /// One side of [`Composer::compose`].
    pub(super) fn side(&self, side: Side, times: u64) -> Composed {
        let parts = if side == Side::Upper { &self.upper } else { &self.lower };
        let counted: Vec<(&Part, u64)> =
            parts.iter().zip(&self.steps).map(|(part, steps)| (part, steps.saturating_mul(times))).collect();
        self.engine.compose(&counted, side)
    }
}

/// The nodes one kind of step is put on.
fn place(
    step: &Step,
    sketch: &Sketch,
    saddle: &Saddle,
    common: &Common,
    concentrated: bool,
) -> Option<Nodes> {
    let times = libm::log(sketch.steps().max(1.0));
    let (least, high) = sketch.extent();
    let low = sketch.floor(saddle.tilt, RAISED - times).max(least);
    let anchor = step.losses.anchor();
    if let (Some(anchor), Some((spacing, parts))) = (anchor, common.natural)
        && anchor.exact
        && close(anchor.spacing, spacing)
    {
        let index = |loss: f64| ((loss - anchor.offset) / spacing).round();
        let (first, last) = (index(low), index(high));
        if !(last - first < MOST_ATOMS && first.abs().max(last.abs()) < 1e9) {
            return None;
        }
        let indices = (first as i64..=last as i64).map(|index| index * parts).collect();
        return Some(Nodes { offset: anchor.offset, step: common.step, indices, concentrated: false });
    }
    let bulk = sketch.bulk(common.step).filter(|_| concentrated && anchor.is_none()).and_then(|loss| {
        let whole = step.losses.barycentre(loss - common.step, loss + common.step)?;
        // Rounded to where offset plus any multiple of the spacing is exact.
        let unit = libm::exp2(libm::log2(high.abs().max(least.abs())).ceil() - 51.0);
        Some((whole / unit).round() * unit).filter(|offset| offset.is_finite())
    });
    let offset = anchor.map_or(bulk.unwrap_or(0.0), |anchor| anchor.offset);
    let spread =
        Spread { saddle: *saddle, offset, step: common.step, low, high, concentrated: bulk.is_some() };
    let indices = sketch.nodes(&spread)?;
    let concentrated = bulk.is_some() && indices.binary_search(&0).is_ok();
    Some(Nodes { offset, step: common.step, indices, concentrated })
}
