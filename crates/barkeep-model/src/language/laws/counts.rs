//! Distributions of whole numbers.

use barkeep_machine::{Binary, Source, Unary, Writer, ln_gamma};
use barkeep_num::vector::scalar::sigmoid;

use super::expected::{Rounds, WrittenNodes, written_counts, written_two};
use super::positive::ln_beta;
use super::real::plus;
use super::tails::{beta_tails, gamma_tails};
use super::{Domain, LawEntry, Support, Weighted, count_nodes};
use crate::language::graph::{Graph, Id, Node};
use crate::variates;

const LOGIT: &[(&str, Domain)] = &[("logit", Domain::Real)];

/// η, where p is written as inv_logit(η).
fn logit_of(graph: &Graph, p: Id) -> Option<Id> {
    match graph.node(p) {
        Node::Unary(Unary::Sigmoid, logit) => Some(*logit),
        _ => None,
    }
}

/// y·η − ln(1 + e^η).
fn bernoulli_logit(graph: &mut Graph, y: Id, logit: Id) -> Id {
    binomial_logit_kernel(graph, y, None, logit)
}

/// y·η − n·ln(1 + e^η).
fn binomial_logit_kernel(graph: &mut Graph, y: Id, trials: Option<Id>, logit: Id) -> Id {
    let minus = graph.negate(logit);
    let log = graph.unary(Unary::LogSigmoid, minus);
    let all = match trials {
        Some(trials) => graph.mul(trials, log),
        None => log,
    };
    let chosen = graph.mul(y, logit);
    graph.add(chosen, all)
}

fn flip(p: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    f64::from(u8::from(uniform() < p))
}

fn two(p: f64, out: &mut Vec<Weighted>) {
    out.extend([Weighted { value: 0.0, weight: 1.0 - p }, Weighted { value: 1.0, weight: p }]);
}

pub(super) const BERNOULLI: LawEntry = LawEntry {
    name: "bernoulli",
    arguments: &[("p", Domain::Probability)],
    rest: None,
    support: Support::Binary,
    density: |graph, y, a| {
        if let Some(logit) = logit_of(graph, a[0]) {
            return bernoulli_logit(graph, y, logit);
        }
        let one = graph.constant(1.0);
        let rest = graph.sub(one, a[0]);
        let chosen = graph.select(y, a[0], rest);
        graph.unary(Unary::Ln, chosen)
    },
    cumulative: None,
    draw: |a, uniform| flip(a[0], uniform),
    nodes: |a, _, out| two(a[0], out),
    write_nodes: |w, a, _| written_two(w, a[0]),
};

pub(super) const BERNOULLI_LOGIT: LawEntry = LawEntry {
    name: "bernoulli_logit",
    arguments: LOGIT,
    rest: None,
    support: Support::Binary,
    density: |graph, y, a| bernoulli_logit(graph, y, a[0]),
    cumulative: None,
    draw: |a, uniform| flip(sigmoid(a[0]), uniform),
    nodes: |a, _, out| two(sigmoid(a[0]), out),
    write_nodes: |w, a, _| {
        let p = w.unary(Unary::Sigmoid, a[0]);
        written_two(w, p)
    },
};

/// ln C(n, y).
fn ln_choose(graph: &mut Graph, n: Id, y: Id) -> Id {
    let rest = graph.sub(n, y);
    let raised = [n, y, rest].map(|x| {
        let above = plus(graph, x, 1.0);
        graph.unary(Unary::LnGamma, above)
    });
    let less = graph.sub(raised[0], raised[1]);
    graph.sub(less, raised[2])
}

fn scalar_ln_choose(n: f64, y: f64) -> f64 {
    ln_gamma(n + 1.0) - ln_gamma(y + 1.0) - ln_gamma(n - y + 1.0)
}

/// ln P(Y ≤ y) and ln P(Y > y) of a binomial law: those of a beta law of shapes n − y and y + 1 at 1 − p.
fn binomial_tails(graph: &mut Graph, y: Id, trials: Id, logit: Id) -> (Id, Id) {
    /// Stands for a shape of 0, at y = n, where a beta law is a point at 0.
    const NOTHING: f64 = 1e-100;
    let (left, nothing) = (graph.sub(trials, y), graph.constant(NOTHING));
    let left = graph.binary(Binary::Max, left, nothing);
    let (above, minus) = (plus(graph, y, 1.0), graph.negate(logit));
    beta_tails(graph, (left, above), minus)
}

