//! Cuts a formula into words and signs, each with its place, so that an error can point at it.

use std::fmt;

/// Where something stands in a formula, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first character.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

impl Span {
    /// From the first of one to the last of another.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// What is wrong with a formula, and where. Shows the formula with a caret under the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormulaError {
    /// What is wrong and what to do.
    pub reason: String,
    /// Where.
    pub span: Span,
    formula: String,
}

impl FormulaError {
    /// An error at a place in a formula.
    pub fn new(formula: &str, span: Span, reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), span, formula: formula.to_owned() }
    }
}

/// Characters shown on either side of the place.
const AROUND: usize = 60;

impl fmt::Display for FormulaError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from = self.span.start.saturating_sub(AROUND);
        let shown: String = self.formula.chars().skip(from).take(2 * AROUND).map(flat).collect();
        let carets = self.span.end.saturating_sub(self.span.start).clamp(1, AROUND);
        write!(
            out,
            "{}\n  {shown}\n  {}{}",
            self.reason,
            " ".repeat(self.span.start - from),
            "^".repeat(carets)
        )
    }
}

/// One column wide, so that the caret stands where it should.
fn flat(letter: char) -> char {
    if letter.is_control() { ' ' } else { letter }
}

impl std::error::Error for FormulaError {}

/// A word or a sign of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Number(f64),
    Sign(char),
    End,
}

/// A formula cut into tokens, each with its place; the last is the end.
pub(super) fn tokens(formula: &str) -> Result<Vec<(Token, Span)>, FormulaError> {
    /// Longer than anything a person writes.
    const LONGEST: usize = 10_000;
    let letters: Vec<char> = formula.chars().take(LONGEST + 1).collect();
    let error = |start, end, reason: &str| FormulaError::new(formula, Span { start, end }, reason);
    if letters.len() > LONGEST {
        return Err(error(0, 1, "a formula may have at most 10000 characters"));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let start = at;
        at += 1;
        let mut run = |wanted: &dyn Fn(char) -> bool| {
            while letters.get(at).is_some_and(|letter| wanted(*letter)) {
                at += 1;
            }
        };
        let token = match letter {
            _ if letter.is_whitespace() => continue,
            '`' => {
                run(&|letter| letter != '`');
                if at == letters.len() {
                    return Err(error(start, at, "this quote ` is never closed"));
                }
                at += 1;
                Token::Name(letters[start + 1..at - 1].iter().collect())
            }
            _ if letter.is_alphabetic() || letter == '_' => {
                run(&|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
                Token::Name(letters[start..at].iter().collect())
            }
            _ if letter.is_ascii_digit() => {
                run(&|letter| letter.is_ascii_digit() || letter == '.');
                let text: String = letters[start..at].iter().collect();
                Token::Number(text.parse().map_err(|_| error(start, at, "is not a number"))?)
            }
            '~' | '+' | '-' | '*' | ':' | '(' | ')' | ',' | '|' => Token::Sign(letter),
            _ => {
                let reason = match letter {
                    '^' => "a power is written square(x), or poly(x, 3) for all powers up to the third",
                    '.' => {
                        "name the columns: a dot for all others would take them from the file, and the schema is what is public"
                    }
                    _ => "does not belong in a formula; put ` around a name with other characters",
                };
                return Err(error(start, at, reason));
            }
        };
        tokens.push((token, Span { start, end: at }));
    }
    tokens.push((Token::End, Span { start: letters.len(), end: letters.len() + 1 }));
    Ok(tokens)
}
