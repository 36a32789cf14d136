//! Domains, expressions and events as text.

use std::fmt::Write as _;

use super::{Ask, Conjunctions, Plain, Shape, Test, Value, Values};

impl Shape {
    /// The domains file.
    #[must_use]
    pub fn domains(&self) -> String {
        let mut out = String::new();
        for (at, (values, absent)) in self.attributes.iter().enumerate() {
            let may = *absent > 0;
            let _ = match values {
                Values::Text(_) | Values::Words(..) => writeln!(out, "a{at}|string|{may}"),
                Values::Integer(bound) => writeln!(out, "a{at}|integer|{may}|0|{bound}"),
                Values::Float(bound) => writeln!(out, "a{at}|float|{may}|0|{bound}"),
                Values::List(..) => writeln!(out, "a{at}|integer list|{may}"),
                Values::Boolean => writeln!(out, "a{at}|boolean|{may}"),
            };
        }
        if self.has(|ask| matches!(ask, Ask::Radius(_))) {
            out.push_str("latitude|float|false|-90|90\nlongitude|float|false|-180|180\n");
        }
        if self.has_caps() {
            out.push_str("frequency_caps|frequency|false\n");
        }
        out
    }
}

/// The text of an expression. The campaign of its caps is a constant of the subscription.
#[must_use]
pub fn text(shape: &Shape, expression: &Conjunctions) -> String {
    let mut out = String::new();
    for (number, conjunction) in expression.iter().enumerate() {
        out.push_str(if number > 0 { " or (" } else { "(" });
        for (number, test) in conjunction.iter().enumerate() {
            out.push_str(if number > 0 { " and " } else { "" });
            write_test(shape, test, &mut out);
        }
        out.push(')');
    }
    out
}

/// The campaign of an expression's caps.
#[must_use]
pub fn campaign(expression: &Conjunctions) -> Option<i64> {
    expression.iter().flatten().find_map(|test| match test {
        Test::Cap(campaign, ..) => Some(*campaign),
        _ => None,
    })
}

/// The constants that an expression needs.
#[must_use]
pub fn constants(expression: &Conjunctions) -> crate::Constants {
    crate::Constants {
        campaign_id: campaign(expression),
        ..crate::Constants::default()
    }
}

fn write_test(shape: &Shape, test: &Test, out: &mut String) {
    let kind = |at: &usize| shape.attributes.get(*at).map(|(values, _)| *values);
    let list = |at: &usize, values: &[i64]| {
        let quote = if matches!(kind(at), Some(Values::Text(_))) {
            "\""
        } else {
            ""
        };
        let text = if quote.is_empty() { "" } else { "v" };
        let all: Vec<String> = values
            .iter()
            .map(|v| format!("{quote}{text}{v}{quote}"))
            .collect();
        format!("({})", all.join(", "))
    };
    let is_list = |at: &usize| matches!(kind(at), Some(Values::List(..)));
    let _ = match test {
        Test::Either(tests) => {
            for (number, test) in tests.iter().enumerate() {
                out.push_str(if number > 0 { " or " } else { "(" });
                write_test(shape, test, out);
            }
            write!(out, ")")
        }
        Test::Any(at, values) if is_list(at) => write!(out, "a{at} one of {}", list(at, values)),
        Test::Any(at, values) => write!(out, "a{at} in {}", list(at, values)),
        Test::None(at, values) if is_list(at) => write!(out, "a{at} none of {}", list(at, values)),
        Test::None(at, values) => write!(out, "a{at} not in {}", list(at, values)),
        Test::All(at, values) => write!(out, "a{at} all of {}", list(at, values)),
        Test::Between(at, low, i64::MAX) => write!(out, "a{at} >= {low}"),
        Test::Between(at, low, high) => write!(out, "a{at} >= {low} and a{at} <= {high}"),
        Test::FloatLeast(at, low) => write!(out, "a{at} >= {low:?}"),
        Test::FloatBetween(at, low, high) => write!(out, "a{at} >= {low:?} and a{at} <= {high:?}"),
        Test::Radius(latitude, longitude, km) => {
            write!(
                out,
                "geo_within_radius({latitude:?}, {longitude:?}, {km:?})"
            )
        }
        Test::Cap(_, value, length) => {
            write!(
                out,
                "within_frequency_cap(\"campaign\", \"ns\", {value}, {length})"
            )
        }
        Test::Contains(at, value) => write!(out, "contains(a{at}, \"{}\")", word(*value)),
        Test::Lacks(at, value) => write!(out, "not contains(a{at}, \"{}\")", word(*value)),
        Test::Starts(at, value) => write!(out, "starts_with(a{at}, \"{}\")", word(*value)),
        Test::Ends(at, value) => write!(out, "ends_with(a{at}, \"{}\")", word(*value)),
        Test::Is(at, true) => write!(out, "a{at}"),
        Test::Is(at, false) => write!(out, "not a{at}"),
    };
}

/// A word of a text: five digits, in which no number is near the next.
fn word(value: i64) -> String {
    let mixed = (value as u64).wrapping_mul(0x9_e3b1).wrapping_add(0x3_f2a1);
    format!("{:05x}", mixed & 0xf_ffff)
}

/// The text of an event: one line of JSON.
#[must_use]
pub fn json(shape: &Shape, event: &Plain) -> String {
    let mut fields: Vec<String> = Vec::new();
    for (at, value) in event.values.iter().enumerate() {
        let kind = shape.attributes.get(at).map(|(values, _)| *values);
        fields.push(match (value, kind) {
            (Value::Absent, _) => continue,
            (Value::Integer(value), Some(Values::Text(_))) => format!("\"a{at}\":\"v{value}\""),
            (Value::Integer(value), Some(Values::Boolean)) => format!("\"a{at}\":{}", *value != 0),
            (Value::Integer(value), _) => format!("\"a{at}\":{value}"),
            (Value::Float(value), _) => format!("\"a{at}\":{value:?}"),
            (Value::List(words), Some(Values::Words(..))) => {
                let all: Vec<String> = words.iter().map(|value| word(*value)).collect();
                format!("\"a{at}\":\"{}\"", all.join("/"))
            }
            (Value::List(list), _) => {
                let all: Vec<String> = list.iter().map(i64::to_string).collect();
                format!("\"a{at}\":[{}]", all.join(","))
            }
        });
    }
    if let Some((latitude, longitude)) = event.place {
        fields.push(format!(
            "\"latitude\":{latitude:?},\"longitude\":{longitude:?}"
        ));
    }
    if shape.has_caps() {
        let all: Vec<String> = event
            .caps
            .iter()
            .map(|(campaign, count, at)| {
                format!("[[\"campaign\",{campaign},\"ns\"],{count},{at}000000]")
            })
            .collect();
        fields.push(format!(
            "\"frequency_caps\":[{}],\"now\":{}",
            all.join(","),
            event.now
        ));
    }
    format!("{{{}}}", fields.join(","))
}