/// ln P(Y ≤ y) and ln P(Y > y) of a Poisson law, whose (y+1)-th event comes after a gamma time.
fn poisson_tails(graph: &mut Graph, y: Id, mean: (Id, Id)) -> (Id, Id) {
    let above = plus(graph, y, 1.0);
    let (soon, late) = gamma_tails(graph, above, mean);
    (late, soon)
}

fn binomial_draw(n: f64, p: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
    /// More trials than this are a mistake; a simulation counts no further.
    const MOST: f64 = 1e6;
    let (mut left, mut count) = (n.clamp(0.0, MOST).floor(), 0.0);
    while left > 0.0 {
        count += flip(p, uniform);
        left -= 1.0;
    }
    count
}

/// ln C(n, y).
fn written_ln_choose(w: &mut Writer, n: Source, y: Source) -> Source {
    let rest = w.sub(n, y);
    let [all, won, lost] = [n, y, rest].map(|count| {
        let above = w.add(count, 1.0);
        w.unary(Unary::LnGamma, above)
    });
    let less = w.sub(all, won);
    w.sub(less, lost)
}

fn written_binomial((w, rounds): (&mut Writer, Rounds<'_>), n: Source, p: Source) -> WrittenNodes {
    let minus = w.minus(p);
    let (log, log_rest) = (w.unary(Unary::Ln, p), w.unary(Unary::Ln1p, minus));
    let (mean, rest) = (w.mul(n, p), w.sub(1.0, p));
    let variance = w.mul(mean, rest);
    let sd = w.unary(Unary::Sqrt, variance);
    written_counts((w, rounds), (mean, sd), Some(n), move |w, y| {
        let ways = written_ln_choose(w, n, y);
        let left = w.sub(n, y);
        let (won, lost) = (w.mul(y, log), w.mul(left, log_rest));
        let sum = w.add(ways, won);
        w.add(sum, lost)
    })
}

fn binomial_nodes(n: f64, p: f64, out: (&mut Vec<Weighted>, f64)) {
    let (log, log_rest) = (libm::log(p), libm::log1p(-p));
    count_nodes(out, (n * p, (n * p * (1.0 - p)).sqrt()), n, |y| {
        scalar_ln_choose(n, y) + y * log + (n - y) * log_rest
    });
}

pub(super) const BINOMIAL: LawEntry = LawEntry {
    name: "binomial",
    arguments: &[("trials", Domain::Positive), ("p", Domain::Probability)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        let choose = ln_choose(graph, a[0], y);
        let kernel = match logit_of(graph, a[1]) {
            Some(logit) => binomial_logit_kernel(graph, y, Some(a[0]), logit),
            None => {
                let minus = graph.negate(a[1]);
                let (log, log_rest) = (graph.unary(Unary::Ln, a[1]), graph.unary(Unary::Ln1p, minus));
                let rest = graph.sub(a[0], y);
                let (first, second) = (graph.mul(y, log), graph.mul(rest, log_rest));
                graph.add(first, second)
            }
        };
        graph.add(choose, kernel)
    },
    cumulative: Some(|graph, y, a| {
        let logit = match logit_of(graph, a[1]) {
            Some(logit) => logit,
            None => {
                let minus = graph.negate(a[1]);
                let (log, log_rest) = (graph.unary(Unary::Ln, a[1]), graph.unary(Unary::Ln1p, minus));
                graph.sub(log, log_rest)
            }
        };
        binomial_tails(graph, y, a[0], logit)
    }),
    draw: |a, uniform| binomial_draw(a[0], a[1], uniform),
    nodes: |a, shift, out| binomial_nodes(a[0], a[1], (out, shift)),
    write_nodes: |w, a, rounds| written_binomial((w, rounds), a[0], a[1]),
};

pub(super) const BINOMIAL_LOGIT: LawEntry = LawEntry {
    name: "binomial_logit",
    arguments: &[("trials", Domain::Positive), ("logit", Domain::Real)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        let choose = ln_choose(graph, a[0], y);
        let kernel = binomial_logit_kernel(graph, y, Some(a[0]), a[1]);
        graph.add(choose, kernel)
    },
    cumulative: Some(|graph, y, a| binomial_tails(graph, y, a[0], a[1])),
    draw: |a, uniform| binomial_draw(a[0], sigmoid(a[1]), uniform),
    nodes: |a, shift, out| binomial_nodes(a[0], sigmoid(a[1]), (out, shift)),
    write_nodes: |w, a, rounds| {
        let p = w.unary(Unary::Sigmoid, a[1]);
        written_binomial((w, rounds), a[0], p)
    },
};

pub(super) const BETA_BINOMIAL: LawEntry = LawEntry {
    name: "beta_binomial",
    arguments: &[("trials", Domain::Positive), ("a", Domain::Positive), ("b", Domain::Positive)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        let choose = ln_choose(graph, a[0], y);
        let rest = graph.sub(a[0], y);
        let (left, right) = (graph.add(y, a[1]), graph.add(rest, a[2]));
        let (above, below) = (ln_beta(graph, left, right), ln_beta(graph, a[1], a[2]));
        let ratio = graph.sub(above, below);
        graph.add(choose, ratio)
    },
    cumulative: None,
    draw: |a, uniform| {
        let (x, y) = (variates::gamma(a[1], uniform), variates::gamma(a[2], uniform));
        binomial_draw(a[0], x / (x + y), uniform)
    },
    nodes: |a, shift, out| {
        let (n, sum) = (a[0], a[1] + a[2]);
        let ln_beta = |a: f64, b: f64| ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b);
        let mean = n * a[1] / sum;
        let sd = (mean * (a[2] / sum) * (sum + n) / (sum + 1.0)).sqrt();
        let constant = ln_beta(a[1], a[2]);
        count_nodes((out, shift), (mean, sd), n, |y| {
            scalar_ln_choose(n, y) + ln_beta(y + a[1], n - y + a[2]) - constant
        });
    },
    write_nodes: |w, a, rounds| {
        let (n, first, second) = (a[0], a[1], a[2]);
        let sum = w.add(first, second);
        let mean = w.mul(n, first);
        let mean = w.div(mean, sum);
        // mean·(b/(a + b))·(a + b + n)/(a + b + 1).
        let (rest, all, above) = (w.div(second, sum), w.add(sum, n), w.add(sum, 1.0));
        let variance = w.mul(mean, rest);
        let variance = w.mul(variance, all);
        let variance = w.div(variance, above);
        let sd = w.unary(Unary::Sqrt, variance);
        written_counts((w, rounds), (mean, sd), Some(n), move |w, y| {
            let ways = written_ln_choose(w, n, y);
            let rest = w.sub(n, y);
            let (won, lost) = (w.add(y, first), w.add(rest, second));
            let all = w.add(won, lost);
            let [won, lost, all] = [won, lost, all].map(|x| w.unary(Unary::LnGamma, x));
            let beta = w.add(won, lost);
            let beta = w.sub(beta, all);
            w.add(ways, beta)
        })
    },
};

