//! An expression as a tree of tests, and whether it holds.

use std::cmp::Ordering;

use fixcore::{Message, Timestamp};

use super::Moment;
use super::number::Number;
use super::tokens::Relation;

/// A value that fields are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) text: Vec<u8>,
    pub(super) kind: Kind,
}

/// What a value is, by the field that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes: a quoted value is always that.
    Bytes,
    /// A number of any length.
    Number,
    /// A time, or a time of each day.
    Time(Moment),
}

/// What is asked of the values of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Test {
    Is(Relation, Constant),
    In(Vec<Constant>),
    Contains(Vec<u8>),
    StartsWith(Vec<u8>),
    EndsWith(Vec<u8>),
    Present,
}

/// Not deeper than the parser allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Test(u32, Test),
}

impl Constant {
    /// How a value compares with this one; `None` if it is not of its kind.
    fn compare(&self, value: &[u8]) -> Option<Ordering> {
        match self.kind {
            Kind::Bytes => Some(value.cmp(&self.text)),
            Kind::Number => Some(Number::parse(value)?.compare(&Number::parse(&self.text)?)),
            Kind::Time(moment) => Some(moment.compare(Timestamp::parse(value)?).reverse()),
        }
    }

    fn equals(&self, value: &[u8]) -> bool {
        value == self.text
            || (self.kind != Kind::Bytes && self.compare(value) == Some(Ordering::Equal))
    }
}

impl Test {
    /// Whether it holds for a value. `<>` is not asked here.
    fn holds(&self, value: &[u8]) -> bool {
        match self {
            Self::Is(Relation::Equal | Relation::Unequal, wanted) => wanted.equals(value),
            Self::Is(relation, wanted) => {
                wanted.compare(value).is_some_and(|order| match relation {
                    Relation::Less => order.is_lt(),
                    Relation::LessOrEqual => order.is_le(),
                    Relation::Greater => order.is_gt(),
                    _ => order.is_ge(),
                })
            }
            Self::In(wanted) => wanted.iter().any(|wanted| wanted.equals(value)),
            Self::Contains(text) => memchr::memmem::find(value, text).is_some(),
            Self::StartsWith(text) => value.starts_with(text),
            Self::EndsWith(text) => value.ends_with(text),
            Self::Present => true,
        }
    }
}

impl Node {
    pub(super) fn holds(&self, message: &Message<'_, '_>) -> bool {
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.holds(message)),
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(message)),
            Self::Not(node) => !node.holds(message),
            Self::Test(tag, test @ Test::Is(Relation::Unequal, _)) => {
                let mut values = values(message, *tag).peekable();
                values.peek().is_some() && !values.any(|value| test.holds(value))
            }
            Self::Test(tag, test) => values(message, *tag).any(|value| test.holds(value)),
        }
    }
}

/// The values of all fields with a tag.
fn values<'m>(message: &Message<'_, 'm>, tag: u32) -> impl Iterator<Item = &'m [u8]> {
    let places = message.tags().iter().enumerate();
    places
        .filter(move |(_, other)| **other == tag)
        .filter_map(|(at, _)| message.field(at))
        .map(|field| field.value)
}
