//! Turns expressions into programs of the machine.
//!
//! What depends on θ alone is a *uniform*: computed once per question, one number each. What depends on the record becomes
//! [`Step`](barkeep_machine::Step)s whose constants are the uniforms' slots. Sums of uniform multiples of record values, however nested,
//! become one [`Step::Dot`](barkeep_machine::Step::Dot). The steps are the same for every record and every θ.

mod lowering;
mod sums;

use barkeep_data::Block;
use barkeep_machine::{Binary, Machine, Output, Program, Unary, Unsound, place};

use self::lowering::Lowering;
use super::graph::{Graph, Id};

/// One instruction over uniforms: the next slot's value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum UniformStep {
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

/// What depends on θ alone, slot after slot.
#[derive(Debug, Clone, Default)]
struct Slots(Vec<UniformStep>);

impl Slots {
    /// Evaluates them at θ, which may come in parts.
    fn at(&self, theta: &[&[f64]]) -> Vec<f64> {
        let theta = theta.concat();
        let mut slots: Vec<f64> = Vec::with_capacity(self.0.len());
        for step in &self.0 {
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
                    slots[first as usize + place(at(index), count as usize)]
                }
            };
            slots.push(value);
        }
        slots
    }
}

/// Expressions of θ alone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uniforms {
    slots: Slots,
    roots: Vec<u32>,
}

impl Uniforms {
    /// Compiles `roots`, none of which reads a record.
    pub(crate) fn new(graph: &mut Graph, roots: &[Id]) -> Self {
        let mut lowering = Lowering::new(graph, roots);
        let roots = roots.iter().map(|root| lowering.uniform(*root)).collect();
        Self { slots: Slots(lowering.uniforms), roots }
    }

    /// Their values at θ.
    pub(crate) fn at(&self, theta: &[f64]) -> Vec<f64> {
        let slots = self.slots.at(&[theta]);
        self.roots.iter().map(|root| slots[*root as usize]).collect()
    }

    /// The number of slots.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.slots.0.len()
    }
}

/// Expressions of the record and θ: a program whose constants are uniforms.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// Sets this template apart from another in memory that both use.
    identity: u64,
    slots: Slots,
    program: Program,
}

impl Template {
    /// Compiles `roots`: output k is root k. Adds nodes to the graph where sums are regrouped.
    ///
    /// # Errors
    /// [`Unsound`] where there is more than the machine runs.
    pub(crate) fn new(graph: &mut Graph, roots: &[Id]) -> Result<Self, Unsound> {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut lowering = Lowering::new(graph, roots);
        let outputs = roots.iter().map(|root| Output::Dense(lowering.root(*root))).collect();
        let Lowering { uniforms, steps, .. } = lowering;
        let program = Program::new(steps, outputs, vec![0.0; uniforms.len()])?;
        Ok(Self { identity: NEXT.fetch_add(1, Ordering::Relaxed), slots: Slots(uniforms), program })
    }

    /// The program at θ, which may come in parts.
    ///
    /// # Errors
    /// None: there are as many slots as constants.
    pub(crate) fn at(&self, theta: &[&[f64]]) -> Result<Program, Unsound> {
        self.program.with_constants(self.slots.at(theta))
    }

    /// Writes output k of record i to `out[k·len + i]`, where len is the block's length.
    ///
    /// `theta` is compared with the last one by its bits: what depends on it alone is computed once per question.
    pub(crate) fn run(&self, block: Block<'_>, theta: &[&[f64]], out: &mut [f64], workspace: &mut Workspace) {
        let given = || theta.iter().flat_map(|part| part.iter().copied());
        let same = workspace.identity == self.identity
            && workspace.theta.len() == theta.iter().map(|part| part.len()).sum::<usize>()
            && workspace.theta.iter().zip(given()).all(|(old, new)| old.to_bits() == new.to_bits());
        if !same {
            workspace.theta.clear();
            workspace.theta.extend(given());
            workspace.program = self.at(theta).ok();
            workspace.identity = self.identity;
        }
        let Workspace { machine, program: Some(program), values, .. } = workspace else { return };
        // The machine has blocks of its own.
        values.clear();
        for column in 0..program.columns().last().map_or(0, |last| last + 1) {
            match program.columns().binary_search(&column) {
                Ok(_) => values.extend_from_slice(block.column(column as usize)),
                Err(_) => values.resize(values.len() + block.len(), 0.0),
            }
        }
        machine.write_all(program, barkeep_machine::Block::over(values, block.len(), block.len()), out);
    }

    /// The number of instructions, over records and uniforms.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.program.steps().len() + self.slots.0.len()
    }
}

/// Working memory of templates: the machine, and the program at the θ that was asked last.
///
/// **Privacy.** The machine's registers, and the columns it reads, hold values of records; no `Debug`, `Clone` or `Serialize`. The program depends on
/// θ, which is public.
#[derive(Default)]
pub(crate) struct Workspace {
    machine: Machine,
    program: Option<Program>,
    values: Vec<f64>,
    theta: Vec<f64>,
    /// The template of that program.
    identity: u64,
}

#[cfg(test)]
mod tests;
