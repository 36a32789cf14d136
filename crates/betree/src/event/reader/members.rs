//! Members and elements in their usual form, read at once rather than token by token.
//!
//! Whatever is unusual is left to the tokens: escapes, long strings, white space other than one blank, exponents,
//! values that an attribute does not take, and every error. So each rule and each message has one place. Both ways
//! count the same reductions, and end between the same tokens.

use super::entries::second_of;
use super::{EventReader, State, TEXT_BYTES_PER_REDUCTION, Target};
use crate::dictionary::UNKNOWN;
use crate::domain::{Attribute, AttributeType};
use crate::event::json::{Number, PLAIN_BYTES_MAX, integer, number, plain_text};
use crate::expr::CapKind;
use crate::text::is_same;

/// A value and where it ends, or the start of a list.
struct Read {
    end: usize,
    reductions: u64,
    is_list: bool,
}

impl EventReader<'_> {
    /// Reads one member or one element in its usual form. Returns false when it has another, and then nothing was
    /// read.
    #[inline]
    pub(super) fn usual(&mut self, limit: u64) -> bool {
        match self.state {
            State::Start => self.start(),
            State::End => self.end(),
            State::Name { name: true, .. } => self.members(limit),
            State::Element { .. } => self.elements(limit),
            _ => false,
        }
    }

    fn start(&mut self) -> bool {
        let found = self.lexer.json().first() == Some(&b'{');
        if found {
            self.state = State::Name {
                end: true,
                name: true,
            };
            self.reductions += 1;
            self.lexer.move_to(1);
        }
        found
    }

    fn end(&mut self) -> bool {
        let found = self.lexer.at() == self.lexer.json().len();
        if found {
            self.state = State::Done;
            self.reductions += 1;
        }
        found
    }

    fn members(&mut self, limit: u64) -> bool {
        let mut any = false;
        while self.reductions < limit && self.member().is_some() {
            any = true;
            if !matches!(self.state, State::Name { .. }) {
                break;
            }
        }
        any
    }

    /// Reads a member and the sign after it.
    fn member(&mut self) -> Option<()> {
        let json = self.lexer.json();
        let start = skip_blank(json, self.lexer.at());
        if json.get(start) != Some(&b'"') {
            return None;
        }
        let (attribute, name_end) = self.attribute_at(json, start + 1)?;
        let index = usize::from(attribute);
        if self.event.is_seen(index) || self.event_id.is_attribute(attribute) {
            return None;
        }
        if json.get(name_end + 1) != Some(&b':') {
            return None;
        }
        let name_bytes = name_end - start - 1;
        let at = skip_blank(json, name_end + 2);
        let read = self.scalar_at(json, at, attribute)?;
        self.event.see(index);
        self.event.order.note(attribute);
        // The name, the colon and the value.
        self.reductions += 2 + (name_bytes / TEXT_BYTES_PER_REDUCTION) as u64 + read.reductions;
        if read.is_list {
            self.target = Target::Attribute(attribute);
            self.state = State::Element { end: true };
            self.lexer.move_to(read.end);
            return Some(());
        }
        self.sign(json, read.end);
        Some(())
    }

    /// Takes the sign after a member, if it follows at once.
    fn sign(&mut self, json: &[u8], end: usize) {
        let (state, taken) = match json.get(end) {
            Some(b',') => {
                let next = State::Name {
                    end: false,
                    name: true,
                };
                (next, 1)
            }
            Some(b'}') => (State::End, 1),
            _ => (State::Next, 0),
        };
        self.state = state;
        self.reductions += taken as u64;
        self.lexer.move_to(end + taken);
    }

    /// The attribute whose name begins at a byte, and the byte of the quote after it.
    #[inline]
    fn attribute_at(&self, json: &[u8], start: usize) -> Option<(u16, usize)> {
        for expected in self.event.order.expected() {
            let Some(attribute) = self.domain.attributes().get(usize::from(expected)) else {
                continue;
            };
            let name = attribute.name().as_bytes();
            let end = start + name.len();
            let is_long = name.len() > PLAIN_BYTES_MAX;
            let is_it = |found| is_same(found, name);
            if !is_long && json.get(end) == Some(&b'"') && json.get(start..end).is_some_and(is_it) {
                return Some((expected, end));
            }
        }
        let (length, _) = plain_text(json.get(start..)?)?;
        let end = start + length;
        Some((self.domain.find(json.get(start..end)?)?.0, end))
    }

    /// Reads the value of an attribute at a byte, up to the bracket of a list.
    #[inline]
    fn scalar_at(&mut self, json: &[u8], at: usize, attribute: u16) -> Option<Read> {
        let index = usize::from(attribute);
        let rest = json.get(at..)?;
        let declared = self.domain.attributes().get(index)?;
        let mut read = Read {
            end: at,
            reductions: 1,
            is_list: false,
        };
        match declared.kind() {
            AttributeType::Boolean => {
                let value = rest.starts_with(b"true");
                if !value && !rest.starts_with(b"false") {
                    return None;
                }
                read.end += if value { 4 } else { 5 };
                self.event.set_scalar(index, u64::from(value));
            }
            AttributeType::Integer { .. } | AttributeType::IntegerEnum { .. } => {
                let (value, end) = integer(json, at)?;
                read.end = end;
                if declared.name() == "now" {
                    self.event.now = Some(value);
                }
                self.event.set_scalar(index, value as u64);
            }
            AttributeType::Float { .. } => {
                let (value, length) = number(rest)?;
                read.end += length;
                let value = match value {
                    Number::Integer(value) => value as f64,
                    Number::Float(value) => value,
                };
                self.event.set_scalar(index, value.to_bits());
            }
            AttributeType::String { .. } => {
                let (text, end) = text_at(json, at)?;
                if self.dictionary.wants_text(index) {
                    let text = std::str::from_utf8(text).ok()?;
                    self.event.set_text(index, text).then_some(())?;
                }
                let id = self.dictionary.find_string(text).unwrap_or(UNKNOWN);
                self.event.set_scalar(index, u64::from(id));
                read.end = end;
                read.reductions += (text.len() / TEXT_BYTES_PER_REDUCTION) as u64;
            }
            AttributeType::IntegerList { .. }
            | AttributeType::StringList { .. }
            | AttributeType::Segments
            | AttributeType::Frequency => {
                if rest.first() != Some(&b'[') {
                    return None;
                }
                self.event.open_list(index);
                read.end += 1;
                read.is_list = true;
            }
        }
        Some(read)
    }

    fn elements(&mut self, limit: u64) -> bool {
        let Target::Attribute(attribute) = self.target else {
            return false;
        };
        let declared = self.domain.attributes().get(usize::from(attribute));
        match declared.map(Attribute::kind) {
            Some(AttributeType::IntegerList { .. }) => {
                self.list(attribute, limit, |reader, json, at| {
                    let (value, end) = integer(json, at)?;
                    let found = reader.dictionary.find_element(attribute, value as u64);
                    Some((found, end, 1))
                })
            }
            Some(AttributeType::StringList { .. }) => {
                self.list(attribute, limit, |reader, json, at| {
                    let (text, end) = text_at(json, at)?;
                    let found = reader.dictionary.find_string(text);
                    let found = found
                        .and_then(|id| reader.dictionary.find_element(attribute, u64::from(id)));
                    Some((
                        found,
                        end,
                        1 + (text.len() / TEXT_BYTES_PER_REDUCTION) as u64,
                    ))
                })
            }
            Some(AttributeType::Segments) => self.list(attribute, limit, |reader, json, at| {
                let (id, stamp, end) = segment_at(json, at)?;
                if let Some(slot) = reader.dictionary.find_segment(attribute, id) {
                    reader.event.enter_segment(slot, second_of(stamp));
                }
                Some((None, end, 5))
            }),
            Some(AttributeType::Frequency) => self.list(attribute, limit, |reader, json, at| {
                let counter = counter_at(json, at)?;
                reader.keep(&counter)?;
                let texts = [counter.kind.len(), counter.namespace.len()];
                let texts = texts.map(|length| (length / TEXT_BYTES_PER_REDUCTION) as u64);
                Some((None, counter.end, 13 + texts.iter().sum::<u64>()))
            }),
            _ => false,
        }
    }

    /// Reads elements and the signs after them. `element` reads one at a byte: its number if an expression uses it, where
    /// it ends, and its reductions.
    #[inline]
    fn list(
        &mut self,
        attribute: u16,
        limit: u64,
        element: impl Fn(&mut Self, &[u8], usize) -> Option<(Option<u32>, usize, u64)>,
    ) -> bool {
        let json = self.lexer.json();
        let first = self.lexer.at();
        let mut at = first;
        let mut spent = self.reductions;
        while spent < limit {
            let Some((found, end, reductions)) = element(self, json, skip_blank(json, at)) else {
                break;
            };
            self.event.add_element(usize::from(attribute), found);
            spent += reductions;
            match json.get(end) {
                Some(b',') => {
                    spent += 1;
                    at = end + 1;
                }
                Some(b']') => {
                    self.reductions = spent + 1;
                    self.sign(json, end + 1);
                    return true;
                }
                _ => {
                    self.reductions = spent;
                    self.state = State::ElementNext;
                    self.lexer.move_to(end);
                    return true;
                }
            }
        }
        if at > first {
            self.reductions = spent;
            self.state = State::Element { end: false };
            self.lexer.move_to(at);
        }
        at > first
    }

    fn keep(&mut self, counter: &Counter<'_>) -> Option<()> {
        let (kind, by_address) = CapKind::parse(counter.kind)?;
        let namespace = self.dictionary.find_string(counter.namespace);
        let key = namespace.map(|name| (kind, by_address, counter.id, name));
        if let Some(slot) = key.and_then(|key| self.dictionary.find_cap(&key)) {
            let second = second_of(counter.stamp);
            self.event.count(slot, counter.value, second);
        }
        Some(())
    }
}

