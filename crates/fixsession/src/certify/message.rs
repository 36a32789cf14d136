//! Writes the messages of scenarios, right or wrong as their fields say.

use std::collections::BTreeMap;

use fixcore::Timestamp;
use fixcore::dict::Version;
use fixcore::frame::{SOH, checksum};

use super::counterparty::Counterparty;
use super::scenario::{Kind, Part, Pattern, Rule, Value, What};
use super::versions::{appl_ver_id, begin_string};

/// Fields that belong to the header, other than those that every message has.
const HEADER: [&str; 17] = [
    "43", "50", "57", "97", "115", "116", "122", "128", "129", "142", "143", "144", "145", "369",
    "1128", "1129", "1156",
];
/// Fields whose number is one of the receiver's messages.
const OF_RECEIVER: [&str; 5] = ["7", "16", "45", "369", "789"];
/// `20260102-03:04:05`: before FIX 4.2, times have no milliseconds.
const SECONDS_BYTES: usize = 17;

/// The numbers of both sides.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    /// The next one that this side sends, and that it expects.
    pub(super) out: u64,
    pub(super) expected: u64,
    /// What was exchanged before the scenario.
    pub(super) base_out: u64,
    pub(super) base_in: u64,
}

impl Numbers {
    pub(super) fn new() -> Self {
        Self {
            out: 1,
            expected: 1,
            base_out: 0,
            base_in: 0,
        }
    }

    /// A number of this side that the scenario states.
    pub(super) fn ours(&self, number: i64) -> u64 {
        self.base_out.saturating_add_signed(number)
    }

    /// A number of the engine.
    pub(super) fn theirs(&self, number: i64) -> u64 {
        self.base_in.saturating_add_signed(number)
    }
}

/// What values depend on.
pub(super) struct Context<'c> {
    pub(super) version: Version,
    pub(super) engine: &'c Counterparty,
    pub(super) numbers: Numbers,
    pub(super) kept: &'c BTreeMap<String, Vec<u8>>,
    pub(super) utc: Timestamp,
    /// Whether this side sends the message.
    pub(super) is_sent: bool,
}

/// A field before length and sum are known.
enum Field {
    Value(Vec<u8>),
    Length(i64),
    Sum(u8),
}

