//! What an expression makes of an event: the rules of the language, one by one, over the tests' own
//! expressions and events. Nothing of the crate is used.

use super::ast::{Ast, Constant, Part, Quantity, Sign, Test};
use super::event::{Event, Value};
use super::world::{CAP_KINDS, Ids, World};

/// A subscription's expression with its constants.
#[derive(Debug, Clone)]
pub(crate) struct Subscription {
    pub(crate) ast: Ast,
    pub(crate) ids: Ids,
}

/// What tests are asked about.
struct Asked<'a> {
    world: &'a World,
    event: &'a Event,
    ids: &'a Ids,
}

/// Whether a subscription matches an event.
pub(crate) fn matches(world: &World, subscription: &Subscription, event: &Event) -> bool {
    let asked = Asked {
        world,
        event,
        ids: &subscription.ids,
    };
    match world.three_valued {
        true => asked.three_valued(&subscription.ast) == Some(true),
        false => asked.two_valued(&subscription.ast),
    }
}

impl Asked<'_> {
    /// An undefined test is false.
    fn two_valued(&self, ast: &Ast) -> bool {
        match ast {
            Ast::And(parts) => parts.iter().all(|part| self.two_valued(part)),
            Ast::Or(parts) => parts.iter().any(|part| self.two_valued(part)),
            Ast::Not(inner) => !self.two_valued(inner),
            Ast::Constant(value) => *value,
            Ast::Test(test) => self.test(test).unwrap_or(false),
        }
    }

    /// An undefined test is unknown.
    fn three_valued(&self, ast: &Ast) -> Option<bool> {
        let decides = |parts: &[Ast], decisive: bool| {
            let found: Vec<Option<bool>> = parts.iter().map(|p| self.three_valued(p)).collect();
            if found.contains(&Some(decisive)) {
                Some(decisive)
            } else if found.contains(&None) {
                None
            } else {
                Some(!decisive)
            }
        };
        match ast {
            Ast::And(parts) => decides(parts, false),
            Ast::Or(parts) => decides(parts, true),
            Ast::Not(inner) => self.three_valued(inner).map(|value| !value),
            Ast::Constant(value) => Some(*value),
            Ast::Test(test) => self.test(test),
        }
    }

    fn value(&self, attribute: usize) -> Option<&Value> {
        self.event.values[attribute].as_ref()
    }

    /// `None`: it is about something undefined.
    fn test(&self, test: &Test) -> Option<bool> {
        Some(match test {
            Test::Boolean(attribute) => matches!(self.value(*attribute)?, Value::Boolean(true)),
            Test::Compare(attribute, sign, constant) => {
                compare(self.value(*attribute)?, *sign, constant)
            }
            Test::In(attribute, negated, constants) => {
                let value = self.value(*attribute)?;
                let is_one = |constant| compare(value, Sign::Equal, constant);
                constants.iter().any(is_one) != *negated
            }
            Test::Has(attribute, negated, constant) => {
                has(self.value(*attribute)?, constant) != *negated
            }
            Test::Of(attribute, quantity, constants) => {
                let value = self.value(*attribute)?;
                match quantity {
                    Quantity::One => constants.iter().any(|constant| has(value, constant)),
                    Quantity::None => !constants.iter().any(|constant| has(value, constant)),
                    Quantity::All => constants.iter().all(|constant| has(value, constant)),
                }
            }
            Test::Null(attribute, negated) => self.value(*attribute).is_none() != *negated,
            Test::Empty(attribute) => match self.value(*attribute)? {
                Value::Integers(list) => list.is_empty(),
                Value::Texts(list) => list.is_empty(),
                Value::Segments(list) => list.is_empty(),
                Value::Caps(list) => list.is_empty(),
                _ => panic!("no list"),
            },
            Test::Text(attribute, part, pattern) => {
                let Value::Text(text) = self.value(*attribute)? else {
                    panic!("no text");
                };
                contains(text.as_bytes(), *part, pattern.as_bytes())
            }
            Test::Geo {
                latitude,
                longitude,
                radius_km,
            } => {
                let place = (self.degrees("latitude")?, self.degrees("longitude")?);
                let centre = (*latitude, *longitude);
                // The same place is no distance away, whatever is rounded.
                let distance = match place == centre {
                    true => 0.0,
                    false => distance_km(place, centre),
                };
                distance <= *radius_km
            }
            Test::Segment {
                attribute,
                within,
                id,
                seconds,
            } => {
                let Value::Segments(entries) = self.value(*attribute)? else {
                    panic!("no segments");
                };
                let now = i128::from(self.event.now?);
                let entry = entries.iter().find(|entry| entry.0 == *id);
                entry.is_some_and(|(_, stamp)| {
                    let since = now - i128::from(*seconds);
                    (i128::from(stamp.div_euclid(1_000_000)) >= since) == *within
                })
            }
            Test::Cap {
                kind,
                namespace,
                value,
                length,
            } => self.cap(kind, namespace, *value, *length)?,
        })
    }

    fn degrees(&self, name: &str) -> Option<f64> {
        match self.value(self.world.position(name)?)? {
            Value::Float(value) => Some(*value),
            _ => panic!("no float"),
        }
    }

    fn cap(&self, kind: &str, namespace: &str, value: i64, length: i64) -> Option<bool> {
        let Value::Caps(counters) = self.value(self.world.position("frequency_caps")?)? else {
            panic!("no counters");
        };
        let now = i128::from(self.event.now?);
        let plain = kind.trim_end_matches(":ip");
        let at = CAP_KINDS.iter().position(|found| *found == plain);
        let id = at.and_then(|at| self.ids[at]);
        let counter = counters.iter().find(|counter| {
            counter.kind == plain
                && counter.by_address == (plain != kind)
                && Some(counter.id) == id
                && counter.namespace == namespace
        });
        let Some(counter) = counter else {
            return Some(true);
        };
        let age = now - i128::from(counter.stamp.div_euclid(1_000_000));
        let expired = length > 0 && age > i128::from(length);
        Some(expired || counter.count < value)
    }
}

