//! Differentiates by transforming the graph: reverse mode, so that all coordinates of a gradient share their work.

use barkeep_machine::{Binary, Unary};

use super::graph::{Graph, Id, Node};

impl Graph {
    /// ∂root/∂θ_j for each of the first `count` coordinates, as nodes of the same graph.
    ///
    /// Adjoints flow from the root to its arguments in the reverse of the order of nodes. Only what depends on θ gets one.
    /// A derivative is taken as 0 where a comparison, a floor or a choice jumps.
    pub(crate) fn gradient(&mut self, root: Id, count: usize) -> Vec<Id> {
        let mut adjoints: Vec<Option<Id>> = vec![None; root as usize + 1];
        let one = self.constant(1.0);
        adjoints[root as usize] = Some(one);
        let zero = self.constant(0.0);
        let mut gradient = vec![zero; count];
        for id in (0..=root).rev() {
            let Some(adjoint) = adjoints[id as usize].take() else { continue };
            if !self.moves(id) {
                continue;
            }
            let node = self.node(id).clone();
            for (argument, share) in self.shares(id, &node, adjoint) {
                let sum = match adjoints[argument as usize] {
                    Some(before) => self.add(before, share),
                    None => share,
                };
                adjoints[argument as usize] = Some(sum);
            }
            if let Node::Parameter(index) = node
                && let Some(entry) = gradient.get_mut(index as usize)
            {
                *entry = adjoint;
            }
        }
        gradient
    }

    /// What a node's adjoint adds to those of its arguments.
    fn shares(&mut self, id: Id, node: &Node, adjoint: Id) -> Vec<(Id, Id)> {
        match node {
            Node::Constant(_) | Node::Parameter(_) | Node::Column(_) => Vec::new(),
            Node::Unary(op, a) => match self.slope(*op, *a, id) {
                Some(slope) => vec![(*a, self.mul(adjoint, slope))],
                None => Vec::new(),
            },
            Node::Binary(op, a, b) => self.binary_shares(*op, (*a, *b), id, adjoint),
            Node::Select(condition, a, b) => {
                let zero = self.constant(0.0);
                let mut shares = Vec::new();
                if self.moves(*a) {
                    shares.push((*a, self.select(*condition, adjoint, zero)));
                }
                if self.moves(*b) {
                    shares.push((*b, self.select(*condition, zero, adjoint)));
                }
                shares
            }
            Node::Gather(index, entries) => {
                let zero = self.constant(0.0);
                let mut shares = Vec::new();
                for (place, entry) in entries.iter().enumerate() {
                    if self.moves(*entry) {
                        let place = self.constant(place as f64);
                        let here = self.binary(Binary::Equal, *index, place);
                        shares.push((*entry, self.select(here, adjoint, zero)));
                    }
                }
                shares
            }
        }
    }

    /// f'(a), where `value` is f(a); nothing where it is 0.
    fn slope(&mut self, op: Unary, a: Id, value: Id) -> Option<Id> {
        let one = self.constant(1.0);
        Some(match op {
            Unary::Exp => value,
            Unary::ExpM1 => self.add(value, one),
            Unary::Ln => self.unary(Unary::Reciprocal, a),
            Unary::Ln1p => {
                let sum = self.add(one, a);
                self.unary(Unary::Reciprocal, sum)
            }
            Unary::Sqrt => {
                let inverse = self.unary(Unary::Reciprocal, value);
                self.times(0.5, inverse)
            }
            Unary::Abs => self.unary(Unary::Sign, a),
            Unary::Sign | Unary::Floor => return None,
            Unary::Square => self.times(2.0, a),
            Unary::Reciprocal => {
                let square = self.unary(Unary::Square, value);
                self.negate(square)
            }
            Unary::Sigmoid | Unary::ShortSigmoid => {
                let minus = self.negate(a);
                let other = self.unary(Unary::Sigmoid, minus);
                self.mul(value, other)
            }
            Unary::LogSigmoid => {
                let minus = self.negate(a);
                self.unary(Unary::Sigmoid, minus)
            }
            Unary::Log1mExp => {
                // −eˣ/(1 − eˣ) = −1/(e⁻ˣ − 1).
                let minus = self.negate(a);
                let below = self.unary(Unary::ExpM1, minus);
                let inverse = self.unary(Unary::Reciprocal, below);
                self.negate(inverse)
            }
            Unary::Ln1pSquare => {
                let witch = self.unary(Unary::Witch, a);
                self.times(2.0, witch)
            }
            Unary::Witch => {
                // (1 − x²)/(1 + x²)² = e^(−ln(1+x²)) − 2·(x/(1+x²))².
                let log = self.unary(Unary::Ln1pSquare, a);
                let minus = self.negate(log);
                let inverse = self.unary(Unary::Exp, minus);
                let square = self.unary(Unary::Square, value);
                let twice = self.times(2.0, square);
                self.sub(inverse, twice)
            }
            Unary::LnGamma => self.unary(Unary::Digamma, a),
            Unary::Digamma => self.unary(Unary::Trigamma, a),
            // No text can write ψ', so that no density holds one and this is never asked.
            Unary::Trigamma => self.constant(f64::NAN),
            Unary::NormalCdf => {
                let square = self.unary(Unary::Square, a);
                let half = self.times(-0.5, square);
                let density = self.unary(Unary::Exp, half);
                /// 1/√(2π).
                const HEIGHT: f64 = 0.398_942_280_401_432_7;
                self.times(HEIGHT, density)
            }
            Unary::LnNormalCdf => self.unary(Unary::Mills, a),
            Unary::Mills => {
                let sum = self.add(a, value);
                let product = self.mul(value, sum);
                self.negate(product)
            }
            Unary::LnCauchyCdf => {
                let log = self.unary(Unary::Ln1pSquare, a);
                let sum = self.add(log, value);
                let minus = self.negate(sum);
                let quotient = self.unary(Unary::Exp, minus);
                self.times(std::f64::consts::FRAC_1_PI, quotient)
            }
        })
    }

