//! Distributions on the whole line.

use barkeep_machine::{Binary, Unary};
use barkeep_num::vector::scalar::log_sigmoid;
use std::f64::consts::{FRAC_PI_2, PI};

use super::expected::{grid_of_lines, tangents};
use super::tails::beta_tails;
use super::{Domain, LawEntry, Support, grid};
use crate::language::graph::{Graph, Id};
use crate::variates;

/// ½ ln 2π.
pub(super) const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

const LOCATION_SCALE: &[(&str, Domain)] = &[("location", Domain::Real), ("scale", Domain::Positive)];

/// (y − m)/s.
pub(super) fn standardised(graph: &mut Graph, y: Id, location: Id, scale: Id) -> Id {
    let apart = graph.sub(y, location);
    graph.div(apart, scale)
}

/// `value` − ln s.
pub(super) fn less_log(graph: &mut Graph, value: Id, scale: Id) -> Id {
    let log = graph.unary(Unary::Ln, scale);
    graph.sub(value, log)
}

/// `value` + number.
pub(super) fn plus(graph: &mut Graph, value: Id, number: f64) -> Id {
    let number = graph.constant(number);
    graph.add(value, number)
}

/// −½z² − ln s − ½ ln 2π.
pub(super) fn normal_density(graph: &mut Graph, z: Id, scale: Id) -> Id {
    let square = graph.unary(Unary::Square, z);
    let half = graph.times(-0.5, square);
    let shifted = plus(graph, half, -HALF_LN_TAU);
    less_log(graph, shifted, scale)
}

/// ln Φ(z) and ln Φ(−z).
pub(super) fn normal_tails(graph: &mut Graph, z: Id) -> (Id, Id) {
    let minus = graph.negate(z);
    (graph.unary(Unary::LnNormalCdf, z), graph.unary(Unary::LnNormalCdf, minus))
}

pub(super) const NORMAL: LawEntry = LawEntry {
    name: "normal",
    arguments: &[("mean", Domain::Real), ("sd", Domain::Positive)],
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        normal_density(graph, z, a[1])
    },
    cumulative: Some(|graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        normal_tails(graph, z)
    }),
    draw: |a, uniform| a[0] + a[1] * variates::normal(uniform),
    nodes: |a, shift, out| grid((out, shift), (-8.0, 8.0), 33, |t| (a[0] + a[1] * t, -0.5 * t * t)),
    write_nodes: |w, a, rounds| grid_of_lines((w, rounds), (-8.0, 8.0), 33, |t| -0.5 * t * t, (a[0], a[1])),
};

pub(super) const STUDENT_T: LawEntry = LawEntry {
    name: "student_t",
    arguments: &[("degrees", Domain::Positive), ("location", Domain::Real), ("scale", Domain::Positive)],
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        let z = standardised(graph, y, a[1], a[2]);
        let root = graph.unary(Unary::Sqrt, a[0]);
        let wide = graph.div(z, root);
        let tail = graph.unary(Unary::Ln1pSquare, wide);
        let raised = plus(graph, a[0], 1.0);
        let shape = graph.times(0.5, raised);
        let half = graph.times(0.5, a[0]);
        let weighted = graph.mul(shape, tail);
        let (above, below) = (graph.unary(Unary::LnGamma, shape), graph.unary(Unary::LnGamma, half));
        let gammas = graph.sub(above, below);
        let log = graph.unary(Unary::Ln, a[0]);
        let half_log = graph.times(-0.5, log);
        let constant = graph.add(gammas, half_log);
        let constant = plus(graph, constant, -0.5 * libm::log(PI));
        let density = graph.sub(constant, weighted);
        less_log(graph, density, a[2])
    },
    cumulative: Some(|graph, y, a| {
        // z/√ν = sinh v, and 2v is the logit of a beta law of both shapes ν/2.
        let z = standardised(graph, y, a[1], a[2]);
        let root = graph.unary(Unary::Sqrt, a[0]);
        let wide = graph.div(z, root);
        let logit = twice_arsinh(graph, wide);
        let half = graph.times(0.5, a[0]);
        beta_tails(graph, (half, half), logit)
    }),
    draw: |a, uniform| a[1] + a[2] * variates::student_t(a[0], uniform),
    nodes: |a, shift, out| tangent_nodes(a[0], (a[1], a[2]), (out, shift)),
    write_nodes: |w, a, rounds| tangents((w, rounds), Some(a[0]), (a[1], a[2])),
};

/// 2·arsinh x: the sign of x times 2·ln(|x| + √(1 + x²)).
fn twice_arsinh(graph: &mut Graph, x: Id) -> Id {
    let (sign, size) = (graph.unary(Unary::Sign, x), graph.unary(Unary::Abs, x));
    let square = graph.unary(Unary::Square, x);
    let under = plus(graph, square, 1.0);
    let root = graph.unary(Unary::Sqrt, under);
    // √(1 + x²) − 1 = x²/(1 + √(1 + x²)), which does not cancel.
    let below = plus(graph, root, 1.0);
    let more = graph.div(square, below);
    let beyond = graph.add(size, more);
    let log = graph.unary(Unary::Ln1p, beyond);
    let signed = graph.mul(sign, log);
    graph.times(2.0, signed)
}

/// Nodes of Student's t: z = √ν·tan φ has density cos^(ν−1) φ in φ.
fn tangent_nodes(
    degrees: f64,
    (location, scale): (f64, f64),
    (out, shift): (&mut Vec<super::Weighted>, f64),
) {
    let end = FRAC_PI_2 * (1.0 - 1.0 / 41.0);
    grid((out, shift), (-end, end), 41, |angle| {
        let value = location + scale * degrees.sqrt() * libm::tan(angle);
        (value, (degrees - 1.0) * libm::log(libm::cos(angle)))
    });
}

