//! Adds up what programs write: runs them over tiles of rows, folds rows into persons, cuts each unit to its shape and adds integers.
//!
//! **Privacy.** What a row's program writes is a function of that row (`barkeep_machine`), a person's fold one of that person's rows in their
//! order ([`fold`](crate::sums::fold)), and what a unit's program writes one of that fold. So a unit's term is its own. It is cut to
//! its [`Shape`] whatever it is. Nothing else of a program matters.

use crate::lattice::{Moments, Shape, TileRoom, add_cut, add_indexed, add_one, add_tile, gram, halves};
use crate::sums::fold::Ends;
use crate::sums::passes::{GRAIN, Rows, Worker, sweep};
use crate::sums::terms::Asked;
use crate::{Clip, Refused};
use barkeep_data::{Block, Unit};
use barkeep_machine::{Fold, Machine, Output, Program, Share, TILE};

/// Numbers that are folded next to a term's own: the number of rows.
const COUNT: usize = 1;

/// A question over a term, with what is the same for every tile.
struct Added<'a> {
    asked: Asked<'a>,
    clip: Clip,
    /// The integer that stands for 1, for products.
    one: i64,
    /// The place of each entry that is written for every row.
    dense: Vec<usize>,
    /// The outputs of rows by level, each with the place of its first entry.
    sparse: Vec<(usize, usize)>,
}

/// Adds the contributions of the asked units to the workers' sums.
///
/// # Errors
/// [`Refused::Question`] for a clip that does not fit the shape.
pub(crate) fn add_terms(
    rows: Rows<'_>,
    unit: Unit,
    asked: Asked<'_>,
    clip: Clip,
    workers: &mut [Worker],
) -> Result<(), Refused> {
    asked.shape.range(clip)?;
    let one = if asked.shape == Shape::Outer { gram::one(clip.get())? } else { 1 };
    let mut added = Added { asked, clip, one, dense: Vec::new(), sparse: Vec::new() };
    let mut place = 0;
    for (k, output) in asked.term.row.outputs().iter().enumerate() {
        match output {
            Output::Dense(_) | Output::Levels { .. } => added.dense.extend(place..place + output.width()),
            Output::By { .. } => added.sparse.push((k, place)),
        }
        place += output.width();
    }
    workers.iter_mut().for_each(|worker| {
        worker.fold.start(added.dense.len() + COUNT);
        worker.open.start(worker.sums.len());
        worker.entries.clear();
    });
    // A person of one row is a record.
    let is_single = matches!(unit, Unit::Person { most_rows: Some(1) });
    sweep(rows, workers, grain([&asked.term.row]), |worker, block, ends| {
        for (index, tile) in block.tiles(TILE).enumerate() {
            let ends = ends.filter(|_| !is_single).map(|ends| ends.tile(index * TILE, tile.len()));
            added.add(tile, ends, worker);
        }
    });
    Ok(())
}

/// The fewest blocks worth a thread: fewer of a longer program.
fn grain<'a>(programs: impl IntoIterator<Item = &'a Program>) -> usize {
    let steps: usize = programs.into_iter().map(|program| program.steps().len()).sum();
    (GRAIN * 32 / (32 + steps)).max(1)
}

