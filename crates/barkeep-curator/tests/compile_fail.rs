//! Shows that what must stay secret cannot be let out by mistake: each program here is refused by the compiler.

#[test]
fn secrets_stay_inside() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
