//! Bytes of a source, as they are, into a sink.

use std::io::Write;
use std::ops::Range;

use crate::error::Error;
use crate::read::{ReadAt, read_full};

/// Bytes per read while copying.
const COPY_BYTES: u64 = 256 << 10;

/// Copies a range through `buffer`.
///
/// # Errors
/// The source or the sink fails, or the source is shorter.
pub(super) fn copy<R: ReadAt>(
    source: &R,
    range: Range<u64>,
    sink: &mut impl Write,
    buffer: &mut Vec<u8>,
) -> Result<(), Error> {
    let Range { mut start, end } = range;
    while start < end {
        let most = (end - start).min(COPY_BYTES) as usize;
        buffer.resize(most, 0);
        let got = read_full(source, buffer, start);
        let got = got.map_err(|error| Error::io(&error).at(start))?;
        if got < most {
            let what = "the archive became shorter while it was read";
            return Err(Error::truncated(start + got as u64, what));
        }
        sink.write_all(buffer).map_err(|error| Error::io(&error))?;
        start += got as u64;
    }
    Ok(())
}
