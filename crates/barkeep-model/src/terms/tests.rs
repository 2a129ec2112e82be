//! Terms against what they mean, record by record, given the gradient and the log ratio of the record.

mod laws;

use barkeep_machine::{Block, Fold, Program, Term};

use super::*;
use crate::check::outputs;
use crate::families::bernoulli::Logit;
use crate::families::gaussian::Gaussian;
use crate::family::{Family, Nuisance};
use crate::{Design, GaussianMean, Likelihood, Prior, Regression, Scratch};

/// A thousandth of a step of the lattice that a clipped term is rounded to.
const STEP: f64 = 1e-3 / (1_u64 << 30) as f64;

/// Numbers that look random, in (−1, 1).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn list(&mut self, count: usize, scale: f64) -> Vec<f64> {
        (0..count).map(|_| scale * self.next()).collect()
    }
}

fn run(program: &Program, values: &[f64], records: usize) -> Vec<f64> {
    outputs(program, Block::over(values, records, records))
}

/// The term of every row where each is a record: the number of rows is 1.
fn write(term: &Term, values: &[f64], records: usize) -> Vec<f64> {
    let mut rows = run(&term.row, values, records);
    match &term.unit {
        None => rows,
        Some(unit) => {
            rows.extend(vec![1.0; records]);
            run(unit, &rows, records)
        }
    }
}

fn regression(family: Box<dyn Family>) -> Regression {
    let prior = Prior::Normal { mean: 0.0, sd: 2.5 };
    let features = vec!["a".into(), "b".into(), "c".into()];
    Regression::new(Design::new("y", features, true, prior).unwrap(), family).unwrap()
}

/// A regression with and without a nuisance, and a model whose gradient is no slope times columns.
fn likelihoods() -> Vec<Box<dyn Likelihood>> {
    let unknown = Nuisance::Unknown(Prior::HalfNormal { scale: 1.0 });
    vec![
        Box::new(regression(Box::new(Logit))),
        Box::new(regression(Box::new(Gaussian { sd: unknown }))),
        Box::new(GaussianMean::new(&[1.5, 0.2, 0.2, 0.5], &[0.0; 2], &[100.0, 0.0, 0.0, 100.0]).unwrap()),
    ]
}

fn gradients(likelihood: &dyn Likelihood, theta: &[f64], values: &[f64], records: usize) -> Vec<f64> {
    let mut out = vec![f64::NAN; likelihood.dimension() * records];
    likelihood.gradient(Block::over(values, records, records), theta, &mut out, &mut Scratch::new());
    out
}

/// W·g of each record, as lists.
fn mapped(precondition: Precondition<'_>, gradients: &[f64], records: usize, i: usize) -> Vec<f64> {
    let own: Vec<f64> = gradients.iter().skip(i).step_by(records).copied().collect();
    match precondition {
        Precondition::Identity => own,
        Precondition::Diagonal(factors) => own.iter().zip(factors).map(|(x, factor)| x * factor).collect(),
        Precondition::Dense(matrix) => matrix
            .chunks_exact(own.len())
            .map(|row| row.iter().zip(&own).map(|(weight, x)| weight * x).sum())
            .collect(),
    }
}

fn column(out: &[f64], records: usize, i: usize) -> Vec<f64> {
    out.iter().skip(i).step_by(records).copied().collect()
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{found} {expected}");
    }
}

const RECORDS: usize = 300;

