//! The standard streams: handles on them without a buffer, and whether they are there at all.
//!
//! A stream that was closed when the process started is `/dev/null` by now, by the runtime. Nothing
//! is read from that or written to it in the belief that it is what the user meant.

use std::fs::File;
use std::io;

use perfkit_stdio::{Stream, was_open};

/// Refuses to write to a standard output that was closed from the start.
///
/// # Errors
/// `ErrorKind::NotConnected`: it was.
pub fn check_output() -> io::Result<()> {
    check(Stream::Output)
}

fn check(stream: Stream) -> io::Result<()> {
    match was_open(stream) {
        true => Ok(()),
        false => Err(io::Error::new(io::ErrorKind::NotConnected, "it is closed")),
    }
}

/// A handle on standard output.
///
/// # Errors
/// It was closed from the start, or there are no more handles.
pub fn output() -> io::Result<File> {
    check_output()?;
    handle(&io::stdout())
}

/// A handle on standard input.
///
/// # Errors
/// It was closed from the start, or there are no more handles.
pub fn input() -> io::Result<File> {
    check(Stream::Input)?;
    handle(&io::stdin())
}

/// A handle on standard error.
///
/// # Errors
/// It was closed from the start, or there are no more handles.
pub fn error() -> io::Result<File> {
    check(Stream::Error)?;
    handle(&io::stderr())
}

#[cfg(unix)]
fn handle(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn handle(stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}
