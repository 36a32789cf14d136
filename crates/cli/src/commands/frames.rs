//! Finds the frames of a regular file by seeking: with its seek table, or from header to header. What is
//! done with them is up to the commands.

use std::fs::File;
use std::io::{self, Read as _, SeekFrom};
use std::path::Path;

use files::{ReadSeek, url};
use zstdkit::frame::{FrameInfo, FrameKind, Scanner};
use zstdkit::seekable::{FOOTER_BYTES, Footer, Indexer, SeekTable};

use crate::args::units::ByteRange;
use crate::commands::codec::codec_failure;
use crate::failure::{Failure, Result};
use crate::term::{message, signal};

/// Bytes per read: a frame header and a few block headers.
const PEEK_BYTES: usize = 4096;
/// Shorter bodies are read instead of skipped by a seek.
const SEEK_BYTES: u32 = 16 * 1024;
/// Smaller files are not worth a second thread.
const MANY_BYTES_MIN: u64 = 1 << 20;
/// Reads to find the end of the first frame: enough for a frame that is small enough to be held in memory
/// for a thread.
const FIRST_FRAME_READS_MAX: u64 = 256;

/// Reads the headers of a regular file and seeks over bodies, until the end or until `each` says stop, in
/// at most `reads_max` reads: one per block, whatever its size.
pub(crate) fn walk(
    path: &Path,
    file: &mut (impl ReadSeek + ?Sized),
    scanner: &mut Scanner,
    reads_max: u64,
    mut each: impl FnMut(FrameInfo) -> bool,
) -> Result<()> {
    let failed = |error| Failure::io("read", path, &error);
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let mut buffer = [0; PEEK_BYTES];
    let mut offset = file.seek(SeekFrom::Start(0)).map_err(failed)?;
    for _ in 0..reads_max {
        if signal::interrupted() {
            break;
        }
        let skip = scanner.skippable_bytes();
        // The last byte of a body is always read, because the file may end before it.
        if skip > SEEK_BYTES && offset + u64::from(skip) < length {
            let skipped = scanner.skip(skip - 1);
            offset = file
                .seek(SeekFrom::Current(i64::from(skipped)))
                .map_err(failed)?;
        }
        let count = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        offset += count as u64;
        if !feed(path, &buffer[..count], scanner, &mut each)? {
            break;
        }
    }
    Ok(())
}

/// Passes bytes to the scanner and frames to `each`, until that says stop.
pub(crate) fn feed(
    path: &Path,
    mut input: &[u8],
    scanner: &mut Scanner,
    each: &mut impl FnMut(FrameInfo) -> bool,
) -> Result<bool> {
    while !input.is_empty() {
        let (taken, frame) = scanner
            .push(input)
            .map_err(|error| codec_failure("list", &files::display(path), &error))?;
        input = &input[taken..];
        if frame.is_some_and(|frame| !each(frame)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The last bytes of a file that has a seek table.
pub(crate) fn footer(
    file: &mut (impl ReadSeek + ?Sized),
) -> io::Result<std::result::Result<Option<Footer>, zstdkit::Error>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut tail = [0; FOOTER_BYTES];
    let Some(start) = length.checked_sub(FOOTER_BYTES as u64) else {
        return Ok(Ok(None));
    };
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut tail)?;
    Ok(Footer::parse(&tail, length))
}

/// The seek table of a file; `None` if it has none, or one larger than `bytes_max`.
pub(crate) fn seek_table(
    file: &mut (impl ReadSeek + ?Sized),
    bytes_max: u64,
) -> io::Result<std::result::Result<Option<SeekTable>, zstdkit::Error>> {
    let footer = match footer(file)? {
        Ok(Some(footer)) if footer.table_bytes() <= bytes_max => footer,
        Ok(_) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error)),
    };
    file.seek(SeekFrom::Start(footer.table_offset()))?;
    let mut table = Vec::new();
    file.take(footer.table_bytes()).read_to_end(&mut table)?;
    let length = footer.table_offset() + footer.table_bytes();
    Ok(SeekTable::parse(&table, length).map(Some))
}

/// Whether a file has frames for more than one thread, as far as a few reads can show.
pub(crate) fn has_many(path: &Path) -> bool {
    let Ok(mut file) = File::open(path) else {
        return false;
    };
    let length = match file.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() > MANY_BYTES_MIN => metadata.len(),
        _ => return false,
    };
    if let Ok(Ok(Some(footer))) = footer(&mut file) {
        return footer.frames() > 1;
    }
    let mut second = false;
    let _ = walk(
        path,
        &mut file,
        &mut Scanner::new(),
        FIRST_FRAME_READS_MAX,
        |frame| {
            second = frame.offset + frame.compressed_bytes < length;
            frame.kind != FrameKind::Zstd
        },
    );
    second
}

/// The index to find a range in a file: from its seek table, or from its headers.
pub(crate) fn index(path: &Path, range: ByteRange, bytes_max: u64) -> Result<SeekTable> {
    let name = files::display(path);
    let mut file = seekable(path)?;
    let failed = |error| Failure::io("read", path, &error);
    match seek_table(&mut *file, bytes_max).map_err(failed)? {
        Ok(Some(table)) => return Ok(table),
        Ok(None) => {}
        Err(error) => message::note(
            &format!("{name}: {error}"),
            "the frames are found by their headers",
        ),
    }
    let mut scanner = Scanner::new();
    let mut indexer = Indexer::default();
    walk(path, &mut *file, &mut scanner, u64::MAX, |frame| {
        let goes_on = indexer.push(&frame);
        goes_on && range.end.is_none_or(|end| indexer.content_bytes() < end)
    })?;
    if scanner.finish().is_err() {
        // The range may be complete before the cut; if not, the decoder reports the place.
        indexer.end_early();
    }
    Ok(indexer.finish())
}

/// A source that can seek.
pub(crate) fn seekable(path: &Path) -> Result<Box<dyn ReadSeek>> {
    let failed = |error| Failure::io("read", path, &error);
    if let Some(url) = url::of(path) {
        #[cfg(not(feature = "cloud"))]
        if !cfg!(feature = "web") || !url::is_web(url) {
            return Err(url::unsupported(files::Operation::Read, url).into());
        }
        #[cfg(feature = "web")]
        return match files::remote::Ranges::open(url, crate::io::cancel()) {
            Ok(ranges) => Ok(Box::new(ranges)),
            Err(error) => Err(failed(error)),
        };
    }
    let stdin = path.as_os_str() == "-";
    // `open` reports files that do not exist, and the source reports directories.
    if stdin || std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        let name = files::display(path);
        return Err(Failure::new(format!(
            "cannot read a range of {name}: it is a stream, not a file"
        ))
        .help("save it to a file first, or decompress all of it and cut out the range"));
    }
    let file = File::open(path).map_err(failed)?;
    Ok(Box::new(file))
}
