//! Writes the instructions of expressions: what depends on θ alone once per question, the rest over records.

use std::collections::BTreeMap;

use super::sums::Sum;
use super::{Code, Line, Operand, Place, Step, UniformStep};
use crate::language::graph::{Graph, Id, Level, Node};
use crate::language::op::Binary;

/// A sum of at most this many terms is computed again rather than kept in a register.
const SHORT: u32 = 2;
/// A sum nested deeper than this is kept however few terms it has: opening it again and again would take long.
const DEEP: u32 = 16;

/// What is known while a program is being written.
pub(super) struct Lowering<'g> {
    pub(super) graph: &'g mut Graph,
    /// How often the record's part of the roots uses a node.
    uses: Vec<u32>,
    /// How many terms a node's sum has; 1 where it is no sum.
    sizes: Vec<u32>,
    /// How many sums a node's sum is nested in.
    depths: Vec<u32>,
    pub(super) uniforms: Vec<UniformStep>,
    /// Where a node's uniform is.
    pub(super) slots: BTreeMap<Id, u32>,
    pub(super) steps: Vec<Step>,
    /// Which virtual register holds a node.
    held: BTreeMap<Id, u32>,
    next: u32,
}

impl<'g> Lowering<'g> {
    pub(super) fn new(graph: &'g mut Graph, roots: &[Id]) -> Self {
        let needed = graph.needed(roots);
        let count = graph.len();
        let (mut uses, mut sizes, mut depths) = (vec![0; count], vec![1_u32; count], vec![0_u32; count]);
        roots.iter().for_each(|root| uses[*root as usize] += 1);
        for id in 0..count {
            let node = Id::try_from(id).unwrap_or(Id::MAX);
            if !needed[id] || graph.level(node) != Level::Record {
                sizes[id] = 0;
                continue;
            }
            graph.arguments(node).iter().for_each(|argument| uses[*argument as usize] += 1);
            let size = |a: Id| if graph.level(a) == Level::Record { sizes[a as usize] } else { 0 };
            sizes[id] = match *graph.node(node) {
                Node::Binary(Binary::Add | Binary::Sub, a, b) => size(a).saturating_add(size(b)),
                Node::Binary(Binary::Mul, a, b) if size(a) == 0 || size(b) == 0 => size(a) + size(b),
                Node::Binary(Binary::Div, a, b) if size(b) == 0 => size(a),
                _ => 1,
            };
            let depth = |a: Id| depths[a as usize];
            depths[id] = match *graph.node(node) {
                Node::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Div, a, b) => {
                    depth(a).max(depth(b)).saturating_add(1)
                }
                _ => 0,
            };
        }
        Self {
            graph,
            uses,
            sizes,
            depths,
            uniforms: Vec::new(),
            slots: BTreeMap::new(),
            steps: Vec::new(),
            held: BTreeMap::new(),
            next: 0,
        }
    }

    /// Whether a node is a sum that several others need and that is worth keeping.
    pub(super) fn is_kept(&self, id: Id) -> bool {
        let known = |list: &[u32]| list.get(id as usize).copied().unwrap_or(1);
        let long = known(&self.sizes) > SHORT || known(&self.depths) > DEEP;
        self.held.contains_key(&id) || (known(&self.uses) > 1 && long)
    }

    /// Writes a root to its output.
    pub(super) fn root(&mut self, id: Id, output: u32) {
        let out = Place::Output(output);
        if self.graph.level(id) != Level::Record {
            let slot = self.uniform(id);
            self.steps.push(Step { code: Code::Fill(slot), out });
            return;
        }
        let shared = self.uses.get(id as usize).is_some_and(|uses| *uses > 1);
        if shared || self.held.contains_key(&id) || matches!(self.graph.node(id), Node::Column(_)) {
            let operand = self.operand(id);
            let (zero, one) = (self.graph.constant(0.0), self.graph.constant(1.0));
            let (start, weight) = (self.uniform(zero), self.uniform(one));
            self.steps.push(Step { code: Code::Dot(start, Box::new([(weight, operand)])), out });
        } else {
            let code = self.code(id);
            self.steps.push(Step { code, out });
        }
    }

    /// Where a node's value is, computing it if need be. Arguments come first, by a list rather than by recursion: a text may
    /// nest deeply.
    fn operand(&mut self, root: Id) -> Operand {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.known(id).is_some() {
                continue;
            }
            if ready {
                let code = self.code(id);
                let register = self.next;
                self.next += 1;
                self.steps.push(Step { code, out: Place::Register(register) });
                self.held.insert(id, register);
            } else {
                stack.push((id, true));
                let arguments = self.record_arguments(id);
                stack.extend(arguments.into_iter().rev().map(|argument| (argument, false)));
            }
        }
        self.known(root).unwrap_or(Operand::Uniform(0))
    }

    /// Where a node's value is, if it is anywhere.
    fn known(&mut self, id: Id) -> Option<Operand> {
        if self.graph.level(id) != Level::Record {
            return Some(Operand::Uniform(self.uniform(id)));
        }
        match *self.graph.node(id) {
            Node::Column(index) => Some(Operand::Column(index)),
            _ => self.held.get(&id).map(|register| Operand::Register(*register)),
        }
    }

    /// The nodes of the record that a node's instruction reads.
    fn record_arguments(&mut self, id: Id) -> Vec<Id> {
        if let Some(factors) = self.factors(id) {
            return factors.into_iter().map(|(_, (_, atom))| atom).collect();
        }
        match self.sum(id) {
            Some(sum) => sum.terms.into_iter().map(|(_, atom)| atom).collect(),
            None => {
                let arguments = match self.graph.node(id) {
                    Node::Gather(index, _) => vec![*index],
                    _ => self.graph.arguments(id),
                };
                arguments.into_iter().filter(|a| self.graph.level(*a) == Level::Record).collect()
            }
        }
    }

    /// The instruction of a node of the record, whose arguments are computed first where they are not yet.
    fn code(&mut self, id: Id) -> Code {
        if let Some(factors) = self.factors(id) {
            return Code::Product(factors.map(|(start, (weight, atom))| Line {
                start: self.uniform(start),
                weight: self.uniform(weight),
                operand: self.operand(atom),
            }));
        }
        if let Some(Sum { start, terms }) = self.sum(id) {
            let start = self.uniform(start);
            let terms: Vec<(u32, Operand)> =
                terms.into_iter().map(|(weight, atom)| (self.uniform(weight), self.operand(atom))).collect();
            return if terms.is_empty() { Code::Fill(start) } else { Code::Dot(start, terms.into()) };
        }
        match self.graph.node(id).clone() {
            Node::Unary(op, a) => Code::Unary(op, self.operand(a)),
            Node::Binary(op, a, b) => Code::Binary(op, self.operand(a), self.operand(b)),
            Node::Select(c, a, b) => Code::Select(self.operand(c), self.operand(a), self.operand(b)),
            Node::Gather(index, entries) => {
                let index = self.operand(index);
                let (first, count) = self.table(&entries);
                Code::Gather(index, first, count)
            }
            Node::Constant(_) | Node::Parameter(_) | Node::Column(_) => {
                let slot = self.uniform(id);
                Code::Fill(slot)
            }
        }
    }

    /// A run of slots that holds these nodes.
    fn table(&mut self, entries: &[Id]) -> (u32, u32) {
        let slots: Vec<u32> = entries.iter().map(|entry| self.uniform(*entry)).collect();
        let first = u32::try_from(self.uniforms.len()).unwrap_or(u32::MAX);
        self.uniforms.extend(slots.iter().map(|slot| UniformStep::Copy(*slot)));
        (first, u32::try_from(slots.len()).unwrap_or(u32::MAX))
    }

    /// The slot of a node that does not depend on the record.
    pub(super) fn uniform(&mut self, root: Id) -> u32 {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.slots.contains_key(&id) {
                continue;
            }
            if !ready {
                stack.push((id, true));
                stack.extend(self.graph.arguments(id).into_iter().map(|argument| (argument, false)));
                continue;
            }
            let at = |argument: Id| self.slots.get(&argument).copied().unwrap_or(0);
            let step = match self.graph.node(id) {
                Node::Constant(bits) => UniformStep::Constant(f64::from_bits(*bits)),
                Node::Parameter(index) => UniformStep::Parameter(*index),
                Node::Unary(op, a) => UniformStep::Unary(*op, at(*a)),
                Node::Binary(op, a, b) => UniformStep::Binary(*op, at(*a), at(*b)),
                Node::Select(c, a, b) => UniformStep::Select(at(*c), at(*a), at(*b)),
                Node::Gather(index, entries) => {
                    let slots: Vec<u32> = entries.iter().map(|entry| at(*entry)).collect();
                    let (index, first) = (at(*index), u32::try_from(self.uniforms.len()).unwrap_or(u32::MAX));
                    let count = u32::try_from(slots.len()).unwrap_or(u32::MAX);
                    self.uniforms.extend(slots.into_iter().map(UniformStep::Copy));
                    UniformStep::Gather(index, first, count)
                }
                // A column depends on the record: it has no slot, and nobody asks for one.
                Node::Column(_) => UniformStep::Constant(f64::NAN),
            };
            self.slots.insert(id, u32::try_from(self.uniforms.len()).unwrap_or(u32::MAX));
            self.uniforms.push(step);
        }
        self.slots.get(&root).copied().unwrap_or(0)
    }
}
