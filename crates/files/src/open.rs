//! Opening what may have to be waited for, and what must not be.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};

use crate::{Cancel, POLL};

/// Opens `path` as `options` say. A FIFO is open when its other end is.
///
/// # Errors
/// What the system says; `ErrorKind::Interrupted` when `cancel` is set while it waits.
pub fn open(path: &Path, options: &OpenOptions, cancel: &Cancel) -> io::Result<File> {
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
            Err(RecvTimeoutError::Timeout) if cancel.is_set() => {
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
///
/// # Errors
/// What the system says, and that it is no regular file.
pub fn regular(path: &Path) -> io::Result<(File, Metadata)> {
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
