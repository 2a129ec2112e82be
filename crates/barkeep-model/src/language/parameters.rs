//! Maps the unconstrained coordinates in which chains move to the values a text speaks of, with log-Jacobians.

use barkeep_machine::Unary;

use super::graph::{Graph, Id};
use super::laws::Law;
use crate::variates;

/// What values a parameter may take, with its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Range {
    /// x = u.
    Real,
    /// x = low + eᵘ.
    Above(f64),
    /// x = high − eᵘ.
    Below(f64),
    /// x = low + (high − low)·σ(u).
    Between(f64, f64),
    /// x₁ = u₁, x_k = x_(k−1) + e^(u_k).
    Ordered,
    /// A stick of length 1, broken at σ(u_k − ln(K − k)) of what is left.
    Simplex,
}

/// The law of a parameter's prior.
pub(crate) enum Prior {
    /// Flat; improper on an unbounded range.
    Flat,
    /// The same for each entry, independently.
    Each(Law),
    /// A Dirichlet law of a simplex, by its concentrations.
    Dirichlet(Vec<Id>),
}

/// A parameter as a text declares it.
pub(crate) struct Parameter {
    /// Its first coordinate.
    pub(crate) first: usize,
    pub(crate) range: Range,
    /// Its values as nodes.
    pub(crate) values: Vec<Id>,
    pub(crate) prior: Prior,
}

impl Range {
    /// How many coordinates `entries` values take.
    pub(crate) fn coordinates(self, entries: usize) -> usize {
        match self {
            Self::Simplex => entries.saturating_sub(1),
            Self::Real | Self::Above(_) | Self::Below(_) | Self::Between(..) | Self::Ordered => entries,
        }
    }

    /// Whether the coordinate of this place is a value itself.
    pub(crate) fn is_value(self, place: usize) -> bool {
        match self {
            Self::Real => true,
            Self::Ordered => place == 0,
            Self::Above(_) | Self::Below(_) | Self::Between(..) | Self::Simplex => false,
        }
    }

    /// The bounds of each value.
    pub(crate) fn bounds(self) -> (f64, f64) {
        match self {
            Self::Real | Self::Ordered => (f64::NEG_INFINITY, f64::INFINITY),
            Self::Above(low) => (low, f64::INFINITY),
            Self::Below(high) => (f64::NEG_INFINITY, high),
            Self::Between(low, high) => (low, high),
            Self::Simplex => (0.0, 1.0),
        }
    }

    /// The name of a coordinate of an entry.
    pub(crate) fn coordinate_name(self, entry: &str, place: usize) -> String {
        match self {
            Self::Real => entry.to_owned(),
            Self::Above(0.0) => format!("log_{entry}"),
            Self::Above(low) => format!("log({entry} - {low})"),
            Self::Below(high) => format!("log({high} - {entry})"),
            Self::Between(..) | Self::Simplex => format!("logit_{entry}"),
            Self::Ordered if place == 0 => entry.to_owned(),
            Self::Ordered => format!("log_gap_{entry}"),
        }
    }

    /// The values and the log-Jacobian of `entries` values whose coordinates start at `first`.
    pub(crate) fn values(self, graph: &mut Graph, first: usize, entries: usize) -> (Vec<Id>, Id) {
        let mut jacobian = graph.constant(0.0);
        let mut values: Vec<Id> = Vec::with_capacity(entries);
        match self {
            Self::Simplex => {
                let mut log_rest = graph.constant(0.0);
                for k in 0..entries.saturating_sub(1) {
                    let u = graph.parameter(first + k);
                    let shift = graph.constant(libm::log((entries - 1 - k) as f64));
                    let v = graph.sub(u, shift);
                    let minus = graph.negate(v);
                    let (taken, left) =
                        (graph.unary(Unary::LogSigmoid, v), graph.unary(Unary::LogSigmoid, minus));
                    let log = graph.add(log_rest, taken);
                    values.push(graph.unary(Unary::Exp, log));
                    // dx_k/du_k = rest·σ(v)·σ(−v).
                    let slope = graph.add(log, left);
                    jacobian = graph.add(jacobian, slope);
                    log_rest = graph.add(log_rest, left);
                }
                values.push(graph.unary(Unary::Exp, log_rest));
            }
            Self::Real | Self::Above(_) | Self::Below(_) | Self::Between(..) | Self::Ordered => {
                for k in 0..entries {
                    let u = graph.parameter(first + k);
                    let (value, log_slope) = match self {
                        Self::Ordered if k > 0 => {
                            let step = graph.unary(Unary::Exp, u);
                            (graph.add(values[k - 1], step), u)
                        }
                        Self::Above(low) => {
                            let (low, step) = (graph.constant(low), graph.unary(Unary::Exp, u));
                            (graph.add(low, step), u)
                        }
                        Self::Below(high) => {
                            let (high, step) = (graph.constant(high), graph.unary(Unary::Exp, u));
                            (graph.sub(high, step), u)
                        }
                        Self::Between(low, high) => {
                            let share = graph.unary(Unary::Sigmoid, u);
                            let wide = graph.times(high - low, share);
                            let low_node = graph.constant(low);
                            let minus = graph.negate(u);
                            let (a, b) =
                                (graph.unary(Unary::LogSigmoid, u), graph.unary(Unary::LogSigmoid, minus));
                            let both = graph.add(a, b);
                            let width = graph.constant(libm::log(high - low));
                            (graph.add(low_node, wide), graph.add(both, width))
                        }
                        Self::Real | Self::Ordered | Self::Simplex => (u, graph.constant(0.0)),
                    };
                    jacobian = graph.add(jacobian, log_slope);
                    values.push(value);
                }
            }
        }
        (values, jacobian)
    }

