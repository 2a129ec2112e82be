//! Holds gradients to dual numbers on a thousand random graphs, and special functions to differences.

use barkeep_data::Block;
use barkeep_machine::{digamma, trigamma};
use num_dual::{Dual64, DualNum};

use super::super::program::Template;
use super::*;
use crate::Scratch;
use crate::check::uniform;

/// The standard normal density.
fn bell(x: f64) -> f64 {
    libm::exp(-0.5 * x * x) / std::f64::consts::TAU.sqrt()
}

/// Parameters and columns of a random graph.
pub(crate) const WIDTH: usize = 3;

/// A random graph over [`WIDTH`] parameters, as many columns and a column of places, and its root. Functions are wrapped so
/// that their arguments lie in their domains.
pub(crate) fn random(next: &mut dyn FnMut() -> f64, size: usize) -> (Graph, Id) {
    let mut graph = Graph::default();
    let mut nodes: Vec<Id> = (0..WIDTH).map(|j| graph.parameter(j)).collect();
    nodes.extend((0..WIDTH).map(|j| graph.column(j)));
    let place = graph.column(WIDTH);
    let number = graph.constant(4.0 * next() - 2.0);
    nodes.push(number);
    for _ in 0..size {
        let pick = |next: &mut dyn FnMut() -> f64| nodes[(next() * nodes.len() as f64) as usize];
        let (a, b) = (pick(next), pick(next));
        let one = graph.constant(1.0);
        let square = graph.unary(Unary::Square, a);
        let above = graph.add(square, one);
        let bounded = graph.unary(Unary::Sigmoid, a);
        let node = match (next() * 22.0) as u32 {
            0 => graph.unary(Unary::Exp, bounded),
            1 => graph.unary(Unary::Ln, above),
            2 => graph.unary(Unary::Sqrt, above),
            3 => graph.unary(Unary::Sigmoid, a),
            4 => graph.unary(Unary::LogSigmoid, a),
            5 => graph.unary(Unary::Ln1pSquare, a),
            6 => graph.unary(Unary::Witch, a),
            7 => graph.unary(Unary::Reciprocal, above),
            8 => graph.unary(Unary::Ln1p, square),
            9 => graph.unary(Unary::ExpM1, bounded),
            10 => graph.unary(Unary::LnCauchyCdf, a),
            11 => {
                let minus = graph.negate(above);
                graph.unary(Unary::Log1mExp, minus)
            }
            12 => graph.add(a, b),
            13 => graph.sub(a, b),
            14 => graph.mul(a, b),
            15 => graph.div(b, above),
            16 => graph.binary(Binary::Pow, above, b),
            17 => graph.binary(Binary::Max, a, b),
            18 => graph.binary(Binary::LogAddExp, a, b),
            19 => graph.binary(Binary::LogSigmoidDifference, a, b),
            20 => {
                let less = graph.binary(Binary::Less, a, b);
                graph.select(less, b, above)
            }
            _ => {
                let entries: Vec<Id> = (0..3).map(|j| graph.parameter(j)).collect();
                graph.gather(place, &entries)
            }
        };
        // Bounded again, so that nests do not overflow.
        let node = if next() < 0.4 { graph.unary(Unary::Witch, node) } else { node };
        nodes.push(node);
    }
    let mut root = nodes[nodes.len() - 1];
    for node in nodes.iter().rev().take(4).skip(1) {
        root = graph.add(root, *node);
    }
    (graph, root)
}

/// The root in dual numbers, each function by its definition; special functions by their values and textbook slopes.
pub(crate) fn dual(graph: &Graph, root: Id, theta: &[Dual64], record: &[f64]) -> Dual64 {
    let real = |value: f64| Dual64::from_re(value);
    let mut values: Vec<Dual64> = Vec::new();
    for id in 0..=root {
        let at = |id: &Id| values[*id as usize];
        let value = match graph.node(id) {
            Node::Constant(bits) => real(f64::from_bits(*bits)),
            Node::Parameter(index) => theta[*index as usize],
            Node::Column(index) => real(record[*index as usize]),
            Node::Unary(op, a) => {
                let x = at(a);
                match op {
                    Unary::Exp => x.exp(),
                    Unary::ExpM1 => x.exp_m1(),
                    Unary::Ln => x.ln(),
                    Unary::Ln1p => x.ln_1p(),
                    Unary::Sqrt => x.sqrt(),
                    Unary::Square => x * x,
                    Unary::Reciprocal => x.recip(),
                    Unary::Sigmoid | Unary::ShortSigmoid => ((-x).exp() + 1.0).recip(),
                    Unary::LogSigmoid => {
                        if x.re < 0.0 {
                            x - x.exp().ln_1p()
                        } else {
                            -(-x).exp().ln_1p()
                        }
                    }
                    Unary::Log1mExp => (-x.exp()).ln_1p(),
                    Unary::Ln1pSquare => (x * x).ln_1p(),
                    Unary::Witch => x / (x * x + 1.0),
                    Unary::LnCauchyCdf => (x.atan() / std::f64::consts::PI + 0.5).ln(),
                    Unary::Abs => {
                        if x.re < 0.0 {
                            -x
                        } else {
                            x
                        }
                    }
                    Unary::Sign | Unary::Floor => real(op.at(x.re)),
                    Unary::LnGamma => Dual64::new(op.at(x.re), digamma(x.re) * x.eps),
                    Unary::Digamma => Dual64::new(op.at(x.re), trigamma(x.re) * x.eps),
                    Unary::NormalCdf => Dual64::new(op.at(x.re), bell(x.re) * x.eps),
                    Unary::LnNormalCdf => {
                        Dual64::new(op.at(x.re), bell(x.re) / barkeep_num::normal_cdf(x.re) * x.eps)
                    }
                    Unary::Trigamma | Unary::Mills => panic!("no density holds {op:?}"),
                }
            }
            Node::Binary(op, a, b) => {
                let (x, y) = (at(a), at(b));
                match op {
                    Binary::Add => x + y,
                    Binary::Sub => x - y,
                    Binary::Mul => x * y,
                    Binary::Div => x / y,
                    Binary::Pow => (x.ln() * y).exp(),
                    Binary::Max => {
                        if y.re > x.re {
                            y
                        } else {
                            x
                        }
                    }
                    Binary::Min => {
                        if y.re < x.re {
                            y
                        } else {
                            x
                        }
                    }
                    Binary::Less | Binary::LessEqual | Binary::Equal => real(op.at(x.re, y.re)),
                    Binary::LogAddExp => {
                        let (low, high) = if x.re < y.re { (x, y) } else { (y, x) };
                        high + (low - high).exp().ln_1p()
                    }
                    Binary::LogSigmoidDifference => {
                        let log =
                            |x: Dual64| if x.re < 0.0 { x - x.exp().ln_1p() } else { -(-x).exp().ln_1p() };
                        log(x) - log(y)
                    }
                }
            }
            Node::Select(c, a, b) => {
                if at(c).re != 0.0 {
                    at(a)
                } else {
                    at(b)
                }
            }
            Node::Gather(index, entries) => at(&entries[at(index).re as usize]),
        };
        values.push(value);
    }
    values[root as usize]
}

