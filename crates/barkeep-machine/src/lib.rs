//! Runs questions over records: a [`Program`] is public data, and this crate alone executes it.
//!
//! Four nouns. A [`Block`] shows up to a thousand records, column by column. A [`Program`] is a straight list of [`Step`]s,
//! each an elementwise operation over columns and earlier steps, with [`Output`]s that leave it. A [`Machine`] holds the registers
//! and runs a program over a tile of records. A [`Writer`] helps to write programs; it is not trusted, since
//! [`Program::new`] checks whatever it is given.
//!
//! # What is guaranteed
//!
//! **Lemma (a record's term is its own).** The outputs of record i are a function of record i and of the program. Proof: every
//! operation computes lane i of its result from lane i of its operands, from constants, and from nothing else; there is no operation
//! across lanes. An operand is a column of the tile, a constant, or an earlier step, which was computed in this
//! very tile: [`Program::new`] refuses a step that reads a later one, so that no register is read before this tile wrote it. By
//! induction over the steps, lane i depends on record i alone. ∎
//!
//! **Lemma (the same work for all).** The list of operations that are executed, and their number, depend on the program and on the number of
//! records, never on what a record says. Proof: there is no jump. A repetition has a constant count; a choice evaluates both
//! sides and selects. Every [`Unary`] and [`Binary`] function is written without branches on its argument. A look-up in a table touches one of
//! its entries, which a cache may show to somebody who shares the machine; timing is no part of the guarantee. ∎
//!
//! Both hold whatever the program computes. So nothing that is written in a program can break privacy: the core bounds what each
//! record adds to a sum, whatever the program's outputs are.

mod block;
mod bytes;
mod functions;
mod op;
mod program;
mod run;
mod term;
mod writer;

pub use block::{BLOCK, Beside, Block, Levels, Place};
pub use functions::{digamma, ln_gamma, softplus, softplus_difference, trigamma};
pub use op::{Binary, Unary, place};
pub use program::{Line, MOST_LEVELS, MOST_WIDTH, Output, Program, Source, Step, Unsound};
pub use run::{Machine, Share, TILE};
pub use term::{Fold, Term};
pub use writer::{Operand, Writer};
