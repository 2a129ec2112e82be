//! Remembers dynamic programs between the looks of one search: the same steps are not taken, nor the same grids made, twice.
//!
//! Nothing here changes an answer. Programs of one stretch stand on one grid, and a program that goes on from where it was reaches
//! the same numbers, to the bit, as one that starts anew.

use std::cell::RefCell;
use std::rc::Rc;

use super::blocks::Blocks;
use super::program::{Attacks, Kind, Program, Stretch};
use super::{SENSITIVITIES, lowest, too_many_steps};
use crate::pld::Composition;
use crate::{Delta, Error, Rule, Sensitivity, Steps};

/// Grids remembered at most; the oldest is forgotten.
const MOST: usize = 8;

/// Dynamic programs that were run; clones share them.
#[derive(Clone, Default)]
pub(crate) struct Memory(Rc<RefCell<Vec<Known>>>);

/// What was made for a stretch of steps of one kind of decision, with an eye on δ from some value on.
struct Known {
    rule: Rule,
    sensitivity: Sensitivity,
    stretch: Stretch,
    smallest: f64,
    grid: Grid,
}

enum Grid {
    /// Before its first step, and as far as it has come.
    Program {
        fresh: Box<Program>,
        latest: Box<Program>,
    },
    Blocks(Blocks),
}

impl Memory {
    /// As [`composition`](super::composition).
    pub(crate) fn composition(
        &self,
        rule: &Rule,
        sensitivity: Sensitivity,
        steps: Steps,
        smallest: Delta,
    ) -> Result<Composition, Error> {
        rule.validate()?;
        let (stretch, smallest) = (Stretch::of(steps.0), lowest(smallest));
        let mut known = self.0.borrow_mut();
        let place = known.iter().position(|known| {
            known.rule == *rule
                && known.sensitivity == sensitivity
                && known.stretch == stretch
                && known.smallest == smallest
        });
        let mut found = match place {
            Some(place) => known.remove(place),
            None => {
                let grid = Grid::new(rule, sensitivity.get(), stretch, smallest)?;
                Known { rule: rule.clone(), sensitivity, stretch, smallest, grid }
            }
        };
        let composed = found.grid.composition(steps);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push(found);
        composed
    }
}

impl Grid {
    fn new(rule: &Rule, sensitivity: f64, stretch: Stretch, smallest: f64) -> Result<Self, Error> {
        if !SENSITIVITIES.contains(&sensitivity) {
            return Err(too_many_steps());
        }
        let kind = Kind::new(rule, sensitivity)?;
        Ok(match Program::plan(&kind, stretch, smallest, Attacks::Spared)? {
            Some(program) => {
                let program = Box::new(program);
                Self::Program { fresh: program.clone(), latest: program }
            }
            None => Self::Blocks(Blocks::new(&kind, stretch, smallest)?),
        })
    }

    fn composition(&mut self, steps: Steps) -> Result<Composition, Error> {
        match self {
            Self::Program { fresh, latest } => {
                if latest.steps > steps.0 {
                    *latest = fresh.clone();
                }
                while latest.steps < steps.0 {
                    latest.advance()?;
                }
                Ok(Composition::new().and(&latest.profile().curve()?, Steps(1)))
            }
            Self::Blocks(blocks) => blocks.compose(steps),
        }
    }
}
