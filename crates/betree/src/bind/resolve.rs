//! Checks one test against the domain: attributes by name, constants by type and bounds.

use std::fmt::Display;

use super::refused::Refused;
use crate::constants::Constants;
use crate::domain::{Attribute, AttributeType, Domain};
use crate::error::{Error, ErrorKind, quoted};
use crate::expr::{CapKind, Expression, Literal, Position, Quantity, Relation, Test, lower_case};
use crate::nearest::did_you_mean;

type Result<T> = std::result::Result<T, Refused>;

/// A test that the domain allows.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Resolved<'e> {
    Boolean(u16),
    /// An integer between two values, both inclusive.
    Range(u16, i64, i64),
    Float(u16, Relation, f64),
    FloatEqual(u16, bool, f64),
    /// A scalar that is one of the values, or none of them.
    In(u16, bool, &'e [Literal<'e>]),
    /// The same for a float.
    FloatIn(u16, bool, &'e [Literal<'e>]),
    /// A list with any, none or all of the values.
    Has(u16, Quantity, &'e [Literal<'e>]),
    Null(u16, bool),
    Empty(u16),
    Text(u16, Position, &'e str),
    Geo {
        latitude: u16,
        longitude: u16,
        constants: [f64; 3],
    },
    Segment {
        attribute: u16,
        within: bool,
        id: i64,
        seconds: i64,
    },
    Cap {
        attribute: u16,
        kind: CapKind,
        by_address: bool,
        id: i64,
        namespace: &'e str,
        value: i64,
        length: i64,
    },
}

impl<'e> Resolved<'e> {
    /// The values of which an attribute may have a bounded number.
    pub(super) fn values(&self) -> Option<(u16, &'e [Literal<'e>])> {
        match self {
            Self::In(attribute, _, values) | Self::Has(attribute, _, values) => {
                Some((*attribute, values))
            }
            _ => None,
        }
    }
}

pub(super) fn resolve<'e>(
    domain: &Domain,
    constants: &Constants,
    expression: &'e Expression<'e>,
    test: &'e Test<'e>,
) -> Result<Resolved<'e>> {
    let find = |name: &str| find(domain, name);
    Ok(match test {
        Test::Variable(name) => match find(name)? {
            (id, attribute) if attribute.kind() == AttributeType::Boolean => Resolved::Boolean(id),
            (_, attribute) => {
                return Err(clash(
                    attribute,
                    "needs a comparison: only a boolean can stand alone",
                )
                .into());
            }
        },
        Test::Compare(name, relation, value) => {
            let (id, attribute) = find(name)?;
            compare(id, attribute, *relation, value)?
        }
        Test::Equal {
            name,
            negated,
            value,
        } => {
            let (id, attribute) = find(name)?;
            equal(id, attribute, *negated, value)?
        }
        Test::In {
            name,
            negated,
            list,
        } => {
            let (id, attribute) = find(name)?;
            let values = &expression.literals[list.clone()];
            if let AttributeType::Float { min, max } = attribute.kind() {
                for (position, value) in values.iter().enumerate() {
                    float(attribute, value, min, max)
                        .map_err(|error| Refused::constant(error, position))?;
                }
                Resolved::FloatIn(id, *negated, values)
            } else {
                check_scalar(attribute, values)?;
                Resolved::In(id, *negated, values)
            }
        }
        Test::Has {
            name,
            negated,
            value,
        } => {
            let (id, attribute) = find(name)?;
            let values = std::slice::from_ref(value);
            check_list(attribute, values)?;
            let quantity = if *negated {
                Quantity::None
            } else {
                Quantity::One
            };
            Resolved::Has(id, quantity, values)
        }
        Test::Of(name, quantity, list) => {
            let (id, attribute) = find(name)?;
            let values = &expression.literals[list.clone()];
            check_list(attribute, values)?;
            Resolved::Has(id, *quantity, values)
        }
        Test::Null { name, negated } => {
            let (id, attribute) = find(name)?;
            if !attribute.allows_undefined() {
                let message = format!(
                    "attribute {} is never undefined: the domain requires it",
                    quoted(attribute.name())
                );
                return Err(Error::new(ErrorKind::Undefined, message).into());
            }
            Resolved::Null(id, *negated)
        }
        Test::Empty(name) => match find(name)? {
            (id, attribute) if is_list(attribute) => Resolved::Empty(id),
            (_, attribute) => {
                return Err(clash(attribute, "is not a list, so `is empty` does not apply").into());
            }
        },
        Test::Text(name, position, pattern) => match find(name)? {
            (id, attribute) if matches!(attribute.kind(), AttributeType::String { .. }) => {
                Resolved::Text(id, *position, pattern)
            }
            (_, attribute) => return Err(clash(attribute, "is not a string").into()),
        },
        _ => special(domain, constants, test)?,
    })
}

