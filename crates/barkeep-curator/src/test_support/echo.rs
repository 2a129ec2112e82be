//! Programs for tests whose terms are the record itself, with codes for values no table would admit.

use crate::{Asked, Shape, Table, TableBuilder, Term};
use barkeep_data::Schema;
use barkeep_machine::{self as machine, Binary, Fold, Output, Program, Source, Step, Writer};
use std::sync::LazyLock;

/// What a record cannot hold but a term can be: not-a-number, infinities, subnormals, numbers whose squares overflow.
pub(crate) const EXTREMES: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, f64::MAX, 5e-324, -2e-310, 1e160, -0.0];

/// A column value of `CODE` + k stands for the k-th extreme.
const CODE: f64 = 1e6;

/// The column value that makes [`decoded`] write `term`, an ordinary number or an extreme.
pub(crate) fn encode(term: f64) -> f64 {
    let same = |extreme: &f64| extreme.to_bits() == term.to_bits();
    EXTREMES.iter().position(same).map_or(term, |k| CODE + k as f64)
}

/// The terms that the first columns stand for.
pub(crate) fn decoded(w: &mut Writer, columns: usize) -> Vec<Source> {
    let first = w.constants(&EXTREMES);
    (0..columns as u32)
        .map(|column| {
            let value = Source::Column(column);
            let index = w.sub(value, CODE);
            let extreme = w.step(Step::Gather { index, first, count: EXTREMES.len() as u32 });
            let is_ordinary = w.binary(Binary::Less, value, CODE);
            w.select(is_ordinary, value, extreme)
        })
        .collect()
}

/// The programs over records of this many columns, fewer than eight.
pub(crate) struct Echo {
    /// Writes the first term, as if it were a log-ratio.
    pub(crate) ratio: Program,
    /// Writes all terms, as if they were a gradient.
    pub(crate) gradient: machine::Term,
    /// Writes all terms and, over units, a seventh of their products.
    pub(crate) score: machine::Term,
}

static ECHOES: LazyLock<Vec<Echo>> = LazyLock::new(|| (1..8).map(Echo::new).collect());

impl Echo {
    pub(crate) fn of(columns: usize) -> &'static Self {
        &ECHOES[columns - 1]
    }

    fn new(columns: usize) -> Self {
        let mut w = Writer::default();
        let terms = decoded(&mut w, columns);
        let ratio = w.clone().finish([Output::Dense(terms[0])]).unwrap();
        let row = w.finish(terms.into_iter().map(Output::Dense)).unwrap();
        let mut w = Writer::default();
        let entry = |j: usize| Source::Column(j as u32);
        let mut outputs: Vec<Output> = (0..columns).map(|j| Output::Dense(entry(j))).collect();
        for j in 0..columns {
            for k in j..columns {
                let product = w.mul(entry(j), entry(k));
                outputs.push(Output::Dense(w.mul(1.0 / 7.0, product)));
            }
        }
        let unit = w.finish(outputs).unwrap();
        let score = machine::Term::new(row.clone(), Fold::Sum, Some(unit)).unwrap();
        Self { ratio, gradient: machine::Term::of(row), score }
    }
}

/// A term within a ball.
pub(crate) fn ball(term: &machine::Term) -> Term<'_> {
    Term::Program(Asked { term, shape: Shape::Ball })
}

/// A table of records with the given terms, one row each.
pub(crate) fn table(rows: &[Vec<f64>]) -> Table {
    let names = (0..rows[0].len()).map(|j| format!("x{j}"));
    let mut builder = TableBuilder::new(Schema::unbounded(names).unwrap(), rows.len()).unwrap();
    for row in rows {
        builder.push_row(&row.iter().map(|&term| encode(term)).collect::<Vec<_>>()).unwrap();
    }
    builder.finish().unwrap()
}
