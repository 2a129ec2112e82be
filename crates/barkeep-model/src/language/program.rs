//! Turns expressions into a fixed list of instructions, each of which works on many records at once.
//!
//! What depends on θ alone is a *uniform*: computed once per question, one number each. What depends on the record is a list of
//! [`Step`]s over registers of [`LANE`](super::block::LANE) records. Sums of uniform multiples of record values, however nested, become one
//! [`Code::Dot`]. Registers are assigned here, once. The list is the same for every record and every θ.

mod lowering;
mod sums;

use std::collections::BTreeMap;

use self::lowering::Lowering;
use super::graph::{Graph, Id};
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
    /// How many columns it reads.
    pub(crate) columns: usize,
    /// Whether a step is a sum over the same columns as the step after it.
    pub(crate) pairs: Vec<bool>,
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
        let mut columns: Vec<u32> = steps.iter_mut().flat_map(|step| step.code.columns()).collect();
        columns.sort_unstable();
        columns.dedup();
        let columns = columns.len();
        let pairs = steps.windows(2).map(|two| is_pair(&two[0], &two[1])).collect();
        let identity = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { identity, uniforms, steps, registers, columns, pairs, roots }
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

impl Code {
    fn operands(&mut self) -> Vec<&mut Operand> {
        match self {
            Self::Fill(_) => Vec::new(),
            Self::Dot(_, terms) => terms.iter_mut().map(|(_, operand)| operand).collect(),
            Self::Product(lines) => lines.iter_mut().map(|line| &mut line.operand).collect(),
            Self::Unary(_, a) | Self::Gather(a, ..) => vec![a],
            Self::Binary(_, a, b) => vec![a, b],
            Self::Select(c, a, b) => vec![c, a, b],
        }
    }

    /// The columns it reads.
    fn columns(&mut self) -> Vec<u32> {
        let mut columns = Vec::new();
        for operand in self.operands() {
            match operand {
                Operand::Column(column) => columns.push(*column),
                Operand::Register(_) | Operand::Uniform(_) => {}
            }
        }
        columns
    }

    /// The registers it reads.
    pub(crate) fn registers(&mut self) -> Vec<&mut u32> {
        let mut registers = Vec::new();
        for operand in self.operands() {
            match operand {
                Operand::Register(register) => registers.push(register),
                Operand::Column(_) | Operand::Uniform(_) => {}
            }
        }
        registers
    }
}

/// Whether two steps are sums over the same columns, and nothing else.
fn is_pair(first: &Step, second: &Step) -> bool {
    let (Code::Dot(_, terms), Code::Dot(_, others)) = (&first.code, &second.code) else { return false };
    terms.len() == others.len()
        && terms
            .iter()
            .zip(others)
            .all(|((_, one), (_, other))| one == other && matches!(one, Operand::Column(_)))
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
