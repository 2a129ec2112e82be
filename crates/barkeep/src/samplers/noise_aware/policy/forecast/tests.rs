use super::*;
use crate::{Plan, Spec};
use std::path::Path;

fn expected(data: &str, columns: &str, formula: &str, family: &str) -> Expected {
    let text = format!(
        "[data]\npath = 'x.csv'\n{data}\n[data.columns]\n{columns}\n[model]\nformula = '{formula}'\nfamily = '{family}'\n\
         [privacy]\nepsilon = 1.0\ndelta = 1e-6\n[sampler]\nname = 'noise-aware'\n"
    );
    Plan::new(Spec::parse(&text, Path::new("")).unwrap()).unwrap().expected().unwrap()
}

/// A clip that takes nothing off and costs no noise leaves what there is without privacy, whatever the whitening.
#[test]
fn nothing_lost_is_nothing_added() {
    let point = |narrow: f64| Point { narrow, mean: 1.0, sampling: 1.0, noise: 0.0 };
    let block = Block { part: Part::Coefficients, size: 2.0, points: vec![point(1.0), point(8.0)] };
    let chosen = block.choose(&Bias::none()).unwrap();
    assert!((chosen.narrow - 8.0).abs() < 1e-12 && chosen.sampling == 1.0);
    // Where a bias is reckoned with, the wide clip is taken for it, and a narrow one where noise grows with the clip.
    let costly =
        |narrow: f64| Point { narrow, mean: 1.0 + narrow * narrow, sampling: 1.0, noise: narrow * narrow };
    let block =
        Block { part: Part::Coefficients, size: 2.0, points: [0.5, 1.0, 2.0, 4.0, 8.0].map(costly).to_vec() };
    let narrow = block.choose(&Bias::none()).unwrap().narrow;
    let wide = block.choose(&Bias::of_straying(1.0, Part::Coefficients, 1e4)).unwrap().narrow;
    assert!(narrow < wide, "{narrow} {wide}");
}

/// Responses of two values cannot stray; of others the range reaches down to records that follow their family.
#[test]
fn records_that_follow_their_family_are_at_the_lower_end() {
    let x = "x = { min = -1, max = 1, invalid = 0 }";
    let bool = format!("y = {{ kind = 'bool', invalid = false }}\n{x}");
    let number = format!("y = {{ min = -6, max = 6, invalid = 0 }}\n{x}");
    let logistic = expected("records = 10000", &bool, "y ~ x", "bernoulli");
    let gaussian = expected("records = 10000", &number, "y ~ x", "gaussian");
    assert!((logistic.range.0 - 0.7 * logistic.error).abs() < 1e-12, "{logistic:?}");
    assert!(gaussian.range.0 < 0.6 * gaussian.error, "{gaussian:?}");
    // The error's square is what the variance grows by.
    assert!((logistic.width.powi(2) - 1.0 - logistic.error.powi(2)).abs() < 1e-12);
}

/// A person with up to nine rows is one person: its rows move a mean, in smaller standard deviations, about as far as one row would.
#[test]
fn persons_are_moved_about_as_far_as_records() {
    let columns = "y = { kind = 'bool', invalid = false }\nx = { min = -1, max = 1, invalid = 0 }";
    let records = expected("records = 3000", columns, "y ~ x", "bernoulli").error;
    let data = "person = 'who'\nmost_rows = 9\npersons = 3000";
    let persons = expected(data, columns, "y ~ x", "bernoulli").error;
    assert!((0.5..2.0).contains(&(persons / records)), "{persons} {records}");
}
