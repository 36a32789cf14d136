//! Reading the fields of a parsed message: from both ends, by place and by tag, compared with a list that this file
//! makes from the text of the message.

use std::collections::VecDeque;

use fixcore::{DataPairs, Decoder, Field, Isa};
use proptest::prelude::*;

/// Tag, value and offset.
type Owned = (u32, Vec<u8>, usize);

/// A message of these fields, with its frame.
fn message(fields: &[(u32, String)]) -> Vec<u8> {
    let fields = fields
        .iter()
        .map(|(tag, value)| format!("{tag}={value}\x01"));
    let body = format!("35=0\x01{}", fields.collect::<String>());
    let mut text = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = text.bytes().map(u32::from).sum::<u32>() % 256;
    text += &format!("10={sum:03}\x01");
    text.into_bytes()
}

/// The fields of a message without data fields, by its text alone.
fn listed(bytes: &[u8]) -> VecDeque<Owned> {
    let (mut out, mut offset) = (VecDeque::new(), 0);
    for field in bytes.split_inclusive(|byte| *byte == 1) {
        let text = std::str::from_utf8(&field[..field.len() - 1]).unwrap();
        let (tag, value) = text.split_once('=').unwrap();
        out.push_back((tag.parse().unwrap(), value.as_bytes().to_vec(), offset));
        offset += field.len();
    }
    out
}

fn owned(field: Field<'_>) -> Owned {
    (field.tag, field.value.to_vec(), field.offset)
}

/// One step of going through fields.
#[derive(Debug, Clone, Copy)]
enum Step {
    Next,
    NextBack,
    Nth(usize),
    NthBack(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Next),
        4 => Just(Step::NextBack),
        1 => (0..9_usize).prop_map(Step::Nth),
        1 => (0..9_usize).prop_map(Step::NthBack),
    ];
    prop::collection::vec(step, 0..40)
}

/// Tags of any length, some of them often.
fn tags() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(58),
        11..100_u32,
        100..1_000_u32,
        1_000..10_000_u32,
        10_000..100_000_u32,
        100_000..=999_999_999_u32,
    ]
}

fn fields(
    count: impl Into<prop::collection::SizeRange>,
) -> impl Strategy<Value = Vec<(u32, String)>> {
    prop::collection::vec((tags(), "[a-z=0-9]{1,20}"), count)
}

fn decoders() -> impl Iterator<Item = Decoder> {
    let decoders = Isa::ALL.into_iter().filter_map(Decoder::with_isa);
    decoders.map(|decoder| decoder.with_pairs(DataPairs::new(&[])))
}

proptest! {
    #[test]
    fn any_steps_from_both_ends_agree_with_a_list(fields in fields(0..40), steps in steps()) {
        let bytes = message(&fields);
        for mut decoder in decoders() {
            let message = decoder.parse(&bytes).unwrap();
            let (mut left, mut all) = (message.fields(), listed(&bytes));
            for step in &steps {
                let (found, expected) = match *step {
                    Step::Next => (left.next(), all.pop_front()),
                    Step::NextBack => (left.next_back(), all.pop_back()),
                    Step::Nth(count) => {
                        all.drain(..count.min(all.len()));
                        (left.nth(count), all.pop_front())
                    }
                    Step::NthBack(count) => {
                        all.truncate(all.len().saturating_sub(count));
                        (left.nth_back(count), all.pop_back())
                    }
                };
                prop_assert_eq!(found.map(owned), expected);
                prop_assert_eq!(left.len(), all.len());
                prop_assert_eq!(left.size_hint(), (all.len(), Some(all.len())));
                prop_assert_eq!(left.clone().count(), all.len());
                prop_assert_eq!(left.clone().last().map(owned), all.back().cloned());
                let folded = left.clone().fold(VecDeque::new(), |mut out, field| {
                    out.push_back(owned(field));
                    out
                });
                prop_assert_eq!(&folded, &all);
                prop_assert!(left.clone().rev().map(owned).eq(all.iter().rev().cloned()));
                prop_assert!(left.clone().skip(2).map(owned).eq(all.iter().skip(2).cloned()));
            }
        }
    }

    #[test]
    fn the_entries_of_a_group_are_parts_of_the_list(sizes in prop::collection::vec(1..6_usize, 0..20)) {
        let mut fields = vec![(268, sizes.len().to_string())];
        for (entry, size) in sizes.iter().enumerate() {
            let tags = [279, 1_023, 12_345, 271, 123_456].iter().take(*size);
            fields.extend(tags.map(|tag| (*tag, format!("v{entry}"))));
        }
        let bytes = message(&fields);
        let all: Vec<Owned> = listed(&bytes).into();
        for mut decoder in decoders() {
            let message = decoder.parse(&bytes).unwrap();
            let whole = message.whole();
            let entries = whole.group(268, 279, |tag| [1_023, 12_345, 271, 123_456].contains(&tag));
            let mut at = 4;
            for (entry, size) in entries.unwrap().zip(&sizes) {
                let part = &all[at..at + size];
                prop_assert!(entry.fields().map(owned).eq(part.iter().cloned()));
                prop_assert!(entry.fields().rev().map(owned).eq(part.iter().rev().cloned()));
                for tag in [279, 1_023, 12_345, 271, 123_456, 8, 10, 268] {
                    let expected = part.iter().find(|field| field.0 == tag).cloned();
                    prop_assert_eq!(entry.field(tag).map(owned), expected);
                }
                at += size;
            }
            prop_assert_eq!(at, all.len() - 1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.div_ceil(8), ..ProptestConfig::default() })]

    /// The first look-ups compare, later ones build a table and use it.
    #[test]
    fn look_ups_in_long_messages_agree_with_a_list(
        messages in prop::collection::vec((fields(200..900), prop::collection::vec(tags(), 30)), 2)
    ) {
        for mut decoder in decoders() {
            for (fields, absent) in &messages {
                let bytes = message(fields);
                let all = listed(&bytes);
                let message = decoder.parse(&bytes).unwrap();
                let present = all.iter().rev().step_by(7).map(|field| field.0);
                for tag in present.chain(absent.iter().copied()).chain([35, 10, 0, u32::MAX]) {
                    let expected = all.iter().position(|field| field.0 == tag);
                    prop_assert_eq!(message.position(tag), expected, "{}", tag);
                    let value = expected.map(|at| &*all[at].1);
                    prop_assert_eq!(message.get(tag), value);
                }
            }
        }
    }
}
