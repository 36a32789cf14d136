//! `unzip -t`, `-p` and `-c`: contents that become no files.

use std::collections::HashSet;
use std::io::Write as _;

use files::output::Output;
use zipstream::extract::{Destination, ExtractOptions, Reason, UnixLines, extract_into};
use zipstream::{EntryKind, Error, ErrorKind, Scratch, name};

use crate::failure::Failure;
use crate::io::context;
use report::units::counted;

use crate::term::message;
use crate::term::signal;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};
use crate::zip_compat::shown;
use crate::zip_compat::unzip::ask;
use crate::zip_compat::unzip::flags::{Line, Mode};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::rows::verb;
use crate::zip_compat::unzip::selection::{
    Selected, comment, entries, exit, finish_selection, print, shorten, unwritten,
};

/// What came of entries.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Entries with a content that was read: directories are none.
    pub(super) done: u64,
    /// The largest code of those that were not, but for passwords.
    worst: u8,
    /// The code of entries whose password is missing or wrong.
    locked: u8,
}

impl Tally {
    /// Counts an entry that cannot be read.
    pub(super) fn failed(&mut self, error: &Error, has_password: bool) {
        match error.kind() {
            ErrorKind::Password if has_password => self.locked = code::WRONG_PASSWORD,
            ErrorKind::Password => self.locked = code::NO_PASSWORD,
            ErrorKind::Unsupported => self.worse(code::UNSUPPORTED),
            ErrorKind::Name => self.worse(code::WARNING),
            _ => self.worse(code::DAMAGED),
        }
    }

    /// Warns if a local header has another name than the directory.
    pub(super) fn contradicted(&mut self, error: &Error) {
        if let (Some(entry), Some(local)) = (error.entry_name(), error.local_name()) {
            self.worse(code::WARNING);
            message::remark(&format!(
                "entry '{entry}' has another name in its local header, '{local}': that of the directory counts"
            ));
        }
    }

    pub(super) fn worse(&mut self, code: u8) {
        self.worst = self.worst.max(code);
    }

    /// The exit code.
    pub(super) fn code(&self) -> u8 {
        let locked = match (self.locked, self.done) {
            (0, _) => 0,
            (locked, 0) => locked,
            _ => code::WARNING,
        };
        self.worst.max(locked)
    }
}

/// Tests or writes the contents of the selected entries; returns the exit code.
pub(super) fn contents(line: &mut Line, opened: &mut Opened) -> Ended<u8> {
    let (mut chosen, mut encrypted) = (Vec::new(), false);
    {
        let all = line.members.is_empty() && line.excludes.is_empty();
        let mut selected = Selected::new(line);
        for entry in entries(&opened.reader) {
            if all || selected.takes(&entry.name_lossy()) {
                encrypted |= entry.is_encrypted();
                chosen.push(entry.position());
            }
        }
    }
    let count = chosen.len() as u64;
    ask::unlock(line, &mut opened.reader, encrypted)?;
    if line.mode != Mode::Pipe && line.quiet == 0 {
        let mut text = format!("Archive:  {}\n", shown::path(&opened.path));
        text.push_str(&comment(&opened.reader));
        print(&text)?;
    }
    let tally = match line.mode {
        Mode::Test => test(line, opened, &chosen)?,
        _ => write(line, opened, &chosen)?,
    };
    let found = finish_selection(line, count, true);
    let worst = exit(tally.code().max(opened.code), found);
    // A warning about the archive is no error in what it holds.
    let errors = match line.members.is_empty() {
        true => tally.code(),
        false => exit(tally.code(), found),
    };
    if line.mode == Mode::Test && line.quiet < 2 {
        let name = shown::path(&opened.path);
        let text = match (errors, line.members.is_empty()) {
            (0, true) => format!("No errors detected in compressed data of {name}.\n"),
            (code::WARNING, _) => format!("At least one warning-error was detected in {name}.\n"),
            (0, false) => {
                let files = counted(count, ["file", "files"]);
                format!("No errors detected in {name} for the {files} tested.\n")
            }
            _ => format!("At least one error was detected in {name}.\n"),
        };
        print(&text)?;
    }
    Ok(worst)
}

