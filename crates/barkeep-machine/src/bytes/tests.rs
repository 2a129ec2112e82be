//! Programs go through bytes unchanged, and no bytes make a panic.

use super::*;
use crate::Writer;
use proptest::prelude::*;

fn program() -> Program {
    let mut w = Writer::default();
    let x = Source::Column(3);
    let a = w.dot(1.0, [(2.0, x), (-0.5, Source::Column(1))]);
    let b = w.product((0.0, 1.0, a), (1.0, 2.0, x));
    let c = w.unary(Unary::LnGamma, b);
    let d = w.binary(Binary::Pow, c, a);
    let e = w.fused(a, b, d);
    let f = w.select(x, e, d);
    let first = w.constants(&[1.0, 2.0]);
    let g = w.step(Step::Gather { index: x, first, count: 2 });
    let [h] = w.repeat(2, [g], |w, [h]| {
        let node = w.mul(h, Source::Node(first));
        w.keep(node);
        [node]
    });
    w.finish([
        Output::Dense(h),
        Output::Levels { value: f, column: 5, count: 7 },
        Output::By { value: g, column: 2, count: 900 },
    ])
    .unwrap()
}

#[test]
fn programs_go_through_bytes() {
    let program = program();
    let mut bytes = program.to_bytes();
    let length = bytes.len();
    bytes.extend([1, 2, 3]);
    assert_eq!(Program::from_bytes(&bytes), Ok((program, length)));
}

#[test]
fn terms_go_through_bytes() {
    let unit = Writer::default().finish([Output::Dense(Source::Column(908))]).unwrap();
    let row = || {
        let mut w = Writer::default();
        let one = w.fill(1.0);
        w.finish([Output::Dense(one)]).unwrap()
    };
    assert!(Term::new(row(), Fold::Sum, Some(unit)).is_err());
    let unit = Writer::default().finish([Output::Dense(Source::Column(1))]).unwrap();
    for unit in [None, Some(unit)] {
        let term = Term::new(row(), Fold::Mean, unit).unwrap();
        let bytes = term.to_bytes();
        assert_eq!(Term::from_bytes(&bytes), Ok((term, bytes.len())));
    }
    assert!(Term::from_bytes(&[2, 0]).is_err() && Term::from_bytes(&[]).is_err());
}

proptest! {
    /// A changed or cut program is refused or is another one; nothing panics.
    #[test]
    fn broken_bytes_do_no_harm(place in 0_usize..2000, byte in 0_u8..=255, cut in 0_usize..2000) {
        let program = program();
        let mut bytes = program.to_bytes();
        let place = place % bytes.len();
        let was = std::mem::replace(&mut bytes[place], byte);
        if let Ok((read, _)) = Program::from_bytes(&bytes) {
            prop_assert_eq!(read.to_bytes() == program.to_bytes(), was == byte);
        }
        bytes[place] = was;
        let cut = cut % bytes.len();
        prop_assert!(Program::from_bytes(&bytes[..cut]).is_err());
    }
}
