//! Random events over a world, and their JSON in one of the many ways in which it can be written.

use std::fmt::Write as _;
use std::sync::Arc;

use super::Random;
use super::values;
use super::world::{Attribute, CAP_KINDS, Kind, World};

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Boolean(bool),
    Integer(i64),
    Float(f64),
    Text(Arc<str>),
    Integers(Vec<i64>),
    Texts(Vec<Arc<str>>),
    /// Ids with the moments, in microseconds, at which they were entered.
    Segments(Vec<(i64, i64)>),
    Caps(Vec<Counter>),
}

#[derive(Debug, Clone)]
pub(crate) struct Counter {
    pub(crate) kind: &'static str,
    pub(crate) by_address: bool,
    pub(crate) id: i64,
    pub(crate) namespace: &'static str,
    pub(crate) count: i64,
    /// In microseconds.
    pub(crate) stamp: i64,
}

/// An event: for each attribute of the world what it is, if it is defined.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) values: Vec<Option<Value>>,
    /// The moment of the event in seconds.
    pub(crate) now: Option<i64>,
}

pub(crate) fn event(world: &World, random: &mut Random) -> Event {
    let mut event = Event {
        values: Vec::new(),
        now: None,
    };
    let place = random.pick(&values::PLACES);
    for attribute in &world.attributes {
        let defined = attribute.required || random.chance(80);
        let value = match attribute.name.as_str() {
            "latitude" => Value::Float(place.0),
            "longitude" => Value::Float(place.1),
            "now" => Value::Integer(random.pick(&world.seconds)),
            _ => value(world, random, attribute),
        };
        if let ("now", Value::Integer(now), true) = (&*attribute.name, &value, defined) {
            event.now = Some(*now);
        }
        event.values.push(defined.then_some(value));
    }
    if world.position("now").is_none() && random.chance(80) {
        event.now = Some(random.pick(&world.seconds));
    }
    event
}

fn value(world: &World, random: &mut Random, attribute: &Attribute) -> Value {
    // Lists of none, of one, of a few with some twice, of many.
    let count = random.pick(&[0, 1, 1, 2, 3, 3, 130, 700]);
    match attribute.kind {
        Kind::Boolean => Value::Boolean(random.chance(50)),
        Kind::Integer(..) | Kind::Enum => Value::Integer(attribute.integer(random, false)),
        Kind::Float(..) => Value::Float(attribute.float(random, false)),
        Kind::Text => Value::Text(attribute.text(random)),
        Kind::Integers(..) => Value::Integers(
            (0..count)
                .map(|_| attribute.integer(random, false))
                .collect(),
        ),
        Kind::Texts => Value::Texts((0..count).map(|_| attribute.text(random)).collect()),
        Kind::Segments => {
            let entry = |random: &mut Random| (random.pick(&world.keys), stamp(world, random));
            Value::Segments((0..count.min(5)).map(|_| entry(random)).collect())
        }
        Kind::Caps => Value::Caps((0..count.min(5)).map(|_| counter(world, random)).collect()),
    }
}

/// A moment, often one of the world's own.
fn stamp(world: &World, random: &mut Random) -> i64 {
    if random.chance(50) {
        return random.pick(&world.microseconds);
    }
    let second = random.pick(&world.seconds);
    second.checked_mul(1_000_000).unwrap_or(second)
}

fn counter(world: &World, random: &mut Random) -> Counter {
    let at = random.below(5) as usize;
    let own = random.pick(&world.ids)[at];
    let id = own.filter(|_| random.chance(80));
    Counter {
        kind: CAP_KINDS[at],
        by_address: random.chance(50),
        id: id.unwrap_or_else(|| random.pick(&world.keys)),
        namespace: random.pick(&["", "ns", "é", "nobody's"]),
        count: random.pick(&[i64::MIN, -1, 0, 1, 2, i64::MAX - 1, i64::MAX]),
        stamp: stamp(world, random),
    }
}

/// The JSON of an event, and whether it names what the domain lacks.
pub(crate) fn json(event: &Event, world: &World, random: &mut Random) -> (String, bool) {
    let mut fields: Vec<String> = Vec::new();
    for (attribute, value) in world.attributes.iter().zip(&event.values) {
        let name = text(random, &attribute.name);
        match value {
            Some(value) => {
                let value = write_value(random, value);
                fields.push(format!("{name}{}{value}", colon(random)));
            }
            None if random.chance(50) => fields.push(format!("{name}:null")),
            None => {}
        }
    }
    if let (Some(now), None) = (event.now, world.position("now")) {
        fields.push(format!("\"now\":{now}"));
    }
    let foreign = random.chance(20);
    if foreign {
        let nested = random.pick(&[
            "\"x\":{\"b0\":[[],{\"\":null}],\"y\":-0.0e-7}",
            "\"é\\u0000\":\"\\ud83d\\ude00\"",
            "\"NOW\":[true,false,null,[1,2,[3]]]",
        ]);
        fields.push(nested.to_owned());
    }
    // In any order.
    for at in (1..fields.len()).rev() {
        fields.swap(at, random.below(at as u64 + 1) as usize);
    }
    let comma = random.pick(&[",", " ,\t", ",\r\n  "]);
    (format!("{{{}}}", fields.join(comma)), foreign)
}

fn colon(random: &mut Random) -> &'static str {
    random.pick(&[":", ": ", "\t:\n"])
}

fn write_value(random: &mut Random, value: &Value) -> String {
    match value {
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => float(random, *value),
        Value::Text(value) => text(random, value),
        Value::Integers(values) => list(values.iter().map(i64::to_string)),
        Value::Texts(values) => list(values.iter().map(|value| text(random, value))),
        Value::Segments(entries) => {
            list(entries.iter().map(|(id, stamp)| format!("[{id}, {stamp}]")))
        }
        Value::Caps(counters) => list(counters.iter().map(|counter| {
            let kind = match counter.by_address {
                true => format!("{}:ip", counter.kind),
                false => counter.kind.to_owned(),
            };
            let (id, name) = (counter.id, text(random, counter.namespace));
            let (count, stamp) = (counter.count, counter.stamp);
            match random.chance(50) {
                true => format!("[\"{kind}\",{id},{name},{count},{stamp}]"),
                false => format!("[[\"{kind}\", {id}, {name}], {count}, {stamp}]"),
            }
        })),
    }
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

/// The digits of a float, which are read as the same one.
fn float(random: &mut Random, value: f64) -> String {
    let whole = value as i64;
    let is_whole =
        whole as f64 == value && whole != i64::MAX && !(whole == 0 && value.is_sign_negative());
    match random.below(4) {
        0 if is_whole => whole.to_string(),
        // An integer that is too wide for one is as good for a float.
        0 if value.abs() >= 1e19 => format!("{value:.0}"),
        1 => format!("{value:e}"),
        2 if value.abs() < 1e20 => format!("{value:.340}"),
        2 => format!("{value:.1}"),
        _ => format!("{value:?}"),
    }
}

/// A text in quotes; what needs no escape is escaped by chance, as long as it is short.
fn text(random: &mut Random, text: &str) -> String {
    let mut out = String::from("\"");
    let escape_all = text.len() < 100 && random.chance(10);
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' if random.chance(50) => out.push_str("\\n"),
            '/' if random.chance(50) => out.push_str("\\/"),
            _ if escape_all || (letter as u32) < 0x20 => {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            _ => out.push(letter),
        }
    }
    out.push('"');
    out
}