impl Context<'_> {
    /// A value as text. `{len}` and `{sum}` are only for whole fields of messages that are sent.
    pub(super) fn resolve(&self, tag: &str, value: &Value) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in &value.0 {
            match part {
                Part::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Part::Number(number) => {
                    let is_ours = self.is_sent != OF_RECEIVER.contains(&tag);
                    let number = match is_ours {
                        true => self.numbers.ours(*number),
                        false => self.numbers.theirs(*number),
                    };
                    bytes.extend_from_slice(number.to_string().as_bytes());
                }
                Part::Ours(number) => {
                    let number = self.numbers.ours(*number);
                    bytes.extend_from_slice(number.to_string().as_bytes());
                }
                Part::Theirs(number) => {
                    let number = self.numbers.theirs(*number);
                    bytes.extend_from_slice(number.to_string().as_bytes());
                }
                Part::Now(seconds) => bytes.extend_from_slice(&self.time(*seconds)),
                Part::BeginString => {
                    bytes.extend_from_slice(begin_string(self.version).as_bytes());
                }
                Part::Us => bytes.extend_from_slice(self.engine.sender.as_bytes()),
                Part::Them => bytes.extend_from_slice(self.engine.target.as_bytes()),
                Part::ApplVerId => {
                    let version = appl_ver_id(self.version).unwrap_or_default();
                    bytes.extend_from_slice(version.as_bytes());
                }
                Part::Open => bytes.extend_from_slice(match self.version {
                    Version::Fix40 | Version::Fix41 => b"999999",
                    _ => b"0",
                }),
                Part::Repeat(letter, count) => {
                    let text = letter.to_string().repeat(*count);
                    bytes.extend_from_slice(text.as_bytes());
                }
                Part::Length(_) | Part::Sum(_) => {}
            }
        }
        bytes
    }

    /// The time in `seconds` from now, as the version writes it.
    fn time(&self, seconds: i64) -> Vec<u8> {
        let ns = seconds.saturating_mul(1_000_000_000);
        let millis = Timestamp(self.utc.0.saturating_add(ns)).to_millis();
        let bytes = match self.version {
            Version::Fix40 | Version::Fix41 => millis.get(..SECONDS_BYTES),
            _ => None,
        };
        bytes.unwrap_or(&millis).to_vec()
    }

    fn field(&self, tag: &str, what: &What) -> Option<Field> {
        let value = match what {
            What::Is(value) | What::Append(value) | What::Text(value) => value,
            What::Kept(name) => return self.kept.get(name).cloned().map(Field::Value),
            What::OneOf(values) => values.first()?,
            What::Present | What::Absent | What::Keep(_) | What::KeepIfThere(_) => return None,
        };
        Some(match value.0.as_slice() {
            [Part::Length(offset)] => Field::Length(*offset),
            [Part::Sum(offset)] => Field::Sum(*offset),
            _ => Field::Value(self.resolve(tag, value)),
        })
    }

    /// A message with its header: the bytes, and the number that it has, if it is a number.
    pub(super) fn message(&self, pattern: &Pattern) -> (Vec<u8>, Option<u64>) {
        let Kind::Type(msg_type) = &pattern.kind else {
            return (Vec::new(), None);
        };
        let rule = |tag: &str| pattern.fields.iter().find(|rule| rule.tag == tag);
        let mut fields: Vec<(&str, Field)> = Vec::new();
        let mut standard = |tag, field| match rule(tag) {
            Some(Rule { what, .. }) => {
                fields.extend(self.field(tag, what).map(|field| (tag, field)));
            }
            None => fields.push((tag, field)),
        };
        let text = |text: &str| Field::Value(text.as_bytes().to_vec());
        standard("8", text(begin_string(self.version)));
        standard("9", Field::Length(0));
        standard("35", text(msg_type));
        standard("34", text(&self.numbers.out.to_string()));
        standard("49", text(&self.engine.sender));
        standard("52", Field::Value(self.time(0)));
        standard("56", text(&self.engine.target));
        let is_standard = |tag: &str| ["8", "9", "10", "34", "35", "49", "52", "56"].contains(&tag);
        let own = || pattern.fields.iter().filter(|rule| !is_standard(&rule.tag));
        let is_appended = |rule: &&Rule| matches!(rule.what, What::Append(_));
        let is_header = |rule: &&Rule| HEADER.contains(&&*rule.tag) && !is_appended(rule);
        let is_body = |rule: &&Rule| !HEADER.contains(&&*rule.tag) && !is_appended(rule);
        for rule in own().filter(is_header).chain(own().filter(is_body)) {
            fields.extend(
                self.field(&rule.tag, &rule.what)
                    .map(|field| (&*rule.tag, field)),
            );
        }
        if msg_type == "A"
            && rule("1137").is_none()
            && let Some(version) = appl_ver_id(self.version)
        {
            fields.push(("1137", text(version)));
        }
        // Those may be of any tag.
        for rule in pattern.fields.iter().filter(is_appended) {
            fields.extend(
                self.field(&rule.tag, &rule.what)
                    .map(|field| (&*rule.tag, field)),
            );
        }
        let sum = rule("10").and_then(|rule| self.field("10", &rule.what));
        fields.push(("10", sum.unwrap_or(Field::Sum(0))));
        let number = fields.iter().find(|field| field.0 == "34");
        let number = number.and_then(|(_, field)| match field {
            Field::Value(value) => std::str::from_utf8(value).ok()?.parse().ok(),
            _ => None,
        });
        (written(&fields), number)
    }

    /// Fields as they are.
    pub(super) fn raw(&self, rules: &[Rule]) -> (Vec<u8>, Option<u64>) {
        let field = |rule: &'_ Rule| self.field(&rule.tag, &rule.what);
        let fields: Vec<(&str, Field)> = rules
            .iter()
            .filter_map(|rule| Some((&*rule.tag, field(rule)?)))
            .collect();
        let number = rules.iter().find(|rule| rule.tag == "34");
        let number = number.and_then(|rule| match field(rule)? {
            Field::Value(value) => std::str::from_utf8(&value).ok()?.parse().ok(),
            _ => None,
        });
        (written(&fields), number)
    }
}

/// The bytes of a message: BodyLength counts what is between it and CheckSum.
fn written(fields: &[(&str, Field)]) -> Vec<u8> {
    let field_bytes = |tag: &str, field: &Field| match field {
        Field::Value(value) => tag.len() + 1 + value.len() + 1,
        Field::Length(_) | Field::Sum(_) => 0,
    };
    let is_length = |field: &Field| matches!(field, Field::Length(_));
    let start = fields.iter().position(|(_, field)| is_length(field));
    let body = fields.get(start.map_or(0, |at| at + 1)..).unwrap_or(&[]);
    let length: usize = body
        .iter()
        .map(|(tag, field)| field_bytes(tag, field))
        .sum();
    let mut bytes = Vec::new();
    for (tag, field) in fields {
        let value = match field {
            Field::Value(value) => value.clone(),
            Field::Length(offset) => {
                let length = (length as u64).saturating_add_signed(*offset);
                length.to_string().into_bytes()
            }
            Field::Sum(offset) => {
                let sum = checksum(&bytes).wrapping_add(*offset);
                format!("{sum:03}").into_bytes()
            }
        };
        bytes.extend_from_slice(tag.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(&value);
        bytes.push(SOH);
    }
    bytes
}
