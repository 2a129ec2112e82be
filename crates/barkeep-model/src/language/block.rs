//! Runs a program over a block of records, many records an instruction, with the widest vector instructions of the machine.
//!
//! Every loop does the operations of [`op`](super::op) on each record by itself, so that a record's result has the same bits
//! wherever the record stands, whatever stands beside it, and on every machine.

use barkeep_data::Block;
use barkeep_num::vector::{dispatch, scalar};

use super::graph::place;
use super::op::{self, Binary, Unary, binary, unary};
use super::program::{Code, Line, Operand, Place, Program, Step};

/// The most records of one instruction, the length of a register.
pub(crate) const LANE: usize = 512;

/// The records of one instruction over so many columns: many, since each instruction has its price, but so few that columns which
/// are read twice stay in the first cache.
fn lane(columns: usize) -> usize {
    match columns {
        0..=4 => LANE,
        5.. => LANE / 2,
    }
}

/// One register.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[repr(align(64))]
struct Register([f64; LANE]);

/// Working memory of programs: registers, and the uniforms of the θ that was asked last.
///
/// **Privacy.** Registers hold values computed from records; no `Debug`, `Clone` or `Serialize`. Uniforms depend on θ, which is
/// public.
#[derive(Default)]
pub(crate) struct Workspace {
    registers: Vec<Option<Box<Register>>>,
    uniforms: Vec<f64>,
    theta: Vec<f64>,
    /// The program whose uniforms these are.
    identity: u64,
    /// How many instructions were executed.
    #[cfg(test)]
    pub(crate) executed: u64,
}

/// What an instruction reads: a value per record, or one for all.
#[derive(Clone, Copy)]
enum Source<'a> {
    Each(&'a [f64]),
    All(f64),
}

impl Program {
    /// Writes output k of record i to `out[k·len + i]`, where len is the block's length.
    ///
    /// `theta` is compared with the last one by its bits: what depends on it alone is computed once per question.
    pub(crate) fn run(&self, block: Block<'_>, theta: &[&[f64]], out: &mut [f64], workspace: &mut Workspace) {
        self.prepare(theta, workspace);
        while workspace.registers.len() < self.registers {
            workspace.registers.push(Some(Box::new(Register([0.0; LANE]))));
        }
        let length = block.len();
        let mut start = 0;
        for tile in block.tiles(lane(self.columns)) {
            self.run_tile(tile, (start, length), out, workspace);
            start += tile.len();
        }
    }

    fn prepare(&self, theta: &[&[f64]], workspace: &mut Workspace) {
        let given = || theta.iter().flat_map(|part| part.iter().copied());
        let same = workspace.identity == self.identity
            && workspace.theta.len() == theta.iter().map(|part| part.len()).sum::<usize>()
            && workspace.theta.iter().zip(given()).all(|(old, new)| old.to_bits() == new.to_bits());
        if !same {
            workspace.theta.clear();
            workspace.theta.extend(given());
            self.evaluate(&workspace.theta, &mut workspace.uniforms);
            workspace.identity = self.identity;
        }
    }

    fn run_tile(
        &self,
        tile: Block<'_>,
        (start, stride): (usize, usize),
        out: &mut [f64],
        workspace: &mut Workspace,
    ) {
        let length = tile.len();
        let Workspace { registers, uniforms, .. } = workspace;
        let mut steps = self.steps.iter().enumerate();
        while let Some((place, step)) = steps.next() {
            #[cfg(test)]
            {
                workspace.executed += 1;
            }
            if let Some(second) = self.steps.get(place + 1).filter(|_| self.pairs.get(place) == Some(&true))
                && pair(step, second, tile, registers, uniforms)
            {
                #[cfg(test)]
                {
                    workspace.executed += 1;
                }
                steps.next();
                continue;
            }
            match step.out {
                Place::Register(register) => {
                    let Some(mut taken) = registers.get_mut(register as usize).and_then(Option::take) else {
                        continue;
                    };
                    execute(&step.code, tile, registers, uniforms, &mut taken.0[..length]);
                    registers[register as usize] = Some(taken);
                }
                Place::Output(output) => {
                    let from = output as usize * stride + start;
                    if let Some(out) = out.get_mut(from..from + length) {
                        execute(&step.code, tile, registers, uniforms, out);
                    }
                }
            }
        }
    }
}

/// What an operand means for a tile. A register that is being written is never read.
#[inline(always)]
fn source<'a>(
    operand: Operand,
    tile: Block<'a>,
    registers: &'a [Option<Box<Register>>],
    uniforms: &[f64],
) -> Source<'a> {
    match operand {
        Operand::Column(index) => Source::Each(tile.column(index as usize)),
        Operand::Register(index) => match registers.get(index as usize) {
            Some(Some(register)) => Source::Each(&register.0[..tile.len()]),
            Some(None) | None => Source::All(f64::NAN),
        },
        Operand::Uniform(slot) => Source::All(uniforms[slot as usize]),
    }
}

