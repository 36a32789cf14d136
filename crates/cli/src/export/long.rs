//! Tables that are too long to be kept: their rows are printed as they come, after a first pass that
//! finds how wide the columns are.

use std::io::{self, Write as _};

use latency::report::{Cell, Table, Unit};

use super::grid::Columns;
use super::tables::{table_row, titles};
use crate::term::color::{self, HEADING};
use crate::term::plain::visible;

/// Output that is worth a write.
const WRITE_BYTES: usize = 64 << 10;

/// A table on its way to standard output, as text.
pub(crate) struct LongTable {
    table: Table,
    columns: Columns,
    out: Vec<u8>,
}

impl LongTable {
    /// The columns of a table without rows.
    pub(crate) fn new(table: Table) -> Self {
        // What is not compared digit by digit starts where the eye looks for it.
        let left = table.columns.iter();
        let left = left.map(|column| column.unit == Unit::Text).collect();
        Self {
            columns: Columns::new(titles(&table), left),
            table,
            out: Vec::new(),
        }
    }

    /// The first pass: makes room for a row.
    pub(crate) fn fit(&mut self, row: &[Cell]) {
        let row = self.shown(row);
        self.columns.fit(&row);
    }

    /// Prints the headings, between the passes.
    pub(crate) fn heading(&mut self) -> io::Result<()> {
        let name = visible(&self.table.name);
        writeln!(self.out, "{HEADING}{name}{HEADING:#}")?;
        self.columns.heading(&mut self.out)
    }

    /// The second pass: prints a row.
    pub(crate) fn row(&mut self, row: &[Cell]) -> io::Result<()> {
        let row = self.shown(row);
        self.columns.line(&row, &mut self.out)?;
        if self.out.len() < WRITE_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Ends the table.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        writeln!(self.out)?;
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        color::write_stdout(&self.out)?;
        self.out.clear();
        Ok(())
    }

    fn shown(&self, row: &[Cell]) -> Vec<String> {
        let mut row = table_row(&self.table, row);
        for cell in &mut row {
            if let std::borrow::Cow::Owned(plain) = visible(cell) {
                *cell = plain;
            }
        }
        row
    }
}
