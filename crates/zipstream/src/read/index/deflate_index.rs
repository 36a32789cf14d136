//! An index that was read and checked, and its windows.

use std::ops::Range;

use super::super::source::{ReadAt, read_full};
use super::format::{HEAD_BYTES, Head, POINT_BYTES, Point, SUM_BYTES, invalid, le32, sum_of};
use crate::crc::Crc32;
use crate::deflate::Inflater;
use crate::error::{Error, ErrorKind};

/// The most content, and the most compressed bytes, between two points: what one thread has in memory.
pub(super) const PART_BYTES_MAX: u64 = 128 << 20;
/// What a match may refer to.
pub(super) const WINDOW_BYTES: u64 = 32 << 10;
/// The largest stored window: deflate adds a few bytes to what it cannot make smaller.
pub(super) const STORED_WINDOW_BYTES_MAX: u32 = 33 << 10;
/// No byte of a deflate stream stands for more bytes of content.
const RATIO_MAX: u64 = 1032;

/// An index into one deflate stream: points from which it can be decoded, each with the 32 KiB of content
/// before it, and checksums of the content between them.
///
/// [`IndexBuilder`](crate::IndexBuilder) and [`ArchiveReader::build_index`](crate::ArchiveReader::build_index)
/// make one. It is read from anything that can be [read at an offset](ReadAt): its table when it is opened,
/// a window when it is needed. It takes up to 32 KiB for every 4 MiB of content, usually a quarter of that.
///
/// An index is bound to its content by the sizes and the CRC-32 of the stream: an index of another content is
/// refused with [`ErrorKind::StaleIndex`], one that is damaged with
/// [`ErrorKind::Index`]. The checksums of all parts add up to the CRC-32 of the content, and no part is
/// returned before its checksum is verified.
#[derive(Debug, Clone)]
pub struct DeflateIndex<S = Vec<u8>> {
    source: S,
    head: Head,
    points: Vec<Point>,
    /// Where each window starts in the source.
    windows: Vec<u64>,
}

/// What lies between two points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) number: usize,
    pub(super) content: Range<u64>,
    /// Its first bit, and the bytes of the stream that hold it.
    pub(super) bit: u64,
    pub(super) bytes: Range<u64>,
    pub(super) crc32: u32,
    /// Whether the stream ends with it.
    pub(super) last: bool,
}

impl Part {
    /// Bytes of content before it that matches may refer to.
    pub(super) fn before(&self) -> usize {
        self.content.start.min(WINDOW_BYTES) as usize
    }

    /// Bytes of its content, at most [`PART_BYTES_MAX`].
    pub(super) fn content_bytes(&self) -> usize {
        (self.content.end - self.content.start) as usize
    }
}

impl<S: ReadAt> DeflateIndex<S> {
    /// Opens an index: reads its header and its table, and checks both.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] says what is wrong with it.
    pub fn open(source: S) -> Result<Self, Error> {
        let io = |error: std::io::Error| Error::io(&error);
        let found = source.size().map_err(io)?;
        let mut head = [0; HEAD_BYTES];
        if read_full(&source, &mut head, 0).map_err(io)? < HEAD_BYTES {
            return Err(invalid(format!("it ends after {found} bytes")));
        }
        let parsed = Head::parse(&head)?;
        let table_bytes = u64::from(parsed.points) * POINT_BYTES as u64;
        let rest = table_bytes + SUM_BYTES as u64;
        let windows_start = HEAD_BYTES as u64 + rest;
        if windows_start > found {
            let points = parsed.points;
            let what = format!("it ends after {found} bytes, but states {points} points");
            return Err(invalid(what));
        }
        // The source has these bytes.
        let mut table = vec![0; usize::try_from(rest).unwrap_or(0)];
        if read_full(&source, &mut table, HEAD_BYTES as u64).map_err(io)? < table.len() {
            return Err(invalid("it became shorter while it was read"));
        }
        let (table, stated) = table.split_at(table.len().saturating_sub(SUM_BYTES));
        let (stated, computed) = (le32(stated, 0), sum_of(&[&head[..], table].concat()));
        if stated != computed {
            let what = format!("CRC-32 of its table: stated {stated:08x}, computed {computed:08x}");
            return Err(invalid(what));
        }
        let records = table.chunks_exact(POINT_BYTES);
        let points: Vec<Point> = records
            .filter_map(|record| record.first_chunk().map(Point::parse))
            .collect();
        let mut windows = Vec::with_capacity(points.len());
        let mut at = windows_start;
        for point in &points {
            windows.push(at);
            at += u64::from(point.window_bytes);
        }
        if at != found {
            return Err(invalid(format!("it has {found} bytes, but states {at}")));
        }
        let index = Self {
            source,
            head: parsed,
            points,
            windows,
        };
        index.check()?;
        Ok(index)
    }

