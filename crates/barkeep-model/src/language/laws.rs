//! Lists the distributions a text can name: each a density written in the graph, and what simulation and planning need of it.

mod categories;
mod counts;
mod expected;
mod positive;
mod real;
mod tails;

use barkeep_data::{Column, Kind};
use barkeep_machine::{Binary, Source, Unary, Writer};

pub(crate) use self::expected::{Draws, Expected};
use self::expected::{Rounds, WrittenNodes};
use super::graph::{Graph, Id};

/// Every distribution, in the order shown to users.
pub(crate) const LAWS: &[&LawEntry] = &[
    &real::NORMAL,
    &real::STUDENT_T,
    &real::CAUCHY,
    &real::LOGISTIC,
    &real::LAPLACE,
    &real::UNIFORM,
    &positive::LOGNORMAL,
    &positive::EXPONENTIAL,
    &positive::GAMMA,
    &positive::WEIBULL,
    &positive::HALF_NORMAL,
    &positive::HALF_CAUCHY,
    &positive::BETA,
    &counts::BERNOULLI,
    &counts::BERNOULLI_LOGIT,
    &counts::BINOMIAL,
    &counts::BINOMIAL_LOGIT,
    &counts::BETA_BINOMIAL,
    &counts::POISSON,
    &counts::POISSON_LOG,
    &counts::NEG_BINOMIAL,
    &counts::POINT,
    &categories::ORDERED_LOGISTIC,
    &categories::CATEGORICAL_LOGIT,
];

/// Writes ln P(Y ≤ y) and ln P(Y > y) into a graph.
type Tails = fn(&mut Graph, Id, &[Id]) -> (Id, Id);

/// A distribution of one number.
pub(crate) struct LawEntry {
    /// As a text writes it.
    pub(crate) name: &'static str,
    /// Its arguments, in order.
    pub(crate) arguments: &'static [(&'static str, Domain)],
    /// The name of further arguments, any number of them from 1.
    pub(crate) rest: Option<&'static str>,
    /// Where it lives.
    pub(crate) support: Support,
    /// ln p(y).
    pub(crate) density: fn(&mut Graph, Id, &[Id]) -> Id,
    /// ln P(Y ≤ y) and ln P(Y > y), where the graph can hold them.
    pub(crate) cumulative: Option<Tails>,
    /// A draw, from variates uniform on (0, 1).
    pub(crate) draw: fn(&[f64], &mut dyn FnMut() -> f64) -> f64,
    /// Values and weights that stand for the law in an expectation, as many whatever the arguments are. They move smoothly with
    /// the arguments. A shift in (−½, ½) moves values by that share of the distance between two: averaged over shifts
    /// expectations are exact, for functions with kinks too.
    pub(crate) nodes: fn(&[f64], f64, &mut Vec<Weighted>),
    /// The same nodes, written to a program that has the arguments.
    pub(crate) write_nodes: fn(&mut Writer, &[Source], Rounds<'_>) -> WrittenNodes,
}

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// Any number.
    Real,
    /// Above 0.
    Positive,
    /// Strictly between 0 and 1.
    Probability,
}

impl Domain {
    /// Whether a number is inside.
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::Real => !value.is_nan(),
            Self::Positive => value > 0.0 && value.is_finite(),
            Self::Probability => value > 0.0 && value < 1.0,
        }
    }

    /// What is required, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Real => "a number",
            Self::Positive => "above 0",
            Self::Probability => "between 0 and 1",
        }
    }
}

/// Where a distribution lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Support {
    /// All numbers.
    Real,
    /// Numbers above 0.
    Positive,
    /// Numbers of at least 0.
    NonNegative,
    /// Numbers strictly between 0 and 1.
    Unit,
    /// Whole numbers of at least 0.
    Whole,
    /// 0 and 1.
    Binary,
    /// The levels of a category, or the whole numbers of an integer column, counted from its smallest.
    Levels,
}

