//! Finding the directory from the end of an archive: which bytes to read and how to interpret them.
//! No I/O.

use std::ops::Range;

use super::directory::Directory;
use super::options::{ReadOptions, Warning, is_padding};
use super::places::{Place, Places};
use super::strict::{check_end, check_end64, check_locator, hides_an_end};
use crate::error::{Error, ErrorKind};
use crate::format::end::{END_BYTES, END64_BYTES, End, LOCATOR_BYTES, located};
use crate::format::{CENTRAL_SIGNATURE, END_SIGNATURE, le32};

/// The end record with the longest comment, and the records before it.
pub(crate) const TAIL_BYTES: u64 =
    (END_BYTES + u16::MAX as usize + LOCATOR_BYTES + END64_BYTES) as u64;

/// Finds the directory of an archive. It asks for ranges of bytes until it has a [`Directory`].
///
/// ```
/// use zipstream::{ArchiveWriter, EntryOptions, Locator, ReadOptions};
///
/// let mut writer = ArchiveWriter::new(Vec::new());
/// writer.add("a", &EntryOptions::default(), &mut &b"content"[..])?;
/// let (archive, _) = writer.finish()?;
///
/// let mut locator = Locator::new(archive.len() as u64, &ReadOptions::default());
/// while let Some(range) = locator.wants() {
///     locator.supply(&archive[range.start as usize..range.end as usize])?;
/// }
/// assert_eq!(locator.finish()?.iter().count(), 1);
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Locator {
    archive_bytes: u64,
    options: ReadOptions,
    stage: Stage,
    warnings: Vec<Warning>,
    comment: Vec<u8>,
}

#[derive(Debug)]
enum Stage {
    Tail,
    /// The ZIP64 end record that a locator points to; the position of the locator, and the 32-bit
    /// end record.
    End64 {
        range: Range<u64>,
        locator_at: u64,
        narrow: End,
    },
    Directory {
        range: Range<u64>,
        end: End,
        base: u64,
    },
    /// A directory in one of several places, since the end record contradicts itself or the archive.
    Doubted {
        range: Range<u64>,
        doubt: Doubt,
    },
    /// The local header of the first entry of this directory, which shows whether it is one.
    First {
        range: Range<u64>,
        directory: Vec<u8>,
        doubt: Doubt,
    },
    Found(Box<Directory>),
    Failed,
}

/// A place that is tried, and those that are left.
#[derive(Debug)]
struct Doubt {
    place: Place,
    left: Places,
    end: End,
    end_at: u64,
}

impl Locator {
    /// Looks for the directory of an archive of this size.
    pub fn new(archive_bytes: u64, options: &ReadOptions) -> Self {
        Self {
            archive_bytes,
            options: *options,
            stage: Stage::Tail,
            warnings: Vec::new(),
            comment: Vec::new(),
        }
    }

    /// The bytes it needs next; `None` when it is done.
    pub fn wants(&self) -> Option<Range<u64>> {
        match &self.stage {
            Stage::Tail => Some(self.archive_bytes.saturating_sub(TAIL_BYTES)..self.archive_bytes),
            Stage::End64 { range, .. }
            | Stage::Directory { range, .. }
            | Stage::Doubted { range, .. }
            | Stage::First { range, .. } => Some(range.clone()),
            Stage::Found(_) | Stage::Failed => None,
        }
    }

    /// Takes all of the bytes that it asked for.
    pub fn supply(&mut self, bytes: impl Into<Vec<u8>>) -> Result<(), Error> {
        let bytes = bytes.into();
        let wanted = self.wants().unwrap_or_default();
        if bytes.len() as u64 != wanted.end - wanted.start {
            let at = wanted.start + bytes.len() as u64;
            return Err(Error::truncated(at, "the archive is shorter than it was"));
        }
        self.stage = match std::mem::replace(&mut self.stage, Stage::Failed) {
            Stage::Tail => self.tail(&bytes, wanted.start)?,
            Stage::End64 {
                range,
                locator_at,
                narrow,
            } => self.end64(&bytes, range.start, locator_at, narrow)?,
            Stage::Directory { range, end, base } => self.directory(bytes, &range, &end, base)?,
            Stage::Doubted { doubt, .. } => self.doubted(bytes, doubt)?,
            Stage::First {
                directory, doubt, ..
            } => self.first(&bytes, directory, doubt)?,
            other => other,
        };
        Ok(())
    }

    /// The directory, once [`wants`](Self::wants) returns `None`.
    pub fn finish(self) -> Result<Directory, Error> {
        match self.stage {
            Stage::Found(directory) => Ok(*directory),
            _ => Err(Error::new(
                ErrorKind::Order,
                "the directory is not found yet",
            )),
        }
    }

