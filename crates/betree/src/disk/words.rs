//! Checks a tree of words from a file, so that compiling, running and explaining meet nothing that `bind` would
//! not have written.

use crate::code::{HAS_MAX, Head, IN_MAX, Op, i64_at};
use crate::dictionary::Dictionary;
use crate::domain::{Attribute, AttributeType, Domain};

/// Checks one tree. The error is the position of the first wrong word, and why it is wrong.
pub(super) fn check(
    tree: &[u32],
    domain: &Domain,
    dictionary: &Dictionary,
) -> Result<(), (usize, &'static str)> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(word) = tree.get(at).copied() {
        let head = Head(word);
        let wrong = |why| Err((at, why));
        if head.op() as u32 != word & 0xff || head.op() == Op::Memo {
            return wrong("not an operation of a tree");
        }
        let first = tree.get(at + 1).copied().unwrap_or(0);
        let Some(operands) = tree.get(at + 1..at + 1 + head.operands(first)) else {
            return wrong("operands are missing at the end of the tree");
        };
        match head.op() {
            Op::And | Op::Or | Op::Close | Op::True | Op::False if word > 0xff => {
                return wrong("a group has an attribute");
            }
            Op::And | Op::Or => depth += 1,
            Op::Close if depth == 0 => return wrong("a group ends that was not opened"),
            Op::Close => depth -= 1,
            Op::True | Op::False => {}
            _ => {
                let Some(attribute) = domain.attributes().get(head.attribute()) else {
                    return wrong("an attribute is not in the domain");
                };
                if !fits(head.op(), &attribute.kind()) {
                    return wrong("an operation does not fit the type of its attribute");
                }
                if !allowed(head, operands, domain, dictionary) {
                    return wrong("an operand refers to nothing");
                }
            }
        }
        at += 1 + operands.len();
    }
    match depth {
        0 => Ok(()),
        _ => Err((tree.len(), "a group is not closed")),
    }
}

fn fits(op: Op, kind: &AttributeType) -> bool {
    let is_list = matches!(
        kind,
        AttributeType::IntegerList { .. } | AttributeType::StringList { .. }
    );
    match op {
        Op::Bool => *kind == AttributeType::Boolean,
        Op::Equal32 | Op::Equal64 | Op::In | Op::InMany => matches!(
            kind,
            AttributeType::Integer { .. }
                | AttributeType::IntegerEnum { .. }
                | AttributeType::String { .. }
        ),
        Op::Range32 | Op::Range64 => matches!(kind, AttributeType::Integer { .. }),
        Op::FloatLess | Op::FloatLessEqual | Op::FloatGreater => {
            matches!(kind, AttributeType::Float { .. })
        }
        Op::FloatGreaterEqual | Op::FloatEqual | Op::Geo => {
            matches!(kind, AttributeType::Float { .. })
        }
        Op::HasAny | Op::HasAll => is_list,
        Op::Empty => is_list || matches!(kind, AttributeType::Segments | AttributeType::Frequency),
        Op::Contains | Op::StartsWith | Op::EndsWith => {
            matches!(kind, AttributeType::String { .. })
        }
        Op::SegmentWithin | Op::SegmentBefore => *kind == AttributeType::Segments,
        Op::Cap => *kind == AttributeType::Frequency,
        Op::Defined => true,
        Op::Memo | Op::True | Op::False | Op::And | Op::Or | Op::Close => false,
    }
}

fn allowed(head: Head, operands: &[u32], domain: &Domain, dictionary: &Dictionary) -> bool {
    let attribute = head.attribute();
    let first = operands.first().copied().unwrap_or(0);
    let (_, segments, caps) = dictionary.sizes();
    let length = match head.op() {
        Op::In => head.len() <= IN_MAX,
        Op::HasAny | Op::HasAll => (1..=HAS_MAX).contains(&head.len()),
        _ => head.len() == 0,
    };
    length
        && match head.op() {
            // Membership uses binary search.
            Op::InMany => {
                let values = (0..first as usize).map(|at| i64_at(operands, 1 + 2 * at));
                values.is_sorted()
            }
            Op::HasAny | Op::HasAll => operands.iter().all(|element| {
                let key = dictionary.element(*element);
                key.is_some_and(|(of, _)| usize::from(of) == attribute)
            }),
            Op::Contains | Op::StartsWith | Op::EndsWith => {
                dictionary.wants_text(attribute) && (first as usize) < dictionary.strings_len()
            }
            Op::Geo => {
                let longitude = domain.attributes().get(first as usize);
                longitude.is_some_and(|found: &Attribute| {
                    matches!(found.kind(), AttributeType::Float { .. })
                })
            }
            Op::SegmentWithin | Op::SegmentBefore => {
                (first as usize) < segments
                    && dictionary
                        .segment(first)
                        .is_some_and(|(of, _)| usize::from(of) == attribute)
            }
            Op::Cap => (first as usize) < caps,
            _ => true,
        }
}
