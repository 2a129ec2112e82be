//! Makes up responses of single records by the laws a text names.

use barkeep_data::Block;
use barkeep_machine::{Program, Source, Writer};

use super::TextModel;
use crate::language::build::Observed;
use crate::language::graph::Node;
use crate::language::information::{pick, share};
use crate::language::laws::{Draws, Expected, Law, Weighted};
use crate::terms::{Precondition, write_shortened};
use crate::{Centring, Given, Gradient, Scratch, StandIns};

/// How many records stand for one with several responses.
const JOINT: usize = 64;

impl TextModel {
    /// Refuses a text whose responses' laws are not known, or are not those of what is read.
    pub(super) fn has_responses_as_they_are(&self) -> Result<(), &'static str> {
        if self.free || self.responses.is_empty() {
            return Err("needs a text whose columns follow named distributions, without `log_density`");
        }
        for response in &self.responses {
            match response.observed {
                Observed::Exact => {}
                Observed::AtBounds | Observed::Where { .. } | Observed::Truncated => {
                    return Err(
                        "needs a text without `censored` and `truncated`: what was not seen has no expected score",
                    );
                }
            }
            if response.law.names().contains(&"uniform") {
                return Err("needs distributions whose range does not move, so not `uniform`");
            }
        }
        Ok(())
    }

    /// Whether every column is normal with an sd that no parameter moves, or a mixture of such.
    pub(super) fn is_of_normal_means(&self) -> bool {
        let has_covariates = (0..self.columns.len()).any(|place| !self.drawn.contains(&place));
        !self.free
            && !has_covariates
            && self.responses.iter().all(|response| self.has_known_sd(&response.law))
    }

    fn has_known_sd(&self, law: &Law) -> bool {
        match law {
            Law::One { entry, arguments } => {
                let moves = || {
                    let needed = self.graph.needed(&arguments[1..]);
                    (0..self.graph.len()).any(|id| {
                        needed[id]
                            && u32::try_from(id)
                                .is_ok_and(|id| matches!(self.graph.node(id), Node::Parameter(_)))
                    })
                };
                entry.name == "normal" && !moves()
            }
            Law::Mixture(parts) => parts.iter().all(|(_, part)| self.has_known_sd(part)),
        }
    }
}

impl Given for TextModel {
    fn stand_ins(&self) -> usize {
        match &self.scores[..] {
            [one] => one.law.node_count(),
            _ => JOINT,
        }
    }

    fn shifts(&self) -> usize {
        2 * self.scores.len()
    }

    /// All nodes of a single response with their weights; of several, in the text's order, one node each for every stand-in.
    fn make_up(
        &self,
        block: Block<'_>,
        theta: &[f64],
        shifts: Option<&[f64]>,
        out: &mut StandIns,
        scratch: &mut Scratch,
    ) {
        let (records, each, columns) = (block.len(), self.stand_ins(), self.columns.len());
        let count = records * each;
        out.values.resize(columns * count, 0.0);
        out.weights.resize(count, 0.0);
        out.weights.fill(1.0 / each as f64);
        for (j, lane) in out.values.chunks_exact_mut(count.max(1)).enumerate() {
            for (x, copies) in block.column(j).iter().zip(lane.chunks_exact_mut(each)) {
                copies.fill(*x);
            }
        }
        let shift = |i: usize, k: usize| shifts.map_or(0.5, |shifts| shifts[i * self.shifts() + k]);
        let mut nodes: Vec<Weighted> = Vec::new();
        let single = self.scores.len() == 1;
        for (place, (response, scores)) in self.responses.iter().zip(&self.scores).enumerate() {
            // A single response depends on what was read alone: its arguments are the same for all its stand-ins.
            let rows = if single { records } else { count };
            let mut arguments = vec![0.0; scores.width * rows];
            let made_up = Block::over(&out.values, count, count);
            let seen = if single { block } else { made_up };
            scratch.run(scores.arguments.at(&[theta]), seen, &mut arguments);
            let lane = &mut out.values[response.column * count..(response.column + 1) * count];
            for i in 0..rows {
                let at: Vec<f64> = (0..scores.width).map(|k| arguments[k * rows + i]).collect();
                nodes.clear();
                if single {
                    scores.law.nodes(&at, shift(i, 0) - 0.5, &mut nodes);
                    nodes.resize(each, Weighted { value: 0.0, weight: 0.0 });
                    for (k, node) in nodes.iter().enumerate() {
                        let (value, weight) = (node.value + response.least, node.weight);
                        lane[i * each + k] = value;
                        out.weights[i * each + k] = if weight.is_finite() { weight } else { 0.0 };
                    }
                } else {
                    let (record, k) = (i / each, i % each);
                    let moved = |dimension: usize, by: usize| {
                        (share(k, dimension) + shift(record, 2 * place + by)).fract()
                    };
                    scores.law.nodes(&at, moved(2 * place, 0) - 0.5, &mut nodes);
                    let value = pick(&nodes, moved(2 * place + 1, 1)).unwrap_or(0.0);
                    lane[i] = value + response.least;
                }
            }
        }
    }