    /// The shares of the two arguments of a binary node.
    fn binary_shares(&mut self, op: Binary, (a, b): (Id, Id), id: Id, adjoint: Id) -> Vec<(Id, Id)> {
        let (left, right) = (self.moves(a), self.moves(b));
        let mut shares = Vec::new();
        match op {
            Binary::Add => {
                shares.extend(
                    [(left, a), (right, b)].into_iter().filter(|(m, _)| *m).map(|(_, x)| (x, adjoint)),
                );
            }
            Binary::Sub => {
                if left {
                    shares.push((a, adjoint));
                }
                if right {
                    shares.push((b, self.negate(adjoint)));
                }
            }
            Binary::Mul => {
                if left {
                    shares.push((a, self.mul(adjoint, b)));
                }
                if right {
                    shares.push((b, self.mul(adjoint, a)));
                }
            }
            Binary::Div => {
                let share = self.div(adjoint, b);
                if left {
                    shares.push((a, share));
                }
                if right {
                    let product = self.mul(share, id);
                    shares.push((b, self.negate(product)));
                }
            }
            Binary::Pow => {
                if left {
                    // b·a^(b−1), which is right at a = 0 too.
                    let one = self.constant(1.0);
                    let less = self.sub(b, one);
                    let power = self.binary(Binary::Pow, a, less);
                    let slope = self.mul(b, power);
                    shares.push((a, self.mul(adjoint, slope)));
                }
                if right {
                    // aᵇ·ln a, whose limit at a = 0 is 0.
                    let zero = self.constant(0.0);
                    let above = self.binary(Binary::Less, zero, a);
                    let one = self.constant(1.0);
                    let safe = self.select(above, a, one);
                    let log = self.unary(Unary::Ln, safe);
                    let slope = self.mul(id, log);
                    shares.push((b, self.mul(adjoint, slope)));
                }
            }
            Binary::Min | Binary::Max => {
                let second = match op {
                    Binary::Min => self.binary(Binary::Less, b, a),
                    _ => self.binary(Binary::Less, a, b),
                };
                let zero = self.constant(0.0);
                if left {
                    shares.push((a, self.select(second, zero, adjoint)));
                }
                if right {
                    shares.push((b, self.select(second, adjoint, zero)));
                }
            }
            Binary::Less | Binary::LessEqual | Binary::Equal => {}
            Binary::LogAddExp => {
                let apart = self.sub(a, b);
                let share = self.unary(Unary::Sigmoid, apart);
                if left {
                    shares.push((a, self.mul(adjoint, share)));
                }
                if right {
                    let one = self.constant(1.0);
                    let other = self.sub(one, share);
                    shares.push((b, self.mul(adjoint, other)));
                }
            }
            Binary::LogSigmoidDifference => {
                for (argument, moves, sign) in [(a, left, 1.0), (b, right, -1.0)] {
                    if moves {
                        let minus = self.negate(argument);
                        let slope = self.unary(Unary::Sigmoid, minus);
                        let signed = self.times(sign, slope);
                        shares.push((argument, self.mul(adjoint, signed)));
                    }
                }
            }
        }
        shares
    }
}

#[cfg(test)]
pub(super) mod tests;