/// Why nothing can be read.
pub(super) fn unreadable(error: &Error) -> Stop {
    Stop::new(
        code::DAMAGED,
        Failure::new(shown::error(error)).help("the archive may have been made to do harm"),
    )
}

fn test(line: &Line, opened: &Opened, chosen: &[u64]) -> Ended<Tally> {
    let reader = &opened.reader;
    let wanted: HashSet<u64>;
    let mut options = ExtractOptions::new().context(context().clone());
    if chosen.len() as u64 != reader.len() {
        wanted = chosen.iter().copied().collect();
        options = options.filter_entries(|entry| wanted.contains(&entry.position()));
    }
    let report = extract_into(reader, Destination::Nowhere, &options);
    let report = report.map_err(|error| unreadable(&error))?;
    if signal::interrupted() {
        return Err(Stop::silent(code::INTERRUPTED));
    }
    let mut tally = Tally::default();
    report
        .contradictions
        .iter()
        .for_each(|error| tally.contradicted(error));
    let mut failed = HashSet::new();
    for one in &report.failures {
        if let Reason::Archive(error) = &one.reason {
            tally.failed(error, line.password.is_some());
        } else {
            tally.worse(code::DAMAGED);
        }
        message::failure(&Failure::new(shown::failed(one)));
        failed.insert(one.entry.as_str());
    }
    let mut text = String::new();
    let entries = chosen.iter();
    for entry in entries.filter_map(|at| reader.directory().iter_at(*at).next()?.ok()) {
        // Names are made where something is said or has failed alone.
        let how = match failed.is_empty() || !failed.contains(&*entry.name_lossy()) {
            true => "OK",
            false => "failed",
        };
        tally.done += u64::from(entry.kind() != EntryKind::Directory && how == "OK");
        if line.quiet == 0 {
            let name = entry.name_lossy();
            let name = shown::name(&name);
            text.push_str(&format!("    testing: {name:<22}   {how}\n"));
        }
    }
    if !text.is_empty() {
        print(&text)?;
    }
    Ok(tally)
}

fn write(line: &Line, opened: &Opened, chosen: &[u64]) -> Ended<Tally> {
    let reader = &opened.reader;
    // What shares bytes is not worth reading.
    reader.check().map_err(|error| unreadable(&error))?;
    let mut output = Output::stdout(context()).map_err(unwritten)?;
    let (mut tally, mut scratch) = (Tally::default(), Scratch::default());
    let shows = line.mode == Mode::Show && line.quiet == 0;
    for at in chosen {
        let Some(Ok(entry)) = reader.directory().iter_at(*at).next() else {
            continue;
        };
        if let Err(error) = reader.compare_headers(&entry, &mut scratch) {
            tally.contradicted(&error);
        }
        if entry.kind() == EntryKind::Directory {
            continue;
        }
        if signal::interrupted() {
            return Err(Stop::silent(code::INTERRUPTED));
        }
        if shows {
            let what = verb(entry.method());
            let text = format!(
                "{what}: {:<22}  \n",
                shown::name(&shorten(&entry.name_lossy()))
            );
            output
                .write_all(&name::to_bytes(&text))
                .map_err(unwritten)?;
        }
        let mut lines = line.converts(&entry).then(UnixLines::default);
        let mut sink = |piece: &[u8]| {
            let written = match &mut lines {
                Some(lines) => {
                    let mut converted = Vec::with_capacity(piece.len());
                    lines.convert(piece, &mut converted);
                    output.write_all(&converted)
                }
                None => output.write_all(piece),
            };
            written.map_err(Wrong::Output)
        };
        match reader.extract(&entry, &mut scratch, &mut sink) {
            Ok(_) => tally.done += 1,
            Err(Wrong::Output(error)) => return Err(unwritten(error)),
            Err(Wrong::Archive(error)) => {
                tally.failed(&error, line.password.is_some());
                message::failure(&Failure::new(shown::error(&error)));
            }
        }
        if shows {
            output.write_all(b"\n").map_err(unwritten)?;
        }
    }
    output.flush().map_err(unwritten)?;
    Ok(tally)
}

/// Why a content did not arrive.
enum Wrong {
    Output(std::io::Error),
    Archive(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self::Archive(error)
    }
}