#[test]
fn gradients_agree_with_dual_numbers_on_a_thousand_random_graphs() {
    let next = &mut uniform(20);
    let (mut compared, mut moved) = (0, 0);
    for round in 0..1000 {
        let (mut graph, root) = random(next, 3 + round % 25);
        let oracle = graph.clone();
        let mut outputs = graph.gradient(root, WIDTH);
        outputs.push(root);
        let program = Template::new(&mut graph, &outputs).unwrap();
        let records = 1 + round % 7;
        let values: Vec<f64> = (0..(WIDTH + 1) * records)
            .map(|k| if k >= WIDTH * records { (3.0 * next()).floor() } else { 4.0 * next() - 2.0 })
            .collect();
        let theta: Vec<f64> = (0..WIDTH).map(|_| 3.0 * next() - 1.5).collect();
        let mut out = vec![f64::NAN; (WIDTH + 1) * records];
        Scratch::new().run(program.at(&[&theta]), Block::over(&values, records, records), &mut out);
        for i in 0..records {
            let record: Vec<f64> = (0..=WIDTH).map(|j| values[j * records + i]).collect();
            for j in 0..WIDTH {
                let seeded: Vec<Dual64> = theta
                    .iter()
                    .enumerate()
                    .map(|(k, value)| Dual64::new(*value, f64::from(u8::from(k == j))))
                    .collect();
                let expected = dual(&oracle, root, &seeded, &record);
                if !expected.re.is_finite() || !expected.eps.is_finite() || expected.re.abs() > 1e6 {
                    continue;
                }
                let (value, slope) = (out[WIDTH * records + i], out[j * records + i]);
                let close =
                    |found: f64, expected: f64, size: f64| (found - expected).abs() <= 1e-9 * (1.0 + size);
                assert!(
                    close(value, expected.re, expected.re.abs()),
                    "round {round}: {value} {}",
                    expected.re
                );
                let size = expected.eps.abs() + expected.re.abs();
                assert!(close(slope, expected.eps, size), "round {round}, {j}: {slope} {}", expected.eps);
                compared += 1;
                moved += usize::from(expected.eps != 0.0);
            }
        }
    }
    assert!(compared > 9000 && moved > 3000, "{compared} compared, {moved} not zero");
}

#[test]
fn special_functions_agree_with_central_differences() {
    for (op, points) in [
        (Unary::LnGamma, [0.3, 1.0, 2.5, 40.0]),
        (Unary::Digamma, [0.3, 1.0, 2.5, 40.0]),
        (Unary::NormalCdf, [-4.0, -0.5, 0.0, 3.0]),
        (Unary::LnNormalCdf, [-30.0, -2.0, 0.3, 5.0]),
        (Unary::Mills, [-30.0, -2.0, 0.3, 5.0]),
        (Unary::Abs, [-2.0, -0.5, 0.25, 3.0]),
        (Unary::Log1mExp, [-40.0, -2.0, -0.5, -0.05]),
        (Unary::LnCauchyCdf, [-1e4, -2.0, 0.5, 1e3]),
        (Unary::Witch, [-3.0, 0.0, 1.0, 20.0]),
    ] {
        for x in points.map(f64::from) {
            let mut graph = Graph::default();
            let theta = graph.parameter(0);
            let value = graph.unary(op, theta);
            let slope = graph.gradient(value, 1)[0];
            let step = 1e-5 * x.abs().max(0.1);
            let expected = (op.at(x + step) - op.at(x - step)) / (2.0 * step);
            let found = graph.values(&[x], &[])[slope as usize];
            assert!(
                (found - expected).abs() <= 1e-7 * (expected.abs() + 1e-3),
                "{op:?} at {x}: {found} {expected}"
            );
        }
    }
}
