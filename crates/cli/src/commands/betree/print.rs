//! The line that `betree match` writes for an event, in each form.

use std::io::Write as _;

use betree::{Name, Names, SubscriptionId};

use crate::commands::betree::flags::MatchFormat;
use crate::term::plain::is_unfit;

/// How lines are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) format: MatchFormat,
    /// The ids that people gave to expressions; without them, ids are numbers of lines.
    pub(super) names: &'a Names,
    /// Whether events have ids of their own, which stand before the rest of a line.
    pub(super) has_event_id: bool,
    /// The bits of a bitmap.
    pub(super) bits: usize,
}

impl Form<'_> {
    /// Appends the line of an event: the number of its line, its own id as JSON, and the expressions that match.
    pub(super) fn matches(
        &self,
        number: u64,
        event_id: &[u8],
        ids: &[SubscriptionId],
        out: &mut Vec<u8>,
    ) {
        self.event_id(event_id, out);
        // Writing into memory does not fail.
        match self.format {
            MatchFormat::Json => {
                let _ = write!(out, "{{\"event\":{number},");
                if self.has_event_id {
                    let event_id = if event_id.is_empty() {
                        b"null"
                    } else {
                        event_id
                    };
                    out.extend_from_slice(b"\"id\":");
                    out.extend_from_slice(event_id);
                    out.push(b',');
                }
                out.extend_from_slice(b"\"ids\":[");
                self.join(ids, b",", out, |name, out| name.append_json(out));
                out.extend_from_slice(b"]}");
            }
            MatchFormat::Ids => self.join(ids, b" ", out, append_word),
            MatchFormat::Count => drop(write!(out, "{}", ids.len())),
            MatchFormat::Bitmap => {
                let first = out.len();
                out.resize(first + self.bits, b'0');
                for id in ids {
                    if let Some(bit) = (id.0 as usize)
                        .checked_sub(1)
                        .and_then(|at| out.get_mut(first + at))
                    {
                        *bit = b'1';
                    }
                }
            }
        }
        out.push(b'\n');
    }

    /// Appends the line of an event that was refused. A line of JSON has the number of its event, so that none is
    /// needed here.
    pub(super) fn refused(&self, event_id: &[u8], out: &mut Vec<u8>) {
        if self.format != MatchFormat::Json {
            self.event_id(event_id, out);
            out.extend_from_slice(REFUSED.as_bytes());
            out.push(b'\n');
        }
    }

    /// Appends an event's own id and a tab, where lines are no JSON.
    fn event_id(&self, event_id: &[u8], out: &mut Vec<u8>) {
        if !self.has_event_id || self.format == MatchFormat::Json {
            return;
        }
        let text = std::str::from_utf8(event_id).unwrap_or_default();
        let inner = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let bare =
            inner.filter(|inner| !inner.is_empty() && !inner.contains('\\') && is_clear(inner));
        out.extend_from_slice(bare.unwrap_or(text).as_bytes());
        out.push(b'\t');
    }

    fn join(
        &self,
        ids: &[SubscriptionId],
        separator: &[u8],
        out: &mut Vec<u8>,
        append: impl Fn(Name<'_>, &mut Vec<u8>),
    ) {
        for (at, id) in ids.iter().enumerate() {
            if at > 0 {
                out.extend_from_slice(separator);
            }
            match self.names.get(*id) {
                Some(name) => append(name, out),
                None => drop(write!(out, "{}", id.0)),
            }
        }
    }
}

/// Appends an id for a line of ids: as it is if no reader can take it for anything else, else as JSON.
fn append_word(name: Name<'_>, out: &mut Vec<u8>) {
    let text = name.as_str();
    match is_clear(text) {
        true => out.extend_from_slice(text.as_bytes()),
        false => Name::text(text).append_json(out),
    }
}

/// Whether a word stands for itself between blanks.
fn is_clear(text: &str) -> bool {
    let is_unclear = |letter: char| letter.is_whitespace() || is_unfit(letter);
    !text.starts_with('"') && text != REFUSED && !text.contains(is_unclear)
}

/// What stands in place of the ids, the count or the bitmap of an event that was refused.
const REFUSED: &str = "-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_they_would_be_taken_for_something_else() {
        for (text, word) in [
            ("camp-7", "camp-7"),
            ("-7", "-7"),
            ("é", "é"),
            ("-", "\"-\""),
            ("two words", "\"two words\""),
            ("\"", "\"\\\"\""),
            ("a\"b", "a\"b"),
            ("a\u{0}", "\"a\\u0000\""),
            ("a\u{a0}b", "\"a\u{a0}b\""),
        ] {
            let mut out = Vec::new();
            append_word(Name::parse(text), &mut out);
            assert_eq!(String::from_utf8_lossy(&out), word, "{text:?}");
        }
    }
}
