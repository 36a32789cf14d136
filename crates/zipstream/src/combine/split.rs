//! One whole archive divided into the parts of a split one: entries go from part to part, headers and records do not.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::copy::copy;
use super::extents::{self, Extent};
use super::parts::MARKERS;
use super::record::{PART_AT, put_moved};
use crate::error::{Error, ErrorKind};
use crate::format::end::{self, End};
use crate::format::local::{self, LOCAL_BYTES};
use crate::read::{ArchiveReader, Directory, ReadAt, read_full};

/// The most parts: their numbers have 16 bits, of which all ones say something else.
const PARTS_MAX: usize = 65_535;
/// Bytes of the longest descriptor.
const DESCRIPTOR_BYTES_MAX: u64 = 24;

/// The parts of an archive that is split.
///
/// ```
/// use zipstream::combine::{Parts, SplitArchive};
/// use zipstream::{ArchiveReader, ArchiveWriter, EntryOptions, Limits, Method};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// let options = EntryOptions::new(Method::Stored);
/// writer.add("a", &options, &mut &[7; 1000][..])?;
/// let whole = ArchiveReader::open(writer.finish()?.0)?;
///
/// let split = SplitArchive::of(&whole, 400)?;
/// let mut parts = vec![Vec::new(); split.parts()];
/// for (number, part) in parts.iter_mut().enumerate() {
///     split.write_part(number, whole.source(), part)?;
/// }
/// assert!(parts.len() == 3 && parts.iter().all(|part| part.len() <= 400));
///
/// let joined = ArchiveReader::open(Parts::join(parts, &Limits::default())?)?;
/// let entry = joined.find("a")?.expect("it was added");
/// assert_eq!(joined.read(&entry)?, [7; 1000]);
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitArchive {
    parts: Vec<Part>,
}

/// One part: a marker, bytes of the archive, and what is made anew.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Part {
    head: &'static [u8],
    copied: Range<u64>,
    tail: Vec<u8>,
}

impl Part {
    fn bytes(&self) -> u64 {
        let copied = self.copied.end - self.copied.start;
        copied + (self.head.len() + self.tail.len()) as u64
    }
}

impl SplitArchive {
    /// Divides an archive into parts of at most this many bytes. One that fits is one part, as it is. Bytes before
    /// the first entry are left out of others.
    ///
    /// # Errors
    /// A header, a record or the end is longer than a part, there would be more than 65,535 parts, entries share
    /// bytes, or the archive cannot be read.
    pub fn of<R: ReadAt>(archive: &ArchiveReader<R>, part_bytes: u64) -> Result<Self, Error> {
        let source = archive.source();
        let bytes = source.size().map_err(|error| Error::io(&error))?;
        if bytes <= part_bytes {
            return Ok(Self::whole(bytes));
        }
        let directory = archive.directory();
        let mut layout = Layout::new(directory, part_bytes)?;
        let places = layout.entries(directory, source)?;
        layout.directory(directory, &places)?;
        Ok(Self {
            parts: layout.parts,
        })
    }

    fn whole(bytes: u64) -> Self {
        let part = Part {
            copied: 0..bytes,
            ..Part::default()
        };
        Self { parts: vec![part] }
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Writes a part, by its number from 0, from the archive. The sink is not flushed.
    ///
    /// # Errors
    /// There is no such part, or the source or the sink fails.
    pub fn write_part<R: ReadAt>(
        &self,
        number: usize,
        source: &R,
        sink: &mut impl Write,
    ) -> Result<(), Error> {
        let Some(part) = self.parts.get(number) else {
            return Err(Error::new(ErrorKind::Order, "no part of this number"));
        };
        let failed = |error: std::io::Error| Error::io(&error);
        sink.write_all(part.head).map_err(failed)?;
        copy(source, part.copied.clone(), sink, &mut Vec::new())?;
        sink.write_all(&part.tail).map_err(failed)
    }
}

/// The path of a part that is not the last one, by its number from 1: `a.z01` of `a.zip`.
pub fn part_path(last: &Path, number: u32) -> PathBuf {
    last.with_extension(format!("z{number:02}"))
}

/// Where something starts: the number of a part, from 0, and the byte in it.
type Place = (usize, u64);

/// Parts as they grow. The last one is open.
struct Layout {
    part_bytes: u64,
    parts: Vec<Part>,
}

impl Layout {
    fn new(directory: &Directory, part_bytes: u64) -> Result<Self, Error> {
        let mut first = directory.start();
        for entry in directory {
            first = first.min(entry?.offset());
        }
        let part = Part {
            head: &MARKERS[0],
            copied: first..first,
            ..Part::default()
        };
        Ok(Self {
            part_bytes,
            parts: vec![part],
        })
    }

    fn last(&mut self) -> &mut Part {
        // There is always one.
        let last = self.parts.len() - 1;
        &mut self.parts[last]
    }

    fn room(&mut self) -> u64 {
        self.part_bytes.saturating_sub(self.last().bytes())
    }

    fn too_long(&self, what: &str, bytes: u64) -> Error {
        let most = self.part_bytes;
        let what = format!("{what} of {bytes} bytes does not fit into a part of {most}");
        Error::new(ErrorKind::Limit, what).help("make larger parts")
    }

    /// Begins another part, at this byte of the archive.
    fn next(&mut self, at: u64) -> Result<(), Error> {
        if self.parts.len() == PARTS_MAX {
            let what = format!("more than {PARTS_MAX} parts");
            return Err(Error::new(ErrorKind::Limit, what).help("make larger parts"));
        }
        self.parts.push(Part {
            copied: at..at,
            ..Part::default()
        });
        Ok(())
    }

