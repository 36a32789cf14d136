//! Two messages side by side: whether they belong together, and which fields they have otherwise.

use std::io::Write as _;

use fixcore::{Field, Message, SOH};
use twox_hash::XxHash3_128;

use crate::commands::fix::diff::waiting::{Key, Place};
use crate::commands::fix::flags::Match;
use crate::commands::fix::lines::string;

/// What messages that belong together share.
pub(super) fn key(message: &Message<'_, '_>, by: Match, ignored: &[u32]) -> Key {
    let mut text = Vec::with_capacity(64);
    let mut add = |value: Option<&[u8]>| {
        text.extend_from_slice(value.unwrap_or(&[]));
        text.push(SOH);
    };
    match by {
        Match::Number => [49, 56, 34]
            .into_iter()
            .for_each(|tag| add(message.get(tag))),
        Match::Order => {
            let tags = [35, 49, 56, 11, 41, 37, 17];
            tags.into_iter().for_each(|tag| add(message.get(tag)));
        }
        Match::Whole => {
            for field in message.fields() {
                if ignored.binary_search(&field.tag).is_err() {
                    add(Some(field.tag.to_string().as_bytes()));
                    add(Some(field.value));
                }
            }
        }
    }
    XxHash3_128::oneshot(&text)
}

/// Where a log counts a message, if its number says so: one that is sent again does not.
pub(super) fn place(message: &Message<'_, '_>, by: Match) -> Option<Place> {
    if by != Match::Number || message.get(43) == Some(b"Y") {
        return None;
    }
    let names = [49, 56].map(|tag| message.get(tag).unwrap_or(&[]));
    Some(Place {
        session: XxHash3_128::oneshot(&names.join(&SOH)),
        number: message.get_u64(34).ok().flatten()?,
    })
}

pub(super) fn identity(out: &mut Vec<u8>, message: &Message<'_, '_>) {
    out.extend_from_slice(b"\"msg_type\":");
    string(out, message.msg_type());
    for (name, tag) in [
        ("sender", 49),
        ("target", 56),
        ("number", 34),
        ("order", 11),
    ] {
        if let Some(value) = message.get(tag) {
            let _ = write!(out, ",\"{name}\":");
            string(out, value);
        }
    }
}

pub(super) fn optional(out: &mut Vec<u8>, value: Option<&[u8]>) {
    match value {
        Some(value) => string(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// A tag, which field of that tag it is, and its value.
type Numbered<'m> = (u32, u32, &'m [u8]);

/// Takes a tag, its value in one message and in the other.
type Tell<'t> = dyn FnMut(u32, Option<&[u8]>, Option<&[u8]>) + 't;

/// Fields by tag, those of one tag in their order.
pub(super) fn numbered<'m>(
    message: &Message<'_, 'm>,
    kept: &dyn Fn(&Field<'_>) -> bool,
) -> Vec<Numbered<'m>> {
    let fields = message.fields().filter(|field| kept(field));
    let mut fields: Vec<_> = fields.map(|field| (field.tag, 0, field.value)).collect();
    fields.sort_by_key(|field| field.0);
    let mut before = (0, 0);
    for (tag, number, _) in &mut fields {
        *number = if before.0 == *tag { before.1 + 1 } else { 0 };
        before = (*tag, *number);
    }
    fields
}

/// Tells of every field that one message has otherwise than the other.
pub(super) fn merge(a: Vec<Numbered<'_>>, b: Vec<Numbered<'_>>, tell: &mut Tell<'_>) {
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(one), Some(two)) => (one.0, one.1).cmp(&(two.0, two.1)),
        };
        let one = if order.is_le() { a.next() } else { None };
        let two = if order.is_ge() { b.next() } else { None };
        let values = (one.map(|field| field.2), two.map(|field| field.2));
        if values.0 != values.1 {
            let tag = one.or(two).map_or(0, |field| field.0);
            tell(tag, values.0, values.1);
        }
    }
}
