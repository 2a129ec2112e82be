//! Runs a program over a tile of records, an instruction at a time, with the widest vector instructions of the machine.
//!
//! Every loop does the operations of [`op`](crate::op) on each record by itself, so that a record's result has the same bits
//! wherever the record stands, whatever stands next to it, and on every machine.

mod lanes;

use barkeep_num::vector::dispatch;

use self::lanes::{Read, both, each, left, right, three, two};
use crate::block::{Block, Levels};
use crate::op::place;
use crate::program::{Line, Output, Program, Source, Step};

/// The most records of a tile, the length of a register: enough to pay for an instruction, and few enough that the registers of a short program stay
/// in the first cache.
pub const TILE: usize = 256;

/// One register.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[repr(align(64))]
struct Register([f64; TILE]);

/// The registers of programs; grows with the longest one and stays.
///
/// **Privacy.** Holds values computed from records; no `Debug`, `Clone` or `Serialize`.
#[derive(Default)]
pub struct Machine {
    registers: Vec<Option<Box<Register>>>,
    /// For outputs by level, the entries of a tile's records where no block keeps them.
    entries: Vec<Vec<u32>>,
}

/// One output of a tile.
///
/// **Privacy.** Holds values computed from records; no `Debug`.
#[derive(Clone, Copy)]
pub enum Share<'a> {
    /// An entry of every record.
    Dense(&'a [f64]),
    /// A value of every record that belongs to one of `count` entries, or to none.
    Indexed {
        /// The values.
        values: &'a [f64],
        /// `code` plus the entry; what differs from `code` by `count` or more, without a sign, is none.
        index: &'a [u32],
        /// The index of the first entry.
        code: u32,
        /// The number of entries.
        count: usize,
    },
}

/// A tile with everything an instruction may read.
#[derive(Clone, Copy)]
struct Sight<'a> {
    program: &'a Program,
    tile: Block<'a>,
    registers: &'a [Option<Box<Register>>],
    round: usize,
}

impl<'a> Sight<'a> {
    fn constant(self, place: u32) -> f64 {
        self.program.constants[place as usize]
    }

    fn register(self, place: usize) -> Read<'a> {
        match self.registers.get(place) {
            Some(Some(register)) => Read::Each(&register.0[..self.tile.len()]),
            // No checked program reads a register that it writes, or one that is not there.
            Some(None) | None => Read::All(f64::NAN),
        }
    }

    #[inline(always)]
    fn read(self, source: Source) -> Read<'a> {
        match source {
            // What is not there as a column of its own is not a number: no loop stops early, and no register keeps what another tile left.
            Source::Column(column) => match self.tile.column(column as usize) {
                values if values.len() < self.tile.len() => Read::All(f64::NAN),
                values => Read::Each(values),
            },
            Source::Step(step) => self.register(self.program.code.places[step as usize] as usize),
            Source::Constant(place) => Read::All(self.constant(place)),
            Source::Node(first) => Read::All(self.program.constants[first as usize + self.round]),
            Source::Kept(step) => {
                self.register(self.program.code.places[step as usize] as usize + self.round)
            }
        }
    }
}

