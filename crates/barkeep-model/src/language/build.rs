//! Checks a text against the declared columns and writes what it means into the graph.

mod declarations;
mod expressions;
mod observations;

use std::collections::BTreeMap;
use std::rc::Rc;

use barkeep_data::{Column, Kind as ColumnKind, Schema};

use super::fault::{Fault, Span, suggestion};
use super::functions;
use super::graph::{Graph, Id, Level};
use super::laws::Law;
use super::parameters::Parameter;
use super::syntax::{Kind, Place, Statement, Syntax};

/// The most coordinates of θ.
pub(crate) const MOST_PARAMETERS: usize = 1000;
/// The most nodes of the graph of a density.
const MOST_NODES: usize = 50_000;

/// What an expression stands for. Long ones are shared: a text may name them often.
#[derive(Clone)]
pub(crate) enum Value {
    /// A number.
    Number(Id),
    /// Parameters by level or number.
    Vector(Rc<Vector>),
    /// A category column, by its place among the columns used.
    Category(usize),
    /// A level in quotes.
    Level(String),
    /// A distribution.
    Law(Rc<Law>),
}

/// Several parameters of one name.
pub(crate) struct Vector {
    pub(crate) entries: Vec<Id>,
    /// The column and the levels that number them; none where they are numbered from 1.
    levels: Option<(String, Vec<String>)>,
}

/// How a response came into the record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Observed {
    /// As it is.
    Exact,
    /// Values beyond the declared bounds became bounds.
    AtBounds,
    /// Only a lower limit is known where this column has this value.
    Where { flag: usize, when: f64 },
    /// Values beyond the declared bounds were left out.
    Truncated,
}

/// A response with its law.
pub(crate) struct Response {
    /// The column's place among those used.
    pub(crate) column: usize,
    pub(crate) law: Law,
    pub(crate) observed: Observed,
    /// ln p of it.
    pub(crate) density: Id,
    /// ln P(Y > y), where censoring needs it.
    pub(crate) survival: Option<Id>,
    /// The places of the columns its law depends on.
    pub(crate) reads: Vec<usize>,
    /// What the column holds for the law's 0: the smallest number where a law of levels meets an integer column.
    pub(crate) least: f64,
}

/// What a text means.
pub(crate) struct Meaning {
    pub(crate) graph: Graph,
    /// The places in the schema of the columns used, in its order.
    pub(crate) columns: Vec<usize>,
    pub(crate) parameters: Vec<Parameter>,
    /// A name for each coordinate.
    pub(crate) names: Vec<String>,
    /// A name and a node for each quantity of the section `parameters` that is no coordinate.
    pub(crate) values: Vec<(String, Id)>,
    pub(crate) responses: Vec<Response>,
    /// Whether part of the density is a bare expression, from which nothing can be simulated.
    pub(crate) free: bool,
    /// ln p(x|θ).
    pub(crate) density: Id,
    /// ln p(θ), with log-Jacobians.
    pub(crate) prior: Id,
}

/// Checks a text against a schema.
pub(crate) fn build(syntax: &Syntax, schema: &Schema) -> Result<Meaning, Fault> {
    let columns = used_columns(syntax, schema);
    let mut builder = Builder {
        syntax,
        schema,
        columns,
        graph: Graph::default(),
        known: BTreeMap::new(),
        values: vec![None; syntax.expressions.len()],
        next: 0,
        meaning: Vec::new(),
        names: Vec::new(),
        named: Vec::new(),
        responses: Vec::new(),
        prior: 0,
        density: 0,
        free: false,
    };
    builder.prior = builder.graph.constant(0.0);
    builder.density = builder.graph.constant(0.0);
    builder.name_columns();
    for statement in &syntax.parameters {
        builder.parameter(statement)?;
    }
    for statement in &syntax.record {
        builder.record(statement)?;
    }
    builder.finish()
}

/// The columns a record section names, in the schema's order.
fn used_columns(syntax: &Syntax, schema: &Schema) -> Vec<usize> {
    let mut named: Vec<&str> = Vec::new();
    for expression in &syntax.expressions {
        match &expression.kind {
            Kind::Name(name) => named.push(name),
            Kind::Number(_)
            | Kind::Level(_)
            | Kind::Index(..)
            | Kind::Negate(_)
            | Kind::Not(_)
            | Kind::Operation(..)
            | Kind::Call(..) => {}
        }
    }
    for statement in &syntax.record {
        if let Statement::Observe { column, .. } = statement {
            named.push(column);
        }
    }
    let columns = schema.columns().iter().enumerate();
    columns.filter(|(_, column)| named.contains(&column.name())).map(|(place, _)| place).collect()
}

struct Builder<'a> {
    syntax: &'a Syntax,
    schema: &'a Schema,
    columns: Vec<usize>,
    graph: Graph,
    known: BTreeMap<String, Value>,
    values: Vec<Option<Value>>,
    /// The first expression without a value.
    next: usize,
    meaning: Vec<Parameter>,
    names: Vec<String>,
    named: Vec<(String, Id)>,
    responses: Vec<Response>,
    prior: Id,
    density: Id,
    free: bool,
}

