use barkeep_data::Block;
use barkeep_machine::Step;

use super::super::derivative::tests::{WIDTH, random};
use super::*;
use crate::Scratch;
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
    let template = Template::new(&mut graph, &[sum]).unwrap();
    assert!(matches!(template.program.steps(), [Step::Dot { terms, .. }] if terms.len() == 9));
}

#[test]
fn a_log_ratio_of_normals_is_linear_in_the_record() {
    let mut graph = Graph::default();
    let (mean, x) = (graph.parameter(0), graph.column(0));
    let apart = graph.sub(x, mean);
    let square = graph.unary(Unary::Square, apart);
    let density = graph.times(-0.5, square);
    let ratio = graph.difference(density, 1);
    let template = Template::new(&mut graph, &[ratio]).unwrap();
    assert!(matches!(template.program.steps(), [Step::Dot { terms, .. }] if terms.len() == 1));
}

#[test]
fn programs_compute_what_graphs_say_and_ratios_are_differences() {
    let next = &mut uniform(3);
    for round in 0..300 {
        let (mut graph, root) = random(next, 3 + round % 25);
        let ratio = graph.difference(root, WIDTH);
        let template = Template::new(&mut graph, &[root, ratio]).unwrap();
        let values: Vec<f64> = (0..=WIDTH)
            .map(|j| if j == WIDTH { (3.0 * next()).floor() } else { 4.0 * next() - 2.0 })
            .collect();
        let theta: Vec<f64> = (0..2 * WIDTH).map(|_| 3.0 * next() - 1.5).collect();
        let mut out = [f64::NAN; 2];
        Scratch::new().run(template.at(&[&theta]), Block::over(&values, 1, 1), &mut out);
        let (from, to) = (graph.values(&theta, &values), graph.values(&theta[WIDTH..], &values));
        let (from, to) = (from[root as usize], to[root as usize]);
        if from.abs() + to.abs() < 1e6 {
            assert!((out[0] - from).abs() <= 1e-9 * (1.0 + from.abs()), "round {round}: {} {from}", out[0]);
            let size = 1.0 + from.abs() + to.abs();
            assert!((out[1] - (to - from)).abs() <= 1e-9 * size, "round {round}: {} {}", out[1], to - from);
        }
        let same: Vec<f64> = theta[..WIDTH].iter().chain(&theta[..WIDTH]).copied().collect();
        Scratch::new().run(template.at(&[&same]), Block::over(&values, 1, 1), &mut out);
        if from.abs() < 1e6 {
            assert!(out[1].abs() <= 1e-12 * (1.0 + from.abs()), "no move, no ratio: {}", out[1]);
        }
    }
}

#[test]
fn a_record_has_the_same_bits_wherever_it_stands() {
    let next = &mut uniform(8);
    for _ in 0..100 {
        let (mut graph, root) = random(next, 20);
        let mut outputs = graph.gradient(root, WIDTH);
        outputs.push(root);
        let template = Template::new(&mut graph, &outputs).unwrap();
        let theta: Vec<f64> = (0..WIDTH).map(|_| 3.0 * next() - 1.5).collect();
        let length = 600;
        // The last column is a place.
        let values: Vec<f64> = (0..(WIDTH + 1) * length)
            .map(|k| if k >= WIDTH * length { (3.0 * next()).floor() } else { 4.0 * next() - 2.0 })
            .collect();
        let scratch = &mut Scratch::new();
        let mut whole = vec![0.0; (WIDTH + 1) * length];
        scratch.run(template.at(&[&theta]), Block::over(&values, length, length), &mut whole);
        for i in [0, 1, 7, 127, 128, 255, 256, 599] {
            let one: Vec<f64> = (0..=WIDTH).map(|j| values[j * length + i]).collect();
            let mut alone = [0.0; WIDTH + 1];
            scratch.run(template.at(&[&theta]), Block::over(&one, 1, 1), &mut alone);
            for (k, value) in alone.iter().enumerate() {
                assert_eq!(value.to_bits(), whole[k * length + i].to_bits());
            }
        }
    }
}

#[test]
fn what_depends_on_theta_alone_follows_theta() {
    let mut graph = Graph::default();
    let (theta, x) = (graph.parameter(0), graph.column(0));
    let scale = graph.unary(Unary::Exp, theta);
    let root = graph.mul(scale, x);
    let template = Template::new(&mut graph, &[root]).unwrap();
    let scratch = &mut Scratch::new();
    let mut out = [0.0];
    for theta in [0.0, 1.0, 1.0, -2.0] {
        scratch.run(template.at(&[&[theta]]), Block::over(&[3.0], 1, 1), &mut out);
        assert_eq!(out[0], Unary::Exp.at(theta) * 3.0);
    }
}
