//! Bounds a gradient seen through a matrix: how far A·∇ reaches over all θ and all records the declared columns admit.
//!
//! **Guarantee.** A gradient is written as Σ_c c·f_c, where each core c is a node and f_c a vector of nodes that do not depend
//! on θ. So ‖A·∇‖ ≤ Σ_c |c|·max‖A·f_c‖. The intervals of [`interval`](super::interval) hold every |c| and put f_c into a
//! box, and a norm takes its largest value over a box at a corner. Coordinates that are not 0 for one level each of the same
//! index are a choice, not sides of the box: at most one of them is there. Where corners are too many, the norm at the box's
//! centre plus what each side adds bounds it, by the triangle inequality.

use barkeep_machine::Binary;

use super::graph::{Graph, Id, Node};
use super::interval::Interval;

/// The most corners that are tried.
const CORNERS: usize = 4096;
/// More than the roundings of all sums here together, of at most a thousand terms each.
const SLACK: f64 = 1.0 + 1e-10;

/// A core, and each coordinate's factor of it.
pub(crate) struct Core {
    core: Id,
    parts: Vec<Part>,
}

/// A coordinate's factor.
struct Part {
    coordinate: usize,
    /// The coordinate itself.
    product: Id,
    factor: Id,
    /// The index and the level outside of which it is 0.
    level: Option<(Id, u64)>,
}

impl Graph {
    /// A gradient as sums of cores times factors that do not depend on θ; adds nodes for the factors.
    pub(crate) fn cores(&mut self, gradient: &[Id]) -> Vec<Core> {
        let mut cores: Vec<Core> = Vec::new();
        for (coordinate, id) in gradient.iter().enumerate() {
            if self.value(*id) == Some(0.0) {
                continue;
            }
            let level = self.level_of(*id);
            let (core, factor) = self.split(*id);
            let part = Part { coordinate, product: *id, factor, level };
            match cores.iter_mut().find(|known| known.core == core) {
                Some(known) => known.parts.push(part),
                None => cores.push(Core { core, parts: vec![part] }),
            }
        }
        cores
    }

    /// A node as a core times a factor that does not depend on θ. Factors are taken off one by one, without recursion.
    fn split(&mut self, id: Id) -> (Id, Id) {
        let (mut core, mut factor) = (id, self.constant(1.0));
        loop {
            core = match *self.node(core) {
                Node::Binary(Binary::Mul, a, b) if !self.moves(a) => {
                    factor = self.mul(factor, a);
                    b
                }
                Node::Binary(Binary::Mul, a, b) if !self.moves(b) => {
                    factor = self.mul(factor, b);
                    a
                }
                Node::Binary(Binary::Div, a, b) if !self.moves(b) => {
                    factor = self.div(factor, b);
                    a
                }
                Node::Select(condition, a, b) if !self.moves(condition) && self.value(b) == Some(0.0) => {
                    factor = self.select(condition, factor, b);
                    a
                }
                Node::Select(condition, a, b) if !self.moves(condition) && self.value(a) == Some(0.0) => {
                    factor = self.select(condition, a, factor);
                    b
                }
                _ => return (core, factor),
            };
        }
    }

    /// A bound on ‖A·∇‖₂, A given row by row; nothing where the intervals give none.
    pub(crate) fn reach(&self, cores: &[Core], matrix: &[f64], columns: &[Interval]) -> Option<f64> {
        let intervals = self.intervals(&[], columns);
        let mut total = 0.0;
        for core in cores {
            let size = intervals[core.core as usize].size();
            let together = core.reach(matrix, &intervals).map_or(f64::INFINITY, |reach| size * reach);
            total += together.min(core.apart(matrix, &intervals)) * SLACK;
        }
        let bound = total * SLACK;
        (bound.is_finite() && bound > 0.0).then_some(bound)
    }
}

/// What one side of a box, or one index, can add: each alternative a list of coordinates with their values.
type Alternatives = Vec<Vec<(usize, f64)>>;

impl Core {
    /// Σ|g_j|·‖A_j‖ over the core's coordinates: a bound that needs none of the factors.
    fn apart(&self, matrix: &[f64], intervals: &[Interval]) -> f64 {
        let d = matrix.len().isqrt();
        let length = |column: usize| matrix.iter().skip(column).step_by(d).map(|a| a * a).sum::<f64>().sqrt();
        let term = |part: &Part| intervals[part.product as usize].size() * length(part.coordinate);
        self.parts.iter().map(term).sum()
    }

