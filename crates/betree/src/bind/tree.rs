//! Writes resolved tests and operators as a tree of words.
//!
//! Operators are read backwards, so that each comes before its operands: negation moves down and nested groups
//! of one kind become one, without recursion.

use super::Undefined;
use super::resolve::Resolved;
use crate::code::{HAS_MAX, Head, IN_MAX, Op, push_u64};
use crate::dictionary::Dictionary;
use crate::domain::Domain;
use crate::expr::{Literal, Node, Position, Quantity, Relation, unescaped};

/// What is still to be read, the next last.
#[derive(Debug, Clone, Copy)]
enum Due {
    /// An operand: whether it belongs to an `and`, and whether it is negated.
    Operand {
        and: bool,
        negated: bool,
    },
    Close,
}

/// Appends the tree.
pub(super) fn write(
    nodes: &[Node],
    tests: &[Resolved<'_>],
    (domain, undefined): (&Domain, Undefined),
    dictionary: &mut Dictionary,
    words: &mut Vec<u32>,
) {
    let mut writer = Writer {
        domain,
        undefined,
        dictionary,
        words,
    };
    let mut due = vec![Due::Operand {
        and: true,
        negated: false,
    }];
    let mut left = nodes;
    while let Some(next) = due.pop() {
        let Due::Operand { and, negated } = next else {
            writer.words.push(Op::Close as u32);
            continue;
        };
        let Some((node, rest)) = left.split_last() else {
            break;
        };
        left = rest;
        match node {
            Node::Not => due.push(Due::Operand {
                and,
                negated: !negated,
            }),
            Node::And | Node::Or => {
                let group = (*node == Node::And) != negated;
                if group != and {
                    writer.open(group);
                    due.push(Due::Close);
                }
                let operand = Due::Operand {
                    and: group,
                    negated,
                };
                due.extend([operand, operand]);
            }
            Node::Constant(value) => writer.constant(*value != negated),
            Node::Leaf(index) => {
                if let Some(test) = tests.get(*index as usize) {
                    writer.test(test, negated);
                }
            }
        }
    }
}

struct Writer<'a> {
    domain: &'a Domain,
    undefined: Undefined,
    dictionary: &'a mut Dictionary,
    words: &'a mut Vec<u32>,
}

