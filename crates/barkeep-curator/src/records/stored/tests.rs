//! Reads back what was put in: every value, in its place, at an aligned address.

use super::*;
use crate::TableBuilder;
use barkeep_data::View;

/// Value j of record i: distinct, exact in f64.
fn value(i: usize, j: usize) -> f64 {
    (i * 64 + j) as f64
}

fn table(records: usize, width: usize) -> Stored {
    counted(records, width, Count::Exactly(records))
}

fn counted(records: usize, width: usize, count: Count) -> Stored {
    let schema = Schema::unbounded((0..width).map(|j| format!("c{j}"))).unwrap();
    let mut builder = TableBuilder::viewed(View::all(schema), count).unwrap();
    for i in 0..records {
        builder.push_row(&(0..width).map(|j| value(i, j)).collect::<Vec<_>>()).unwrap();
    }
    builder.stored().unwrap()
}

#[test]
fn every_value_is_found_again_aligned_and_in_order() {
    for records in [1, 7, 8, 9, 1023, 1024, 1025, 2048, 3000] {
        let guesses = [1, 9, 2000, 10_000].map(Count::About);
        let counts = guesses.into_iter().chain([Count::Exactly(records)]);
        for (count, width) in counts.flat_map(|count| [1, 2, 5].map(|width| (count, width))) {
            let table = counted(records, width, count);
            let (blocks, mut room) = (table.blocks(), Widened::default());
            assert_eq!(blocks.len(), records.div_ceil(BLOCK));
            assert_eq!(
                (0..blocks.len())
                    .map(|index| blocks.get(index, width, false, &mut room).len())
                    .sum::<usize>(),
                records
            );
            for index in 0..blocks.len() {
                let block = blocks.get(index, width, false, &mut room);
                assert_eq!(block.width(), width);
                for j in 0..width {
                    assert_eq!(block.column(j).as_ptr().align_offset(64), 0);
                    for (i, found) in block.column(j).iter().enumerate() {
                        assert_eq!(*found, value(index * BLOCK + i, j));
                    }
                }
                assert!(block.column(width).is_empty());
            }
            assert!(blocks.get(blocks.len(), width, false, &mut room).column(0).is_empty());
        }
    }
}

#[test]
fn a_table_without_records_has_no_block() {
    let table = counted(0, 2, Count::About(5));
    assert_eq!((table.records(), table.blocks().len()), (0, 0));
}

#[test]
fn records_that_find_no_room_are_an_error_without_their_number() {
    let schema = Schema::unbounded(["a"]).unwrap();
    let mut filling = Filling::reserve(&schema, Count::About(1)).unwrap();
    filling.table.records = MOST_RECORDS as usize - 1;
    filling.take(1, &mut |_, out| out.fill(1.0));
    assert!(!filling.overflowed);
    filling.take(1, &mut |_, out| out.fill(1.0));
    filling.take(1, &mut |_, out| out.fill(1.0));
    let error = filling.finish().err().unwrap();
    assert_eq!(error, Error::Room);
    assert!(filling_says_no_number(&error.to_string()));
}

/// The limit itself is public.
fn filling_says_no_number(message: &str) -> bool {
    !message.replace("2^32", "").contains(|letter: char| letter.is_ascii_digit())
}

#[test]
fn memory_is_the_columns_and_a_fifth_at_most() {
    for (records, width) in [(100, 3), (1000, 10), (10_000, 2), (100_000, 30)] {
        let table = table(records, width);
        let bytes = table.values.capacity() * size_of::<f64>();
        assert!(bytes as f64 <= 1.2 * (records * width * size_of::<f64>()) as f64);
    }
}

#[test]
fn refuses_wrong_counts_and_widths() {
    let schema = Schema::unbounded(["a", "b"]).unwrap();
    assert!(matches!(TableBuilder::new(schema.clone(), 0), Err(Error::Data { key: "records", .. })));
    assert!(matches!(
        TableBuilder::new(schema.clone(), (1 << 32) + 1),
        Err(Error::Data { key: "records", .. })
    ));
    let mut builder = TableBuilder::new(schema, 1).unwrap();
    assert_eq!(builder.push_row(&[1.0]), Err(Error::Width { columns: 2 }));
    builder.push_row(&[1.0, 2.0]).unwrap();
    assert_eq!(builder.push_row(&[1.0, 2.0]), Err(Error::Rows { declared: 1 }));
    assert_eq!(builder.stored().unwrap().records(), 1);
    let builder = TableBuilder::new(Schema::unbounded(["a"]).unwrap(), 2).unwrap();
    assert!(matches!(builder.finish(), Err(Error::Rows { declared: 2 })));
}

#[test]
fn refuses_what_the_memory_cannot_hold() {
    let schema = Schema::unbounded((0..4096).map(|j| format!("c{j}"))).unwrap();
    assert!(matches!(TableBuilder::new(schema, 1 << 32), Err(Error::Memory { columns: 4096, .. })));
}
