//! The work of `unzip` and `zipinfo`.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, Entry, ReadAt};

use crate::failure::Failure;
use crate::term::color::write_stdout_plain;
use crate::term::message;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::unzip::flags::{Line, Mode};
use crate::zip_compat::unzip::{contents, extract, flags, info, list, open};

const HELP: &str = "\
perfkit under the name of unzip: list, test and extract ZIP archives.

Usage: unzip [OPTIONS] ARCHIVE[.zip] [NAME...] [-x NAME...] [-d DIR]
       unzip -Z [OPTIONS of zipinfo] ARCHIVE[.zip] [NAME...] [-x NAME...]

A NAME is that of an entry, or a pattern with *, ? and [a-z], which match `/` too.

  -d DIR   extract into DIR             -o  overwrite without a question
  -n       keep files that exist        -u  new files, and those older than their entry
  -f       only files that are older    -j  without directories
  -x NAME  leave out                    -B  keep a copy of overwritten files: FILE~
  -C       compare names without case   -L  names of systems without case in lower case
  -P WORD  password (others can see it)
  -l  list    -v  list all    -t  test    -z  comment    -Z1  names only
  -p  contents to standard output         -c  the same with names
  -T  set the time of the archive         -q  quiet, -qq quieter

zipinfo: -1 -2 names  -s short  -m medium  -l long  -h header  -t totals  -z comment  -T sortable times

What differs from Info-ZIP: docs/zip.md. The command with all features is `perfkit unzip`.
";

/// Runs a command line; `info`: as `zipinfo`.
pub(in crate::zip_compat) fn run(words: &[OsString], info_program: bool) -> Ended<u8> {
    let mut line = flags::parse(words, info_program)?;
    if line.mode == Mode::Help {
        write_stdout_plain(HELP.as_bytes()).map_err(unwritten)?;
        return Ok(0);
    }
    let mut opened = open::open(&line.archive)?;
    match line.mode {
        Mode::List | Mode::Verbose => list::list(&mut line, &opened),
        Mode::Info => info::info(&mut line, &opened),
        Mode::Comment => {
            let mut text = String::new();
            if line.quiet == 0 {
                text = format!("Archive:  {}\n", opened.path.display());
            }
            text.push_str(&comment(&opened.reader));
            write_stdout_plain(text.as_bytes()).map_err(unwritten)?;
            Ok(opened.code)
        }
        Mode::Stamp => stamp(&line, &opened),
        Mode::Test | Mode::Pipe | Mode::Show => contents::contents(&mut line, &mut opened),
        Mode::Extract | Mode::Help => extract::extract(&mut line, &mut opened),
    }
}

/// Gives the archive the time of its newest entry.
fn stamp(line: &Line, opened: &open::Opened) -> Ended<u8> {
    let mut newest = None;
    for entry in entries(&opened.reader)? {
        newest = newest.max(Some(entry.time().seconds_utc(local_to_utc)));
    }
    let failed = |error| {
        let failure = Failure::io("change", &opened.path, &error);
        Stop::new(code::DISK, failure)
    };
    if let Some(newest) = newest.and_then(|newest| u64::try_from(newest).ok()) {
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(newest);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(&opened.path)
            .map_err(failed)?;
        file.set_modified(at).map_err(failed)?;
    }
    if line.quiet == 0 {
        let text = format!("Updated time stamp for {}.\n", opened.path.display());
        write_stdout_plain(text.as_bytes()).map_err(unwritten)?;
    }
    Ok(opened.code)
}

/// All entries; a record that cannot be read ends the run.
pub(super) fn entries<R: ReadAt>(reader: &ArchiveReader<R>) -> Ended<Vec<Entry<'_>>> {
    let all: Result<Vec<_>, _> = reader.entries().collect();
    all.map_err(|error| Stop::new(code::DAMAGED, Failure::new(error.to_string())))
}

/// The comment of an archive as lines.
pub(super) fn comment<R: ReadAt>(reader: &ArchiveReader<R>) -> String {
    let comment = String::from_utf8_lossy(reader.directory().comment());
    let mut text = comment.replace("\r\n", "\n").replace('\r', "\n");
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
        (_, 0) if !line.members.is_empty() => code::NO_MATCH,
        _ => 0,
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
