//! Reads a model's text into statements and expressions.

mod expressions;

use super::fault::{Fault, Span, suggestion};
use super::syntax::{
    Constraint, Declaration, Expression, Kind, Observation, Place, Shape, Statement, Syntax,
};
use super::tokens::{Token, tokens};
use expressions::SUM;

/// The most parts of all expressions together.
pub(crate) const MOST_NODES: usize = 10_000;
/// Reads a text.
pub(crate) fn parse(text: &str) -> Result<Syntax, Fault> {
    let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, syntax: Syntax::default() };
    parser.text()?;
    Ok(parser.syntax)
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    syntax: Syntax,
}

impl Parser<'_> {
    fn token(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).map_or_else(Span::default, |(_, span)| *span)
    }

    fn fault<T>(&self, reason: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::new(self.span(), reason))
    }

    fn is(&self, wanted: &str) -> bool {
        match self.token() {
            Token::Sign(sign) => *sign == wanted,
            Token::Name(name) => name == wanted,
            Token::Number(_) | Token::Level(_) | Token::Line | Token::End => false,
        }
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.is(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: &str, after: &str) -> Result<(), Fault> {
        if self.take(wanted) { Ok(()) } else { self.fault(format!("expected `{wanted}` {after}")) }
    }

    /// Takes what closes a bracket. Where it is not there, a bracket that stays open beyond its line is the likelier mistake.
    fn close(&mut self, wanted: &str, open: Span, after: &str) -> Result<(), Fault> {
        if self.take(wanted) {
            return Ok(());
        }
        let between = self.text.get(open.start..self.span().start).unwrap_or("");
        if between.contains('\n') || matches!(self.token(), Token::Line | Token::End) {
            return Err(Fault::new(open, format!("this is never closed: write `{wanted}`")));
        }
        let hint = match self.token() {
            Token::Name(_) | Token::Number(_) | Token::Level(_) => "; a product is written with `*`",
            Token::Sign(_) | Token::Line | Token::End => "",
        };
        self.fault(format!("expected `{wanted}` {after}{hint}"))
    }

    fn name(&mut self, what: &str) -> Result<(String, Span), Fault> {
        match self.token() {
            Token::Name(name) => {
                let found = (name.clone(), self.span());
                self.at += 1;
                Ok(found)
            }
            Token::Number(_) | Token::Level(_) | Token::Sign(_) | Token::Line | Token::End => {
                self.fault(format!("expected {what}"))
            }
        }
    }

    fn end_of_line(&mut self) -> Result<(), Fault> {
        if matches!(self.token(), Token::Line) {
            self.at += 1;
            return Ok(());
        }
        self.fault(
            "expected the end of the line; a line holds one statement, and continues inside parentheses",
        )
    }

    fn push(&mut self, kind: Kind, span: Span) -> Result<Place, Fault> {
        if self.syntax.expressions.len() == MOST_NODES {
            return Err(Fault::new(
                span,
                format!("a model may have at most {MOST_NODES} numbers, names and signs"),
            ));
        }
        self.syntax.expressions.push(Expression { kind, span });
        Ok(self.syntax.expressions.len() - 1)
    }

    fn place_span(&self, place: Place) -> Span {
        self.syntax.expressions[place].span
    }

    /// The whole text: sections of lines.
    fn text(&mut self) -> Result<(), Fault> {
        let mut section: Option<&'static str> = None;
        loop {
            while matches!(self.token(), Token::Line) {
                self.at += 1;
            }
            if matches!(self.token(), Token::End) {
                break;
            }
            let lone = matches!(self.tokens.get(self.at + 1), Some((Token::Line | Token::Sign(":"), _)));
            if let (Token::Name(name), true) = (self.token(), lone) {
                let known = ["parameters", "record"].into_iter().find(|known| known == name);
                if let Some(known) = known {
                    section = Some(known);
                    self.at += 1;
                    self.take(":");
                    self.end_of_line()?;
                    continue;
                }
                if section.is_none() {
                    let nearest = suggestion(name, ["parameters", "record"].into_iter());
                    return self.fault(format!("a model begins with a line `parameters`{nearest}"));
                }
            }
            match section {
                None => {
                    return self
                        .fault("a model begins with a line `parameters`, and goes on with a line `record`");
                }
                Some("parameters") => {
                    let statement = self.parameter_line()?;
                    self.syntax.parameters.push(statement);
                }
                Some(_) => {
                    let statement = self.record_line()?;
                    self.syntax.record.push(statement);
                }
            }
            self.end_of_line()?;
        }
        if self.syntax.record.is_empty() {
            return self.fault("a model needs a section `record` that says how likely a record is");
        }
        Ok(())
    }

    /// A parameter or a local name of the section `parameters`.
    fn parameter_line(&mut self) -> Result<Statement, Fault> {
        let many = ["ordered", "simplex"]
            .into_iter()
            .find(|word| self.is(word) && matches!(self.tokens.get(self.at + 1), Some((Token::Name(_), _))));
        if let Some(word) = many {
            self.at += 1;
            let (name, span) = self.name("the parameter's name")?;
            let shape = self.shape()?;
            if shape == Shape::Single {
                let reason = format!("`{word}` needs a number of entries, as in `{word} {name}[3]`");
                return Err(Fault::new(span, reason));
            }
            let constraint = if word == "ordered" { Constraint::Ordered } else { Constraint::Simplex };
            let prior = self.prior()?;
            return Ok(Statement::Declare(Declaration { name, span, shape, constraint, prior }));
        }
        let lower = match self.token() {
            Token::Name(_) => None,
            Token::Number(_) | Token::Level(_) | Token::Sign(_) | Token::Line | Token::End => {
                let bound = self.expression(SUM)?;
                if !self.take("<") && !self.take("<=") {
                    return self.fault("expected `<` and a parameter's name, as in `0 < p < 1 ~ beta(1, 1)`");
                }
                Some(bound)
            }
        };
        let (name, span) = self.name("a parameter's name")?;
        if self.is("|") {
            return self
                .fault("`|` says how a record was observed: write a line `record` above the records' lines");
        }
        if lower.is_none() && self.take("=") {
            let value = self.expression(0)?;
            return Ok(Statement::Local { name, span, value });
        }
        let shape = self.shape()?;
        let constraint = if let Some(lower) = lower {
            if self.take("<") || self.take("<=") {
                Constraint::Between(lower, self.expression(SUM)?)
            } else {
                Constraint::Above(lower)
            }
        } else if self.take(">") || self.take(">=") {
            Constraint::Above(self.expression(SUM)?)
        } else if self.take("<") || self.take("<=") {
            Constraint::Below(self.expression(SUM)?)
        } else {
            Constraint::Real
        };
        let prior = self.prior()?;
        Ok(Statement::Declare(Declaration { name, span, shape, constraint, prior }))
    }

    /// `[column]`, `[3]`, or nothing.
    fn shape(&mut self) -> Result<Shape, Fault> {
        if !self.take("[") {
            return Ok(Shape::Single);
        }
        let span = self.span();
        let shape = match self.token().clone() {
            Token::Name(column) => Shape::Levels(column, span),
            Token::Number(count) if (1.0..=1000.0).contains(&count) && count.fract() == 0.0 => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 1 to 1000")]
                let count = count as usize;
                Shape::Count(count)
            }
            Token::Number(_) | Token::Level(_) | Token::Sign(_) | Token::Line | Token::End => {
                return self.fault(
                    "expected a column whose levels number the parameters, or a number from 1 to 1000",
                );
            }
        };
        self.at += 1;
        self.expect("]", "after what numbers the parameters")?;
        Ok(shape)
    }

    fn prior(&mut self) -> Result<Option<Place>, Fault> {
        if self.take("~") { self.law().map(Some) } else { Ok(None) }
    }

    /// A distribution with its arguments.
    fn law(&mut self) -> Result<Place, Fault> {
        let span = self.span();
        let law = self.expression(SUM)?;
        match &self.syntax.expressions[law].kind {
            Kind::Call(..) => Ok(law),
            Kind::Number(_)
            | Kind::Level(_)
            | Kind::Name(_)
            | Kind::Index(..)
            | Kind::Negate(_)
            | Kind::Not(_)
            | Kind::Operation(..) => Err(Fault::new(
                span.to(self.place_span(law)),
                "expected a distribution, as in `normal(0, 1)`",
            )),
        }
    }

    /// A line of the section `record`.
    fn record_line(&mut self) -> Result<Statement, Fault> {
        let (name, span) = self.name("a column, a local name or `log_density`")?;
        if let Some(reason) = self.foreign(&name) {
            return Err(Fault::new(span, reason));
        }
        if self.take("=") {
            let value = self.expression(0)?;
            return Ok(if name == "log_density" {
                Statement::Density { span, value }
            } else {
                Statement::Local { name, span, value }
            });
        }
        let observed = self.take("|");
        let observation = if observed { self.observation()? } else { Observation::Exact };
        if !self.take("~") {
            return self.fault(if observed {
                "expected `~` and a distribution"
            } else if self.is("censored") || self.is("truncated") {
                "write `|` before how a column was observed, as in `t | censored(not event) ~ …`"
            } else if self.is("[") {
                "a column is one value of a record, and takes no index"
            } else {
                "expected `=` and an expression, or `~` and a distribution"
            });
        }
        let law = self.law()?;
        Ok(Statement::Observe { column: name, span, observation, law })
    }

    /// What to write for a word of another language.
    fn foreign(&self, name: &str) -> Option<&'static str> {
        // A column may have such a name.
        if self.is("=") || self.is("~") || self.is("|") {
            return None;
        }
        match name {
            "if" | "else" => Some("there are no branches: write `where(condition, yes, no)`"),
            "for" | "while" => Some("there are no loops: every line speaks of one record"),
            "target" => Some("write `log_density = …`"),
            _ => None,
        }
    }

    fn observation(&mut self) -> Result<Observation, Fault> {
        if self.take("truncated") {
            return Ok(Observation::Truncated);
        }
        if !self.is("censored") {
            let nearest = match self.token() {
                Token::Name(name) => suggestion(name, ["censored", "truncated"].into_iter()),
                Token::Number(_) | Token::Level(_) | Token::Sign(_) | Token::Line | Token::End => {
                    String::new()
                }
            };
            return self.fault(format!(
                "expected `censored`, `censored(not event)` or `truncated` after `|`{nearest}"
            ));
        }
        self.at += 1;
        let open = self.span();
        if !self.take("(") {
            return Ok(Observation::CensoredAtBounds);
        }
        let condition = self.expression(0)?;
        self.close(")", open, "after the condition")?;
        Ok(Observation::CensoredWhere(condition))
    }
}

#[cfg(test)]
mod tests;