/// y·η − e^η − ln y!.
fn poisson_log(graph: &mut Graph, y: Id, log_mean: Id) -> Id {
    let mean = graph.unary(Unary::Exp, log_mean);
    poisson(graph, y, log_mean, mean)
}

fn poisson(graph: &mut Graph, y: Id, log_mean: Id, mean: Id) -> Id {
    let chosen = graph.mul(y, log_mean);
    let less = graph.sub(chosen, mean);
    let above = plus(graph, y, 1.0);
    let factorial = graph.unary(Unary::LnGamma, above);
    graph.sub(less, factorial)
}

fn written_poisson((w, rounds): (&mut Writer, Rounds<'_>), mean: Source) -> WrittenNodes {
    let (log, sd) = (w.unary(Unary::Ln, mean), w.unary(Unary::Sqrt, mean));
    written_counts((w, rounds), (mean, sd), None, move |w, y| {
        let weighted = w.mul(y, log);
        let less = w.sub(weighted, mean);
        let above = w.add(y, 1.0);
        let orders = w.unary(Unary::LnGamma, above);
        w.sub(less, orders)
    })
}

fn poisson_nodes(mean: f64, out: (&mut Vec<Weighted>, f64)) {
    let log = libm::log(mean);
    count_nodes(out, (mean, mean.sqrt()), f64::MAX, |y| y * log - mean - ln_gamma(y + 1.0));
}

pub(super) const POISSON: LawEntry = LawEntry {
    name: "poisson",
    arguments: &[("mean", Domain::Positive)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        let log = graph.unary(Unary::Ln, a[0]);
        poisson(graph, y, log, a[0])
    },
    cumulative: Some(|graph, y, a| {
        let log = graph.unary(Unary::Ln, a[0]);
        poisson_tails(graph, y, (a[0], log))
    }),
    draw: |a, uniform| variates::poisson(a[0], uniform),
    nodes: |a, shift, out| poisson_nodes(a[0], (out, shift)),
    write_nodes: |w, a, rounds| written_poisson((w, rounds), a[0]),
};

pub(super) const POISSON_LOG: LawEntry = LawEntry {
    name: "poisson_log",
    arguments: &[("log_mean", Domain::Real)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| poisson_log(graph, y, a[0]),
    cumulative: Some(|graph, y, a| {
        let mean = graph.unary(Unary::Exp, a[0]);
        poisson_tails(graph, y, (mean, a[0]))
    }),
    draw: |a, uniform| variates::poisson(libm::exp(a[0]), uniform),
    nodes: |a, shift, out| poisson_nodes(libm::exp(a[0]), (out, shift)),
    write_nodes: |w, a, rounds| {
        let mean = w.unary(Unary::Exp, a[0]);
        written_poisson((w, rounds), mean)
    },
};

pub(super) const NEG_BINOMIAL: LawEntry = LawEntry {
    name: "neg_binomial",
    arguments: &[("mean", Domain::Positive), ("size", Domain::Positive)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        // ln Γ(y+φ) − ln Γ(φ) − ln y! + φ ln φ + y ln μ − (y+φ) ln(μ+φ).
        let (both, total) = (graph.add(y, a[1]), graph.add(a[0], a[1]));
        let above = plus(graph, y, 1.0);
        let gammas = [both, a[1], above].map(|x| graph.unary(Unary::LnGamma, x));
        let logs = [a[1], a[0], total].map(|x| graph.unary(Unary::Ln, x));
        let gamma = graph.sub(gammas[0], gammas[1]);
        let gamma = graph.sub(gamma, gammas[2]);
        let (first, second, third) =
            (graph.mul(a[1], logs[0]), graph.mul(y, logs[1]), graph.mul(both, logs[2]));
        let sum = graph.add(gamma, first);
        let sum = graph.add(sum, second);
        graph.sub(sum, third)
    },
    cumulative: Some(|graph, y, a| {
        // P(Y ≤ y) is that of a beta law of shapes φ and y + 1 at φ/(μ + φ).
        let (mean, size) = (graph.unary(Unary::Ln, a[0]), graph.unary(Unary::Ln, a[1]));
        let (logit, above) = (graph.sub(size, mean), plus(graph, y, 1.0));
        beta_tails(graph, (a[1], above), logit)
    }),
    draw: |a, uniform| {
        let mean = a[0] / a[1] * variates::gamma(a[1], uniform);
        variates::poisson(mean, uniform)
    },
    nodes: |a, shift, out| {
        let (mean, size) = (a[0], a[1]);
        let sd = (mean + mean * mean / size).sqrt();
        let (log, log_total) = (libm::log(mean), libm::log(mean + size));
        count_nodes((out, shift), (mean, sd), f64::MAX, |y| {
            ln_gamma(y + size) - ln_gamma(y + 1.0) + y * log - (y + size) * log_total
        });
    },
    write_nodes: |w, a, rounds| {
        let (mean, size) = (a[0], a[1]);
        let square = w.mul(mean, mean);
        let spread = w.div(square, size);
        let variance = w.add(mean, spread);
        let total = w.add(mean, size);
        let (log, log_total) = (w.unary(Unary::Ln, mean), w.unary(Unary::Ln, total));
        let sd = w.unary(Unary::Sqrt, variance);
        written_counts((w, rounds), (mean, sd), None, move |w, y| {
            let (all, above) = (w.add(y, size), w.add(y, 1.0));
            let (ways, orders) = (w.unary(Unary::LnGamma, all), w.unary(Unary::LnGamma, above));
            let ways = w.sub(ways, orders);
            let (won, rest) = (w.mul(y, log), w.mul(all, log_total));
            let sum = w.add(ways, won);
            w.sub(sum, rest)
        })
    },
};

pub(super) const POINT: LawEntry = LawEntry {
    name: "point",
    arguments: &[("value", Domain::Real)],
    rest: None,
    support: Support::Whole,
    density: |graph, y, a| {
        let here = graph.binary(Binary::Equal, y, a[0]);
        let (zero, nothing) = (graph.constant(0.0), graph.constant(f64::NEG_INFINITY));
        graph.select(here, zero, nothing)
    },
    cumulative: Some(|graph, y, a| {
        let reached = graph.binary(Binary::LessEqual, a[0], y);
        let (all, nothing) = (graph.constant(0.0), graph.constant(f64::NEG_INFINITY));
        (graph.select(reached, all, nothing), graph.select(reached, nothing, all))
    }),
    draw: |a, _| a[0],
    nodes: |a, _, out| out.push(Weighted { value: a[0], weight: 1.0 }),
    write_nodes: |_, a, _| {
        let value = a[0];
        WrittenNodes::new(1, move |w, _| (value, w.number(1.0)))
    },
};
