//! Tables that are too long to be kept: their rows are printed as they come, after a first pass that
//! finds how wide the columns are.

use std::io::{self, Write};

use latency::report::{Cell, Table, Unit};

use super::grid::Columns;
use super::tables::{table_row, titles};
use crate::plain::visible;
use crate::style::Palette;

/// Output that is worth a write.
const WRITE_BYTES: usize = 64 << 10;

/// A table on its way out as text, in two passes: [`fit`](Self::fit) each row, print the
/// [`heading`](Self::heading), print each [`row`](Self::row), [`finish`](Self::finish).
#[derive(Debug)]
pub struct LongTable<W> {
    table: Table,
    columns: Columns,
    palette: Palette,
    out: Vec<u8>,
    to: W,
}

impl<W: Write> LongTable<W> {
    /// The columns of a table without rows, which is printed to `to`: in large writes, each whole lines.
    pub fn new(table: Table, palette: Palette, to: W) -> Self {
        // What is not compared digit by digit starts where the eye looks for it.
        let left = table.columns.iter();
        let left = left.map(|column| column.unit == Unit::Text).collect();
        Self {
            columns: Columns::new(titles(&table), left),
            table,
            palette,
            out: Vec::new(),
            to,
        }
    }

    /// The first pass: makes room for a row.
    pub fn fit(&mut self, row: &[Cell]) {
        let row = self.shown(row);
        self.columns.fit(&row);
    }

    /// Prints the headings, between the passes.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn heading(&mut self) -> io::Result<()> {
        let name = visible(&self.table.name);
        let style = self.palette.heading;
        writeln!(self.out, "{style}{name}{style:#}")?;
        self.columns.heading(&self.palette, &mut self.out)
    }

    /// The second pass: prints a row.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn row(&mut self, row: &[Cell]) -> io::Result<()> {
        let row = self.shown(row);
        self.columns.line(&row, &mut self.out)?;
        if self.out.len() < WRITE_BYTES {
            return Ok(());
        }
        self.flush()
    }

    /// Ends the table.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<()> {
        writeln!(self.out)?;
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.write_all(&self.out)?;
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
