//! Gives every step's result a register, free again after its last use.

use super::{Line, Output, Source, Step};

impl Step {
    /// What it reads.
    pub(crate) fn sources(&self) -> Vec<Source> {
        match self {
            Self::Dot { terms, .. } => terms.to_vec(),
            Self::Product(lines) => lines.iter().map(|line| line.value).collect(),
            Self::Unary(_, a) | Self::Gather { index: a, .. } | Self::Carry(a) | Self::Keep(a) => vec![*a],
            Self::Binary(_, a, b) => vec![*a, *b],
            Self::Fused(a, b, c) | Self::Select(a, b, c) => vec![*a, *b, *c],
            Self::Begin { .. } => Vec::new(),
            Self::End(next) => next.to_vec(),
        }
    }

    /// The same step, which reads elsewhere.
    pub(crate) fn with_sources(self, map: impl Fn(Source) -> Source) -> Self {
        let all = |sources: Box<[Source]>| sources.into_iter().map(&map).collect();
        match self {
            Self::Dot { start, first, terms } => Self::Dot { start, first, terms: all(terms) },
            Self::Product(lines) => Self::Product(lines.map(|line| Line { value: map(line.value), ..line })),
            Self::Unary(function, a) => Self::Unary(function, map(a)),
            Self::Binary(function, a, b) => Self::Binary(function, map(a), map(b)),
            Self::Fused(a, b, c) => Self::Fused(map(a), map(b), map(c)),
            Self::Select(a, b, c) => Self::Select(map(a), map(b), map(c)),
            Self::Gather { index, first, count } => Self::Gather { index: map(index), first, count },
            Self::Begin { count } => Self::Begin { count },
            Self::Carry(a) => Self::Carry(map(a)),
            Self::Keep(a) => Self::Keep(map(a)),
            Self::End(next) => Self::End(all(next)),
        }
    }
}

/// For each step the register of its result, and the number of registers. A kept value has as many, one after the other, as its repetition
/// has rounds.
///
/// **Privacy.** No step writes a register that it reads, and a register is given away only after the last step that reads its
/// value: what a repetition reads of the steps before it lives until its end, since every round reads it again.
pub(super) fn assign(steps: &[Step], outputs: &[Output]) -> (Vec<u32>, usize) {
    // Where the repetition that a step is in starts and ends.
    let mut rounds: Vec<Option<(usize, usize)>> = vec![None; steps.len()];
    let mut begun = None;
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::Begin { .. } => begun = Some(place),
            Step::End(_) => {
                if let Some(start) = begun.take() {
                    rounds[start..=place].fill(Some((start, place)));
                }
            }
            Step::Dot { .. }
            | Step::Product(_)
            | Step::Unary(..)
            | Step::Binary(..)
            | Step::Fused(..)
            | Step::Select(..)
            | Step::Gather { .. }
            | Step::Carry(_)
            | Step::Keep(_) => {}
        }
    }
    let mut last = vec![0_usize; steps.len()];
    for (place, step) in steps.iter().enumerate() {
        for source in step.sources() {
            if let Source::Step(read) = source {
                let read = read as usize;
                let end = match rounds[place] {
                    Some((start, end)) if read < start && !matches!(step, Step::Carry(_)) => end,
                    Some(_) | None => place,
                };
                last[read] = last[read].max(end);
            }
        }
        // A carried value is written when its repetition ends.
        if let (Step::Carry(_), Some((_, end))) = (step, rounds[place]) {
            last[place] = last[place].max(end);
        }
    }
    for output in outputs {
        if let Source::Step(read) = output.value() {
            last[read as usize] = usize::MAX;
        }
    }
    let mut ends: Vec<Vec<u32>> = vec![Vec::new(); steps.len()];
    let (mut places, mut free, mut count) = (vec![0_u32; steps.len()], Vec::new(), 0_u32);
    let mut kept = 0_u32;
    for (place, step) in steps.iter().enumerate() {
        match step {
            Step::Begin { count } => kept = *count,
            Step::End(_) => {}
            // Never free again: their number is small.
            Step::Keep(_) => {
                places[place] = count;
                count += kept;
            }
            Step::Dot { .. }
            | Step::Product(_)
            | Step::Unary(..)
            | Step::Binary(..)
            | Step::Fused(..)
            | Step::Select(..)
            | Step::Gather { .. }
            | Step::Carry(_) => {
                let own = free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                });
                places[place] = own;
                // What nobody reads is free at once.
                if let Some(ends) = ends.get_mut(last[place].max(place)) {
                    ends.push(own);
                }
            }
        }
        free.append(&mut ends[place]);
    }
    (places, count as usize)
}
