//! Splits text into words, numbers, texts and signs. The parser interprets them.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind, Result, quoted};

/// The text that quotes hold: `\"`, `\'` and `\\` stand for the second character, any other backslash for itself.
pub(crate) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let escaped =
            (letter == '\\').then(|| rest.next_if(|next| matches!(next, '\\' | '"' | '\'')));
        out.push(escaped.flatten().unwrap_or(letter));
    }
    Cow::Owned(out)
}

/// A text in quotes, as an expression has it.
pub(crate) fn escaped(text: &str) -> String {
    let quote = if text.contains('"') && !text.contains('\'') {
        '\''
    } else {
        '"'
    };
    let mut out = String::from(quote);
    for letter in text.chars() {
        if letter == '\\' || letter == quote {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push(quote);
    out
}

/// The byte of a constant of a test, by its position among them. The test begins at `from`.
pub(crate) fn constant_offset(text: &str, from: usize, position: usize) -> usize {
    let mut lexer = Lexer::from(text, from);
    let mut left = position;
    while let Ok((token, offset)) = lexer.next() {
        match token {
            Token::Integer(_) | Token::Float(_) | Token::Text(_) if left == 0 => return offset,
            Token::Integer(_) | Token::Float(_) | Token::Text(_) => left -= 1,
            Token::End => break,
            _ => {}
        }
    }
    from
}

/// One piece of text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token<'s> {
    Word(&'s str),
    Integer(i64),
    Float(f64),
    Text(&'s str),
    Sign(&'static str),
    End,
}

impl Token<'_> {
    /// The token as an error message shows it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Word(word) => quoted(word),
            Self::Integer(_) | Self::Float(_) => "a number".to_owned(),
            Self::Text(_) => "a text".to_owned(),
            Self::Sign(sign) => format!("'{sign}'"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Signs, longer ones before their prefixes.
const SIGNS: [&str; 11] = ["&&", "||", "<=", ">=", "<>", "<", ">", "=", "(", ")", ","];

/// Where in a text the next token begins.
#[derive(Debug, Clone)]
pub(super) struct Lexer<'s> {
    text: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(text: &'s str) -> Self {
        Self { text, at: 0 }
    }

    /// The same from a byte on, at which a token begins.
    pub(super) fn from(text: &'s str, at: usize) -> Self {
        Self { text, at }
    }

    /// The next token and the byte at which it begins.
    pub(super) fn next(&mut self) -> Result<(Token<'s>, usize)> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        let start = self.at;
        let Some(first) = bytes.get(start).copied() else {
            return Ok((Token::End, start));
        };
        let token = match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
                Token::Word(self.take_while(word))
            }
            b'0'..=b'9' | b'-' => self.number()?,
            b'"' | b'\'' => self.quoted(first)?,
            _ => self.sign()?,
        };
        Ok((token, start))
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'s str {
        let start = self.at;
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).copied().is_some_and(&wanted) {
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    fn number(&mut self) -> Result<Token<'s>> {
        let start = self.at;
        let peek = |lexer: &Self, ahead: usize| {
            let bytes = lexer.text.as_bytes();
            bytes.get(lexer.at + ahead).copied().unwrap_or(0)
        };
        let negative = peek(self, 0) == b'-';
        if negative {
            self.at += 1;
            self.take_while(|byte| byte.is_ascii_whitespace());
        }
        let first = self.at;
        let digits = |lexer: &mut Self| !lexer.take_while(|byte| byte.is_ascii_digit()).is_empty();
        if !digits(self) {
            return Err(self.wrong(start, "a minus sign without a number"));
        }
        let mut float = false;
        if peek(self, 0) == b'.' {
            float = true;
            self.at += 1;
            digits(self);
        }
        if matches!(peek(self, 0), b'e' | b'E') {
            let signed = usize::from(matches!(peek(self, 1), b'-' | b'+'));
            if peek(self, 1 + signed).is_ascii_digit() {
                float = true;
                self.at += 1 + signed;
                digits(self);
            }
        }
        let text = &self.text[first..self.at];
        let signed;
        // The sign belongs to the number: the least integer has no positive twin.
        let text = match negative {
            true => {
                signed = format!("-{text}");
                signed.as_str()
            }
            false => text,
        };
        if float {
            let value = text.parse().ok().filter(|value: &f64| value.is_finite());
            value.map(Token::Float)
        } else {
            text.parse().ok().map(Token::Integer)
        }
        .ok_or_else(|| self.wrong(start, format!("{} is out of range", quoted(text))))
    }

    fn quoted(&mut self, quote: u8) -> Result<Token<'s>> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let bytes = rest.as_bytes();
        let mut end = 0;
        loop {
            match (bytes.get(end), bytes.get(end + 1)) {
                (Some(b'\\'), Some(b'\\' | b'"' | b'\'')) => end += 2,
                (Some(byte), _) if *byte == quote => break,
                (Some(_), _) => end += 1,
                (None, _) => return Err(self.wrong(start, "a text without its closing quote")),
            }
        }
        self.at = start + end + 2;
        Ok(Token::Text(&rest[..end]))
    }

    fn sign(&mut self) -> Result<Token<'s>> {
        let rest = &self.text[self.at..];
        match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
            None => {
                let found = rest.chars().next().unwrap_or_default();
                let message = format!("unexpected character '{}'", found.escape_debug());
                let error = self.wrong(self.at, message);
                Err(match hint(rest) {
                    Some(hint) => error.help(hint),
                    None => error,
                })
            }
        }
    }

    /// A syntax error at a byte.
    pub(super) fn wrong(&self, offset: usize, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, message).at(self.text, offset)
    }
}

