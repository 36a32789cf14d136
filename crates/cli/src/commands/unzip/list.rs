//! `perfkit unzip -l`: lists the directory.

use std::io::{self, Read, Write as _};
use std::path::Path;

use latency::report::{Cell, Table, Unit};
use report::plain::visible;
use report::style::Palette;
use report::{ExitStatus, LongTable, Outcome, names};
use zipstream::extract::{local_to_utc, utc_offset_seconds};
use zipstream::{ArchiveReader, Entry, EntryKind, PipeReader, ReadAt};

use crate::args::glob::Asked;
use crate::commands::unzip::flags::UnzipPlan;
use crate::commands::unzip::messages;
use crate::failure::{Failure, Result};
use crate::term::{color, message};

/// Output that is worth a write.
const WRITE_BYTES: usize = 64 << 10;
/// Entries that get rows in a report; the rest is counted, with a warning.
const ROWS_MAX: u64 = 1_000_000;

/// What a row says of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Its name.
    Names,
    /// Sizes, method, time and name.
    Usual,
    /// Everything.
    Full,
}

/// A listing so far.
pub(super) struct Listing<'a> {
    asked: Asked<'a>,
    entries: Table,
    rows_max: u64,
    form: Form,
    /// The comment of the archive.
    comment: String,
    count: u64,
    content_bytes: u64,
    compressed_bytes: u64,
}

const NAMES: [(&str, Unit); 1] = [("name", Unit::Text)];

const COLUMNS: [(&str, Unit); 5] = [
    ("size_bytes", Unit::Count),
    ("compressed_bytes", Unit::Count),
    ("method", Unit::Text),
    ("modified", Unit::Text),
    ("name", Unit::Text),
];

const FULL_COLUMNS: [(&str, Unit); 10] = [
    ("size_bytes", Unit::Count),
    ("compressed_bytes", Unit::Count),
    ("method", Unit::Text),
    ("modified", Unit::Text),
    ("name", Unit::Text),
    ("kind", Unit::Text),
    ("mode", Unit::Text),
    ("crc32", Unit::Text),
    ("offset_bytes", Unit::Count),
    ("comment", Unit::Text),
];

impl<'a> Listing<'a> {
    /// With a row per entry, or without rows if they are not printed.
    pub(super) fn new(plan: &'a UnzipPlan, form: Form, read: bool) -> Self {
        let columns: &[_] = match form {
            Form::Names => &NAMES,
            Form::Usual => &COLUMNS,
            Form::Full => &FULL_COLUMNS,
        };
        Self {
            asked: Asked::new(&plan.selection),
            entries: Table::new("entries", columns),
            rows_max: if read { ROWS_MAX } else { 0 },
            form,
            comment: String::new(),
            count: 0,
            content_bytes: 0,
            compressed_bytes: 0,
        }
    }

    /// Counts an entry if it is selected; returns whether it is.
    fn count(&mut self, entry: &Entry<'_>) -> bool {
        if !self.asked.takes(&entry.name_lossy()) {
            return false;
        }
        self.count += 1;
        self.content_bytes = self.content_bytes.saturating_add(entry.content_bytes());
        let compressed = self
            .compressed_bytes
            .saturating_add(entry.compressed_bytes());
        self.compressed_bytes = compressed;
        true
    }

    fn row(&self, entry: &Entry<'_>) -> Vec<Cell> {
        if self.form == Form::Names {
            return vec![name(entry).into()];
        }
        let locked = if entry.is_encrypted() {
            " encrypted"
        } else {
            ""
        };
        let mut row: Vec<Cell> = vec![
            entry.content_bytes().into(),
            entry.compressed_bytes().into(),
            format!("{}{locked}", entry.method()).into(),
            time(entry).into(),
            name(entry).into(),
        ];
        if self.form == Form::Full {
            let comment = entry.comment();
            let comment = (!comment.is_empty()).then(|| names::text(comment));
            row.extend([
                Cell::from(match entry.kind() {
                    EntryKind::File => "file",
                    EntryKind::Directory => "directory",
                    EntryKind::Symlink => "link",
                }),
                entry.mode().map(|mode| format!("{mode:04o}")).into(),
                format!("{:08x}", entry.crc32()).into(),
                entry.offset().into(),
                comment.into(),
            ]);
        }
        row
    }

    fn add(&mut self, entry: &Entry<'_>) {
        if self.count(entry) && self.count <= self.rows_max {
            let row = self.row(entry);
            self.entries.rows.push(row);
        }
    }

    /// Lists a file.
    pub(super) fn file<R: ReadAt>(&mut self, reader: &ArchiveReader<R>) -> Result<()> {
        self.comment = names::text(reader.directory().comment());
        for entry in reader.entries() {
            self.add(&entry.map_err(|error| messages::failed(&error))?);
        }
        Ok(())
    }

    /// Prints the rows as they are read: the directory is read twice, and no row is kept.
    pub(super) fn print<R: ReadAt>(&mut self, reader: &ArchiveReader<R>) -> Result<()> {
        self.comment = names::text(reader.directory().comment());
        let columns = std::mem::replace(&mut self.entries, Table::new("entries", &[]));
        if self.form == Form::Names {
            return self.print_names(reader);
        }
        let mut table = LongTable::new(columns, Palette::ANSI, color::Stdout);
        for entry in reader.entries() {
            let entry = entry.map_err(|error| messages::failed(&error))?;
            if self.count(&entry) {
                table.fit(&self.row(&entry));
            }
        }
        let printed = table.heading().and_then(|()| {
            let entries = reader.entries().flatten();
            let chosen = entries.map(|entry| (entry.name_lossy(), entry));
            for (name, entry) in chosen {
                if self.asked.takes(&name) {
                    table.row(&self.row(&entry))?;
                }
            }
            table.finish()
        });
        written(printed)
    }