    fn tail(&mut self, tail: &[u8], start: u64) -> Result<Stage, Error> {
        let Some((at, end)) = find_end(tail) else {
            return Err(not_zip(tail, self.archive_bytes));
        };
        let comment_end = at + END_BYTES + end.comment_bytes;
        if comment_end > tail.len() && self.options.is_strict() {
            return Err(Error::corrupt(
                start + at as u64,
                "a comment that is cut off",
            ));
        }
        if comment_end > tail.len() {
            self.warnings.push(Warning::Comment {
                stated: end.comment_bytes as u64,
                found: (tail.len() - at - END_BYTES) as u64,
            });
        }
        let comment_end = comment_end.min(tail.len());
        self.comment = tail[at + END_BYTES..comment_end].to_vec();
        let trailing = (tail.len() - comment_end) as u64;
        let end_at = start + at as u64;
        let zeros = tail[comment_end..].iter().all(|byte| *byte == 0);
        if trailing > 0 && zeros && is_padding(trailing, self.archive_bytes) {
            self.warnings.push(Warning::Padding { bytes: trailing });
        } else if trailing > 0 {
            self.let_pass(Warning::Trailing { bytes: trailing }, end_at)?;
        }
        let strict = self.options.is_strict();
        if strict && hides_an_end(&tail[at..comment_end]) {
            return Err(Error::corrupt(end_at, "a second end record in the comment"));
        }
        let locator = at
            .checked_sub(LOCATOR_BYTES)
            .and_then(|at| located(&tail[at..]));
        let Some(offset) = locator else {
            if strict && end.is_whole() {
                check_end(&end, None).map_err(|error| error.at(end_at))?;
            }
            return self.place(end, end_at);
        };
        let locator_at = end_at - LOCATOR_BYTES as u64;
        if strict {
            // The record is right before it.
            let record_at = locator_at.saturating_sub(END64_BYTES as u64);
            let checked = check_locator(&tail[at - LOCATOR_BYTES..at], record_at);
            checked.map_err(|error| error.at(locator_at))?;
        }
        // At the stated offset, or, if bytes precede the archive, right before the locator.
        let fits = |at: u64| {
            at.checked_add(END64_BYTES as u64)
                .is_some_and(|end| end <= locator_at)
        };
        let near = locator_at.checked_sub(END64_BYTES as u64);
        let near_is_one = near.and_then(|near| {
            let at = usize::try_from(near.checked_sub(start)?).ok()?;
            End::parse64(tail.get(at..)?)
        });
        let at = match near {
            Some(near) if near_is_one.is_some() => near,
            _ if fits(offset) => offset,
            _ => {
                let what = "the ZIP64 end record lies outside of the archive";
                return Err(Error::corrupt(locator_at, what));
            }
        };
        Ok(Stage::End64 {
            range: at..at + END64_BYTES as u64,
            locator_at,
            narrow: end,
        })
    }

    fn end64(
        &mut self,
        bytes: &[u8],
        at: u64,
        locator_at: u64,
        narrow: End,
    ) -> Result<Stage, Error> {
        let Some(wide) = End::parse64(bytes) else {
            if self.options.is_strict() || narrow.needs_zip64() {
                return Err(Error::corrupt(
                    at,
                    "no ZIP64 end record where one should be",
                ));
            }
            // Twenty bytes that only look like a locator.
            return self.place(narrow, locator_at + LOCATOR_BYTES as u64);
        };
        if self.options.is_strict() {
            check_end64(bytes).map_err(|error| error.at(at))?;
            check_end(&narrow, Some(&wide)).map_err(|error| error.at(locator_at))?;
        }
        if !narrow.agrees_with(&wide) {
            self.let_pass(Warning::EndRecords, at)?;
        }
        self.place(wide, at)
    }

    /// The directory that ends at `end_at`. Where its end record contradicts itself or the archive, the default profile
    /// takes the place in which there is a directory whose first entry is where it says.
    fn place(&mut self, end: End, end_at: u64) -> Result<Stage, Error> {
        let places = Places::of(&end, end_at);
        if self.options.is_strict() || end.directory_bytes == 0 || places.is_plain(&end) {
            return self.stated(&end, end_at);
        }
        self.try_next(places, end, end_at)
    }

    /// Tries the next of these places; after the last one, what the end record states counts.
    fn try_next(&mut self, mut left: Places, end: End, end_at: u64) -> Result<Stage, Error> {
        let limits = &self.options.limits;
        while let Some(place) = left.next() {
            let range = place.start..end_at;
            if limits.admit_directory(range.end - range.start).is_ok() {
                let doubt = Doubt {
                    place,
                    left,
                    end,
                    end_at,
                };
                return Ok(Stage::Doubted { range, doubt });
            }
        }
        self.stated(&end, end_at)
    }

