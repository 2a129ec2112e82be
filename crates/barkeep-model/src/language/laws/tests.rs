//! Holds every distribution to scipy's tables, its gradient to differences, and its nodes and draws to its density.

use super::*;
use crate::check::uniform;
use crate::language::information::pick;

struct Row {
    entry: &'static LawEntry,
    y: f64,
    arguments: Vec<f64>,
    density: f64,
    tails: Option<(f64, f64)>,
}

/// The table, made by `tests/tables/make_laws.py`.
fn table() -> Vec<Row> {
    let text = include_str!("../../../tests/tables/laws.csv");
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |cell: &str| cell.parse::<f64>().unwrap();
            Row {
                entry: LAWS.iter().find(|law| law.name == cells[0]).unwrap(),
                y: number(cells[1]),
                arguments: cells[2].split(' ').map(number).collect(),
                density: number(cells[3]),
                tails: (!cells[4].is_empty()).then(|| (number(cells[4]), number(cells[5]))),
            }
        })
        .collect()
}

/// A graph of a law's density of column 0, its arguments being parameters, and the nodes of density and tails.
fn graph(entry: &LawEntry, count: usize) -> (Graph, Id, Option<(Id, Id)>) {
    let mut graph = Graph::default();
    let arguments: Vec<Id> = (0..count).map(|j| graph.parameter(j)).collect();
    let y = graph.column(0);
    let density = (entry.density)(&mut graph, y, &arguments);
    let tails = entry.cumulative.map(|cumulative| cumulative(&mut graph, y, &arguments));
    (graph, density, tails)
}

#[test]
fn densities_and_tails_are_scipys() {
    let mut seen: Vec<&str> = Vec::new();
    for row in table() {
        let (graph, density, tails) = graph(row.entry, row.arguments.len());
        let values = graph.values(&row.arguments, &[row.y]);
        let name = row.entry.name;
        let close = |found: f64, expected: f64| (found - expected).abs() <= 1e-11 * (1.0 + expected.abs());
        let found = values[density as usize];
        assert!(
            close(found, row.density),
            "{name}({:?}) at {}: {found} {}",
            row.arguments,
            row.y,
            row.density
        );
        assert_eq!(tails.is_some(), row.tails.is_some(), "{name}");
        if let (Some((below, above)), Some((log_below, log_above))) = (tails, row.tails) {
            let (below, above) = (values[below as usize], values[above as usize]);
            assert!(close(below, log_below), "{name} below {}: {below} {log_below}", row.y);
            assert!(close(above, log_above), "{name} above {}: {above} {log_above}", row.y);
        }
        seen.push(name);
    }
    for law in LAWS.iter().filter(|law| law.name != "point") {
        assert!(
            seen.iter().filter(|name| **name == law.name).count() >= 40,
            "{} is not in the table",
            law.name
        );
    }
}

/// Every distribution and its tails, in forward mode by dual numbers: nothing of the transformation under test is used.
#[test]
fn gradients_agree_with_dual_numbers_on_every_distribution() {
    use super::super::derivative::tests::dual;
    use num_dual::Dual64;
    let mut compared = std::collections::BTreeSet::new();
    for row in table() {
        let count = row.arguments.len();
        let (mut graph, density, tails) = graph(row.entry, count);
        let mut roots = vec![density];
        roots.extend(tails.into_iter().flat_map(|(below, above)| [below, above]));
        for root in roots {
            let slopes = graph.gradient(root, count);
            let values = graph.values(&row.arguments, &[row.y]);
            for (j, slope) in slopes.iter().enumerate() {
                let one = |(k, value): (usize, &f64)| Dual64::new(*value, f64::from(u8::from(k == j)));
                let theta: Vec<Dual64> = row.arguments.iter().enumerate().map(one).collect();
                let expected = dual(&graph, root, &theta, &[row.y]);
                let found = values[*slope as usize];
                let size = 1.0 + expected.eps.abs() + expected.re.abs();
                let (name, y) = (row.entry.name, row.y);
                assert!(
                    (found - expected.eps).abs() <= 1e-9 * size,
                    "{name} {:?} at {y}, {j}: {found} {}",
                    row.arguments,
                    expected.eps
                );
                compared.insert(name);
            }
        }
    }
    assert_eq!(compared.len() + 1, LAWS.len(), "all but point, which has no slope: {compared:?}");
}

