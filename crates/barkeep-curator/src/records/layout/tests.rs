//! Keeps records narrow and wide, and compares every value, in blocks and alone, to the bit.

use super::*;
use crate::records::stored::{Filling, Stored};
use crate::test_support::questions::answers;
use crate::{Budget, Curator, Gate, NoiseRng, PrivacyModel, Table};
use barkeep_accounting::Neighbours;
use barkeep_data::{Admission, Column, Factor, Fault, Feature, Precision, Roster, Scale, Shape};
use std::sync::Arc;

fn levels(count: usize) -> Vec<String> {
    (0..count).map(|level| format!("l{level}")).collect()
}

fn feature(name: &str, factors: &[(usize, Shape)]) -> Feature {
    let factors = factors.iter().map(|&(column, shape)| Factor { column, shape, scaled: true });
    Feature { name: name.to_owned(), factors: factors.collect() }
}

/// Every kind of column and feature, with the bytes it takes beside f64.
fn view() -> View {
    let source = Schema::new(vec![
        Column::boolean("sick", true).unwrap(),
        Column::integer("age", 0.0, 120.0, 40.0).unwrap(),
        Column::integer("year", 1900.0, 2030.0, 2000.0).unwrap(),
        Column::integer("wage", -70_000.0, 1e9, 0.0).unwrap(),
        Column::integer("far", 0.0, 1e10, 0.0).unwrap(),
        Column::integer("scaled", 0.0, 10.0, 0.0).unwrap().scaled(Scale::Bounds).unwrap(),
        Column::real("x", -1.0, 1.0, 0.0).unwrap(),
        Column::category("town", levels(5), "l1").unwrap(),
        Column::category("code", levels(700), "l3").unwrap(),
        Column::real("short", -0.1, 0.9, 0.3).unwrap().kept_in(Precision::Single).unwrap(),
        Column::real("unit", -3.0, 0.1, 0.0)
            .and_then(|column| column.scaled(Scale::Bounds)?.kept_in(Precision::Single))
            .unwrap(),
    ])
    .unwrap();
    let mut features: Vec<Feature> =
        (0..11).map(|column| feature(&format!("v{column}"), &[(column, Shape::Value)])).collect();
    for level in [1, 2, 4] {
        features.push(feature(&format!("town{level}"), &[(7, Shape::Level(level))]));
    }
    for level in [0, 255, 256, 699] {
        features.push(feature(&format!("code{level}"), &[(8, Shape::Level(level))]));
    }
    // The same level once more, products of bits, and products of others, whose factors are kept or not.
    features.push(feature("again", &[(7, Shape::Level(2))]));
    features.push(feature("both", &[(7, Shape::Level(2)), (0, Shape::Value), (8, Shape::Level(256))]));
    features.push(feature("town:x", &[(7, Shape::Level(2)), (6, Shape::Value)]));
    for level in [0, 3] {
        for code in [1, 2, 698] {
            let factors = [(7, Shape::Level(level)), (8, Shape::Level(code))];
            features.push(feature(&format!("town{level}:code{code}"), &factors));
        }
    }
    features.push(feature("x:far", &[(6, Shape::Value), (4, Shape::Value)]));
    features.push(feature(
        "sick:x:both",
        &[(7, Shape::Level(2)), (6, Shape::Value), (0, Shape::Value), (8, Shape::Level(256))],
    ));
    features.push(feature("short:sick", &[(9, Shape::Value), (0, Shape::Value)]));
    features.push(feature("x:town3", &[(6, Shape::Value), (7, Shape::Level(3))]));
    features.push(feature("age2", &[(1, Shape::Legendre(2))]));
    View::new(source, features).unwrap()
}

/// Rows with ends of ranges, levels of every kind, and cells that are admitted as something else.
fn table(layout: Layout, view: &View, records: usize, guess: usize) -> Stored {
    let count = Count::About(guess);
    let filling = Filling::laid_out(view.schema(), layout, count).unwrap();
    let mut filling = filling.counting(view.source().width());
    let mut admission = Admission::new(view.clone(), count).unwrap();
    for i in 0..records {
        let x = i as f64;
        let row = [
            x % 2.0,
            if i % 7 == 0 { -0.3 } else { x % 130.0 },
            1890.0 + x % 150.0,
            if i % 3 == 0 { -1e6 } else { x * 1e6 },
            x * 1e8,
            x % 11.0,
            (x * 0.37).sin(),
            if i % 13 == 0 { f64::NAN } else { x % 5.0 },
            (x * 7.0) % 700.0,
            (x * 0.11).sin(),
            (x * 0.13).cos() * 4.0,
        ];
        let names = ["sick", "age", "year", "wage", "far", "scaled", "x", "town", "code", "short", "unit"];
        let value = |column: &Column| row[names.iter().position(|name| *name == column.name()).unwrap()];
        let row: Vec<f64> = view.source().columns().iter().map(value).collect();
        admission.push_row(&row, &mut filling).unwrap();
    }
    admission.finish(&mut filling).unwrap();
    filling.finish().unwrap()
}

