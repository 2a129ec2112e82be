//! Writes expectations over a law's nodes to programs: the same nodes that [`LawEntry::nodes`](super::LawEntry) lists.

use barkeep_machine::{Binary, Source, Unary, Writer};
use std::f64::consts::FRAC_PI_2;

use super::Law;

/// Writes the value and the weight of a node. Weights need not add up to 1.
type WriteNode = Box<dyn Fn(&mut Writer) -> (Source, Source)>;

/// The nodes of a law in a program, one in each round of a repetition.
pub(crate) struct WrittenNodes {
    count: u32,
    node: WriteNode,
}

impl WrittenNodes {
    pub(super) fn new(count: u32, node: impl Fn(&mut Writer) -> (Source, Source) + 'static) -> Self {
        Self { count, node: Box::new(node) }
    }
}

/// What is expected of functions of a value: writes `width` of them at the value it is given.
pub(crate) struct Expected<'a> {
    pub(crate) values: &'a dyn Fn(&mut Writer, Source) -> Vec<Source>,
    pub(crate) width: usize,
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
                let nodes = (entry.write_nodes)(w, &own);
                let zero = w.number(0.0);
                let mut sums = w.repeat_all(nodes.count, &vec![zero; expected.width + 1], |w, sums| {
                    let (value, weight) = (nodes.node)(w);
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
}

/// t at `count` even distances from `low` to `high`.
fn places((low, high): (f64, f64), count: u32) -> impl Iterator<Item = f64> {
    (0..count).map(move |k| low + (high - low) * f64::from(k) / f64::from(count - 1))
}

/// Nodes at even distances, each mapped to a number and the logarithm of its weight, both the same for all records; `value` makes the value of the
/// number.
pub(super) fn written_grid(
    w: &mut Writer,
    ends: (f64, f64),
    count: u32,
    node: impl Fn(f64) -> (f64, f64),
    value: impl Fn(&mut Writer, Source) -> Source + 'static,
) -> WrittenNodes {
    let (numbers, mut weights): (Vec<f64>, Vec<f64>) =
        places(ends, count).map(node).map(|(number, log)| (number, libm::exp(log))).unzip();
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    let (numbers, weights) = (Source::Node(w.constants(&numbers)), Source::Node(w.constants(&weights)));
    WrittenNodes::new(count, move |w| {
        // A value of the round: what is carried on has to be computed in it.
        (value(w, numbers), weights)
    })
}

/// The same for values location + scale·t.
pub(super) fn grid_of_lines(
    w: &mut Writer,
    ends: (f64, f64),
    count: u32,
    log_weight: impl Fn(f64) -> f64,
    (location, scale): (Source, Source),
) -> WrittenNodes {
    written_grid(w, ends, count, |t| (t, log_weight(t)), move |w, t| w.fused(scale, t, location))
}

/// Nodes of Student's t, without degrees those of one degree: z = √ν·tan φ has density cos^(ν−1) φ in φ.
pub(super) fn tangents(
    w: &mut Writer,
    degrees: Option<Source>,
    (location, scale): (Source, Source),
) -> WrittenNodes {
    const COUNT: u32 = 41;
    let end = FRAC_PI_2 * (1.0 - 1.0 / 41.0);
    let Some(degrees) = degrees else {
        let node = |angle: f64| (libm::tan(angle), 0.0);
        return written_grid(w, (-end, end), COUNT, node, move |w, t| w.fused(scale, t, location));
    };
    let root = w.unary(Unary::Sqrt, degrees);
    let (scale, power) = (w.mul(scale, root), w.sub(degrees, 1.0));
    let tangents: Vec<f64> = places((-end, end), COUNT).map(libm::tan).collect();
    let logs: Vec<f64> = places((-end, end), COUNT).map(|angle| libm::log(libm::cos(angle))).collect();
    let (tangents, logs) = (Source::Node(w.constants(&tangents)), Source::Node(w.constants(&logs)));
    WrittenNodes::new(COUNT, move |w| {
        let log = w.mul(power, logs);
        (w.fused(scale, tangents, location), w.unary(Unary::Exp, log))
    })
}

/// Nodes at even distances of t from `low` to `high` standard deviations around a centre; `node` gives the value and the logarithm of its
/// weight.
pub(super) fn moving_grid(
    w: &mut Writer,
    (centre, sd): (Source, Source),
    ends: (f64, f64),
    count: u32,
    node: impl Fn(&mut Writer, Source) -> (Source, Source) + 'static,
) -> WrittenNodes {
    let steps: Vec<f64> = places(ends, count).collect();
    let steps = Source::Node(w.constants(&steps));
    WrittenNodes::new(count, move |w| {
        let t = w.fused(sd, steps, centre);
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
    let numbers: Vec<f64> = (0..shares.len()).map(|level| level as f64).collect();
    let numbers = Source::Node(w.constants(&numbers));
    WrittenNodes::new(shares.len() as u32, move |w| {
        let mut chosen = shares[0];
        for (level, share) in shares.iter().enumerate().skip(1) {
            let here = w.binary(Binary::Equal, numbers, level as f64);
            chosen = w.select(here, *share, chosen);
        }
        (numbers, chosen)
    })
}

/// Whole numbers from 0 to `most` over eight standard deviations around the mean, at even distances.
pub(super) fn written_counts(
    w: &mut Writer,
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
    let numbers: Vec<f64> = (0..COUNT).map(f64::from).collect();
    let numbers = Source::Node(w.constants(&numbers));
    WrittenNodes::new(COUNT, move |w| {
        let raw = w.fused(numbers, stride, low);
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
