//! Writes the nodes of a regression's response: values and weights that stand for its law given a record's features.
//!
//! They are those of [`NodeRule::fill`](crate::NodeRule::fill), but for roundings. A first pass over the nodes of a count computes them and
//! adds up; it can keep them for further passes.

use barkeep_machine::{Binary, Source, Step, Unary, Writer, ln_gamma};

use super::precondition::write_line;
use crate::regression::{CentredScore, ScoreBlock, Scorer};
use crate::{Law, Likelihood, Regression, Seen};

/// Nodes of a count.
const COUNTS: u32 = 128;

/// Values of ln Γ at multiples of one half that a program looks up; for larger counts it computes them.
const LOOKED_UP: f64 = 8192.0;

/// What there is once for each record.
pub(super) struct Own {
    /// a, or the one number that stands for it.
    pub(super) features: Vec<Source>,
    /// ‖a‖.
    pub(super) length: Source,
    /// r.
    pub(super) slope: Source,
}

/// Maps what a pass adds up: a node's slope, once, and then the mapped slope to the values whose expectations are asked for.
pub(super) struct Pass<'p> {
    pub(super) prepare: &'p dyn Fn(&mut Writer, Source) -> Source,
    pub(super) values: &'p dyn Fn(&mut Writer, Source) -> Vec<Source>,
    /// The number of values.
    pub(super) width: usize,
}

/// The nodes of a record after a first pass over them.
pub(super) enum Nodes {
    /// Two of them, prepared.
    Two { slopes: [Source; 2], weights: [Source; 2] },
    /// As many for all records, as they are.
    Free { slopes: Source, weights: Source, count: u32 },
    /// Kept ones, prepared, whose weights have to be scaled; and the one at the top with what the law has beyond it.
    Counts { slopes: Source, weights: Source, count: u32, scale: Source, beyond: Option<(Source, Source)> },
}

/// A regression's law at one θ, in a program.
pub(super) struct WrittenLaw<'a> {
    regression: &'a Regression,
    asked: CentredScore<'a>,
    law: Law,
    /// η, unless the family works on residuals.
    line: Source,
    seen: Seen,
    log_nuisance: f64,
    top: f64,
    /// ∂ℓ/∂η of the response 0, for a logit.
    none: Option<Source>,
    /// The nodes of a law that is free of η.
    free: Option<Nodes>,
}

/// Writes ln P(Y = y).
type LogShare = Box<dyn Fn(&mut Writer, Source) -> Source>;

/// The law of a count as its nodes need it.
struct Count {
    mean: Source,
    sd: Source,
    /// The largest count there is.
    top: Option<Source>,
    /// The number of nodes.
    nodes: u32,
    log_share: LogShare,
}

impl<'a> WrittenLaw<'a> {
    /// Writes what there is once for each record; `None` for a family that states no law.
    pub(super) fn new(
        regression: &'a Regression,
        scorer: &Scorer<'a>,
        top: f64,
        w: &mut Writer,
    ) -> Option<(Self, Own)> {
        let (asked, law) = (scorer.asked(), regression.law()?);
        let line = regression.write_predictor(asked.theta, w);
        let seen = regression.write_seen(w);
        let log_nuisance = scorer.log_nuisance();
        let mut written =
            Self { regression, asked, law, line, seen, log_nuisance, top, none: None, free: None };
        let slope = match law {
            // The same bits as y − σ(η), of which the nodes need the second.
            Law::Logit => {
                let zero = w.number(0.0);
                let none = written.slope_at(w, zero)?;
                written.none = Some(none);
                w.add(seen.response, none)
            }
            Law::Normal | Law::StudentT { .. } | Law::Gamma => {
                let (slopes, weights) = scorer.free_nodes();
                let count = slopes.len() as u32;
                let (slopes, weights) = (w.constants(&slopes), w.constants(&weights));
                let (slopes, weights) = (Source::Node(slopes), Source::Node(weights));
                written.free = Some(Nodes::Free { slopes, weights, count });
                written.slope_at(w, seen.response)?
            }
            Law::Probit | Law::Binomial | Law::Poisson | Law::NegativeBinomial => {
                written.slope_at(w, seen.response)?
            }
        };
        let (features, length) = written.features(w);
        Some((written, Own { features, length, slope }))
    }

    /// r of a response.
    fn slope_at(&self, w: &mut Writer, response: Source) -> Option<Source> {
        let seen = Seen { response, ..self.seen };
        let (slope, nuisance) = self.regression.write_slopes(w, self.asked.theta, seen, self.line);
        match self.asked.block {
            ScoreBlock::Coefficients => Some(slope),
            ScoreBlock::Nuisance => nuisance,
        }
    }

