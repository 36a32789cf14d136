//! Which entries are meant, and what every way of showing them needs.

use std::io;
use std::path::Path;

use zipstream::{ArchiveReader, Entry, ReadAt, name};

use crate::failure::Failure;
use crate::term::color::write_stdout_plain;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::shown;
use crate::zip_compat::unzip::flags::{Line, Mode};

/// All entries. Their records were read when the archive was opened.
pub(super) fn entries<R: ReadAt>(reader: &ArchiveReader<R>) -> impl Iterator<Item = Entry<'_>> {
    reader.entries().map_while(Result::ok)
}

/// The comment of an archive as lines.
pub(super) fn comment<R: ReadAt>(reader: &ArchiveReader<R>) -> String {
    lines_of(reader.directory().comment())
}

/// A comment as lines, each with its end.
pub(super) fn lines_of(comment: &[u8]) -> String {
    let comment = String::from_utf8_lossy(comment);
    let text = comment.replace("\r\n", "\n").replace('\r', "\n");
    let mut text = shown::lines(&text).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Which entries are meant.
pub(super) struct Selected<'a> {
    line: &'a mut Line,
}

impl<'a> Selected<'a> {
    pub(super) fn new(line: &'a mut Line) -> Self {
        Self { line }
    }

    pub(super) fn takes(&mut self, name: &str) -> bool {
        let wanted = self.line.members.is_empty() || self.line.members.matches(name);
        wanted && !self.line.excludes.matches(name)
    }
}

/// Says which names were not found, and the exit code that comes of it.
pub(super) fn finish_selection(line: &Line, count: u64, counts: bool) -> u8 {
    for name in line.members.unmet() {
        if !matches!(line.mode, Mode::List | Mode::Verbose | Mode::Info) {
            message::remark(&format!("no entry matches '{}'", shorten(name)));
        }
    }
    for name in line.excludes.unmet() {
        if counts {
            message::remark(&format!(
                "no entry to leave out matches '{}'",
                shorten(name)
            ));
        }
    }
    let unmet = line.members.unmet().next().is_some();
    match (unmet, count) {
        (true, _) if counts => code::NO_MATCH,
        (_, 0) if !(line.members.is_empty() && line.excludes.is_empty()) => code::NO_MATCH,
        _ => 0,
    }
}

/// The exit code: that no name was found counts where nothing is worse than a warning.
pub(super) fn exit(errors: u8, found: u8) -> u8 {
    match errors > code::WARNING {
        true => errors,
        false => errors.max(found),
    }
}

/// A name for a message.
pub(super) fn shorten(name: &str) -> String {
    const CHARACTERS_MAX: usize = 200;
    match name.char_indices().nth(CHARACTERS_MAX) {
        Some((at, _)) => format!("{}...", &name[..at]),
        None => name.to_owned(),
    }
}

/// Prints a text, with names as they were packed.
pub(super) fn print(text: &str) -> Ended<()> {
    write_stdout_plain(&name::to_bytes(text)).map_err(unwritten)
}

/// Standard output that cannot be written; a reader that went away is no failure.
pub(super) fn unwritten(error: io::Error) -> Stop {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Stop::silent(0),
        _ => Stop::new(
            code::DISK,
            Failure::io("write", Path::new("standard output"), &error),
        ),
    }
}
