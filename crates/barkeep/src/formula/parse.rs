//! Parses a formula into its response and its terms, each a product of functions of columns.

use super::tokens::{FormulaError, Span, Token, tokens};

/// A function of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The column itself.
    Plain,
    /// `log(x)`.
    Log,
    /// `sqrt(x)`.
    Sqrt,
    /// `square(x)`.
    Square,
    /// The degree of a polynomial, from 2.
    Poly(u8),
}

/// A function of a named column.
#[derive(Debug, Clone)]
pub struct Atom {
    /// The column.
    pub column: String,
    /// The function.
    pub function: Function,
    /// Where it stands.
    pub span: Span,
}

impl PartialEq for Atom {
    /// Wherever they stand.
    fn eq(&self, other: &Self) -> bool {
        self.column == other.column && self.function == other.function
    }
}

/// A product of distinct atoms; none is the intercept.
#[derive(Debug, Clone)]
pub struct Term(pub Vec<Atom>);

impl PartialEq for Term {
    /// In whatever order the factors stand.
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|atom| other.0.contains(atom))
    }
}

impl Term {
    fn times(&self, other: &Self) -> Self {
        let mut atoms = self.0.clone();
        atoms.extend(other.0.iter().filter(|atom| !self.0.contains(atom)).cloned());
        Self(atoms)
    }
}

/// The trials of a binomial response.
#[derive(Debug, Clone, PartialEq)]
pub enum TrialsOf {
    /// The same number for every record.
    Fixed(f64),
    /// A column's.
    Column(Atom),
}

/// A formula: a response, its terms, and what else it names.
///
/// ```
/// use barkeep::formula::Formula;
/// let formula = Formula::parse("late ~ hour * origin + offset(log(n))")?;
/// assert_eq!(formula.response.column, "late");
/// assert_eq!(formula.terms.len(), 3); // hour, origin, hour:origin
/// let error = Formula::parse("late ~ hour +").unwrap_err();
/// assert_eq!(error.to_string(), "a column, a function or a number is missing here\n  late ~ hour +\n               ^");
/// # Ok::<(), barkeep::formula::FormulaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    /// As written.
    pub text: String,
    /// The response.
    pub response: Atom,
    /// The trials of a binomial response, as in `passed | trials(taken)`.
    pub trials: Option<TrialsOf>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// The terms beside the intercept, in the order written, without repetition.
    pub terms: Vec<Term>,
    /// What is added to the predictor as it is.
    pub offset: Option<Atom>,
}

/// The most terms: products of sums grow fast, and nobody reads a posterior of more.
const MOST_TERMS: usize = 1000;
/// The deepest nesting of brackets: each level costs the parser a call.
const DEEPEST: usize = 30;

impl Formula {
    /// Parses a formula.
    ///
    /// # Errors
    /// The first fault, with its place.
    pub fn parse(text: &str) -> Result<Self, FormulaError> {
        let mut parser = Parser { text, tokens: tokens(text)?, at: 0, depth: 0, offset: None };
        let function = parser.span();
        let response = parser.name("the response's column")?;
        if parser.peek() == &Token::Sign('(') {
            return Err(FormulaError::new(
                text,
                function,
                "the response is a column as it stands in the file: add one that holds this function of it, or write a model's text, \
                 as in `y ~ lognormal(b0 + b * x, s)`",
            ));
        }
        let trials = if parser.take('|') { Some(parser.trials()?) } else { None };
        parser.expect('~', "a ~ must follow the response")?;
        let terms = parser.sum(true)?;
        if parser.peek() != &Token::End {
            return Err(parser.fault("this should be + or -, or the end"));
        }
        let itself = terms.iter().flat_map(|term| &term.0).find(|atom| atom.column == response.column);
        if let Some(atom) = itself {
            let reason = format!("`{}` is the response: it cannot explain itself", response.column);
            return Err(FormulaError::new(text, atom.span, reason));
        }
        let intercept = terms.iter().any(|term| term.0.is_empty());
        let terms = terms.into_iter().filter(|term| !term.0.is_empty()).collect();
        Ok(Self { text: text.to_owned(), response, trials, intercept, terms, offset: parser.offset })
    }

