//! Turns expressions into programs of the machine.
//!
//! What depends on θ alone is a *uniform*: computed once per question, one number each. What depends on the record becomes
//! [`Step`](barkeep_machine::Step)s whose constants are the uniforms' slots. Sums of uniform multiples of record values, however nested,
//! become one [`Step::Dot`](barkeep_machine::Step::Dot). The steps are the same for every record and every θ.

mod lowering;
mod sums;

use barkeep_machine::{Binary, Output, Program, Unary, Unsound, place};

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
    slots: Slots,
    program: Program,
}

impl Template {
    /// Compiles `roots`: output k is root k. Adds nodes to the graph where sums are regrouped.
    ///
    /// # Errors
    /// [`Unsound`] where there is more than the machine runs.
    pub(crate) fn new(graph: &mut Graph, roots: &[Id]) -> Result<Self, Unsound> {
        let mut lowering = Lowering::new(graph, roots);
        let outputs = roots.iter().map(|root| Output::Dense(lowering.root(*root))).collect();
        let Lowering { uniforms, steps, .. } = lowering;
        let program = Program::new(steps, outputs, vec![0.0; uniforms.len()])?;
        Ok(Self { slots: Slots(uniforms), program })
    }

    /// The program at θ, which may come in parts.
    ///
    /// # Errors
    /// None: there are as many slots as constants.
    pub(crate) fn at(&self, theta: &[&[f64]]) -> Result<Program, Unsound> {
        self.program.with_constants(self.slots.at(theta))
    }

    /// The number of instructions, over records and uniforms.
    #[cfg(test)]
    pub(crate) fn size(&self) -> usize {
        self.program.steps().len() + self.slots.0.len()
    }
}

#[cfg(test)]
mod tests;
