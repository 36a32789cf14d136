//! Comma-separated values as RFC 4180 has them: quoted fields may hold commas, line ends and doubled quotes.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};

/// A field, and the byte at which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) at: usize,
}

/// The records of a text. Blank lines are none. Blanks around a field are not part of it.
#[derive(Debug, Clone)]
pub(crate) struct Records<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Records<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next record; `None` at the end. An error has the byte of a quote that does not close, or of what follows a
    /// closed one.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Field<'t>>>, (Error, usize)> {
        while let Some(line) = self.text[self.at..].split_inclusive('\n').next() {
            if !line.trim().is_empty() {
                break;
            }
            self.at += line.len();
        }
        if self.at == self.text.len() {
            return Ok(None);
        }
        let mut fields = Vec::new();
        loop {
            fields.push(self.field()?);
            let rest = &self.text[self.at..];
            self.at += rest.chars().next().map_or(0, char::len_utf8);
            if !rest.starts_with(',') {
                return Ok(Some(fields));
            }
        }
    }

    /// Reads a field up to the comma or the line end after it.
    fn field(&mut self) -> Result<Field<'t>, (Error, usize)> {
        self.skip_blanks();
        let (start, rest) = (self.at, &self.text[self.at..]);
        if !rest.starts_with('"') {
            let end = rest.find([',', '\n']).unwrap_or(rest.len());
            self.at += end;
            return Ok(Field {
                text: Cow::Borrowed(rest[..end].trim()),
                at: start,
            });
        }
        let mut text = Cow::Borrowed("");
        loop {
            let body = &self.text[self.at + 1..];
            let Some(length) = body.find('"') else {
                let error = Error::new(ErrorKind::Constants, "a quote is not closed");
                return Err((error, start));
            };
            text += &body[..length];
            self.at += length + 2;
            // A doubled quote stands for one.
            if !self.text[self.at..].starts_with('"') {
                break;
            }
            text += "\"";
        }
        self.skip_blanks();
        match self.text.as_bytes().get(self.at) {
            None | Some(b',' | b'\n') => Ok(Field { text, at: start }),
            Some(_) => {
                let message = "a quoted value ends before its field does";
                Err((Error::new(ErrorKind::Constants, message), self.at))
            }
        }
    }

    fn skip_blanks(&mut self) {
        let rest = &self.text[self.at..];
        let blank = |c: char| c != '\n' && c.is_whitespace();
        self.at += rest.len() - rest.trim_start_matches(blank).len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<Vec<String>>, (String, usize)> {
        let mut records = Records::new(text);
        let mut out = Vec::new();
        loop {
            match records.next() {
                Ok(Some(fields)) => {
                    out.push(fields.into_iter().map(|f| f.text.into_owned()).collect());
                }
                Ok(None) => return Ok(out),
                Err((error, at)) => return Err((error.message().to_owned(), at)),
            }
        }
    }

    #[test]
    fn fields_are_those_of_the_rfc() {
        for (text, expected) in [
            ("", vec![]),
            ("\n \r\n", vec![]),
            ("a,b", vec![vec!["a", "b"]]),
            ("a,b\r\n\r\n1,2\r\n", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a,\n,\n", vec![vec!["a", ""], vec!["", ""]]),
            ("\"a\",\"\"\n", vec![vec!["a", ""]]),
            ("\"a,b\", \"c\nd\" ,e", vec![vec!["a,b", "c\nd", "e"]]),
            ("\"say \"\"a\"\"\"\r\n", vec![vec!["say \"a\""]]),
            ("\"\"\"\"", vec![vec!["\""]]),
            (" a b , é\t", vec![vec!["a b", "é"]]),
            ("a\"b\",c", vec![vec!["a\"b\"", "c"]]),
        ] {
            assert_eq!(records(text).unwrap(), expected, "{text:?}");
        }
        let quote = || "a quote is not closed".to_owned();
        assert_eq!(records("a,\"b\n").unwrap_err(), (quote(), 2));
        assert_eq!(records("\"b\"\"").unwrap_err(), (quote(), 0));
        let early = "a quoted value ends before its field does".to_owned();
        assert_eq!(records("a,\"b\" c").unwrap_err(), (early, 6));
    }
}
