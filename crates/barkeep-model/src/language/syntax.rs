//! Names the parts of a model's text.
//!
//! Expressions live in one list in which arguments come before what uses them: nothing that walks them recurses, so a deep
//! nest cannot exhaust the stack.

use super::fault::Span;

/// An expression's place in the list.
pub(crate) type Place = usize;

/// One expression and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// What an expression is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A number.
    Number(f64),
    /// A level in quotes.
    Level(String),
    /// A column, a parameter or a local name.
    Name(String),
    /// An entry of a vector of parameters.
    Index(String, Place),
    /// `-a`.
    Negate(Place),
    /// `not a`.
    Not(Place),
    /// `a + b` and its like.
    Operation(Operation, Place, Place),
    /// `f(a, b, …)`, a function or a distribution.
    Call(String, Vec<Place>),
}

/// What stands between two expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// How many numbers a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// One.
    Single,
    /// One for each level of a column.
    Levels(String, Span),
    /// This many.
    Count(usize),
}

/// What values a parameter may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Constraint {
    /// Any.
    Real,
    /// Above a number.
    Above(Place),
    /// Below a number.
    Below(Place),
    /// Between two numbers.
    Between(Place, Place),
    /// Increasing.
    Ordered,
    /// Positive and adding up to 1.
    Simplex,
}

/// What a line of the section `parameters` says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) span: Span,
    pub(crate) shape: Shape,
    pub(crate) constraint: Constraint,
    /// The law of the prior; flat without one.
    pub(crate) prior: Option<Place>,
}

/// How a response was observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Observation {
    /// As it is.
    Exact,
    /// Anything beyond the declared bounds became a bound.
    CensoredAtBounds,
    /// Where the condition holds, only that the response is larger is known.
    CensoredWhere(Place),
    /// Anything beyond the declared bounds was left out.
    Truncated,
}

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Statement {
    /// `name = expression`.
    Local { name: String, span: Span, value: Place },
    /// A parameter.
    Declare(Declaration),
    /// `column ~ law`.
    Observe { column: String, span: Span, observation: Observation, law: Place },
    /// `log_density = expression`.
    Density { span: Span, value: Place },
}

/// A whole text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Syntax {
    pub(crate) expressions: Vec<Expression>,
    pub(crate) parameters: Vec<Statement>,
    pub(crate) record: Vec<Statement>,
}
