//! Cuts a model's text into words and signs, each with its place.

use super::fault::{Fault, Span};

/// The most bytes of a text: far longer than anything a person writes.
pub(crate) const MOST_BYTES: usize = 100_000;

/// A word or a sign.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A name.
    Name(String),
    /// A number.
    Number(f64),
    /// A level in quotes.
    Level(String),
    /// A sign of one or two characters.
    Sign(&'static str),
    /// The end of a line, outside parentheses.
    Line,
    /// The end of the text.
    End,
}

const SIGNS: [&str; 22] = [
    "==", "!=", "<=", ">=", "~", "|", "=", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":",
    "≤", "≥",
];

/// A text cut into tokens; the last is the end.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, Span)>, Fault> {
    if text.len() > MOST_BYTES {
        let reason = format!("a model may have at most {MOST_BYTES} bytes, and this text has {}", text.len());
        return Err(Fault::new(Span { start: 0, end: 1 }, reason));
    }
    let mut tokens: Vec<(Token, Span)> = Vec::new();
    let (mut at, mut depth) = (0_usize, 0_usize);
    while let Some(letter) = text[at..].chars().next() {
        let (start, rest) = (at, &text[at..]);
        let run =
            |wanted: &dyn Fn(char) -> bool| rest.find(|letter: char| !wanted(letter)).unwrap_or(rest.len());
        let span = |length: usize| Span { start, end: start + length };
        if letter == '\n' {
            at += 1;
            if depth == 0 && !matches!(tokens.last(), None | Some((Token::Line, _))) {
                tokens.push((Token::Line, span(1)));
            }
            continue;
        }
        if letter.is_whitespace() {
            at += letter.len_utf8();
            continue;
        }
        if letter == '#' {
            at += run(&|letter| letter != '\n');
            continue;
        }
        let (token, length) = if letter == '"' || letter == '`' {
            let inner = &rest[1..];
            let Some(end) = inner.find([letter, '\n']).filter(|end| inner[*end..].starts_with(letter)) else {
                return Err(Fault::new(span(1), format!("this quote {letter} is never closed on its line")));
            };
            let word = inner[..end].to_owned();
            (if letter == '"' { Token::Level(word) } else { Token::Name(word) }, end + 2)
        } else if letter.is_alphabetic() || letter == '_' {
            let length = run(&|letter| letter.is_alphanumeric() || letter == '_' || letter == '.');
            (Token::Name(rest[..length].to_owned()), length)
        } else if letter.is_ascii_digit() || letter == '.' {
            let length = number_length(rest);
            let value =
                rest[..length].parse().map_err(|_| Fault::new(span(length.max(1)), "is not a number"))?;
            (Token::Number(value), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            match *sign {
                "(" | "[" => depth += 1,
                ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            let plain = match *sign {
                "≤" => "<=",
                "≥" => ">=",
                sign => sign,
            };
            (Token::Sign(plain), sign.len())
        } else {
            let reason = match letter {
                ';' => "a line ends a statement; leave out `;`",
                '!' => "write `not`",
                '&' => "write `and`",
                '{' | '}' => {
                    "a section is a line `parameters` or `record` and what follows it, without braces"
                }
                _ => "this character does not belong in a model; put ` around a name that has it",
            };
            return Err(Fault::new(span(letter.len_utf8()), reason));
        };
        tokens.push((token, span(length)));
        at += length;
    }
    let end = Span { start: text.len(), end: text.len() };
    tokens.push((Token::Line, end));
    tokens.push((Token::End, end));
    Ok(tokens)
}

/// The bytes of a decimal number with an optional exponent.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    length
}
