//! One large entry alone: bytes of it, by an index or without, and the index itself.

use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::path::Path;
use std::time::Instant;

use files::output::Output;
use files::target::Target;
use files::url;
use report::names;
use zipstream::extract::{Existing, ExtractReport, Stopped};
use zipstream::{ArchiveReader, DeflateIndex, Entry, EntryKind, IndexBuilder, ReadAt, Scratch};

use crate::args::glob::Asked;
use crate::args::units::ByteRange;
use crate::commands::unzip::extract::{Done, Run};
use crate::commands::unzip::flags::OneEntry;
use crate::commands::unzip::messages;
use crate::commands::unzip::observe::Times;
use crate::failure::{Failure, Result};
#[cfg(feature = "cloud")]
use crate::io::spans::Spans;
use crate::io::{cancel, context};

/// Why it ended early.
enum Ended {
    Archive(zipstream::Error),
    Output(io::Error),
    Failed(Failure),
    Cancelled,
}

impl From<zipstream::Error> for Ended {
    fn from(error: zipstream::Error) -> Self {
        Self::Archive(error)
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Bytes that were read of the archive, and of the content.
type Bytes = (u64, u64);

impl Run<'_> {
    /// Does one entry alone.
    pub(super) fn one<R: ReadAt + Sync>(
        &self,
        reader: &ArchiveReader<R>,
        how: &OneEntry,
    ) -> Result<Done> {
        let entry = self.entry(reader)?;
        let mut times = Times::new(self.session);
        let start = Instant::now();
        let ended = match how {
            OneEntry::Print { range, index } => {
                self.print(reader, &entry, *range, index.as_deref())
            }
            OneEntry::Index(path) => self.index(reader, &entry, path),
        };
        let end = Instant::now();
        let mut damaged = 0;
        let mut report = ExtractReport::default();
        let mut failures = Vec::new();
        match ended {
            Ok((read, content)) => {
                report.entries = 1;
                (report.compressed_bytes, report.content_bytes) = (read, content);
            }
            Err(Ended::Cancelled) => report.stopped = Some(Stopped::Cancelled),
            Err(Ended::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                report.stopped = Some(Stopped::ReaderGone);
            }
            Err(Ended::Output(error)) => {
                report.stopped = Some(Stopped::Undelivered);
                failures.push(Failure::io("write", Path::new("standard output"), &error));
            }
            Err(Ended::Archive(error)) => {
                damaged = 1;
                failures.push(messages::failed(&error));
            }
            Err(Ended::Failed(failure)) => failures.push(failure),
        }
        if failures.is_empty() {
            let name = || names::text(entry.name_bytes());
            times.entry.record_span_what(start, end, name);
        }
        Ok(Done {
            interrupted: report.stopped == Some(Stopped::Cancelled),
            failed: failures.len() as u64,
            damaged,
            report,
            times,
            failures,
        })
    }

    /// The only entry that is asked for.
    fn entry<'r, R: ReadAt>(&self, reader: &'r ArchiveReader<R>) -> Result<Entry<'r>> {
        let mut asked = Asked::new(&self.plan.selection);
        let mut found = None;
        for entry in reader.entries() {
            let entry = entry.map_err(|error| messages::failed(&error))?;
            if !asked.takes(&entry.name_lossy()) || entry.kind() == EntryKind::Directory {
                continue;
            }
            if found.replace(entry).is_some() {
                let what =
                    "--range, --index and --write-index are about one entry, but several match";
                return Err(Failure::usage(what).help("name the entry after the archive"));
            }
        }
        match (found, messages::unmatched(&asked, self.archive).pop()) {
            (_, Some(unmatched)) => Err(unmatched),
            (Some(entry), None) => Ok(entry),
            (None, None) => Err(Failure::new("the archive has no entry with content")),
        }
    }

    fn print<R: ReadAt + Sync>(
        &self,
        reader: &ArchiveReader<R>,
        entry: &Entry<'_>,
        range: Option<ByteRange>,
        index: Option<&Path>,
    ) -> std::result::Result<Bytes, Ended> {
        let mut output = Output::stdout(context()).map_err(Ended::Output)?;
        let range = range.map_or((0, None), |range| (range.start, range.end));
        let range = range.0..range.1.unwrap_or(u64::MAX);
        let mut sink = |piece: &[u8]| {
            if cancel().is_set() {
                return Err(Ended::Cancelled);
            }
            self.progress.add(piece.len() as u64);
            output.write_all(piece).map_err(Ended::Output)
        };
        let Some(path) = index else {
            return from_start(reader, entry, range, &mut sink);
        };
        #[cfg(feature = "cloud")]
        if let Some(url) = url::of(path).filter(|url| url::local(url).is_none()) {
            let spans = Spans::open(url).map_err(|error| Failure::io("read", path, &error))?;
            return self.indexed(reader, entry, (path, spans), range, &mut sink);
        }
        let local = url::of(path).and_then(url::local);
        let file = File::open(local.as_deref().unwrap_or(path));
        let file = file.map_err(|error| Failure::io("read", path, &error))?;
        self.indexed(reader, entry, (path, file), range, &mut sink)
    }

    fn indexed<R: ReadAt + Sync, S: ReadAt + Sync>(
        &self,
        reader: &ArchiveReader<R>,
        entry: &Entry<'_>,
        (path, source): (&Path, S),
        range: std::ops::Range<u64>,
        sink: &mut impl FnMut(&[u8]) -> std::result::Result<(), Ended>,
    ) -> std::result::Result<Bytes, Ended> {
        let index = DeflateIndex::open(source).map_err(|error| {
            let what = format!("cannot use '{}': {error}", path.display());
            let failure = Failure::new(what);
            failure.help(format!(
                "make it again: perfkit unzip -t {} '{}' --write-index {}",
                files::display(self.archive),
                entry.name_lossy(),
                files::display(path)
            ))
        })?;
        let content = reader.indexed(entry, &index, &mut Scratch::default())?;
        let threads = self.plan.threads as usize;
        let written = content.read_range_parallel(range, threads, sink)?;
        Ok((content.fetched_bytes(), written))
    }

    fn index<R: ReadAt>(
        &self,
        reader: &ArchiveReader<R>,
        entry: &Entry<'_>,
        path: &Path,
    ) -> std::result::Result<Bytes, Ended> {
        let overwrites = self.plan.existing == Existing::Overwrite;
        let target = Target::create(path, overwrites, None, context()).map_err(Failure::from)?;
        let spacing = IndexBuilder::SPACING_BYTES;
        let mut scratch = Scratch::default();
        let index = reader.build_index(entry, &mut scratch, spacing, &mut |piece: &[u8]| {
            self.progress.add(piece.len() as u64);
            match cancel().is_set() {
                true => Err(Ended::Cancelled),
                false => Ok(()),
            }
        })?;
        let written = target.writer().write_all(index.source());
        written.map_err(|error| Failure::from(target.error(error)))?;
        target.commit().map_err(Failure::from)?;
        Ok((index.compressed_bytes(), index.content_bytes()))
    }
}

/// Decodes an entry up to the end of a range.
fn from_start<R: ReadAt>(
    reader: &ArchiveReader<R>,
    entry: &Entry<'_>,
    range: std::ops::Range<u64>,
    sink: &mut impl FnMut(&[u8]) -> std::result::Result<(), Ended>,
) -> std::result::Result<Bytes, Ended> {
    let mut content = reader.entry_reader(entry);
    let (mut at, mut written) = (0, 0);
    loop {
        let piece = content.fill_buf().map_err(|error| match error.downcast() {
            Ok(error) => Ended::Archive(error),
            Err(error) => Ended::Archive(zipstream::Error::from_io(&error)),
        })?;
        let bytes = piece.len();
        // The end is verified where the range has it.
        if bytes == 0 || (at >= range.end && range.end < entry.content_bytes()) {
            return Ok((entry.compressed_bytes(), written));
        }
        let within = |place: u64| place.saturating_sub(at).min(bytes as u64) as usize;
        let (start, end) = (within(range.start), within(range.end));
        if start < end {
            sink(&piece[start..end])?;
            written += (end - start) as u64;
        } else if cancel().is_set() {
            return Err(Ended::Cancelled);
        }
        content.consume(bytes);
        at += bytes as u64;
    }
}