/// What may help against a character that begins no token.
fn hint(rest: &str) -> Option<&'static str> {
    let first = rest.chars().next()?;
    Some(match first {
        '!' if rest.starts_with("!=") => "write '<>' for 'is not equal'",
        '!' => "write 'not'",
        '&' => "write 'and' or '&&'",
        '|' => "write 'or' or '||'",
        '[' | ']' | '{' | '}' => "write lists in round brackets",
        '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => "write texts in straight quotes",
        '#' | '/' => "there are no comments",
        '.' => "a float begins with a digit: 0.5",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            match lexer.next().unwrap().0 {
                Token::End => return tokens,
                token => tokens.push(token),
            }
        }
    }

    #[test]
    fn pieces_are_told_apart() {
        use Token::{Float, Integer, Sign, Text, Word};
        assert_eq!(
            all("a_1<>-5 <=1.5e3\t'x\"y' \"\"||2e"),
            [
                Word("a_1"),
                Sign("<>"),
                Integer(-5),
                Sign("<="),
                Float(1500.0),
                Text("x\"y"),
                Text(""),
                Sign("||"),
                Integer(2),
                Word("e"),
            ]
        );
    }

    #[test]
    fn numbers_and_names_are_those_of_the_c_library() {
        use Token::{Float, Integer, Sign, Word};
        assert_eq!(
            all("5. -\t7 - 9223372036854775808 -1.e2 user-id<-5 a-1"),
            [
                Float(5.0),
                Integer(-7),
                Integer(i64::MIN),
                Float(-100.0),
                Word("user-id"),
                Sign("<"),
                Integer(-5),
                Word("a-1"),
            ]
        );
    }

    #[test]
    fn quotes_are_escaped_and_read_back() {
        for (text, value) in [
            (r#""a\"b""#, "a\"b"),
            (r"'it\'s'", "it's"),
            (r#"'say "x"'"#, "say \"x\""),
            (r"'C:\dir\\'", r"C:\dir\"),
            (r"'\n'", r"\n"),
            ("''", ""),
        ] {
            let [Token::Text(found)] = all(text)[..] else {
                panic!("{text} is not one text");
            };
            assert_eq!(unescaped(found), value, "{text}");
            let again = escaped(value);
            let [Token::Text(found)] = all(&again)[..] else {
                panic!("{again} is not one text");
            };
            assert_eq!(unescaped(found), value, "{again}");
        }
    }

    #[test]
    fn what_is_no_token_is_refused_at_its_place() {
        for (text, column) in [
            ("a é", 3),
            ("  -x", 3),
            ("a = 99999999999999999999", 5),
            ("a = 'open", 5),
            ("a = 'open\\'", 5),
            ("1e999", 1),
        ] {
            let mut lexer = Lexer::new(text);
            let error = loop {
                match lexer.next() {
                    Ok((Token::End, _)) => panic!("{text} is accepted"),
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!(error.kind(), ErrorKind::Syntax);
            let place = format!(" at column {column}");
            assert!(error.to_string().ends_with(&place), "{text}: {error}");
        }
    }
}