impl Machine {
    /// Runs a program over at most [`TILE`] records; [`Machine::share`] shows what it wrote.
    pub fn run(&mut self, program: &Program, tile: Block<'_>) {
        let code = &*program.code;
        while self.registers.len() < code.registers {
            self.registers.push(Some(Box::new(Register([0.0; TILE]))));
        }
        let length = tile.len().min(TILE);
        let (mut next, mut round, mut rounds, mut body) = (0, 0, 0, 0);
        while let Some(step) = code.steps.get(next) {
            match step {
                Step::Begin { count } => {
                    (round, rounds, body) = (0, *count as usize, next + 1);
                    // Carried values are set once.
                    while let Some(Step::Carry(start)) = code.steps.get(body) {
                        self.execute(program, body, tile, 0, length, |sight, out| {
                            copy(sight.read(*start), out)
                        });
                        body += 1;
                    }
                    next = body;
                    continue;
                }
                Step::End(carried) => {
                    let first = body - carried.len();
                    for (k, value) in carried.iter().enumerate() {
                        match value {
                            // A checked repetition carries on its own values: the next round computes them again before anything reads
                            // them, and nothing reads them after the last. So registers can change places.
                            Source::Step(step) if !carried[k + 1..].contains(value) => {
                                let [from, to] = [*step as usize, first + k].map(|step| code.places[step]);
                                self.registers.swap(from as usize, to as usize);
                            }
                            Source::Step(_)
                            | Source::Column(_)
                            | Source::Constant(_)
                            | Source::Node(_)
                            | Source::Kept(_) => {
                                self.execute(program, first + k, tile, 0, length, |sight, out| {
                                    copy(sight.read(*value), out);
                                });
                            }
                        }
                    }
                    round += 1;
                    if round < rounds {
                        next = body;
                        continue;
                    }
                    round = 0;
                }
                Step::Keep(value) => {
                    let value = *value;
                    let at = code.places[next] as usize + round;
                    self.write(at, length, Sight { program, tile, registers: &[], round }, |sight, out| {
                        copy(sight.read(value), out);
                    });
                }
                Step::Dot { .. }
                | Step::Product(_)
                | Step::Unary(..)
                | Step::Binary(..)
                | Step::Fused(..)
                | Step::Select(..)
                | Step::Gather { .. }
                | Step::Carry(_) => {
                    self.execute(program, next, tile, round, length, |sight, out| compute(step, sight, out));
                }
            }
            next += 1;
        }
        self.find_entries(program, tile, length);
    }

    /// Writes the register of a step.
    #[inline(always)]
    fn execute(
        &mut self,
        program: &Program,
        step: usize,
        tile: Block<'_>,
        round: usize,
        length: usize,
        compute: impl FnOnce(Sight<'_>, &mut [f64]),
    ) {
        let at = program.code.places[step] as usize;
        self.write(at, length, Sight { program, tile, registers: &[], round }, compute);
    }

    #[inline(always)]
    fn write(
        &mut self,
        at: usize,
        length: usize,
        sight: Sight<'_>,
        compute: impl FnOnce(Sight<'_>, &mut [f64]),
    ) {
        let Some(mut taken) = self.registers.get_mut(at).and_then(Option::take) else { return };
        compute(Sight { registers: &self.registers, ..sight }, &mut taken.0[..length]);
        self.registers[at] = Some(taken);
    }

    /// Writes the entries of outputs by level that the block does not keep as an index.
    fn find_entries(&mut self, program: &Program, tile: Block<'_>, length: usize) {
        for (k, output) in program.code.outputs.iter().enumerate() {
            let (column, count) = match *output {
                Output::Dense(_) => continue,
                Output::Levels { column, count, .. } | Output::By { column, count, .. } => (column, count),
            };
            if self.entries.len() <= k {
                self.entries.resize_with(k + 1, Vec::new);
            }
            let entries = &mut self.entries[k];
            entries.clear();
            match output {
                Output::Dense(_) => {}
                Output::By { .. } => {
                    let names = tile.column(column as usize).iter();
                    entries.extend(names.map(|name| place(*name, count as usize) as u32));
                }
                Output::Levels { .. } if kept(tile, column, count).is_some() => {}
                Output::Levels { .. } => {
                    entries.resize(length, count);
                    for level in 0..count {
                        let marks = tile.column((column + level) as usize);
                        for (entry, mark) in entries.iter_mut().zip(marks) {
                            *entry = if *mark == 1.0 { level } else { *entry };
                        }
                    }
                }
            }
        }
    }

    /// Output `k` of the program that was run last, over the same tile.
    #[must_use]
    pub fn share<'a>(&'a self, program: &'a Program, tile: Block<'a>, k: usize) -> Share<'a> {
        let sight = Sight { program, tile, registers: &self.registers, round: 0 };
        let Some(output) = program.code.outputs.get(k) else { return Share::Dense(&[]) };
        // A checked output is no constant.
        let values = match sight.read(output.value()) {
            Read::Each(values) => values,
            Read::All(_) => &[],
        };
        match *output {
            Output::Dense(_) => Share::Dense(values),
            Output::Levels { column, count, .. } => match kept(tile, column, count) {
                Some(Levels { code, index, .. }) => {
                    Share::Indexed { values, index, code, count: count as usize }
                }
                None => Share::Indexed { values, index: &self.entries[k], code: 0, count: count as usize },
            },
            Output::By { count, .. } => {
                Share::Indexed { values, index: &self.entries[k], code: 0, count: count as usize }
            }
        }
    }