pub(super) const CAUCHY: LawEntry = LawEntry {
    name: "cauchy",
    arguments: LOCATION_SCALE,
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        let tail = graph.unary(Unary::Ln1pSquare, z);
        let minus = graph.negate(tail);
        let shifted = plus(graph, minus, -libm::log(PI));
        less_log(graph, shifted, a[1])
    },
    cumulative: Some(|graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        let minus = graph.negate(z);
        (graph.unary(Unary::LnCauchyCdf, z), graph.unary(Unary::LnCauchyCdf, minus))
    }),
    draw: |a, uniform| a[0] + a[1] * libm::tan(PI * (uniform() - 0.5)),
    nodes: |a, shift, out| tangent_nodes(1.0, (a[0], a[1]), (out, shift)),
    write_nodes: |w, a, rounds| tangents((w, rounds), None, (a[0], a[1])),
};

pub(super) const LOGISTIC: LawEntry = LawEntry {
    name: "logistic",
    arguments: LOCATION_SCALE,
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        // −z − 2 ln(1 + e⁻ᶻ) = 2·log_sigmoid(z) − z.
        let z = standardised(graph, y, a[0], a[1]);
        let log = graph.unary(Unary::LogSigmoid, z);
        let twice = graph.times(2.0, log);
        let density = graph.sub(twice, z);
        less_log(graph, density, a[1])
    },
    cumulative: Some(|graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        let minus = graph.negate(z);
        (graph.unary(Unary::LogSigmoid, z), graph.unary(Unary::LogSigmoid, minus))
    }),
    draw: |a, uniform| {
        let p = uniform();
        a[0] + a[1] * (libm::log(p) - libm::log1p(-p))
    },
    nodes: |a, shift, out| {
        grid((out, shift), (-25.0, 25.0), 51, |t| (a[0] + a[1] * t, log_sigmoid(t) + log_sigmoid(-t)))
    },
    write_nodes: |w, a, rounds| {
        grid_of_lines((w, rounds), (-25.0, 25.0), 51, |t| log_sigmoid(t) + log_sigmoid(-t), (a[0], a[1]))
    },
};

pub(super) const LAPLACE: LawEntry = LawEntry {
    name: "laplace",
    arguments: LOCATION_SCALE,
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        let z = standardised(graph, y, a[0], a[1]);
        let size = graph.unary(Unary::Abs, z);
        let minus = graph.negate(size);
        let shifted = plus(graph, minus, -std::f64::consts::LN_2);
        less_log(graph, shifted, a[1])
    },
    cumulative: Some(|graph, y, a| {
        // ln(½eᶻ) below the centre, ln(1 − ½e⁻ᶻ) above it.
        let z = standardised(graph, y, a[0], a[1]);
        let minus = graph.negate(z);
        (laplace_tail(graph, z), laplace_tail(graph, minus))
    }),
    draw: |a, uniform| {
        let p = uniform() - 0.5;
        a[0] - a[1] * p.signum() * libm::log1p(-2.0 * p.abs())
    },
    nodes: |a, shift, out| grid((out, shift), (-15.0, 15.0), 120, |t| (a[0] + a[1] * t, -t.abs())),
    write_nodes: |w, a, rounds| grid_of_lines((w, rounds), (-15.0, 15.0), 120, |t| -t.abs(), (a[0], a[1])),
};

fn laplace_tail(graph: &mut Graph, z: Id) -> Id {
    let below = plus(graph, z, -std::f64::consts::LN_2);
    let size = graph.unary(Unary::Abs, z);
    let minus = graph.negate(size);
    let decay = graph.unary(Unary::Exp, minus);
    let half = graph.times(-0.5, decay);
    let above = graph.unary(Unary::Ln1p, half);
    let zero = graph.constant(0.0);
    let negative = graph.binary(Binary::Less, z, zero);
    graph.select(negative, below, above)
}

pub(super) const UNIFORM: LawEntry = LawEntry {
    name: "uniform",
    arguments: &[("low", Domain::Real), ("high", Domain::Real)],
    rest: None,
    support: Support::Real,
    density: |graph, y, a| {
        let width = graph.sub(a[1], a[0]);
        let log = graph.unary(Unary::Ln, width);
        let inside = graph.negate(log);
        let (low, high) =
            (graph.binary(Binary::LessEqual, a[0], y), graph.binary(Binary::LessEqual, y, a[1]));
        let both = graph.mul(low, high);
        let nothing = graph.constant(f64::NEG_INFINITY);
        graph.select(both, inside, nothing)
    },
    cumulative: Some(|graph, y, a| {
        let (above, width) = (graph.sub(y, a[0]), graph.sub(a[1], a[0]));
        let share = graph.div(above, width);
        let (zero, one) = (graph.constant(0.0), graph.constant(1.0));
        let share = graph.binary(Binary::Max, zero, share);
        let share = graph.binary(Binary::Min, one, share);
        let rest = graph.negate(share);
        (graph.unary(Unary::Ln, share), graph.unary(Unary::Ln1p, rest))
    }),
    draw: |a, uniform| a[0] + (a[1] - a[0]) * uniform(),
    nodes: |a, shift, out| grid((out, shift), (a[0], a[1]), 33, |t| (t, 0.0)),
    write_nodes: |w, a, rounds| {
        let width = w.sub(a[1], a[0]);
        grid_of_lines((w, rounds), (0.0, 1.0), 33, |_| 0.0, (a[0], width))
    },
};
