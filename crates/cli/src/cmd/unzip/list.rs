//! `perfkit unzip -l`: what the directory says.

use std::io::Read;

use latency::report::{Cell, Table, Unit};
use zipstream::{ArchiveReader, Entry, Kind, PipeReader, ReadAt};

use crate::args::unzip::UnzipPlan;
use crate::failure::Result;
use crate::term::message;

/// Entries that have rows; what follows is counted, with a warning.
const ROWS_MAX: u64 = 1_000_000;

/// A listing in the making.
pub(super) struct Listing {
    entries: Table,
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

impl Listing {
    pub(super) fn new(full: bool) -> Self {
        let columns: &[_] = if full { &FULL_COLUMNS } else { &COLUMNS };
        Self {
            entries: Table::new("entries", columns),
            full,
            count: 0,
            content_bytes: 0,
            compressed_bytes: 0,
        }
    }

    fn add(&mut self, entry: &Entry<'_>, plan: &UnzipPlan) {
        let name = entry.name_lossy();
        if !plan.selection.takes(&name) {
            return;
        }
        self.count += 1;
        self.content_bytes = self.content_bytes.saturating_add(entry.content_bytes());
        let compressed = self
            .compressed_bytes
            .saturating_add(entry.compressed_bytes());
        self.compressed_bytes = compressed;
        if self.count > ROWS_MAX {
            return;
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
            time(entry.modified()).into(),
            name.into_owned().into(),
        ];
        if self.full {
            row.extend([
                Cell::from(match entry.kind() {
                    Kind::File => "file",
                    Kind::Directory => "directory",
                    Kind::Symlink => "link",
                }),
                entry.mode().map(|mode| format!("{mode:04o}")).into(),
                format!("{:08x}", entry.crc32()).into(),
                entry.offset().into(),
            ]);
        }
        self.entries.rows.push(row);
    }

    /// Lists a file.
    pub(super) fn file<R: ReadAt>(
        &mut self,
        reader: &ArchiveReader<R>,
        plan: &UnzipPlan,
    ) -> Result<()> {
        for entry in reader.entries() {
            self.add(&entry.map_err(|error| super::failed(&error))?, plan);
        }
        Ok(())
    }

    /// Lists what comes through a pipe, contents checked on the way.
    pub(super) fn pipe(&mut self, source: impl Read, plan: &UnzipPlan) -> Result<()> {
        let failed = |error| super::failed(&error);
        let mut pipe = PipeReader::new(source, &plan.read);
        while pipe.next_entry().map_err(failed)?.is_some() {}
        while let Some(record) = pipe.next_record().map_err(failed)? {
            self.add(&record, plan);
        }
        Ok(())
    }

    /// The tables: a row an entry, and their total.
    pub(super) fn tables(self) -> (Vec<Table>, u64) {
        if self.count > ROWS_MAX {
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
        (vec![self.entries, total], self.count)
    }
}

/// A moment in UTC, without its fractions.
fn time(seconds: i64) -> Option<String> {
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(at.strftime("%Y-%m-%d %H:%M:%S").to_string())
}
