//! Opening what may have to be waited for, until an interrupt.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

pub(crate) use files::open::regular;

/// Opens `path` as `options` say. A FIFO is open when its other end is; an interrupt ends the wait
/// with `ErrorKind::Interrupted`.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    files::open::open(path, options, super::cancel())
}
