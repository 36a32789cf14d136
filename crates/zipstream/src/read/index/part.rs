//! One part of a stream: fetched, then decoded and verified on any thread.

use std::ops::Range;

use super::super::source::{ReadAt, read_full};
use super::deflate_index::{DeflateIndex, Part};
use super::format::sum_of;
use crate::deflate::{InflateFlaw, Inflater, PART_SLACK_BYTES};
use crate::engine::content::invalid_deflate;
use crate::error::{Error, ErrorKind};

/// What to do about content that differs from the index.
const HELP: &str = "make the index again; if that fails too, the archive is damaged";

/// The bytes that a part is decoded from.
#[derive(Debug, Default)]
pub(super) struct Fetched {
    pub(super) number: usize,
    compressed: Vec<u8>,
    window: Vec<u8>,
}

impl Fetched {
    /// Reads what a part needs, and nothing else: its compressed bytes in one read, and its window.
    /// The stream starts at byte `start` of the source.
    pub(super) fn fetch<R: ReadAt, S: ReadAt>(
        &mut self,
        (source, start): (&R, u64),
        index: &DeflateIndex<S>,
        number: usize,
    ) -> Result<(), Error> {
        let part = index.part(number);
        self.number = number;
        // The stream was found to be in its source, and a part is no larger than 128 MiB.
        let bytes = usize::try_from(part.bytes.end - part.bytes.start).unwrap_or(0);
        self.compressed.resize(bytes, 0);
        let at = start.saturating_add(part.bytes.start);
        let got = read_full(source, &mut self.compressed, at);
        let got = got.map_err(|error| Error::io(&error).at(at))?;
        if got < bytes {
            return Err(Error::truncated(at + got as u64, "the archive ends"));
        }
        index.fetch_window(number, &mut self.window)
    }

    /// The bytes that were read.
    pub(super) fn bytes(&self) -> u64 {
        (self.compressed.len() + self.window.len()) as u64
    }
}

/// The content of a part, behind its window.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    bytes: Vec<u8>,
    place: Range<usize>,
    /// Where the part starts in the content.
    start: u64,
}

impl Decoded {
    /// The bytes of `range` that this part has.
    pub(super) fn slice(&self, range: &Range<u64>) -> &[u8] {
        let content = &self.bytes[self.place.clone()];
        let within = |place: u64| {
            let at = usize::try_from(place.saturating_sub(self.start)).unwrap_or(usize::MAX);
            at.min(content.len())
        };
        let (start, end) = (within(range.start), within(range.end));
        &content[start..end.max(start)]
    }
}

/// Decodes and verifies a part.
pub(super) fn decode<S: ReadAt>(
    index: &DeflateIndex<S>,
    fetched: &Fetched,
    inflater: &mut Inflater,
    decoded: &mut Decoded,
) -> Result<(), Error> {
    let part = index.part(fetched.number);
    let (before, content) = (part.before(), part.content_bytes());
    decoded.place = 0..0;
    decoded.start = part.content.start;
    let out = &mut decoded.bytes;
    out.resize(before + content + PART_SLACK_BYTES, 0);
    index.inflate_window(part.number, &fetched.window, inflater, out, before)?;
    let sizes = (before, content);
    let inflated = inflater.part(part.bit, &fetched.compressed, out, sizes, part.last);
    inflated.map_err(|error| match error.flaw() {
        InflateFlaw::Room => differs(&part, "more content than the index states"),
        InflateFlaw::Truncated => differs(&part, "less content than the index states"),
        _ => invalid_deflate(&error).help(HELP),
    })?;
    let place = before..before + content;
    let (stated, computed) = (part.crc32, sum_of(&out[place.clone()]));
    if stated != computed {
        let what = format!("CRC-32 stated in the index {stated:08x}, computed {computed:08x}");
        return Err(differs(&part, &what));
    }
    decoded.place = place;
    Ok(())
}

fn differs(part: &Part, what: &str) -> Error {
    let Range { start, end } = part.content;
    let what = format!("bytes {start} to {end} of the content: {what}");
    Error::new(ErrorKind::Checksum, what).help(HELP)
}
