//! The line that `betree match` writes for an event, in each form.

use std::io::Write as _;

use betree::{Name, Names, SubscriptionId};

use crate::commands::betree::flags::MatchOutput;
use crate::term::plain::is_unfit;

/// How lines are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form<'a> {
    pub(super) output: MatchOutput,
    /// The ids that people gave to expressions; without them, ids are numbers of lines.
    pub(super) names: &'a Names,
    /// The bits of a bitmap.
    pub(super) lines: usize,
}

impl Form<'_> {
    /// Appends the line of an event.
    pub(super) fn matches(&self, number: u64, ids: &[SubscriptionId], out: &mut Vec<u8>) {
        // Writing into memory does not fail.
        match self.output {
            MatchOutput::Json => {
                let _ = write!(out, "{{\"event\":{number},\"ids\":[");
                self.join(ids, b",", out, |name, out| name.append_json(out));
                out.extend_from_slice(b"]}");
            }
            MatchOutput::Ids => self.join(ids, b" ", out, append_word),
            MatchOutput::Count => drop(write!(out, "{}", ids.len())),
            MatchOutput::Bitmap => {
                let first = out.len();
                out.resize(first + self.lines, b'0');
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
    let is_unclear = |letter: char| letter.is_whitespace() || is_unfit(letter);
    match text.starts_with('"') || text == REFUSED || text.contains(is_unclear) {
        true => Name::text(text).append_json(out),
        false => out.extend_from_slice(text.as_bytes()),
    }
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
