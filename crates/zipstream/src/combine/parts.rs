//! The parts of a split archive as one archive that is whole. Their entries follow each other from part to part, as
//! they are; only the directory, which counts by parts, is made anew.

use std::io;

use super::record::{PART_AT, put_moved};
use crate::error::{Error, ErrorKind};
use crate::format::central::Central;
use crate::format::end::{self, END64_BYTES, End, LOCATOR_BYTES, Located, located_in_parts};
use crate::format::{MAX16, extra, le32};
use crate::read::{Directory, Limits, ReadAt, TAIL_BYTES, find_end, read_full};

/// What a split archive starts with, and one that would have been split and fits into one part.
pub(super) const MARKERS: [[u8; 4]; 2] = [*b"PK\x07\x08", *b"PK00"];
/// Bytes of such a marker.
const MARKER_BYTES: u64 = 4;

/// The parts of a split archive, as a source that holds one whole archive.
///
/// ```
/// use zipstream::combine::Parts;
/// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Limits};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a", &EntryOptions::default(), &mut &b"content"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// // An archive in one part is one as well.
/// assert_eq!(Parts::count(&archive)?, 1);
/// let parts = Parts::join(vec![archive], &Limits::default())?;
/// assert_eq!(ArchiveReader::open(parts)?.len(), 1);
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Parts<R> {
    /// Each with the byte of all parts where it starts.
    parts: Vec<(u64, R)>,
    /// Bytes before the first entry that the whole archive has not.
    skipped: u64,
    /// Bytes of the parts that are entries.
    copied: u64,
    /// The directory and the end record.
    tail: Vec<u8>,
}

/// What the end of the last part states.
struct Last {
    end: End,
    comment: Vec<u8>,
    /// Where the ZIP64 end record is, if there is one.
    wide: Option<Located>,
}

impl<R: ReadAt> Parts<R> {
    /// How many parts an archive has whose last part is `last`.
    ///
    /// # Errors
    /// It is no archive, or cannot be read.
    pub fn count(last: &R) -> Result<u32, Error> {
        let last = Last::read(last)?;
        Ok(match (last.end.disks.0, last.wide) {
            (number, Some(wide)) if number == u32::from(MAX16) => wide.parts,
            (number, _) => number.saturating_add(1),
        })
    }

    /// Joins parts, in their order.
    ///
    /// # Errors
    /// A part is missing, the directory leads out of the parts, exceeds the limits or is damaged, or a part cannot be
    /// read.
    pub fn join(parts: Vec<R>, limits: &Limits) -> Result<Self, Error> {
        let mut joined = Self {
            parts: Vec::with_capacity(parts.len()),
            skipped: 0,
            copied: 0,
            tail: Vec::new(),
        };
        let mut start = 0_u64;
        for part in parts {
            let bytes = part.size().map_err(|error| Error::io(&error))?;
            joined.parts.push((start, part));
            start = start
                .checked_add(bytes)
                .ok_or_else(|| Error::corrupt(start, "parts of more than 16 EiB"))?;
        }
        let Some((_, last)) = joined.parts.last() else {
            return Err(Error::new(ErrorKind::NotZip, "an archive without parts"));
        };
        let Last { end, comment, wide } = Last::read(last)?;
        let end = match wide {
            Some(Located { part, offset, .. }) => {
                let at = joined.place(part, offset)?;
                let mut record = [0; END64_BYTES];
                joined.fill(&mut record, at)?;
                let wide = End::parse64(&record);
                wide.ok_or_else(|| Error::corrupt(at, "no ZIP64 end record where one should be"))?
            }
            None => end,
        };
        let directory_at = joined.place(end.disks.1, end.directory_offset)?;
        let directory_end = directory_at.checked_add(end.directory_bytes);
        if directory_end.is_none_or(|directory_end| directory_end > start) {
            let what = "the directory does not fit into the parts";
            return Err(Error::corrupt(directory_at, what));
        }
        let admitted = limits.admit_directory(end.directory_bytes);
        admitted.map_err(|error| error.at(directory_at))?;
        let mut records = vec![0; usize::try_from(end.directory_bytes).unwrap_or(0)];
        joined.fill(&mut records, directory_at)?;
        let mut marker = [0; MARKER_BYTES as usize];
        if directory_at >= MARKER_BYTES {
            joined.fill(&mut marker, 0)?;
            let is_marked = MARKERS.contains(&marker);
            joined.skipped = if is_marked { MARKER_BYTES } else { 0 };
        }
        joined.copied = directory_at - joined.skipped;
        joined.tail = joined.directory(records, directory_at, &end, &comment)?;
        Ok(joined)
    }

