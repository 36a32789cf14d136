//! Two messages side by side: whether they belong together, and which fields they have otherwise.

use fixcore::{Field, Message, SOH};
use twox_hash::XxHash3_128;

use crate::diff::options::Match;
use crate::diff::waiting::{Key, Place};

/// What messages that belong together share. One that is sent again (43=Y) belongs to one that is sent again.
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
    let is_copy = is_copy(message) && ignored.binary_search(&43).is_err();
    Key::new(XxHash3_128::oneshot(&text), is_copy)
}

fn is_copy(message: &Message<'_, '_>) -> bool {
    message.get(43) == Some(b"Y")
}

/// Where a log counts a message, if its number says so: one that is sent again does not.
pub(super) fn place(message: &Message<'_, '_>, by: Match) -> Option<Place> {
    if by != Match::Number || is_copy(message) {
        return None;
    }
    let names = [49, 56].map(|tag| message.get(tag).unwrap_or(&[]));
    Some(Place {
        session: XxHash3_128::oneshot(&names.join(&SOH)),
        number: message.get_u64(34).ok().flatten()?,
    })
}

/// A tag, which field of that tag it is, and its value.
type Numbered<'m> = (u32, u32, &'m [u8]);

/// A field that two messages have differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference<'m> {
    /// Its tag.
    pub tag: u32,
    /// Its value in the first message; `None` where it is missing.
    pub first: Option<&'m [u8]>,
    /// Its value in the second message.
    pub second: Option<&'m [u8]>,
}

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

/// Every field that two messages have differently.
pub(super) fn merge<'m>(a: Vec<Numbered<'m>>, b: Vec<Numbered<'m>>) -> Vec<Difference<'m>> {
    let mut differences = Vec::new();
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return differences,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(one), Some(two)) => (one.0, one.1).cmp(&(two.0, two.1)),
        };
        let one = if order.is_le() { a.next() } else { None };
        let two = if order.is_ge() { b.next() } else { None };
        let (first, second) = (one.map(|field| field.2), two.map(|field| field.2));
        if first != second {
            let tag = one.or(two).map_or(0, |field| field.0);
            differences.push(Difference { tag, first, second });
        }
    }
}
