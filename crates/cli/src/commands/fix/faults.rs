//! What is wrong with a log: each message that is bad, what of that is of one class, and noise between
//! messages.

use std::path::PathBuf;

use fixcore::dict::Dictionary;
use fixcore::{Error, ErrorKind, SOH};
use latency::report::{Cell, Table, Unit};

use crate::export::names;
use crate::session::Outcome;

/// Places of noise that the report names.
const NOISE_NAMED: usize = 20;

/// What is wrong with a message.
pub(super) struct Wrong {
    pub(super) tag: Option<u32>,
    pub(super) class: &'static str,
    pub(super) text: String,
}

impl Wrong {
    /// Of what begins as a message and is none.
    pub(super) fn of_kind(kind: ErrorKind) -> Self {
        Self {
            tag: None,
            class: class(kind),
            text: kind.to_string(),
        }
    }

    /// Of a message that had another separator in its log, where bytes count from its beginning there.
    pub(super) fn of(error: &Error, message: &[u8], separator: &[u8]) -> Self {
        let before = message.get(..error.offset()).unwrap_or(message);
        let separators = before.iter().filter(|byte| **byte == SOH).count();
        let offset = error.offset() + separators * separator.len().saturating_sub(1);
        Self {
            tag: error.tag(),
            class: class(error.kind()),
            text: format!("{}, at byte {offset}", error.without_place()),
        }
    }

    /// Of a version that the dictionary of the flag, or none that is built in, is of.
    pub(super) fn of_another_version(begin_string: &[u8], own: Option<&Dictionary>) -> Self {
        let text = match own {
            Some(own) => format!(
                "the message is of {}, the dictionary of {}",
                begin_string.escape_ascii(),
                own.begin_string()
            ),
            None => "there is no dictionary for this BeginString".to_owned(),
        };
        Self {
            tag: Some(8),
            class: "version",
            text,
        }
    }
}

/// What messages with such an error have in common.
fn class(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Truncated | ErrorKind::Unterminated => "truncated",
        ErrorKind::TooLong => "too long",
        ErrorKind::Trailing | ErrorKind::Trailer => "end",
        ErrorKind::HeaderOrder => "order of 8, 9 and 35",
        ErrorKind::Separator => "separator",
        ErrorKind::Tag => "tag",
        ErrorKind::EmptyValue => "empty value",
        ErrorKind::BodyLength => "length",
        ErrorKind::CheckSum => "checksum",
        ErrorKind::DataLength | ErrorKind::DataPair => "length of data",
        ErrorKind::Value => "type of a value",
        ErrorKind::UnknownValue => "value not listed",
        ErrorKind::GroupCount => "entries of a group",
        ErrorKind::UnexpectedTag => "tag not allowed",
        ErrorKind::MissingTag => "tag missing",
        ErrorKind::UnknownTag => "tag not known",
        ErrorKind::RepeatedTag => "tag repeated",
        ErrorKind::FieldOrder => "order of fields",
        ErrorKind::UnknownMessage => "type of message",
        _ => "other",
    }
}

/// How often something was seen, and where it was first.
#[derive(Debug, Clone, Copy)]
struct Seen<P> {
    class: &'static str,
    count: u64,
    first: P,
}

/// What is wrong with a block.
#[derive(Debug, Default)]
pub(super) struct Faults {
    classes: Vec<Seen<u64>>,
    /// Bytes in no message, noise among them.
    pub(super) between_bytes: u64,
    noise: Noise,
}

/// Bytes between messages that are no text.
#[derive(Debug, Default)]
struct Noise {
    places: u64,
    bytes: u64,
    /// The first places: file, offset, bytes.
    named: Vec<(usize, u64, u64)>,
    /// Where the last ends.
    end: (usize, u64),
}

impl Noise {
    /// Adds a place; one that goes on where the last ended is the same.
    fn add(&mut self, file: usize, offset: u64, bytes: u64) {
        self.bytes += bytes;
        let goes_on = self.places > 0 && self.end == (file, offset);
        self.end = (file, offset + bytes);
        if goes_on {
            // The last one has a name only while all have.
            if let Some(last) = self.named.last_mut()
                && last.1 + last.2 == offset
            {
                last.2 += bytes;
            }
            return;
        }
        self.places += 1;
        if self.named.len() < NOISE_NAMED {
            self.named.push((file, offset, bytes));
        }
    }