    /// a and its length.
    fn features(&self, w: &mut Writer) -> (Vec<Source>, Source) {
        let whitening = self.asked.whitening;
        match self.asked.block {
            ScoreBlock::Nuisance => (vec![w.number(whitening[0])], w.number(whitening[0].abs())),
            ScoreBlock::Coefficients => {
                let (coefficients, _) = self.regression.parts();
                let intercept = self.regression.has_intercept();
                let first = self.regression.columns() + usize::from(intercept) - coefficients;
                let rows = whitening.chunks_exact(coefficients.max(1));
                let features: Vec<Source> =
                    rows.map(|row| write_line(w, row, intercept, first as u32)).collect();
                let length = w.length(&features);
                (features, length)
            }
        }
    }

    /// Writes expectations over the nodes, and returns the nodes for further passes where they are kept.
    pub(super) fn expect(&self, w: &mut Writer, keep: bool, pass: &Pass<'_>) -> Option<(Nodes, Vec<Source>)> {
        let count = match self.law {
            Law::Logit | Law::Probit => {
                let (slopes, share) = match self.none {
                    Some(none) => ([none, w.add(1.0, none)], w.unary(Unary::Sigmoid, self.line)),
                    None => {
                        let (zero, one) = (w.number(0.0), w.number(1.0));
                        let slopes = [self.slope_at(w, zero)?, self.slope_at(w, one)?];
                        (slopes, w.unary(Unary::NormalCdf, self.line))
                    }
                };
                let rest = w.sub(1.0, share);
                let slopes = slopes.map(|slope| (pass.prepare)(w, slope));
                let nodes = Nodes::Two { slopes, weights: [rest, share] };
                let sums = nodes.expect(w, pass);
                return Some((nodes, sums));
            }
            Law::Normal | Law::StudentT { .. } | Law::Gamma => {
                let Some(Nodes::Free { slopes, weights, count }) = self.free else { return None };
                let nodes = Nodes::Free { slopes, weights, count };
                let sums = nodes.expect(w, pass);
                return Some((nodes, sums));
            }
            Law::Poisson => self.poisson(w),
            Law::NegativeBinomial => self.negative_binomial(w),
            Law::Binomial => self.binomial(w),
        };
        self.expect_count(w, &count, keep, pass)
    }

    /// The number at which the schema cuts counts, unless there is none.
    fn top(&self, w: &mut Writer) -> Option<Source> {
        (self.top < f64::INFINITY).then(|| w.number(self.top))
    }

    /// η cut to where e^η is a number that can be counted to.
    fn log_mean(&self, w: &mut Writer) -> Source {
        let low = w.max(self.line, -30.0);
        w.min(low, 40.0)
    }

    fn poisson(&self, w: &mut Writer) -> Count {
        let log_mean = self.log_mean(w);
        let mean = w.unary(Unary::Exp, log_mean);
        let table = table(w, self.top, |y| ln_gamma(y + 1.0));
        let log_share = move |w: &mut Writer, y: Source| {
            let weighted = w.mul(y, log_mean);
            let less = w.sub(weighted, mean);
            let orders = look_up(w, table, y).unwrap_or_else(|| ln_factorial(w, y));
            w.sub(less, orders)
        };
        let (sd, top) = (w.unary(Unary::Sqrt, mean), self.top(w));
        Count { mean, sd, top, nodes: nodes_below(self.top), log_share: Box::new(log_share) }
    }

    fn negative_binomial(&self, w: &mut Writer) -> Count {
        let size = libm::exp(self.log_nuisance);
        let log_mean = self.log_mean(w);
        let mean = w.unary(Unary::Exp, log_mean);
        let t = w.sub(log_mean, libm::log(size));
        let minus = w.minus(t);
        let rest = w.unary(Unary::LogSigmoid, minus);
        let (fail, success) = (w.mul(size, rest), w.add(t, rest));
        let square = w.mul(mean, mean);
        let spread = w.div(square, size);
        let variance = w.add(mean, spread);
        let ways = move |y: f64| ln_gamma(y + size) - ln_gamma(y + 1.0) - ln_gamma(size);
        let table = table(w, self.top, ways);
        let log_share = move |w: &mut Writer, y: Source| {
            let ways = look_up(w, table, y).unwrap_or_else(|| {
                let all = w.add(y, size);
                let (all, own) = (w.unary(Unary::LnGamma, all), ln_factorial(w, y));
                let ways = w.sub(all, own);
                w.sub(ways, ln_gamma(size))
            });
            let lost = w.add(ways, fail);
            let won = w.mul(y, success);
            w.add(lost, won)
        };
        let (sd, top) = (w.unary(Unary::Sqrt, variance), self.top(w));
        Count { mean, sd, top, nodes: nodes_below(self.top), log_share: Box::new(log_share) }
    }