    /// Prints a line per entry.
    fn print_names<R: ReadAt>(&mut self, reader: &ArchiveReader<R>) -> Result<()> {
        let mut out = io::BufWriter::with_capacity(WRITE_BYTES, color::Stdout);
        for entry in reader.entries() {
            let entry = entry.map_err(|error| messages::failed(&error))?;
            if !self.count(&entry) {
                continue;
            }
            if let Err(error) = writeln!(out, "{}", visible(&name(&entry))) {
                return written(Err(error));
            }
        }
        written(out.flush())
    }

    /// Prints what belongs to a listing in addition to the rows that were printed.
    pub(super) fn print_rest(&mut self) -> Result<()> {
        let entries = std::mem::replace(&mut self.entries, Table::new("entries", &[]));
        if self.form == Form::Names {
            let rows = entries.rows.iter().flatten();
            let names = rows.map(|cell| match cell {
                Cell::Text(name) => format!("{}\n", visible(name)),
                _ => String::new(),
            });
            return message::output(names.collect::<String>().as_bytes());
        }
        let mut tables = vec![entries, self.total()];
        if !self.comment.is_empty() {
            let mut comment = Table::new("comment", &[("archive", Unit::Text)]);
            let lines = self.comment.lines();
            comment.rows = lines.map(|line| vec![line.into()]).collect();
            tables.push(comment);
        }
        tables.retain(|table| !table.columns.is_empty());
        written(tables.into_iter().try_for_each(print_table))
    }

    /// Lists an archive from a pipe, and verifies contents on the way. Returns how many bytes precede it.
    pub(super) fn pipe(&mut self, source: impl Read, plan: &UnzipPlan) -> Result<u64> {
        let failed = |error| messages::failed(&error);
        let mut pipe = PipeReader::new(source, &plan.read);
        while pipe.next_entry().map_err(failed)?.is_some() {}
        while let Some(record) = pipe.next_record().map_err(failed)? {
            self.add(&record);
        }
        Ok(pipe.preceding_bytes())
    }

    /// Puts the listing into the outcome, with its status.
    pub(super) fn settle(self, archive: &Path, outcome: &mut Outcome) {
        if !self.comment.is_empty() {
            let params = &mut outcome.workload.params;
            params.insert("comment".to_owned(), self.comment.as_str().into());
        }
        let unmatched = messages::unmatched(&self.asked, archive);
        message::failures(&unmatched);
        if !unmatched.is_empty() {
            outcome.complete = false;
            outcome.status = match self.count {
                0 => ExitStatus::Failure,
                _ => ExitStatus::Partial,
            };
        }
        (outcome.tables, outcome.workload.inputs_total) = self.tables();
    }

    /// The tables: a row per entry, and their total.
    fn tables(self) -> (Vec<Table>, u64) {
        if self.count > ROWS_MAX && !self.entries.columns.is_empty() {
            message::note(
                &format!("of {} entries the first {ROWS_MAX} are listed", self.count),
                "list some of them with a pattern",
            );
        }
        let mut tables = vec![self.total()];
        // Printed rows are not kept.
        if !self.entries.columns.is_empty() {
            tables.insert(0, self.entries);
        }
        (tables, self.count)
    }

    fn total(&self) -> Table {
        let columns = [
            ("entries", Unit::Count),
            ("size_bytes", Unit::Bytes),
            ("compressed_bytes", Unit::Bytes),
            ("ratio", Unit::Ratio),
        ];
        let mut total = Table::new("total", &columns);
        let ratio = self.content_bytes as f64 / self.compressed_bytes as f64;
        total.rows.push(vec![
            self.count.into(),
            self.content_bytes.into(),
            self.compressed_bytes.into(),
            ratio.into(),
        ]);
        total
    }
}

/// Prints a table in full.
fn print_table(mut table: Table) -> io::Result<()> {
    let rows = std::mem::take(&mut table.rows);
    let mut long = LongTable::new(table, Palette::ANSI, color::Stdout);
    rows.iter().for_each(|row| long.fit(row));
    long.heading()?;
    rows.iter().try_for_each(|row| long.row(row))?;
    long.finish()
}

/// The result of writing to standard output; that its reader has read enough is no failure.
fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("write", Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// The name of an entry in a report. A name that is not valid in its stated encoding is shown with its
/// bytes.
fn name(entry: &Entry<'_>) -> String {
    match entry.name() {
        Ok(name) => names::text(&zipstream::name::to_bytes(&name)),
        Err(_) => names::text(entry.name_bytes()),
    }
}

/// When an entry was modified, in the zone of this system and without fractions of seconds.
fn time(entry: &Entry<'_>) -> Option<String> {
    let seconds = entry.time().seconds_utc(local_to_utc);
    let shown = seconds.saturating_add(utc_offset_seconds(seconds).into());
    let at = jiff::Timestamp::from_second(shown).ok()?;
    Some(
        jiff::tz::Offset::UTC
            .to_datetime(at)
            .strftime("%Y-%m-%d %H:%M:%S")
            .to_string(),
    )
}
