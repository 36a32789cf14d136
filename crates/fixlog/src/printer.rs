//! Messages as text for people: a field on a line, with the names of fields and values.
//!
//! What a line has before its value, and behind a value of one byte, is made once for each tag and
//! kept; then a line is three copies.

use std::collections::HashMap;

use fixcore::dict::{Dictionary, FieldSpec};
use fixcore::{Field, Message, SOH};

use crate::line::{Line, digits, is_plain};
use crate::{Lines, Place};

/// Copied at once where there is room on both sides.
const COPY_BYTES: usize = 32;
/// Bytes that are looked at in one step.
const BLOCK_BYTES: usize = 32;
/// Tags whose names are kept.
const TAGS_KEPT: usize = 1 << 14;
/// Digits of the largest offset.
const OFFSET_BYTES: usize = 20;
/// Types of messages whose names are kept.
const TYPES_KEPT: usize = 1 << 10;

/// Where a text is among those that are kept.
#[derive(Debug, Default, Clone, Copy)]
struct Kept {
    start: u32,
    bytes: u32,
}

/// What is known of a tag.
#[derive(Debug)]
struct Known<'d> {
    spec: Option<&'d FieldSpec>,
    /// Whether some values have names.
    is_named: bool,
    before: Kept,
    /// What stands behind values of one byte that have names.
    behind: Vec<(u8, Kept)>,
}

/// The names of a pair of dictionaries, as far as they were needed.
#[derive(Debug)]
struct Names<'d> {
    dictionaries: [Option<&'d Dictionary>; 2],
    /// Ends with room for a copy of more than is wanted.
    text: Vec<u8>,
    known: Vec<Known<'d>>,
    /// By tag: the place in `known`, and 1.
    places: Vec<u32>,
    /// What the first line of a message has before its offset, by MsgType (35).
    types: HashMap<Vec<u8>, Kept>,
    /// The same of the last message.
    last_type: (Vec<u8>, Kept),
}

/// Writes messages as text.
///
/// ```
/// use fixcore::Decoder;
/// use fixcore::dict::Version;
/// use fixlog::{Lines, Place, Printer};
///
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01")?;
/// let mut out = Vec::new();
/// let names = [Version::Fix44.dictionary(), None];
/// let place = Place { offset: 7, line: Some(1), path: None, origin: None };
/// Printer::new(Lines::new()).message(&mut out, place, &message, names);
/// let text = String::from_utf8_lossy(&out);
/// let mut lines = text.lines();
/// assert_eq!(lines.next(), Some("Heartbeat (0) at 7, line 1"));
/// assert_eq!(lines.next(), Some("      8 BeginString = FIX.4.4"));
/// assert_eq!(lines.nth(1), Some("     35 MsgType = 0 (HEARTBEAT)"));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug)]
pub struct Printer<'d> {
    lines: Lines,
    names: Vec<Names<'d>>,
    /// The message that is being written, with room behind it.
    text: Vec<u8>,
    tags: Vec<u32>,
}

impl<'d> Printer<'d> {
    /// A printer with the escapes of `lines`.
    #[must_use]
    pub fn new(lines: Lines) -> Self {
        Self {
            lines,
            names: Vec::new(),
            text: Vec::new(),
            tags: Vec::new(),
        }
    }

    /// Writes the fields with these tags only; all, if there are none.
    #[must_use]
    pub fn tags(mut self, tags: impl IntoIterator<Item = u32>) -> Self {
        self.tags.extend(tags);
        self
    }

