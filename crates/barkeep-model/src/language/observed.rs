//! Writes densities of responses as they were observed: censored, truncated, or as they are.

use barkeep_machine::{Binary, Unary};

use super::build::Observed;
use super::graph::{Graph, Id};
use super::laws::{LAWS, Law};

/// The distributions that have tails.
pub(crate) fn with_tails() -> String {
    let names: Vec<&str> = LAWS.iter().filter(|law| law.cumulative.is_some()).map(|law| law.name).collect();
    names.join(", ")
}

/// The most values of a count whose probabilities are added up.
pub(crate) const MOST_COUNTS: f64 = 256.0;

/// ln P(low ≤ Y ≤ high): by adding up where there are few counts, else by the tails.
pub(crate) fn log_mass(graph: &mut Graph, law: &Law, low: f64, high: f64) -> Option<Id> {
    let whole = law.is_count();
    if whole && high - low < MOST_COUNTS {
        return Some(log_count_mass(graph, law, low, high));
    }
    let (least, most) = law.support();
    let (below, above) = (low > least, high < most);
    // What lies below a count's least value ends one before it.
    let (low, high) = (graph.constant(if whole { low - 1.0 } else { low }), graph.constant(high));
    Some(match (below, above) {
        (false, false) => graph.constant(0.0),
        (true, false) => law.tails(graph, low)?.1,
        (false, true) => law.tails(graph, high)?.0,
        (true, true) => {
            // F(h) − F(l) where both are small, S(l) − S(h) where both are large: neither cancels in its tail.
            let (lower, upper) = (law.tails(graph, low)?, law.tails(graph, high)?);
            let mut difference = |large: Id, small: Id| {
                let apart = graph.sub(small, large);
                let rest = graph.unary(Unary::Log1mExp, apart);
                graph.add(large, rest)
            };
            let (left, right) = (difference(upper.0, lower.0), difference(lower.1, upper.1));
            let half = graph.constant(-std::f64::consts::LN_2);
            let high_tail = graph.binary(Binary::Less, half, lower.0);
            graph.select(high_tail, right, left)
        }
    })
}

/// ln Σ p(y) over the whole numbers from `low` to `high`.
fn log_count_mass(graph: &mut Graph, law: &Law, low: f64, high: f64) -> Id {
    let (mut sum, mut value) = (graph.constant(f64::NEG_INFINITY), low);
    while value <= high {
        let y = graph.constant(value);
        let density = law.density(graph, y);
        sum = graph.binary(Binary::LogAddExp, sum, density);
        value += 1.0;
    }
    sum
}

/// ln p of a response as it was observed, given y and ln p(y), and ln P(Y > y) where censoring needs it.
pub(crate) fn observed_density(
    graph: &mut Graph,
    law: &Law,
    observed: Observed,
    (y, plain): (Id, Id),
    (low, high): (f64, f64),
) -> Result<(Id, Option<Id>), String> {
    let refused = || match observed {
        Observed::Truncated => format!(
            "only {} can be truncated, and counts between bounds that hold at most {MOST_COUNTS} values; write `log_density` for others",
            with_tails()
        ),
        Observed::Exact | Observed::AtBounds | Observed::Where { .. } => {
            format!("only {} can be censored; write `log_density` for others", with_tails())
        }
    };
    match observed {
        Observed::Exact => Ok((plain, None)),
        Observed::Where { flag, when } => {
            let (_, survival) = law.tails(graph, y).ok_or_else(refused)?;
            let flag = graph.column(flag);
            let density = if when == 1.0 {
                graph.select(flag, survival, plain)
            } else {
                graph.select(flag, plain, survival)
            };
            Ok((density, Some(survival)))
        }
        Observed::AtBounds => {
            let (least, most) = law.support();
            let (low_node, high_node) = (graph.constant(low), graph.constant(high));
            // A count at the upper bound is that or more.
            let under = graph.constant(if law.is_count() { high - 1.0 } else { high });
            let (below, above) = (
                law.tails(graph, low_node).ok_or_else(refused)?.0,
                law.tails(graph, under).ok_or_else(refused)?.1,
            );
            let mut density = plain;
            if low > least {
                let at_low = graph.binary(Binary::LessEqual, y, low_node);
                density = graph.select(at_low, below, density);
            }
            if high < most {
                let at_high = graph.binary(Binary::LessEqual, high_node, y);
                density = graph.select(at_high, above, density);
            }
            Ok((density, None))
        }
        Observed::Truncated => {
            let mass = log_mass(graph, law, low, high).ok_or_else(refused)?;
            Ok((graph.sub(plain, mass), None))
        }
    }
}
