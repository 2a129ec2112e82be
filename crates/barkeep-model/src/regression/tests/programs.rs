use barkeep_machine::{Beside, Block, Output, Place, Program, Source, Writer};

use super::*;
use crate::check::programs::{outputs, same};

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
            check::programs::same_as_loops(&model, &table.wide, &from, &to);
            let programs = [
                model.density_program(&from).unwrap(),
                model.ratio_program(&from, &to).unwrap(),
                gradient(&model, &from),
            ];
            for program in &programs {
                same(&outputs(program, kept), &outputs(program, wide), "from an index");
            }
            let entries = check::programs::gradient(&model, &from);
            same(&outputs(&programs[2], kept), &outputs(&entries, wide), "levels as entries");
        }
    }
}

#[test]
fn statistics_are_those_of_the_loop() {
    let columns = ["y", "a", "b"].map(|name| Column::real(name, -1.5, 3.0, 0.0).unwrap());
    let schema = Schema::new(columns.to_vec()).unwrap();
    let next = &mut check::uniform(19);
    let values: Vec<f64> = (0..3 * LENGTH).map(|_| 4.5 * next() - 1.5).collect();
    for intercept in [false, true] {
        let prior = Prior::Normal { mean: 0.0, sd: 2.0 };
        let design = Design::new("y", vec!["a".into(), "b".into()], intercept, prior).unwrap();
        let model = Regression::new(design, Box::new(Gaussian { sd: Nuisance::Known(0.7) })).unwrap();
        check::programs::same_statistics(&model, &schema, &values);
    }
}

/// A family that gives its programs alone.
#[derive(Debug)]
struct Alone(Box<dyn Family>);

impl Family for Alone {
    fn nuisance(&self) -> Option<(&'static crate::NuisanceEntry, Nuisance)> {
        self.0.nuisance()
    }

    fn works_on_residuals(&self) -> bool {
        self.0.works_on_residuals()
    }

    fn counts_trials(&self) -> bool {
        self.0.counts_trials()
    }

    fn write_density(&self, w: &mut Writer, seen: Seen, line: Source, log_nuisance: f64) -> Source {
        self.0.write_density(w, seen, line, log_nuisance)
    }

    fn write_ratio(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        shift: Source,
        log_nuisances: (f64, f64),
    ) -> Source {
        self.0.write_ratio(w, seen, line, shift, log_nuisances)
    }

    fn write_score(
        &self,
        w: &mut Writer,
        seen: Seen,
        line: Source,
        log_nuisance: f64,
    ) -> (Source, Option<Source>) {
        self.0.write_score(w, seen, line, log_nuisance)
    }

    fn information(&self, predictor: f64, nuisance: f64, trials: f64) -> f64 {
        self.0.information(predictor, nuisance, trials)
    }

    fn simulate(&self, predictor: f64, nuisance: f64, trials: f64, uniform: &mut dyn FnMut() -> f64) -> f64 {
        self.0.simulate(predictor, nuisance, trials, uniform)
    }
}

#[test]
fn a_family_needs_no_loops() {
    let next = &mut check::uniform(23);
    for (_, family) in registered() {
        let design = Design::new("y", vec!["x".into()], true, Prior::Flat).unwrap();
        let model = Regression::new(design.with_trials("n", 5.0).unwrap(), Box::new(Alone(family))).unwrap();
        let values: Vec<f64> = (0..3 * LENGTH).map(|_| 0.5 + (4.0 * next()).floor()).collect();
        let [from, to] = [0.1, 0.2].map(|by| vec![by; model.dimension()]);
        // No law is stated, so that programs and loops must agree to the bit.
        check::programs::same_as_loops(&model, &values, &from, &to);
    }
}
