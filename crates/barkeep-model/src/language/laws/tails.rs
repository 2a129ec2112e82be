//! Writes the tails of gamma and beta laws into a graph, as integrals whose work does not depend on the record.
//!
//! In u = ln x the density of a gamma law is exp(a·u − eᵘ)/Γ(a); in u = logit x that of a beta law is σ(u)ᵃ·σ(−u)ᵇ/B(a, b). Both are
//! log-concave, so from any point beyond the mode they fall outward at an ever faster rate. With D(w) the fall of the logarithm over a
//! distance w, the tail beyond u is the density at u times ∫₀^W e^(−D(w)) dw with D(W) = [`DEPTH`], which leaves out e^(−40) of it at
//! most; Gauss and Legendre's rule of [`NODES`] nodes integrates it. W comes from Newton's steps on the convex D, from above, where they
//! cannot overshoot.
//!
//! **Precision.** A lower tail of shape a near 0 is long and has a bend, which one rule does not resolve. Three steps of the recurrence
//! P(a, x) = P(a + 1, x) + xᵃe⁻ˣ/Γ(a + 1), and its like for beta, raise the shape first. Against tables by mpmath, shapes from
//! 10⁻³ to 10⁴, logarithms of tails are right to 10⁻¹⁰.

use barkeep_machine::{Binary, Unary};

use super::positive::ln_beta;
use super::real::plus;
use crate::language::graph::{Graph, Id};

/// How far, in logarithms, a density falls over the range of the integral.
const DEPTH: f64 = 40.0;
/// Nodes of the rule.
const NODES: usize = 32;
/// Newton's steps to the end of the range.
const STEPS: usize = 4;

/// ln P(X ≤ x) and ln P(X > x) of a gamma law of rate 1, given x and ln x.
pub(super) fn gamma_tails(graph: &mut Graph, shape: Id, (x, ln_x): (Id, Id)) -> (Id, Id) {
    let ln_shape = graph.unary(Unary::Ln, shape);
    let is_low = graph.binary(Binary::LessEqual, x, shape);
    let low = (graph.binary(Binary::Min, x, shape), graph.binary(Binary::Min, ln_x, ln_shape));
    let high = (graph.binary(Binary::Max, x, shape), graph.binary(Binary::Max, ln_x, ln_shape));
    let lower = gamma_lower(graph, shape, low);
    let upper = gamma_upper(graph, shape, high);
    complete(graph, is_low, lower, upper)
}

/// The tails of a beta law at x = σ(u).
pub(super) fn beta_tails(graph: &mut Graph, (a, b): (Id, Id), u: Id) -> (Id, Id) {
    let (ln_a, ln_b) = (graph.unary(Unary::Ln, a), graph.unary(Unary::Ln, b));
    let mode = graph.sub(ln_a, ln_b);
    let is_low = graph.binary(Binary::LessEqual, u, mode);
    let (low, high) = (graph.binary(Binary::Min, u, mode), graph.binary(Binary::Max, u, mode));
    let lower = beta_lower(graph, (a, b), low);
    let mirrored = graph.negate(high);
    let upper = beta_lower(graph, (b, a), mirrored);
    complete(graph, is_low, lower, upper)
}

/// Both tails from the one that is small.
fn complete(graph: &mut Graph, is_low: Id, lower: Id, upper: Id) -> (Id, Id) {
    // Rounding must not lift a probability to 1, where the other tail's logarithm has no slope.
    let below_0 = graph.constant(-1e-15);
    let [from_upper, from_lower] = [upper, lower].map(|tail| {
        let tail = graph.binary(Binary::Min, tail, below_0);
        graph.unary(Unary::Log1mExp, tail)
    });
    (graph.select(is_low, lower, from_upper), graph.select(is_low, from_lower, upper))
}

