//! What is wrong with a log: each bad message, how often each class of fault occurs, and noise between
//! messages.

use std::collections::BTreeMap;
use std::fmt;

use fixcore::dict::{Dictionary, Warning};
use fixcore::frame::begin_string_bytes;
use fixcore::{Error, ErrorKind, SOH};

use crate::next_inside;

/// Places of noise that are remembered.
const NOISE_NAMED: usize = 20;
/// Bytes that may stand between two fields.
const SEPARATOR_BYTES_MAX: usize = 12;

/// What is wrong with a message. [`Display`](fmt::Display) says it in words, with the byte of the message
/// in its log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The field that is wrong, if it is one.
    pub tag: Option<u32>,
    /// What messages with such a fault have in common: `checksum`, `truncated`, …
    pub class: &'static str,
    reason: Reason,
    /// Where in it another message begins, at a byte of the message in the log.
    inside: Option<usize>,
}

/// The rest of it; words are made of it only where they are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    Kind(ErrorKind),
    /// With the byte in the log.
    At(Error, usize),
    Version(String),
    /// BeginString, and what stands behind it.
    Separator(String, String),
    Warning(Warning),
}

/// The field of a reject that has its reason, and the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RejectReason {
    /// SessionRejectReason (373) of a Reject (35=3).
    Session(u32),
    /// BusinessRejectReason (380) of a BusinessMessageReject (35=j).
    Business(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            Reason::Kind(kind) => write!(f, "{kind}"),
            Reason::At(error, offset) => write!(f, "{}, at byte {offset}", error.without_place()),
            Reason::Version(text) => f.write_str(text),
            Reason::Separator(begin, found) => write!(
                f,
                "behind {begin} stands '{found}', which is not known as a separator"
            ),
            Reason::Warning(warning) => write!(f, "{warning}"),
        }?;
        match self.inside {
            Some(at) => write!(
                f,
                "; a message begins inside it at byte {at}, where reading resumes"
            ),
            None => Ok(()),
        }
    }
}

impl Fault {
    /// The reason that a reject of the message has. `None` for what is not answered, such as a garbled message.
    #[must_use]
    pub fn reject_reason(&self) -> Option<RejectReason> {
        let kind = match &self.reason {
            Reason::Kind(kind) => *kind,
            Reason::At(error, _) => error.kind(),
            Reason::Version(_) | Reason::Separator(..) | Reason::Warning(_) => return None,
        };
        // An application version that nobody knows has a reason of its own.
        if kind == ErrorKind::UnknownValue && matches!(self.tag, Some(1128 | 1130 | 1137)) {
            return Some(RejectReason::Session(18));
        }
        let session = kind.session_reject_reason().map(RejectReason::Session);
        session.or_else(|| kind.business_reject_reason().map(RejectReason::Business))
    }

    /// Whether an engine accepts the message none the less.
    #[must_use]
    pub fn is_warning(&self) -> bool {
        matches!(self.reason, Reason::Warning(_))
    }

    /// What is doubtful in a message.
    pub(crate) fn of_warning(warning: Warning) -> Self {
        Self {
            tag: Some(warning.tag()),
            class: "warning",
            reason: Reason::Warning(warning),
            inside: None,
        }
    }

    /// The fault of something that begins as a message but is not one.
    #[must_use]
    pub fn of_kind(kind: ErrorKind) -> Self {
        Self {
            tag: None,
            class: class(kind),
            reason: Reason::Kind(kind),
            inside: None,
        }
    }

    /// The fault of something that begins with this text, and as a message.
    pub(crate) fn of_start(kind: ErrorKind, text: &[u8]) -> Self {
        let (begin, behind) = text.split_at(begin_string_bytes(text).min(text.len()));
        let behind = behind.get(..SEPARATOR_BYTES_MAX + 2).unwrap_or(behind);
        let is_unknown = matches!(kind, ErrorKind::HeaderOrder | ErrorKind::Separator)
            && fixcore::separator::detect(text).is_none();
        match memchr::memmem::find(behind, b"9=") {
            Some(found @ 1..) if is_unknown => Self {
                tag: None,
                class: "separator not known",
                reason: Reason::Separator(
                    begin.escape_ascii().to_string(),
                    String::from_utf8_lossy(&behind[..found]).into_owned(),
                ),
                inside: None,
            },
            _ => Self::of_kind(kind),
        }
    }

    /// The fault of a message that had `separator` in its log: the byte is counted there.
    #[must_use]
    pub fn of(error: &Error, message: &[u8], separator: &[u8]) -> Self {
        Self {
            tag: error.tag(),
            class: class(error.kind()),
            reason: Reason::At(*error, logged(error.offset(), message, separator)),
            inside: None,
        }
    }

    /// The same of a message behind whose first byte another one may begin: then this says where.
    pub(crate) fn of_damaged(error: &Error, message: &[u8], separator: &[u8]) -> Self {
        let at = next_inside(message);
        Self {
            inside: at.map(|at| logged(at, message, separator)),
            ..Self::of(error, message, separator)
        }
    }

    /// The fault of a message that no dictionary describes: not `own`, and not a built-in one.
    pub(crate) fn of_another_version(begin_string: &[u8], own: Option<&Dictionary>) -> Self {
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
            reason: Reason::Version(text),
            inside: None,
        }
    }
}

