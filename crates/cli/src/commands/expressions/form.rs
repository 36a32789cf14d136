//! The forms of a file of expressions, and what one line of each holds: an expression, and perhaps an id.

use std::borrow::Cow;

use betree::{Expression, Name};
use serde_json::Value;

use crate::args::expressions::ExpressionsForm;
use crate::term::plain;

/// How lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// An expression; its id is the number of its line.
    Plain,
    /// An id, a tab, an expression.
    Tab,
    /// A JSON object with `id` and `expr`.
    Json,
}

/// An id that somebody gave to an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Id<'l> {
    /// An integer, if it looks like one.
    Word(&'l str),
    /// A text, even if it looks like an integer.
    Text(String),
    Integer(String),
}

impl Id<'_> {
    pub(crate) fn name(&self) -> Name<'_> {
        match self {
            Self::Word(text) => Name::parse(text),
            Self::Integer(text) => Name::parse(text),
            Self::Text(text) => Name::text(text),
        }
    }
}

/// An id as a message has it.
pub(crate) fn shown(name: Name<'_>) -> String {
    plain::message(name.as_str())
}

/// What a line holds.
pub(crate) type Parts<'l> = (Option<Id<'l>>, Cow<'l, str>);

/// The form of a file: as the flag says, or as the first line that is not blank looks.
pub(crate) fn of(asked: ExpressionsForm, content: &str) -> Form {
    match asked {
        ExpressionsForm::Plain | ExpressionsForm::Erlang => return Form::Plain,
        ExpressionsForm::Tab => return Form::Tab,
        ExpressionsForm::Json => return Form::Json,
        ExpressionsForm::Auto => {}
    }
    let first = content.lines().find(|line| !line.trim().is_empty());
    let first = first.unwrap_or_default();
    if first.trim_start().starts_with('{') {
        return Form::Json;
    }
    // A tab may also be a blank of an expression. What is one as a whole, is one.
    match first.split_once('\t') {
        Some((id, rest)) if Expression::parse(first).is_err() => {
            let is_word = !id.is_empty() && !id.contains(char::is_whitespace);
            match is_word || Expression::parse(rest).is_ok() {
                true => Form::Tab,
                false => Form::Plain,
            }
        }
        _ => Form::Plain,
    }
}

/// The parts of a line, or what is wrong with it.
pub(crate) fn parts(form: Form, line: &str) -> Result<Parts<'_>, String> {
    match form {
        Form::Plain => Ok((None, Cow::Borrowed(line))),
        Form::Tab => match line.split_once('\t') {
            Some((id, expression)) => Ok((Some(Id::Word(id)), Cow::Borrowed(expression))),
            None => Err("expected an id, a tab and an expression; found no tab".to_owned()),
        },
        Form::Json => json(line),
    }
}

fn json(line: &str) -> Result<Parts<'_>, String> {
    let expected = "expected a JSON object with \"id\" and \"expr\"";
    let found: Value = serde_json::from_str(line)
        .map_err(|error| format!("{expected}; no JSON at column {}", error.column()))?;
    let Value::Object(mut fields) = found else {
        return Err(format!("{expected}; found {}", kind(&found)));
    };
    let id = match fields.remove("id") {
        Some(Value::String(text)) => Id::Text(text),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Id::Integer(number.to_string())
        }
        Some(Value::Number(number)) => {
            return Err(format!(
                "\"id\" is {number}: expected an integer of 64 bits or a string"
            ));
        }
        Some(other) => {
            let found = kind(&other);
            return Err(format!(
                "\"id\" is {found}: expected an integer or a string"
            ));
        }
        None => return Err(format!("{expected}; \"id\" is missing")),
    };
    match fields.remove("expr") {
        Some(Value::String(text)) => Ok((Some(id), Cow::Owned(text))),
        Some(other) => Err(format!("\"expr\" is {}: expected a string", kind(&other))),
        None => Err(format!("{expected}; \"expr\" is missing")),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_is_not_blank_says_the_form() {
        for (content, form) in [
            ("", Form::Plain),
            ("a = 1\n", Form::Plain),
            ("a\tand b\n", Form::Plain),
            ("\ta = 1\n", Form::Plain),
            ("not\ta\n", Form::Plain),
            ("\n \n7\ta = 1\n", Form::Tab),
            ("camp-7\ta = 1\n", Form::Tab),
            ("two words\ta = 1\n", Form::Tab),
            ("camp-7\ta = = 1\n", Form::Tab),
            ("a = \t1 adn b\n", Form::Plain),
            ("\n  {\"id\": 1}\n", Form::Json),
        ] {
            assert_eq!(of(ExpressionsForm::Auto, content), form, "{content:?}");
        }
        assert_eq!(of(ExpressionsForm::Tab, "not\ta\n"), Form::Tab);
        assert_eq!(of(ExpressionsForm::Plain, "{}"), Form::Plain);
    }

    #[test]
    fn lines_are_taken_apart_or_refused() {
        let of = |form, line| {
            let (id, expression) = parts(form, line).unwrap_or_else(|why| panic!("{why}"));
            let id = id.map(|id| (id.name().as_str().to_owned(), id.name().is_integer()));
            (id, expression.into_owned())
        };
        let named = |id: &str, is_integer, expression: &str| {
            (Some((id.to_owned(), is_integer)), expression.to_owned())
        };
        assert_eq!(of(Form::Tab, "7\ta\tand b"), named("7", true, "a\tand b"));
        assert_eq!(of(Form::Tab, "x y\ta"), named("x y", false, "a"));
        let line = r#"{"expr": "a = \"x\"", "more": [{}], "id": "7"}"#;
        assert_eq!(of(Form::Json, line), named("7", false, "a = \"x\""));
        let line = r#"{"id": 18446744073709551615, "expr": "a"}"#;
        assert_eq!(
            of(Form::Json, line),
            named("18446744073709551615", true, "a")
        );
        for (form, line, message) in [
            (Form::Tab, "a = 1", "found no tab"),
            (Form::Json, "{", "no JSON at column 1"),
            (Form::Json, "[]", "found an array"),
            (Form::Json, r#"{"expr": "a"}"#, "\"id\" is missing"),
            (Form::Json, r#"{"id": 1}"#, "\"expr\" is missing"),
            (Form::Json, r#"{"id": 1.5, "expr": "a"}"#, "\"id\" is 1.5: "),
            (
                Form::Json,
                r#"{"id": null, "expr": "a"}"#,
                "\"id\" is null: ",
            ),
            (
                Form::Json,
                r#"{"id": 1, "expr": 2}"#,
                "\"expr\" is a number: ",
            ),
        ] {
            let why = parts(form, line).expect_err(line);
            assert!(why.contains(message), "{why}");
        }
    }
}