#[test]
fn gradients_are_those_of_the_densities() {
    for row in table() {
        let count = row.arguments.len();
        let (mut graph, density, tails) = graph(row.entry, count);
        let mut roots = vec![density];
        roots.extend(tails.into_iter().flat_map(|(below, above)| [below, above]));
        for root in roots {
            let slopes = graph.gradient(root, count);
            let slopes: Vec<f64> =
                slopes.iter().map(|id| graph.values(&row.arguments, &[row.y])[*id as usize]).collect();
            // Trials are no parameter: tails have a corner where all of them succeed.
            let first = usize::from(root != density && row.entry.name.starts_with("binomial"));
            for (j, slope) in slopes.iter().enumerate().skip(first) {
                let step = 1e-5 * row.arguments[j].abs().max(0.1);
                let at = |by: f64| {
                    let mut moved = row.arguments.clone();
                    moved[j] += by;
                    graph.values(&moved, &[row.y])[root as usize]
                };
                // Five points: the error is of the fourth order, so that rounding is what is left.
                let expected =
                    (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step);
                let size = expected.abs() + at(0.0).abs() + 1.0;
                let name = row.entry.name;
                assert!(
                    (slope - expected).abs() <= 1e-7 * size,
                    "{name} {:?} at {}, {j}: {slope} {expected}",
                    row.arguments,
                    row.y
                );
            }
        }
    }
}

/// Weights add up to 1 and scores have mean 0 under them, for regular laws: what makes the nodes stand for the law.
#[test]
fn nodes_integrate_scores_to_zero() {
    for row in table() {
        let name = row.entry.name;
        if matches!(name, "uniform" | "binomial" | "binomial_logit" | "beta_binomial")
            && row.arguments[0] < 1.0
        {
            continue;
        }
        let count = row.arguments.len();
        let (mut graph, density, _) = graph(row.entry, count);
        let slopes = graph.gradient(density, count);
        let mut nodes = Vec::new();
        (row.entry.nodes)(&row.arguments, 0.0, &mut nodes);
        let total: f64 = nodes.iter().map(|node| node.weight).sum();
        assert!((total - 1.0).abs() < 1e-9, "{name}: {total}");
        // A uniform law's ends move with its arguments, and trials are no parameter.
        let regular = |j: usize| {
            !(name == "uniform" || (name.contains("binomial") && !name.starts_with("neg") && j == 0))
        };
        for j in (0..count).filter(|j| regular(*j)) {
            let score = |value: f64| graph.values(&row.arguments, &[value])[slopes[j] as usize];
            let mean: f64 = nodes.iter().map(|node| node.weight * score(node.value)).sum();
            let size: f64 = nodes.iter().map(|node| node.weight * score(node.value).powi(2)).sum();
            assert!(
                mean.abs() <= 0.02 * (size.sqrt() + 1e-3),
                "{name} {:?}, {j}: {mean} beside {}",
                row.arguments,
                size.sqrt()
            );
        }
    }
}

/// E[score] = 0 under the draws, within five standard errors: one failure in a million for each of some 60 means.
#[test]
fn draws_follow_the_densities() {
    let next = &mut uniform(77);
    for law in LAWS.iter().filter(|law| law.name != "point" && law.name != "uniform") {
        let row = table().into_iter().find(|row| row.entry.name == law.name).unwrap();
        let count = row.arguments.len();
        let (mut graph, density, _) = graph(row.entry, count);
        let slopes = graph.gradient(density, count);
        let first = usize::from(law.name.contains("binomial") && !law.name.starts_with("neg"));
        let draws: Vec<f64> = (0..4000).map(|_| (law.draw)(&row.arguments, next)).collect();
        let values: Vec<Vec<f64>> = draws.iter().map(|y| graph.values(&row.arguments, &[*y])).collect();
        for slope in &slopes[first..] {
            let scores: Vec<f64> = values.iter().map(|values| values[*slope as usize]).collect();
            let mean = scores.iter().sum::<f64>() / 4000.0;
            let variance = scores.iter().map(|score| score * score).sum::<f64>() / 4000.0;
            assert!(
                mean.abs() <= 5.0 * (variance / 4000.0).sqrt() + 1e-12,
                "{}: {mean} {variance}",
                law.name
            );
        }
    }
}

