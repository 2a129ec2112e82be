//! Holds expressions as one graph in which equal subexpressions are one node: total, pure, without loops or branches.
//!
//! A node is a number, a coordinate of θ, a column of the record, or a function of earlier nodes. Nothing can name another
//! record, so what a graph computes from a record depends on that record and θ alone (the lemma every sensitivity proof
//! uses holds by construction), and a fixed list of instructions evaluates it whatever the record says.

use std::collections::BTreeMap;

use barkeep_machine::{Binary, Unary, place};

/// A node's place in its graph; its arguments come before it.
pub(crate) type Id = u32;

/// One node.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    /// A number, by its bits.
    Constant(u64),
    /// A coordinate of θ.
    Parameter(u32),
    /// A column of the record.
    Column(u32),
    /// A function of one node.
    Unary(Unary, Id),
    /// A function of two nodes.
    Binary(Binary, Id, Id),
    /// The second where the first is not 0, else the third; both are computed.
    Select(Id, Id, Id),
    /// The entry at the place that the first node names, a whole number from 0; places outside mean the nearest entry. No
    /// entry depends on the record.
    Gather(Id, Box<[Id]>),
}

/// What a node depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Nothing: a number.
    Constant,
    /// θ alone: computed once per question.
    Uniform,
    /// The record.
    Record,
}

/// A graph that only grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    levels: Vec<Level>,
    /// Whether a node depends on θ.
    moves: Vec<bool>,
    /// Whether a node's expression holds a −∞.
    vanishes: Vec<bool>,
    places: BTreeMap<Node, Id>,
    /// Entries of all tables.
    entries: usize,
}

impl Graph {
    /// The number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of nodes and of entries of their tables: what memory and time grow with.
    pub(crate) fn size(&self) -> usize {
        self.nodes.len() + self.entries
    }

    /// A node.
    pub(crate) fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    /// What a node depends on.
    pub(crate) fn level(&self, id: Id) -> Level {
        self.levels[id as usize]
    }

    /// Whether a node depends on θ.
    pub(crate) fn moves(&self, id: Id) -> bool {
        self.moves[id as usize]
    }

    /// Whether a node's expression holds a −∞, which must not be subtracted from itself.
    pub(crate) fn may_vanish(&self, id: Id) -> bool {
        self.vanishes[id as usize]
    }