    /// Appends a message. The first dictionary that knows a field gives its name and those of its
    /// values; a field that none knows is `?`.
    pub fn message(
        &mut self,
        out: &mut Vec<u8>,
        place: Place<'_>,
        message: &Message<'_, '_>,
        dictionaries: [Option<&'d Dictionary>; 2],
    ) {
        let at = self.names_of(dictionaries);
        let Some(names) = self.names.get_mut(at) else {
            return;
        };
        let bytes = message.bytes();
        let is_plain = separators_of_plain(bytes) == Some(message.len());
        let mut line = Line {
            out: &mut self.text,
            at: 0,
        };
        names.first_line(&mut line, message.msg_type(), place, self.lines);
        for field in message.fields() {
            if !self.tags.is_empty() && !self.tags.contains(&field.tag) {
                continue;
            }
            names.field(&mut line, bytes, &field, is_plain, self.lines);
        }
        let end = line.at;
        out.extend_from_slice(self.text.get(..end).unwrap_or(&[]));
    }

    /// The names of a pair of dictionaries.
    fn names_of(&mut self, dictionaries: [Option<&'d Dictionary>; 2]) -> usize {
        let is_same = |one: Option<&Dictionary>, other: Option<&Dictionary>| match (one, other) {
            (None, None) => true,
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => false,
        };
        let is = |names: &Names<'_>| {
            let mut pairs = names.dictionaries.into_iter().zip(dictionaries);
            pairs.all(|(one, other)| is_same(one, other))
        };
        self.names.iter().position(is).unwrap_or_else(|| {
            self.names.push(Names {
                dictionaries,
                text: vec![0; COPY_BYTES],
                known: Vec::new(),
                places: Vec::new(),
                types: HashMap::new(),
                last_type: Default::default(),
            });
            self.names.len() - 1
        })
    }
}

impl<'d> Names<'d> {
    /// Writes the line before the fields of a message.
    #[inline]
    fn first_line(&mut self, line: &mut Line<'_>, msg_type: &[u8], place: Place<'_>, lines: Lines) {
        if self.last_type.0 != msg_type {
            match self.types.get(msg_type) {
                Some(kept) => self.last_type.1 = *kept,
                None if self.types.len() < TYPES_KEPT => {
                    let kept = self.keep(&self.type_text(msg_type, lines));
                    self.types.insert(msg_type.to_vec(), kept);
                    self.last_type.1 = kept;
                }
                None => {
                    exactly(line, self.type_text(msg_type, lines).as_bytes());
                    return end_first(line, place, lines);
                }
            }
            self.last_type.0.clear();
            self.last_type.0.extend_from_slice(msg_type);
        }
        let kept = self.last_type.1;
        line.room(kept.bytes as usize + 2 * COPY_BYTES);
        line.copy::<COPY_BYTES>(&self.text, kept.start as usize, kept.bytes as usize);
        end_first(line, place, lines);
    }

    /// What the first line has before the offset.
    #[cold]
    fn type_text(&self, msg_type: &[u8], lines: Lines) -> String {
        let found = self.dictionaries.into_iter().flatten();
        let name = found.filter_map(|known| known.message(msg_type)).next();
        let name = lines.visible(name.map_or("?", |found| found.name()));
        format!("{name} ({}) at ", msg_type.escape_ascii())
    }

    /// Writes the line of a field. `is_plain`: no byte of the message needs an escape.
    #[inline]
    fn field(
        &mut self,
        line: &mut Line<'_>,
        bytes: &[u8],
        field: &Field<'_>,
        is_plain: bool,
        lines: Lines,
    ) {
        let place = self.places.get(field.tag as usize).copied().unwrap_or(0);
        let place = match place.checked_sub(1) {
            Some(place) => place as usize,
            None if (field.tag as usize) < TAGS_KEPT => self.learn(field.tag, lines),
            None => return self.unkept(line, field, lines),
        };
        let Some(known) = self.known.get(place) else {
            return;
        };
        let behind = match (known.is_named, field.value) {
            (false, _) => None,
            (true, [byte]) => known
                .behind
                .iter()
                .find(|kept| kept.0 == *byte)
                .map(|kept| kept.1),
            (true, value) => match known.spec.and_then(|spec| spec.value_name(value)) {
                Some(name) => return self.with_meaning(line, field, place, name, lines),
                None => None,
            },
        };
        let length = field.value.len();
        let kept_bytes = known.before.bytes + behind.map_or(1, |kept| kept.bytes);
        line.room(kept_bytes as usize + length + 2 * COPY_BYTES);
        let before = known.before;
        line.copy::<COPY_BYTES>(&self.text, before.start as usize, before.bytes as usize);
        if is_plain {
            let start = field.offset + digits(field.tag) + 1;
            line.copy::<COPY_BYTES>(bytes, start, length);
        } else {
            escaped(line, field.value);
        }
        match behind {
            Some(kept) => {
                line.room(kept.bytes as usize + 2 * COPY_BYTES);
                line.copy::<COPY_BYTES>(&self.text, kept.start as usize, kept.bytes as usize);
            }
            None => line.put(b"\n"),
        }
    }

    /// Writes the line of a field whose value has a name and more than one byte.
    fn with_meaning(
        &self,
        line: &mut Line<'_>,
        field: &Field<'_>,
        place: usize,
        meaning: &str,
        lines: Lines,
    ) {
        let before = self
            .known
            .get(place)
            .map_or(Kept::default(), |known| known.before);
        line.room(before.bytes as usize + 2 * COPY_BYTES);
        line.copy::<COPY_BYTES>(&self.text, before.start as usize, before.bytes as usize);
        escaped(line, field.value);
        exactly(line, format!(" ({})\n", lines.visible(meaning)).as_bytes());
    }

