//! Checks that programs read levels by their index, that the lists of scores are those of the programs, and sufficient statistics.

use barkeep_machine::{Beside, Output, Place};

use super::*;
use crate::Law;
use crate::check::{outputs, same};

const LENGTH: usize = 700;
/// The columns that come before the levels: response, trials or not, offset or not, and two features.
const FEATURES: usize = 2;
const LEVELS: [usize; 2] = [3, 12];

/// Records as columns, and with the levels of two categories kept as an index each.
struct Table {
    lead: usize,
    wide: Vec<f64>,
    indices: Vec<u32>,
}

impl Table {
    fn new(lead: usize, next: &mut dyn FnMut() -> f64) -> Self {
        let mut wide: Vec<f64> = (0..LENGTH).map(|_| (4.0 * next()).floor()).collect();
        let mut indices = Vec::new();
        wide.extend((0..(lead - 1 + FEATURES) * LENGTH).map(|_| 0.5 + 3.0 * next()));
        for count in LEVELS {
            // The first level of each category has no column.
            let index: Vec<u32> = (0..LENGTH).map(|_| (next() * (count + 1) as f64) as u32).collect();
            for level in 1..=count as u32 {
                wide.extend(index.iter().map(|own| f64::from(u8::from(*own == level))));
            }
            indices.extend(index);
        }
        Self { lead, wide, indices }
    }

    fn places(&self) -> Vec<Place> {
        let mut places: Vec<Place> = (0..self.lead + FEATURES).map(Place::Lying).collect();
        for (index, levels) in LEVELS.into_iter().enumerate() {
            let level = |k: usize| Place::Level { index, code: 1 + k as u32, count: levels - k };
            places.extend((0..levels).map(level));
        }
        places
    }
}

/// The gradient's program, with the entries of each category as levels.
fn gradient(model: &Regression, theta: &[f64]) -> Program {
    let mut w = Writer::default();
    let Gradient::Sloped { slope, intercept, first, nuisance, .. } = model.write_gradient(theta, &mut w)
    else {
        panic!("a regression's gradient is a slope times columns")
    };
    let mut entries = vec![Output::Dense(slope)];
    assert!(intercept);
    let mut column = first + FEATURES as u32;
    entries.extend((first..column).map(|column| Output::Dense(w.mul(slope, Source::Column(column)))));
    for count in LEVELS.map(|count| count as u32) {
        entries.push(Output::Levels { value: slope, column, count });
        column += count;
    }
    entries.extend(nuisance.map(Output::Dense));
    w.finish(entries).unwrap()
}

#[test]
fn programs_write_the_same_from_columns_and_from_an_index() {
    let next = &mut check::uniform(17);
    for trials in [false, true] {
        for (_, family) in registered() {
            let names = (1..=FEATURES + LEVELS.iter().sum::<usize>()).map(|k| format!("x{k}")).collect();
            let mut design = Design::new("y", names, true, Prior::Flat).unwrap();
            design = design.with_offset("o", (0.5, 0.5)).unwrap();
            if trials {
                design = design.with_trials("n", 5.0).unwrap();
            }
            let model = Regression::new(design, family).unwrap();
            let table = Table::new(if trials { 3 } else { 2 }, next);
            let wide = Block::over(&table.wide, LENGTH, LENGTH);
            let (places, beside) =
                (table.places(), Beside { widened: &[], indices: &table.indices, records: LENGTH });
            let kept = wide.placed(&places, beside);
            let point = |next: &mut dyn FnMut() -> f64| -> Vec<f64> {
                (0..model.dimension()).map(|_| 0.6 * next() - 0.3).collect()
            };
            let (from, to) = (point(next), point(next));
            let programs = [
                model.density_program(&from).unwrap(),
                model.ratio_program(&from, &to).unwrap(),
                gradient(&model, &from),
            ];
            for program in &programs {
                same(&outputs(program, kept), &outputs(program, wide), "from an index");
            }
            let entries = model.gradient_program(&from).unwrap();
            same(&outputs(&programs[2], kept), &outputs(&entries, wide), "levels as entries");
        }
    }
}

#[test]
fn statistics_are_products_of_scaled_columns() {
    let columns = ["y", "a", "b"].map(|name| Column::real(name, -1.5, 3.0, 0.0).unwrap());
    let schema = Schema::new(columns.to_vec()).unwrap();
    let next = &mut check::uniform(19);
    let values: Vec<f64> = (0..3 * LENGTH).map(|_| 4.5 * next() - 1.5).collect();
    for intercept in [false, true] {
        let prior = Prior::Normal { mean: 0.0, sd: 2.0 };
        let design = Design::new("y", vec!["a".into(), "b".into()], intercept, prior).unwrap();
        let model = Regression::new(design, Box::new(Gaussian { sd: Nuisance::Known(0.7) })).unwrap();
        let program = model.statistics_program(&schema).unwrap();
        let (bound, width) = {
            let statistics = model.statistics(&schema).unwrap();
            (statistics.bound(), statistics.width())
        };
        assert_eq!(program.width(), width);
        let found = outputs(&program, Block::over(&values, LENGTH, LENGTH));
        for i in 0..LENGTH {
            let [y, a, b] = [0, 1, 2].map(|column| values[column * LENGTH + i] / 3.0);
            let root = 2f64.sqrt();
            let mut expected = vec![a * a, root * a * b, b * b, a * y, b * y];
            if intercept {
                expected.splice(0..0, [1.0, root * a, root * b]);
                expected.insert(6, y);
            }
            let own: Vec<f64> = found.iter().skip(i).step_by(LENGTH).copied().collect();
            assert_eq!(own.len(), expected.len());
            for (found, expected) in own.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-15, "{found} {expected}");
            }
            assert!(own.iter().map(|entry| entry * entry).sum::<f64>().sqrt() <= bound);
        }
    }
}

/// What expectations over synthetic responses use, against what the machine computes for records.
#[test]
fn scores_of_lists_are_those_of_the_programs() {
    let next = &mut check::uniform(23);
    for (_, family) in registered() {
        let name = format!("{family:?}");
        let design = Design::new("y", vec![], true, Prior::Flat).unwrap();
        let model = Regression::new(design.with_fixed_trials(5.0).unwrap(), family).unwrap();
        let responses: Vec<f64> =
            (0..LENGTH).map(|k| (k % 7) as f64 + if k < 7 { 0.0 } else { 0.5 }).collect();
        let d = model.dimension();
        for _ in 0..20 {
            let theta: Vec<f64> = (0..d).map(|_| 6.0 * next() - 3.0).collect();
            let mut lists = vec![f64::NAN; d * LENGTH];
            let (slopes, others) = lists.split_at_mut(LENGTH);
            model.slopes(&theta, (theta[0], 5.0), &responses, slopes, others);
            let program = model.gradient_program(&theta).unwrap();
            let written = outputs(&program, Block::over(&responses, LENGTH, LENGTH));
            match model.law() {
                // The machine has its own function without branches.
                Some(Law::Probit) => {
                    for (found, expected) in written.iter().zip(&lists) {
                        assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()), "{name}");
                    }
                }
                Some(_) | None => same(&written, &lists, &name),
            }
        }
    }
}