impl Support {
    /// What keeps a column's values from being inside, if anything does.
    pub(crate) fn fault(self, column: &Column) -> Option<&'static str> {
        let (min, max) = column.range();
        match (self, column.kind()) {
            (Self::Levels, Kind::Category { .. } | Kind::Integer { .. } | Kind::Bool) => None,
            (Self::Levels, Kind::Real { .. }) => Some("must be a category or an integer column"),
            (_, Kind::Category { .. }) => Some("must not be a category"),
            (Self::Binary, Kind::Bool) => None,
            (Self::Real | Self::Positive | Self::NonNegative | Self::Unit, Kind::Bool) => {
                Some("must not be a bool column: zeros and ones follow bernoulli or bernoulli_logit")
            }
            (Self::Binary, Kind::Integer { .. }) if min == 0.0 && max == 1.0 => None,
            (Self::Binary, _) => Some("must be a bool column, or an integer column from 0 to 1"),
            (Self::Whole, Kind::Integer { .. }) if min < 0.0 => Some("must have min of at least 0"),
            (Self::Whole, Kind::Integer { .. } | Kind::Bool) => None,
            (Self::Whole, Kind::Real { .. }) => Some("must be an integer column"),
            (Self::Positive, _) if min <= 0.0 => Some("must have min above 0"),
            (Self::NonNegative, _) if min < 0.0 => Some("must have min of at least 0"),
            (Self::Unit, _) if min <= 0.0 || max >= 1.0 => Some("must have min above 0 and max below 1"),
            (Self::Real | Self::Positive | Self::NonNegative | Self::Unit, _) => None,
        }
    }

    /// The least value, where a lower bound of a truncation says nothing more.
    pub(crate) fn least(self) -> f64 {
        match self {
            Self::Real => f64::NEG_INFINITY,
            Self::Positive | Self::NonNegative | Self::Unit | Self::Whole | Self::Binary | Self::Levels => {
                0.0
            }
        }
    }

    /// The largest value.
    pub(crate) fn most(self) -> f64 {
        match self {
            Self::Unit | Self::Binary => 1.0,
            Self::Real | Self::Positive | Self::NonNegative | Self::Whole | Self::Levels => f64::INFINITY,
        }
    }
}

/// A value that stands for part of a law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Weighted {
    pub(crate) value: f64,
    pub(crate) weight: f64,
}

/// A distribution with its arguments, or a mixture of such.
#[derive(Clone)]
pub(crate) enum Law {
    /// One of the list.
    One { entry: &'static LawEntry, arguments: Vec<Id> },
    /// Several, each with its probability.
    Mixture(Vec<(Id, Law)>),
}

impl Law {
    /// ln p(y).
    pub(crate) fn density(&self, graph: &mut Graph, y: Id) -> Id {
        match self {
            Self::One { entry, arguments } => (entry.density)(graph, y, arguments),
            Self::Mixture(parts) => {
                let mut sum = graph.constant(f64::NEG_INFINITY);
                for (probability, part) in parts {
                    let weight = graph.unary(Unary::Ln, *probability);
                    let density = part.density(graph, y);
                    let term = graph.add(weight, density);
                    sum = graph.binary(Binary::LogAddExp, sum, term);
                }
                sum
            }
        }
    }

    /// ln P(Y ≤ y) and ln P(Y > y), where all its parts have them.
    pub(crate) fn tails(&self, graph: &mut Graph, y: Id) -> Option<(Id, Id)> {
        match self {
            Self::One { entry, arguments } => Some((entry.cumulative?)(graph, y, arguments)),
            Self::Mixture(parts) => {
                let nothing = graph.constant(f64::NEG_INFINITY);
                let mut sums = (nothing, nothing);
                for (probability, part) in parts {
                    let weight = graph.unary(Unary::Ln, *probability);
                    let (below, above) = part.tails(graph, y)?;
                    let (below, above) = (graph.add(weight, below), graph.add(weight, above));
                    sums.0 = graph.binary(Binary::LogAddExp, sums.0, below);
                    sums.1 = graph.binary(Binary::LogAddExp, sums.1, above);
                }
                Some(sums)
            }
        }
    }

    /// The same law with its nodes replaced by their places in a list that grows by them.
    pub(crate) fn listed(&self, nodes: &mut Vec<Id>) -> Self {
        let mut place = |id: Id| {
            nodes.push(id);
            Id::try_from(nodes.len() - 1).unwrap_or(Id::MAX)
        };
        match self {
            Self::One { entry, arguments } => {
                Self::One { entry, arguments: arguments.iter().map(|id| place(*id)).collect() }
            }
            Self::Mixture(parts) => {
                let weights: Vec<Id> = parts.iter().map(|(weight, _)| place(*weight)).collect();
                let laws: Vec<Self> = parts.iter().map(|(_, part)| part.listed(nodes)).collect();
                Self::Mixture(weights.into_iter().zip(laws).collect())
            }
        }
    }

    /// Where all its parts live, one after another.
    pub(crate) fn supports(&self) -> Vec<Support> {
        match self {
            Self::One { entry, .. } => vec![entry.support],
            Self::Mixture(parts) => parts.iter().flat_map(|(_, part)| part.supports()).collect(),
        }
    }

    /// Whether it is one of whole numbers.
    pub(crate) fn is_count(&self) -> bool {
        self.supports().iter().all(|support| *support == Support::Whole)
    }

