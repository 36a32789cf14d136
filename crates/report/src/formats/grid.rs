//! A grid of strings, laid out for a terminal or as Markdown.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::line::escape;
use crate::plain::visible;
use crate::style::Palette;

/// Columns under a header, as wide as what was fitted into them.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    header: Vec<String>,
    widths: Vec<usize>,
    /// Which of them are aligned left.
    left: Vec<bool>,
}

impl Columns {
    /// Columns as wide as their headings.
    pub(super) fn new(header: Vec<String>, left: Vec<bool>) -> Self {
        Self {
            widths: header.iter().map(|cell| cell.width()).collect(),
            header,
            left,
        }
    }

    /// Makes room for a row.
    pub(super) fn fit(&mut self, row: &[String]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }

    /// The headings.
    pub(super) fn heading(&self, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
        let faint = palette.faint;
        write!(out, "{faint}")?;
        self.line(&self.header, out)?;
        write!(out, "{faint:#}")
    }

    /// A row, two blanks between its cells.
    pub(super) fn line(&self, row: &[String], out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::from("  ");
        let columns = self.widths.iter().zip(&self.left);
        for (column, (cell, (width, left))) in row.iter().zip(columns).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            if column > 0 {
                line.push_str("  ");
            }
            if *left {
                line.push_str(cell);
                line.push_str(&pad);
            } else {
                line.push_str(&pad);
                line.push_str(cell);
            }
        }
        writeln!(out, "{}", line.trim_end())
    }
}

/// Rows of equal length under a header. The first `left` columns are aligned left, the others right.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    left: usize,
}

impl Grid {
    /// A grid without rows.
    pub(super) fn new(header: Vec<String>, left: usize) -> Self {
        Self {
            header: header
                .iter()
                .map(|cell| visible(cell).into_owned())
                .collect(),
            rows: Vec::new(),
            left,
        }
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Vec<String>) {
        debug_assert_eq!(row.len(), self.header.len());
        self.rows
            .push(row.iter().map(|cell| visible(cell).into_owned()).collect());
    }

    /// Whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns as wide as they need to be.
    pub(super) fn text(&self, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
        let left = (0..self.header.len()).map(|column| column < self.left);
        let mut columns = Columns::new(self.header.clone(), left.collect());
        self.rows.iter().for_each(|row| columns.fit(row));
        columns.heading(palette, out)?;
        for row in &self.rows {
            columns.line(row, out)?;
        }
        Ok(())
    }

    /// The headings, the rows, and how many columns are aligned left.
    pub(super) fn parts(&self) -> (&[String], &[Vec<String>], usize) {
        (&self.header, &self.rows, self.left)
    }

    /// A Markdown table.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
            format!("| {} |", cells.join(" | "))
        };
        writeln!(out, "{}", line(&self.header))?;
        let rule: Vec<String> = (0..self.header.len())
            .map(|column| if column < self.left { "---" } else { "---:" }.to_owned())
            .collect();
        writeln!(out, "|{}|", rule.join("|"))?;
        for row in &self.rows {
            writeln!(out, "{}", line(row))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(vec!["name".into(), "time".into()], 1);
        grid.push(vec!["a".into(), "1 µs".into()]);
        grid.push(vec!["long|er".into(), "12.5 µs".into()]);
        grid
    }

    #[test]
    fn text_columns_line_up() {
        let mut out = Vec::new();
        grid().text(&Palette::ANSI, &mut out).expect("written");
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        let expected = "  name        time\n  a           1 µs\n  long|er  12.5 µs\n";
        assert_eq!(String::from_utf8(plain).expect("text"), expected);
        let mut bare = Vec::new();
        grid().text(&Palette::PLAIN, &mut bare).expect("written");
        assert_eq!(String::from_utf8(bare).expect("text"), expected);
    }

    #[test]
    fn columns_are_as_wide_as_they_look() {
        let mut grid = Grid::new(vec!["name".into(), "time".into()], 1);
        grid.push(vec!["日本語".into(), "1 µs".into()]);
        grid.push(vec!["e\u{301}".into(), "2 µs".into()]);
        let mut out = Vec::new();
        grid.text(&Palette::PLAIN, &mut out).expect("written");
        let expected = "  name    time\n  日本語  1 µs\n  e\u{301}       2 µs\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }

    #[test]
    fn markdown_escapes_what_would_end_a_cell() {
        let mut out = Vec::new();
        grid().markdown(&mut out).expect("written");
        let expected = "| name | time |\n|---|---:|\n| a | 1 µs |\n| long\\|er | 12.5 µs |\n";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