    /// The number, if the node is one.
    pub(crate) fn value(&self, id: Id) -> Option<f64> {
        match self.node(id) {
            Node::Constant(bits) => Some(f64::from_bits(*bits)),
            Node::Parameter(_)
            | Node::Column(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Select(..)
            | Node::Gather(..) => None,
        }
    }

    /// The nodes a node is a function of.
    pub(crate) fn arguments(&self, id: Id) -> Vec<Id> {
        match self.node(id) {
            Node::Constant(_) | Node::Parameter(_) | Node::Column(_) => Vec::new(),
            Node::Unary(_, a) => vec![*a],
            Node::Binary(_, a, b) => vec![*a, *b],
            Node::Select(c, a, b) => vec![*c, *a, *b],
            Node::Gather(index, entries) => std::iter::once(*index).chain(entries.iter().copied()).collect(),
        }
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(place) = self.places.get(&node) {
            return *place;
        }
        let id = Id::try_from(self.nodes.len()).unwrap_or(Id::MAX);
        let (own, moves) = match &node {
            Node::Constant(_) => (Level::Constant, false),
            Node::Parameter(_) => (Level::Uniform, true),
            Node::Column(_) => (Level::Record, false),
            Node::Unary(..) | Node::Binary(..) | Node::Select(..) | Node::Gather(..) => {
                (Level::Constant, false)
            }
        };
        if let Node::Gather(_, entries) = &node {
            self.entries += entries.len();
        }
        let nothing = node == Node::Constant(f64::NEG_INFINITY.to_bits());
        self.places.insert(node.clone(), id);
        self.nodes.push(node);
        let arguments = self.arguments(id);
        let vanishes = nothing || arguments.iter().any(|a| self.may_vanish(*a));
        self.vanishes.push(vanishes);
        let level = arguments.iter().map(|a| self.level(*a)).fold(own, Level::max);
        self.levels.push(level);
        let moves = moves || arguments.iter().any(|a| self.moves(*a));
        self.moves.push(moves);
        id
    }

    /// A number.
    pub(crate) fn constant(&mut self, value: f64) -> Id {
        // One zero and one NaN, so that equal numbers are one node.
        let value = if value == 0.0 {
            0.0
        } else if value.is_nan() {
            f64::NAN
        } else {
            value
        };
        self.intern(Node::Constant(value.to_bits()))
    }

    /// A coordinate of θ.
    pub(crate) fn parameter(&mut self, index: usize) -> Id {
        self.intern(Node::Parameter(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// A column of the record.
    pub(crate) fn column(&mut self, index: usize) -> Id {
        self.intern(Node::Column(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// f(a), folded where a is a number.
    pub(crate) fn unary(&mut self, op: Unary, a: Id) -> Id {
        if let Some(value) = self.value(a) {
            return self.constant(op.at(value));
        }
        match (op, self.node(a)) {
            (Unary::Ln, Node::Unary(Unary::Exp, inner)) => *inner,
            (Unary::Ln, Node::Unary(Unary::Sigmoid, inner)) => {
                let inner = *inner;
                self.unary(Unary::LogSigmoid, inner)
            }
            (Unary::Square, Node::Unary(Unary::Sqrt | Unary::Abs, _)) | (_, _) => {
                self.intern(Node::Unary(op, a))
            }
        }
    }

    /// f(a, b), folded and simplified where that changes no more than a rounding.
    pub(crate) fn binary(&mut self, op: Binary, a: Id, b: Id) -> Id {
        let (left, right) = (self.value(a), self.value(b));
        if let (Some(x), Some(y)) = (left, right) {
            return self.constant(op.at(x, y));
        }
        match op {
            Binary::Add if left == Some(0.0) => return b,
            Binary::Add | Binary::Sub if right == Some(0.0) => return a,
            Binary::Add if self.is_minus(a, b) || self.is_minus(b, a) => return self.constant(0.0),
            Binary::Sub if left == Some(0.0) => return self.negate(b),
            Binary::Sub if a == b => return self.constant(0.0),
            // What a factor of 0 multiplies is finite wherever a model is meant to be used.
            Binary::Mul if left == Some(0.0) || right == Some(0.0) => return self.constant(0.0),
            Binary::Mul if left == Some(1.0) => return b,
            Binary::Mul | Binary::Div if right == Some(1.0) => return a,
            Binary::Mul if a == b => return self.unary(Unary::Square, a),
            Binary::Mul if right.is_some() => return self.scale(right.unwrap_or(1.0), a),
            Binary::Mul if left.is_some() => return self.scale(left.unwrap_or(1.0), b),
            Binary::Div if left == Some(0.0) => return self.constant(0.0),
            Binary::Div if left == Some(1.0) => return self.unary(Unary::Reciprocal, b),
            Binary::Pow => {
                if let Some(power) = right {
                    return self.power(a, power);
                }
            }
            Binary::LogAddExp if left == Some(f64::NEG_INFINITY) => return b,
            Binary::LogAddExp if right == Some(f64::NEG_INFINITY) => return a,
            Binary::LogSigmoidDifference if a == b => return self.constant(0.0),
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Div
            | Binary::Min
            | Binary::Max
            | Binary::Less
            | Binary::LessEqual
            | Binary::Equal
            | Binary::LogAddExp
            | Binary::LogSigmoidDifference => {}
        }
        let (a, b) = if op.commutes() && b < a { (b, a) } else { (a, b) };
        self.intern(Node::Binary(op, a, b))
    }

    /// Whether one node is −1 times another.
    fn is_minus(&self, one: Id, other: Id) -> bool {
        matches!(*self.node(one), Node::Binary(Binary::Mul, number, of) if of == other && self.value(number) == Some(-1.0))
    }

    /// number·a, numbers gathered into one.
    fn scale(&mut self, number: f64, a: Id) -> Id {
        if let Node::Binary(Binary::Mul, x, y) = *self.node(a)
            && let Some(inner) = self.value(x)
        {
            let product = self.constant(number * inner);
            return if self.value(product) == Some(1.0) {
                y
            } else {
                self.intern(Node::Binary(Binary::Mul, product, y))
            };
        }
        let number = self.constant(number);
        // The number comes first, whatever its place.
        self.intern(Node::Binary(Binary::Mul, number, a))
    }

    /// a to a fixed power: whole ones up to 16 by products, which any sign of a has.
    fn power(&mut self, a: Id, power: f64) -> Id {
        if power == 0.5 {
            return self.unary(Unary::Sqrt, a);
        }
        if power.fract() != 0.0 || power.abs() > 16.0 {
            let power = self.constant(power);
            return self.intern(Node::Binary(Binary::Pow, a, power));
        }
        if power < 0.0 {
            let base = self.power(a, -power);
            return self.unary(Unary::Reciprocal, base);
        }
        let (mut result, mut square) = (self.constant(1.0), a);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 16")]
        let mut left = power as u32;
        while left > 0 {
            if left % 2 == 1 {
                result = self.binary(Binary::Mul, result, square);
            }
            left /= 2;
            if left > 0 {
                square = self.unary(Unary::Square, square);
            }
        }
        result
    }

    /// `yes` where `condition` is not 0, else `no`.
    pub(crate) fn select(&mut self, condition: Id, yes: Id, no: Id) -> Id {
        match self.value(condition) {
            Some(value) if value != 0.0 => yes,
            Some(_) => no,
            None if yes == no => yes,
            None => self.intern(Node::Select(condition, yes, no)),
        }
    }

    /// The entry at `index`; entries may depend on θ, not on the record.
    pub(crate) fn gather(&mut self, index: Id, entries: &[Id]) -> Id {
        if let Some(first) = entries.first()
            && entries.iter().all(|entry| entry == first)
        {
            return *first;
        }
        if let Some(value) = self.value(index) {
            return entries[place(value, entries.len())];
        }
        self.intern(Node::Gather(index, entries.into()))
    }

    /// −a.
    pub(crate) fn negate(&mut self, a: Id) -> Id {
        match self.value(a) {
            Some(value) => self.constant(-value),
            None => self.scale(-1.0, a),
        }
    }

    /// a + b.
    pub(crate) fn add(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Add, a, b)
    }

    /// a − b.
    pub(crate) fn sub(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Sub, a, b)
    }

    /// a·b.
    pub(crate) fn mul(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Mul, a, b)
    }

    /// a/b.
    pub(crate) fn div(&mut self, a: Id, b: Id) -> Id {
        self.binary(Binary::Div, a, b)
    }

    /// number·a.
    pub(crate) fn times(&mut self, number: f64, a: Id) -> Id {
        let number = self.constant(number);
        self.mul(number, a)
    }

    /// The values of all nodes at one θ and one record; the slow way, for single records and as a reference.
    pub(crate) fn values(&self, theta: &[f64], record: &[f64]) -> Vec<f64> {
        let mut values: Vec<f64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let at = |id: &Id| values[*id as usize];
            let value = match node {
                Node::Constant(bits) => f64::from_bits(*bits),
                Node::Parameter(index) => theta.get(*index as usize).copied().unwrap_or(f64::NAN),
                Node::Column(index) => record.get(*index as usize).copied().unwrap_or(f64::NAN),
                Node::Unary(op, a) => op.at(at(a)),
                Node::Binary(op, a, b) => op.at(at(a), at(b)),
                Node::Select(c, a, b) => {
                    if at(c) != 0.0 {
                        at(a)
                    } else {
                        at(b)
                    }
                }
                Node::Gather(index, entries) => at(&entries[place(at(index), entries.len())]),
            };
            values.push(value);
        }
        values
    }
}

#[cfg(test)]
mod tests;
