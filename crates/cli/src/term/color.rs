//! When to use colour, and which.

use std::io::{self, Write as _};

use anstream::adapter::strip_bytes;
use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use crate::args::Color;

/// A heading in a report.
pub(crate) const HEADING: Style = Style::new().bold();
/// A value to look at first.
pub(crate) const STRONG: Style = AnsiColor::Cyan.on_default();
/// What is less important than the rest of its line.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// Good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// A warning.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// An error.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Sets the choice for the whole process.
pub(crate) fn set_choice(color: Color) {
    match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Writes to standard error, at once, with or without the colours in `text`.
pub(crate) fn write_stderr(text: &[u8]) -> io::Result<()> {
    let stream = io::stderr();
    let choice = AutoStream::choice(&stream);
    write(stream.lock(), choice, text)
}

/// Writes to standard output, at once, with or without the colours in `text`.
pub(crate) fn write_stdout(text: &[u8]) -> io::Result<()> {
    let stream = io::stdout();
    let choice = AutoStream::choice(&stream);
    write(stream.lock(), choice, text)
}

/// Colours are taken out before, not while writing: that would be a system call for every word.
fn write<S: RawStream + AsLockedWrite>(
    mut stream: S,
    choice: ColorChoice,
    text: &[u8],
) -> io::Result<()> {
    if choice == ColorChoice::Never {
        stream.write_all(&strip_bytes(text).into_vec())?;
        return stream.flush();
    }
    let mut stream = AutoStream::new(stream, choice);
    stream.write_all(text)?;
    stream.flush()
}
