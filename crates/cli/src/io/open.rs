//! Opening what may have to be waited for, and what must not be.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};

use super::POLL;
use crate::term::signal;

/// Opens `path` as `options` say. A FIFO is open when its other end is; an interrupt ends the wait
/// with `ErrorKind::Interrupted`.
pub(crate) fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    if !is_fifo(path) {
        return options.open(path);
    }
    let (sender, opened) = sync_channel(1);
    let (name, options) = (path.to_owned(), options.clone());
    // Never joined: the process may end while the other end is still missing.
    std::thread::Builder::new()
        .name("open".to_owned())
        .stack_size(64 * 1024)
        .spawn(move || sender.send(options.open(name)))?;
    loop {
        match opened.recv_timeout(POLL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if signal::interrupted() => {
                return Err(io::ErrorKind::Interrupted.into());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the opening thread is gone"));
            }
        }
    }
}

/// Opens a regular file to read it, and nothing else: it does not wait for a FIFO that came into the
/// place of one, and a file that would make a read wait, as some of `/proc` do, says so instead.
pub(crate) fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        options.custom_flags(i32::try_from(flags).unwrap_or(0));
    }
    let file = options.read(true).open(path)?;
    let metadata = file.metadata()?;
    match metadata.is_file() {
        true => Ok((file, metadata)),
        false => Err(io::Error::other("it is not a regular file any more")),
    }
}

#[cfg(unix)]
fn is_fifo(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_fifo(_: &Path) -> bool {
    false
}