/// The byte of a message in its log, where each `separator` stood for one byte.
fn logged(offset: usize, message: &[u8], separator: &[u8]) -> usize {
    let before = message.get(..offset).unwrap_or(message);
    match separator.len() {
        0 | 1 => offset,
        bytes => offset + memchr::memchr_iter(SOH, before).count() * (bytes - 1),
    }
}

/// What messages with such an error have in common.
pub(crate) fn class(kind: ErrorKind) -> &'static str {
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
        ErrorKind::FieldOrder | ErrorKind::GroupOrder => "order of fields",
        ErrorKind::ConditionalTag => "tag missing by another",
        ErrorKind::Contradiction => "contradiction",
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

/// How often each class of fault occurs in a block.
#[derive(Debug, Default)]
pub struct Faults {
    classes: Vec<Seen<u64>>,
    reasons: BTreeMap<RejectReason, u64>,
    between_bytes: u64,
    noise: Noise,
}

/// Bytes between messages that are no text.
#[derive(Debug, Default)]
struct Noise {
    places: u64,
    bytes: u64,
    /// The first places: log, offset, bytes.
    named: Vec<(usize, u64, u64)>,
    /// Where the last ends.
    end: (usize, u64),
}

impl Noise {
    /// Adds a place; one that goes on where the last ended is the same.
    fn add(&mut self, log: usize, offset: u64, bytes: u64) {
        self.bytes += bytes;
        let goes_on = self.places > 0 && self.end == (log, offset);
        self.end = (log, offset + bytes);
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
            self.named.push((log, offset, bytes));
        }
    }

    /// Adds those of the next block of a log.
    fn take(&mut self, log: usize, next: &Self) {
        for (_, offset, bytes) in &next.named {
            self.add(log, *offset, *bytes);
        }
        let named_bytes: u64 = next.named.iter().map(|place| place.2).sum();
        self.bytes += next.bytes - named_bytes;
        self.places += next.places - next.named.len() as u64;
        if next.places > 0 {
            self.end = (log, next.end.1);
        }
    }

    fn clear(&mut self) {
        self.named.clear();
        (self.places, self.bytes, self.end) = (0, 0, (0, 0));
    }
}

impl Faults {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.classes.clear();
        self.reasons.clear();
        self.noise.clear();
        self.between_bytes = 0;
    }

    /// Counts a bad message at this byte of the log.
    pub fn add(&mut self, class: &'static str, offset: u64) {
        count(&mut self.classes, class, 1, offset);
    }

    /// Counts a reason of a reject.
    pub fn reason(&mut self, reason: RejectReason) {
        *self.reasons.entry(reason).or_default() += 1;
    }

    /// Counts bytes in no message, noise included.
    pub fn between(&mut self, bytes: u64) {
        self.between_bytes += bytes;
    }

    /// Counts bytes between messages that are not text, from this byte of the log on.
    pub fn noise(&mut self, offset: u64, bytes: u64) {
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

/// A class of fault in all logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultClass {
    /// Its name.
    pub class: &'static str,
    /// How many faults.
    pub count: u64,
    /// Where the first one is: the log, counted from 0, and the byte.
    pub first: (usize, u64),
}

/// The faults of all blocks so far, added up in the order of the logs.
#[derive(Debug, Default)]
pub struct AllFaults {
    classes: Vec<Seen<(usize, u64)>>,
    reasons: BTreeMap<RejectReason, u64>,
    between_bytes: u64,
    noise: Noise,
}

impl AllFaults {
    /// Adds those of the next block of a log.
    pub fn add(&mut self, log: usize, faults: &Faults) {
        for seen in &faults.classes {
            count(&mut self.classes, seen.class, seen.count, (log, seen.first));
        }
        for (reason, count) in &faults.reasons {
            *self.reasons.entry(*reason).or_default() += count;
        }
        self.between_bytes += faults.between_bytes;
        self.noise.take(log, &faults.noise);
    }

    /// How many faults have each reason of a reject.
    #[must_use]
    pub fn reasons(&self) -> &BTreeMap<RejectReason, u64> {
        &self.reasons
    }

    /// How many bytes are in no message, noise included.
    #[must_use]
    pub fn between_bytes(&self) -> u64 {
        self.between_bytes
    }

    /// In how many places there are bytes between messages that are not text.
    #[must_use]
    pub fn noise_places(&self) -> u64 {
        self.noise.places
    }

    /// How many bytes of noise there are.
    #[must_use]
    pub fn noise_bytes(&self) -> u64 {
        self.noise.bytes
    }

    /// The first places of noise, at most 20: log, byte, and how many bytes.
    #[must_use]
    pub fn noise(&self) -> &[(usize, u64, u64)] {
        &self.noise.named
    }

    /// The classes of faults, the most frequent first. Noise is one of them.
    #[must_use]
    pub fn classes(&self) -> Vec<FaultClass> {
        let mut classes: Vec<_> = self
            .classes
            .iter()
            .map(|seen| FaultClass {
                class: seen.class,
                count: seen.count,
                first: seen.first,
            })
            .collect();
        if let Some((log, offset, _)) = self.noise.named.first() {
            classes.push(FaultClass {
                class: "noise",
                count: self.noise.places,
                first: (*log, *offset),
            });
        }
        classes.sort_by_key(|seen| std::cmp::Reverse(seen.count));
        classes
    }
}
