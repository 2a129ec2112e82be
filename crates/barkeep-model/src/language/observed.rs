//! Writes densities of responses as they were observed: censored, truncated, or as they are.

use super::build::Observed;
use super::graph::{Graph, Id};
use super::laws::{LAWS, Law, Support};
use super::op::{Binary, Unary};

/// The distributions whose tails have a closed form.
pub(crate) fn with_tails() -> String {
    let names: Vec<&str> = LAWS.iter().filter(|law| law.cumulative.is_some()).map(|law| law.name).collect();
    names.join(", ")
}

/// The most values of a count whose probabilities are added up.
const MOST_COUNTS: f64 = 256.0;

/// ln P(low ≤ Y ≤ high): by the tails where they have a closed form, by adding up where there are few counts.
pub(crate) fn log_mass(graph: &mut Graph, law: &Law, low: f64, high: f64) -> Option<Id> {
    if law.supports().iter().all(|support| *support == Support::Whole) {
        return log_count_mass(graph, law, low, high);
    }
    let Law::One { entry, arguments } = law else { return None };
    let cumulative = entry.cumulative?;
    let (below, above) = (low > entry.support.least(), high < entry.support.most());
    let (low, high) = (graph.constant(low), graph.constant(high));
    Some(match (below, above) {
        (false, false) => graph.constant(0.0),
        (true, false) => cumulative(graph, low, arguments).1,
        (false, true) => cumulative(graph, high, arguments).0,
        (true, true) => {
            // F(h) − F(l) where both are small, S(l) − S(h) where both are large: neither cancels in its tail.
            let (lower, upper) = (cumulative(graph, low, arguments), cumulative(graph, high, arguments));
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

/// ln Σ p(y) over the whole numbers from `low` to `high`, if they are few.
fn log_count_mass(graph: &mut Graph, law: &Law, low: f64, high: f64) -> Option<Id> {
    if high - low >= MOST_COUNTS {
        return None;
    }
    let (mut sum, mut value) = (graph.constant(f64::NEG_INFINITY), low);
    while value <= high {
        let y = graph.constant(value);
        let density = law.density(graph, y);
        sum = graph.binary(Binary::LogAddExp, sum, density);
        value += 1.0;
    }
    Some(sum)
}

/// ln p of a response as it was observed, given y and ln p(y), and ln P(Y > y) where censoring needs it.
pub(crate) fn observed_density(
    graph: &mut Graph,
    law: &Law,
    observed: Observed,
    (y, plain): (Id, Id),
    (low, high): (f64, f64),
) -> Result<(Id, Option<Id>), String> {
    let whole = law.supports().iter().all(|support| *support == Support::Whole);
    let refused = || match observed {
        Observed::Truncated if whole => {
            format!("a count can be truncated between bounds that hold at most {MOST_COUNTS} values")
        }
        Observed::Truncated => {
            format!("only {} and counts can be truncated; write `log_density` for others", with_tails())
        }
        Observed::Exact | Observed::AtBounds | Observed::Where { .. } => {
            format!("only {} can be censored; write `log_density` for others", with_tails())
        }
    };
    let tails = |graph: &mut Graph, at: Id| match law {
        Law::One { entry, arguments } => entry.cumulative.map(|cumulative| cumulative(graph, at, arguments)),
        Law::Mixture(_) => None,
    };
    match observed {
        Observed::Exact => Ok((plain, None)),
        Observed::Where { flag, when } => {
            let (_, survival) = tails(graph, y).ok_or_else(refused)?;
            let flag = graph.column(flag);
            let density = if when == 1.0 {
                graph.select(flag, survival, plain)
            } else {
                graph.select(flag, plain, survival)
            };
            Ok((density, Some(survival)))
        }
        Observed::AtBounds => {
            let (least, most) =
                law.supports().first().map_or((0.0, 0.0), |support| (support.least(), support.most()));
            let (low_node, high_node) = (graph.constant(low), graph.constant(high));
            let (below, above) = (
                tails(graph, low_node).ok_or_else(refused)?.0,
                tails(graph, high_node).ok_or_else(refused)?.1,
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