impl Writer<'_> {
    fn open(&mut self, and: bool) {
        self.words.push(if and { Op::And } else { Op::Or } as u32);
    }

    fn constant(&mut self, value: bool) {
        self.words
            .push(if value { Op::True } else { Op::False } as u32);
    }

    /// The head of a test. `inverted`: the written test is the opposite of the given one; `negated`: the test
    /// is under an odd number of `not`s.
    fn head(&mut self, head: Head, inverted: bool, negated: bool) {
        let over_undefined = self.over_undefined(head, negated);
        self.words
            .push(head.with(inverted != negated, over_undefined).0);
    }

    /// The outcome of a test of an undefined attribute. For an attribute that is never undefined, a test and its
    /// negation get the same value, so that both are one test.
    fn over_undefined(&self, head: Head, negated: bool) -> bool {
        let attribute = self.domain.attributes().get(head.attribute());
        let required = attribute.is_some_and(|attribute| !attribute.allows_undefined());
        match self.undefined {
            Undefined::False => negated,
            Undefined::Unknown => negated && required && head.asks_one_attribute(),
        }
    }

    fn test(&mut self, test: &Resolved<'_>, negated: bool) {
        match test {
            Resolved::Boolean(attribute) => {
                self.head(Head::new(Op::Bool, *attribute), false, negated)
            }
            Resolved::Range(attribute, low, high) => self.range(*attribute, *low, *high, negated),
            Resolved::Float(attribute, relation, value) => {
                let op = match relation {
                    Relation::Less => Op::FloatLess,
                    Relation::LessEqual => Op::FloatLessEqual,
                    Relation::Greater => Op::FloatGreater,
                    Relation::GreaterEqual => Op::FloatGreaterEqual,
                };
                self.head(Head::new(op, *attribute), false, negated);
                push_u64(self.words, value.to_bits());
            }
            Resolved::FloatEqual(attribute, inverted, value) => {
                self.head(Head::new(Op::FloatEqual, *attribute), *inverted, negated);
                push_u64(self.words, value.to_bits());
            }
            Resolved::In(attribute, inverted, values) => {
                self.scalar(*attribute, *inverted, values, negated);
            }
            Resolved::FloatIn(attribute, inverted, values) => {
                self.floats(*attribute, *inverted, values, negated);
            }
            Resolved::Has(attribute, quantity, values) => {
                self.list(*attribute, *quantity, values, negated);
            }
            Resolved::Null(attribute, inverted) => {
                // The written test is whether the attribute is defined, which is always known.
                let head = Head::new(Op::Defined, *attribute);
                let flag = *inverted == negated;
                self.words.push(head.with(flag, flag).0);
            }
            Resolved::Empty(attribute) => {
                self.head(Head::new(Op::Empty, *attribute), false, negated)
            }
            Resolved::Text(attribute, position, pattern) => {
                let op = match position {
                    Position::Anywhere => Op::Contains,
                    Position::Start => Op::StartsWith,
                    Position::End => Op::EndsWith,
                };
                self.dictionary.want_text(*attribute);
                let pattern = self.dictionary.intern_string(&unescaped(pattern));
                self.head(Head::new(op, *attribute), false, negated);
                self.words.push(pattern);
            }
            _ => self.special(test, negated),
        }
    }

    fn special(&mut self, test: &Resolved<'_>, negated: bool) {
        match test {
            Resolved::Geo {
                latitude,
                longitude,
                constants,
            } => {
                self.head(Head::new(Op::Geo, *latitude), false, negated);
                self.words.push(u32::from(*longitude));
                for value in constants {
                    push_u64(self.words, value.to_bits());
                }
            }
            Resolved::Segment {
                attribute,
                within,
                id,
                seconds,
            } => {
                let op = match within {
                    true => Op::SegmentWithin,
                    false => Op::SegmentBefore,
                };
                let slot = self.dictionary.intern_segment(*attribute, *id);
                self.head(Head::new(op, *attribute), false, negated);
                self.words.push(slot);
                push_u64(self.words, *seconds as u64);
            }
            Resolved::Cap {
                attribute,
                kind,
                by_address,
                id,
                namespace,
                value,
                length,
            } => {
                let namespace = self.dictionary.intern_string(&unescaped(namespace));
                let key = (*kind, *by_address, *id, namespace);
                let slot = self.dictionary.intern_cap(key);
                self.head(Head::new(Op::Cap, *attribute), false, negated);
                self.words.push(slot);
                push_u64(self.words, *value as u64);
                push_u64(self.words, *length as u64);
            }
            // Every other test is written by its attribute.
            _ => self.constant(negated),
        }
    }

    fn range(&mut self, attribute: u16, low: i64, high: i64, negated: bool) {
        let over_undefined = self.over_undefined(Head::new(Op::Range64, attribute), negated);
        let head = |op| Head::new(op, attribute).with(negated, over_undefined);
        range_words(self.words, head, low, high);
    }

    /// The value that a scalar is compared with.
    fn value(&mut self, attribute: u16, literal: &Literal<'_>) -> i64 {
        let value = match literal {
            Literal::Integer(value) => *value,
            Literal::Text(text) => i64::from(self.dictionary.intern_string(&unescaped(text))),
            // Scalars that are compared for membership are integers and texts.
            Literal::Float(value) => value.to_bits() as i64,
        };
        self.dictionary.note_value(attribute, value as u64);
        value
    }

    fn scalar(&mut self, attribute: u16, inverted: bool, values: &[Literal<'_>], negated: bool) {
        let mut sorted: Vec<i64> = Vec::with_capacity(values.len());
        for value in values {
            let value = self.value(attribute, value);
            sorted.push(value);
        }
        sorted.sort_unstable();
        sorted.dedup();
        let small = sorted.iter().all(|value| i32::try_from(*value).is_ok());
        match sorted.as_slice() {
            [value] if small => {
                self.head(Head::new(Op::Equal32, attribute), inverted, negated);
                self.words.push(*value as u32);
            }
            [value] => {
                self.head(Head::new(Op::Equal64, attribute), inverted, negated);
                push_u64(self.words, *value as u64);
            }
            _ if small && sorted.len() <= IN_MAX => {
                let head = Head::new(Op::In, attribute).count(sorted.len());
                self.head(head, inverted, negated);
                self.words.extend(sorted.iter().map(|value| *value as u32));
            }
            _ => {
                self.head(Head::new(Op::InMany, attribute), inverted, negated);
                self.words.push(sorted.len() as u32);
                for value in &sorted {
                    push_u64(self.words, *value as u64);
                }
            }
        }
    }

    /// A float that is one of several values, or none of them: one test of equality each, for both zeros are equal.
    fn floats(&mut self, attribute: u16, inverted: bool, values: &[Literal<'_>], negated: bool) {
        self.open(inverted != negated);
        for value in values {
            self.head(Head::new(Op::FloatEqual, attribute), inverted, negated);
            let value = match value {
                Literal::Integer(value) => *value as f64,
                Literal::Float(value) => *value,
                // A text was refused.
                Literal::Text(_) => f64::NAN,
            };
            push_u64(self.words, value.to_bits());
        }
        self.words.push(Op::Close as u32);
    }

    fn list(&mut self, attribute: u16, quantity: Quantity, values: &[Literal<'_>], negated: bool) {
        let mut elements: Vec<u32> = Vec::with_capacity(values.len());
        for literal in values {
            let value = match literal {
                Literal::Integer(value) => *value as u64,
                Literal::Text(text) => u64::from(self.dictionary.intern_string(&unescaped(text))),
                Literal::Float(value) => value.to_bits(),
            };
            elements.push(self.dictionary.intern_element(attribute, value));
        }
        elements.sort_unstable();
        elements.dedup();
        let (op, inverted) = match quantity {
            Quantity::One => (Op::HasAny, false),
            Quantity::None => (Op::HasAny, true),
            Quantity::All => (Op::HasAll, false),
        };
        // Long lists become groups: any of many is any of the first chunk or any of the second, and so on.
        let grouped = elements.len() > HAS_MAX;
        if grouped {
            self.open((op == Op::HasAll) != (inverted != negated));
        }
        for chunk in elements.chunks(HAS_MAX) {
            let head = Head::new(op, attribute).count(chunk.len());
            self.head(head, inverted, negated);
            self.words.extend_from_slice(chunk);
        }
        if grouped {
            self.words.push(Op::Close as u32);
        }
    }
}

/// A bound in 32 bits, where `open` means no bound.
fn narrow(value: i64, none: i64, open: i32) -> Option<i32> {
    if value == none {
        return Some(open);
    }
    i32::try_from(value).ok().filter(|value| *value != open)
}

/// Appends a test for a range. In 32 bits the least and the greatest value mean no bound.
pub(crate) fn range_words(words: &mut Vec<u32>, head: impl Fn(Op) -> Head, low: i64, high: i64) {
    let low32 = narrow(low, i64::MIN, i32::MIN);
    let high32 = narrow(high, i64::MAX, i32::MAX);
    match (low32, high32) {
        (Some(low), Some(high)) => {
            words.push(head(Op::Range32).0);
            words.extend([low as u32, high as u32]);
        }
        _ => {
            words.push(head(Op::Range64).0);
            push_u64(words, low as u64);
            push_u64(words, high as u64);
        }
    }
}

/// The bounds of a 32-bit range test, from its operands.
#[inline]
pub(crate) fn range_bounds(low: u32, high: u32) -> (i64, i64) {
    let low = match low as i32 {
        i32::MIN => i64::MIN,
        low => i64::from(low),
    };
    let high = match high as i32 {
        i32::MAX => i64::MAX,
        high => i64::from(high),
    };
    (low, high)
}
