//! The body of a received message in the order in which QuickFIX would write it.

use fixcore::dict::Dictionary;
use fixcore::{Field, Message};

use crate::tags::is_of_session;
use crate::writer::push_field;

/// Header fields of a route: where each goes in an answer, and where it came.
const ROUTE: [(u32, u32); 10] = [
    (50, 57),
    (57, 50),
    (115, 128),
    (116, 129),
    (128, 115),
    (129, 116),
    (142, 143),
    (143, 142),
    (144, 145),
    (145, 144),
];

/// Appends the body of a message: fields by ascending tag, the entries of a group behind its count field
/// in the order of the message. Fields that only a session writes (8, 9, 10, 34, 35, 43, 49, 52, 56, 122,
/// 369) and signatures are left out. Without a dictionary the message has no groups: fields that occur twice keep
/// their order.
pub fn sorted(message: &Message<'_, '_>, dictionary: Option<&Dictionary>, out: &mut Vec<u8>) {
    sorted_but(message, dictionary, |_| false, out);
}

/// Appends the body of a message that goes back to where it came from: as [`sorted`], with the header fields of its
/// route turned round: SenderSubID (50) becomes TargetSubID (57), OnBehalfOfCompID (115) DeliverToCompID (128), and
/// so on. Empty ones are left out.
pub fn returned(message: &Message<'_, '_>, dictionary: Option<&Dictionary>, out: &mut Vec<u8>) {
    push_route(message, out);
    sorted_but(message, dictionary, is_route, out);
}

/// Appends the header fields that lead an answer back to where a message came from; empty ones are left out.
pub(crate) fn push_route(message: &Message<'_, '_>, out: &mut Vec<u8>) {
    if !message.fields().any(|field| is_route(field.tag)) {
        return;
    }
    for (to, from) in ROUTE {
        if let Some(value) = message.get(from).filter(|value| !value.is_empty()) {
            push_field(out, to, value);
        }
    }
}

fn is_route(tag: u32) -> bool {
    matches!(tag, 50 | 57 | 115 | 116 | 128 | 129 | 142..=145)
}

fn sorted_but(
    message: &Message<'_, '_>,
    dictionary: Option<&Dictionary>,
    is_left_out: impl Fn(u32) -> bool,
    out: &mut Vec<u8>,
) {
    let body = |field: &Field<'_>| {
        !is_of_session(field.tag) && !matches!(field.tag, 89 | 93) && !is_left_out(field.tag)
    };
    let start = out.len();
    if copied(message, body, out) {
        // Nothing would change places, whatever is in groups.
        return;
    }
    out.truncate(start);
    let fields: Vec<Field<'_>> = message.fields().filter(body).collect();
    // Each run begins with a field outside of groups; the rest of it are the entries of its group.
    let mut runs: Vec<&[Field<'_>]> = Vec::with_capacity(fields.len());
    let mut rest = fields.as_slice();
    while let Some(first) = rest.first() {
        let entries = group_length(message, dictionary, *first, rest.get(1..).unwrap_or(&[]));
        let (run, behind) = rest.split_at((1 + entries).min(rest.len()));
        runs.push(run);
        rest = behind;
    }
    runs.sort_by_key(|run| run.first().map_or(0, |field| field.tag));
    for field in runs.into_iter().flatten() {
        push_field(out, field.tag, field.value);
    }
}

/// Appends these fields in their order, neighbours by one copy; whether their tags ascend.
fn copied(
    message: &Message<'_, '_>,
    is_kept: impl Fn(&Field<'_>) -> bool,
    out: &mut Vec<u8>,
) -> bool {
    let bytes = message.bytes();
    let (mut kept, mut last) = (None, 0);
    for field in message.fields() {
        if is_kept(&field) {
            if field.tag < last {
                return false;
            }
            last = field.tag;
            kept.get_or_insert(field.offset);
        } else if let Some(start) = kept.take() {
            out.extend_from_slice(bytes.get(start..field.offset).unwrap_or(&[]));
        }
    }
    if let Some(start) = kept {
        out.extend_from_slice(bytes.get(start..).unwrap_or(&[]));
    }
    true
}

/// Appends the body of a message as [`sorted`], with its fields in the order in which they came.
pub fn in_order(message: &Message<'_, '_>, out: &mut Vec<u8>) {
    in_order_but(message, |_| false, out);
}

/// Appends the body of a message that goes back as [`returned`], with its fields in the order in which they came.
pub fn returned_in_order(message: &Message<'_, '_>, out: &mut Vec<u8>) {
    push_route(message, out);
    in_order_but(message, is_route, out);
}

fn in_order_but(message: &Message<'_, '_>, is_left_out: impl Fn(u32) -> bool, out: &mut Vec<u8>) {
    let is_body = |tag| !is_of_session(tag) && !matches!(tag, 89 | 93) && !is_left_out(tag);
    for field in message.fields().filter(|field| is_body(field.tag)) {
        push_field(out, field.tag, field.value);
    }
}

/// How many fields the group has that this field counts.
fn group_length(
    message: &Message<'_, '_>,
    dictionary: Option<&Dictionary>,
    count: Field<'_>,
    rest: &[Field<'_>],
) -> usize {
    let Some(dictionary) = dictionary else {
        return 0;
    };
    let whole = message.whole();
    let entries = dictionary.entries(&whole, message.msg_type(), count.tag);
    let Ok(Some(entries)) = entries else {
        return 0;
    };
    let length: usize = entries.map(|entry| entry.fields().count()).sum();
    length.min(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixcore::Decoder;
    use fixcore::dict::Version;

    fn sorted_text(body: &str, dictionary: Option<&Dictionary>) -> String {
        let mut bytes = Vec::new();
        fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut bytes);
        let mut decoder = Decoder::new();
        let message = decoder.parse(&bytes).unwrap();
        let mut out = Vec::new();
        sorted(&message, dictionary, &mut out);
        String::from_utf8(out).unwrap().replace('\x01', "|")
    }

    #[test]
    fn a_returned_message_has_its_route_turned_round() {
        let mut bytes = Vec::new();
        let body =
            "35=D|34=2|49=A|50=desk|52=20260101-00:00:00|56=B|57=floor|115=C|142=Z|11=a|55=X|";
        fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut bytes);
        let mut decoder = Decoder::new();
        let mut out = Vec::new();
        returned(&decoder.parse(&bytes).unwrap(), None, &mut out);
        let text = String::from_utf8(out).unwrap().replace('\x01', "|");
        assert_eq!(text, "50=floor|57=desk|128=C|143=Z|11=a|55=X|");
    }

    #[test]
    fn tags_ascend_and_groups_stay_together() {
        let dictionary = Version::Fix44.dictionary();
        let head = "35=D|34=2|49=A|52=20260101-00:00:00|56=B|";
        let text = sorted_text(&format!("{head}55=X|54=1|11=a|97=Y|"), dictionary);
        assert_eq!(text, "11=a|54=1|55=X|97=Y|");
        let group = "78=2|79=one|80=5|79=two|80=6|";
        let text = sorted_text(&format!("{head}{group}55=X|11=a|"), dictionary);
        assert_eq!(text, format!("11=a|55=X|{group}"));
        let text = sorted_text(
            &format!("{head}11=a|55=X|43=Y|97=Y|115=D|93=3|89=sig|"),
            dictionary,
        );
        assert_eq!(text, "11=a|55=X|97=Y|115=D|");
        assert_eq!(sorted_text(head, dictionary), "");
        let text = sorted_text(&format!("{head}55=X|454=0|11=a|"), dictionary);
        assert_eq!(text, "11=a|55=X|454=0|");
    }
}
