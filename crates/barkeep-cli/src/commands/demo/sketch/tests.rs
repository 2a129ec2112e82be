//! Tests of `sketch`.

use super::*;

#[test]
fn bars_stand_where_the_draws_are() {
    let text: Vec<char> = histogram(&[0.0, 0.0, 3.9, -100.0, f64::NAN], 0.0, 1.0).chars().collect();
    assert_eq!(text.len(), WIDTH + 1);
    assert_eq!(text[WIDTH / 2], '|');
    assert_eq!(text[WIDTH / 2 + 1], '█');
    assert_eq!(text[WIDTH], '▄');
    assert_eq!(text.iter().filter(|bar| **bar == ' ').count(), WIDTH - 2);
}
