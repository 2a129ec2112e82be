//! Turns expressions into a fixed list of instructions, each of which works on many records at once.
//!
//! What depends on θ alone is a *uniform*: computed once per question, one number each. What depends on the record is a list of
//! [`Step`]s over registers of [`LANE`](super::block::LANE) records. Sums of uniform multiples of record values, however nested, become one
//! [`Code::Dot`]. Registers are assigned here, once. The list is the same for every record and every θ.

use std::collections::BTreeMap;

use super::graph::{Graph, Id, Level, Node};
use super::op::{Binary, Unary};

/// Where an instruction reads a value per record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operand {
    /// A column of the block.
    Column(u32),
    /// A register.
    Register(u32),
    /// The same number for every record.
    Uniform(u32),
}

/// Where an instruction writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A register.
    Register(u32),
    /// An output of the program.
    Output(u32),
}

/// start + weight·value, the first two uniforms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Line {
    pub(crate) start: u32,
    pub(crate) weight: u32,
    pub(crate) operand: Operand,
}

/// What an instruction computes for each record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Code {
    /// A uniform.
    Fill(u32),
    /// A uniform, plus uniforms times record values, each product added with one rounding.
    Dot(u32, Box<[(u32, Operand)]>),
    /// The product of two lines.
    Product([Line; 2]),
    /// A function of one value.
    Unary(Unary, Operand),
    /// A function of two values.
    Binary(Binary, Operand, Operand),
    /// A choice between two values.
    Select(Operand, Operand, Operand),
    /// An entry of a run of uniforms: index, first, count.
    Gather(Operand, u32, u32),
}

/// One instruction over records.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Step {
    pub(crate) code: Code,
    pub(crate) out: Place,
}

/// One instruction over uniforms: the next slot's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum UniformStep {
    /// A number.
    Constant(f64),
    /// A coordinate of θ.
    Parameter(u32),
    /// A copy of an earlier slot.
    Copy(u32),
    /// A function of an earlier slot.
    Unary(Unary, u32),
    /// A function of two earlier slots.
    Binary(Binary, u32, u32),
    /// A choice between two earlier slots.
    Select(u32, u32, u32),
    /// An entry of a run of slots, by an earlier slot's value.
    Gather(u32, u32, u32),
}

/// Expressions compiled for blocks of records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    /// Sets this program's uniforms apart from another's in memory that both use.
    pub(crate) identity: u64,
    pub(crate) uniforms: Vec<UniformStep>,
    pub(crate) steps: Vec<Step>,
    pub(crate) registers: usize,
    /// The slots of the roots that depend on θ alone, in the order of the roots; a root of the record has none.
    pub(crate) roots: Vec<Option<u32>>,
}

impl Program {
    /// Compiles `roots`: output k is root k. Adds nodes to the graph where sums are regrouped.
    pub(crate) fn new(graph: &mut Graph, roots: &[Id]) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut lowering = Lowering::new(graph, roots);
        for (output, root) in roots.iter().enumerate() {
            lowering.root(*root, u32::try_from(output).unwrap_or(u32::MAX));
        }
        let Lowering { uniforms, mut steps, slots, .. } = lowering;
        let registers = assign(&mut steps);
        let roots = roots.iter().map(|root| slots.get(root).copied()).collect();
        Self { identity: NEXT.fetch_add(1, Ordering::Relaxed), uniforms, steps, registers, roots }
    }

    /// Evaluates the uniforms at θ, one slot after another.
    pub(crate) fn evaluate(&self, theta: &[f64], slots: &mut Vec<f64>) {
        slots.clear();
        for step in &self.uniforms {
            let at = |slot: u32| slots[slot as usize];
            let value = match *step {
                UniformStep::Constant(value) => value,
                UniformStep::Parameter(index) => theta.get(index as usize).copied().unwrap_or(f64::NAN),
                UniformStep::Copy(slot) => at(slot),
                UniformStep::Unary(op, a) => op.at(at(a)),
                UniformStep::Binary(op, a, b) => op.at(at(a), at(b)),
                UniformStep::Select(c, a, b) => {
                    if at(c) != 0.0 {
                        at(a)
                    } else {
                        at(b)
                    }
                }
                UniformStep::Gather(index, first, count) => {
                    slots[first as usize + super::graph::place(at(index), count as usize)]
                }
            };
            slots.push(value);
        }
    }
}