fn execute(
    code: &Code,
    tile: Block<'_>,
    registers: &[Option<Box<Register>>],
    uniforms: &[f64],
    out: &mut [f64],
) {
    let source = |operand: Operand| source(operand, tile, registers, uniforms);
    match code {
        Code::Fill(slot) => out.fill(uniforms[*slot as usize]),
        Code::Dot(start, terms) => {
            let mut start = Some(uniforms[*start as usize]);
            for group in terms.chunks(FUSED) {
                dot(start.take(), group, &source, uniforms, out);
            }
        }
        Code::Product([first, second]) => {
            let at = |slot: u32| uniforms[slot as usize];
            let values = |line: &Line| match source(line.operand) {
                Source::Each(values) => values,
                Source::All(_) => &[],
            };
            let ([p, q], [r, s]) =
                ([first, second].map(|line| at(line.start)), [first, second].map(|line| at(line.weight)));
            if first.operand == second.operand {
                zip(
                    [values(first)],
                    out,
                    #[inline(always)]
                    move |[x]| r.mul_add(x, p) * s.mul_add(x, q),
                );
            } else {
                zip(
                    [values(first), values(second)],
                    out,
                    #[inline(always)]
                    move |[x, y]| r.mul_add(x, p) * s.mul_add(y, q),
                );
            }
        }
        Code::Unary(op, a) => match source(*a) {
            Source::Each(a) => each(*op, a, out),
            Source::All(a) => out.fill(op.at(a)),
        },
        Code::Binary(op, a, b) => match (source(*a), source(*b)) {
            (Source::Each(a), Source::Each(b)) => both(*op, a, b, out),
            (Source::Each(a), Source::All(b)) => left(*op, a, b, out),
            (Source::All(a), Source::Each(b)) => right(*op, a, b, out),
            (Source::All(a), Source::All(b)) => out.fill(op.at(a, b)),
        },
        Code::Select(condition, a, b) => {
            let condition = match source(*condition) {
                Source::Each(condition) => condition,
                Source::All(condition) => {
                    match source(if condition != 0.0 { *a } else { *b }) {
                        Source::Each(chosen) => out.copy_from_slice(chosen),
                        Source::All(chosen) => out.fill(chosen),
                    }
                    return;
                }
            };
            match (source(*a), source(*b)) {
                (Source::Each(a), Source::Each(b)) => {
                    zip(
                        [condition, a, b],
                        out,
                        #[inline(always)]
                        |[c, a, b]| if c != 0.0 { a } else { b },
                    );
                }
                (Source::Each(a), Source::All(b)) => {
                    zip(
                        [condition, a],
                        out,
                        #[inline(always)]
                        move |[c, a]| if c != 0.0 { a } else { b },
                    );
                }
                (Source::All(a), Source::Each(b)) => {
                    zip(
                        [condition, b],
                        out,
                        #[inline(always)]
                        move |[c, b]| if c != 0.0 { a } else { b },
                    );
                }
                (Source::All(a), Source::All(b)) => {
                    zip(
                        [condition],
                        out,
                        #[inline(always)]
                        move |[c]| if c != 0.0 { a } else { b },
                    );
                }
            }
        }
        Code::Gather(index, first, count) => {
            let table = &uniforms[*first as usize..(*first + *count) as usize];
            match source(*index) {
                Source::Each(index) => {
                    for (out, index) in out.iter_mut().zip(index) {
                        *out = table[place(*index, table.len())];
                    }
                }
                Source::All(index) => out.fill(table[place(index, table.len())]),
            }
        }
    }
}

/// Computes two sums over the same columns, each read once: the bits of one after the other. False where they are none.
fn pair(
    first: &Step,
    second: &Step,
    tile: Block<'_>,
    registers: &mut [Option<Box<Register>>],
    uniforms: &[f64],
) -> bool {
    let (Place::Register(one), Place::Register(two)) = (first.out, second.out) else { return false };
    let (Code::Dot(p, terms), Code::Dot(q, others)) = (&first.code, &second.code) else { return false };
    let is_there = |register: u32| matches!(registers.get(register as usize), Some(Some(_)));
    if one == two || !is_there(one) || !is_there(two) {
        return false;
    }
    let (Some(mut left), Some(mut right)) = (registers[one as usize].take(), registers[two as usize].take())
    else {
        return false;
    };
    let length = tile.len();
    let (out, other) = (&mut left.0[..length], &mut right.0[..length]);
    out.fill(uniforms[*p as usize]);
    other.fill(uniforms[*q as usize]);
    for (terms, others) in terms.chunks(FUSED).zip(others.chunks(FUSED)) {
        let (mut columns, mut weights) = ([&[][..]; FUSED], [[0.0; FUSED]; 2]);
        for (k, ((slot, operand), (other, _))) in terms.iter().zip(others).enumerate() {
            weights[0][k] = uniforms[*slot as usize];
            weights[1][k] = uniforms[*other as usize];
            if let Operand::Column(index) = operand {
                columns[k] = tile.column(*index as usize);
            }
        }
        match terms.len() {
            1 => add_both::<1>(&columns, &weights, out, other),
            2 => add_both::<2>(&columns, &weights, out, other),
            3 => add_both::<3>(&columns, &weights, out, other),
            _ => add_both::<4>(&columns, &weights, out, other),
        }
    }
    registers[one as usize] = Some(left);
    registers[two as usize] = Some(right);
    true
}

