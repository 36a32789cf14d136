//! Patches of segments: which versions need one, the older file that is read where the codec wants it, and the loop
//! that both directions share.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use files::display;
use files::plan::Jobs;
use zstdkit::patch::{PatchState, Patcher, SEGMENT_BYTES_MAX, SegmentHeader};

use crate::commands::reference::{PATCH_BYTES_MAX, regular_bytes};
use crate::commands::transfer::{Operation, Stop, Stream};
use crate::failure::{Failure, Result};
use crate::term::signal;

/// What a segment may have.
const SEGMENT_BYTES: RangeInclusive<u64> = 1 << 10..=SEGMENT_BYTES_MAX;
/// Bytes of the older file per read.
const READ_BYTES: usize = 1 << 20;
/// Bytes of a stream that say whether it is a patch of segments.
const LOOK_BYTES: usize = 16;

/// A patch of segments, as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentedPlan {
    /// The older file.
    pub(crate) older: PathBuf,
    /// Its length.
    pub(crate) older_bytes: u64,
    /// The content of a segment, if that was given.
    pub(crate) segment_bytes: Option<u64>,
}

impl SegmentedPlan {
    /// The plan, if either version is larger than one frame can refer back to, or segments are asked for.
    pub(crate) fn choose(
        older: &Path,
        jobs: &Jobs,
        stream_bytes: Option<u64>,
        segment_bytes: Option<u64>,
    ) -> Result<Option<Self>> {
        if segment_bytes.is_some_and(|bytes| !SEGMENT_BYTES.contains(&bytes)) {
            return Err(Failure::usage("--patch-segment is out of range")
                .help("choose a size between 1K and 1G"));
        }
        let older_bytes = regular_bytes(older)?;
        let newer_bytes = jobs.jobs.first().and_then(|job| {
            let metadata = std::fs::metadata(&job.source).ok();
            let file = metadata.filter(|metadata| metadata.is_file());
            file.map(|metadata| metadata.len()).or(stream_bytes)
        });
        let large = older_bytes > PATCH_BYTES_MAX || newer_bytes > Some(PATCH_BYTES_MAX);
        Ok((large || segment_bytes.is_some()).then(|| Self {
            older: older.to_owned(),
            older_bytes,
            segment_bytes,
        }))
    }
}

/// The older file of a patch, of which parts are read.
#[derive(Debug)]
pub(crate) struct Older {
    path: PathBuf,
    file: File,
    bytes: u64,
    buffer: Vec<u8>,
}

impl Older {
    /// Opens it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let failed = |error| Failure::io("read", path, &error);
        let file = File::open(path).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes,
            buffer: Vec::new(),
        })
    }

    /// Its length when it was opened.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the first bytes of a range.
    fn read(&mut self, range: &Range<u64>) -> Result<&[u8]> {
        let failed = |error| Failure::io("read", &self.path, &error);
        self.buffer.resize(READ_BYTES, 0);
        self.file
            .seek(SeekFrom::Start(range.start))
            .map_err(failed)?;
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let room = &mut self.buffer[..most.min(READ_BYTES)];
        let count = loop {
            match self.file.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result.map_err(failed)?,
            }
        };
        if count == 0 {
            return Err(Failure::new(format!(
                "{} became shorter while it was read: it ends before byte {}",
                display(&self.path),
                range.end
            ))
            .help("repeat this when no process writes to the file"));
        }
        Ok(&self.buffer[..count])
    }
}

/// Whether a source is a patch of segments.
pub(crate) fn is_segmented(stream: &mut Stream<'_>) -> std::result::Result<bool, Stop> {
    // Most sources begin otherwise: they need not have arrived further.
    let begins = SegmentHeader::is_at(&stream.peek(4)?);
    let first = if begins {
        stream.peek(LOOK_BYTES)?
    } else {
        Vec::new()
    };
    Ok(first.len() == LOOK_BYTES && SegmentHeader::is_at(&first))
}

/// The same for a file.
pub(crate) fn is_segmented_file(path: &Path) -> bool {
    let mut first = [0; LOOK_BYTES];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && SegmentHeader::is_at(&first)
}

/// Passes a whole source through one side of a patch, with at least this much room for output at a time.
pub(crate) fn pass(
    stream: &mut Stream<'_>,
    patcher: &mut impl Patcher,
    older: &mut Older,
    room_bytes: usize,
    mut failed: impl FnMut(&zstdkit::Error) -> Stop,
) -> std::result::Result<(), Stop> {
    let (name, mut calls) = (stream.name(), 0_u64);
    loop {
        let input = stream.next()?;
        let ended = input.is_empty();
        let mut rest: &[u8] = &input;
        loop {
            let mut operation = Operation::default();
            let step = stream
                .call(room_bytes, &mut operation, |room| {
                    patcher.step(rest, room, ended)
                })?
                .map_err(|error| failed(&error))?;
            stream.produced(step.produced);
            rest = &rest[step.consumed..];
            if step.consumed + step.produced > 0 {
                calls += 1;
                stream.record(operation, || format!("{name}, call {calls} for a segment"));
            }
            match step.state {
                PatchState::NeedOlder => give(stream, patcher, older)?,
                PatchState::MoreOutput if signal::interrupted() => return Err(Stop::Interrupted),
                PatchState::MoreOutput => {}
                PatchState::NeedInput | PatchState::Done => break,
            }
        }
        if ended {
            return Ok(());
        }
    }
}

/// Gives it what it wants of the older file.
fn give(
    stream: &mut Stream<'_>,
    patcher: &mut impl Patcher,
    older: &mut Older,
) -> std::result::Result<(), Stop> {
    while let Some(range) = patcher.wanted() {
        if signal::interrupted() {
            return Err(Stop::Interrupted);
        }
        let bytes = older.read(&range)?;
        stream.call_alone(|| patcher.older(bytes));
    }
    Ok(())
}
