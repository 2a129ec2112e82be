//! Reads expressions: signs by their precedence, powers from the right, calls and indices.

use super::Parser;
use crate::language::fault::Fault;
use crate::language::syntax::{Kind, Operation, Place};
use crate::language::tokens::Token;

/// The deepest nest of parentheses.
const DEEPEST: usize = 100;

/// The signs of one precedence, weakest first, and what they mean.
const PRECEDENCES: [&[(&str, Operation)]; 5] = [
    &[("or", Operation::Or)],
    &[("and", Operation::And)],
    &[
        ("<", Operation::Less),
        ("<=", Operation::LessEqual),
        (">", Operation::Greater),
        (">=", Operation::GreaterEqual),
        ("==", Operation::Equal),
        ("!=", Operation::NotEqual),
    ],
    &[("+", Operation::Add), ("-", Operation::Subtract)],
    &[("*", Operation::Multiply), ("/", Operation::Divide)],
];
/// The precedence of a bound in a declaration: its `<` belongs to the declaration.
pub(super) const SUM: usize = 3;

impl Parser<'_> {
    /// An expression whose signs bind at least as strongly as those at `level` of [`PRECEDENCES`].
    pub(super) fn expression(&mut self, level: usize) -> Result<Place, Fault> {
        let Some(operations) = PRECEDENCES.get(level) else { return self.unary() };
        // `not` binds weaker than a comparison and stronger than `and`.
        if level == 2 && self.is("not") {
            return self.prefixed("not", 2);
        }
        let mut left = self.expression(level + 1)?;
        while let Some((sign, operation)) = operations.iter().find(|(sign, _)| self.is(sign)) {
            self.take(sign);
            let right = if level < 2 { self.expression(level + 1)? } else { self.operand(level + 1)? };
            let span = self.place_span(left).to(self.place_span(right));
            left = self.push(Kind::Operation(*operation, left, right), span)?;
        }
        Ok(left)
    }

    /// An expression after a sign, where a prefix may stand.
    fn operand(&mut self, level: usize) -> Result<Place, Fault> {
        if self.is("not") { self.prefixed("not", 2) } else { self.expression(level) }
    }

    /// `not not … a` or `- - … a`, without recursion for each.
    fn prefixed(&mut self, sign: &str, level: usize) -> Result<Place, Fault> {
        let start = self.span();
        let mut count = 0_usize;
        while self.take(sign) {
            count += 1;
        }
        let mut place = if sign == "not" { self.expression(level + 1)? } else { self.power()? };
        let span = start.to(self.place_span(place));
        for _ in 0..count {
            let kind = if sign == "not" { Kind::Not(place) } else { Kind::Negate(place) };
            place = self.push(kind, span)?;
        }
        Ok(place)
    }

    fn unary(&mut self) -> Result<Place, Fault> {
        if self.is("-") {
            return self.prefixed("-", 0);
        }
        self.take("+");
        self.power()
    }

    /// `a ^ b`, from the right; an exponent may have a sign.
    fn power(&mut self) -> Result<Place, Fault> {
        let base = self.atom()?;
        if !self.take("^") {
            return Ok(base);
        }
        self.deeper()?;
        let exponent = self.unary()?;
        self.depth -= 1;
        let span = self.place_span(base).to(self.place_span(exponent));
        self.push(Kind::Operation(Operation::Power, base, exponent), span)
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return self
                .fault(format!("parentheses and powers may be nested {DEEPEST} deep; use a local name"));
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<Place, Fault> {
        let (token, span) = (self.token().clone(), self.span());
        match token {
            Token::Number(value) => {
                self.at += 1;
                self.push(Kind::Number(value), span)
            }
            Token::Level(level) => {
                self.at += 1;
                self.push(Kind::Level(level), span)
            }
            Token::Sign("(") => {
                self.at += 1;
                self.deeper()?;
                let inner = self.expression(0)?;
                self.depth -= 1;
                self.close(")", span, "to close this parenthesis")?;
                Ok(inner)
            }
            Token::Name(name) => {
                self.at += 1;
                let open = self.span();
                if self.take("(") {
                    self.deeper()?;
                    let mut arguments = Vec::new();
                    while !self.is(")") {
                        arguments.push(self.expression(0)?);
                        if !self.take(",") {
                            break;
                        }
                    }
                    self.depth -= 1;
                    let end = self.span();
                    self.close(")", open, &format!("or `,` after an argument of `{name}`"))?;
                    return self.push(Kind::Call(name, arguments), span.to(end));
                }
                if self.take("[") {
                    self.deeper()?;
                    let index = self.expression(0)?;
                    self.depth -= 1;
                    let end = self.span();
                    self.close("]", open, "after an index")?;
                    return self.push(Kind::Index(name, index), span.to(end));
                }
                self.push(Kind::Name(name), span)
            }
            Token::Sign(sign) => {
                let hint = if sign == "*" { "; a power is written with `^`" } else { "" };
                self.fault(format!("expected a number, a name or a parenthesis, not `{sign}`{hint}"))
            }
            Token::Line | Token::End => {
                self.fault("expected a number, a name or a parenthesis before the line ends")
            }
        }
    }
}
