//! Checks which descriptions are refused and what a model sees of a value or a cell.

use super::*;
use crate::{Factor, Shape};
use crate::{Faults, Noting};

fn message(result: Result<Column, Error>) -> String {
    result.unwrap_err().to_string()
}

fn levels(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn a_typical_interval_lies_within_the_bounds() {
    let weight = || Column::real("weight", 0.0, 500.0, 70.0).unwrap();
    let column = weight().typically(40.0, 120.0).unwrap();
    assert_eq!((column.typical(), weight().typical()), (Some((40.0, 120.0)), None));
    for (low, high) in [(120.0, 40.0), (40.0, 40.0), (-1.0, 40.0), (40.0, 501.0), (f64::NAN, 40.0)] {
        let refused = weight().typically(low, high);
        assert!(matches!(refused, Err(Error::Column { key: "typical", .. })), "{low} {high}: {refused:?}");
    }
    let hours = || Column::integer("hour", 0.0, 23.0, 12.0).unwrap();
    assert!(hours().typically(6.0, 22.0).is_ok() && hours().typically(6.5, 22.0).is_err());
    assert!(Column::boolean("late", false).unwrap().typically(0.0, 1.0).is_err());
    let read: Column = serde_json::from_str(&serde_json::to_string(&column).unwrap()).unwrap();
    assert_eq!(read, column);
    let old = serde_json::to_string(&weight()).unwrap();
    assert!(!old.contains("typical"), "{old}");
    assert!(serde_json::from_str::<Column>(&old.replace("70.0", "70.0, \"typical\": [9, 1]")).is_err());
}

#[test]
fn refusals_name_the_column_and_the_key() {
    let (nan, infinity) = (f64::NAN, f64::INFINITY);
    let cases = [
        (Column::real("x", 1.0, 1.0, 1.0), "data.columns.x: min must be less than max"),
        (Column::real("x", 2.0, 1.0, 1.0), "data.columns.x: min must be less than max"),
        (Column::real("x", nan, 1.0, 1.0), "data.columns.x: min must be a finite number"),
        (Column::real("x", -infinity, 1.0, 1.0), "data.columns.x: min must be a finite number"),
        (Column::real("x", 0.0, infinity, 1.0), "data.columns.x: max must be a finite number"),
        (Column::real("x", 0.0, 1.0, 1.5), "data.columns.x: invalid must be a number from min to max"),
        (Column::real("x", 0.0, 1.0, nan), "data.columns.x: invalid must be a number from min to max"),
        (Column::integer("x", 0.5, 3.0, 1.0), "data.columns.x: min must be a whole number"),
        (Column::integer("x", 0.0, 3.5, 1.0), "data.columns.x: max must be a whole number"),
        (Column::integer("x", 0.0, 3.0, 1.5), "data.columns.x: invalid must be a whole number"),
        (Column::integer("x", 0.0, 3.0, nan), "data.columns.x: invalid must be a whole number"),
        (Column::new("x", Kind::Bool, 0.5), "data.columns.x: invalid must be true or false"),
        (Column::category("x", vec![], "a"), "data.columns.x: levels must name at least one level"),
        (Column::category("x", levels(&["a", "a"]), "a"), "data.columns.x: levels must be distinct"),
        (
            Column::category("x", levels(&["a", " b"]), "a"),
            "data.columns.x: levels must not begin or end with a space",
        ),
        (
            Column::category("x", levels(&["a", "b"]), "c"),
            "data.columns.x: invalid must be one of the levels",
        ),
        (
            Column::boolean("x", true).and_then(|column| column.scaled(Scale::Bounds)),
            "data.columns.x: scale needs a real or integer column, which has bounds",
        ),
        (Column::boolean("  ", true), "data.columns must name every column"),
    ];
    for (result, expected) in cases {
        assert_eq!(message(result), expected);
    }
    let twice = vec![Column::boolean("x", true).unwrap(), Column::boolean(" x ", true).unwrap()];
    assert_eq!(
        Schema::new(twice).unwrap_err().to_string(),
        "data.columns.x: name must not be declared twice"
    );
    assert_eq!(Schema::new(vec![]).unwrap_err().to_string(), "data.columns must declare at least one column");
}

#[test]
fn whatever_comes_a_model_sees_a_finite_value_in_range() {
    let odd =
        [f64::NAN, f64::INFINITY, -f64::INFINITY, 5e-324, -0.0, 0.4, 0.5, 1.0, 2.5, -7.0, 1e308, -1e308];
    let columns = [
        Column::real("a", -1.5, 3.0, 0.25).unwrap(),
        Column::real("a", -1.5, 3.0, 0.25).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::real("a", f64::MIN, f64::MAX, 0.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::integer("a", -2.0, 3.0, 1.0).unwrap(),
        Column::integer("a", -2.0, 3.0, 1.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::boolean("a", true).unwrap(),
        Column::category("a", levels(&["p", "q", "r"]), "q").unwrap(),
    ];
    for column in &columns {
        let (low, high) = column.bounds().unwrap_or_else(|| column.range());
        for value in odd {
            assert!((low..=high).contains(&column.admit(value)));
        }
        for cell in ["", "NA", "nan", "inf", "-inf", "1e999", "0x10", "1,5", "p ", "true", "٣", "--1"] {
            assert!((low..=high).contains(&column.admit(Cells::new(column).parse(cell.as_bytes()))));
        }
        assert!(Cells::new(column).parse(&[0xff, 0xfe]).is_nan());
    }
}

#[test]
fn cells_are_read_by_kind() {
    let real = Column::real("a", -10.0, 10.0, 0.25).unwrap();
    let cases = [("3.5", 3.5), (" -2e0 ", -2.0), ("1e3", 10.0), ("-inf", -10.0), ("NaN", 0.25), ("", 0.25)];
    for (cell, expected) in cases {
        assert_eq!(real.admit(Cells::new(&real).parse(cell.as_bytes())), expected);
    }
    assert_eq!(real.admit(Cells::new(&real).parse(b"3,5")), 0.25);

    let integer = Column::integer("a", -3.0, 9.0, 4.0).unwrap();
    for (cell, expected) in [("2.4", 2.0), ("2.5", 3.0), ("-2.5", -3.0), ("99", 9.0), ("many", 4.0)] {
        assert_eq!(integer.admit(Cells::new(&integer).parse(cell.as_bytes())), expected);
    }

    let boolean = Column::boolean("a", true).unwrap();
    for (cell, expected) in [("FALSE", 0.0), ("no", 0.0), ("0", 0.0), ("0.0", 0.0), ("Y", 1.0), ("1", 1.0)] {
        assert_eq!(boolean.admit(Cells::new(&boolean).parse(cell.as_bytes())), expected);
    }
    assert_eq!(boolean.admit(Cells::new(&boolean).parse(b"2")), 1.0);

    let category = Column::category("a", levels(&["EWR", "JFK", ""]), "JFK").unwrap();
    for (cell, expected) in [("EWR", 0.0), (" JFK", 1.0), ("", 2.0), ("ewr", 1.0), ("LGA", 1.0), ("0", 1.0)] {
        assert_eq!(category.admit(Cells::new(&category).parse(cell.as_bytes())), expected);
    }
    assert_eq!(category.admit(0.0), 0.0);
    assert_eq!(category.admit(3.0), 1.0);
    assert_eq!(category.admit(0.5), 1.0);
}

#[test]
fn bounds_are_scaled_to_the_unit_interval() {
    let column = Column::real("hour", 5.0, 23.0, 14.0).unwrap().scaled(Scale::Bounds).unwrap();
    assert_eq!(column.range(), (-1.0, 1.0));
    let seen = Factor { column: 0, shape: Shape::Value, scaled: true };
    for (value, expected) in
        [(5.0, -1.0), (14.0, 0.0), (18.5, 0.5), (23.0, 1.0), (99.0, 1.0), (f64::NAN, 0.0)]
    {
        assert_eq!(seen.at(&column, column.admit(value)), expected);
    }
    let widest = Column::real("a", f64::MIN, f64::MAX, 0.0).unwrap().scaled(Scale::Bounds).unwrap();
    assert_eq!(seen.at(&widest, f64::MAX), 1.0);
}

#[test]
fn a_schema_is_read_back_from_what_it_wrote_and_validated_again() {
    let schema = Schema::new(vec![
        Column::real("a", -1.0, 1.0, 0.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::category("b", levels(&["p", "q"]), "q").unwrap(),
    ])
    .unwrap();
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(serde_json::from_str::<Schema>(&text).unwrap(), schema);
    let broken = text.replace("\"min\":-1.0", "\"min\":1.0");
    let message = serde_json::from_str::<Schema>(&broken).unwrap_err().to_string();
    assert!(message.contains("data.columns.a: min must be less than max"));
}

#[test]
fn faults_are_what_admission_changes() {
    let real = Column::real("x", -1.0, 2.0, 0.0).unwrap();
    let integer = Column::integer("k", 0.0, 3.0, 0.0).unwrap();
    let category = Column::category("c", vec!["a".into(), "b".into()], "a").unwrap();
    let cases: [(&Column, &[u8], Fault); 12] = [
        (&real, b"2", Fault::Valid),
        (&real, b"2.01", Fault::Clamped),
        (&real, b"-inf", Fault::Clamped),
        (&real, b"nan", Fault::Invalid),
        (&real, b"", Fault::Invalid),
        (&integer, b"3.4", Fault::Valid),
        (&integer, b"3.6", Fault::Clamped),
        (&integer, b"three", Fault::Invalid),
        (&category, b"b", Fault::Valid),
        (&category, b"woman", Fault::Invalid),
        (&category, b"\xff", Fault::Invalid),
        (&category, b" a ", Fault::Valid),
    ];
    for (column, cell, expected) in cases {
        assert!(column.fault(Cells::new(column).parse(cell)) == expected);
    }
}

#[test]
fn public_values_are_read_back_and_others_named() {
    let columns = [
        (Column::real("x", 0.5, 7.0, 1.0).unwrap(), vec![0.5, 6.25], vec!["8", "soon", "", "NaN", "inf"]),
        (Column::integer("n", 0.0, 4.0, 1.0).unwrap(), vec![0.0, 3.0], vec!["1.5", "-1", "x"]),
        (Column::boolean("b", true).unwrap(), vec![0.0, 1.0], vec!["perhaps", "2"]),
        (
            Column::category("c", vec!["p".into(), "q".into()], "p").unwrap(),
            vec![0.0, 1.0],
            vec!["r", "", "0"],
        ),
    ];
    for (column, values, wrong) in columns {
        for value in values {
            assert_eq!(column.public_value(&column.written(value)), Ok(value), "{}", column.name());
        }
        for cell in wrong {
            assert!(column.public_value(cell).is_err(), "{} {cell}", column.name());
        }
    }
}

/// Values of every kind, many of them ties.
fn any_values() -> Vec<f64> {
    let edges = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MAX, f64::MIN_POSITIVE, 5e-324];
    let near =
        [0.499_999_999_999_999_94, 0.5, 1.5, 2.5, 4_503_599_627_370_495.5, 9_007_199_254_740_993.0, 1e300];
    let many = (0..4000).map(|k| f64::from(k - 2000) * 0.125);
    edges.into_iter().chain(near).chain(near.map(|x| -x)).chain(many).collect()
}

#[test]
fn a_stretch_is_admitted_as_its_values_are_one_by_one() {
    for column in [
        Column::real("x", -2.0, 3.5, 0.25).unwrap(),
        Column::real("x", -1e300, 1e300, 0.25).unwrap(),
        Column::real("x", -0.1, 100.1, 0.3).unwrap().kept_in(Precision::Single).unwrap(),
        Column::real("x", -1e300, 1e30, 0.3).unwrap().kept_in(Precision::Single).unwrap(),
        Column::integer("x", -4.0, 30.0, 2.0).unwrap(),
        Column::integer("x", -1e17, 1e17, 2.0).unwrap(),
        Column::boolean("x", true).unwrap(),
        Column::category("x", levels(&["a", "b", "c"]), "b").unwrap(),
    ] {
        let mut values = any_values();
        let mut faults = Faults::default();
        faults.admit(Noting::Each, &column, &mut values);
        let times = |one| faults.each.iter().filter(|fault| **fault == one).count();
        assert_eq!((faults.cells, faults.each.len()), (values.len(), values.len()));
        assert_eq!((faults.invalid, faults.clamped), (times(Fault::Invalid), times(Fault::Clamped)));
        assert!(faults.invalid > 0);
        for (value, kept) in any_values().into_iter().zip(values) {
            assert_eq!(kept.to_bits(), column.admit(value).to_bits(), "{value}");
        }
    }
}

#[test]
fn whole_numbers_are_rounded_as_the_standard_library_does() {
    for value in any_values() {
        assert_eq!(round(value).to_bits(), value.round().to_bits(), "{value}");
    }
}

#[test]
fn plain_numbers_have_the_bits_of_the_general_parser() {
    let column = Column::real("x", -1e300, 1e300, 0.0).unwrap();
    let cells = Cells::new(&column);
    let shapes =
        ["", "-", ".", "-.", "1.", ".5", "-.5", "-0", "+1", "1.2.3", "1e3", " 7", "0x1", "12a", "--1"];
    let numbers = (0..3000_u64).map(|k| {
        let digits = (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (k % 60)).to_string();
        let place = (k % 19) as usize;
        match digits.split_at_checked(place) {
            Some((whole, rest)) if k % 3 > 0 => {
                format!("{}{whole}.{rest}", if k % 2 == 0 { "-" } else { "" })
            }
            _ => digits,
        }
    });
    for text in shapes.into_iter().map(str::to_owned).chain(numbers) {
        let expected = text.trim().parse::<f64>().unwrap_or(f64::NAN);
        let found = cells.parse(text.as_bytes());
        assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{text:?}");
    }
}

#[test]
fn numbers_of_32_bits_stay_within_bounds_that_are_none() {
    let column = || Column::real("x", 0.1, 0.7, 0.3).unwrap();
    let single = column().kept_in(Precision::Single).unwrap();
    let mut values = [0.0, 0.1, 0.2, 0.7, 9.0, f64::NAN];
    let faults = values.map(|value| single.fault(value));
    single.admit_all(&mut values);
    assert!(values.iter().all(|x| f64::from(*x as f32) == *x && (0.1..=0.7).contains(x)));
    assert!(values[0] == values[1] && values[3] == values[4] && values[5] == f64::from(0.3_f32));
    // A value on a bound is none that was clamped.
    assert!(faults[1] == Fault::Valid && faults[3] == Fault::Valid && faults[4] == Fault::Clamped);
    let read: Column = serde_json::from_str(&serde_json::to_string(&single).unwrap()).unwrap();
    assert_eq!(read, single);
    assert!(!serde_json::to_string(&column()).unwrap().contains("precision"));
    let whole = Column::integer("x", 0.0, 3.0, 1.0).unwrap().kept_in(Precision::Single);
    assert!(message(whole).contains("x: precision needs a real column"));
    let tight = Column::real("x", 0.1, 0.1 + 1e-9, 0.1).unwrap().kept_in(Precision::Single);
    assert!(message(tight).contains("no two numbers of 32 bits"));
}

#[test]
fn levels_are_told_apart_by_every_byte() {
    let names =
        ["a", "b", "", "aaaaaaaa", "aaaaaaaaa", "aaaaaaab", "é", "a\u{0}", "long enough to be no number"];
    let many: Vec<String> = (0..40).map(|level| format!("l{level}")).collect();
    for declared in [levels(&names), many] {
        let column = Column::category("x", declared.clone(), &declared[1]).unwrap();
        let cells = Cells::new(&column);
        for (index, level) in declared.iter().enumerate() {
            assert_eq!(cells.parse(level.as_bytes()), index as f64, "{level:?}");
            assert_eq!(cells.parse(format!(" {level} ").as_bytes()), index as f64, "{level:?}");
        }
        for other in ["A", "aa", "a\u{0}\u{0}", "aaaaaaaaaa", "l40", "l4\u{0}", "long enough"] {
            assert!(cells.parse(other.as_bytes()).is_nan(), "{other:?}");
        }
    }
}