#[inline(always)]
fn add_both<const K: usize>(
    columns: &[&[f64]; FUSED],
    weights: &[[f64; FUSED]; 2],
    out: &mut [f64],
    other: &mut [f64],
) {
    let columns: [&[f64]; K] = std::array::from_fn(|k| columns[k]);
    let [p, q]: [[f64; K]; 2] = weights.map(|weights| std::array::from_fn(|k| weights[k]));
    dispatch(
        #[inline(always)]
        || {
            let length =
                columns.iter().fold(out.len().min(other.len()), |length, column| length.min(column.len()));
            let (out, other, columns) =
                (&mut out[..length], &mut other[..length], columns.map(|column| &column[..length]));
            for i in 0..length {
                let (mut one, mut two) = (out[i], other[i]);
                for k in 0..K {
                    let x = columns[k][i];
                    one = p[k].mul_add(x, one);
                    two = q[k].mul_add(x, two);
                }
                (out[i], other[i]) = (one, two);
            }
        },
    );
}

/// The number of terms that one pass adds up.
const FUSED: usize = 4;

/// Adds up to [`FUSED`] terms, from `start` or from what stands in `out`.
fn dot<'a>(
    start: Option<f64>,
    terms: &[(u32, Operand)],
    source: &impl Fn(Operand) -> Source<'a>,
    uniforms: &[f64],
    out: &mut [f64],
) {
    let mut columns: [&[f64]; FUSED] = [&[]; FUSED];
    let mut weights = [0.0; FUSED];
    for ((column, weight), (slot, operand)) in columns.iter_mut().zip(&mut weights).zip(terms) {
        *weight = uniforms[*slot as usize];
        *column = match source(*operand) {
            Source::Each(values) => values,
            Source::All(_) => &[],
        };
    }
    match terms.len() {
        1 => add::<1>(&columns, &weights, start, out),
        2 => add::<2>(&columns, &weights, start, out),
        3 => add::<3>(&columns, &weights, start, out),
        _ => add::<4>(&columns, &weights, start, out),
    }
}

#[inline(always)]
fn add<const K: usize>(
    columns: &[&[f64]; FUSED],
    weights: &[f64; FUSED],
    start: Option<f64>,
    out: &mut [f64],
) {
    let (columns, weights): ([&[f64]; K], [f64; K]) =
        (std::array::from_fn(|k| columns[k]), std::array::from_fn(|k| weights[k]));
    #[inline(always)]
    fn pass<const K: usize>(
        columns: [&[f64]; K],
        weights: [f64; K],
        out: &mut [f64],
        first: impl Fn(f64) -> f64,
    ) {
        let length = columns.iter().fold(out.len(), |length, column| length.min(column.len()));
        let (out, columns) = (&mut out[..length], columns.map(|column| &column[..length]));
        for i in 0..length {
            let mut sum = first(out[i]);
            for k in 0..K {
                sum = weights[k].mul_add(columns[k][i], sum);
            }
            out[i] = sum;
        }
    }
    dispatch(
        #[inline(always)]
        || match start {
            Some(start) => pass(
                columns,
                weights,
                out,
                #[inline(always)]
                |_| start,
            ),
            None => pass(
                columns,
                weights,
                out,
                #[inline(always)]
                |sum| sum,
            ),
        },
    );
}

/// Writes f of K columns, record by record.
#[inline(always)]
fn zip<const K: usize>(columns: [&[f64]; K], out: &mut [f64], value: impl Fn([f64; K]) -> f64 + Copy) {
    #[inline(always)]
    fn run<const K: usize>(columns: [&[f64]; K], out: &mut [f64], value: impl Fn([f64; K]) -> f64) {
        let length = columns.iter().fold(out.len(), |length, column| length.min(column.len()));
        let (out, columns) = (&mut out[..length], columns.map(|column| &column[..length]));
        for i in 0..length {
            out[i] = value(columns.map(|column| column[i]));
        }
    }
    dispatch(
        #[inline(always)]
        || run(columns, out, value),
    );
}

fn each(function: Unary, a: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $value:expr) => {
            zip(
                [a],
                out,
                #[inline(always)]
                |[$x]| $value,
            )
        };
    }
    unary!(function, x => run)
}

fn both(function: Binary, a: &[f64], b: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [a, b],
                out,
                #[inline(always)]
                |[$x, $y]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}

fn left(function: Binary, a: &[f64], y: f64, out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [a],
                out,
                #[inline(always)]
                |[$x]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}

fn right(function: Binary, x: f64, b: &[f64], out: &mut [f64]) {
    macro_rules! run {
        ($x:ident, $y:ident, $value:expr) => {
            zip(
                [b],
                out,
                #[inline(always)]
                |[$y]| $value,
            )
        };
    }
    binary!(function, x, y => run)
}

#[cfg(test)]
mod tests;
