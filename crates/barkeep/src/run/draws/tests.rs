//! Checks that draws keep their shape and that both files hold every bit of them.

use std::fs::File;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use proptest::prelude::*;

use super::*;

fn draws(names: &[&str], chains: &[&[f64]]) -> Draws {
    let mut draws = Draws::new(names.iter().map(|name| (*name).to_owned()).collect()).unwrap();
    for values in chains {
        let mut chain = draws.chain();
        for (step, row) in values.chunks_exact(names.len()).enumerate() {
            chain.push(row, if step % 2 == 0 { Outcome::Accepted } else { Outcome::Rejected }).unwrap();
        }
        draws.add(chain).unwrap();
    }
    draws
}

#[test]
fn refuses_names_that_would_make_ambiguous_columns() {
    let names = |names: &[&str]| Draws::new(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(names(&[]), Err(ShapeError::NoParameters));
    for bad in [&["a", "a"][..], &["chain"], &["b", "draw"], &["warmup"], &["b", ""]] {
        let last = bad[bad.len() - 1].to_owned();
        assert_eq!(names(bad), Err(ShapeError::Name(last)));
    }
    assert!(names(&["a", "A", "Chain"]).is_ok());
}

#[test]
fn refuses_states_and_chains_of_another_dimension() {
    let mut draws = draws(&["a", "b"], &[]);
    let mut chain = draws.chain();
    let error = ShapeError::Dimension { expected: 2, actual: 3 };
    assert_eq!(chain.push(&[1.0, 2.0, 3.0], Outcome::Moved), Err(error.clone()));
    assert!(chain.is_empty());
    assert_eq!(draws.add(Chain::new(3)), Err(error));
    assert_eq!(Chain::new(0).rows(0).len(), 0);
}

#[test]
fn burn_in_drops_draws_and_outcomes_of_every_chain() {
    let draws = draws(&["a", "b"], &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[7.0, 8.0]]);
    assert_eq!(draws.series(1, 1), [vec![4.0, 6.0], vec![]]);
    assert_eq!(draws.pooled(0), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    assert_eq!(draws.pooled(2), [5.0, 6.0]);
    assert!(draws.series(2, 0).iter().all(Vec::is_empty));
    assert!(draws.pooled(usize::MAX).is_empty());
    assert_eq!(draws.acceptance(0), Some(0.75));
    assert_eq!(draws.acceptance(1), Some(0.5));
    assert_eq!(draws.acceptance(3), None);
    let mut moving = Chain::new(1);
    moving.push(&[1.0], Outcome::Moved).unwrap();
    assert_eq!(moving.acceptance(0), None);
}

#[test]
fn csv_has_the_promised_columns_and_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("draws.csv");
    let mut draws = draws(&["a", "x, \"y\""], &[&[0.1, -0.0, 1e300, f64::NAN], &[5e-324, f64::NEG_INFINITY]]);
    draws.mark_warmup(1);
    draws.write_csv(&path).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let expected = "chain,draw,warmup,a,\"x, \"\"y\"\"\"\n1,1,true,0.1,-0.0\n1,2,false,1e300,NaN\n2,1,true,5e-324,-inf\n";
    assert_eq!(text, expected);
}

#[test]
fn quantities_follow_every_draw_into_both_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut draws = draws(&["a", "b"], &[&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0]]);
    let name = |name: &str| vec![name.to_owned()];
    assert_eq!(draws.clone().with_quantities(&name("b")), Err(ShapeError::Name("b".into())));
    draws = draws.with_quantities(&name("product")).unwrap();
    let error = ShapeError::Dimension { expected: 1, actual: 2 };
    assert_eq!(draws.derive(|row| vec![row[0], row[1]]), Err(error));
    draws.derive(|row| vec![row[0] * row[1]]).unwrap();
    assert_eq!(draws.quantity_series(0, 1), [vec![12.0], vec![]]);
    draws.write_csv(&folder.path().join("draws.csv")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("draws.csv")).unwrap();
    let lines = "1,1,false,1.0,2.0,2.0\n1,2,false,3.0,4.0,12.0\n2,1,false,5.0,6.0,30.0\n";
    assert_eq!(text, format!("chain,draw,warmup,a,b,product\n{lines}"));
    draws.write_parquet(&folder.path().join("draws.parquet")).unwrap();
    let reader = SerializedFileReader::new(File::open(folder.path().join("draws.parquet")).unwrap()).unwrap();
    let products: Vec<f64> = reader.into_iter().map(|row| row.unwrap().get_double(5).unwrap()).collect();
    assert_eq!(products, [2.0, 12.0, 30.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn both_files_give_back_every_bit(
        first in prop::collection::vec(prop::num::f64::ANY, 0..40),
        second in prop::collection::vec(prop::num::f64::ANY, 0..40),
    ) {
        let whole = |values: &[f64]| values[..values.len() / 2 * 2].to_vec();
        let chains = [whole(&first), whole(&second)];
        let mut draws = draws(&["a", "b"], &[&chains[0], &chains[1]]);
        draws.mark_not_private();
        draws.mark_warmup(3);
        let mut expected = Vec::new();
        for (number, chain) in (1_i64..).zip(&chains) {
            for (draw, row) in (1_i64..).zip(chain.chunks_exact(2)) {
                expected.push((number, draw, row[0], row[1]));
            }
        }
        // Every not-a-number is written alike in CSV; Parquet keeps its bits.
        let canonical = |value: f64| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() };
        let folder = tempfile::tempdir().unwrap();

        let path = folder.path().join("draws.csv");
        draws.write_csv(&path).unwrap();
        let mut reader = csv::Reader::from_path(path).unwrap();
        let lines: Vec<(i64, i64, bool, String, String)> = reader.deserialize().map(Result::unwrap).collect();
        prop_assert_eq!(lines.len(), expected.len());
        for (line, row) in lines.iter().zip(&expected) {
            prop_assert_eq!((line.0, line.1, line.2), (row.0, row.1, row.1 <= 3));
            prop_assert_eq!(canonical(line.3.parse().unwrap()), canonical(row.2));
            prop_assert_eq!(canonical(line.4.parse().unwrap()), canonical(row.3));
        }

        let path = folder.path().join("draws.parquet");
        draws.write_parquet(&path).unwrap();
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let metadata = reader.metadata().file_metadata();
        let mark = &metadata.key_value_metadata().unwrap()[0];
        prop_assert_eq!((mark.key.as_str(), mark.value.as_deref()), ("privacy", Some("NOT PRIVATE")));
        let names: Vec<&str> = metadata.schema().get_fields().iter().map(|field| field.name()).collect();
        prop_assert_eq!(names, ["chain", "draw", "warmup", "a", "b"]);
        let rows: Vec<_> = reader.into_iter().map(Result::unwrap).collect();
        prop_assert_eq!(rows.len(), expected.len());
        for (row, line) in rows.iter().zip(&expected) {
            prop_assert_eq!((row.get_long(0).unwrap(), row.get_long(1).unwrap()), (line.0, line.1));
            prop_assert_eq!(row.get_bool(2).unwrap(), line.1 <= 3);
            prop_assert_eq!(row.get_double(3).unwrap().to_bits(), line.2.to_bits());
            prop_assert_eq!(row.get_double(4).unwrap().to_bits(), line.3.to_bits());
        }
    }
}
