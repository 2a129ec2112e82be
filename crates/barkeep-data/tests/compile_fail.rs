//! Checks that record values cannot be printed, serialised, compared or copied out through the types.

#[test]
fn records_cannot_be_shown() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