/// ln P(X ≤ x) for x up to the shape: with t = xᵃe⁻ˣ/Γ(a + 1), ln t(1 + x/(a+1)·(1 + x/(a+2)·(1 + x·∫))), where ∫ belongs to the
/// shape a + 3.
fn gamma_lower(graph: &mut Graph, shape: Id, (x, ln_x): (Id, Id)) -> Id {
    let raised = [1.0, 2.0, 3.0].map(|by| plus(graph, shape, by));
    // D(w) = a·w − x(1 − e⁻ʷ).
    let fall = |graph: &mut Graph, w: Id| {
        let minus = graph.negate(w);
        let lost = graph.unary(Unary::ExpM1, minus);
        let (first, second) = (graph.mul(raised[2], w), graph.mul(x, lost));
        graph.add(first, second)
    };
    let rate = |graph: &mut Graph, w: Id| {
        let minus = graph.negate(w);
        let left = graph.unary(Unary::Exp, minus);
        let against = graph.mul(x, left);
        graph.sub(raised[2], against)
    };
    // D(w) ≥ a·w − x.
    let reach = plus(graph, x, DEPTH);
    let start = graph.div(reach, raised[2]);
    let integral = integral(graph, start, fall, rate);
    let mut sum = {
        let last = graph.mul(x, integral);
        plus(graph, last, 1.0)
    };
    for above in [raised[1], raised[0]] {
        let ratio = graph.div(x, above);
        let product = graph.mul(ratio, sum);
        sum = plus(graph, product, 1.0);
    }
    let (power, gamma) = (graph.mul(shape, ln_x), graph.unary(Unary::LnGamma, raised[0]));
    let first = graph.sub(power, x);
    let first = graph.sub(first, gamma);
    let log = graph.unary(Unary::Ln, sum);
    graph.add(first, log)
}

/// ln P(X > x) for x from the shape on.
fn gamma_upper(graph: &mut Graph, shape: Id, (x, ln_x): (Id, Id)) -> Id {
    // D(w) = x(eʷ − 1) − a·w.
    let fall = |graph: &mut Graph, w: Id| {
        let grown = graph.unary(Unary::ExpM1, w);
        let (first, second) = (graph.mul(x, grown), graph.mul(shape, w));
        graph.sub(first, second)
    };
    let rate = |graph: &mut Graph, w: Id| {
        let grown = graph.unary(Unary::Exp, w);
        let first = graph.mul(x, grown);
        graph.sub(first, shape)
    };
    // D(w) ≥ s·w + x·w²/2 with s = x − a ends at w₀ = 2·40/(s + √(s² + 2·40·x)); and x(eʷ − 1) = 40 + a·w ≤ 40 + a·w₀.
    let slope = graph.sub(x, shape);
    let (square, bend) = (graph.unary(Unary::Square, slope), graph.times(2.0 * DEPTH, x));
    let under = graph.add(square, bend);
    let root = graph.unary(Unary::Sqrt, under);
    let sum = graph.add(slope, root);
    let double = graph.constant(2.0 * DEPTH);
    let first = graph.div(double, sum);
    let moved = graph.mul(shape, first);
    let all = plus(graph, moved, DEPTH);
    let ratio = graph.div(all, x);
    let start = graph.unary(Unary::Ln1p, ratio);
    let integral = integral(graph, start, fall, rate);
    let (power, gamma) = (graph.mul(shape, ln_x), graph.unary(Unary::LnGamma, shape));
    let first = graph.sub(power, x);
    let first = graph.sub(first, gamma);
    let log = graph.unary(Unary::Ln, integral);
    graph.add(first, log)
}

