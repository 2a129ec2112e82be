//! Writes what a record says, and how it was observed, into the graph.

use barkeep_data::{Column, Kind as ColumnKind};

use super::{Builder, Observed, Response, Value};
use crate::language::fault::{Fault, Span, suggestion};
use crate::language::functions;
use crate::language::graph::{Id, Node};
use crate::language::laws::{Law, Support};
use crate::language::observed;
use crate::language::syntax::{Kind, Observation, Place, Statement};

impl Builder<'_> {
    pub(super) fn record(&mut self, statement: &Statement) -> Result<(), Fault> {
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
        let reads = self.reads(&law_value);
        let flag = match observed {
            Observed::Where { flag, .. } => Some(flag),
            Observed::Exact | Observed::AtBounds | Observed::Truncated => None,
        };
        for drawn in std::iter::once(place).chain(flag) {
            let name = self.column(drawn).name();
            if reads.contains(&drawn) {
                let reason = format!("a distribution of `{name}` cannot depend on `{name}` itself");
                return Err(Fault::new(self.span(law), reason));
            }
            if let Some(earlier) = self.responses.iter().find(|earlier| earlier.reads.contains(&drawn)) {
                let earlier = self.column(earlier.column).name();
                let reason = format!(
                    "`{earlier}` above depends on `{name}`: write this line before the one of `{earlier}`, or none may depend on the other"
                );
                return Err(Fault::new(span, reason));
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
            observed::observed_density(&mut self.graph, &law_value, observed, (y, plain), column.range())
                .map_err(|reason| Fault::new(self.span(law), reason))?;
        self.density = self.graph.add(self.density, density);
        self.responses.push(Response {
            column: place,
            law: Law::clone(&law_value),
            observed,
            density,
            survival,
            reads,
            least,
        });
        Ok(())
    }

    /// The places of the columns a law depends on.
    fn reads(&self, law: &Law) -> Vec<usize> {
        let mut nodes = Vec::new();
        law.listed(&mut nodes);
        let needed = self.graph.needed(&nodes);
        let ids = (0..self.graph.len()).filter(|id| needed[*id]);
        ids.filter_map(|id| match self.graph.node(Id::try_from(id).unwrap_or(Id::MAX)) {
            Node::Column(place) => Some(*place as usize),
            Node::Constant(_)
            | Node::Parameter(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Select(..)
            | Node::Gather(..) => None,
        })
        .collect()
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
}
