//! How much room a report has: the size of the terminal, or what is readable anywhere.

use std::io;

use report::{Detail, Page};

use crate::export::MainStream;

/// What every terminal and every log viewer shows without wrapping.
const COLUMNS: usize = 80;
/// Fewer columns than this are not the width of a terminal.
const COLUMNS_MIN: usize = 20;
/// Rows of a table that are shown on a terminal unless all of them were asked for.
const ROWS: usize = 20;

/// The page that a report on `stream` has. `lists`: its rows are what was asked for.
pub(crate) fn of(stream: MainStream, detail: Detail, lists: bool) -> Page {
    let terminal = stream.is_terminal();
    let stated = std::env::var("COLUMNS").ok();
    let stated = stated.and_then(|columns| columns.trim().parse().ok());
    let measured = || terminal.then(|| columns(stream)).flatten();
    let known = stated
        .filter(|columns| *columns >= COLUMNS_MIN)
        .or_else(measured);
    Page {
        // A log keeps it whole, and is read by programs, too.
        line: known.or(terminal.then_some(COLUMNS)),
        width: match known {
            // Programs that read a listing from a pipe are not given names in pieces.
            None if lists && !terminal => None,
            known => Some(known.unwrap_or(COLUMNS)),
        },
        rows: (terminal && !lists && detail != Detail::Full).then_some(ROWS),
        folds: detail == Detail::Full,
    }
}

/// The width of the terminal, where it states one.
fn columns(stream: MainStream) -> Option<usize> {
    let columns = match stream {
        MainStream::Stdout => size(&io::stdout()),
        MainStream::Stderr => size(&io::stderr()),
    };
    let columns = columns.map(|(columns, _)| columns);
    columns.filter(|columns| *columns >= COLUMNS_MIN)
}

/// Columns and lines of the terminal that standard error is, or what every terminal has.
pub(crate) fn stderr_size() -> (usize, usize) {
    const LINES: usize = 24;
    match size(&io::stderr()) {
        Some((columns, lines)) if columns > 0 && lines > 0 => (columns, lines),
        _ => (COLUMNS, LINES),
    }
}

#[cfg(unix)]
fn size(stream: &impl std::os::fd::AsFd) -> Option<(usize, usize)> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some((size.ws_col.into(), size.ws_row.into()))
}

#[cfg(not(unix))]
fn size<T>(_: &T) -> Option<(usize, usize)> {
    None
}
