//! Checks every function against mpmath at 60 digits and prints the worst error found.
//!
//! The tables and the script that makes them are in `tests/tables`. `BARKEEP_TABLES=folder` reads others.

use std::path::PathBuf;

use barkeep_num as num;
use barkeep_num::vector::scalar;

/// One row: inputs, and the reference as an unevaluated sum of two f64.
struct Row {
    inputs: Vec<f64>,
    high: f64,
    low: f64,
}

fn table(name: &str) -> Vec<Row> {
    let folder = std::env::var_os("BARKEEP_TABLES")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tables")), PathBuf::from);
    let text = std::fs::read_to_string(folder.join(name).with_extension("csv")).unwrap();
    let rows: Vec<Row> = text
        .lines()
        .skip(1)
        .map(|line| {
            let mut numbers = line.split(',').map(|cell| cell.parse::<f64>().unwrap());
            let (high, low) = (numbers.next().unwrap(), numbers.next().unwrap());
            Row { inputs: numbers.collect(), high, low }
        })
        .collect();
    assert!(rows.len() >= 100, "{name}: table too small to say anything");
    rows
}

/// The unit in the last place of a number of this size.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    x.next_up() - x
}

/// Finds the worst error of `function` over a table, in units in the last place of `scale(row)`, and prints it.
fn worst(name: &str, bound: f64, scale: impl Fn(&Row) -> f64, function: impl Fn(&[f64]) -> f64) {
    let mut worst = (0.0, Vec::new());
    for row in table(name) {
        let got = function(&row.inputs);
        let error = if got == row.high {
            row.low.abs() / ulp(scale(&row))
        } else {
            ((got - row.high) - row.low).abs() / ulp(scale(&row))
        };
        assert!(!error.is_nan(), "{name}{:?}: {got:e}, expected {:e}", row.inputs, row.high);
        if error > worst.0 {
            worst = (error, row.inputs);
        }
    }
    println!("{name}: worst error {:.2} ulp (bound {bound}) at {:?}", worst.0, worst.1);
    assert!(worst.0 <= bound, "{name}: {} ulp at {:?}", worst.0, worst.1);
}

fn result(row: &Row) -> f64 {
    row.high
}

#[test]
fn erfc() {
    worst("erfc", 3.0, result, |x| num::erfc(x[0]));
}

#[test]
fn erfcx() {
    worst("erfcx", 2.5, result, |x| num::erfcx(x[0]));
}

#[test]
fn ln_erfc() {
    worst("ln_erfc", 3.5, result, |x| num::ln_erfc(x[0]));
}

#[test]
fn normal_cdf() {
    worst("normal_cdf", 3.5, result, |x| num::normal_cdf(x[0]));
    worst("normal_cdf", 3.5, result, |x| scalar::normal_cdf(x[0]));
}

#[test]
fn ln_normal_cdf() {
    worst("ln_normal_cdf", 4.0, result, |x| num::ln_normal_cdf(x[0]));
}

#[test]
fn normal_quantile() {
    worst("normal_quantile", 4.0, result, |x| num::normal_quantile(x[0]));
}

#[test]
fn ln_gamma() {
    worst("ln_gamma", 3.0, result, |x| num::ln_gamma(x[0]));
}

#[test]
fn ln_binomial() {
    worst("ln_binomial", 3.5, result, |x| num::ln_binomial(x[0], x[1]));
}

#[test]
fn ln_binomial_between_whole_numbers() {
    worst("ln_binomial_real", 80.0, |row| row.high.abs().max(1.0), |x| num::ln_binomial(x[0], x[1]));
}

#[test]
fn log1m_exp() {
    worst("log1m_exp", 2.0, result, |x| num::log1m_exp(x[0]));
}

#[test]
fn log_add_exp() {
    worst("log_add_exp", 1.5, |row| row.high.abs().max(0.5), |x| num::log_add_exp(x[0], x[1]));
}

#[test]
fn log_sub_exp() {
    worst(
        "log_sub_exp",
        3.0,
        |row| row.high.abs().max(row.inputs[0].abs()),
        |x| num::log_sub_exp(x[0], x[1]),
    );
}

#[test]
fn log_sum_exp() {
    worst("log_sum_exp", 2.0, |row| row.high.abs().max(0.5), num::log_sum_exp);
}

/// Against the table, and against the longer one, which the table proves, for every remainder there is.
#[test]
fn short_sigmoid() {
    let error = |x: f64, value: f64| (scalar::short_sigmoid(x) - value).abs() / value;
    let rows = table("vector_sigmoid").into_iter().filter(|row| row.inputs[0] >= -708.0);
    let in_table = rows.map(|row| error(row.inputs[0], row.high)).fold(0.0, f64::max);
    let all = (-400_000..400_000).map(|k| f64::from(k) * 1.000_3e-4);
    let found = all.map(|x| error(x, scalar::sigmoid(x))).fold(0.0, f64::max);
    println!("short_sigmoid: worst relative error {in_table:.2e} in the table, {found:.2e} beyond it");
    assert!(in_table <= 2.3e-10 && (2e-10..2.3e-10).contains(&found));
}

#[test]
fn vector_kernels() {
    worst("vector_exp", 1.2, result, |x| scalar::exp(x[0]));
    worst("vector_exp_m1", 2.2, result, |x| scalar::exp_m1(x[0]));
    worst("vector_ln", 1.0, result, |x| scalar::ln(x[0]));
    worst("vector_ln_1p", 1.0, result, |x| scalar::ln_1p(x[0]));
    worst("vector_sigmoid", 2.2, result, |x| scalar::sigmoid(x[0]));
    worst("vector_log_sigmoid", 1.6, result, |x| scalar::log_sigmoid(x[0]));
    worst("vector_ln_1p_difference", 2.0, result, |x| scalar::ln_1p_difference(x[0], x[1]));
}
