use barkeep_data::Block;

use super::super::block::Workspace;
use super::super::derivative::tests::{WIDTH, random};
use super::*;
use crate::check::uniform;

#[test]
fn a_linear_predictor_is_one_instruction() {
    let mut graph = Graph::default();
    let mut sum = graph.parameter(0);
    for j in 0..9 {
        let (coefficient, x) = (graph.parameter(j + 1), graph.column(j));
        let term = graph.mul(coefficient, x);
        sum = graph.add(sum, term);
    }
    let program = Program::new(&mut graph, &[sum]);
    assert_eq!((program.steps.len(), program.registers), (1, 0));
    assert!(matches!(&program.steps[0].code, Code::Dot(_, terms) if terms.len() == 9));
}

#[test]
fn a_log_ratio_of_normals_is_linear_in_the_record() {
    let mut graph = Graph::default();
    let (mean, x) = (graph.parameter(0), graph.column(0));
    let apart = graph.sub(x, mean);
    let square = graph.unary(Unary::Square, apart);
    let density = graph.times(-0.5, square);
    let ratio = graph.difference(density, 1);
    let program = Program::new(&mut graph, &[ratio]);
    assert_eq!(program.steps.len(), 1);
    assert!(matches!(&program.steps[0].code, Code::Dot(_, terms) if terms.len() == 1));
}

#[test]
fn programs_compute_what_graphs_say_and_ratios_are_differences() {
    let next = &mut uniform(3);
    for round in 0..300 {
        let (mut graph, root) = random(next, 3 + round % 25);
        let ratio = graph.difference(root, WIDTH);
        let program = Program::new(&mut graph, &[root, ratio]);
        let values: Vec<f64> = (0..=WIDTH)
            .map(|j| if j == WIDTH { (3.0 * next()).floor() } else { 4.0 * next() - 2.0 })
            .collect();
        let theta: Vec<f64> = (0..2 * WIDTH).map(|_| 3.0 * next() - 1.5).collect();
        let mut out = [f64::NAN; 2];
        program.run(Block::over(&values, 1, 1), &[&theta], &mut out, &mut Workspace::default());
        let (from, to) = (graph.values(&theta, &values), graph.values(&theta[WIDTH..], &values));
        let (from, to) = (from[root as usize], to[root as usize]);
        if from.abs() + to.abs() < 1e6 {
            assert!((out[0] - from).abs() <= 1e-9 * (1.0 + from.abs()), "round {round}: {} {from}", out[0]);
            let size = 1.0 + from.abs() + to.abs();
            assert!((out[1] - (to - from)).abs() <= 1e-9 * size, "round {round}: {} {}", out[1], to - from);
        }
        let same: Vec<f64> = theta[..WIDTH].iter().chain(&theta[..WIDTH]).copied().collect();
        program.run(Block::over(&values, 1, 1), &[&same], &mut out, &mut Workspace::default());
        if from.abs() < 1e6 {
            assert!(out[1].abs() <= 1e-12 * (1.0 + from.abs()), "no move, no ratio: {}", out[1]);
        }
    }
}