impl Added<'_> {
    /// Adds what the rows of a tile, or the persons that end in it, contribute.
    fn add(&self, tile: Block<'_>, ends: Option<Ends<'_>>, worker: &mut Worker) {
        let term = self.asked.term;
        let Worker { machine, terms, folded: room, fold, tile_room, sums, open, entries, .. } = worker;
        machine.run(&term.row, tile);
        let (width, rows) = (self.dense.len(), tile.len());
        if let (None, None, false) = (&term.unit, ends, self.asked.shape == Shape::Outer) {
            let share = |k: usize| machine.share(&term.row, tile, k);
            self.cut((term.row.outputs().len(), rows), share, tile_room, sums);
            return;
        }
        // Entry by entry, and behind them the number of rows.
        let written = terms.sized((width + COUNT) * rows);
        write_dense(machine, &term.row, tile, written);
        written[width * rows..].fill(1.0);
        if self.asked.shape == Shape::Outer {
            let values = &written[..width * rows];
            match ends {
                None => gram::add(values, rows, (self.clip.get(), self.one), sums),
                Some(ends) => {
                    let persons = (rows, ends.places());
                    gram::add_persons(values, persons, (self.clip.get(), self.one), open, sums);
                }
            }
            return;
        }
        let units = ends.map_or(rows, Ends::persons);
        let mut folded = &*written;
        if let Some(ends) = ends {
            let out = room.sized((width + COUNT) * units);
            fold.add_all(written, width + COUNT, ends, out);
            if term.fold == Fold::Mean {
                let (entries, counts) = out.split_at_mut(width * units);
                for lane in entries.chunks_exact_mut(units.max(1)) {
                    lane.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum /= count);
                }
            }
            folded = out;
        }
        match (&term.unit, ends) {
            (Some(_) | None, _) if units == 0 && self.sparse.is_empty() => {}
            (Some(unit), _) => {
                let block = Block::over(folded, units, units);
                machine.run(unit, block);
                let share = |k: usize| machine.share(unit, block, k);
                self.cut((unit.outputs().len(), units), share, tile_room, sums);
            }
            (None, Some(ends)) if !self.sparse.is_empty() => {
                self.add_sparse(machine, (tile, ends), folded, entries, sums);
            }
            (None, _) => {
                let share = |k: usize| Share::Dense(&folded[k * units..][..units]);
                self.cut((width, units), share, tile_room, sums);
            }
        }
    }

    /// Cuts a tile's outputs to the shape and adds them.
    fn cut<'a>(
        &self,
        (outputs, units): (usize, usize),
        share: impl Fn(usize) -> Share<'a>,
        room: &mut TileRoom,
        sums: &mut [i64],
    ) {
        let (shape, clip) = (self.asked.shape, self.clip);
        let Ok(range) = shape.range(clip) else { return };
        match shape {
            Shape::Ball => add_tile::<false>((outputs, units), share, clip, room, sums),
            Shape::Positive => add_tile::<true>((outputs, units), share, clip, room, sums),
            Shape::Interval { .. } => {
                if let (Share::Dense(values), [sum]) = (share(0), sums) {
                    add_cut(values, range, clip, sum);
                }
            }
            Shape::Indexed { .. } => add_indexed(share(0), range, clip, sums, |_| {}),
            Shape::ByGroup { .. } => {
                let Some((groups, squares)) = sums.split_last_chunk_mut::<2>() else { return };
                add_indexed(share(0), range, clip, groups, |u| {
                    squares.iter_mut().zip(halves(u)).for_each(|(sum, half)| *sum += half);
                });
            }
            // Added in integers of its own.
            Shape::Outer => {}
        }
    }

    /// Adds the persons that end in a tile, each with the entries that its rows name, those of one place together in file order.
    fn add_sparse(
        &self,
        machine: &Machine,
        (tile, ends): (Block<'_>, Ends<'_>),
        folded: &[f64],
        entries: &mut Vec<(usize, f64)>,
        sums: &mut [i64],
    ) {
        let (term, units) = (self.asked.term, ends.persons());
        let mut persons = ends.places().enumerate().peekable();
        for row in 0..tile.len() {
            for (k, first) in &self.sparse {
                if let Share::Indexed { values, index, code, .. } = machine.share(&term.row, tile, *k) {
                    entries.push((first + index[row].wrapping_sub(code) as usize, values[row]));
                }
            }
            let Some((person, _)) = persons.next_if(|(_, end)| *end == row + 1) else { continue };
            let own = |lane: usize| folded[lane * units + person];
            entries.sort_by_key(|(place, _)| *place);
            entries.dedup_by(|later, first| {
                let is_same = later.0 == first.0;
                first.1 += if is_same { later.1 } else { 0.0 };
                is_same
            });
            if term.fold == Fold::Mean {
                entries.iter_mut().for_each(|(_, value)| *value /= own(self.dense.len()));
            }
            entries.extend(self.dense.iter().enumerate().map(|(lane, place)| (*place, own(lane))));
            add_one(entries, self.asked.shape == Shape::Positive, self.clip, sums);
            entries.clear();
        }
    }
}

