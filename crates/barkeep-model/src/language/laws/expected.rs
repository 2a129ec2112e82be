//! Writes expectations over a law's nodes to programs: the same nodes that [`LawEntry::nodes`](super::LawEntry) lists.
//!
//! Repetitions do not nest. So either every round of one is a node, or every round is a stand-in that picks one of the nodes, which are
//! written one after the other.

use barkeep_machine::{Binary, Source, Unary, Writer};
use std::f64::consts::FRAC_PI_2;

use super::{Law, Weighted, grid};
use crate::language::information::pick;

/// Public numbers by which stand-ins pick nodes, one of each for every stand-in.
pub(crate) struct Draws {
    /// The share of the distance between two nodes by which all are moved.
    pub(crate) shifts: Vec<f64>,
    /// The share at which a running sum of weights stops.
    pub(crate) levels: Vec<f64>,
}

/// What the rounds of a repetition are.
#[derive(Clone, Copy)]
pub(crate) enum Rounds<'a> {
    /// The nodes, without a shift.
    Nodes,
    /// Stand-ins. Outside of a mixture the law stands `alone`: where its weights are the same for all records, it lists only the node that
    /// each stand-in picks.
    StandIns { draws: &'a Draws, alone: bool },
}

impl Rounds<'_> {
    fn shifts(&self) -> &[f64] {
        match self {
            Self::Nodes => &[0.0],
            Self::StandIns { draws, .. } => &draws.shifts,
        }
    }
}

/// The node that is written.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The one of the round.
    Round,
    /// This one.
    Node(u32),
}

/// A number for every node, and where rounds are stand-ins for every node and stand-in.
#[derive(Clone, Copy)]
struct Table {
    first: u32,
    shifts: u32,
}

impl Table {
    /// Writes the numbers that `list` gives for a shift, one for each node.
    fn new(w: &mut Writer, rounds: Rounds<'_>, list: impl Fn(f64) -> Vec<f64>) -> Self {
        let lists: Vec<Vec<f64>> = rounds.shifts().iter().map(|shift| list(*shift)).collect();
        let count = lists.first().map_or(0, Vec::len);
        let numbers: Vec<f64> =
            (0..count).flat_map(|node| lists.iter().map(move |list| list[node])).collect();
        Self { first: w.constants(&numbers), shifts: lists.len() as u32 }
    }

    fn at(self, place: Place) -> Source {
        match place {
            Place::Round => Source::Node(self.first),
            Place::Node(node) => Source::Node(self.first + node * self.shifts),
        }
    }
}

/// 0, 1, … one for each node.
fn written_numbers(w: &mut Writer, count: u32) -> impl Fn(Place) -> Source + use<> {
    let numbers: Vec<f64> = (0..count).map(f64::from).collect();
    let first = w.constants(&numbers);
    move |place| match place {
        Place::Round => Source::Node(first),
        Place::Node(node) => Source::Constant(first + node),
    }
}

/// Writes the value and the weight of a node. Weights need not add up to 1.
type WriteNode = Box<dyn Fn(&mut Writer, Place) -> (Source, Source)>;

/// The nodes of a law in a program.
pub(crate) struct WrittenNodes {
    count: u32,
    node: WriteNode,
}

impl WrittenNodes {
    pub(super) fn new(count: u32, node: impl Fn(&mut Writer, Place) -> (Source, Source) + 'static) -> Self {
        Self { count, node: Box::new(node) }
    }
}

/// What is expected of functions of a value: writes `width` of them at the value it is given.
pub(crate) struct Expected<'a> {
    pub(crate) values: &'a dyn Fn(&mut Writer, Source) -> Vec<Source>,
    pub(crate) width: usize,
}

/// A node among all of a law: its value, and two factors of its weight.
struct Listed {
    value: Source,
    weight: Source,
    scale: Source,
}

