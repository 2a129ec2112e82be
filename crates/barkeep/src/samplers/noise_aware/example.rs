//! A regression, made-up records and a round for tests of the rooms beside this one.

use crate::samplers::noise_aware::fit::expectation::{Round, Set};
use crate::samplers::noise_aware::questions::coordinates::Coordinates;
use crate::spec::Spec;
use barkeep_curator::{Ask, Choose, Decide, Refused, Sum};
use barkeep_model::Law;
use std::path::Path;

/// A spec of a family, its columns and its formula's right side; records are not read.
pub(super) fn spec(family: &str, columns: &str, right: &str) -> Spec {
    let text = format!(
        "[data]\npath = \"nothing\"\nrecords = 400\n[data.columns]\n{columns}\n[model]\nformula = \"y ~ {right}\"\nfamily = \
         \"{family}\"\n[privacy]\nepsilon = 1.0\ndelta = 1e-5\n"
    );
    Spec::parse(&text, Path::new("")).unwrap()
}

/// Two features beside an intercept.
pub(super) fn plain(family: &str) -> Spec {
    let response = match family {
        "bernoulli" => "y = { kind = \"bool\", invalid = false }",
        "poisson" => "y = { kind = \"integer\", min = 0, max = 30, invalid = 0 }",
        _ => "y = { min = -8, max = 8, invalid = 0 }",
    };
    let columns = format!(
        "{response}\na = {{ min = -1, max = 1, invalid = 0 }}\nb = {{ min = -1, max = 1, invalid = 0 }}"
    );
    spec(family, &columns, "a + b")
}

/// The raw columns behind a spec's formula.
pub(super) fn coordinates(spec: &Spec, law: Law) -> Coordinates {
    Coordinates::new(spec.data().view(), spec.model().regression().unwrap(), law).unwrap()
}

/// Rows (response, a, b) on a small grid.
pub(super) fn set(spec: &Spec) -> Set {
    let values = [-0.8, -0.3, 0.1, 0.6];
    let rows: Vec<f64> =
        values.iter().flat_map(|a| values.iter().flat_map(move |b| [0.0, *a, b * b - 0.2 * a])).collect();
    Set::new(spec.model().regression().unwrap(), &rows, 3)
}

/// A round at θ with a slanted whitening.
pub(super) fn round(theta: &[f64], narrowness: (f64, f64)) -> Round {
    let whitening = vec![1.1, 0.2, -0.1, 0.2, 2.0, 0.3, -0.1, 0.3, 1.7];
    Round {
        theta: theta.to_vec(),
        whitening,
        is_singular: false,
        stretch: 0.7,
        narrowness,
        answer: vec![0.0; theta.len()],
        noise: vec![1.0; theta.len()],
        centre: Vec::new(),
        gains: None,
    }
}

/// Answers every sum with small numbers that differ from question to question and, from one question on, with infinities.
pub(super) struct Echo {
    asked: usize,
    lost_from: usize,
}

impl Echo {
    /// Infinite from the question of this place on, counted from 0.
    pub(super) fn lost_from(lost_from: usize) -> Self {
        Self { asked: 0, lost_from }
    }
}

impl Ask for Echo {
    fn decide(&mut self, _: &Decide<'_>) -> Result<bool, Refused> {
        panic!("no decisions")
    }

    fn sum(&mut self, _: &Sum<'_>, out: &mut [f64]) -> Result<(), Refused> {
        let answer = if self.asked < self.lost_from { 1.0 + self.asked as f64 } else { f64::INFINITY };
        self.asked += 1;
        out.fill(answer);
        Ok(())
    }

    fn choose(&mut self, _: &Choose<'_>) -> Result<usize, Refused> {
        panic!("no choices")
    }
}