/// Writes the entries of a tile's rows one after the other, but those of outputs by a column.
fn write_dense(machine: &Machine, program: &Program, tile: Block<'_>, out: &mut [f64]) {
    let mut lanes = out.chunks_exact_mut(tile.len().max(1));
    for (k, output) in program.outputs().iter().enumerate() {
        match (output, machine.share(program, tile, k)) {
            (Output::By { .. }, _) => {}
            (Output::Dense(_) | Output::Levels { .. }, Share::Dense(values)) => {
                if let Some(lane) = lanes.next() {
                    lane.copy_from_slice(values);
                }
            }
            (Output::Dense(_) | Output::Levels { .. }, Share::Indexed { values, index, code, count }) => {
                for (level, lane) in (0_u32..).zip(lanes.by_ref().take(count)) {
                    for ((out, value), own) in lane.iter_mut().zip(values).zip(index) {
                        *out = if own.wrapping_sub(code) == level { *value } else { 0.0 };
                    }
                }
            }
        }
    }
}

/// Adds the asked units' clipped numbers to the workers' moments, with their squares where not all are asked.
pub(crate) fn add_ratios(rows: Rows<'_>, program: &Program, clip: Clip, workers: &mut [Worker]) {
    workers.iter_mut().for_each(|worker| worker.fold.start(1));
    sweep(rows, workers, grain([program]), |worker, block, ends| {
        for (index, tile) in block.tiles(TILE).enumerate() {
            let ends = ends.map(|ends| ends.tile(index * TILE, tile.len()));
            let Worker { machine, folded, fold, moments, .. } = &mut *worker;
            machine.run(program, tile);
            let Share::Dense(values) = machine.share(program, tile, 0) else { continue };
            let values = match ends {
                None => values,
                Some(ends) => {
                    let persons = folded.sized(ends.persons());
                    fold.add_all(values, 1, ends, persons);
                    persons
                }
            };
            match rows.positions {
                None => moments.add(values, clip),
                Some(_) => moments.add_with_squares(values, clip),
            }
        }
    });
}

/// Adds all units' clipped numbers less `centre` to the workers' sums, program by program.
pub(crate) fn add_choices(
    rows: Rows<'_>,
    programs: &[Program],
    centre: f64,
    clip: Clip,
    workers: &mut [Worker],
) {
    workers.iter_mut().for_each(|worker| worker.fold.start(programs.len()));
    sweep(rows, workers, grain(programs), |worker, block, ends| {
        for (index, tile) in block.tiles(TILE).enumerate() {
            let ends = ends.map(|ends| ends.tile(index * TILE, tile.len()));
            let Worker { machine, folded, fold, sums, .. } = &mut *worker;
            for (k, (sum, program)) in sums.iter_mut().zip(programs).enumerate() {
                machine.run(program, tile);
                let Share::Dense(values) = machine.share(program, tile, 0) else { continue };
                let units = folded.sized(ends.map_or(values.len(), Ends::persons));
                match ends {
                    None => units.copy_from_slice(values),
                    Some(ends) => fold.add(k, values, ends, units),
                }
                units.iter_mut().for_each(|term| *term -= centre);
                let mut share = Moments::default();
                share.add(units, clip);
                *sum += share.sum();
            }
            if let Some(ends) = ends {
                fold.pass(ends);
            }
        }
    });
}

#[cfg(test)]
mod tests;
