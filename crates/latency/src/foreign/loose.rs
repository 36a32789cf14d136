//! Values of which only some kinds are wanted, at no more memory than their text has.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A number, or something else that does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct MaybeNumber(pub(super) Option<f64>);

impl MaybeNumber {
    /// A whole number of at least 1.
    pub(super) fn whole(self) -> Option<u32> {
        let number = self
            .0
            .filter(|number| (1.0..=f64::from(u32::MAX)).contains(number));
        number.map(|number| number as u32)
    }
}

/// A text of at most a line's length, or something else that does not matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MaybeText(pub(super) Option<String>);

/// Characters of a text that are kept.
const TEXT_CHARS: usize = 200;

impl<'de> Deserialize<'de> for MaybeText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Loose::deserialize(deserializer)? {
            Loose::Text(text) if !text.is_empty() => {
                Self(Some(text.chars().take(TEXT_CHARS).collect()))
            }
            _ => Self(None),
        })
    }
}

/// A value of a metric.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Loose {
    Number(f64),
    Text(String),
    /// The numbers of an object.
    Numbers(BTreeMap<String, f64>),
    /// Anything else.
    Other,
}

struct NumberVisitor;
struct LooseVisitor;

impl<'de> Deserialize<'de> for MaybeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

impl<'de> Visitor<'de> for NumberVisitor {
    type Value = MaybeNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_f64<E>(self, value: f64) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(Some(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(Some(value as f64)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(Some(value as f64)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(None))
    }

    fn visit_str<E>(self, _: &str) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(None))
    }

    fn visit_unit<E>(self) -> Result<MaybeNumber, E> {
        Ok(MaybeNumber(None))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<MaybeNumber, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(MaybeNumber(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<MaybeNumber, A::Error> {
        while fields.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(MaybeNumber(None))
    }
}

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Loose, E> {
        Ok(Loose::Number(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Loose, E> {
        Ok(Loose::Number(value as f64))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Loose, E> {
        Ok(Loose::Number(value as f64))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Loose, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Loose, A::Error> {
        let mut numbers = BTreeMap::new();
        while let Some((key, MaybeNumber(value))) = fields.next_entry::<String, MaybeNumber>()? {
            if let Some(value) = value {
                numbers.insert(key, value);
            }
        }
        Ok(Loose::Numbers(numbers))
    }
}