    /// Takes bytes of the archive up to this one, into as many parts as it needs.
    fn take(&mut self, end: u64) -> Result<(), Error> {
        loop {
            let room = self.room();
            let copied = &mut self.last().copied;
            copied.end = end.min(copied.end.saturating_add(room));
            let at = copied.end;
            if at == end {
                return Ok(());
            }
            if self.part_bytes == 0 {
                return Err(self.too_long("content", end - at));
            }
            self.next(at)?;
        }
    }

    /// Takes bytes of the archive into one part, the open one or a new one; says where they are.
    fn take_whole(&mut self, range: Range<u64>, what: &str) -> Result<Place, Error> {
        self.take(range.start)?;
        let bytes = range.end - range.start;
        if bytes > self.room() {
            self.next(range.start)?;
            if bytes > self.room() {
                return Err(self.too_long(what, bytes));
            }
        }
        let at = self.last().bytes();
        self.last().copied.end = range.end;
        Ok((self.parts.len() - 1, at))
    }

    /// Lays out all entries; returns where each one of the directory is.
    fn entries<R: ReadAt>(
        &mut self,
        directory: &Directory,
        source: &R,
    ) -> Result<Vec<Place>, Error> {
        let extents = extents::of(directory)?;
        let mut order: Vec<usize> = (0..extents.len()).collect();
        order.sort_unstable_by_key(|at| extents[*at].range.start);
        let mut places = vec![(0, 0); extents.len()];
        for at in order {
            places[at] = self.entry(directory, source, &extents[at])?;
        }
        self.take(directory.start())?;
        Ok(places)
    }

    fn entry<R: ReadAt>(
        &mut self,
        directory: &Directory,
        source: &R,
        extent: &Extent,
    ) -> Result<Place, Error> {
        let Range { start, end } = extent.range;
        let Some(entry) = directory.iter_at(extent.position).next() else {
            return Err(Error::new(ErrorKind::Order, "no record at this position"));
        };
        let entry = entry?;
        let mut fixed = [0; LOCAL_BYTES];
        let got = read_full(source, &mut fixed, start);
        let got = got.map_err(|error| Error::io(&error).at(start))?;
        if got < LOCAL_BYTES || !local::has_signature(&fixed) {
            let missing = Error::corrupt(start, "no local header");
            return Err(missing.entry(entry.name_lossy()));
        }
        let header = local::total_bytes(&fixed) as u64;
        let content = start.saturating_add(header);
        let content_end = content.saturating_add(entry.compressed_bytes());
        if content_end > end {
            let what = "its content reaches beyond the next entry";
            return Err(Error::new(ErrorKind::Overlap, what)
                .at(start)
                .entry(entry.name_lossy()));
        }
        let named = |error: Error| error.entry(entry.name_lossy());
        let place = self.take_whole(start..content, "a header");
        let place = place.map_err(named)?;
        if entry.has_descriptor() && end - content_end <= DESCRIPTOR_BYTES_MAX {
            self.take_whole(content_end..end, "a descriptor")
                .map_err(named)?;
        }
        Ok(place)
    }

    /// Adds bytes that are new to one part, the open one or another.
    fn add(&mut self, bytes: &[u8], at: u64, what: &str) -> Result<Place, Error> {
        if bytes.len() as u64 > self.room() {
            self.next(at)?;
            if bytes.len() as u64 > self.room() {
                return Err(self.too_long(what, bytes.len() as u64));
            }
        }
        let place = (self.parts.len() - 1, self.last().bytes());
        self.last().tail.extend_from_slice(bytes);
        Ok(place)
    }

    /// Adds the directory, and the end.
    fn directory(&mut self, directory: &Directory, places: &[Place]) -> Result<(), Error> {
        let at = directory.start();
        let mut record = Vec::new();
        let (mut start, mut bytes) = (None, 0);
        // Records of the part that is open.
        let mut open = (0, 0);
        for (entry, (part, offset)) in directory.iter().zip(places) {
            let entry = entry?;
            record.clear();
            put_moved(&mut record, directory, &entry, *offset)?;
            // No more than parts have 16 bits.
            let number = u16::try_from(*part).unwrap_or(u16::MAX);
            record[PART_AT..PART_AT + 2].copy_from_slice(&number.to_le_bytes());
            let place = self.add(&record, at, "a directory record");
            let place = place.map_err(|error| error.entry(entry.name_lossy()))?;
            start.get_or_insert(place);
            bytes += record.len() as u64;
            open = match open.0 == place.0 {
                true => (open.0, open.1 + 1),
                false => (place.0, 1),
            };
        }
        let comment = directory.comment();
        let entries = places.len() as u64;
        let mut end = End {
            disks: (0, 0),
            entries: (open.1, entries),
            directory_bytes: bytes,
            directory_offset: 0,
            comment_bytes: comment.len(),
        };
        let start_of = |layout: &mut Self| (layout.parts.len() - 1, layout.last().bytes());
        let (first, offset) = start.unwrap_or_else(|| start_of(self));
        end.directory_offset = offset;
        let length = end::bytes(entries, offset, bytes) + comment.len() as u64;
        if length > self.room() {
            self.next(at)?;
        }
        let (last, here) = start_of(self);
        let last_number = u32::try_from(last).unwrap_or(u32::MAX);
        end.disks = (last_number, u32::try_from(first).unwrap_or(u32::MAX));
        if start.is_none() {
            end.disks.1 = last_number;
            end.directory_offset = here;
        }
        if last != open.0 {
            end.entries.0 = 0;
        }
        let mut tail = Vec::new();
        end::put_of(&mut tail, &end, here, comment);
        self.add(&tail, at, "the end")?;
        Ok(())
    }
}
