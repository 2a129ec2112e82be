//! Gives expressions their values: names, operations, indices and calls.

use barkeep_machine::Binary;
use std::rc::Rc;

use barkeep_data::Kind as ColumnKind;

use super::{Builder, Value, levels};
use crate::language::fault::{Fault, Span, suggestion};
use crate::language::functions;
use crate::language::graph::Node;
use crate::language::syntax::{Kind, Operation, Place};

impl Builder<'_> {
    pub(super) fn evaluate(&mut self, place: Place) -> Result<Value, Fault> {
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
            Some(Value::Vector(vector)) => Rc::clone(vector),
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
            return functions::mixture(&mut self.graph, values, span).map(|law| Value::Law(Rc::new(law)));
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
            return Ok(Value::Law(Rc::new(law)));
        }
        let mut arguments = Vec::with_capacity(values.len());
        for (value, at) in values {
            arguments.push(self.as_number(value, *at)?);
        }
        functions::call(&mut self.graph, name, &arguments, span).map(Value::Number)
    }
}