    /// Writes the coordinates of these values; false if one is outside.
    fn coordinates_of(self, values: &[f64], out: &mut [f64]) -> bool {
        let mut rest = 1.0;
        for (k, out) in out.iter_mut().enumerate() {
            let x = values[k];
            *out = match self {
                Self::Real => x,
                Self::Above(low) => libm::log(x - low),
                Self::Below(high) => libm::log(high - x),
                Self::Between(low, high) => libm::log(x - low) - libm::log(high - x),
                Self::Ordered if k == 0 => x,
                Self::Ordered => libm::log(x - values[k - 1]),
                Self::Simplex => {
                    let left = rest - x;
                    let logit = libm::log(x) - libm::log(left) + libm::log((values.len() - 1 - k) as f64);
                    rest = left;
                    logit
                }
            };
        }
        out.iter().all(|out| out.is_finite())
    }
}

impl Parameter {
    /// Mean and sd of a normal prior of a parameter that is free to move.
    pub(crate) fn normal_prior(&self) -> Option<(Id, Id)> {
        match (&self.prior, self.range) {
            (Prior::Each(Law::One { entry, arguments }), Range::Real) if entry.name == "normal" => {
                Some((arguments[0], arguments[1]))
            }
            _ => None,
        }
    }

    /// Draws the parameter from its prior at the values of all nodes before it, into its coordinates of θ; false where the
    /// prior has no draws, or none of ten thousand fell into the range.
    pub(crate) fn draw(&self, nodes: &[f64], uniform: &mut dyn FnMut() -> f64, theta: &mut [f64]) -> bool {
        const TRIES: usize = 10_000;
        let entries = self.values.len();
        let coordinates = self.range.coordinates(entries);
        let Some(out) = theta.get_mut(self.first..self.first + coordinates) else { return false };
        let (low, high) = self.range.bounds();
        let one = |uniform: &mut dyn FnMut() -> f64| -> Option<f64> {
            match &self.prior {
                Prior::Each(law) => {
                    (0..TRIES).map(|_| law.draw(nodes, uniform)).find(|x| *x > low && *x < high)
                }
                Prior::Flat if low.is_finite() && high.is_finite() => Some(low + (high - low) * uniform()),
                Prior::Flat | Prior::Dirichlet(_) => None,
            }
        };
        let values: Option<Vec<f64>> = match &self.prior {
            Prior::Dirichlet(concentrations) => {
                let draws = concentrations.iter().map(|a| variates::gamma(nodes[*a as usize], uniform));
                let draws: Vec<f64> = draws.collect();
                let total: f64 = draws.iter().sum();
                Some(draws.into_iter().map(|draw| draw / total).collect())
            }
            Prior::Flat if self.range == Range::Simplex => {
                let draws: Vec<f64> = (0..entries).map(|_| -libm::log(uniform())).collect();
                let total: f64 = draws.iter().sum();
                Some(draws.into_iter().map(|draw| draw / total).collect())
            }
            Prior::Flat | Prior::Each(_) => (0..entries).map(|_| one(uniform)).collect(),
        };
        let Some(mut values) = values else { return false };
        if self.range == Range::Ordered {
            values.sort_by(f64::total_cmp);
        }
        self.range.coordinates_of(&values, out)
    }
}