fn compare(value: &Value, sign: Sign, constant: &Constant) -> bool {
    let order = match (value, constant) {
        (Value::Integer(value), Constant::Integer(constant)) => Some(value.cmp(constant)),
        (Value::Float(value), Constant::Float(constant)) => value.partial_cmp(constant),
        (Value::Float(value), Constant::Integer(constant)) => {
            value.partial_cmp(&(*constant as f64))
        }
        (Value::Text(value), Constant::Text(constant)) => Some(value.cmp(constant)),
        _ => panic!("{value:?} does not compare with {constant:?}"),
    };
    order.is_some_and(|order| match sign {
        Sign::Less => order.is_lt(),
        Sign::LessEqual => order.is_le(),
        Sign::Equal => order.is_eq(),
        Sign::Unequal => order.is_ne(),
        Sign::GreaterEqual => order.is_ge(),
        Sign::Greater => order.is_gt(),
    })
}

fn has(list: &Value, constant: &Constant) -> bool {
    match (list, constant) {
        (Value::Integers(list), Constant::Integer(constant)) => list.contains(constant),
        (Value::Texts(list), Constant::Text(constant)) => list.contains(constant),
        _ => panic!("{list:?} cannot have {constant:?}"),
    }
}

/// Byte by byte.
fn contains(text: &[u8], part: Part, pattern: &[u8]) -> bool {
    let Some(last) = text.len().checked_sub(pattern.len()) else {
        return false;
    };
    let at = |start: usize| &text[start..start + pattern.len()] == pattern;
    match part {
        Part::Start => at(0),
        Part::End => at(last),
        Part::Anywhere => (0..=last).any(at),
    }
}

/// The way over the ground between two places: the angle between their directions from the centre
/// of the earth, times its radius.
pub(crate) fn distance_km(a: (f64, f64), b: (f64, f64)) -> f64 {
    const EARTH_KM: f64 = 6372.8;
    let direction = |(latitude, longitude): (f64, f64)| {
        let (latitude, longitude) = (latitude.to_radians(), longitude.to_radians());
        let across = latitude.cos();
        [
            across * longitude.cos(),
            across * longitude.sin(),
            latitude.sin(),
        ]
    };
    let (a, b) = (direction(a), direction(b));
    let cross = [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ];
    let dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = cross.iter().map(|part| part * part).sum::<f64>().sqrt();
    EARTH_KM * length.atan2(dot)
}
