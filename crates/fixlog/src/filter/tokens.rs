//! The words and signs of an expression, with their places.

use super::ExpressionError;

/// A word or sign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a keyword or a value without quotes.
    Word(String),
    /// A value in quotes.
    Text(Vec<u8>),
    /// `=`, `<>`, `<`, `<=`, `>` or `>=`; `==` and `!=` are read too.
    Relation(Relation),
    Open,
    Close,
    Comma,
    And,
    Or,
    End,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Token {
    /// How an error names it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Word(text) => format!("'{}'", text.escape_debug()),
            Self::Text(text) => format!("'{}'", String::from_utf8_lossy(text).escape_debug()),
            Self::Relation(_) => "a comparison".to_owned(),
            Self::Open => "'('".to_owned(),
            Self::Close => "')'".to_owned(),
            Self::Comma => "','".to_owned(),
            Self::And => "'&&'".to_owned(),
            Self::Or => "'||'".to_owned(),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Reads tokens from a text.
#[derive(Debug)]
pub(super) struct Tokens<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    /// The column of the next character.
    column: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            rest: text.chars().peekable(),
            column: 1,
        }
    }

    fn take(&mut self) -> Option<char> {
        self.column += 1;
        self.rest.next()
    }

    /// Takes the next character if it is this one.
    fn takes(&mut self, wanted: char) -> bool {
        let is = self.rest.peek() == Some(&wanted);
        if is {
            self.take();
        }
        is
    }

    /// The next token and its column.
    pub(super) fn next(&mut self) -> Result<(Token, usize), ExpressionError> {
        while self.rest.peek().is_some_and(|c| c.is_whitespace()) {
            self.take();
        }
        let column = self.column;
        let Some(first) = self.take() else {
            return Ok((Token::End, column));
        };
        let token = match first {
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            '&' if self.takes('&') => Token::And,
            '|' if self.takes('|') => Token::Or,
            '!' if self.takes('=') => Token::Relation(Relation::Unequal),
            '=' => {
                self.takes('=');
                Token::Relation(Relation::Equal)
            }
            '<' if self.takes('>') => Token::Relation(Relation::Unequal),
            '<' if self.takes('=') => Token::Relation(Relation::LessOrEqual),
            '<' => Token::Relation(Relation::Less),
            '>' if self.takes('=') => Token::Relation(Relation::GreaterOrEqual),
            '>' => Token::Relation(Relation::Greater),
            '"' | '\'' => Token::Text(self.text(first, column)?),
            first => Token::Word(self.word(first)),
        };
        Ok((token, column))
    }

    /// What stands between quotes; a backslash stands for the character behind it, `\x01` for a byte.
    fn text(&mut self, quote: char, column: usize) -> Result<Vec<u8>, ExpressionError> {
        let mut text = Vec::new();
        loop {
            let next = match self.take() {
                Some('\\') => match self.byte() {
                    Some(byte) => {
                        text.push(byte);
                        continue;
                    }
                    None => self.take(),
                },
                Some(end) if end == quote => return Ok(text),
                other => other,
            };
            let next = next.ok_or(ExpressionError::NoClosingQuote { column })?;
            text.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Takes `x` and two hexadecimal digits, if they are next: the byte.
    fn byte(&mut self) -> Option<u8> {
        let mut ahead = self.rest.clone();
        let is_byte = ahead.next() == Some('x');
        let digits = (ahead.next()?.to_digit(16)?, ahead.next()?.to_digit(16)?);
        if !is_byte {
            return None;
        }
        for _ in 0.."x01".len() {
            self.take();
        }
        u8::try_from(digits.0 * 16 + digits.1).ok()
    }

    fn word(&mut self, first: char) -> String {
        let mut word = String::from(first);
        let ends = |c: &char| c.is_whitespace() || "()<>=!,&|\"'".contains(*c);
        while let Some(next) = self.rest.next_if(|c| !ends(c)) {
            self.column += 1;
            word.push(next);
        }
        word
    }
}
