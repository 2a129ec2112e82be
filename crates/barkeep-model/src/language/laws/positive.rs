//! Distributions of positive numbers, and of proportions.

use barkeep_machine::{Source, Unary, Writer, digamma, trigamma};
use barkeep_num::vector::scalar::{log_sigmoid, sigmoid};
use std::f64::consts::{FRAC_PI_2, LN_2, PI};

use super::expected::{moving_grid, written_grid};
use super::real::{less_log, normal_density, normal_tails, plus, standardised};
use super::tails::{beta_tails, gamma_tails};
use super::{Domain, LawEntry, Support, grid};
use crate::language::graph::{Graph, Id};
use crate::variates;

pub(super) const LOGNORMAL: LawEntry = LawEntry {
    name: "lognormal",
    arguments: &[("log_mean", Domain::Real), ("log_sd", Domain::Positive)],
    rest: None,
    support: Support::Positive,
    density: |graph, y, a| {
        let log = graph.unary(Unary::Ln, y);
        let z = standardised(graph, log, a[0], a[1]);
        let density = normal_density(graph, z, a[1]);
        graph.sub(density, log)
    },
    cumulative: Some(|graph, y, a| {
        let log = graph.unary(Unary::Ln, y);
        let z = standardised(graph, log, a[0], a[1]);
        normal_tails(graph, z)
    }),
    draw: |a, uniform| libm::exp(a[0] + a[1] * variates::normal(uniform)),
    nodes: |a, shift, out| {
        grid((out, shift), (-8.0, 8.0), 33, |t| (libm::exp(a[0] + a[1] * t), -0.5 * t * t))
    },
    write_nodes: |w, a, rounds| {
        let (location, scale) = (a[0], a[1]);
        written_grid(
            (w, rounds),
            (-8.0, 8.0),
            33,
            |t| (t, -0.5 * t * t),
            move |w, t| {
                let log = w.fused(scale, t, location);
                w.unary(Unary::Exp, log)
            },
        )
    },
};

/// ln(1 − e^(−h)) and −h: the tails of a law with cumulative hazard h.
fn hazard_tails(graph: &mut Graph, hazard: Id) -> (Id, Id) {
    let minus = graph.negate(hazard);
    (graph.unary(Unary::Log1mExp, minus), minus)
}

/// The tails of |Y| for a law symmetric around 0, from ln P(Y > y): twice that, and the rest.
fn folded_tails(graph: &mut Graph, above: Id) -> (Id, Id) {
    let both = plus(graph, above, LN_2);
    (graph.unary(Unary::Log1mExp, both), both)
}

pub(super) const EXPONENTIAL: LawEntry = LawEntry {
    name: "exponential",
    arguments: &[("rate", Domain::Positive)],
    rest: None,
    support: Support::NonNegative,
    density: |graph, y, a| {
        let log = graph.unary(Unary::Ln, a[0]);
        let hazard = graph.mul(a[0], y);
        graph.sub(log, hazard)
    },
    cumulative: Some(|graph, y, a| {
        let hazard = graph.mul(a[0], y);
        hazard_tails(graph, hazard)
    }),
    draw: |a, uniform| -libm::log(uniform()) / a[0],
    nodes: |a, shift, out| grid((out, shift), (-12.0, 4.0), 41, |t| (libm::exp(t) / a[0], t - libm::exp(t))),
    write_nodes: |w, a, rounds| {
        let rate = a[0];
        let node = |t: f64| (libm::exp(t), t - libm::exp(t));
        written_grid((w, rounds), (-12.0, 4.0), 41, node, move |w, x| w.div(x, rate))
    },
};

/// k·(ln y − ln s): the logarithm of a Weibull law's cumulative hazard.
fn weibull_log_hazard(graph: &mut Graph, y: Id, a: &[Id]) -> (Id, Id) {
    let (log, scale) = (graph.unary(Unary::Ln, y), graph.unary(Unary::Ln, a[1]));
    let apart = graph.sub(log, scale);
    (graph.mul(a[0], apart), log)
}