impl Builder<'_> {
    fn column(&self, place: usize) -> &Column {
        &self.schema.columns()[self.columns[place]]
    }

    fn name_columns(&mut self) {
        for place in 0..self.columns.len() {
            let column = self.column(place);
            let (name, category) =
                (column.name().to_owned(), matches!(column.kind(), ColumnKind::Category { .. }));
            let value =
                if category { Value::Category(place) } else { Value::Number(self.graph.column(place)) };
            self.known.insert(name, value);
        }
    }

    /// Gives a name a value, once.
    fn define(&mut self, name: &str, span: Span, value: Value) -> Result<(), Fault> {
        if self.schema.columns().iter().any(|column| column.name() == name) {
            return Err(Fault::new(
                span,
                format!("`{name}` is a column: choose another name, or write its law below a line `record`"),
            ));
        }
        if functions::is_function(name) {
            return Err(Fault::new(span, format!("`{name}` is a function; choose another name")));
        }
        if self.known.insert(name.to_owned(), value).is_some() {
            return Err(Fault::new(span, format!("`{name}` is declared twice")));
        }
        self.measure(span)
    }

    /// Refuses a graph that has grown too large: memory and time are bounded whatever the text says.
    fn measure(&self, span: Span) -> Result<(), Fault> {
        let size = self.graph.size();
        if size > MOST_NODES {
            let reason = format!("the model has grown to {size} operations here, and may have {MOST_NODES}");
            return Err(Fault::new(span, reason));
        }
        Ok(())
    }

    fn span(&self, place: Place) -> Span {
        self.syntax.expressions[place].span
    }

    /// The value of an expression; those before it are evaluated first.
    fn value(&mut self, place: Place) -> Result<Value, Fault> {
        while self.next <= place {
            let value = self.evaluate(self.next)?;
            self.measure(self.span(self.next))?;
            self.values[self.next] = Some(value);
            self.next += 1;
        }
        self.values[place].clone().ok_or_else(|| Fault::new(self.span(place), "has no value"))
    }

    fn number(&mut self, place: Place) -> Result<Id, Fault> {
        let value = self.value(place)?;
        self.as_number(&value, self.span(place))
    }

    fn as_number(&self, value: &Value, span: Span) -> Result<Id, Fault> {
        let reason = match value {
            Value::Number(id) => return Ok(*id),
            Value::Vector(vector) => match &vector.levels {
                Some((column, _)) => {
                    format!("stands for several parameters; write which, as in `[{column}]`")
                }
                None => "stands for several parameters; write which, as in `[1]`".to_owned(),
            },
            Value::Category(place) => {
                let name = self.column(*place).name();
                format!("is a category; compare it, as in `{name} == \"level\"`, or use it as an index")
            }
            Value::Level(_) => "is a level; compare a category with it, or use it as an index".to_owned(),
            Value::Law(_) => "is a distribution; a column follows it, as in `y ~ normal(0, 1)`".to_owned(),
        };
        Err(Fault::new(span, reason))
    }

    /// A number that is known before anything else.
    fn fixed(&mut self, place: Place) -> Result<f64, Fault> {
        let id = self.number(place)?;
        match self.graph.value(id) {
            Some(value) if value.is_finite() => Ok(value),
            Some(_) | None => Err(Fault::new(self.span(place), "must be a finite number, not a name")),
        }
    }

    fn unknown(&self, name: &str, span: Span) -> Fault {
        let columns = self.schema.columns().iter().map(Column::name);
        let names = self.known.keys().map(String::as_str).chain(columns);
        let nearest = suggestion(name, names);
        let hint = if nearest.is_empty() { "; declare it among the parameters or columns" } else { "" };
        Fault::new(span, format!("there is no `{name}` here{nearest}{hint}"))
    }

    fn finish(self) -> Result<Meaning, Fault> {
        let whole = Span { start: 0, end: 1 };
        if self.names.is_empty() {
            return Err(Fault::new(whole, "a model needs at least one parameter"));
        }
        if !self.graph.moves(self.density) || self.graph.level(self.density) != Level::Record {
            let reason = "the section `record` must say how likely a record is, by `~` or `log_density`, given a parameter";
            return Err(Fault::new(whole, reason));
        }
        self.measure(whole)?;
        Ok(Meaning {
            graph: self.graph,
            columns: self.columns,
            parameters: self.meaning,
            names: self.names,
            values: self.named,
            responses: self.responses,
            free: self.free,
            density: self.density,
            prior: self.prior,
        })
    }
}

/// What numbers parameters by a column: its levels, `false` and `true`, or its whole numbers if there are not too many.
fn levels(column: &Column) -> Option<Vec<String>> {
    match column.kind() {
        ColumnKind::Category { levels } => Some(levels.clone()),
        ColumnKind::Bool => Some(vec!["false".to_owned(), "true".to_owned()]),
        ColumnKind::Integer { min, max } if max - min < MOST_PARAMETERS as f64 => {
            let mut values = Vec::new();
            let mut value = *min;
            while value <= *max {
                values.push(value.to_string());
                value += 1.0;
            }
            Some(values)
        }
        ColumnKind::Integer { .. } | ColumnKind::Real { .. } => None,
    }
}

#[cfg(test)]
mod tests;