    /// Writes the line of a field whose tag is so high that nothing of it is kept.
    #[cold]
    fn unkept(&self, line: &mut Line<'_>, field: &Field<'_>, lines: Lines) {
        let found = self.dictionaries.into_iter().flatten();
        let spec = found.filter_map(|known| known.field(field.tag)).next();
        let name = lines.visible(spec.map_or("?", FieldSpec::name));
        exactly(line, format!("{:>7} {name} = ", field.tag).as_bytes());
        escaped(line, field.value);
        match spec.and_then(|spec| spec.value_name(field.value)) {
            Some(meaning) => {
                exactly(line, format!(" ({})\n", lines.visible(meaning)).as_bytes());
            }
            None => exactly(line, b"\n"),
        }
    }

    /// Keeps the names of a tag.
    #[cold]
    fn learn(&mut self, tag: u32, lines: Lines) -> usize {
        let found = self.dictionaries.into_iter().flatten();
        let spec = found.filter_map(|known| known.field(tag)).next();
        let name = lines.visible(spec.map_or("?", FieldSpec::name));
        let before = self.keep(&format!("{tag:>7} {name} = "));
        let mut behind = Vec::new();
        for (value, meaning) in spec.map_or(&[][..], FieldSpec::values) {
            if let [byte] = value.as_bytes() {
                let kept = self.keep(&format!(" ({})\n", lines.visible(meaning)));
                behind.push((*byte, kept));
            }
        }
        self.known.push(Known {
            spec,
            is_named: spec.is_some_and(|spec| !spec.values().is_empty()),
            before,
            behind,
        });
        let tags = self.places.len().max(tag as usize + 1);
        self.places.resize(tags, 0);
        if let Some(place) = self.places.get_mut(tag as usize) {
            *place = self.known.len() as u32;
        }
        self.known.len() - 1
    }

    fn keep(&mut self, text: &str) -> Kept {
        let start = self.text.len() - COPY_BYTES;
        self.text.truncate(start);
        self.text.extend_from_slice(text.as_bytes());
        self.text.extend_from_slice(&[0; COPY_BYTES]);
        Kept {
            start: start as u32,
            bytes: text.len() as u32,
        }
    }
}

/// How many times the byte 1 is among bytes of which all others are written as they are; `None` if one
/// is not.
fn separators_of_plain(bytes: &[u8]) -> Option<usize> {
    let mut count = 0;
    let mut add = |block: &[u8; BLOCK_BYTES]| {
        let (mut all, mut separators) = (true, 0_u8);
        for byte in block {
            let is_separator = *byte == SOH;
            all &= is_separator | (is_plain(*byte) & (*byte != b'\''));
            separators += u8::from(is_separator);
        }
        count += usize::from(separators);
        all
    };
    let (blocks, rest) = bytes.as_chunks();
    if !blocks.iter().all(&mut add) {
        return None;
    }
    let mut last = [b' '; BLOCK_BYTES];
    last.get_mut(..rest.len())?.copy_from_slice(rest);
    add(&last).then_some(count)
}

/// Writes the end of the first line.
fn end_first(line: &mut Line<'_>, place: Place<'_>, lines: Lines) {
    line.room(2 * OFFSET_BYTES + COPY_BYTES);
    line.number(place.offset);
    if let Some(number) = place.line {
        match place.origin {
            None => line.put(b", line "),
            Some(_) => line.put(b", packet "),
        }
        line.number(number);
    }
    if let Some(origin) = place.origin {
        exactly(line, b" of ");
        exactly(line, origin.stream.as_bytes());
        if let Some(ns) = origin.time_ns {
            exactly(line, b" at ");
            exactly(line, crate::stamp::time(ns).as_bytes());
        }
    }
    if let Some(path) = place.path {
        exactly(line, b" of ");
        exactly(line, lines.visible(&path.to_string_lossy()).as_bytes());
    }
    line.room(1);
    line.put(b"\n");
}

/// Writes bytes with escapes for what is not printable ASCII.
fn escaped(line: &mut Line<'_>, value: &[u8]) {
    line.room(4 * value.len() + 2 * COPY_BYTES);
    for byte in value.iter().flat_map(|byte| byte.escape_ascii()) {
        line.put(&[byte]);
    }
}

fn exactly(line: &mut Line<'_>, text: &[u8]) {
    line.room(text.len() + 2 * COPY_BYTES);
    line.copy::<COPY_BYTES>(text, 0, text.len());
}