pub(super) const WEIBULL: LawEntry = LawEntry {
    name: "weibull",
    arguments: &[("shape", Domain::Positive), ("scale", Domain::Positive)],
    rest: None,
    support: Support::Positive,
    density: |graph, y, a| {
        let (z, log) = weibull_log_hazard(graph, y, a);
        let shape = graph.unary(Unary::Ln, a[0]);
        let hazard = graph.unary(Unary::Exp, z);
        let sum = graph.add(shape, z);
        let less = graph.sub(sum, log);
        graph.sub(less, hazard)
    },
    cumulative: Some(|graph, y, a| {
        let (z, _) = weibull_log_hazard(graph, y, a);
        let hazard = graph.unary(Unary::Exp, z);
        hazard_tails(graph, hazard)
    }),
    draw: |a, uniform| a[1] * libm::pow(-libm::log(uniform()), 1.0 / a[0]),
    nodes: |a, shift, out| {
        grid((out, shift), (-12.0, 4.0), 41, |t| (a[1] * libm::exp(t / a[0]), t - libm::exp(t)))
    },
    write_nodes: |w, a, rounds| {
        let (shape, scale) = (a[0], a[1]);
        written_grid(
            (w, rounds),
            (-12.0, 4.0),
            41,
            |t| (t, t - libm::exp(t)),
            move |w, t| {
                let log = w.div(t, shape);
                let power = w.unary(Unary::Exp, log);
                w.mul(scale, power)
            },
        )
    },
};

pub(super) const GAMMA: LawEntry = LawEntry {
    name: "gamma",
    arguments: &[("shape", Domain::Positive), ("rate", Domain::Positive)],
    rest: None,
    support: Support::Positive,
    density: |graph, y, a| {
        let (log, rate) = (graph.unary(Unary::Ln, y), graph.unary(Unary::Ln, a[1]));
        let scaled = graph.add(log, rate);
        let power = graph.mul(a[0], scaled);
        let gamma = graph.unary(Unary::LnGamma, a[0]);
        let decay = graph.mul(a[1], y);
        let density = graph.sub(power, gamma);
        let density = graph.sub(density, decay);
        graph.sub(density, log)
    },
    cumulative: Some(|graph, y, a| {
        let (log, rate) = (graph.unary(Unary::Ln, y), graph.unary(Unary::Ln, a[1]));
        let at = (graph.mul(a[1], y), graph.add(log, rate));
        gamma_tails(graph, a[0], at)
    }),
    draw: |a, uniform| variates::gamma(a[0], uniform) / a[1],
    nodes: |a, shift, out| {
        // ln Y has mean ψ(k) and variance ψ'(k), and density exp(k·t − eᵗ − k·ln k + k) up to a constant.
        let (centre, sd) = (digamma(a[0]), trigamma(a[0]).sqrt());
        let top = a[0] * libm::log(a[0]) - a[0];
        grid((out, shift), (centre - 10.0 * sd, centre + 6.0 * sd), 49, |t| {
            (libm::exp(t) / a[1], a[0] * t - libm::exp(t) - top)
        });
    },
    write_nodes: |w, a, rounds| {
        let (shape, rate) = (a[0], a[1]);
        let centre = w.unary(Unary::Digamma, shape);
        let variance = w.unary(Unary::Trigamma, shape);
        let sd = w.unary(Unary::Sqrt, variance);
        let log = w.unary(Unary::Ln, shape);
        let scaled = w.mul(shape, log);
        let top = w.sub(scaled, shape);
        moving_grid((w, rounds), (centre, sd), (-10.0, 6.0), 49, move |w, t| {
            let (power, scaled) = (w.unary(Unary::Exp, t), w.mul(shape, t));
            let log = w.sub(scaled, power);
            (w.div(power, rate), w.sub(log, top))
        })
    },
};

pub(super) const HALF_NORMAL: LawEntry = LawEntry {
    name: "half_normal",
    arguments: &[("scale", Domain::Positive)],
    rest: None,
    support: Support::NonNegative,
    density: |graph, y, a| {
        let z = graph.div(y, a[0]);
        let density = normal_density(graph, z, a[0]);
        plus(graph, density, LN_2)
    },
    cumulative: Some(|graph, y, a| {
        let z = graph.div(y, a[0]);
        let above = normal_tails(graph, z).1;
        folded_tails(graph, above)
    }),
    draw: |a, uniform| a[0] * variates::normal(uniform).abs(),
    nodes: |a, shift, out| grid((out, shift), (0.0625, 6.0625), 49, |t| (a[0] * t, -0.5 * t * t)),
    write_nodes: |w, a, rounds| {
        let scale = a[0];
        written_grid((w, rounds), (0.0625, 6.0625), 49, |t| (t, -0.5 * t * t), move |w, t| w.mul(scale, t))
    },
};

