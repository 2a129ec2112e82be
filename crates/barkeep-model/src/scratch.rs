//! Lends models a machine that outlives the call, so that its registers are allocated once.

use barkeep_machine::{Block, Machine, Program, Unsound};

/// Reusable working memory of one thread.
///
/// **Privacy.** Holds values computed from records; no `Debug`, `Clone` or `Serialize`.
///
/// ```compile_fail,E0277
/// println!("{:?}", barkeep_model::Scratch::new());
/// ```
#[derive(Default)]
pub struct Scratch {
    machine: Machine,
}

impl Scratch {
    /// Empty working memory; grows to what the first program needs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes entry k of record i to `out[k·len + i]`, where len is the block's length; not numbers where the machine refuses the program.
    pub(crate) fn run(&mut self, program: Result<Program, Unsound>, block: Block<'_>, out: &mut [f64]) {
        match program {
            Ok(program) => self.machine.write_all(&program, block, out),
            Err(_) => out.fill(f64::NAN),
        }
    }
}