    /// An error at a place of this formula.
    pub fn error(&self, span: Span, reason: impl Into<String>) -> FormulaError {
        FormulaError::new(&self.text, span, reason)
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    offset: Option<Atom>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |(token, _)| token)
    }

    fn span(&self) -> Span {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Span { start: 0, end: 1 }, |(_, span)| *span)
    }

    fn fault(&self, reason: impl Into<String>) -> FormulaError {
        FormulaError::new(self.text, self.span(), reason)
    }

    fn take(&mut self, sign: char) -> bool {
        let found = self.peek() == &Token::Sign(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: char, reason: &str) -> Result<Span, FormulaError> {
        let span = self.span();
        if self.take(sign) { Ok(span) } else { Err(self.fault(reason)) }
    }

    fn name(&mut self, what: &str) -> Result<Atom, FormulaError> {
        let span = self.span();
        match self.peek().clone() {
            Token::Name(column) if !column.trim().is_empty() => {
                self.at += 1;
                Ok(Atom { column, function: Function::Plain, span })
            }
            _ => Err(self.fault(format!("{what} is missing here"))),
        }
    }

    fn number(&mut self) -> Option<f64> {
        let Token::Number(number) = *self.peek() else { return None };
        self.at += 1;
        Some(number)
    }

    /// `trials(name)` or `trials(12)`.
    fn trials(&mut self) -> Result<TrialsOf, FormulaError> {
        if self.peek() != &Token::Name("trials".to_owned()) {
            return Err(self.fault("trials(…) must follow the |"));
        }
        self.at += 1;
        self.expect('(', "trials needs a column or a number in brackets")?;
        let span = self.span();
        let trials = match self.number() {
            Some(number) if number >= 1.0 && number.fract() == 0.0 => TrialsOf::Fixed(number),
            Some(_) => {
                return Err(FormulaError::new(self.text, span, "must be a whole number of at least 1"));
            }
            None => TrialsOf::Column(self.name("a column or a number")?),
        };
        self.expect(')', "a closing bracket is missing here")?;
        Ok(trials)
    }

    /// Terms added and taken away. The outermost sum begins with an intercept.
    fn sum(&mut self, outermost: bool) -> Result<Vec<Term>, FormulaError> {
        let mut terms = if outermost { vec![Term(vec![])] } else { Vec::new() };
        let mut minus = self.take('-');
        if !minus {
            self.take('+');
        }
        loop {
            for (term, sign) in self.item(outermost)? {
                if sign == minus {
                    terms.retain(|present| *present != term);
                } else if !terms.contains(&term) {
                    terms.push(term);
                }
            }
            if terms.len() > MOST_TERMS {
                return Err(self.fault(format!("more than {MOST_TERMS} terms up to here")));
            }
            minus = self.take('-');
            if !minus && !self.take('+') {
                return Ok(terms);
            }
        }
    }

    /// One item of a sum: terms to add, or with false to take away.
    fn item(&mut self, outermost: bool) -> Result<Vec<(Term, bool)>, FormulaError> {
        let span = self.span();
        if let Some(number) = self.number() {
            return match number {
                1.0 => Ok(vec![(Term(vec![]), true)]),
                0.0 => Ok(vec![(Term(vec![]), false)]),
                _ => {
                    Err(FormulaError::new(self.text, span, "only 0 and 1 may stand alone, for the intercept"))
                }
            };
        }
        if self.peek() == &Token::Name("offset".to_owned()) && self.next_is('(') {
            self.at += 2;
            let atom = self.call()?;
            let end = self.expect(')', "a closing bracket is missing here")?;
            let whole = span.to(end);
            if !outermost {
                return Err(FormulaError::new(self.text, whole, "an offset cannot stand in brackets"));
            }
            let [Term(atoms)] = &atom[..] else {
                return Err(FormulaError::new(self.text, whole, "an offset must be one column or function"));
            };
            if self.offset.is_some() {
                return Err(FormulaError::new(self.text, whole, "there is an offset already"));
            }
            self.offset = atoms.first().cloned();
            return Ok(Vec::new());
        }
        let mut terms = self.interaction()?;
        while self.take('*') {
            let other = self.interaction()?;
            let product = self.product(&terms, &other)?;
            terms.extend(other);
            terms.extend(product);
        }
        Ok(terms.into_iter().map(|term| (term, true)).collect())
    }

    fn next_is(&self, sign: char) -> bool {
        matches!(self.tokens.get(self.at + 1), Some((Token::Sign(found), _)) if *found == sign)
    }

    fn interaction(&mut self) -> Result<Vec<Term>, FormulaError> {
        let mut terms = self.factor()?;
        while self.take(':') {
            let other = self.factor()?;
            terms = self.product(&terms, &other)?;
        }
        Ok(terms)
    }

    fn product(&self, one: &[Term], other: &[Term]) -> Result<Vec<Term>, FormulaError> {
        if one.len() * other.len() > MOST_TERMS {
            return Err(self.fault(format!("more than {MOST_TERMS} terms up to here")));
        }
        Ok(one.iter().flat_map(|one| other.iter().map(|other| one.times(other))).collect())
    }

    fn factor(&mut self) -> Result<Vec<Term>, FormulaError> {
        if !self.take('(') {
            return self.call();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("too many brackets within brackets"));
        }
        let terms = self.sum(false)?;
        self.depth -= 1;
        if self.peek() == &Token::Sign('|') {
            return Err(self.fault(
                "formulas have no varying coefficients; a model's text has: `b[g] ~ normal(mu, tau)`, one for each level of g",
            ));
        }
        self.expect(')', "a closing bracket is missing here")?;
        Ok(terms.into_iter().filter(|term| !term.0.is_empty()).collect())
    }

    /// A column or a function of one; a polynomial is several terms.
    fn call(&mut self) -> Result<Vec<Term>, FormulaError> {
        if !self.next_is('(') {
            return Ok(vec![Term(vec![self.name("a column, a function or a number")?])]);
        }
        let start = self.span();
        let name = self.name("a function")?.column;
        self.at += 1;
        let one = |function| (function, 1);
        let (function, degrees) = match name.as_str() {
            "log" => one(Function::Log),
            "sqrt" => one(Function::Sqrt),
            "square" => one(Function::Square),
            "poly" => (Function::Plain, 0),
            "I" => {
                let reason = "there is no I(…): write square(x), poly(x, 2), log(x), sqrt(x) or x:z";
                return Err(FormulaError::new(self.text, start, reason));
            }
            _ => {
                let known = ["log", "sqrt", "square", "poly", "offset"];
                let nearest = crate::keys::suggestion(&name, known.into_iter());
                let reason = format!(
                    "there is no function `{name}`{nearest} (log, sqrt, square, poly and offset are known)"
                );
                return Err(FormulaError::new(self.text, start, reason));
            }
        };
        let column = self.name("a column")?.column;
        let degree = if degrees == 0 { self.degree()? } else { 1 };
        let span = start.to(self.expect(')', "a closing bracket is missing here")?);
        let atom = |function| Term(vec![Atom { column: column.clone(), function, span }]);
        Ok(std::iter::once(atom(function)).chain((2..=degree).map(|k| atom(Function::Poly(k)))).collect())
    }

    /// `, 3` of a polynomial.
    fn degree(&mut self) -> Result<u8, FormulaError> {
        self.expect(',', "poly needs a degree, as in poly(x, 2)")?;
        let span = self.span();
        match self.number() {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "from 1 to 20, whole"
            )]
            Some(degree) if (1.0..=20.0).contains(&degree) && degree.fract() == 0.0 => Ok(degree as u8),
            Some(degree) => Err(FormulaError::new(
                self.text,
                span,
                format!("a degree is a whole number from 1 to 20, not {degree}"),
            )),
            None => Err(FormulaError::new(self.text, span, "a degree is a whole number from 1 to 20")),
        }
    }
}