    /// Checks that the points follow each other, and that the checksums add up.
    fn check(&self) -> Result<(), Error> {
        let first = self.points.first();
        let starts = first.is_some_and(|first| (first.content, first.bit) == (0, 0));
        if !starts {
            return Err(invalid("its first point is not the start of the stream"));
        }
        if self.head.compressed_bytes > u64::MAX / 8
            || self
                .head
                .start
                .checked_add(self.head.compressed_bytes)
                .is_none()
        {
            return Err(invalid("it states more compressed bytes than there can be"));
        }
        let mut sum = 0;
        for (number, point) in self.points.iter().enumerate() {
            let wrong = |what: &str| Err(invalid(format!("point {number}: {what}")));
            let next = self.points.get(number + 1);
            let bits = next.map_or(8 * self.head.compressed_bytes, |next| next.bit);
            let content = next.map_or(self.head.content_bytes, |next| next.content);
            // Only the last part may be empty.
            if content < point.content || (content == point.content && next.is_some()) {
                return wrong("its content does not end after it starts");
            }
            if bits <= point.bit {
                return wrong("its compressed bytes do not end after they start");
            }
            let part = self.part(number);
            let (content, compressed) =
                (content - point.content, part.bytes.end - part.bytes.start);
            if content.max(compressed) > PART_BYTES_MAX {
                return wrong("the next point is more than 128 MiB away");
            }
            if content > compressed * RATIO_MAX {
                return wrong("more content than its compressed bytes can hold");
            }
            let windowed = point.content > 0;
            if windowed != (point.window_bytes > 0) || point.window_bytes > STORED_WINDOW_BYTES_MAX
            {
                return wrong("a window of an impossible size");
            }
            sum = Crc32::joined(sum, point.crc32, content);
        }
        if sum != self.head.crc32 {
            let stated = self.head.crc32;
            let what = format!(
                "CRC-32 of the content: stated {stated:08x}, but its parts add up to {sum:08x}"
            );
            return Err(invalid(what));
        }
        Ok(())
    }

    /// Where the compressed stream starts in the source that it was made from.
    pub fn start(&self) -> u64 {
        self.head.start
    }

    /// Bytes of the compressed stream.
    pub fn compressed_bytes(&self) -> u64 {
        self.head.compressed_bytes
    }

    /// Bytes of the content.
    pub fn content_bytes(&self) -> u64 {
        self.head.content_bytes
    }

    /// CRC-32 of the content.
    pub fn crc32(&self) -> u32 {
        self.head.crc32
    }

    /// The number of places from which the content can be decoded, its start included.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// What it was read from; the whole index as bytes, of one that was just made.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Refuses a stream that differs from that of the index. Bytes that follow a stream within its
    /// place do not count.
    pub(super) fn bind(&self, compressed: u64, content: u64, crc32: u32) -> Result<(), Error> {
        let head = &self.head;
        let bytes = |bytes: u64| bytes.to_string();
        let sum = |sum: u32| format!("{sum:08x}");
        let differing = [
            (
                "compressed size",
                bytes(head.compressed_bytes),
                bytes(compressed),
            ),
            ("size", bytes(head.content_bytes), bytes(content)),
            ("CRC-32", sum(head.crc32), sum(crc32)),
        ];
        match differing.iter().find(|(_, stated, found)| stated != found) {
            Some((what, stated, found)) => {
                let what = format!(
                    "the index is of another content: {what} in the index {stated}, in the archive {found}"
                );
                Err(Error::new(ErrorKind::StaleIndex, what).help("make the index again"))
            }
            None => Ok(()),
        }
    }

    /// The part that has this byte of the content, or the last.
    pub(super) fn part_of(&self, content: u64) -> usize {
        let behind = self
            .points
            .partition_point(|point| point.content <= content);
        behind.saturating_sub(1)
    }

    /// A part; `number` is less than the number of points.
    pub(super) fn part(&self, number: usize) -> Part {
        let point = self.points.get(number).copied().unwrap_or_default();
        let next = self.points.get(number + 1);
        let (content_end, bytes_end) = match next {
            Some(next) => (next.content, next.bit.div_ceil(8)),
            None => (self.head.content_bytes, self.head.compressed_bytes),
        };
        Part {
            number,
            content: point.content..content_end,
            bit: point.bit,
            bytes: point.bit / 8..bytes_end,
            crc32: point.crc32,
            last: next.is_none(),
        }
    }

    /// Reads the window of a part as it is stored.
    pub(super) fn fetch_window(&self, number: usize, stored: &mut Vec<u8>) -> Result<(), Error> {
        let place = self.points.get(number).zip(self.windows.get(number));
        let (bytes, at) = place.map_or((0, 0), |(point, at)| (point.window_bytes, *at));
        stored.resize(bytes as usize, 0);
        let got = read_full(&self.source, stored, at).map_err(|error| Error::io(&error))?;
        if got < stored.len() {
            return Err(invalid(format!(
                "window {number}: the index ends within it"
            )));
        }
        Ok(())
    }

    /// Decompresses a stored window to the first `bytes` bytes of `out`, which has more room.
    pub(super) fn inflate_window(
        &self,
        number: usize,
        stored: &[u8],
        inflater: &mut Inflater,
        out: &mut [u8],
        bytes: usize,
    ) -> Result<(), Error> {
        if bytes == 0 {
            return Ok(());
        }
        let wrong = |what: String| invalid(format!("window {number}: {what}"));
        let inflated = inflater.whole(stored, out, bytes);
        let inflated = inflated.map_err(|error| wrong(error.to_string()))?;
        if inflated.produced != bytes {
            let found = inflated.produced;
            return Err(wrong(format!("{found} bytes in place of {bytes}")));
        }
        let stated = self
            .points
            .get(number)
            .map_or(0, |point| point.window_crc32);
        let computed = sum_of(&out[..bytes]);
        if stated != computed {
            return Err(wrong(format!(
                "CRC-32: stated {stated:08x}, computed {computed:08x}"
            )));
        }
        Ok(())
    }
}