impl Law {
    /// Writes expectations over the nodes of the law, whose arguments are at these places; 0 where no weight is finite.
    pub(crate) fn write_expected(
        &self,
        w: &mut Writer,
        arguments: &[Source],
        expected: &Expected<'_>,
    ) -> Vec<Source> {
        let at = |id: &u32| arguments[*id as usize];
        match self {
            Self::One { entry, arguments } => {
                let own: Vec<Source> = arguments.iter().map(at).collect();
                let nodes = (entry.write_nodes)(w, &own, Rounds::Nodes);
                let zero = w.number(0.0);
                let mut sums = w.repeat_all(nodes.count, &vec![zero; expected.width + 1], |w, sums| {
                    let (value, weight) = (nodes.node)(w, Place::Round);
                    let mut next = Vec::with_capacity(sums.len());
                    for (value, sum) in (expected.values)(w, value).into_iter().zip(sums) {
                        next.push(w.fused(weight, value, *sum));
                    }
                    next.push(w.add(sums[expected.width], weight));
                    next
                });
                let total = sums.pop().unwrap_or(zero);
                let mut mean = |sum: &Source| {
                    let mean = w.div(*sum, total);
                    let is_number = w.binary(Binary::Equal, mean, mean);
                    w.select(is_number, mean, 0.0)
                };
                sums.iter().map(&mut mean).collect()
            }
            Self::Mixture(parts) => {
                let mut sums: Vec<Source> = (0..expected.width).map(|_| w.number(0.0)).collect();
                for (probability, part) in parts {
                    let own = part.write_expected(w, arguments, expected);
                    let probability = at(probability);
                    sums = sums.iter().zip(own).map(|(sum, own)| w.fused(probability, own, *sum)).collect();
                }
                sums
            }
        }
    }

    /// Writes the node that each stand-in picks, as [`pick`] does, within a repetition over stand-ins.
    pub(crate) fn write_picked(&self, w: &mut Writer, arguments: &[Source], draws: &Draws) -> Source {
        let mut nodes = Vec::new();
        let alone = match self {
            Self::One { .. } => true,
            Self::Mixture(_) => false,
        };
        let whole = w.number(1.0);
        self.list(w, arguments, Rounds::StandIns { draws, alone }, whole, &mut nodes);
        let Some((first, others)) = nodes.split_first() else { return w.number(0.0) };
        let mut level = Source::Node(w.constants(&draws.levels));
        let (mut picked, mut before) = (first.value, first);
        for node in others {
            // A level that is not a number picks the last.
            let share = w.mul(before.weight, before.scale);
            level = w.sub(level, share);
            let is_passed = w.binary(Binary::Less, level, 0.0);
            picked = w.select(is_passed, picked, node.value);
            before = node;
        }
        picked
    }

    /// Writes all nodes, whose weights add up to `share`.
    fn list(
        &self,
        w: &mut Writer,
        arguments: &[Source],
        rounds: Rounds<'_>,
        share: Source,
        out: &mut Vec<Listed>,
    ) {
        let at = |id: &u32| arguments[*id as usize];
        match self {
            Self::One { entry, arguments } => {
                let own: Vec<Source> = arguments.iter().map(at).collect();
                let nodes = (entry.write_nodes)(w, &own, rounds);
                let nodes: Vec<(Source, Source)> =
                    (0..nodes.count).map(|node| (nodes.node)(w, Place::Node(node))).collect();
                let mut total = w.number(0.0);
                for (_, weight) in &nodes {
                    total = w.add(total, *weight);
                }
                let scale = w.div(share, total);
                // A law of counts without a mean has no weights, and a mixture picks from its other parts.
                let is_empty = w.binary(Binary::Equal, total, 0.0);
                let scale = w.select(is_empty, 0.0, scale);
                out.extend(nodes.into_iter().map(|(value, weight)| Listed { value, weight, scale }));
            }
            Self::Mixture(parts) => {
                for (probability, part) in parts {
                    let share = w.mul(share, at(probability));
                    part.list(w, arguments, rounds, share, out);
                }
            }
        }
    }
}