/// A sum of at most this many terms is computed again rather than kept in a register.
const SHORT: u32 = 2;
/// A sum nested deeper than this is kept however few terms it has: opening it again and again would take long.
const DEEP: u32 = 16;
/// In sums of more squares than this no pairs are looked for.
const SQUARES: usize = 8;

/// What is known while a program is being written.
struct Lowering<'g> {
    graph: &'g mut Graph,
    /// How often the record's part of the roots uses a node.
    uses: Vec<u32>,
    /// How many terms a node's sum has; 1 where it is no sum.
    sizes: Vec<u32>,
    /// How many sums a node's sum is nested in.
    depths: Vec<u32>,
    uniforms: Vec<UniformStep>,
    /// Where a node's uniform is.
    slots: BTreeMap<Id, u32>,
    steps: Vec<Step>,
    /// Which virtual register holds a node.
    held: BTreeMap<Id, u32>,
    next: u32,
}

/// A uniform, and uniforms times nodes of the record.
struct Sum {
    start: Id,
    terms: Vec<(Id, Id)>,
}

/// start + weight·atom.
type Factor = (Id, (Id, Id));

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

impl<'g> Lowering<'g> {
    fn new(graph: &'g mut Graph, roots: &[Id]) -> Self {
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
    fn is_kept(&self, id: Id) -> bool {
        let known = |list: &[u32]| list.get(id as usize).copied().unwrap_or(1);
        let long = known(&self.sizes) > SHORT || known(&self.depths) > DEEP;
        self.held.contains_key(&id) || (known(&self.uses) > 1 && long)
    }

    /// Writes a root to its output.
    fn root(&mut self, id: Id, output: u32) {
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

    /// A product of two values of the record, or a square, as one of lines, unless both are plain values.
    fn factors(&mut self, id: Id) -> Option<[Factor; 2]> {
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
    fn sum(&mut self, id: Id) -> Option<Sum> {
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

    /// The slot of a node that does not depend on the record.
    fn uniform(&mut self, root: Id) -> u32 {
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

impl Code {
    /// The registers it reads.
    pub(crate) fn registers(&mut self) -> Vec<&mut u32> {
        let operands: Vec<&mut Operand> = match self {
            Self::Fill(_) => Vec::new(),
            Self::Dot(_, terms) => terms.iter_mut().map(|(_, operand)| operand).collect(),
            Self::Product(lines) => lines.iter_mut().map(|line| &mut line.operand).collect(),
            Self::Unary(_, a) | Self::Gather(a, ..) => vec![a],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Select(c, a, b) => vec![c, a, b],
        };
        let mut registers = Vec::new();
        for operand in operands {
            match operand {
                Operand::Register(register) => registers.push(register),
                Operand::Column(_) | Operand::Uniform(_) => {}
            }
        }
        registers
    }
}

/// Gives every virtual register a real one, free again after its last use, and returns how many there are. No instruction
/// writes a register that it reads.
fn assign(steps: &mut [Step]) -> usize {
    let mut last: BTreeMap<u32, usize> = BTreeMap::new();
    for (place, step) in steps.iter_mut().enumerate() {
        step.code.registers().into_iter().for_each(|register| {
            last.insert(*register, place);
        });
    }
    let (mut real, mut free, mut count) = (BTreeMap::new(), Vec::new(), 0);
    for (place, step) in steps.iter_mut().enumerate() {
        let mut ended: Vec<u32> = Vec::new();
        for register in step.code.registers() {
            let virtual_one = *register;
            *register = real.get(&virtual_one).copied().unwrap_or(0);
            if last.get(&virtual_one) == Some(&place) && !ended.contains(register) {
                ended.push(*register);
            }
        }
        if let Place::Register(register) = &mut step.out {
            let own = free.pop().unwrap_or_else(|| {
                count += 1;
                count - 1
            });
            real.insert(*register, own);
            *register = own;
        }
        free.extend(ended);
    }
    count as usize
}

#[cfg(test)]
mod tests;