    /// The largest ‖A·f‖, rounded up by [`SLACK`].
    fn reach(&self, matrix: &[f64], intervals: &[Interval]) -> Option<f64> {
        let range = |part: &Part| intervals[part.factor as usize];
        if self.parts.iter().any(|part| !range(part).size().is_finite()) {
            return None;
        }
        let d = matrix.len().isqrt();
        let norm = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        let through = |values: &[(usize, f64)]| -> Vec<f64> {
            matrix
                .chunks_exact(d)
                .map(|row| values.iter().map(|(coordinate, value)| row[*coordinate] * value).sum())
                .collect()
        };
        let choices = self.choices(intervals);
        let count = |choices: &Vec<Alternatives>| -> Option<usize> {
            choices.iter().try_fold(1_usize, |all, choice| all.checked_mul(choice.len()))
        };
        let corners = choices.as_ref().and_then(count).filter(|corners| *corners <= CORNERS);
        Some(match (corners, choices) {
            (Some(corners), Some(choices)) => {
                let parts: Vec<Vec<Vec<f64>>> = choices
                    .iter()
                    .map(|choice| choice.iter().map(|values| through(values)).collect())
                    .collect();
                let mut largest: f64 = 0.0;
                for corner in 0..corners {
                    let (mut sum, mut rest) = (vec![0.0; d], corner);
                    for part in &parts {
                        let chosen = &part[rest % part.len()];
                        rest /= part.len();
                        sum.iter_mut().zip(chosen).for_each(|(sum, x)| *sum += x);
                    }
                    largest = largest.max(norm(&sum));
                }
                // Sums may cancel: what they are off by is a share of their terms, not of themselves.
                let terms: f64 =
                    parts.iter().map(|part| part.iter().map(|x| norm(x)).fold(0.0, f64::max)).sum();
                largest * SLACK + terms * (SLACK - 1.0)
            }
            (None, _) | (_, None) => {
                let (mut middle, mut swing) = (vec![0.0; d], 0.0);
                for part in &self.parts {
                    let Interval { low, high } = range(part);
                    let centre = through(&[(part.coordinate, 0.5 * low + 0.5 * high)]);
                    middle.iter_mut().zip(centre).for_each(|(sum, x)| *sum += x);
                    swing += norm(&through(&[(part.coordinate, 0.5 * high - 0.5 * low)]));
                }
                // The centre's sums may cancel; what they are off by is a share of their terms.
                let terms: f64 = self
                    .parts
                    .iter()
                    .map(|part| norm(&through(&[(part.coordinate, range(part).size())])))
                    .sum();
                (norm(&middle) + swing) * SLACK + terms * (SLACK - 1.0)
            }
        })
    }

    /// What can be chosen independently: an end for each coordinate, a level for each index; nothing where that is too much.
    fn choices(&self, intervals: &[Interval]) -> Option<Vec<Alternatives>> {
        let mut choices: Vec<Alternatives> = Vec::new();
        let mut indices: Vec<(Id, Vec<(u64, Alternatives)>)> = Vec::new();
        for Part { coordinate, factor, level, .. } in &self.parts {
            let Interval { low, high } = intervals[*factor as usize];
            let ends = if low == high { vec![low] } else { vec![low, high] };
            let Some((index, level)) = level else {
                choices.push(ends.into_iter().map(|end| vec![(*coordinate, end)]).collect());
                continue;
            };
            let place = indices.iter().position(|(known, _)| known == index);
            let place = place.unwrap_or_else(|| {
                indices.push((*index, Vec::new()));
                indices.len() - 1
            });
            let levels = &mut indices[place].1;
            let found = levels.iter_mut().find(|(known, _)| known == level);
            let (added, alternatives) = match found {
                Some((_, alternatives)) => (std::mem::take(alternatives), alternatives),
                None => {
                    levels.push((*level, Vec::new()));
                    let Some((_, alternatives)) = levels.last_mut() else { continue };
                    (vec![Vec::new()], alternatives)
                }
            };
            if added.len() * ends.len() > CORNERS {
                return None;
            }
            // Both ends beside all that the same level has already.
            for before in added {
                for end in &ends {
                    let mut with = before.clone();
                    with.push((*coordinate, *end));
                    alternatives.push(with);
                }
            }
        }
        for (_, levels) in indices {
            // None of the levels, or one.
            let all = levels.into_iter().flat_map(|(_, alternatives)| alternatives);
            choices.push(std::iter::once(Vec::new()).chain(all).collect());
        }
        Some(choices)
    }
}

#[cfg(test)]
mod tests;
