//! Holds the reach of gradients through matrices to sampled gradients and to the regressions' own.

use barkeep_data::{Block, Column, Schema};

use crate::check::uniform;
use crate::families::bernoulli::Logit;
use crate::language::TextModel;
use crate::{Design, Likelihood, Model, Prior, Regression, Scratch};

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn through(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    matrix.chunks_exact(vector.len()).map(|row| row.iter().zip(vector).map(|(a, x)| a * x).sum()).collect()
}

#[test]
fn a_logistic_text_reaches_as_far_as_the_family() {
    let next = &mut uniform(71);
    let real = |name: &str, low: f64, high: f64| Column::real(name, low, high, low).unwrap();
    for _ in 0..50 {
        let bounds: Vec<(f64, f64)> = (0..2)
            .map(|_| (6.0 * next() - 5.0, 0.1 + 3.0 * next()))
            .map(|(low, width)| (low, low + width))
            .collect();
        let columns = vec![
            Column::boolean("y", false).unwrap(),
            real("u", bounds[0].0, bounds[0].1),
            real("v", bounds[1].0, bounds[1].1),
        ];
        let schema = Schema::new(columns).unwrap();
        let text = "parameters\n a\n b\n c\nrecord\n y ~ bernoulli_logit(a + b * u + c * v)\n";
        let model = TextModel::new(text, &schema).unwrap();
        let corners: Vec<f64> = [0, 1, 2, 3]
            .into_iter()
            .flat_map(|k| {
                let end = |(low, high): (f64, f64), up: bool| if up { high } else { low };
                [1.0, end(bounds[0], k & 1 == 1), end(bounds[1], k & 2 == 2)]
            })
            .collect();
        let prior = Prior::Normal { mean: 0.0, sd: 1.0 };
        let design = Design::new("y", vec!["u".into(), "v".into()], true, prior).unwrap();
        let design = design.with_corners(&corners).unwrap();
        let family = Regression::new(design, Box::new(Logit)).unwrap();
        let matrix: Vec<f64> = (0..9).map(|_| 4.0 * next() - 2.0).collect();
        let (found, expected) = (
            model.lipschitz_through(&schema, &matrix).unwrap(),
            family.lipschitz_through(&schema, &matrix).unwrap(),
        );
        assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
    }
}

/// Indices, products with levels, too many corners, and several cores.
#[test]
fn no_gradient_reaches_further_and_no_bound_is_idle() {
    let next = &mut uniform(72);
    let many: String = (1..=14).map(|j| format!(" w{j}\n")).collect();
    let line: String = (1..=14).map(|j| format!(" + w{j} * x{j}")).collect();
    for (parameters, record, least) in [
        (" a\n c[g]\n", "y ~ bernoulli_logit(a + c[g])".to_owned(), 0.9),
        (" a[g]\n c[g]\n", "y ~ bernoulli_logit(a[g] + c[g] * x1)".to_owned(), 0.9),
        (" a\n c\n", "x2 ~ student_t(4, a + c * x1, 1.5)".to_owned(), 0.8),
        (" a\n c\n", "y ~ bernoulli_logit(a)\n x2 ~ cauchy(a + c * x1, 2)".to_owned(), 0.4),
        (&*many, format!("y ~ bernoulli_logit(0{line})"), 0.05),
    ] {
        let mut columns = vec![
            Column::boolean("y", false).unwrap(),
            Column::category("g", vec!["p".into(), "q".into(), "r".into()], "p").unwrap(),
        ];
        columns
            .extend((1..=14).map(|j| Column::real(format!("x{j}"), -1.0, 0.5 * f64::from(j), 0.0).unwrap()));
        let schema = Schema::new(columns).unwrap();
        let text = format!("parameters\n{parameters}record\n {record}\n");
        let model = TextModel::new(&text, &schema).unwrap_or_else(|error| panic!("{error}"));
        let d = Likelihood::dimension(&model);
        for _ in 0..5 {
            let matrix: Vec<f64> = (0..d * d).map(|_| 2.0 * next() - 1.0).collect();
            let bound = model.lipschitz_through(&schema, &matrix).unwrap();
            let (mut largest, mut out) = (0.0_f64, vec![0.0; d]);
            for _ in 0..2000 {
                let record: Vec<f64> = model
                    .places()
                    .iter()
                    .map(|place| {
                        let (low, high) = schema.columns()[*place].range();
                        match place {
                            1 => (3.0 * next()).floor(),
                            _ if next() < 0.7 => {
                                if next() < 0.5 {
                                    low
                                } else {
                                    high
                                }
                            }
                            0 => low,
                            _ => low + (high - low) * next(),
                        }
                    })
                    .collect();
                let size = libm::exp(8.0 * next() - 4.0);
                let theta: Vec<f64> = (0..d).map(|_| size * (2.0 * next() - 1.0)).collect();
                model.gradient(Block::over(&record, 1, 1), &theta, &mut out, &mut Scratch::new());
                largest = largest.max(norm(&through(&matrix, &out)));
            }
            assert!(largest <= bound, "{record}: {largest} above {bound}");
            assert!(largest >= least * bound, "{record}: {largest} far below {bound}");
        }
    }
}

#[test]
fn what_has_no_bound_has_no_reach() {
    let schema = Schema::new(vec![Column::real("z", -1.0, 1.0, 0.0).unwrap()]).unwrap();
    let model = TextModel::new("parameters\n a\nrecord\n z ~ normal(a, 1)\n", &schema).unwrap();
    assert_eq!(model.lipschitz_through(&schema, &[1.0]), None);
}
