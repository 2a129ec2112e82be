//! Writes ln p(x|θ') − ln p(x|θ) as one expression in which large terms do not cancel and what did not move vanishes.

use barkeep_machine::{Binary, Unary};

use super::graph::{Graph, Id, Node};

/// What a node becomes: its value at θ' and the difference of its values.
#[derive(Clone, Copy)]
struct Moved {
    to: Id,
    change: Id,
}

impl Graph {
    /// root(θ') − root(θ), where θ' has the coordinates from `count` on.
    ///
    /// Sums, products, squares and the softplus have exact difference formulas: a linear predictor becomes one of the moved
    /// coefficients, and the square of a residual a linear function. Everything else is subtracted.
    pub(crate) fn difference(&mut self, root: Id, count: usize) -> Id {
        let zero = self.constant(0.0);
        let needed = self.needed(&[root]);
        let mut moved: Vec<Option<Moved>> = vec![None; root as usize + 1];
        for id in 0..=root {
            if !needed[id as usize] || !self.moves(id) {
                continue;
            }
            let node = self.node(id).clone();
            let to =
                |argument: Id, moved: &[Option<Moved>]| moved[argument as usize].map_or(argument, |m| m.to);
            let change =
                |argument: Id, moved: &[Option<Moved>]| moved[argument as usize].map_or(zero, |m| m.change);
            let result = match &node {
                Node::Constant(_) | Node::Column(_) => continue,
                Node::Parameter(index) => {
                    let to = self.parameter(*index as usize + count);
                    Moved { to, change: self.sub(to, id) }
                }
                Node::Unary(op, a) => {
                    let (there, by) = (to(*a, &moved), change(*a, &moved));
                    let to = self.unary(*op, there);
                    let change = match op {
                        Unary::Square => {
                            let sum = self.add(there, *a);
                            self.mul(by, sum)
                        }
                        Unary::LogSigmoid => {
                            // a + α rather than a': of a long sum the move alone is added up beside it.
                            let after = self.add(*a, by);
                            self.binary(Binary::LogSigmoidDifference, after, *a)
                        }
                        _ => self.sub(to, id),
                    };
                    Moved { to, change }
                }
                Node::Binary(op, a, b) => {
                    let (a_to, b_to) = (to(*a, &moved), to(*b, &moved));
                    let (a_by, b_by) = (change(*a, &moved), change(*b, &moved));
                    let to = self.binary(*op, a_to, b_to);
                    let change = match op {
                        Binary::Add => self.add(a_by, b_by),
                        Binary::Sub => self.sub(a_by, b_by),
                        Binary::Mul => {
                            let (first, second) = (self.mul(a_by, b_to), self.mul(*a, b_by));
                            self.add(first, second)
                        }
                        Binary::Div => {
                            // (a + α)/(b + β) − a/b = (α − (a/b)·β)/(b + β).
                            let pulled = self.mul(id, b_by);
                            let rest = self.sub(a_by, pulled);
                            self.div(rest, b_to)
                        }
                        Binary::LogAddExp if !self.may_vanish(*a) && !self.may_vanish(*b) => {
                            // ln(eᵃ + eᵇ) = a − log_sigmoid(a − b).
                            let (after, before) = (self.sub(a_to, b_to), self.sub(*a, *b));
                            let soft = self.binary(Binary::LogSigmoidDifference, after, before);
                            self.sub(a_by, soft)
                        }
                        Binary::LogAddExp
                        | Binary::Pow
                        | Binary::Min
                        | Binary::Max
                        | Binary::Less
                        | Binary::LessEqual
                        | Binary::Equal
                        | Binary::LogSigmoidDifference => self.sub(to, id),
                    };
                    Moved { to, change }
                }
                Node::Select(condition, a, b) => {
                    let (a_to, b_to) = (to(*a, &moved), to(*b, &moved));
                    let there = to(*condition, &moved);
                    let to = self.select(there, a_to, b_to);
                    let change = if self.moves(*condition) {
                        self.sub(to, id)
                    } else {
                        self.select(*condition, change(*a, &moved), change(*b, &moved))
                    };
                    Moved { to, change }
                }
                Node::Gather(index, entries) => {
                    let there = to(*index, &moved);
                    let all: Vec<Id> = entries.iter().map(|entry| to(*entry, &moved)).collect();
                    let to = self.gather(there, &all);
                    let change = if self.moves(*index) {
                        self.sub(to, id)
                    } else {
                        let changes: Vec<Id> = entries.iter().map(|entry| change(*entry, &moved)).collect();
                        self.gather(*index, &changes)
                    };
                    Moved { to, change }
                }
            };
            moved[id as usize] = Some(result);
        }
        moved[root as usize].map_or(zero, |moved| moved.change)
    }

    /// Which nodes some roots are made of.
    pub(crate) fn needed(&self, roots: &[Id]) -> Vec<bool> {
        let mut needed = vec![false; self.len()];
        roots.iter().for_each(|root| needed[*root as usize] = true);
        for id in (0..self.len()).rev() {
            if needed[id] {
                for argument in self.arguments(Id::try_from(id).unwrap_or(Id::MAX)) {
                    needed[argument as usize] = true;
                }
            }
        }
        needed
    }
}
