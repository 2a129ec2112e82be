//! Writes parameters and their priors into the graph.

use barkeep_machine::Unary;
use std::rc::Rc;

use barkeep_data::Column;

use super::{Builder, MOST_PARAMETERS, Value, Vector, levels};
use crate::language::fault::{Fault, Span, suggestion};
use crate::language::functions;
use crate::language::graph::{Id, Level};
use crate::language::laws::{Law, Support};
use crate::language::observed;
use crate::language::parameters::{Parameter, Prior, Range};
use crate::language::syntax::{Constraint, Declaration, Kind, Place, Shape, Statement};

impl Builder<'_> {
    pub(super) fn parameter(&mut self, statement: &Statement) -> Result<(), Fault> {
        match statement {
            Statement::Declare(declaration) => self.declare(declaration),
            Statement::Local { name, span, value } => {
                let value = self.value(*value)?;
                let id = self.as_number(&value, *span)?;
                if self.graph.level(id) == Level::Record {
                    return Err(Fault::new(*span, "a name among the parameters cannot use a column"));
                }
                self.report(name.clone(), id, *span)?;
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
                self.claim(&coordinate, *span)?;
                self.names.push(coordinate);
            }
            if !range.is_value(place) {
                self.report(entry, *value, *span)?;
            }
        }
        let known = match shape {
            Shape::Single => Value::Number(values[0]),
            Shape::Count(_) | Shape::Levels(..) => {
                Value::Vector(Rc::new(Vector { entries: values.clone(), levels: keys }))
            }
        };
        self.meaning.push(Parameter { first, range, values, prior: law });
        self.define(name, *span, known)
    }

    /// Refuses a name that a coordinate or a quantity has already: both become columns of the draws.
    fn claim(&self, name: &str, span: Span) -> Result<(), Fault> {
        let taken =
            self.names.iter().any(|known| known == name) || self.named.iter().any(|(known, _)| known == name);
        if taken {
            let reason = format!("two columns of the draws would be called `{name}`; rename this parameter");
            return Err(Fault::new(span, reason));
        }
        Ok(())
    }

    /// Has a quantity's posterior reported under this name.
    fn report(&mut self, name: String, value: Id, span: Span) -> Result<(), Fault> {
        self.claim(&name, span)?;
        self.named.push((name, value));
        Ok(())
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
        Ok(Prior::Each(Law::clone(&law)))
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
                    match observed::log_mass(graph, law, low, high) {
                        Some(mass) => {
                            let all = graph.times(-(values.len() as f64), mass);
                            sum = graph.add(sum, all);
                        }
                        // Of a law that does not move the constant does not matter.
                        None if !functions::law_moves(graph, law) => {}
                        None => {
                            let reason = format!(
                                "a law that depends on parameters must fill the declared range; {} can be cut off",
                                observed::with_tails()
                            );
                            return Err(Fault::new(span, reason));
                        }
                    }
                }
            }
        }
        Ok(sum)
    }
}