#[test]
fn maps_scores_and_shifts_follow_from_the_gradient() {
    let mut numbers = Numbers(7);
    for likelihood in likelihoods() {
        let (d, columns) = (likelihood.dimension(), likelihood.columns());
        let mut values = numbers.list(columns * RECORDS, 2.0);
        // One record has a gradient without an end.
        values[RECORDS] = 1e308;
        let theta = numbers.list(d, 0.8);
        let (diagonal, dense) = (numbers.list(d, 2.0), numbers.list(d * d, 1.0));
        let centre = numbers.list(d, 0.1);
        let plain = gradients(&*likelihood, &theta, &values, RECORDS);
        let maps = [Precondition::Identity, Precondition::Diagonal(&diagonal), Precondition::Dense(&dense)];
        for precondition in maps {
            let out = write(&gradient(&*likelihood, &theta, precondition, &[]).unwrap(), &values, RECORDS);
            let squares = score(&*likelihood, &theta, precondition, 0.25).unwrap();
            assert_eq!((squares.fold, squares.width()), (Fold::Sum, score_width(d)));
            let squares = write(&squares, &values, RECORDS);
            let clip = 0.7;
            let moved = shifted(&*likelihood, &theta, precondition, clip, Centre::Same(&centre)).unwrap();
            let moved = write(&moved, &values, RECORDS);
            for i in 0..RECORDS {
                let expected = mapped(precondition, &plain, RECORDS, i);
                let found = column(&out, RECORDS, i);
                let length = expected.iter().map(|x| x * x).sum::<f64>().sqrt();
                match precondition {
                    Precondition::Dense(_) if length < 1e100 => {
                        assert_near(&found, &expected, 1e-14 * (1.0 + length));
                    }
                    Precondition::Dense(_) => {}
                    Precondition::Identity | Precondition::Diagonal(_) => {
                        let same =
                            found.iter().zip(&expected).all(|(x, y)| x.to_bits() == y.to_bits() || *x == *y);
                        assert!(same, "{found:?} {expected:?}");
                    }
                }
                // Products are those of the entries as they were written.
                let vector = column(&squares, RECORDS, i);
                assert!(vector[..d].iter().zip(&found).all(|(x, y)| x.to_bits() == y.to_bits()));
                let matrix = second_moments(&vector, d, 0.25);
                for (k, entry) in matrix.iter().enumerate().filter(|_| length < 1e100) {
                    let product = found[k / d] * found[k % d];
                    assert!((entry - product).abs() <= 1e-14 * product.abs(), "{entry} {product}");
                }
                let shorter = |x: &f64| if length > clip { x * clip / length } else { *x };
                let rest: Vec<f64> = expected
                    .iter()
                    .zip(&centre)
                    .map(|(x, m)| if length.is_finite() { shorter(x) } else { 0.0 } - m)
                    .collect();
                assert_near(&column(&moved, RECORDS, i), &rest, STEP * clip);
            }
        }
    }
}

#[test]
fn levels_leave_a_gradient_as_one_value_and_its_place() {
    let mut numbers = Numbers(3);
    let likelihood = regression(Box::new(Logit));
    let theta = numbers.list(4, 1.0);
    let mut values = numbers.list(4 * RECORDS, 1.0);
    for i in 0..RECORDS {
        values[2 * RECORDS + i] = f64::from(i % 3 == 1);
        values[3 * RECORDS + i] = f64::from(i % 3 == 2);
    }
    let levels = std::slice::from_ref(&(2..4));
    let by_level = gradient(&likelihood, &theta, Precondition::Identity, levels).unwrap();
    assert_eq!(by_level.outputs().len(), 3);
    let by_column = gradient(&likelihood, &theta, Precondition::Identity, &[]).unwrap();
    // 0 and −0 are the same.
    assert_eq!(write(&by_level, &values, RECORDS), write(&by_column, &values, RECORDS));
}