/// An entry of frequency caps.
struct Counter<'j> {
    kind: &'j str,
    id: i64,
    namespace: &'j [u8],
    value: i64,
    stamp: i64,
    end: usize,
}

/// `[[kind,id,namespace],value,stamp]` at a byte.
fn counter_at(json: &[u8], at: usize) -> Option<Counter<'_>> {
    let sign =
        |at: usize, sign: u8| (json.get(at) == Some(&sign)).then(|| skip_blank(json, at + 1));
    let integer = |at: usize| integer(json, at);
    let (kind, at) = text_at(json, sign(sign(at, b'[')?, b'[')?)?;
    let (id, at) = integer(sign(at, b',')?)?;
    let (namespace, at) = text_at(json, sign(at, b',')?)?;
    let (value, at) = integer(sign(at + 1, b',').filter(|_| json.get(at) == Some(&b']'))?)?;
    let (stamp, at) = integer(sign(at, b',')?)?;
    (json.get(at) == Some(&b']')).then_some(Counter {
        kind: std::str::from_utf8(kind).ok()?,
        id,
        namespace,
        value,
        stamp,
        end: at + 1,
    })
}

/// `[id,stamp]` at a byte, and the byte after it.
fn segment_at(json: &[u8], at: usize) -> Option<(i64, i64, usize)> {
    let mut values = [0; 2];
    let mut at = at;
    for (value, sign) in values.iter_mut().zip(*b"[,") {
        if json.get(at) != Some(&sign) {
            return None;
        }
        at = skip_blank(json, at + 1);
        (*value, at) = integer(json, at)?;
    }
    let [id, stamp] = values;
    (json.get(at) == Some(&b']')).then_some((id, stamp, at + 1))
}

/// The bytes of a string without escapes whose quote is at a byte, and the byte after it.
#[inline]
fn text_at(json: &[u8], at: usize) -> Option<(&[u8], usize)> {
    if json.get(at) != Some(&b'"') {
        return None;
    }
    let rest = json.get(at + 1..)?;
    let (length, is_ascii) = plain_text(rest)?;
    let text = rest.get(..length)?;
    if !is_ascii {
        std::str::from_utf8(text).ok()?;
    }
    Some((text, at + length + 2))
}

/// The byte after one blank, if there is one.
#[inline]
fn skip_blank(json: &[u8], at: usize) -> usize {
    at + usize::from(json.get(at) == Some(&b' '))
}