/// ln P(X ≤ σ(u)) for u up to the mode: with t = xᵃ(1−x)ᵇ/(a·B(a, b)),
/// ln t(1 + x(a+b)/(a+1)·(1 + x(a+b+1)/(a+2)·(1 + x(a+b+2)·∫))), where ∫ belongs to the shape a + 3.
fn beta_lower(graph: &mut Graph, (a, b): (Id, Id), u: Id) -> Id {
    let minus = graph.negate(u);
    let raised = plus(graph, a, 3.0);
    // D(w) = a·(ln σ(u) − ln σ(u−w)) + b·(ln σ(−u) − ln σ(w−u)).
    let fall = |graph: &mut Graph, w: Id| {
        let (there, back) = (graph.sub(u, w), graph.sub(w, u));
        let first = graph.binary(Binary::LogSigmoidDifference, u, there);
        let second = graph.binary(Binary::LogSigmoidDifference, minus, back);
        let (first, second) = (graph.mul(raised, first), graph.mul(b, second));
        graph.add(first, second)
    };
    let rate = |graph: &mut Graph, w: Id| {
        let (there, back) = (graph.sub(u, w), graph.sub(w, u));
        let (left, right) = (graph.unary(Unary::Sigmoid, back), graph.unary(Unary::Sigmoid, there));
        let (left, right) = (graph.mul(raised, left), graph.mul(b, right));
        graph.sub(left, right)
    };
    // ln σ(v) ≤ v, so that D(w) ≥ a·w + (a + b)·ln σ(−u).
    let (log, log_rest) = (graph.unary(Unary::LogSigmoid, u), graph.unary(Unary::LogSigmoid, minus));
    let both = graph.add(raised, b);
    let above = graph.mul(both, log_rest);
    let depth = graph.constant(DEPTH);
    let reach = graph.sub(depth, above);
    let start = graph.div(reach, raised);
    let integral = integral(graph, start, fall, rate);
    let x = graph.unary(Unary::Sigmoid, u);
    let whole = graph.add(a, b);
    let mut sum = {
        let all = plus(graph, whole, 2.0);
        let share = graph.mul(x, all);
        let last = graph.mul(share, integral);
        plus(graph, last, 1.0)
    };
    for by in [1.0, 0.0] {
        let (all, above) = (plus(graph, whole, by), plus(graph, a, by + 1.0));
        let ratio = graph.div(all, above);
        let share = graph.mul(x, ratio);
        let product = graph.mul(share, sum);
        sum = plus(graph, product, 1.0);
    }
    let (first, second) = (graph.mul(a, log), graph.mul(b, log_rest));
    let powers = graph.add(first, second);
    let (constant, ln_a) = (ln_beta(graph, a, b), graph.unary(Unary::Ln, a));
    let constant = graph.add(constant, ln_a);
    let term = graph.sub(powers, constant);
    let log = graph.unary(Unary::Ln, sum);
    graph.add(term, log)
}

/// ∫₀^W e^(−D(w)) dw with D(W) = [`DEPTH`], from a w at which D is at least that.
fn integral(
    graph: &mut Graph,
    start: Id,
    fall: impl Fn(&mut Graph, Id) -> Id,
    rate: impl Fn(&mut Graph, Id) -> Id,
) -> Id {
    let mut end = start;
    for _ in 0..STEPS {
        let (fallen, slope) = (fall(graph, end), rate(graph, end));
        let too_far = plus(graph, fallen, -DEPTH);
        let step = graph.div(too_far, slope);
        end = graph.sub(end, step);
    }
    let mut sum = graph.constant(0.0);
    for (node, weight) in rule() {
        let w = graph.times(node, end);
        let fallen = fall(graph, w);
        let minus = graph.negate(fallen);
        let left = graph.unary(Unary::Exp, minus);
        let term = graph.times(weight, left);
        sum = graph.add(sum, term);
    }
    graph.mul(end, sum)
}

/// Gauss and Legendre's nodes and weights on [0, 1]: roots of P_n by Newton's method from Chebyshev's.
fn rule() -> [(f64, f64); NODES] {
    #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
    let n = NODES as f64;
    std::array::from_fn(|k| {
        #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
        let mut x = libm::cos(std::f64::consts::PI * (k as f64 + 0.75) / (n + 0.5));
        let mut slope = 1.0;
        for _ in 0..8 {
            let (mut before, mut value) = (1.0, x);
            for j in 2..=NODES {
                #[expect(clippy::cast_precision_loss, reason = "a few dozen")]
                let j = j as f64;
                (before, value) = (value, ((2.0 * j - 1.0) * x * value - (j - 1.0) * before) / j);
            }
            slope = n * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests;
