use super::super::derivative::tests::{WIDTH, random};
use super::*;
use crate::check::uniform;

/// Random records, their last column a place.
fn records(count: usize, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
    (0..(WIDTH + 1) * count)
        .map(|k| if k >= WIDTH * count { (3.0 * next()).floor() } else { 4.0 * next() - 2.0 })
        .collect()
}

#[test]
fn a_record_has_the_same_bits_wherever_it_stands() {
    let next = &mut uniform(8);
    for _ in 0..100 {
        let (mut graph, root) = random(next, 20);
        let mut outputs = graph.gradient(root, WIDTH);
        outputs.push(root);
        let program = Program::new(&mut graph, &outputs);
        let theta: Vec<f64> = (0..WIDTH).map(|_| 3.0 * next() - 1.5).collect();
        let length = 600;
        let values = records(length, next);
        let workspace = &mut Workspace::default();
        let mut whole = vec![0.0; (WIDTH + 1) * length];
        program.run(Block::over(&values, length, length), &[&theta], &mut whole, workspace);
        for i in [0, 1, 7, 127, 128, 255, 256, 599] {
            let one: Vec<f64> = (0..=WIDTH).map(|j| values[j * length + i]).collect();
            let mut alone = [0.0; WIDTH + 1];
            program.run(Block::over(&one, 1, 1), &[&theta], &mut alone, workspace);
            for (k, value) in alone.iter().enumerate() {
                assert_eq!(value.to_bits(), whole[k * length + i].to_bits());
            }
        }
    }
}

#[test]
fn the_number_of_instructions_does_not_depend_on_the_records() {
    let next = &mut uniform(9);
    for round in 0..50 {
        let (mut graph, root) = random(next, 25);
        let outputs = graph.gradient(root, WIDTH);
        let program = Program::new(&mut graph, &outputs);
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324, 1e308, 1.0];
        let mut counts = Vec::new();
        for kind in 0..4 {
            let values: Vec<f64> = match kind {
                0 => vec![0.0; (WIDTH + 1) * 200],
                1 => (0..(WIDTH + 1) * 200).map(|k| odd[k % odd.len()]).collect(),
                _ => records(200, next),
            };
            let mut workspace = Workspace::default();
            let mut out = vec![0.0; WIDTH * 200];
            program.run(Block::over(&values, 200, 200), &[&[0.1, 0.2, -0.3]], &mut out, &mut workspace);
            counts.push(workspace.executed);
        }
        assert_eq!(
            counts,
            [(200_usize.div_ceil(lane(program.columns)) * program.steps.len()) as u64; 4],
            "round {round}"
        );
    }
}

#[test]
fn what_depends_on_theta_alone_follows_theta() {
    let mut graph = super::super::graph::Graph::default();
    let (theta, x) = (graph.parameter(0), graph.column(0));
    let scale = graph.unary(Unary::Exp, theta);
    let root = graph.mul(scale, x);
    let program = Program::new(&mut graph, &[root]);
    let workspace = &mut Workspace::default();
    let mut out = [0.0];
    for theta in [0.0, 1.0, 1.0, -2.0] {
        program.run(Block::over(&[3.0], 1, 1), &[&[theta]], &mut out, workspace);
        assert_eq!(out[0], scalar::exp(theta) * 3.0);
    }
}