#[test]
fn narrow_tables_show_the_bits_of_wide_ones() {
    let view = view();
    let width = view.schema().width();
    for (records, guess) in [(1, 1), (9, 3), (1024, 1), (3001, 3001), (2500, 90)] {
        let wide = table(Layout::wide(view.schema()), &view, records, guess);
        let narrow = table(Layout::narrow(&view), &view, records, guess);
        let (mut first, mut second) = (Widened::default(), Widened::default());
        for index in 0..=wide.blocks().len() {
            let expected = wide.blocks().get(index, width, false, &mut first);
            let found = narrow.blocks().get(index, width, false, &mut second);
            assert_eq!(found.len(), expected.len());
            for column in 0..width {
                let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(found.column(column)), bits(expected.column(column)), "{index} {column}");
                assert!(found.len() == 0 || found.column(column).as_ptr().align_offset(64) == 0);
            }
            // Only the first columns, as a model reads them.
            let found = narrow.blocks().get(index, 3, false, &mut second);
            assert!(found.column(2) == expected.column(2) && found.column(3).is_empty());
        }
        for place in (0..records).step_by(17) {
            for column in 0..width {
                let [found, expected] = [&narrow, &wide].map(|table| table.blocks().value(place, column));
                assert_eq!(found.to_bits(), expected.to_bits(), "{place} {column}");
            }
        }
    }
}

#[test]
fn widths_follow_from_the_schema() {
    let layout = Layout::narrow(&view());
    // far, scaled, x, x:town3 (whose level is not kept) and age2 are f64, other products nothing. sick, age, town as a number: a byte; year
    // and code: two; wage: four; an index of towns, one of codes, one of both and one of towns with codes; four bytes for each of two
    // numbers of 32 bits.
    assert_eq!((layout.numbers(), layout.bytes()), (5, 1 + 1 + 1 + 2 + 2 + 4 + 1 + 1 + 1 + 1 + 4 + 4));
    assert_eq!(Layout::wide(view().schema()).record(), 8 * view().schema().width());
}

#[test]
fn small_tables_and_those_that_hardly_shrink_stay_wide() {
    let view = view();
    assert!(Layout::of(&view, Count::Exactly(1000)).is_wide());
    assert!(!Layout::of(&view, Count::Exactly(1_000_000)).is_wide());
    assert!(!Layout::of(&view, Count::About(1_000_000)).is_wide());
    // Halved by an index: worth it only where f64 leave the cache.
    let mixed = ["v5", "v6", "town1", "town2", "town4"]
        .map(|name| view.features().iter().find(|feature| feature.name == name).unwrap().clone());
    let mixed = View::new(view.source().clone(), mixed.to_vec()).unwrap();
    assert!(Layout::of(&mixed, Count::Exactly(100_000)).is_wide());
    assert!(!Layout::of(&mixed, Count::Exactly(2_000_000)).is_wide());
    let reals = View::all(Schema::unbounded(["a", "b"]).unwrap());
    assert!(Layout::of(&reals, Count::Exactly(1 << 30)).is_wide());
}

/// Programs read levels by their index or column by column: every question has the same answer, to the bit, on any
/// number of threads, whether rows are records or persons'.
#[test]
fn narrow_tables_answer_as_wide_ones() {
    let view = view();
    // A number, the levels of two categories, a real column and a bool between them.
    let order = [
        "v5",
        "town1",
        "town2",
        "town4",
        "v6",
        "code0",
        "code255",
        "v0",
        "both",
        "town:x",
        "again",
        "town0:code1",
        "town3:code1",
        "v8",
    ];
    let named = |name: &&str| view.features().iter().find(|feature| feature.name == *name).unwrap().clone();
    let view = View::new(view.source().clone(), order.iter().map(named).collect()).unwrap();
    let ask = |layout: Layout, threads: usize, by_person: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut stored = table(layout, &view, 3001, 3001);
            if by_person {
                let mut roster = Roster::new(Count::Exactly(700));
                (0..3001_usize).for_each(|i| assert!(roster.push(&(i * 31 % 700).to_le_bytes())));
                let noted = vec![vec![Fault::Valid; 3001]; view.source().width()];
                let noted = Some((&noted[..], Count::Exactly(700)));
                stored = stored.by_person(&roster, Some(4), noted).unwrap();
            }
            let table: Table = stored.into();
            let privacy_model = PrivacyModel { neighbours: Neighbours::Substitute };
            let curator = Curator::new(table, privacy_model, Budget::not_private()).unwrap();
            let mut gate = Gate::open(&Arc::new(curator), NoiseRng::insecure_seed(11)).unwrap();
            answers(&mut gate, view.schema())
        })
    };
    for by_person in [false, true] {
        let expected = ask(Layout::wide(view.schema()), 1, by_person);
        assert_eq!(ask(Layout::narrow(&view), 1, by_person), expected);
        assert_eq!(ask(Layout::narrow(&view), 3, by_person), expected);
    }
    let layout = Layout::narrow(&view);
    let counts = layout.by_index.iter().filter_map(|place| match place {
        Place::Level { count, .. } => Some(*count),
        Place::Lying(_) | Place::Widened(_) => None,
    });
    // Three towns, two codes, one of both, a town again, two of towns with codes.
    assert_eq!(counts.collect::<Vec<_>>(), [3, 2, 1, 2, 1, 1, 1, 2, 1]);
}