    /// Runs a program over all records of a block and writes entry k of record i to `out[k·len + i]`.
    pub fn write_all(&mut self, program: &Program, block: Block<'_>, out: &mut [f64]) {
        let records = block.len();
        for (number, tile) in block.tiles(TILE).enumerate() {
            self.run(program, tile);
            let start = number * TILE;
            let mut entry = 0;
            for (k, output) in program.code.outputs.iter().enumerate() {
                match self.share(program, tile, k) {
                    Share::Dense(values) => {
                        out[entry * records + start..][..values.len()].copy_from_slice(values);
                    }
                    Share::Indexed { values, index, code, count } => {
                        for level in 0..count {
                            let out = &mut out[(entry + level) * records + start..][..values.len()];
                            for ((out, value), own) in out.iter_mut().zip(values).zip(index) {
                                let is_own = own.wrapping_sub(code) as usize == level;
                                *out = if is_own { *value } else { 0.0 };
                            }
                        }
                    }
                }
                entry += output.width();
            }
        }
    }
}

/// The index by which a block keeps these columns, all of them.
fn kept(tile: Block<'_>, column: u32, count: u32) -> Option<Levels<'_>> {
    tile.levels_from(column as usize).filter(|levels| levels.count >= count as usize)
}

#[inline(always)]
fn copy(from: Read<'_>, out: &mut [f64]) {
    match from {
        Read::Each(values) => out.copy_from_slice(values),
        Read::All(value) => out.fill(value),
    }
}

/// Computes one instruction.
fn compute(step: &Step, sight: Sight<'_>, out: &mut [f64]) {
    match step {
        Step::Dot { start, first, terms } => dot(sight, *start, *first, terms, out),
        Step::Product(lines) => {
            let [p, q] = lines.map(|line: Line| sight.constant(line.start));
            let [r, s] = lines.map(|line: Line| sight.constant(line.weight));
            let value = |[x, y]: [f64; 2]| r.mul_add(x, p) * s.mul_add(y, q);
            two(sight.read(lines[0].value), sight.read(lines[1].value), out, value);
        }
        Step::Unary(function, a) => match sight.read(*a) {
            Read::Each(a) => each(*function, a, out),
            Read::All(a) => out.fill(function.at(a)),
        },
        Step::Binary(function, a, b) => match (sight.read(*a), sight.read(*b)) {
            (Read::Each(a), Read::Each(b)) => both(*function, a, b, out),
            (Read::Each(a), Read::All(b)) => left(*function, a, b, out),
            (Read::All(a), Read::Each(b)) => right(*function, a, b, out),
            (Read::All(a), Read::All(b)) => out.fill(function.at(a, b)),
        },
        Step::Fused(a, b, c) => {
            three([*a, *b, *c].map(|source| sight.read(source)), out, |[a, b, c]| a.mul_add(b, c));
        }
        Step::Select(c, a, b) => {
            three(
                [*c, *a, *b].map(|source| sight.read(source)),
                out,
                |[c, a, b]| if c != 0.0 { a } else { b },
            );
        }
        Step::Gather { index, first, count } => {
            let table = &sight.program.constants[*first as usize..][..*count as usize];
            match sight.read(*index) {
                Read::Each(index) => {
                    for (out, index) in out.iter_mut().zip(index) {
                        *out = table[place(*index, table.len())];
                    }
                }
                Read::All(index) => out.fill(table[place(index, table.len())]),
            }
        }
        // Carried, kept and repeated by `run`.
        Step::Begin { .. } | Step::Carry(_) | Step::Keep(_) | Step::End(_) => {}
    }
}

/// The number of terms that one pass adds up.
const FUSED: usize = 4;

/// Adds up a dot product, [`FUSED`] values at a time; levels that are kept as an index are looked up.
fn dot(sight: Sight<'_>, start: u32, first: u32, terms: &[Source], out: &mut [f64]) {
    let weights = &sight.program.constants[first as usize..][..terms.len()];
    let mut begin = Some(sight.constant(start));
    let mut next = 0;
    loop {
        let (mut values, mut own) = ([&[][..]; FUSED], [0.0; FUSED]);
        let (mut count, mut levels) = (0, None);
        while next < terms.len() && count < FUSED && levels.is_none() {
            levels = levels_at(sight.tile, &terms[next..]);
            if levels.is_none() {
                // The same number for all records is added where it stands.
                match sight.read(terms[next]) {
                    Read::Each(read) => (values[count], own[count]) = (read, weights[next]),
                    Read::All(value) => {
                        add_up(count, &values, &own, begin.take(), out);
                        out.iter_mut().for_each(|out| *out = weights[next].mul_add(value, *out));
                        next += 1;
                        count = 0;
                        continue;
                    }
                }
                next += 1;
                count += 1;
            }
        }
        add_up(count, &values, &own, begin.take(), out);
        match levels {
            Some(levels) => {
                let length = levels.count.min(terms.len() - next);
                look_up(levels, &weights[next..next + length], out);
                next += length;
            }
            None if next == terms.len() => return,
            None => {}
        }
    }
}

/// The index of the columns at the start of `terms`, where the block keeps them so: as many of them as follow each other.
fn levels_at<'a>(tile: Block<'a>, terms: &[Source]) -> Option<Levels<'a>> {
    let Some(Source::Column(column)) = terms.first() else { return None };
    let levels = tile.levels_from(*column as usize)?;
    let following = terms.iter().zip(*column..).take_while(|(term, at)| **term == Source::Column(*at));
    let count = following.take(levels.count).count();
    Some(Levels { count, ..levels })
}