pub(super) const HALF_CAUCHY: LawEntry = LawEntry {
    name: "half_cauchy",
    arguments: &[("scale", Domain::Positive)],
    rest: None,
    support: Support::NonNegative,
    density: |graph, y, a| {
        let z = graph.div(y, a[0]);
        let tail = graph.unary(Unary::Ln1pSquare, z);
        let minus = graph.negate(tail);
        let shifted = plus(graph, minus, libm::log(2.0 / PI));
        less_log(graph, shifted, a[0])
    },
    cumulative: Some(|graph, y, a| {
        let z = graph.div(y, a[0]);
        let minus = graph.negate(z);
        let above = graph.unary(Unary::LnCauchyCdf, minus);
        folded_tails(graph, above)
    }),
    draw: |a, uniform| a[0] * libm::tan(FRAC_PI_2 * uniform()),
    nodes: |a, shift, out| {
        grid((out, shift), (FRAC_PI_2 / 82.0, FRAC_PI_2 * (1.0 - 1.0 / 82.0)), 41, |angle| {
            (a[0] * libm::tan(angle), 0.0)
        });
    },
    write_nodes: |w, a, rounds| {
        let scale = a[0];
        let ends = (FRAC_PI_2 / 82.0, FRAC_PI_2 * (1.0 - 1.0 / 82.0));
        written_grid((w, rounds), ends, 41, |angle| (libm::tan(angle), 0.0), move |w, t| w.mul(scale, t))
    },
};

/// ln B(a, b).
pub(super) fn ln_beta(graph: &mut Graph, a: Id, b: Id) -> Id {
    let sum = graph.add(a, b);
    let (one, two, both) =
        (graph.unary(Unary::LnGamma, a), graph.unary(Unary::LnGamma, b), graph.unary(Unary::LnGamma, sum));
    let above = graph.add(one, two);
    graph.sub(above, both)
}

pub(super) const BETA: LawEntry = LawEntry {
    name: "beta",
    arguments: &[("a", Domain::Positive), ("b", Domain::Positive)],
    rest: None,
    support: Support::Unit,
    density: |graph, y, a| {
        let minus = graph.negate(y);
        let (log, log_rest) = (graph.unary(Unary::Ln, y), graph.unary(Unary::Ln1p, minus));
        let (less_a, less_b) = (plus(graph, a[0], -1.0), plus(graph, a[1], -1.0));
        let (first, second) = (graph.mul(less_a, log), graph.mul(less_b, log_rest));
        let sum = graph.add(first, second);
        let constant = ln_beta(graph, a[0], a[1]);
        graph.sub(sum, constant)
    },
    cumulative: Some(|graph, y, a| {
        let minus = graph.negate(y);
        let (log, log_rest) = (graph.unary(Unary::Ln, y), graph.unary(Unary::Ln1p, minus));
        let logit = graph.sub(log, log_rest);
        beta_tails(graph, (a[0], a[1]), logit)
    }),
    draw: |a, uniform| {
        let (x, y) = (variates::gamma(a[0], uniform), variates::gamma(a[1], uniform));
        x / (x + y)
    },
    nodes: |a, shift, out| {
        let centre = digamma(a[0]) - digamma(a[1]);
        let sd = (trigamma(a[0]) + trigamma(a[1])).sqrt();
        let top = a[0] * log_sigmoid(centre) + a[1] * log_sigmoid(-centre);
        grid((out, shift), (centre - 9.0 * sd, centre + 9.0 * sd), 55, |t| {
            (sigmoid(t), a[0] * log_sigmoid(t) + a[1] * log_sigmoid(-t) - top)
        });
    },
    write_nodes: |w, a, rounds| {
        let shapes = [a[0], a[1]];
        let [first, second] = shapes.map(|shape| w.unary(Unary::Digamma, shape));
        let centre = w.sub(first, second);
        let [first, second] = shapes.map(|shape| w.unary(Unary::Trigamma, shape));
        let variance = w.add(first, second);
        let sd = w.unary(Unary::Sqrt, variance);
        let log_density = move |w: &mut Writer, t: Source| {
            let minus = w.minus(t);
            let (up, down) = (w.unary(Unary::LogSigmoid, t), w.unary(Unary::LogSigmoid, minus));
            let (first, second) = (w.mul(shapes[0], up), w.mul(shapes[1], down));
            w.add(first, second)
        };
        let top = log_density(w, centre);
        moving_grid((w, rounds), (centre, sd), (-9.0, 9.0), 55, move |w, t| {
            let log = log_density(w, t);
            (w.unary(Unary::Sigmoid, t), w.sub(log, top))
        })
    },
};