    fn binomial(&self, w: &mut Writer) -> Count {
        let share = w.unary(Unary::Sigmoid, self.line);
        let trials = w.max(0.0, self.seen.trials);
        let minus = w.minus(self.line);
        let (success, fail) = (w.unary(Unary::LogSigmoid, self.line), w.unary(Unary::LogSigmoid, minus));
        let mean = w.mul(trials, share);
        let others = w.sub(1.0, share);
        let variance = w.mul(mean, others);
        let top = w.min(trials, self.top);
        let ways = ln_factorial(w, trials);
        let (by_column, fixed) = self.regression.trials();
        // What is left of the trials is a multiple of one half where they are whole.
        let tables = (!by_column && fixed.fract() == 0.0)
            .then(|| table(w, self.top.min(fixed), |y| ln_gamma(y + 1.0) + ln_gamma(fixed - y + 1.0)))
            .flatten();
        let log_share = move |w: &mut Writer, y: Source| {
            let rest = w.sub(trials, y);
            let left = w.max(0.0, rest);
            let (won, lost) = (w.mul(y, success), w.mul(left, fail));
            let kernel = w.add(won, lost);
            let all = w.add(kernel, ways);
            let orders = look_up(w, tables, y).unwrap_or_else(|| {
                let (won, lost) = (ln_factorial(w, y), ln_factorial(w, left));
                w.add(won, lost)
            });
            w.sub(all, orders)
        };
        let sd = w.unary(Unary::Sqrt, variance);
        let most = if by_column { self.top } else { self.top.min(fixed) };
        Count { mean, sd, top: Some(top), nodes: nodes_below(most), log_share: Box::new(log_share) }
    }

    /// Whole numbers around a mean, each with its share, or every k-th of them; what lies beyond the top is counted there.
    fn expect_count(
        &self,
        w: &mut Writer,
        count: &Count,
        keep: bool,
        pass: &Pass<'_>,
    ) -> Option<(Nodes, Vec<Source>)> {
        let Count { mean, sd, top, nodes: count, ref log_share } = *count;
        let below = w.mul(8.0, sd);
        let below = w.sub(mean, below);
        let below = w.sub(below, 2.0);
        let whole = w.unary(Unary::Floor, below);
        let mut start = w.max(whole, 0.0);
        let above = w.mul(9.0, sd);
        let above = w.add(mean, above);
        let end = w.add(above, 16.0);
        let mut reach = end;
        if let Some(top) = top {
            let cut = w.max(0.0, top);
            (start, reach) = (w.min(start, cut), w.min(end, top));
        }
        let width = w.sub(start, reach);
        let distance = w.div(width, f64::from(COUNTS - 1));
        let distance = w.unary(Unary::Floor, distance);
        let distance = w.minus(distance);
        let stride = w.max(distance, 1.0);
        // The middle of the whole numbers that a node stands for.
        let others = w.sub(stride, 1.0);
        let first = w.fused(0.5, others, start);
        let place = |w: &mut Writer, k: Source| {
            let raw = w.fused(k, stride, first);
            (raw, top.map_or(raw, |top| w.min(raw, top)))
        };
        let last = w.number(f64::from(count - 1));
        let (_, last) = place(w, last);
        // Weights are taken relative to one near the largest, so that none overflows.
        let middle = w.unary(Unary::Floor, mean);
        let middle = w.max(start, middle);
        let middle = w.min(last, middle);
        let largest = log_share(w, middle);
        // Nodes beyond the top repeat it and count once.
        let repeated = top.map(|top| w.add(top, stride));
        let numbers: Vec<f64> = (0..count).map(f64::from).collect();
        let numbers = Source::Node(w.constants(&numbers));
        let zero = w.number(0.0);
        let (mut kept, mut failed) = ((zero, zero), false);
        let mut sums = w.repeat_all(count, &vec![zero; pass.width + 1], |w, sums| {
            let (raw, y) = place(w, numbers);
            let log = log_share(w, y);
            let log = w.sub(log, largest);
            let mut weight = w.unary(Unary::Exp, log);
            if let Some(repeated) = repeated {
                let is_new = w.binary(Binary::Less, raw, repeated);
                weight = w.mul(is_new, weight);
            }
            let slope = self.slope_at(w, y).unwrap_or_else(|| {
                failed = true;
                y
            });
            let slope = (pass.prepare)(w, slope);
            if keep {
                kept = (w.keep(slope), w.keep(weight));
            }
            let values = (pass.values)(w, slope);
            let mut next: Vec<Source> =
                values.into_iter().zip(sums).map(|(value, sum)| w.fused(weight, value, *sum)).collect();
            next.push(w.add(sums[pass.width], weight));
            next
        });
        let total = sums.pop()?;
        let total_or_least = w.max(total, f64::MIN_POSITIVE);
        let nodes = match top {
            None => Nodes::Counts {
                slopes: kept.0,
                weights: kept.1,
                count,
                scale: w.div(1.0, total_or_least),
                beyond: None,
            },
            Some(top) => {
                let is_cut = w.binary(Binary::Less, top, end);
                let unit = w.unary(Unary::Exp, largest);
                let unit = w.mul(stride, unit);
                let mass = w.mul(unit, total);
                let mass = w.select(is_cut, mass, 1.0);
                let rest = w.sub(1.0, mass);
                let beyond = w.max(0.0, rest);
                let within = w.sub(1.0, beyond);
                let slope = self.slope_at(w, last)?;
                let slope = (pass.prepare)(w, slope);
                let scale = w.div(within, total_or_least);
                Nodes::Counts { slopes: kept.0, weights: kept.1, count, scale, beyond: Some((slope, beyond)) }
            }
        };
        let sums = nodes.scaled(w, sums, pass);
        (!failed).then_some((nodes, sums))
    }
}