fn add_up(
    count: usize,
    values: &[&[f64]; FUSED],
    weights: &[f64; FUSED],
    start: Option<f64>,
    out: &mut [f64],
) {
    match count {
        0 => {
            if let Some(start) = start {
                out.fill(start);
            }
        }
        1 => add::<1>(values, weights, start, out),
        2 => add::<2>(values, weights, start, out),
        3 => add::<3>(values, weights, start, out),
        _ => add::<4>(values, weights, start, out),
    }
}

#[inline(always)]
fn add<const K: usize>(
    values: &[&[f64]; FUSED],
    weights: &[f64; FUSED],
    start: Option<f64>,
    out: &mut [f64],
) {
    #[inline(always)]
    fn run<const K: usize>(values: [&[f64]; K], weights: [f64; K], start: Option<f64>, out: &mut [f64]) {
        let length = values.iter().fold(out.len(), |length, values| length.min(values.len()));
        let (out, values) = (&mut out[..length], values.map(|values| &values[..length]));
        match start {
            Some(start) => {
                for i in 0..length {
                    let mut sum = start;
                    for k in 0..K {
                        sum = weights[k].mul_add(values[k][i], sum);
                    }
                    out[i] = sum;
                }
            }
            None => {
                for i in 0..length {
                    let mut sum = out[i];
                    for k in 0..K {
                        sum = weights[k].mul_add(values[k][i], sum);
                    }
                    out[i] = sum;
                }
            }
        }
    }
    let values: [&[f64]; K] = std::array::from_fn(|k| values[k]);
    let weights: [f64; K] = std::array::from_fn(|k| weights[k]);
    dispatch(
        #[inline(always)]
        || run(values, weights, start, out),
    );
}

/// Levels that are compared with one after the other, rather than looked up.
const COMPARED: usize = 8;

/// Adds to each record the weight of the level its index names, or nothing.
fn look_up(levels: Levels<'_>, weights: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn compare(index: &[u32], code: u32, weights: &[f64], out: &mut [f64]) {
        let length = out.len().min(index.len());
        let (index, out) = (&index[..length], &mut out[..length]);
        for i in 0..length {
            let own = index[i].wrapping_sub(code);
            let mut found = 0.0;
            for (level, weight) in (0_u32..).zip(weights) {
                found = if own == level { *weight } else { found };
            }
            out[i] += found;
        }
    }
    let Levels { code, index, .. } = levels;
    if weights.len() <= COMPARED {
        dispatch(
            #[inline(always)]
            || compare(index, code, weights, out),
        );
    } else {
        for (out, own) in out.iter_mut().zip(index) {
            *out += weights.get(own.wrapping_sub(code) as usize).copied().unwrap_or(0.0);
        }
    }
}

#[cfg(test)]
mod tests;
