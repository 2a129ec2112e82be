//! Checks that powers never exceed their bound and that maps are what they say.

use super::*;

fn coordinate(curve: Curve, scale: f64, shift: f64) -> Coordinate {
    Coordinate { column: 0, curve, scale, shift, squared: true }
}

#[test]
fn maps_are_what_they_say_and_stay_in_their_range() {
    let cases = [
        (coordinate(Curve::Line, 0.5, -1.0), 3.0, 0.5),
        (coordinate(Curve::Line, 2.0, 0.0), 3.0, 1.0),
        (coordinate(Curve::Log { plus: 0.5 }, 1.0, 0.0), 1.5, 2_f64.ln()),
        (coordinate(Curve::Log { plus: 0.0 }, 1.0, 0.0), 0.0, -1.0),
        (coordinate(Curve::Log { plus: 0.0 }, 1.0, 0.0), -1.0, 0.0),
        (coordinate(Curve::Root, 0.25, 0.0), 4.0, 0.5),
        (coordinate(Curve::Share { column: None, fixed: 4.0 }, 2.0, -1.0), 2.0, 0.0),
        (coordinate(Curve::Share { column: Some(1), fixed: 0.0 }, 2.0, -1.0), 9.0, 2.0 * 7.5 / 8.0 - 1.0),
    ];
    for (map, value, expected) in cases {
        let mut out = [f64::NAN];
        map.write(Block::over(&[value, 7.0], 1, 1), &mut out);
        assert!((out[0] - expected).abs() < 1e-15, "{map:?}: {out:?}");
    }
    // A column that is not there is 0, whatever the buffer held.
    let mut out = [5.0];
    Coordinate { column: 9, ..coordinate(Curve::Line, 1.0, 0.0) }.write(Block::over(&[1.0], 1, 1), &mut out);
    assert_eq!(out, [0.0]);
    assert!(!coordinate(Curve::Line, f64::NAN, 0.0).fits(1));
    assert!(!Coordinate { column: 1, ..coordinate(Curve::Line, 1.0, 0.0) }.fits(1));
}

#[test]
fn powers_stay_within_their_bound_and_reach_it() {
    let maps: Vec<Coordinate> = (0..3)
        .map(|column| Coordinate { column, squared: column != 1, ..coordinate(Curve::Line, 1.0, 0.0) })
        .collect();
    assert_eq!(powers_width(&maps, None), 5);
    let mut longest = 0.0_f64;
    for k in 0..=40 {
        for l in 0..=40 {
            let row = [f64::from(k) / 20.0 - 1.0, 1.0, f64::from(l) / 20.0 - 1.0];
            let mut out = vec![0.0; 5];
            write_powers(&maps, Block::over(&row, 1, 1), &mut out);
            longest = longest.max(out.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
    }
    assert!(longest <= powers_bound(&maps, None) && longest > powers_bound(&maps, None) - 1e-12);
}