impl Nodes {
    /// Writes expectations over the nodes.
    pub(super) fn expect(&self, w: &mut Writer, pass: &Pass<'_>) -> Vec<Source> {
        let zero = w.number(0.0);
        let mut over = |count: u32, slopes: Source, weights: Source, prepared: bool| {
            w.repeat_all(count, &vec![zero; pass.width], |w, sums| {
                let slope = if prepared { slopes } else { (pass.prepare)(w, slopes) };
                let values = (pass.values)(w, slope);
                values.into_iter().zip(sums).map(|(value, sum)| w.fused(weights, value, *sum)).collect()
            })
        };
        match *self {
            Self::Two { slopes, weights } => {
                let [first, second] = slopes.map(|slope| (pass.values)(w, slope));
                let pairs = first.into_iter().zip(second);
                pairs
                    .map(|(first, second)| {
                        let part = w.mul(weights[0], first);
                        w.fused(weights[1], second, part)
                    })
                    .collect()
            }
            Self::Free { slopes, weights, count } => over(count, slopes, weights, false),
            Self::Counts { slopes, weights, count, .. } => {
                let sums = over(count, slopes, weights, true);
                self.scaled(w, sums, pass)
            }
        }
    }

    /// The expectations that sums over kept nodes stand for.
    fn scaled(&self, w: &mut Writer, sums: Vec<Source>, pass: &Pass<'_>) -> Vec<Source> {
        let Self::Counts { scale, beyond, .. } = *self else { return sums };
        let within: Vec<Source> = sums.into_iter().map(|sum| w.mul(scale, sum)).collect();
        let Some((slope, share)) = beyond else { return within };
        let values = (pass.values)(w, slope);
        values.into_iter().zip(within).map(|(value, sum)| w.fused(share, value, sum)).collect()
    }
}

/// The nodes that can have a weight: where the largest count is below their number they are whole numbers next to each other, and those beyond it
/// repeat it.
fn nodes_below(top: f64) -> u32 {
    if (0.0..f64::from(COUNTS)).contains(&top) { (top.ceil() as u32 + 1).min(COUNTS) } else { COUNTS }
}

/// A table of values at 0, ½, 1, … up to the largest count, where that is small enough.
fn table(w: &mut Writer, top: f64, value: impl Fn(f64) -> f64) -> Option<(u32, u32)> {
    let twice = 2.0 * top;
    if !(twice.fract() == 0.0 && (0.0..LOOKED_UP).contains(&twice)) {
        return None;
    }
    let values: Vec<f64> = (0..=twice as u32).map(|k| value(0.5 * f64::from(k))).collect();
    Some((w.constants(&values), values.len() as u32))
}

fn look_up(w: &mut Writer, table: Option<(u32, u32)>, y: Source) -> Option<Source> {
    let (first, count) = table?;
    let index = w.add(y, y);
    Some(w.step(Step::Gather { index, first, count }))
}

/// ln Γ(y + 1).
fn ln_factorial(w: &mut Writer, y: Source) -> Source {
    let next = w.add(y, 1.0);
    w.unary(Unary::LnGamma, next)
}
