//! Draws messages of a shape.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::random::{below, between};
use super::{Content, Drawn, Item, Shape, Tag, Value, Written, text};
use crate::data::{DataPairs, Role};
use crate::encoder::is_header;
use crate::{Decimal, Timestamp, frame};

/// 2026-03-05 14:15:16 UTC.
const BEGIN_NS: i64 = 1_772_720_116_000_000_000;
const MS_NS: i64 = 1_000_000;
/// What text is made of; `=` may be in it.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 =";

/// A tag that no message has.
pub const ABSENT_TAG: u32 = 7_777;

/// Messages of a shape. A seed gives the same ones everywhere.
#[derive(Debug, Clone)]
pub struct Drawer {
    shape: Shape,
    random: SplitMix64,
    pairs: DataPairs,
    number: u64,
    now_ns: i64,
}

impl Drawer {
    /// A drawer whose messages depend on nothing but the shape and the seed.
    #[must_use]
    pub fn new(shape: Shape, seed: u64) -> Self {
        Self {
            shape,
            random: SplitMix64::seed_from_u64(seed ^ 0x6669_785f_7368),
            pairs: DataPairs::standard(),
            number: 1,
            now_ns: BEGIN_NS,
        }
    }

    /// The shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The next message.
    pub fn message(&mut self) -> Drawn {
        let mut fields = Vec::new();
        if self.shape.has_header {
            self.number += 1;
            let header = [
                (34, Content::Number(self.number)),
                (49, Content::Bytes(b"ALPHADESK".to_vec())),
                (52, self.time()),
                (56, Content::Bytes(b"MARKET01".to_vec())),
            ];
            fields.extend(header.map(|(tag, content)| Written::of(tag, content)));
        }
        let items = std::mem::take(&mut self.shape.items);
        let mut tags = Tags::default();
        self.items(&items, &mut tags, &mut fields);
        self.shape.items = items;
        let (body, starts) = text::body(&self.shape, &fields);
        let kinds = self.shape.faults.len() as u64;
        let at = below(&mut self.random, kinds) as usize;
        let is_faulty = below(&mut self.random, 1000) < u64::from(self.shape.faulty);
        let fault = self.shape.faults.get(at).copied().filter(|_| is_faulty);
        let begin_string = self.shape.begin_string;
        let bytes = match fault {
            Some(fault) => {
                let data = fields.iter().position(|field| field.length_tag.is_some());
                // MsgType and the fields before it, none of which is a data field.
                let data = data.and_then(|at| starts.get(at + 1).copied());
                fault.message(begin_string, body, (&starts, data), &mut self.random)
            }
            None => {
                let mut out = Vec::new();
                frame::write(begin_string.as_bytes(), &body, &mut out);
                out
            }
        };
        Drawn {
            fields,
            bytes,
            fault,
        }
    }

    fn items(&mut self, items: &[Item], tags: &mut Tags, out: &mut Vec<Written>) {
        for item in items {
            match item {
                Item::Field(tag, value) => {
                    let tag = self.tag(*tag, tags);
                    let content = self.content(*value);
                    out.push(Written::of(tag, content));
                }
                Item::Data(length_tag, tag, bytes) => {
                    let length = between(&mut self.random, *bytes);
                    let content = (0..length).map(|_| self.random.next_u64() as u8 & 0x3f);
                    let content = content.map(|byte| if byte < 4 { 1 } else { byte });
                    let content = Content::Bytes(content.collect());
                    out.push(Written {
                        length_tag: Some(*length_tag),
                        ..Written::of(*tag, content)
                    });
                }
                Item::Group(count, entries, members) => {
                    let entries = between(&mut self.random, *entries);
                    out.push(Written::of(*count, Content::Number(entries.into())));
                    for _ in 0..entries {
                        self.items(members, tags, out);
                    }
                }
                Item::Times(times, members) => {
                    for _ in 0..between(&mut self.random, *times) {
                        self.items(members, tags, out);
                    }
                }
            }
        }
    }

    fn tag(&mut self, tag: Tag, tags: &mut Tags) -> u32 {
        let is_free = |tag: u32| {
            !matches!(tag, 8 | 9 | 10 | 35 | ABSENT_TAG)
                && !is_header(tag)
                && self.pairs.role(tag) == Role::Neither
        };
        match tag {
            Tag::Is(tag) => tag,
            Tag::Digits(digits) => {
                let digits = digits.clamp(1, 9);
                let least = 10_u32.pow(digits - 1);
                loop {
                    let tag = least + below(&mut self.random, u64::from(9 * least)) as u32;
                    if is_free(tag) {
                        return tag;
                    }
                }
            }
            Tag::From(first) => {
                let next = tags.next.max(first);
                let tag = (next..).find(|tag| is_free(*tag)).unwrap_or(first);
                tags.next = tag + 1;
                tag
            }
        }
    }

    fn content(&mut self, value: Value) -> Content {
        let random = &mut self.random;
        match value {
            Value::Text(least, most) => {
                let length = between(random, (least.max(1), most));
                let letters = (0..length).map(|_| LETTERS[random.next_u64() as usize % 64]);
                Content::Bytes(letters.collect())
            }
            Value::Number(least, most) => {
                let digits = between(random, (least, most)).clamp(1, 19);
                let first = if digits == 1 {
                    0
                } else {
                    10_u64.pow(digits - 1)
                };
                Content::Number(first + below(random, 10_u64.pow(digits) - first))
            }
            Value::Price => Content::Decimal(Decimal {
                mantissa: 40_000 + below(random, 20_000) as i64,
                scale: 2,
            }),
            Value::Time => self.time(),
            Value::Is(text) => Content::Bytes(text.as_bytes().to_vec()),
        }
    }

    /// A time shortly after the last one.
    fn time(&mut self) -> Content {
        self.now_ns += MS_NS * below(&mut self.random, 20) as i64;
        Content::Time(Timestamp(self.now_ns))
    }
}

/// What tags of a message are in use.
#[derive(Debug, Default)]
struct Tags {
    next: u32,
}

impl Written {
    fn of(tag: u32, content: Content) -> Self {
        Self {
            length_tag: None,
            tag,
            content,
        }
    }
}
