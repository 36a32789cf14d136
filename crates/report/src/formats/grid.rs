//! A grid of strings, laid out for a terminal or as Markdown.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::line::{self, Line, Tone, escape};
use super::page::{self, Fitted, Page};
use super::worth;
use crate::plain::visible;
use crate::style::Palette;
use crate::units::{ABSENT, count};

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
    /// What each column is worth when there is no room for all.
    worth: Vec<u8>,
}

impl Grid {
    /// A grid without rows, whose columns are worth these.
    pub(super) fn new(header: Vec<String>, left: usize, worth: Vec<u8>) -> Self {
        debug_assert_eq!(header.len(), worth.len());
        Self {
            header: header
                .iter()
                .map(|cell| visible(cell).into_owned())
                .collect(),
            rows: Vec::new(),
            left,
            worth,
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

    /// Columns as wide as they need to be, within the page; a last line says what is left out.
    pub(super) fn text(
        &self,
        page: &Page,
        palette: &Palette,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let limit = page.rows.unwrap_or(usize::MAX);
        let rows = &self.rows[..self.rows.len().min(limit)];
        let mut wanted: Vec<usize> = self.header.iter().map(|cell| cell.width()).collect();
        for row in rows {
            for (width, cell) in wanted.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let room = page.columns();
        let parts = match page.folds {
            true => page::fold(&wanted, self.left, room),
            false => vec![page::fit(&wanted, &self.worth_of(rows), room)],
        };
        for (nth, part) in parts.iter().enumerate() {
            if nth > 0 {
                writeln!(out)?;
            }
            let faint = palette.faint;
            write!(out, "{faint}")?;
            self.lines(&self.header, part, out)?;
            write!(out, "{faint:#}")?;
            for row in rows {
                self.lines(row, part, out)?;
            }
        }
        let shown = |column: &usize| parts.iter().any(|part| part.shown.contains(column));
        let hidden = (0..self.header.len()).filter(|column| !shown(column));
        let hidden: Vec<&str> = hidden.map(|column| self.header[column].as_str()).collect();
        let mut said = Vec::new();
        if !hidden.is_empty() {
            said.push(format!("not shown: {} (-v shows all)", hidden.join(", ")));
        }
        if rows.len() < self.rows.len() {
            let said_of = match self.rows.len() - rows.len() {
                1 => "1 more row".to_owned(),
                more => format!("{} more rows", count(more as u64)),
            };
            said.push(format!("{said_of} (-v shows all)"));
        }
        for text in said {
            let margin = " ".repeat(page::MARGIN);
            Line::of(Tone::Faint, text).text_within(room, (&margin, &margin), palette, out)?;
        }
        Ok(())
    }

    /// What columns are worth: nothing if they have no value in any of the rows.
    fn worth_of(&self, rows: &[Vec<String>]) -> Vec<u8> {
        let empty = |column: usize| {
            let absent = |row: &Vec<String>| row[column] == ABSENT || row[column].is_empty();
            !rows.is_empty() && rows.iter().all(absent)
        };
        let worth = self.worth.iter().enumerate();
        let worth = worth.map(|(column, worth)| match empty(column) {
            true => worth::EMPTY,
            false => *worth,
        });
        worth.collect()
    }

    /// A row of the columns that are shown, over as many lines as its longest text needs.
    fn lines(&self, row: &[String], fitted: &Fitted, out: &mut dyn Write) -> io::Result<()> {
        let columns = fitted.shown.iter().zip(&fitted.widths);
        let cells: Vec<(Vec<String>, usize, bool)> = columns
            .map(|(column, width)| {
                let pieces = line::pieces(&row[*column], *width);
                (pieces, *width, *column < self.left)
            })
            .collect();
        let height = cells.iter().map(|(pieces, ..)| pieces.len()).max();
        for nth in 0..height.unwrap_or(1) {
            let mut line = " ".repeat(page::MARGIN);
            for (at, (pieces, width, left)) in cells.iter().enumerate() {
                let piece = pieces.get(nth).map_or("", String::as_str);
                let pad = " ".repeat(width.saturating_sub(piece.width()));
                if at > 0 {
                    line.push_str(&" ".repeat(page::GAP));
                }
                // A text of several lines reads from the left.
                if *left || pieces.len() > 1 {
                    line.push_str(piece);
                    line.push_str(&pad);
                } else {
                    line.push_str(&pad);
                    line.push_str(piece);
                }
            }
            writeln!(out, "{}", line.trim_end())?;
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
        let mut grid = Grid::new(vec!["name".into(), "time".into()], 1, vec![9, 1]);
        grid.push(vec!["a".into(), "1 µs".into()]);
        grid.push(vec!["long|er".into(), "12.5 µs".into()]);
        grid
    }

    #[test]
    fn text_columns_line_up() {
        let mut out = Vec::new();
        grid()
            .text(&Page::ENDLESS, &Palette::ANSI, &mut out)
            .expect("written");
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        let expected = "  name        time\n  a           1 µs\n  long|er  12.5 µs\n";
        assert_eq!(String::from_utf8(plain).expect("text"), expected);
        let mut bare = Vec::new();
        grid()
            .text(&Page::ENDLESS, &Palette::PLAIN, &mut bare)
            .expect("written");
        assert_eq!(String::from_utf8(bare).expect("text"), expected);
    }

    #[test]
    fn columns_are_as_wide_as_they_look() {
        let mut grid = Grid::new(vec!["name".into(), "time".into()], 1, vec![9, 1]);
        grid.push(vec!["日本語".into(), "1 µs".into()]);
        grid.push(vec!["e\u{301}".into(), "2 µs".into()]);
        let mut out = Vec::new();
        grid.text(&Page::ENDLESS, &Palette::PLAIN, &mut out)
            .expect("written");
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

    /// Three names and three numbers, the middle one worth least.
    fn wide() -> Grid {
        let header = ["codec", "ratio", "memory", "p99"].map(str::to_owned);
        let mut grid = Grid::new(header.to_vec(), 1, vec![100, 95, 20, 88]);
        for codec in ["zstd with long-distance matching", "lz4", "snappy"] {
            let row = [codec, "2.000", "12.5 MiB", "1.31 ms"];
            grid.push(row.map(str::to_owned).to_vec());
        }
        grid
    }

    fn shown(grid: &Grid, page: Page) -> String {
        let mut out = Vec::new();
        grid.text(&page, &Palette::PLAIN, &mut out)
            .expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_grid_fits_the_page_and_says_what_is_left_out() {
        let page = |width, folds| Page {
            width: Some(width),
            folds,
            ..Page::ENDLESS
        };
        let text = shown(&wide(), page(36, false));
        let expected = [
            "  codec               ratio      p99",
            "  zstd with           2.000  1.31 ms",
            "  long-distance",
            "  matching",
            "  lz4                 2.000  1.31 ms",
            "  snappy              2.000  1.31 ms",
            "  not shown: memory (-v shows all)",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        for width in 30..80 {
            for folds in [false, true] {
                let text = shown(&wide(), page(width, folds));
                let widest = text.lines().map(|line| line.width()).max();
                assert!(widest <= Some(width), "{width}:\n{text}");
                // Folded, nothing is missing.
                assert!(!folds || text.contains("12.5 MiB") && !text.contains("not shown"));
            }
        }
    }

    #[test]
    fn rows_beyond_the_page_are_counted() {
        let page = Page {
            rows: Some(2),
            ..Page::ENDLESS
        };
        let text = shown(&wide(), page);
        assert!(
            text.ends_with("1.31 ms\n  1 more row (-v shows all)\n"),
            "{text}"
        );
        assert!(!text.contains("snappy"), "{text}");
    }
}
