//! Opens sums: uniform multiples of record values become one instruction, products of lines another.

use barkeep_machine::{Binary, Unary};
use std::collections::BTreeMap;

use super::lowering::Lowering;
use crate::language::graph::{Graph, Id, Level, Node};

/// In sums of more squares than this no pairs are looked for.
const SQUARES: usize = 8;

/// A uniform, and uniforms times nodes of the record.
pub(super) struct Sum {
    pub(super) start: Id,
    pub(super) terms: Vec<(Id, Id)>,
}

/// start + weight·atom.
pub(super) type Factor = (Id, (Id, Id));

/// A sum while it is put together.
struct Gathered {
    start: Id,
    terms: Vec<(Id, Id)>,
    /// Where a node's term is.
    places: BTreeMap<Id, usize>,
}

impl Gathered {
    fn new(graph: &mut Graph) -> Self {
        Self { start: graph.constant(0.0), terms: Vec::new(), places: BTreeMap::new() }
    }
}

impl Lowering<'_> {
    /// A product of two values of the record, or a square, as one of lines, unless both are plain values.
    pub(super) fn factors(&mut self, id: Id) -> Option<[Factor; 2]> {
        let (a, b) = match *self.graph.node(id) {
            Node::Binary(Binary::Mul, a, b) => (a, b),
            Node::Unary(Unary::Square, a) => (a, a),
            _ => return None,
        };
        if self.graph.level(a) != Level::Record || self.graph.level(b) != Level::Record {
            return None;
        }
        let lines = [self.line(a), self.line(b)];
        let (zero, one) = (self.graph.constant(0.0), self.graph.constant(1.0));
        lines.iter().any(Option::is_some).then(|| {
            let [first, second] = lines;
            [first.unwrap_or((zero, (one, a))), second.unwrap_or((zero, (one, b)))]
        })
    }

    /// A sum of the record that has one term and is not held yet.
    fn line(&mut self, id: Id) -> Option<Factor> {
        if self.is_kept(id) {
            return None;
        }
        match self.sum(id)? {
            Sum { start, terms } if terms.len() == 1 => Some((start, terms[0])),
            Sum { .. } => None,
        }
    }

    /// Whether a node of the record is a sum of uniform multiples.
    fn is_sum(&self, id: Id) -> bool {
        let varies = |id: Id| self.graph.level(id) == Level::Record;
        match *self.graph.node(id) {
            Node::Binary(Binary::Add | Binary::Sub, ..) => varies(id),
            Node::Binary(Binary::Mul, a, b) => varies(a) != varies(b),
            Node::Binary(Binary::Div, a, b) => varies(a) && !varies(b),
            _ => false,
        }
    }

    /// A node of the record as a sum of uniform multiples, if it is one; sums inside it are opened unless they are kept.
    ///
    /// w·u² − w·v² becomes w·(u − v)·(u + v) where u − v is the same for all records: no square is left of densities with one
    /// scale, and nothing cancels.
    pub(super) fn sum(&mut self, id: Id) -> Option<Sum> {
        if !self.is_sum(id) {
            return None;
        }
        let mut gathered = Gathered::new(self.graph);
        let one = self.graph.constant(1.0);
        self.gather(id, (one, id), &mut gathered);
        while let Some((weight, sum)) = self.pair(&mut gathered.terms) {
            self.gather(id, (weight, sum), &mut gathered);
        }
        let Gathered { start, mut terms, .. } = gathered;
        terms.retain(|(weight, _)| self.graph.value(*weight) != Some(0.0));
        Some(Sum { start, terms })
    }

    /// Takes w·u² and −w·v² out of a sum where u − v does not depend on the record; returns w·(u − v) and u + v.
    fn pair(&mut self, terms: &mut [(Id, Id)]) -> Option<(Id, Id)> {
        let mut squares: Vec<(usize, Id, Id)> = Vec::new();
        for (place, (weight, atom)) in terms.iter().enumerate() {
            if let (Node::Unary(Unary::Square, inner), false) =
                (self.graph.node(*atom), self.graph.value(*weight) == Some(0.0))
            {
                squares.push((place, *weight, *inner));
            }
        }
        if squares.len() > SQUARES {
            return None;
        }
        for (i, (place, weight, u)) in squares.iter().enumerate() {
            for (other, opposite, v) in &squares[i + 1..] {
                let total = self.graph.add(*weight, *opposite);
                if self.graph.value(total) != Some(0.0) {
                    continue;
                }
                let apart = self.graph.sub(*u, *v);
                let gap = if self.is_sum(apart) {
                    let mut gathered = Gathered::new(self.graph);
                    let one = self.graph.constant(1.0);
                    self.gather(apart, (one, apart), &mut gathered);
                    let still = |(weight, _): &(Id, Id)| self.graph.value(*weight) == Some(0.0);
                    if !gathered.terms.iter().all(still) {
                        continue;
                    }
                    gathered.start
                } else if self.graph.level(apart) != Level::Record {
                    apart
                } else {
                    continue;
                };
                let zero = self.graph.constant(0.0);
                (terms[*place].0, terms[*other].0) = (zero, zero);
                return Some((self.graph.mul(*weight, gap), self.graph.add(*u, *v)));
            }
        }
        None
    }

    /// Adds weight·node to a sum, opening sums that are not kept; `id` is the sum's own node, which is opened.
    fn gather(&mut self, id: Id, first: (Id, Id), gathered: &mut Gathered) {
        let Gathered { start, terms, places } = gathered;
        let mut stack = vec![first];
        while let Some((weight, node)) = stack.pop() {
            if self.graph.level(node) != Level::Record {
                let term = self.graph.mul(weight, node);
                *start = self.graph.add(*start, term);
            } else if self.is_sum(node) && (node == id || !self.is_kept(node)) {
                match *self.graph.node(node) {
                    Node::Binary(Binary::Add, a, b) => stack.extend([(weight, b), (weight, a)]),
                    Node::Binary(Binary::Sub, a, b) => {
                        let minus = self.graph.negate(weight);
                        stack.extend([(minus, b), (weight, a)]);
                    }
                    Node::Binary(Binary::Mul, a, b) => {
                        let (factor, rest) =
                            if self.graph.level(a) == Level::Record { (b, a) } else { (a, b) };
                        stack.push((self.graph.mul(weight, factor), rest));
                    }
                    Node::Binary(Binary::Div, a, b) => {
                        stack.push((self.graph.div(weight, b), a));
                    }
                    _ => {}
                }
            } else {
                match places.get(&node) {
                    Some(place) => {
                        let before = terms[*place].0;
                        terms[*place].0 = self.graph.add(before, weight);
                    }
                    None => {
                        places.insert(node, terms.len());
                        terms.push((weight, node));
                    }
                }
            }
        }
    }
}