    /// The directory of the whole archive, with its end record.
    fn directory(
        &self,
        mut records: Vec<u8>,
        at: u64,
        end: &End,
        comment: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let parts = take_parts(&mut records, at)?;
        let directory = Directory::new(records, at, 0, end.entries.1, Vec::new(), Vec::new());
        let mut tail = Vec::new();
        for (entry, part) in directory.iter().zip(&parts) {
            let entry = entry?;
            let offset = self.place(*part, entry.offset());
            let offset = offset.and_then(|offset| {
                let what = "it starts before the first entry";
                let moved = offset.checked_sub(self.skipped);
                moved.ok_or_else(|| Error::corrupt(offset, what))
            });
            let offset = offset.map_err(|error| error.entry(entry.name_lossy()))?;
            put_moved(&mut tail, &directory, &entry, offset)?;
        }
        let bytes = tail.len() as u64;
        // The number that is stated, for a reader to compare.
        end::put(&mut tail, end.entries.1, self.copied, bytes, comment);
        Ok(tail)
    }

    /// The byte of all parts that a place in one of them is.
    fn place(&self, part: u32, offset: u64) -> Result<u64, Error> {
        let number = usize::try_from(part).unwrap_or(usize::MAX);
        let start = self.parts.get(number).map(|(start, _)| *start);
        let place = start.and_then(|start| start.checked_add(offset));
        place.ok_or_else(|| {
            let what = format!("something is in part {}", u64::from(part) + 1);
            let parts = self.parts.len();
            Error::new(ErrorKind::Corrupt, format!("{what} of {parts}"))
        })
    }

    /// Reads bytes of all parts.
    fn fill(&self, buffer: &mut [u8], at: u64) -> Result<(), Error> {
        let whole = Bytes(&self.parts);
        let got = read_full(&whole, buffer, at).map_err(|error| Error::io(&error).at(at))?;
        match got == buffer.len() {
            true => Ok(()),
            false => Err(Error::truncated(
                at + got as u64,
                "the last part is shorter",
            )),
        }
    }
}

impl<R: ReadAt> ReadAt for Parts<R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if offset >= self.copied {
            return self.tail.read_at(buffer, offset - self.copied);
        }
        let most = usize::try_from(self.copied - offset).unwrap_or(usize::MAX);
        let bytes = buffer.len().min(most);
        Bytes(&self.parts).read_at(&mut buffer[..bytes], offset + self.skipped)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.copied.saturating_add(self.tail.len() as u64))
    }
}

/// All bytes of parts, one after the other.
struct Bytes<'a, R>(&'a [(u64, R)]);

impl<R: ReadAt> ReadAt for Bytes<'_, R> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let next = self.0.partition_point(|(start, _)| *start <= offset);
        let mut rest = self.0[next.saturating_sub(1)..].iter();
        // Empty parts, and those that became shorter, are passed over.
        while let Some((start, part)) = rest.next() {
            let end = rest.as_slice().first().map(|(start, _)| *start);
            let most = end.map_or(u64::MAX, |end| end.saturating_sub(offset));
            let most = usize::try_from(most)
                .unwrap_or(usize::MAX)
                .min(buffer.len());
            if most > 0 && offset >= *start {
                return part.read_at(&mut buffer[..most], offset - start);
            }
        }
        Ok(0)
    }

    fn size(&self) -> io::Result<u64> {
        match self.0.last() {
            Some((start, part)) => Ok(start.saturating_add(part.size()?)),
            None => Ok(0),
        }
    }
}

impl Last {
    fn read<R: ReadAt>(last: &R) -> Result<Self, Error> {
        let bytes = last.size().map_err(|error| Error::io(&error))?;
        let start = bytes.saturating_sub(TAIL_BYTES);
        let mut tail = vec![0; usize::try_from(bytes - start).unwrap_or(0)];
        let got = read_full(last, &mut tail, start).map_err(|error| Error::io(&error))?;
        tail.truncate(got);
        let Some((at, end)) = find_end(&tail) else {
            return Err(Error::new(ErrorKind::NotZip, "no end record").at(start));
        };
        let comment = tail[at + end::END_BYTES..].iter().take(end.comment_bytes);
        let locator = at.checked_sub(LOCATOR_BYTES);
        Ok(Self {
            wide: locator.and_then(|at| located_in_parts(&tail[at..])),
            comment: comment.copied().collect(),
            end,
        })
    }
}

/// Takes the numbers of their parts out of directory records, which state the first one then.
fn take_parts(records: &mut [u8], at: u64) -> Result<Vec<u32>, Error> {
    let mut parts = Vec::new();
    let mut position = 0;
    while position < records.len() {
        let Some(central) = Central::parse(&records[position..]) else {
            let what = "a directory record that is cut off";
            return Err(Error::corrupt(at + position as u64, what));
        };
        let bytes = central.total_bytes();
        parts.push(match central.disk {
            MAX16 => wide_part(&central).unwrap_or(MAX16.into()),
            part => part.into(),
        });
        records[position + PART_AT..position + PART_AT + 2].fill(0);
        position += bytes;
    }
    Ok(parts)
}

/// The part that a ZIP64 field states behind what else it states.
fn wide_part(central: &Central<'_>) -> Option<u32> {
    let data = extra::find(central.extra, extra::ZIP64)?;
    let rest = data.get(data.len() / 8 * 8..)?;
    rest.first_chunk::<4>().map(|part| le32(part, 0))
}
