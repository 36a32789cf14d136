//! Events made of variables, as the JSON that the library reads.

use std::fmt::Write as _;

use crate::failure::{Failure, Result};
use crate::list::{betree_frequency_cap, betree_segment};

/// The value of an attribute in an event.
#[derive(Debug)]
pub struct betree_variable {
    pub(crate) name: Box<str>,
    pub(crate) value: Value,
}

/// The value of a variable.
#[derive(Debug)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    String(Box<str>),
    IntegerList(Vec<i64>),
    StringList(Vec<Box<str>>),
    Segments(Vec<betree_segment>),
    FrequencyCaps(Vec<betree_frequency_cap>),
}

/// Writes an event.
pub(crate) fn write(variables: &[&betree_variable], json: &mut String) -> Result<()> {
    json.clear();
    json.push('{');
    for (at, variable) in variables.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        text(&variable.name, json);
        json.push(':');
        value(variable, json)?;
    }
    json.push('}');
    Ok(())
}

fn value(variable: &betree_variable, json: &mut String) -> Result<()> {
    match &variable.value {
        Value::Boolean(value) => json.push_str(if *value { "true" } else { "false" }),
        Value::Integer(value) => display(value, json),
        Value::Float(value) if !value.is_finite() => {
            return Err(Failure::NotFinite(variable.name.to_string(), *value));
        }
        // With a point or an exponent, and with as many digits as it takes.
        Value::Float(value) => display(format_args!("{value:?}"), json),
        Value::String(value) => text(value, json),
        Value::IntegerList(values) => list(values, json, |value, json| display(value, json)),
        Value::StringList(values) => list(values, json, |value, json| text(value, json)),
        Value::Segments(values) => list(values, json, |value, json| {
            display(format_args!("[{},{}]", value.id, value.timestamp), json);
        }),
        Value::FrequencyCaps(values) => list(values, json, cap),
    }
    Ok(())
}

fn cap(cap: &betree_frequency_cap, json: &mut String) {
    json.push('[');
    text(&cap.kind, json);
    display(format_args!(",{},", cap.id), json);
    text(&cap.namespace, json);
    // Without a time it was so long ago that it has expired.
    let timestamp = cap.timestamp.unwrap_or(i64::MIN);
    display(format_args!(",{},{timestamp}]", cap.value), json);
}

fn list<T>(values: &[T], json: &mut String, mut one: impl FnMut(&T, &mut String)) {
    json.push('[');
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        one(value, json);
    }
    json.push(']');
}

fn display(value: impl std::fmt::Display, json: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(json, "{value}");
}

fn text(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => display(format_args!("\\u{:04x}", u32::from(character)), json),
            _ => json.push(character),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, value: Value) -> betree_variable {
        let name = name.into();
        betree_variable { name, value }
    }

    #[test]
    fn values_are_written_as_json() {
        let caps = vec![betree_frequency_cap {
            kind: "flight".into(),
            id: 7,
            namespace: "n\"s".into(),
            timestamp: None,
            value: 3,
        }];
        let (id, timestamp) = (1, -2);
        let variables = [
            variable("b", Value::Boolean(true)),
            variable("i", Value::Integer(i64::MIN)),
            variable("f", Value::Float(1e300)),
            variable("g", Value::Float(2.0)),
            variable("s", Value::String("a\\\n".into())),
            variable("l", Value::IntegerList(vec![1, -2])),
            variable("t", Value::StringList(vec!["é".into()])),
            variable("e", Value::Segments(vec![betree_segment { id, timestamp }])),
            variable("c", Value::FrequencyCaps(caps)),
        ];
        let mut json = String::new();
        let all: Vec<&betree_variable> = variables.iter().collect();
        write(&all, &mut json).expect("all are finite");
        assert_eq!(
            json,
            concat!(
                r#"{"b":true,"i":-9223372036854775808,"f":1e300,"g":2.0,"s":"a\\\u000a","l":[1,-2],"#,
                r#""t":["é"],"e":[[1,-2]],"c":[["flight",7,"n\"s",3,-9223372036854775808]]}"#
            )
        );
        let error = write(&[&variable("x", Value::Float(f64::NAN))], &mut json).unwrap_err();
        assert_eq!(
            error.to_string(),
            "variable 'x': NaN is not a finite number"
        );
    }
}