    /// The least and the largest value of all its parts.
    pub(crate) fn support(&self) -> (f64, f64) {
        self.supports().iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), support| {
            (support.least().min(least), support.most().max(most))
        })
    }

    /// A draw at the nodes' values.
    pub(crate) fn draw(&self, values: &[f64], uniform: &mut dyn FnMut() -> f64) -> f64 {
        match self {
            Self::One { entry, arguments } => (entry.draw)(&at(values, arguments), uniform),
            Self::Mixture(parts) => {
                let mut level = uniform();
                for (probability, part) in parts {
                    level -= values[*probability as usize];
                    if level < 0.0 {
                        return part.draw(values, uniform);
                    }
                }
                parts.last().map_or(f64::NAN, |(_, part)| part.draw(values, uniform))
            }
        }
    }

    /// How many values stand for the law.
    pub(crate) fn node_count(&self) -> usize {
        match self {
            Self::One { entry, arguments } => {
                // One half is inside every argument's domain.
                let mut nodes = Vec::new();
                (entry.nodes)(&vec![0.5; arguments.len()], 0.0, &mut nodes);
                nodes.len()
            }
            Self::Mixture(parts) => parts.iter().map(|(_, part)| part.node_count()).sum(),
        }
    }

    /// The names of its parts.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        match self {
            Self::One { entry, .. } => vec![entry.name],
            Self::Mixture(parts) => parts.iter().flat_map(|(_, part)| part.names()).collect(),
        }
    }

    /// Values and weights that stand for the law at the nodes' values, shifted.
    pub(crate) fn nodes(&self, values: &[f64], shift: f64, out: &mut Vec<Weighted>) {
        match self {
            Self::One { entry, arguments } => (entry.nodes)(&at(values, arguments), shift, out),
            Self::Mixture(parts) => {
                for (probability, part) in parts {
                    let from = out.len();
                    part.nodes(values, shift, out);
                    out[from..].iter_mut().for_each(|node| node.weight *= values[*probability as usize]);
                }
            }
        }
    }
}

fn at(values: &[f64], arguments: &[Id]) -> Vec<f64> {
    arguments.iter().map(|argument| values[*argument as usize]).collect()
}

/// Adds `count` nodes at even distances of t from `low` to `high`, moved by a share of that distance, each with a weight
/// proportional to its density in t.
///
/// The trapezoid rule: for densities that are smooth and vanish at both ends its error falls faster than any power of the
/// distance.
fn grid(
    (out, shift): (&mut Vec<Weighted>, f64),
    (low, high): (f64, f64),
    count: u32,
    node: impl Fn(f64) -> (f64, f64),
) {
    let from = out.len();
    for k in 0..count {
        let t = low + (high - low) * (f64::from(k) + shift) / f64::from(count - 1);
        let (value, log_density) = node(t);
        out.push(Weighted { value, weight: libm::exp(log_density) });
    }
    normalise(&mut out[from..]);
}

/// Divides weights by their sum.
fn normalise(nodes: &mut [Weighted]) {
    let total: f64 = nodes.iter().map(|node| node.weight).sum();
    nodes.iter_mut().for_each(|node| node.weight /= total);
}

/// The same for a law of whole numbers from 0 to `most`, over eight standard deviations around the mean, at even distances.
/// Nodes beyond them have weight 0, so that their number does not depend on the arguments; without a mean all have.
fn count_nodes(
    (out, shift): (&mut Vec<Weighted>, f64),
    (mean, sd): (f64, f64),
    most: f64,
    log_mass: impl Fn(f64) -> f64,
) {
    const COUNT: u32 = 64;
    let known = mean.is_finite() && sd.is_finite();
    let (mean, sd) = if known { (mean, sd) } else { (0.0, 0.0) };
    let low = (mean - 8.0 * sd).floor().max(0.0);
    let high = (mean + 8.0 * sd + 8.0).ceil().min(most).max(low);
    let stride = ((high - low + 1.0) / f64::from(COUNT)).ceil().max(1.0);
    let first = low + (shift.rem_euclid(1.0) * stride).floor();
    let from = out.len();
    let largest = log_mass(mean.round().clamp(low, high));
    for k in 0..COUNT {
        let value = first + f64::from(k) * stride;
        let inside = known && value <= high;
        let value = value.min(high);
        let weight = libm::exp(log_mass(value) - largest);
        out.push(Weighted { value, weight: if inside { weight } else { 0.0 } });
    }
    if known {
        normalise(&mut out[from..]);
    }
}

#[cfg(test)]
mod tests;