    /// Each node of a single response, or each stand-in for several, stands in the gradient's program where the responses did.
    fn write_expected(&self, centring: Centring<'_>, w: &mut Writer) -> Option<Vec<Source>> {
        let gradient = self.gradient.at(&[centring.theta]).ok()?;
        // The clipped score of a record with these responses, moved into the bounds of their columns.
        let clipped = |w: &mut Writer, responses: &[Source]| {
            let mut columns: Vec<Source> = (0..self.columns.len() as u32).map(Source::Column).collect();
            for (response, value) in self.responses.iter().zip(responses) {
                let (low, high) = self.columns[response.column].range();
                let value = w.max(*value, low);
                columns[response.column] = w.min(value, high);
            }
            let entries = w.append_with(&gradient, |column| columns[column as usize]);
            let score = Precondition::Dense(centring.whitening).write(Gradient::Entries(entries), w);
            write_shortened(w, &score, centring.clip)
        };
        let width = centring.theta.len();
        if let ([scores], [response]) = (&self.scores[..], &self.responses[..]) {
            let arguments = w.append(&scores.arguments.at(&[centring.theta]).ok()?);
            let values = |w: &mut Writer, node: Source| {
                let value = w.add(node, response.least);
                clipped(w, &[value])
            };
            return Some(scores.law.write_expected(w, &arguments, &Expected { values: &values, width }));
        }
        let programs = self.scores.iter().map(|scores| scores.arguments.at(&[centring.theta]).ok());
        let programs: Vec<Program> = programs.collect::<Option<_>>()?;
        let zero = w.number(0.0);
        Some(w.repeat_all(JOINT as u32, &vec![zero; width], |w, sums| {
            let mut columns: Vec<Source> = (0..self.columns.len() as u32).map(Source::Column).collect();
            let mut responses = Vec::with_capacity(self.responses.len());
            for (place, ((response, scores), program)) in
                self.responses.iter().zip(&self.scores).zip(&programs).enumerate()
            {
                let arguments = w.append_with(program, |column| columns[column as usize]);
                let moved = |dimension: usize| move |k: usize| (share(k, dimension) + 0.5).fract();
                let draws = Draws {
                    shifts: (0..JOINT).map(moved(2 * place)).map(|shift| shift - 0.5).collect(),
                    levels: (0..JOINT).map(moved(2 * place + 1)).collect(),
                };
                let picked = scores.law.write_picked(w, &arguments, &draws);
                let value = w.add(picked, response.least);
                // Later responses see it as it was picked.
                columns[response.column] = value;
                responses.push(value);
            }
            let score = clipped(w, &responses);
            let weight = 1.0 / JOINT as f64;
            score.into_iter().zip(sums).map(|(entry, sum)| w.fused(weight, entry, *sum)).collect()
        }))
    }

    fn admit(&self, made_up: &mut StandIns) {
        let count = made_up.weights.len();
        for response in &self.responses {
            let (low, high) = self.columns[response.column].range();
            let lane = &mut made_up.values[response.column * count..(response.column + 1) * count];
            lane.iter_mut().for_each(|value| *value = value.clamp(low, high));
        }
    }
}

#[cfg(test)]
mod tests;
