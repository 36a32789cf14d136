//! What a shape is, and what is drawn from it.

use super::Fault;
use crate::{Decimal, Timestamp};

/// At least and at most.
pub type Between = (u32, u32);

/// The shape of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Its name, which is unique among named and swept shapes.
    pub name: String,
    /// BeginString (8).
    pub begin_string: &'static str,
    /// MsgType (35).
    pub msg_type: &'static str,
    /// Whether messages have sender, target, number and time.
    pub has_header: bool,
    /// What follows.
    pub items: Vec<Item>,
    /// What may be wrong with a message; one of these is drawn.
    pub faults: Vec<Fault>,
    /// How many messages of a thousand have a fault.
    pub faulty: u32,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A field.
    Field(Tag, Value),
    /// A data field with the tags of its length and of itself, and how many bytes it has, some of them the byte 1.
    Data(u32, u32, Between),
    /// A repeating group: the tag of the count, how many entries, and what each entry has.
    Group(u32, Between, Vec<Item>),
    /// The same several times.
    Times(Between, Vec<Item>),
}

/// A tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// This one.
    Is(u32),
    /// Any with this many digits, from one to nine.
    Digits(u32),
    /// This one, or the next that the message does not have yet.
    From(u32),
}

/// The values of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Text with this many bytes.
    Text(u32, u32),
    /// A number with this many digits.
    Number(u32, u32),
    /// A decimal number with two digits after the point.
    Price,
    /// A time with milliseconds.
    Time,
    /// This text.
    Is(&'static str),
}

/// A message of a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The fields after MsgType (35), before any fault. Fields of the header come first, in their order.
    pub fields: Vec<Written>,
    /// The message, with its fault.
    pub bytes: Vec<u8>,
    /// What is wrong with it.
    pub fault: Option<Fault>,
}

/// A field to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The tag of the length, if this is a data field. The length is no field of its own here.
    pub length_tag: Option<u32>,
    /// Its tag.
    pub tag: u32,
    /// What it states.
    pub content: Content,
}

/// What a field states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text, or data.
    Bytes(Vec<u8>),
    /// An unsigned integer.
    Number(u64),
    /// A decimal number.
    Decimal(Decimal),
    /// A time with milliseconds.
    Time(Timestamp),
}
