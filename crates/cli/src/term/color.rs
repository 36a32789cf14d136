//! When to use colour, and which.

use std::io::{self, IsTerminal, Write as _};

use anstream::adapter::strip_bytes;
use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use files::standard;
use report::style::Palette;

use super::drawn;
use super::screen::{Screen, painted};
use crate::args::Color;

const PALETTE: Palette = Palette::ANSI;
/// Less important than the rest of its line.
pub(crate) const FAINT: Style = PALETTE.faint;
/// A warning.
pub(crate) const WARN: Style = PALETTE.warn;
/// An error.
pub(crate) const BAD: Style = PALETTE.bad;

/// Sets the choice for the whole process.
pub(crate) fn set_choice(color: Color) {
    match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
}

/// Whether the locale has letters beyond ASCII. One that states nothing has: terminals do today.
pub(crate) fn has_blocks() -> bool {
    let stated = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    let mut stated = stated.filter_map(std::env::var_os);
    let stated = stated.find(|value| !value.is_empty());
    let stated = stated.map(|value| value.to_string_lossy().to_ascii_lowercase());
    stated.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"))
}

/// Writes to standard error, at once, with or without the colours in `text`.
pub(crate) fn write_stderr(text: &[u8]) -> io::Result<()> {
    let stream = io::stderr();
    let choice = AutoStream::choice(&stream);
    drawn::above(|| write(stream.lock(), choice, text))
}

/// Writes to standard output, at once, with or without the colours in `text`.
pub(crate) fn write_stdout(text: &[u8]) -> io::Result<()> {
    standard::check_output()?;
    let stream = io::stdout();
    let choice = AutoStream::choice(&stream);
    write(stream.lock(), choice, text)
}

/// Standard output as a writer of text: each write at once, with or without its colours.
#[derive(Debug)]
pub(crate) struct Stdout;

impl io::Write for Stdout {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        write_stdout(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a document for machines to standard error: without colours, and unchanged unless standard error is a
/// terminal.
pub(crate) fn write_stderr_plain(document: &[u8]) -> io::Result<()> {
    drawn::above(|| {
        let mut stream = io::stderr().lock();
        plain(stream.is_terminal(), document, &mut stream)
    })
}

/// The same to standard output.
pub(crate) fn write_stdout_plain(document: &[u8]) -> io::Result<()> {
    standard::check_output()?;
    let mut stream = io::stdout().lock();
    plain(stream.is_terminal(), document, &mut stream)
}

fn plain(to_terminal: bool, document: &[u8], stream: &mut dyn io::Write) -> io::Result<()> {
    if to_terminal {
        let (mut screen, mut shown) = (Screen::default(), String::new());
        screen.show(document, &mut shown);
        screen.end(&mut shown);
        stream.write_all(shown.as_bytes())?;
    } else {
        stream.write_all(document)?;
    }
    stream.flush()
}

/// Colours are removed before writing: removing them while writing would need one system call per word.
fn write<S: RawStream + AsLockedWrite + IsTerminal>(
    mut stream: S,
    choice: ColorChoice,
    text: &[u8],
) -> io::Result<()> {
    let to_terminal = IsTerminal::is_terminal(&stream);
    let shown = |text: &[u8]| match to_terminal {
        true => painted(&String::from_utf8_lossy(text)).into_bytes(),
        false => text.to_vec(),
    };
    if choice == ColorChoice::Never {
        stream.write_all(&shown(&strip_bytes(text).into_vec()))?;
        return stream.flush();
    }
    let mut stream = AutoStream::new(stream, choice);
    stream.write_all(&shown(text))?;
    stream.flush()
}