fn special<'e>(domain: &Domain, constants: &Constants, test: &'e Test<'e>) -> Result<Resolved<'e>> {
    // An attribute that the language implies, not named in the expression.
    let implied = |name: &str, fits: fn(&AttributeType) -> bool| -> Result<u16> {
        let (id, attribute) = find(domain, name)?;
        match fits(&attribute.kind()) {
            true => Ok(id),
            false => Err(clash(attribute, "has the wrong type for this function").into()),
        }
    };
    match test {
        Test::Geo {
            latitude,
            longitude,
            radius_km,
        } => {
            let float: fn(&AttributeType) -> bool =
                |kind| matches!(kind, AttributeType::Float { .. });
            Ok(Resolved::Geo {
                latitude: implied("latitude", float)?,
                longitude: implied("longitude", float)?,
                constants: [*latitude, *longitude, *radius_km],
            })
        }
        Test::Segment {
            name,
            within,
            id,
            seconds,
        } => Ok(Resolved::Segment {
            attribute: implied(name.unwrap_or("segments_with_timestamp"), |kind| {
                *kind == AttributeType::Segments
            })?,
            within: *within,
            id: *id,
            seconds: *seconds,
        }),
        Test::Cap {
            kind,
            by_address,
            namespace,
            value,
            length,
        } => Ok(Resolved::Cap {
            attribute: implied("frequency_caps", |kind| *kind == AttributeType::Frequency)?,
            kind: *kind,
            by_address: *by_address,
            id: constants.get(*kind).ok_or_else(|| {
                let word = kind.word(false);
                let message = format!(
                    "the subscription lacks the constant {word}_id, which its frequency cap needs"
                );
                Error::new(ErrorKind::Constants, message)
            })?,
            namespace,
            value: *value,
            length: *length,
        }),
        // The other tests are resolved by their attribute.
        _ => Err(Error::new(ErrorKind::Type, "not a function").into()),
    }
}

fn find<'d>(domain: &'d Domain, name: &str) -> Result<(u16, &'d Attribute)> {
    match domain.attribute(name) {
        Some(id) => Ok((id.0, &domain[id])),
        None => {
            let message = format!("unknown attribute {}", quoted(name));
            let error = Error::new(ErrorKind::UnknownAttribute, message);
            let names = domain.attributes().iter().map(Attribute::name);
            let hint = lower_case(name).or_else(|| did_you_mean(name, names));
            Err(match hint {
                Some(hint) => error.help(hint),
                None => error,
            }
            .into())
        }
    }
}

fn clash(attribute: &Attribute, what: &str) -> Error {
    let message = format!(
        "attribute {} ({}) {what}",
        quoted(attribute.name()),
        attribute.kind().name()
    );
    Error::new(ErrorKind::Type, message)
}

fn outside(attribute: &Attribute, value: impl Display) -> Error {
    let name = quoted(attribute.name());
    let bounds = match attribute.kind() {
        AttributeType::Integer { min, max } | AttributeType::IntegerList { min, max } => {
            format!(", {min} to {max}")
        }
        AttributeType::Float { min, max } => format!(", {min} to {max}"),
        _ => String::new(),
    };
    let message = format!("{value} is outside the bounds of attribute {name}{bounds}");
    Error::new(ErrorKind::Bounds, message)
}

fn is_list(attribute: &Attribute) -> bool {
    matches!(
        attribute.kind(),
        AttributeType::IntegerList { .. }
            | AttributeType::StringList { .. }
            | AttributeType::Segments
            | AttributeType::Frequency
    )
}

