//! Checks a text against the declared columns and writes what it means into the graph.

use std::collections::BTreeMap;

use barkeep_data::{Column, Kind as ColumnKind, Schema};

use super::fault::{Fault, Span, suggestion};
use super::functions;
use super::graph::{Graph, Id, Level, Node};
use super::laws::{Law, Support};
use super::op::{Binary, Unary};
use super::parameters::{Parameter, Prior, Range};
use super::syntax::{Constraint, Declaration, Kind, Observation, Operation, Place, Shape, Statement, Syntax};

/// The most coordinates of θ.
pub(crate) const MOST_PARAMETERS: usize = 1000;
/// The most nodes of the graph of a density.
const MOST_NODES: usize = 50_000;

/// What an expression stands for.
#[derive(Clone)]
pub(crate) enum Value {
    /// A number.
    Number(Id),
    /// Parameters by level or number.
    Vector(Vector),
    /// A category column, by its place among the columns used.
    Category(usize),
    /// A level in quotes.
    Level(String),
    /// A distribution.
    Law(Law),
}

/// Several parameters of one name.
#[derive(Clone)]
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
    /// A name and a node for each value a text speaks of, where they are not the coordinates.
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
            return Err(Fault::new(span, format!("`{name}` is a column; choose another name")));
        }
        if functions::is_function(name) {
            return Err(Fault::new(span, format!("`{name}` is a function; choose another name")));
        }
        if self.known.insert(name.to_owned(), value).is_some() {
            return Err(Fault::new(span, format!("`{name}` is declared twice")));
        }
        if self.graph.len() > MOST_NODES {
            let reason =
                format!("the model has grown to {} operations, and may have {MOST_NODES}", self.graph.len());
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

    fn evaluate(&mut self, place: Place) -> Result<Value, Fault> {
        let expression = &self.syntax.expressions[place];
        let span = expression.span;
        Ok(match &expression.kind {
            Kind::Number(value) => Value::Number(self.graph.constant(*value)),
            Kind::Level(level) => Value::Level(level.clone()),
            Kind::Name(name) => match self.known.get(name) {
                Some(value) => value.clone(),
                None => return Err(self.unknown(name, span)),
            },
            Kind::Index(name, index) => self.index(name, *index, span)?,
            Kind::Negate(a) => {
                let a = self.number(*a)?;
                Value::Number(self.graph.negate(a))
            }
            Kind::Not(a) => {
                let (a, one) = (self.number(*a)?, self.graph.constant(1.0));
                Value::Number(self.graph.sub(one, a))
            }
            Kind::Operation(operation, a, b) => self.operation(*operation, *a, *b, span)?,
            Kind::Call(name, arguments) => {
                let mut values = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    values.push((self.value(*argument)?, self.span(*argument)));
                }
                self.call(name, &values, span)?
            }
        })
    }

    fn unknown(&self, name: &str, span: Span) -> Fault {
        let columns = self.schema.columns().iter().map(Column::name);
        let names = self.known.keys().map(String::as_str).chain(columns);
        let nearest = suggestion(name, names);
        let hint = if nearest.is_empty() { "; declare it among the parameters or columns" } else { "" };
        Fault::new(span, format!("there is no `{name}` here{nearest}{hint}"))
    }

    fn operation(&mut self, operation: Operation, a: Place, b: Place, span: Span) -> Result<Value, Fault> {
        let (left, right) = (self.value(a)?, self.value(b)?);
        if let (Value::Category(place), Value::Level(level)) | (Value::Level(level), Value::Category(place)) =
            (&left, &right)
        {
            let (column, index) = (self.graph.column(*place), self.level_of(*place, level, span)?);
            let index = self.graph.constant(index as f64);
            let same = self.graph.binary(Binary::Equal, column, index);
            return match operation {
                Operation::Equal => Ok(Value::Number(same)),
                Operation::NotEqual => {
                    let one = self.graph.constant(1.0);
                    Ok(Value::Number(self.graph.sub(one, same)))
                }
                _ => Err(Fault::new(span, "a category can be compared by `==` or `!=` alone")),
            };
        }
        let (a, b) = (self.as_number(&left, self.span(a))?, self.as_number(&right, self.span(b))?);
        let graph = &mut self.graph;
        let result = match operation {
            Operation::Add => graph.add(a, b),
            Operation::Subtract => graph.sub(a, b),
            Operation::Multiply | Operation::And => graph.mul(a, b),
            Operation::Divide => graph.div(a, b),
            Operation::Power => graph.binary(Binary::Pow, a, b),
            Operation::Less => graph.binary(Binary::Less, a, b),
            Operation::LessEqual => graph.binary(Binary::LessEqual, a, b),
            Operation::Greater => graph.binary(Binary::Less, b, a),
            Operation::GreaterEqual => graph.binary(Binary::LessEqual, b, a),
            Operation::Equal => graph.binary(Binary::Equal, a, b),
            Operation::NotEqual => {
                let (one, same) = (graph.constant(1.0), graph.binary(Binary::Equal, a, b));
                graph.sub(one, same)
            }
            Operation::Or => graph.binary(Binary::Max, a, b),
        };
        Ok(Value::Number(result))
    }

    fn level_of(&self, place: usize, level: &str, span: Span) -> Result<usize, Fault> {
        let column = self.column(place);
        let levels = levels(column).unwrap_or_default();
        levels.iter().position(|known| known == level).ok_or_else(|| {
            let nearest = suggestion(level, levels.iter().map(String::as_str));
            Fault::new(span, format!("column `{}` has no level \"{level}\"{nearest}", column.name()))
        })
    }

    fn index(&mut self, name: &str, index: Place, span: Span) -> Result<Value, Fault> {
        let vector = match self.known.get(name) {
            Some(Value::Vector(vector)) => vector.clone(),
            Some(_) => {
                return Err(Fault::new(span, format!("`{name}` stands for one number and takes no index")));
            }
            None => return Err(self.unknown(name, span)),
        };
        let (value, at) = (self.value(index)?, self.span(index));
        let count = vector.entries.len();
        let entry = |place: usize| Value::Number(vector.entries[place]);
        match (&value, &vector.levels) {
            (Value::Level(level), Some((column, levels))) => {
                levels.iter().position(|known| known == level).map(entry).ok_or_else(|| {
                    let nearest = suggestion(level, levels.iter().map(String::as_str));
                    Fault::new(at, format!("column `{column}` has no level \"{level}\"{nearest}"))
                })
            }
            (Value::Category(place), levels) => {
                let column = self.column(*place);
                let own = self::levels(column).unwrap_or_default();
                let fits = match levels {
                    Some((_, levels)) => *levels == own,
                    None => count == own.len(),
                };
                if !fits {
                    let reason = format!(
                        "`{name}` has other levels than column `{}`: declare it as `{name}[{}]`",
                        column.name(),
                        column.name()
                    );
                    return Err(Fault::new(at, reason));
                }
                let column = self.graph.column(*place);
                Ok(Value::Number(self.graph.gather(column, &vector.entries)))
            }
            (Value::Number(id), levels) => {
                if let Some(number) = self.graph.value(*id) {
                    let inside = number >= 1.0 && number <= count as f64 && number.fract() == 0.0;
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "a small whole number"
                    )]
                    let place = (number - 1.0) as usize;
                    return if inside {
                        Ok(entry(place))
                    } else {
                        Err(Fault::new(
                            at,
                            format!("an index of `{name}` is a whole number from 1 to {count}"),
                        ))
                    };
                }
                // A column of whole numbers: counted from its smallest where the column declares the levels, else from 1.
                let Node::Column(place) = *self.graph.node(*id) else {
                    return Err(Fault::new(at, "an index is a number, a level in quotes or a column"));
                };
                let column = self.column(place as usize);
                let (min, max) = column.range();
                let whole = matches!(column.kind(), ColumnKind::Integer { .. } | ColumnKind::Bool);
                let first = match levels {
                    Some((declared, _)) if declared == column.name() => min,
                    Some((declared, _)) => {
                        return Err(Fault::new(at, format!("`{name}` is numbered by column `{declared}`")));
                    }
                    None => 1.0,
                };
                if !whole
                    || column.scale() != barkeep_data::Scale::None
                    || min < first
                    || max - first + 1.0 > count as f64
                {
                    let reason = format!(
                        "column `{}` must be a category, a bool, or an unscaled integer column from {first} to {}",
                        column.name(),
                        first + count as f64 - 1.0
                    );
                    return Err(Fault::new(at, reason));
                }
                let (first, column) = (self.graph.constant(first), self.graph.column(place as usize));
                let offset = self.graph.sub(column, first);
                Ok(Value::Number(self.graph.gather(offset, &vector.entries)))
            }
            (Value::Level(_), None) => Err(Fault::new(at, format!("`{name}` is numbered from 1 to {count}"))),
            (Value::Vector(_) | Value::Law(_), _) => {
                Err(Fault::new(at, "an index is a number, a level in quotes or a column"))
            }
        }
    }

    fn call(&mut self, name: &str, values: &[(Value, Span)], span: Span) -> Result<Value, Fault> {
        if name == "lpdf" {
            let [(y, y_span), (Value::Law(law), _)] = values else {
                return Err(Fault::new(
                    span,
                    "takes a value and a distribution, as in `lpdf(x, normal(0, 1))`",
                ));
            };
            let y = self.as_number(y, *y_span)?;
            return Ok(Value::Number(law.density(&mut self.graph, y)));
        }
        if name == "mixture" {
            return functions::mixture(&mut self.graph, values, span).map(Value::Law);
        }
        if let Some(entry) = functions::law(name) {
            let mut arguments = Vec::new();
            for (value, at) in values {
                match value {
                    Value::Vector(vector) if entry.rest.is_some() => {
                        arguments.extend(vector.entries.iter().map(|entry| (*entry, *at)));
                    }
                    value => arguments.push((self.as_number(value, *at)?, *at)),
                }
            }
            let law = functions::check_law(&self.graph, entry, &arguments, span, &self.names)?;
            return Ok(Value::Law(law));
        }
        let mut arguments = Vec::with_capacity(values.len());
        for (value, at) in values {
            arguments.push(self.as_number(value, *at)?);
        }
        functions::call(&mut self.graph, name, &arguments, span).map(Value::Number)
    }

    fn parameter(&mut self, statement: &Statement) -> Result<(), Fault> {
        match statement {
            Statement::Declare(declaration) => self.declare(declaration),
            Statement::Local { name, span, value } => {
                let value = self.value(*value)?;
                let id = self.as_number(&value, *span)?;
                if self.graph.level(id) == Level::Record {
                    return Err(Fault::new(*span, "a name among the parameters cannot use a column"));
                }
                self.define(name, *span, value)
            }
            Statement::Observe { span, .. } | Statement::Density { span, .. } => {
                Err(Fault::new(*span, "belongs in the section `record`"))
            }
        }
    }

    fn range(&mut self, constraint: Constraint, span: Span) -> Result<Range, Fault> {
        Ok(match constraint {
            Constraint::Real => Range::Real,
            Constraint::Above(low) => Range::Above(self.fixed(low)?),
            Constraint::Below(high) => Range::Below(self.fixed(high)?),
            Constraint::Between(low, high) => {
                let (low, high) = (self.fixed(low)?, self.fixed(high)?);
                if low >= high {
                    return Err(Fault::new(span, "must lie between a smaller and a larger number"));
                }
                Range::Between(low, high)
            }
            Constraint::Ordered => Range::Ordered,
            Constraint::Simplex => Range::Simplex,
        })
    }

    fn declare(&mut self, declaration: &Declaration) -> Result<(), Fault> {
        let Declaration { name, span, shape, constraint, prior } = declaration;
        let range = self.range(*constraint, *span)?;
        let (entries, keys) = match shape {
            Shape::Single => (1, None),
            Shape::Count(count) => (*count, None),
            Shape::Levels(column, at) => {
                let declared = self.schema.columns().iter().find(|known| known.name() == column);
                let Some(declared) = declared else {
                    let nearest = suggestion(column, self.schema.columns().iter().map(Column::name));
                    return Err(Fault::new(*at, format!("there is no column `{column}`{nearest}")));
                };
                let Some(levels) = levels(declared) else {
                    let reason = format!(
                        "column `{column}` must be a category, a bool, or an integer column of at most {MOST_PARAMETERS} values"
                    );
                    return Err(Fault::new(*at, reason));
                };
                (levels.len(), Some((column.clone(), levels)))
            }
        };
        if range == Range::Simplex && entries < 2 {
            return Err(Fault::new(*span, "a simplex has at least two entries"));
        }
        let first = self.names.len();
        let coordinates = range.coordinates(entries);
        if first + coordinates > MOST_PARAMETERS {
            let reason = format!(
                "a model may have {MOST_PARAMETERS} parameters, and this one has {} and more",
                first + coordinates
            );
            return Err(Fault::new(*span, reason));
        }
        let (values, jacobian) = range.values(&mut self.graph, first, entries);
        let law = match prior {
            None => Prior::Flat,
            Some(place) => self.prior_law(*place, range, entries)?,
        };
        let log_prior = self.log_prior(&law, range, &values, *span)?;
        self.prior = self.graph.add(self.prior, log_prior);
        self.prior = self.graph.add(self.prior, jacobian);
        for (place, value) in values.iter().enumerate() {
            let entry = match (&shape, &keys) {
                (Shape::Single, _) => name.clone(),
                (_, Some((_, levels))) => format!("{name}[{}]", levels[place]),
                (_, None) => format!("{name}[{}]", place + 1),
            };
            if place < coordinates {
                let coordinate = range.coordinate_name(&entry, place);
                if self.names.contains(&coordinate) {
                    return Err(Fault::new(*span, format!("two parameters would be called `{coordinate}`")));
                }
                self.names.push(coordinate);
            }
            if range != Range::Real {
                self.named.push((entry, *value));
            }
        }
        let known = match shape {
            Shape::Single => Value::Number(values[0]),
            Shape::Count(_) | Shape::Levels(..) => {
                Value::Vector(Vector { entries: values.clone(), levels: keys })
            }
        };
        self.meaning.push(Parameter { first, range, values, prior: law });
        self.define(name, *span, known)
    }

    fn prior_law(&mut self, place: Place, range: Range, entries: usize) -> Result<Prior, Fault> {
        let span = self.span(place);
        if let Kind::Call(name, arguments) = &self.syntax.expressions[place].kind {
            if name == "flat" && arguments.is_empty() {
                self.next = self.next.max(place + 1);
                return Ok(Prior::Flat);
            }
            if name == "dirichlet" {
                if range != Range::Simplex || (arguments.len() != entries && arguments.len() != 1) {
                    let reason =
                        format!("`dirichlet` is a law of a simplex, with one concentration or {entries}");
                    return Err(Fault::new(span, reason));
                }
                let mut concentrations = Vec::new();
                for argument in arguments {
                    let id = self.number(*argument)?;
                    if self.graph.level(id) == Level::Record {
                        return Err(Fault::new(self.span(*argument), "a prior cannot use a column"));
                    }
                    if self.graph.value(id).is_some_and(|value| value <= 0.0) {
                        return Err(Fault::new(self.span(*argument), "a concentration must be above 0"));
                    }
                    concentrations.push(id);
                }
                concentrations.resize(entries, concentrations[0]);
                self.next = self.next.max(place + 1);
                return Ok(Prior::Dirichlet(concentrations));
            }
        }
        let value = self.value(place)?;
        let Value::Law(law) = value else {
            return Err(Fault::new(span, "expected a distribution, as in `normal(0, 1)`"));
        };
        if functions::law_level(&self.graph, &law) == Level::Record {
            return Err(Fault::new(
                span,
                "a prior cannot use a column: parameters are the same for every record",
            ));
        }
        if range == Range::Simplex {
            return Err(Fault::new(span, "a simplex has the law `dirichlet`, as in `dirichlet(1)`"));
        }
        let whole = |support: &Support| matches!(support, Support::Whole | Support::Binary | Support::Levels);
        if law.supports().iter().any(whole) {
            return Err(Fault::new(
                span,
                "a parameter is not a whole number: chains move along real numbers",
            ));
        }
        let (low, high) = range.bounds();
        for support in law.supports() {
            if low < support.least() || high > support.most() {
                let needed = match support {
                    Support::Unit => "strictly between 0 and 1, as in `0 < p < 1`",
                    _ => "above 0, as in `s > 0`",
                };
                return Err(Fault::new(span, format!("this law needs a parameter declared {needed}")));
            }
        }
        Ok(Prior::Each(law))
    }

    /// ln of the prior density of all values, without Jacobians.
    fn log_prior(&mut self, prior: &Prior, range: Range, values: &[Id], span: Span) -> Result<Id, Fault> {
        let graph = &mut self.graph;
        let mut sum = graph.constant(0.0);
        match prior {
            Prior::Flat => {}
            Prior::Dirichlet(concentrations) => {
                let mut total = graph.constant(0.0);
                for (value, a) in values.iter().zip(concentrations) {
                    let (one, log, gamma) = (
                        graph.constant(1.0),
                        graph.unary(Unary::Ln, *value),
                        graph.unary(Unary::LnGamma, *a),
                    );
                    let less = graph.sub(*a, one);
                    let term = graph.mul(less, log);
                    let term = graph.sub(term, gamma);
                    sum = graph.add(sum, term);
                    total = graph.add(total, *a);
                }
                let gamma = graph.unary(Unary::LnGamma, total);
                sum = graph.add(sum, gamma);
            }
            Prior::Each(law) => {
                for value in values {
                    let density = law.density(graph, *value);
                    sum = graph.add(sum, density);
                }
                let (low, high) = range.bounds();
                let supports = law.supports();
                let cut = supports.iter().any(|support| low > support.least() || high < support.most());
                if cut && range != Range::Ordered {
                    match functions::log_mass(graph, law, low, high) {
                        Some(mass) => {
                            let all = graph.times(-(values.len() as f64), mass);
                            sum = graph.add(sum, all);
                        }
                        // Of a law that does not move the constant does not matter.
                        None if !functions::law_moves(graph, law) => {}
                        None => {
                            let reason = format!(
                                "a law that depends on parameters must fill the declared range; {} can be cut off",
                                functions::with_tails()
                            );
                            return Err(Fault::new(span, reason));
                        }
                    }
                }
            }
        }
        Ok(sum)
    }

    fn record(&mut self, statement: &Statement) -> Result<(), Fault> {
        match statement {
            Statement::Local { name, span, value } => {
                let value = self.value(*value)?;
                self.define(name, *span, value)
            }
            Statement::Density { span, value } => {
                if self.free {
                    return Err(Fault::new(*span, "`log_density` is given twice"));
                }
                let value = self.number(*value)?;
                self.free = true;
                self.density = self.graph.add(self.density, value);
                Ok(())
            }
            Statement::Observe { column, span, observation, law } => {
                self.observe(column, *span, *observation, *law)
            }
            Statement::Declare(declaration) => {
                Err(Fault::new(declaration.span, "belongs in the section `parameters`"))
            }
        }
    }

    fn observe(&mut self, name: &str, span: Span, observation: Observation, law: Place) -> Result<(), Fault> {
        let place = (0..self.columns.len()).find(|place| self.column(*place).name() == name);
        let Some(place) = place else {
            if self.known.contains_key(name) {
                return Err(Fault::new(
                    span,
                    format!("`{name}` is no column; a record's columns follow distributions"),
                ));
            }
            let nearest = suggestion(name, self.schema.columns().iter().map(Column::name));
            return Err(Fault::new(span, format!("there is no column `{name}`{nearest}")));
        };
        if self.responses.iter().any(|response| response.column == place) {
            return Err(Fault::new(span, format!("`{name}` follows two distributions")));
        }
        let observed = match observation {
            Observation::Exact => Observed::Exact,
            Observation::CensoredAtBounds => Observed::AtBounds,
            Observation::Truncated => Observed::Truncated,
            Observation::CensoredWhere(condition) => {
                let (flag, when) = self.flag(condition)?;
                Observed::Where { flag, when }
            }
        };
        let value = self.value(law)?;
        let Value::Law(law_value) = value else {
            return Err(Fault::new(self.span(law), "expected a distribution, as in `normal(0, 1)`"));
        };
        let column = self.column(place).clone();
        for support in law_value.supports() {
            if let Some(requirement) = support.fault(&column) {
                return Err(Fault::new(
                    span,
                    format!("column `{name}` {requirement} to follow this distribution"),
                ));
            }
        }
        functions::check_levels(&law_value, &column).map_err(|reason| Fault::new(self.span(law), reason))?;
        let raw = self.graph.column(place);
        let least = match column.kind() {
            ColumnKind::Integer { .. } if law_value.supports() == [Support::Levels] => column.range().0,
            ColumnKind::Integer { .. }
            | ColumnKind::Real { .. }
            | ColumnKind::Bool
            | ColumnKind::Category { .. } => 0.0,
        };
        let first = self.graph.constant(least);
        let y = self.graph.sub(raw, first);
        let plain = law_value.density(&mut self.graph, y);
        let (density, survival) =
            functions::observed_density(&mut self.graph, &law_value, observed, (y, plain), column.range())
                .map_err(|reason| Fault::new(self.span(law), reason))?;
        self.density = self.graph.add(self.density, density);
        self.responses.push(Response { column: place, law: law_value, observed, density, survival, least });
        Ok(())
    }

    /// The bool column, and its value, that a condition of censoring names.
    fn flag(&mut self, condition: Place) -> Result<(usize, f64), Fault> {
        let span = self.span(condition);
        let (name, when) = match &self.syntax.expressions[condition].kind {
            Kind::Name(name) => (Some(name), 1.0),
            Kind::Not(inner) => match &self.syntax.expressions[*inner].kind {
                Kind::Name(name) => (Some(name), 0.0),
                _ => (None, 0.0),
            },
            _ => (None, 0.0),
        };
        self.value(condition)?;
        let place =
            name.and_then(|name| (0..self.columns.len()).find(|place| self.column(*place).name() == name));
        match place {
            Some(place) if matches!(self.column(place).kind(), ColumnKind::Bool) => Ok((place, when)),
            Some(_) | None => {
                let reason = "`censored` takes a bool column or `not` of one, as in `censored(not event)`";
                Err(Fault::new(span, reason))
            }
        }
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
        if self.graph.len() > MOST_NODES {
            let reason =
                format!("the model has grown to {} operations, and may have {MOST_NODES}", self.graph.len());
            return Err(Fault::new(whole, reason));
        }
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