/// t at `count` even distances from `low` to `high`, moved by a share of the distance.
fn places((low, high): (f64, f64), count: u32, shift: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| low + (high - low) * (f64::from(k) + shift) / f64::from(count - 1))
}

/// Nodes at even distances, each mapped to a number and the logarithm of its weight, both the same for all records; `value` makes the value of the
/// number.
pub(super) fn written_grid(
    (w, rounds): (&mut Writer, Rounds<'_>),
    ends: (f64, f64),
    count: u32,
    node: impl Fn(f64) -> (f64, f64),
    value: impl Fn(&mut Writer, Source) -> Source + 'static,
) -> WrittenNodes {
    let nodes = |shift: f64| {
        let mut nodes: Vec<Weighted> = Vec::new();
        grid((&mut nodes, shift), ends, count, &node);
        nodes
    };
    if let Rounds::StandIns { draws, alone: true } = rounds {
        let picks = draws.shifts.iter().zip(&draws.levels);
        let picked: Vec<f64> =
            picks.map(|(shift, level)| pick(&nodes(*shift), *level).unwrap_or(0.0)).collect();
        let picked = Source::Node(w.constants(&picked));
        return WrittenNodes::new(1, move |w, _| (value(w, picked), w.number(1.0)));
    }
    let numbers = Table::new(w, rounds, |shift| nodes(shift).iter().map(|node| node.value).collect());
    let weights = Table::new(w, rounds, |shift| nodes(shift).iter().map(|node| node.weight).collect());
    WrittenNodes::new(count, move |w, place| (value(w, numbers.at(place)), weights.at(place)))
}

/// The same for values location + scale·t.
pub(super) fn grid_of_lines(
    to: (&mut Writer, Rounds<'_>),
    ends: (f64, f64),
    count: u32,
    log_weight: impl Fn(f64) -> f64,
    (location, scale): (Source, Source),
) -> WrittenNodes {
    written_grid(to, ends, count, |t| (t, log_weight(t)), move |w, t| w.fused(scale, t, location))
}

/// Nodes of Student's t, without degrees those of one degree: z = √ν·tan φ has density cos^(ν−1) φ in φ.
pub(super) fn tangents(
    (w, rounds): (&mut Writer, Rounds<'_>),
    degrees: Option<Source>,
    (location, scale): (Source, Source),
) -> WrittenNodes {
    const COUNT: u32 = 41;
    let end = FRAC_PI_2 * (1.0 - 1.0 / 41.0);
    let Some(degrees) = degrees else {
        let node = |angle: f64| (libm::tan(angle), 0.0);
        return written_grid((w, rounds), (-end, end), COUNT, node, move |w, t| w.fused(scale, t, location));
    };
    let root = w.unary(Unary::Sqrt, degrees);
    let (scale, power) = (w.mul(scale, root), w.sub(degrees, 1.0));
    let tangents = Table::new(w, rounds, |shift| places((-end, end), COUNT, shift).map(libm::tan).collect());
    let log_cosine = |angle: f64| libm::log(libm::cos(angle));
    let logs = Table::new(w, rounds, |shift| places((-end, end), COUNT, shift).map(log_cosine).collect());
    WrittenNodes::new(COUNT, move |w, place| {
        let log = w.mul(power, logs.at(place));
        (w.fused(scale, tangents.at(place), location), w.unary(Unary::Exp, log))
    })
}

/// Nodes at even distances of t from `low` to `high` standard deviations around a centre; `node` gives the value and the logarithm of its
/// weight.
pub(super) fn moving_grid(
    (w, rounds): (&mut Writer, Rounds<'_>),
    (centre, sd): (Source, Source),
    ends: (f64, f64),
    count: u32,
    node: impl Fn(&mut Writer, Source) -> (Source, Source) + 'static,
) -> WrittenNodes {
    let steps = Table::new(w, rounds, |shift| places(ends, count, shift).collect());
    WrittenNodes::new(count, move |w, place| {
        let t = w.fused(sd, steps.at(place), centre);
        let (value, log) = node(w, t);
        (value, w.unary(Unary::Exp, log))
    })
}

/// 0 and 1, the second with probability p.
pub(super) fn written_two(w: &mut Writer, p: Source) -> WrittenNodes {
    let rest = w.sub(1.0, p);
    levels(w, vec![rest, p])
}

/// The levels 0, 1, … with these weights.
pub(super) fn levels(w: &mut Writer, shares: Vec<Source>) -> WrittenNodes {
    let numbers = written_numbers(w, shares.len() as u32);
    WrittenNodes::new(shares.len() as u32, move |w, place| {
        let number = numbers(place);
        if let Place::Node(level) = place {
            return (number, shares[level as usize]);
        }
        let mut chosen = shares[0];
        for (level, share) in shares.iter().enumerate().skip(1) {
            let here = w.binary(Binary::Equal, number, level as f64);
            chosen = w.select(here, *share, chosen);
        }
        (number, chosen)
    })
}

/// Whole numbers from 0 to `most` over eight standard deviations around the mean, at even distances.
pub(super) fn written_counts(
    (w, rounds): (&mut Writer, Rounds<'_>),
    (mean, sd): (Source, Source),
    most: Option<Source>,
    log_mass: impl Fn(&mut Writer, Source) -> Source + 'static,
) -> WrittenNodes {
    const COUNT: u32 = 64;
    let sum = w.add(mean, sd);
    let nothing = w.sub(sum, sum);
    // Both are finite.
    let known = w.binary(Binary::Equal, nothing, 0.0);
    let (mean, sd) = (w.select(known, mean, 0.0), w.select(known, sd, 0.0));
    let reach = w.mul(8.0, sd);
    let below = w.sub(mean, reach);
    let whole = w.unary(Unary::Floor, below);
    let low = w.max(0.0, whole);
    let above = w.add(mean, reach);
    let above = w.add(above, 8.0);
    let above = ceil(w, above);
    let above = most.map_or(above, |most| w.min(most, above));
    let high = w.max(low, above);
    let width = w.sub(high, low);
    let width = w.add(width, 1.0);
    let distance = w.div(width, f64::from(COUNT));
    let distance = ceil(w, distance);
    let stride = w.max(1.0, distance);
    let middle = w.add(mean, 0.5);
    let middle = w.unary(Unary::Floor, middle);
    let middle = w.max(low, middle);
    let middle = w.min(high, middle);
    let largest = log_mass(w, middle);
    let first = match rounds {
        Rounds::Nodes => low,
        Rounds::StandIns { draws, .. } => {
            let shares: Vec<f64> = draws.shifts.iter().map(|shift| shift.rem_euclid(1.0)).collect();
            let share = Source::Node(w.constants(&shares));
            let skipped = w.mul(share, stride);
            let skipped = w.unary(Unary::Floor, skipped);
            w.add(low, skipped)
        }
    };
    let numbers = written_numbers(w, COUNT);
    WrittenNodes::new(COUNT, move |w, place| {
        let raw = w.fused(numbers(place), stride, first);
        let value = w.min(raw, high);
        let inside = w.binary(Binary::LessEqual, raw, high);
        let log = log_mass(w, value);
        let log = w.sub(log, largest);
        let weight = w.unary(Unary::Exp, log);
        let weight = w.select(inside, weight, 0.0);
        (value, w.select(known, weight, 0.0))
    })
}

fn ceil(w: &mut Writer, x: Source) -> Source {
    let minus = w.minus(x);
    let floor = w.unary(Unary::Floor, minus);
    w.minus(floor)
}