#[test]
fn a_path_takes_its_clipped_gradients_off_the_ratio() {
    let mut numbers = Numbers(11);
    for likelihood in likelihoods() {
        let (d, columns) = (likelihood.dimension(), likelihood.columns());
        let mut values = numbers.list(columns * RECORDS, 2.0);
        values[RECORDS] = 1e200;
        let (from, to) = (numbers.list(d, 0.8), numbers.list(d, 0.8));
        let (points, weights) = (numbers.list(3 * d, 0.8), numbers.list(3 * d, 0.2));
        let clip = 0.9;
        let found =
            run(&along(&*likelihood, (&from, &to), &points, &weights, clip).unwrap(), &values, RECORDS);
        let mut expected = vec![f64::NAN; RECORDS];
        likelihood.log_ratio(
            Block::over(&values, RECORDS, RECORDS),
            &from,
            &to,
            &mut expected,
            &mut Scratch::new(),
        );
        for (theta, weights) in points.chunks_exact(d).zip(weights.chunks_exact(d)) {
            let plain = gradients(&*likelihood, theta, &values, RECORDS);
            for (i, expected) in expected.iter_mut().enumerate() {
                let own = column(&plain, RECORDS, i);
                let norm = own.iter().map(|x| x * x).sum::<f64>().sqrt();
                let product: f64 = own.iter().zip(weights).map(|(x, w)| x * w).sum();
                let factor = if norm > clip { clip / norm } else { 1.0 };
                *expected -= if norm.is_finite() { factor * product } else { 0.0 };
            }
        }
        for (found, expected) in found.iter().zip(&expected).filter(|(_, expected)| expected.abs() < 1e100) {
            assert!((found - expected).abs() < STEP * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

/// z by the words of [`Coordinate`].
fn z(one: &Coordinate, row: &[f64]) -> f64 {
    let value = row[one.column];
    let share = |trials: f64| (value.min(trials) + 0.5) / (trials + 1.0);
    let curve = match one.curve {
        Curve::Line => value,
        Curve::Log { plus } => barkeep_num::vector::scalar::ln(value + plus),
        Curve::Root => value.sqrt(),
        Curve::Share { column: None, fixed } => share(fixed),
        Curve::Share { column: Some(column), .. } => share(row[column]),
    };
    let z = one.scale * curve + one.shift;
    if z.is_nan() { 0.0 } else { z.clamp(-1.0, 1.0) }
}

#[test]
fn coordinates_have_the_bits_of_their_words() {
    let mut numbers = Numbers(5);
    let mut values = numbers.list(3 * RECORDS, 4.0);
    // Roots and logarithms of what they are not defined for, ends and no numbers.
    (values[0], values[1], values[RECORDS + 2], values[RECORDS + 3]) =
        (f64::NAN, f64::INFINITY, f64::NAN, 0.0);
    let curves = [
        Curve::Line,
        Curve::Log { plus: 0.5 },
        Curve::Root,
        Curve::Share { column: None, fixed: 3.0 },
        Curve::Share { column: Some(2), fixed: 1.0 },
    ];
    let mut coordinates = Vec::new();
    for (k, curve) in curves.into_iter().enumerate() {
        let [scale, shift] = [1.5, 0.3].map(|size| size * numbers.next());
        coordinates.push(Coordinate { column: k % 2, curve, scale, shift, squared: k % 2 == 0 });
    }
    let (centres, spreads) = (numbers.list(5, 0.5), [0.5, 0.7, 0.9, 1.1, 1.3]);
    let powers = columns(&coordinates, None).unwrap();
    assert_eq!((powers.fold, powers.width()), (Fold::Mean, powers_width(&coordinates, None)));
    let counted = columns(&coordinates, Some(5)).unwrap();
    assert_eq!(counted.width(), powers_width(&coordinates, Some(5)));
    let rows = run(&counted.row, &values, RECORDS);
    let mut folded = rows.clone();
    folded.extend((0..RECORDS).map(|i| (i % 7 + 1) as f64));
    let unit = run(counted.unit.as_ref().unwrap(), &folded, RECORDS);
    let apart = write(&standardised(&coordinates, &centres, &spreads).unwrap(), &values, RECORDS);
    for i in 0..RECORDS {
        let row = column(&values, RECORDS, i);
        let mut expected = Vec::new();
        for (k, one) in coordinates.iter().enumerate() {
            let z = z(one, &row);
            let found = apart[k * RECORDS + i];
            assert_eq!(found.to_bits(), ((z - centres[k]) * (1.0 / spreads[k])).to_bits());
            expected.push(z);
            if one.squared {
                expected.push(z * z - 1.0);
            }
        }
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&column(&rows, RECORDS, i)), bits(&expected), "{row:?}");
        let rows = rows_coordinate((i % 7 + 1) as f64, 5);
        expected.extend([rows, rows * rows - 1.0]);
        assert_eq!(bits(&column(&unit, RECORDS, i)), bits(&expected));
    }
}
