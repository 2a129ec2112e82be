//! Writes the instructions of expressions: what depends on θ alone once per question, the rest over records.

use barkeep_machine::{Binary, Line, Source, Step};
use std::collections::BTreeMap;

use super::UniformStep;
use super::sums::Sum;
use crate::language::graph::{Graph, Id, Level, Node};

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
    /// Where a run of slots begins that holds these, one after the other.
    runs: BTreeMap<Vec<u32>, u32>,
    pub(super) steps: Vec<Step>,
    /// Which step computed a node.
    held: BTreeMap<Id, u32>,
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
            runs: BTreeMap::new(),
            steps: Vec::new(),
            held: BTreeMap::new(),
        }
    }

    /// Whether a node is a sum that several others need and that is worth keeping.
    pub(super) fn is_kept(&self, id: Id) -> bool {
        let known = |list: &[u32]| list.get(id as usize).copied().unwrap_or(1);
        let long = known(&self.sizes) > SHORT || known(&self.depths) > DEEP;
        self.held.contains_key(&id) || (known(&self.uses) > 1 && long)
    }

    /// Where a root's value is: a column, or a step that computes it.
    pub(super) fn root(&mut self, id: Id) -> Source {
        match self.operand(id) {
            Source::Constant(start) => {
                // What leaves a program is a value of the record.
                self.push(Step::Dot { start, first: start, terms: Box::default() })
            }
            source @ (Source::Column(_) | Source::Step(_) | Source::Node(_) | Source::Kept(_)) => source,
        }
    }

    fn push(&mut self, step: Step) -> Source {
        self.steps.push(step);
        Source::Step(number(self.steps.len() - 1))
    }

    /// Where a node's value is, computing it if need be. Arguments come first, by a list rather than by recursion: a text may
    /// nest deeply.
    fn operand(&mut self, root: Id) -> Source {
        let mut stack = vec![(root, false)];
        while let Some((id, ready)) = stack.pop() {
            if self.known(id).is_some() {
                continue;
            }
            if ready {
                let step = self.step(id);
                self.push(step);
                self.held.insert(id, number(self.steps.len() - 1));
            } else {
                stack.push((id, true));
                let arguments = self.record_arguments(id);
                stack.extend(arguments.into_iter().rev().map(|argument| (argument, false)));
            }
        }
        self.known(root).unwrap_or(Source::Constant(0))
    }

    /// Where a node's value is, if it is anywhere.
    fn known(&mut self, id: Id) -> Option<Source> {
        if self.graph.level(id) != Level::Record {
            return Some(Source::Constant(self.uniform(id)));
        }
        match *self.graph.node(id) {
            Node::Column(index) => Some(Source::Column(index)),
            _ => self.held.get(&id).map(|step| Source::Step(*step)),
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
    fn step(&mut self, id: Id) -> Step {
        if let Some(factors) = self.factors(id) {
            return Step::Product(factors.map(|(start, (weight, atom))| Line {
                start: self.uniform(start),
                weight: self.uniform(weight),
                value: self.operand(atom),
            }));
        }
        if let Some(Sum { start, terms }) = self.sum(id) {
            let start = self.uniform(start);
            let (weights, atoms): (Vec<Id>, Vec<Id>) = terms.into_iter().unzip();
            let (first, _) = self.table(&weights);
            return Step::Dot {
                start,
                first,
                terms: atoms.into_iter().map(|atom| self.operand(atom)).collect(),
            };
        }
        match self.graph.node(id).clone() {
            Node::Unary(op, a) => Step::Unary(op, self.operand(a)),
            Node::Binary(op, a, b) => Step::Binary(op, self.operand(a), self.operand(b)),
            Node::Select(c, a, b) => Step::Select(self.operand(c), self.operand(a), self.operand(b)),
            Node::Gather(index, entries) => {
                let index = self.operand(index);
                let (first, count) = self.table(&entries);
                Step::Gather { index, first, count }
            }
            // None of them is a value that a step computes.
            Node::Constant(_) | Node::Parameter(_) | Node::Column(_) => {
                let start = self.uniform(id);
                Step::Dot { start, first: start, terms: Box::default() }
            }
        }
    }

    /// A run of slots that holds these nodes.
    fn table(&mut self, entries: &[Id]) -> (u32, u32) {
        let slots: Vec<u32> = entries.iter().map(|entry| self.uniform(*entry)).collect();
        let count = number(slots.len());
        let (runs, uniforms) = (&mut self.runs, &mut self.uniforms);
        let first = *runs.entry(slots).or_insert_with_key(|slots| match slots.first() {
            // What is in order already need not be copied.
            Some(first) if slots.iter().zip(*first..).all(|(slot, place)| *slot == place) => *first,
            Some(_) | None => {
                let first = number(uniforms.len());
                uniforms.extend(slots.iter().map(|slot| UniformStep::Copy(*slot)));
                first
            }
        });
        (first, count)
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
                    let (index, first) = (at(*index), number(self.uniforms.len()));
                    let count = number(slots.len());
                    self.uniforms.extend(slots.into_iter().map(UniformStep::Copy));
                    UniformStep::Gather(index, first, count)
                }
                // A column depends on the record: it has no slot, and nobody asks for one.
                Node::Column(_) => UniformStep::Constant(f64::NAN),
            };
            self.slots.insert(id, number(self.uniforms.len()));
            self.uniforms.push(step);
        }
        self.slots.get(&root).copied().unwrap_or(0)
    }
}

/// A place or a count: a text has fewer nodes than 2³².
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
