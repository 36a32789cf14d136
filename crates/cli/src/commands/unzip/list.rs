//! `perfkit unzip -l`: lists the directory.

use std::io::{self, Read};
use std::path::Path;

use latency::report::{Cell, Table, Unit};
use report::style::Palette;
use report::{ExitStatus, LongTable, Outcome, names};
use zipstream::extract::local_to_utc;
use zipstream::{ArchiveReader, Entry, EntryKind, PipeReader, ReadAt};

use crate::args::glob::Asked;
use crate::commands::unzip::flags::UnzipPlan;
use crate::commands::unzip::messages;
use crate::failure::{Failure, Result};
use crate::term::{color, message};

/// Entries that get rows in a report; the rest is counted, with a warning.
const ROWS_MAX: u64 = 1_000_000;

/// A listing so far.
pub(super) struct Listing<'a> {
    asked: Asked<'a>,
    entries: Table,
    rows_max: u64,
    full: bool,
    count: u64,
    content_bytes: u64,
    compressed_bytes: u64,
}

const COLUMNS: [(&str, Unit); 5] = [
    ("size_bytes", Unit::Count),
    ("compressed_bytes", Unit::Count),
    ("method", Unit::Text),
    ("modified", Unit::Text),
    ("name", Unit::Text),
];

const FULL_COLUMNS: [(&str, Unit); 9] = [
    ("size_bytes", Unit::Count),
    ("compressed_bytes", Unit::Count),
    ("method", Unit::Text),
    ("modified", Unit::Text),
    ("name", Unit::Text),
    ("kind", Unit::Text),
    ("mode", Unit::Text),
    ("crc32", Unit::Text),
    ("offset_bytes", Unit::Count),
];

impl<'a> Listing<'a> {
    /// With a row per entry, with full rows, or without rows if they are not printed.
    pub(super) fn new(plan: &'a UnzipPlan, full: bool, read: bool) -> Self {
        let columns: &[_] = if full { &FULL_COLUMNS } else { &COLUMNS };
        Self {
            asked: Asked::new(&plan.selection),
            entries: Table::new("entries", columns),
            rows_max: if read { ROWS_MAX } else { 0 },
            full,
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
        if self.full {
            row.extend([
                Cell::from(match entry.kind() {
                    EntryKind::File => "file",
                    EntryKind::Directory => "directory",
                    EntryKind::Symlink => "link",
                }),
                entry.mode().map(|mode| format!("{mode:04o}")).into(),
                format!("{:08x}", entry.crc32()).into(),
                entry.offset().into(),
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
        for entry in reader.entries() {
            self.add(&entry.map_err(|error| messages::failed(&error))?);
        }
        Ok(())
    }

    /// Prints the listing as it is read: the directory is read twice, and no row is kept.
    pub(super) fn print<R: ReadAt>(&mut self, reader: &ArchiveReader<R>) -> Result<()> {
        let columns = std::mem::replace(&mut self.entries, Table::new("entries", &[]));
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
        match printed {
            // The reader has read enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::io("write", Path::new("standard output"), &error))
            }
            _ => Ok(()),
        }
    }

    /// Lists an archive from a pipe, and verifies contents on the way.
    pub(super) fn pipe(&mut self, source: impl Read, plan: &UnzipPlan) -> Result<()> {
        let failed = |error| messages::failed(&error);
        let mut pipe = PipeReader::new(source, &plan.read);
        while pipe.next_entry().map_err(failed)?.is_some() {}
        while let Some(record) = pipe.next_record().map_err(failed)? {
            self.add(&record);
        }
        Ok(())
    }

    /// Puts the listing into the outcome, with its status.
    pub(super) fn settle(self, outcome: &mut Outcome) {
        let unmatched = messages::unmatched(&self.asked);
        unmatched.iter().for_each(message::failure);
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
        let mut tables = vec![self.entries, total];
        // Printed rows cannot be realigned.
        tables.retain(|table| !table.columns.is_empty());
        (tables, self.count)
    }
}

/// The name of an entry in a report. A name that is not valid in its stated encoding is shown with its
/// bytes.
fn name(entry: &Entry<'_>) -> String {
    match entry.name() {
        Ok(name) => names::text(name.as_bytes()),
        Err(_) => names::text(entry.name_bytes()),
    }
}

/// When an entry was modified, in the zone of this system and without fractions of seconds.
fn time(entry: &Entry<'_>) -> Option<String> {
    let seconds = entry.time().seconds_utc(local_to_utc);
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    let shown = at.to_zoned(jiff::tz::TimeZone::system());
    Some(shown.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
