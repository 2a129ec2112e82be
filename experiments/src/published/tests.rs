//! Tests of `published`.

use super::*;

#[test]
fn quartiles_interpolate() {
    assert_eq!(quartiles(&[4.0, 1.0, 2.0, 3.0]), Some([1.75, 2.5, 3.25]));
    assert_eq!(quartiles(&[]), None);
}

#[test]
fn columns_are_found_by_name() {
    let table = Published::new("a,b\n1,x\n2,y\n");
    let found: Vec<_> = table.rows().map(|row| (row.number("a"), row.text("b"))).collect();
    assert_eq!(found, [(1.0, "x"), (2.0, "y")]);
    assert!(table.rows().all(|row| row.number("c").is_nan()));
}
