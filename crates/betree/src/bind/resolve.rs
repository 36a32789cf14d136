//! Checks one test against the domain: attributes by name, constants by type and bounds.

use crate::constants::Constants;
use crate::domain::{Attribute, AttributeType, Domain};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::expr::{CapKind, Expression, Literal, Position, Quantity, Relation, Test};

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
                ));
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
                for value in values {
                    float(attribute, value, min, max)?;
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
                return Err(Error::new(ErrorKind::Undefined, message));
            }
            Resolved::Null(id, *negated)
        }
        Test::Empty(name) => match find(name)? {
            (id, attribute) if is_list(attribute) => Resolved::Empty(id),
            (_, attribute) => {
                return Err(clash(
                    attribute,
                    "is not a list, so `is empty` does not apply",
                ));
            }
        },
        Test::Text(name, position, pattern) => match find(name)? {
            (id, attribute) if matches!(attribute.kind(), AttributeType::String { .. }) => {
                Resolved::Text(id, *position, pattern)
            }
            (_, attribute) => return Err(clash(attribute, "is not a string")),
        },
        _ => special(domain, constants, test)?,
    })
}

fn special<'e>(domain: &Domain, constants: &Constants, test: &'e Test<'e>) -> Result<Resolved<'e>> {
    // An attribute that the language implies, not named in the expression.
    let implied = |name: &str, fits: fn(&AttributeType) -> bool| {
        let (id, attribute) = find(domain, name)?;
        match fits(&attribute.kind()) {
            true => Ok(id),
            false => Err(clash(attribute, "has the wrong type for this function")),
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
        _ => Err(Error::new(ErrorKind::Type, "not a function")),
    }
}

fn find<'d>(domain: &'d Domain, name: &str) -> Result<(u16, &'d Attribute)> {
    match domain.attribute(name) {
        Some(id) => Ok((id.0, &domain[id])),
        None => Err(Error::new(
            ErrorKind::UnknownAttribute,
            format!("unknown attribute {}", quoted(name)),
        )),
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

fn outside(attribute: &Attribute) -> Error {
    let message = format!(
        "a value is outside the bounds of attribute {}",
        quoted(attribute.name())
    );
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
                return Err(outside(attribute));
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
            let value = float(attribute, value, min, max)?;
            Ok(Resolved::Float(id, relation, value))
        }
        _ => Err(clash(attribute, "cannot be compared with this constant")),
    }
}

fn float(attribute: &Attribute, value: &Literal<'_>, min: f64, max: f64) -> Result<f64> {
    let value = match value {
        Literal::Integer(value) => *value as f64,
        Literal::Float(value) => *value,
        Literal::Text(_) => return Err(clash(attribute, "cannot be compared with a text")),
    };
    match (min..=max).contains(&value) {
        true => Ok(value),
        false => Err(outside(attribute)),
    }
}

fn equal<'e>(
    id: u16,
    attribute: &Attribute,
    negated: bool,
    value: &'e Literal<'e>,
) -> Result<Resolved<'e>> {
    if let AttributeType::Float { min, max } = attribute.kind() {
        let value = float(attribute, value, min, max)?;
        return Ok(Resolved::FloatEqual(id, negated, value));
    }
    let values = std::slice::from_ref(value);
    check_scalar(attribute, values)?;
    Ok(Resolved::In(id, negated, values))
}

/// Checks that a scalar can have each of these values.
fn check_scalar(attribute: &Attribute, values: &[Literal<'_>]) -> Result<()> {
    for value in values {
        match (attribute.kind(), value) {
            (AttributeType::Integer { min, max }, Literal::Integer(value)) => {
                if !(min..=max).contains(value) {
                    return Err(outside(attribute));
                }
            }
            (AttributeType::IntegerEnum { .. }, Literal::Integer(_)) => {}
            (AttributeType::String { .. }, Literal::Text(_)) => {}
            _ => return Err(clash(attribute, "has another type than these constants")),
        }
    }
    Ok(())
}

/// Checks that a list can have each of these elements.
fn check_list(attribute: &Attribute, values: &[Literal<'_>]) -> Result<()> {
    for value in values {
        match (attribute.kind(), value) {
            (AttributeType::IntegerList { min, max }, Literal::Integer(value)) => {
                if !(min..=max).contains(value) {
                    return Err(outside(attribute));
                }
            }
            (AttributeType::StringList { .. }, Literal::Text(_)) => {}
            _ => return Err(clash(attribute, "is not a list of such constants")),
        }
    }
    Ok(())
}