/// A mixture of a law with itself at other arguments is in it too; what is expected of y cut to ±3 and of y/(1 + y²), within a thousandth of a step of
/// the lattice that terms are rounded to.
#[test]
fn programs_expect_and_pick_what_nodes_do() {
    use barkeep_machine::{Block, Machine, Output, Unary};
    let mut seen = Vec::new();
    for row in table() {
        let count = row.arguments.len() as Id;
        let one = |from: Id| Law::One { entry: row.entry, arguments: (from..from + count).collect() };
        let mixture = Law::Mixture(vec![(0, one(2)), (1, one(2 + count))]);
        let mut arguments = vec![0.3, 0.7];
        arguments.extend(&row.arguments);
        arguments.extend(&row.arguments);
        for law in [one(2), mixture] {
            let values = |w: &mut Writer, y: Source| {
                let bound = w.number(3.0);
                vec![w.cut(y, bound), w.unary(Unary::Witch, y)]
            };
            let mut w = Writer::default();
            let places: Vec<Source> = (0..arguments.len() as u32).map(Source::Column).collect();
            let means = law.write_expected(&mut w, &places, &Expected { values: &values, width: 2 });
            let program = w.finish(means.into_iter().map(Output::Dense)).unwrap();
            let mut found = [f64::NAN; 2];
            Machine::default().write_all(&program, Block::over(&arguments, 1, 1), &mut found);
            let mut nodes = Vec::new();
            law.nodes(&arguments, 0.0, &mut nodes);
            let mut expected = [0.0; 2];
            for Weighted { value, weight } in nodes.iter().filter(|node| node.weight.is_finite()) {
                expected[0] += weight * value.clamp(-3.0, 3.0);
                expected[1] += weight * value / (1.0 + value * value);
            }
            let is_near = found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12);
            assert!(is_near, "{}({:?}): {found:?} {expected:?}", row.entry.name, row.arguments);
            // Stand-ins pick the same nodes: a sum tells, weighted so that no two of them can change places.
            let part = |step: f64| (0..16).map(|k| (f64::from(k) * step).fract()).collect::<Vec<f64>>();
            let shifts = part(0.7548776662466927).iter().map(|share| share - 0.5).collect();
            let (draws, weights) = (Draws { shifts, levels: part(0.5698402909980532) }, part(0.618034));
            let mut w = Writer::default();
            let starts = [w.number(0.0)];
            let [sum] = w.repeat(16, starts, |w, [sum]| {
                let picked = law.write_picked(w, &places, &draws);
                let (picked, weight) = (values(w, picked)[0], Source::Node(w.constants(&weights)));
                [w.fused(weight, picked, sum)]
            });
            let program = w.finish([Output::Dense(sum)]).unwrap();
            Machine::default().write_all(&program, Block::over(&arguments, 1, 1), &mut found[..1]);
            let mut expected = 0.0;
            for ((shift, level), weight) in draws.shifts.iter().zip(&draws.levels).zip(&weights) {
                nodes.clear();
                law.nodes(&arguments, *shift, &mut nodes);
                expected += weight * pick(&nodes, *level).unwrap().clamp(-3.0, 3.0);
            }
            let apart = (found[0] - expected).abs();
            assert!(apart < 1e-12, "{}({:?}): {} {expected}", row.entry.name, row.arguments, found[0]);
        }
        seen.push(row.entry.name);
    }
    assert!(LAWS.iter().all(|law| law.name == "point" || seen.contains(&law.name)));
}
