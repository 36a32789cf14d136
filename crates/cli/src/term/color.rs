//! When to use colour, and which.

use std::io::Write;

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

/// Standard error with the rules of colour applied. Lines are gathered and written at once.
pub(crate) fn stderr() -> impl Write {
    AutoStream::auto(std::io::stderr()).lock()
}

/// Standard output with the rules of colour applied.
pub(crate) fn stdout() -> impl Write {
    AutoStream::auto(std::io::stdout()).lock()
}