fn compare<'e>(
    id: u16,
    attribute: &Attribute,
    relation: Relation,
    value: &Literal<'_>,
) -> Result<Resolved<'e>> {
    match (attribute.kind(), value) {
        (AttributeType::Integer { min, max }, Literal::Integer(value)) => {
            let value = *value;
            if !(min..=max).contains(&value) {
                return Err(Refused::constant(outside(attribute, value), 0));
            }
            // A range that ends beyond the integers is empty.
            let (low, high) = match relation {
                Relation::Less if value == i64::MIN => (1, 0),
                Relation::Greater if value == i64::MAX => (1, 0),
                Relation::Less => (i64::MIN, value - 1),
                Relation::LessEqual => (i64::MIN, value),
                Relation::Greater => (value + 1, i64::MAX),
                Relation::GreaterEqual => (value, i64::MAX),
            };
            Ok(Resolved::Range(id, low, high))
        }
        (AttributeType::Float { min, max }, _) => {
            let value =
                float(attribute, value, min, max).map_err(|error| Refused::constant(error, 0))?;
            Ok(Resolved::Float(id, relation, value))
        }
        (AttributeType::Integer { .. }, _) => Err(Refused::constant(not_compared(attribute), 0)),
        _ => Err(without_order(attribute).into()),
    }
}

/// The type has no order, whatever the constant is.
fn without_order(attribute: &Attribute) -> Error {
    let name = attribute.name();
    let (what, hint) = match attribute.kind() {
        AttributeType::IntegerEnum { .. } | AttributeType::String { .. } => (
            "has no order: `=`, `<>` and `in` are its relations",
            format!("name the values: `{name} in (…)`"),
        ),
        AttributeType::Boolean => (
            "has no relations: it is a test by itself",
            format!("write `{name}` or `not {name}`"),
        ),
        _ => {
            let what = "has no order: `<`, `<=`, `>` and `>=` are for integers and floats";
            return clash(attribute, what);
        }
    };
    clash(attribute, what).help(hint)
}

fn not_compared(attribute: &Attribute) -> Error {
    clash(attribute, "cannot be compared with this constant")
}

fn float(
    attribute: &Attribute,
    value: &Literal<'_>,
    min: f64,
    max: f64,
) -> std::result::Result<f64, Error> {
    let value = match value {
        Literal::Integer(value) => *value as f64,
        Literal::Float(value) => *value,
        Literal::Text(_) => return Err(clash(attribute, "cannot be compared with a text")),
    };
    match (min..=max).contains(&value) {
        true => Ok(value),
        false => Err(outside(attribute, value)),
    }
}

fn equal<'e>(
    id: u16,
    attribute: &Attribute,
    negated: bool,
    value: &'e Literal<'e>,
) -> Result<Resolved<'e>> {
    if let AttributeType::Float { min, max } = attribute.kind() {
        let value =
            float(attribute, value, min, max).map_err(|error| Refused::constant(error, 0))?;
        return Ok(Resolved::FloatEqual(id, negated, value));
    }
    let values = std::slice::from_ref(value);
    check_scalar(attribute, values)?;
    Ok(Resolved::In(id, negated, values))
}

/// Checks that a scalar can have each of these values.
fn check_scalar(attribute: &Attribute, values: &[Literal<'_>]) -> Result<()> {
    for (position, value) in values.iter().enumerate() {
        let error = match (attribute.kind(), value) {
            (AttributeType::Integer { min, max }, Literal::Integer(value)) => {
                match (min..=max).contains(value) {
                    true => continue,
                    false => outside(attribute, value),
                }
            }
            (AttributeType::IntegerEnum { .. }, Literal::Integer(_))
            | (AttributeType::String { .. }, Literal::Text(_)) => continue,
            _ if is_list(attribute) => {
                let name = attribute.name();
                let hint = format!("write `{name} one of (…)`, or a constant before `in {name}`");
                return Err(not_scalar(attribute).help(hint).into());
            }
            _ => not_scalar(attribute),
        };
        return Err(Refused::constant(error, position));
    }
    Ok(())
}

fn not_scalar(attribute: &Attribute) -> Error {
    clash(attribute, "has another type than these constants")
}

/// Checks that a list can have each of these elements.
fn check_list(attribute: &Attribute, values: &[Literal<'_>]) -> Result<()> {
    let wrong = || clash(attribute, "is not a list of such constants");
    for (position, value) in values.iter().enumerate() {
        let error = match (attribute.kind(), value) {
            (AttributeType::IntegerList { min, max }, Literal::Integer(value)) => {
                match (min..=max).contains(value) {
                    true => continue,
                    false => outside(attribute, value),
                }
            }
            (AttributeType::StringList { .. }, Literal::Text(_)) => continue,
            _ if !is_list(attribute) => {
                let hint = format!("write `{} in (…)`", attribute.name());
                return Err(wrong().help(hint).into());
            }
            _ => wrong(),
        };
        return Err(Refused::constant(error, position));
    }
    Ok(())
}
