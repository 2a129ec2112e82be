//! What is refused, and that registers are used again.

use super::*;
use crate::{Block, Machine, Writer};

const DOT: fn(u32) -> Step = |step| Step::Unary(Unary::Exp, Source::Step(step));

fn refused(steps: Vec<Step>, outputs: Vec<Output>) -> bool {
    Program::new(steps, outputs, vec![1.0; 4]).is_err()
}

#[test]
fn steps_read_what_was_computed_before_them() {
    let first = Step::Unary(Unary::Exp, Source::Column(0));
    assert!(Program::new(vec![first.clone(), DOT(0)], vec![Output::Dense(Source::Step(1))], vec![]).is_ok());
    assert!(refused(vec![DOT(0)], vec![]));
    assert!(refused(vec![first.clone(), DOT(1)], vec![]));
    assert!(refused(vec![first.clone()], vec![Output::Dense(Source::Step(1))]));
    assert!(refused(vec![first.clone()], vec![Output::Dense(Source::Constant(0))]));
    assert!(refused(vec![Step::Unary(Unary::Exp, Source::Constant(4))], vec![]));
    assert!(refused(vec![Step::Dot { start: 0, first: 3, terms: [Source::Column(0); 2].into() }], vec![]));
    assert!(refused(vec![Step::Gather { index: Source::Column(0), first: 2, count: 3 }], vec![]));
    assert!(refused(vec![Step::Gather { index: Source::Column(0), first: 2, count: 0 }], vec![]));
    assert!(refused(vec![Step::Unary(Unary::Exp, Source::Node(0))], vec![]));
    let wide = Output::By { value: Source::Step(0), column: 0, count: (1 << 20) + 1 };
    assert!(refused(vec![first.clone()], vec![wide]));
    assert!(refused(vec![first], vec![Output::Dense(Source::Step(0)); MOST_WIDTH + 1]));
}

#[test]
fn repetitions_carry_what_they_computed() {
    let (x, begin) = (Source::Column(0), Step::Begin { count: 2 });
    let end = |step: u32| Step::End([Source::Step(step)].into());
    let add = |a, b| Step::Binary(Binary::Add, a, b);
    let good = vec![begin.clone(), Step::Carry(x), add(Source::Step(1), Source::Node(1)), end(2)];
    let out = |step| vec![Output::Dense(Source::Step(step))];
    assert!(Program::new(good.clone(), out(1), vec![1.0; 4]).is_ok());
    // What a round computed is gone with it; only what is carried stays.
    assert!(refused(good.clone(), out(2)));
    // The last round would read beyond the constants.
    assert!(refused(
        vec![begin.clone(), Step::Carry(x), add(Source::Step(1), Source::Node(3)), end(2)],
        out(1)
    ));
    for bad in [
        vec![begin.clone()],
        vec![Step::Begin { count: 0 }, Step::End([].into())],
        vec![begin.clone(), begin.clone(), Step::End([].into())],
        vec![end(0)],
        vec![Step::Carry(x)],
        vec![Step::Keep(x)],
        vec![begin.clone(), Step::Carry(x), end(1)],
        vec![begin.clone(), Step::Carry(x), Step::End([x].into())],
        vec![begin.clone(), Step::Carry(x), add(x, x), Step::End([].into())],
        vec![begin.clone(), add(x, x), Step::Carry(x), end(1)],
        vec![begin.clone(), Step::Carry(x), Step::Carry(Source::Step(1)), Step::End([].into())],
        vec![begin.clone(), Step::Keep(x), Step::Unary(Unary::Exp, Source::Kept(1)), Step::End([].into())],
    ] {
        assert!(refused(bad.clone(), vec![]), "{bad:?}");
    }
    let kept = vec![begin.clone(), Step::Keep(x), Step::End([].into())];
    let later = |count| {
        let mut steps = kept.clone();
        steps.extend([Step::Begin { count }, Step::Unary(Unary::Exp, Source::Kept(1)), Step::End([].into())]);
        steps
    };
    assert!(!refused(later(2), vec![]) && refused(later(3), vec![]));
    assert!(refused(vec![Step::Begin { count: u32::MAX }, add(x, x), Step::End([].into())], vec![]));
}

#[test]
fn registers_are_used_again_and_none_is_overwritten_too_early() {
    let mut steps = vec![Step::Unary(Unary::Exp, Source::Column(0))];
    (0..100).for_each(|k| steps.push(DOT(k)));
    let program = Program::new(steps, vec![Output::Dense(Source::Step(100))], vec![]).unwrap();
    assert!(program.code.registers <= 2);
}

#[test]
fn other_constants_must_be_as_many() {
    let program = Program::new(vec![], vec![Output::Dense(Source::Column(0))], vec![1.0]).unwrap();
    assert!(program.with_constants(vec![2.0]).is_ok() && program.with_constants(vec![]).is_err());
}

#[test]
fn an_appended_program_computes_what_it_did() {
    let mut w = Writer::default();
    let sum = w.dot(0.5, [(2.0, Source::Column(0)), (-1.0, Source::Column(1))]);
    let first = w.constants(&[1.0, 2.0, 3.0]);
    let [total] = w.repeat(3, [sum], |w, [total]| [w.fused(total, Source::Node(first), sum)]);
    let looked_up = w.step(Step::Gather { index: Source::Column(1), first, count: 3 });
    let alone = w.finish([Output::Dense(total), Output::Dense(looked_up)]).unwrap();
    let mut w = Writer::default();
    let before = w.dot(7.0, [(3.0, Source::Column(1))]);
    let mut outputs = w.append(&alone);
    assert_eq!(outputs.len(), 2);
    outputs.insert(0, before);
    let both = w.finish(outputs.into_iter().map(Output::Dense)).unwrap();
    let values = [0.25, -1.5, 2.0, 0.0, 1.0, 2.0];
    let block = Block::over(&values, 3, 3);
    let (mut found, mut expected) = ([0.0; 9], [0.0; 6]);
    Machine::default().write_all(&both, block, &mut found);
    Machine::default().write_all(&alone, block, &mut expected);
    assert_eq!(found[3..], expected);
    assert_eq!(found[..3], [7.0, 10.0, 13.0]);
}