    fn doubted(&mut self, bytes: Vec<u8>, doubt: Doubt) -> Result<Stage, Error> {
        match doubt.place.first_header(&bytes) {
            Some(range) => Ok(Stage::First {
                range,
                directory: bytes,
                doubt,
            }),
            None => self.try_next(doubt.left, doubt.end, doubt.end_at),
        }
    }

    fn first(&mut self, header: &[u8], directory: Vec<u8>, doubt: Doubt) -> Result<Stage, Error> {
        let Doubt {
            place,
            left,
            end,
            end_at,
        } = doubt;
        if !place.is_first(header, &directory) {
            return self.try_next(left, end, end_at);
        }
        if !end.is_whole() {
            self.warnings.push(Warning::Split);
        }
        if place.elsewhere {
            let start = place.start;
            self.warnings.push(Warning::Elsewhere { start });
        }
        if place.base > 0 {
            self.warnings.push(Warning::Prefix { bytes: place.base });
        }
        self.directory(directory, &(place.start..end_at), &end, place.base)
    }

    /// The directory where the end record says.
    fn stated(&mut self, end: &End, end_at: u64) -> Result<Stage, Error> {
        if !end.is_whole() {
            return Err(split().at(end_at));
        }
        let limits = &self.options.limits;
        let admitted = limits.admit_directory(end.directory_bytes);
        admitted.map_err(|error| error.at(end_at))?;
        let stated = end.directory_offset.checked_add(end.directory_bytes);
        let Some(base) = stated.and_then(|stated| end_at.checked_sub(stated)) else {
            let what = "the directory does not fit before the end record";
            return Err(Error::corrupt(end_at, what));
        };
        if base > 0 {
            self.let_pass(Warning::Prefix { bytes: base }, end_at)?;
        }
        let start = end_at - end.directory_bytes;
        Ok(Stage::Directory {
            range: start..end_at,
            end: *end,
            base,
        })
    }

    fn directory(
        &mut self,
        bytes: Vec<u8>,
        range: &Range<u64>,
        end: &End,
        base: u64,
    ) -> Result<Stage, Error> {
        let takes_less = self.options.incomplete && !self.options.is_strict();
        if bytes.len() >= 4 && le32(&bytes, 0) != CENTRAL_SIGNATURE && !takes_less {
            let what = "the end record points to something that is not a directory";
            return Err(Error::corrupt(range.start, what));
        }
        let warnings = std::mem::take(&mut self.warnings);
        let comment = std::mem::take(&mut self.comment);
        let directory = Directory::new(bytes, range.start, base, end.entries.1, comment, warnings)
            .by(&self.options);
        Ok(Stage::Found(Box::new(directory)))
    }

    fn let_pass(&mut self, warning: Warning, at: u64) -> Result<(), Error> {
        if self.options.is_strict() {
            return Err(Error::corrupt(at, warning.to_string()));
        }
        self.warnings.push(warning);
        Ok(())
    }
}

pub(super) fn split() -> Error {
    Error::new(ErrorKind::Unsupported, "one part of a split archive")
        .help("join its parts with combine::Parts")
}

/// Where end records may start, the last one first.
fn signatures(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let pattern = END_SIGNATURE.to_le_bytes();
    (0..bytes.len().saturating_sub(3))
        .rev()
        .filter(move |at| bytes[*at..].starts_with(&pattern))
}

/// The last end record whose comment ends with the archive, or else the last one.
pub(crate) fn find_end(tail: &[u8]) -> Option<(usize, End)> {
    let records = || signatures(tail).filter_map(|at| End::parse(&tail[at..]).map(|end| (at, end)));
    let exact = |(at, end): &(usize, End)| at + END_BYTES + end.comment_bytes == tail.len();
    records().find(exact).or_else(|| records().next())
}

fn not_zip(tail: &[u8], archive_bytes: u64) -> Error {
    if archive_bytes == 0 {
        return Error::new(ErrorKind::NotZip, "the file is empty: not a ZIP archive");
    }
    let error = Error::new(
        ErrorKind::NotZip,
        "no end record: not a ZIP archive, or cut off",
    );
    let is_start = tail.len() as u64 == archive_bytes && tail.starts_with(b"PK\x03\x04");
    error.help(if is_start {
        "it starts like one: fetch or copy it again"
    } else {
        "check that it is a ZIP archive and whole"
    })
}