    /// Adds those of the next block of a file.
    fn take(&mut self, file: usize, next: &Self) {
        for (_, offset, bytes) in &next.named {
            self.add(file, *offset, *bytes);
        }
        let named_bytes: u64 = next.named.iter().map(|place| place.2).sum();
        self.bytes += next.bytes - named_bytes;
        self.places += next.places - next.named.len() as u64;
        if next.places > 0 {
            self.end = (file, next.end.1);
        }
    }

    fn clear(&mut self) {
        self.named.clear();
        (self.places, self.bytes, self.end) = (0, 0, (0, 0));
    }
}

impl Faults {
    pub(super) fn clear(&mut self) {
        self.classes.clear();
        self.noise.clear();
        self.between_bytes = 0;
    }

    /// Counts a message that is bad.
    pub(super) fn add(&mut self, class: &'static str, offset: u64) {
        count(&mut self.classes, class, 1, offset);
    }

    /// Counts bytes between messages that are no text.
    pub(super) fn noise(&mut self, offset: u64, bytes: u64) {
        self.noise.add(0, offset, bytes);
    }
}

/// Adds to a class, of which there are few.
fn count<P>(classes: &mut Vec<Seen<P>>, class: &'static str, count: u64, first: P) {
    match classes.iter_mut().find(|seen| seen.class == class) {
        Some(seen) => seen.count += count,
        None => classes.push(Seen {
            class,
            count,
            first,
        }),
    }
}

/// What is wrong with all blocks so far.
#[derive(Debug, Default)]
pub(super) struct AllFaults {
    classes: Vec<Seen<(usize, u64)>>,
    between_bytes: u64,
    noise: Noise,
}

impl AllFaults {
    /// Adds those of the next block.
    pub(super) fn take(&mut self, file: usize, faults: &Faults) {
        for seen in &faults.classes {
            count(
                &mut self.classes,
                seen.class,
                seen.count,
                (file, seen.first),
            );
        }
        self.between_bytes += faults.between_bytes;
        self.noise.take(file, &faults.noise);
    }

    pub(super) fn noise_places(&self) -> u64 {
        self.noise.places
    }

    /// Puts them into the report.
    pub(super) fn conclude(mut self, files: &[PathBuf], outcome: &mut Outcome) {
        let params = &mut outcome.workload.params;
        params.insert("between_bytes".to_owned(), self.between_bytes.into());
        params.insert("noise".to_owned(), self.noise.places.into());
        params.insert("noise_bytes".to_owned(), self.noise.bytes.into());
        let name = |file: usize| {
            let path = files.get(file).map(|path| names::path(path));
            Cell::from(path.unwrap_or_default())
        };
        if let Some((file, offset, _)) = self.noise.named.first() {
            count(
                &mut self.classes,
                "noise",
                self.noise.places,
                (*file, *offset),
            );
        }
        if !self.classes.is_empty() {
            let columns = [
                ("fault", Unit::Text),
                ("count", Unit::Count),
                ("first_file", Unit::Text),
                ("first_offset", Unit::Count),
            ];
            let mut table = Table::new("faults", &columns);
            self.classes
                .sort_by_key(|seen| std::cmp::Reverse(seen.count));
            for seen in &self.classes {
                let (file, offset) = seen.first;
                let row = vec![
                    seen.class.into(),
                    seen.count.into(),
                    name(file),
                    offset.into(),
                ];
                table.rows.push(row);
            }
            outcome.tables.push(table);
        }
        if !self.noise.named.is_empty() {
            let columns = [
                ("file", Unit::Text),
                ("offset", Unit::Count),
                ("bytes", Unit::Count),
            ];
            let mut table = Table::new("noise", &columns);
            for (file, offset, bytes) in &self.noise.named {
                let row = vec![name(*file), (*offset).into(), (*bytes).into()];
                table.rows.push(row);
            }
            outcome.tables.push(table);
        }
    }
}
