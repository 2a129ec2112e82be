//! What the Python package `barkeep` calls: one function a plan, a run or an answer, none a step.
//!
//! Frames come in as records, public words and numbers go out. Python's own side of the package holds names, defaults and
//! how things look; every check and every message is the engine's.

mod answers;
mod books;
mod columns;
mod engine;
mod failure;
mod plan;
mod run;
mod spec;
mod stream;

use pyo3::prelude::*;

/// The extension module.
#[pymodule]
mod _barkeep {
    #[pymodule_export]
    use super::answers::{
        account, audit, audit_all, mechanisms, predict, program, report, samplers, simulate, verify,
    };
    #[pymodule_export]
    use super::books::Books;
    #[pymodule_export]
    use super::engine::{Engine, partial};
    #[pymodule_export]
    use super::plan::Plan;
    #[pymodule_export]
    use super::run::{Saved, new_run, resume_run};
    #[pymodule_export]
    use super::spec::check_schema;
    #[pymodule_export]
    use super::stream::identifiers;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // A panic message may carry a value derived from records; its place in the source cannot.
        barkeep_cli::hide_panics();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
