use super::*;

#[test]
fn equal_expressions_are_one_node() {
    let mut graph = Graph::default();
    let (x, theta) = (graph.column(0), graph.parameter(0));
    let product = graph.mul(x, theta);
    let again = graph.mul(theta, x);
    assert_eq!(product, again);
    let before = graph.len();
    let sum = graph.add(product, again);
    assert_eq!(graph.len(), before + 1);
    assert_eq!(graph.level(sum), Level::Record);
    assert!(graph.moves(sum) && !graph.moves(x));
    let uniform = graph.unary(Unary::Exp, theta);
    assert_eq!(graph.level(uniform), Level::Uniform);
}

#[test]
fn numbers_are_folded_and_neutral_elements_vanish() {
    let mut graph = Graph::default();
    let x = graph.column(0);
    let (zero, one, two, three) =
        (graph.constant(0.0), graph.constant(1.0), graph.constant(2.0), graph.constant(3.0));
    let six = graph.mul(two, three);
    assert_eq!(graph.value(six), Some(6.0));
    assert_eq!((graph.add(x, zero), graph.mul(one, x), graph.div(x, one)), (x, x, x));
    let nothing = graph.sub(x, x);
    assert_eq!(graph.value(nothing), Some(0.0));
    let minus = graph.negate(x);
    assert_eq!(graph.negate(minus), x);
    let exponential = graph.unary(Unary::Exp, x);
    assert_eq!(graph.unary(Unary::Ln, exponential), x);
    let (twice, power) = (graph.mul(two, x), graph.binary(Binary::Pow, x, three));
    assert_eq!(graph.mul(three, twice), graph.mul(six, x));
    assert_eq!(graph.values(&[], &[-2.0])[power as usize], -8.0);
}

#[test]
fn a_place_outside_means_the_nearest_entry() {
    assert_eq!([-1.0, 0.0, 1.9, 7.0, f64::NAN].map(|index| place(index, 3)), [0, 0, 1, 2, 0]);
}
