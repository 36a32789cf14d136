//! Erlang terms: files of expressions that begin with their domain, and events as lists of values.
//!
//! An expressions file is `[{par1,bool,disallow_undefined}, …].` followed by one `<<"expression">>.` per
//! expression. An event is `[0,1,…].`, `[true,false,…].` or plain `0110…`, in the order of the attributes.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::domain::{AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};

/// A file of expressions in Erlang terms.
///
/// ```
/// let text = "[{a,bool,disallow_undefined},\n{n,int,allow_undefined,0,9}].\n<<\"a and n > 3\">>.\n";
/// let terms = betree::ErlangTerms::parse(text)?;
/// assert_eq!(terms.expressions, ["a and n > 3"]);
/// assert_eq!(betree::ErlangTerms::event(&terms.domain, "[1,undefined].")?, r#"{"a":true}"#);
/// # Ok::<(), betree::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ErlangTerms<'t> {
    /// The attributes.
    pub domain: Domain,
    /// The expressions, in order.
    pub expressions: Vec<Cow<'t, str>>,
}

impl<'t> ErlangTerms<'t> {
    /// Whether a text begins like such a file. Expressions and domains in other formats never do.
    #[must_use]
    pub fn begins(text: &str) -> bool {
        let mut scanner = Scanner { text, at: 0 };
        scanner.has('[') && scanner.rest().starts_with(['{', ']'])
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A syntax error or an invalid domain, with line and column.
    pub fn parse(text: &'t str) -> Result<Self> {
        let mut scanner = Scanner { text, at: 0 };
        let mut domain = Domain::new();
        scanner.sign('[')?;
        if !scanner.has(']') {
            loop {
                scanner.attribute(&mut domain)?;
                if scanner.has(']') {
                    break;
                }
                scanner.sign(',')?;
            }
        }
        scanner.sign('.')?;
        let mut expressions = Vec::new();
        while scanner.blank() < text.len() {
            expressions.push(scanner.expression()?);
        }
        Ok(Self {
            domain,
            expressions,
        })
    }

    /// Converts an event to JSON, for [`Snapshot::event_reader`](crate::Snapshot::event_reader).
    ///
    /// # Errors
    /// Text that is not a list of values of this domain, with its offset.
    pub fn event(domain: &Domain, line: &str) -> Result<String> {
        let mut scanner = Scanner { text: line, at: 0 };
        let bits = scanner.rest().starts_with(['0', '1']);
        if !bits && !scanner.has('[') {
            let error = Error::new(ErrorKind::Json, "expected a list of values");
            return Err(error.byte(scanner.at));
        }
        if !bits && line.trim_end().ends_with(']') {
            let error = Error::new(ErrorKind::Json, "expected an object, found a list");
            let hint = "an event is a JSON object, or a list of Erlang terms that ends with '].'";
            return Err(error.byte(scanner.at.saturating_sub(1)).help(hint));
        }
        let mut json = String::with_capacity(16 * domain.attributes().len());
        json.push('{');
        for (number, attribute) in domain.attributes().iter().enumerate() {
            let byte = |error: Error, at: usize| error.byte(at);
            if !bits && number > 0 {
                let at = scanner.blank();
                scanner.sign(',').map_err(|error| byte(error, at))?;
            }
            let at = scanner.blank();
            let word = if bits { scanner.bit() } else { scanner.word() };
            let value = match (attribute.kind(), word) {
                (_, "undefined") => continue,
                (AttributeType::Boolean, "1" | "true") => "true",
                (AttributeType::Boolean, "0" | "false") => "false",
                (
                    AttributeType::Integer { .. }
                    | AttributeType::IntegerEnum { .. }
                    | AttributeType::Float { .. },
                    word,
                ) if word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => word,
                (kind, word) => {
                    let name = quoted(attribute.name());
                    let message = match word {
                        "" => format!("the value of attribute {name} ({}) is missing", kind.name()),
                        word => format!(
                            "{} is not a value of attribute {name} ({})",
                            quoted(word),
                            kind.name()
                        ),
                    };
                    return Err(Error::new(ErrorKind::Type, message).byte(at));
                }
            };
            let comma = if json.len() == 1 { "" } else { "," };
            let _ = write!(json, "{comma}\"{}\":{value}", attribute.name());
        }
        let at = scanner.blank();
        if !bits {
            scanner
                .sign(']')
                .and_then(|()| scanner.sign('.'))
                .map_err(|error| error.byte(at))?;
        }
        let at = scanner.blank();
        if at < line.len() {
            return Err(Error::new(ErrorKind::Json, "more values than attributes").byte(at));
        }
        json.push('}');
        Ok(json)
    }

    /// The domain as the head of such a file. `None` when a type cannot be expressed as a term.
    #[must_use]
    pub fn write_domain(domain: &Domain) -> Option<String> {
        let mut out = "[".to_owned();
        for (at, attribute) in domain.attributes().iter().enumerate() {
            let comma = if at == 0 { "" } else { ",\n" };
            let undefined = match attribute.allows_undefined() {
                true => "allow_undefined",
                false => "disallow_undefined",
            };
            let (kind, bounds) = match attribute.kind() {
                AttributeType::Boolean => ("bool", None),
                AttributeType::Integer { min, max } => ("int", Some((min, max))),
                AttributeType::IntegerList { min, max } => ("int_list", Some((min, max))),
                AttributeType::String {
                    distinct_max: u64::MAX,
                } => ("string", None),
                AttributeType::StringList {
                    distinct_max: u64::MAX,
                } => ("string_list", None),
                AttributeType::IntegerEnum {
                    distinct_max: u64::MAX,
                } => ("int_enum", None),
                AttributeType::Float { min, max }
                    if min == f64::NEG_INFINITY && max == f64::INFINITY =>
                {
                    ("float", None)
                }
                AttributeType::Segments => ("segments", None),
                AttributeType::Frequency => ("frequency_caps", None),
                _ => return None,
            };
            let _ = write!(out, "{comma}{{{},{kind},{undefined}", attribute.name());
            if let Some((min, max)) = bounds.filter(|bounds| *bounds != (i64::MIN, i64::MAX)) {
                let _ = write!(out, ",{min},{max}");
            }
            out.push('}');
        }
        out.push_str("].");
        Some(out)
    }

    /// An expression as a line of a file.
    #[must_use]
    pub fn write_expression(text: &str) -> String {
        let escaped = text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("<<\"{escaped}\">>.")
    }

    /// An event of booleans as a line of a file.
    #[must_use]
    pub fn write_event(bits: &[bool]) -> String {
        let bits: Vec<&str> = bits
            .iter()
            .map(|bit| if *bit { "1" } else { "0" })
            .collect();
        format!("[{}].", bits.join(","))
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// Skips white space and comments. Returns where they end.
    fn blank(&mut self) -> usize {
        loop {
            let rest = self.text[self.at..].trim_start();
            self.at = self.text.len() - rest.len();
            if !rest.starts_with('%') {
                return self.at;
            }
            self.at += rest.find('\n').unwrap_or(rest.len());
        }
    }

    fn rest(&mut self) -> &'t str {
        let at = self.blank();
        &self.text[at..]
    }

    fn has(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += usize::from(found);
        found
    }

    fn sign(&mut self, sign: char) -> Result<()> {
        match self.has(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("'{sign}'"))),
        }
    }

    /// What was expected here.
    fn wrong(&mut self, expected: &str) -> Error {
        let found = self.rest().chars().next();
        let found = found.map_or("the end".to_owned(), |found| format!("'{found}'"));
        Error::new(
            ErrorKind::Syntax,
            format!("expected {expected}, found {found}"),
        )
        .at(self.text, self.at)
    }

    /// An atom or a number.
    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | '@');
        let mut end = rest.find(|c: char| !part(c)).unwrap_or(rest.len());
        // The full stop after a term is not part of it.
        if rest[..end].ends_with('.') {
            end -= 1;
        }
        self.at += end;
        &rest[..end]
    }

    fn bit(&mut self) -> &'t str {
        let rest = self.rest();
        let end = usize::from(rest.starts_with(['0', '1']));
        self.at += end;
        &rest[..end]
    }

    fn attribute(&mut self, domain: &mut Domain) -> Result<()> {
        let start = self.blank();
        self.sign('{')?;
        let mut words = Vec::with_capacity(5);
        loop {
            words.push(match self.word() {
                "" => return Err(self.wrong("an atom or a number")),
                word => word,
            });
            if self.has('}') {
                break;
            }
            if words.len() == 5 {
                return Err(self.wrong("'}'"));
            }
            self.sign(',')?;
        }
        let place = |error: Error| error.at(self.text, start);
        let wrong = |message: String| place(Error::new(ErrorKind::Domain, message));
        let (name, kind, undefined, bounds) = match words.as_slice() {
            [name, kind, undefined] => (*name, *kind, *undefined, None),
            [name, kind, undefined, low, high] => (*name, *kind, *undefined, Some((*low, *high))),
            _ => return Err(wrong("expected {name,type,allow_undefined}".to_owned())),
        };
        let allow = match undefined {
            "allow_undefined" => true,
            "disallow_undefined" => false,
            word => {
                return Err(wrong(format!(
                    "expected allow_undefined or disallow_undefined, found {}",
                    quoted(word)
                )));
            }
        };
        let kind = match kind {
            "bool" | "boolean" => "boolean",
            "int" | "integer" => "integer",
            "float" => "float",
            "string" | "bin" | "binary" => "string",
            "int_list" | "integer_list" => "integer list",
            "string_list" | "bin_list" => "string list",
            "int_enum" | "integer_enum" => "integer enum",
            "segments" => "segments",
            "frequency" | "frequency_caps" => "frequency",
            word => return Err(wrong(format!("unknown type {}", quoted(word)))),
        };
        let (low, high) = bounds.unzip();
        let kind = AttributeType::parse(kind, low, high).map_err(place)?;
        domain.add(name, kind, allow).map_err(place)?;
        Ok(())
    }

    /// `<<"…">>.`
    fn expression(&mut self) -> Result<Cow<'t, str>> {
        if !self.rest().starts_with("<<\"") {
            return Err(self.wrong("<<\"an expression\">>."));
        }
        self.at += 3;
        let start = self.at;
        let body = &self.text.as_bytes()[start..];
        let mut escapes = false;
        let mut length = 0;
        loop {
            match body.get(length) {
                Some(b'"') => break,
                Some(b'\\') => {
                    escapes = true;
                    length += 2;
                }
                Some(_) => length += 1,
                None => {
                    let error = Error::new(ErrorKind::Syntax, "a text without its closing quote");
                    return Err(error.at(self.text, start - 1));
                }
            }
        }
        let text = &self.text[start..start + length];
        self.at = start + length + 1;
        for sign in ['>', '>', '.'] {
            self.sign(sign)?;
        }
        match escapes {
            false => Ok(Cow::Borrowed(text)),
            true => self.unescape(text, start).map(Cow::Owned),
        }
    }

    fn unescape(&self, text: &str, start: usize) -> Result<String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            out.push_str(&rest[..at]);
            let escaped = rest[at + 1..].chars().next();
            out.push(match escaped {
                Some(found @ ('"' | '\\' | '\'')) => found,
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('s') => ' ',
                _ => {
                    let place = start + text.len() - rest.len() + at;
                    let error = Error::new(ErrorKind::Syntax, "invalid escape in a text");
                    return Err(error.at(self.text, place));
                }
            });
            rest = &rest[at + 2..];
        }
        out.push_str(rest);
        Ok(out)
    }
}

#[cfg(test)]
mod tests;
