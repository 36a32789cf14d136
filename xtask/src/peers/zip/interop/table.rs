//! The results as data and as Markdown.

use std::fmt::Write;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::record::Body;

/// What came of one shape and one reader.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) shape: String,
    /// Whether perfkit wrote it.
    pub(super) ours: bool,
    pub(super) reader: String,
    /// `ok`, what was not restored, or the reader's diagnosis.
    pub(super) found: String,
    pub(super) wrong: bool,
    /// Why that is the reader's limit.
    pub(super) limit: Option<String>,
}

impl Cell {
    /// Whether it failed and should not have.
    pub(super) fn is_wrong(&self) -> bool {
        self.wrong && self.limit.is_none()
    }

    pub(super) fn line(&self) -> String {
        let mark = match self.is_wrong() {
            true => "WRONG: ",
            false => "",
        };
        format!("{} by {}: {mark}{}", self.shape, self.reader, self.found)
    }
}

/// Everything that was compared.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Interop {
    pub(super) cells: Vec<Cell>,
}

impl Interop {
    /// Takes the row of a shape in, at the place of an older one.
    pub(super) fn replace(&mut self, shape: &str, row: Vec<Cell>) {
        let at = self.cells.iter().position(|cell| cell.shape == shape);
        self.cells.retain(|cell| cell.shape != shape);
        let at = at.unwrap_or(self.cells.len());
        self.cells.splice(at..at, row);
    }

    fn table(&self, out: &mut String, ours: bool, notes: &mut Vec<String>) -> std::fmt::Result {
        let of = || self.cells.iter().filter(|cell| cell.ours == ours);
        let (mut shapes, mut readers) = (Vec::new(), Vec::new());
        for cell in of() {
            for (all, name) in [(&mut shapes, &cell.shape), (&mut readers, &cell.reader)] {
                if !all.contains(name) {
                    all.push(name.clone());
                }
            }
        }
        writeln!(out, "| written | {} |", readers.join(" | "))?;
        writeln!(out, "|---|{}", "---|".repeat(readers.len()))?;
        for shape in &shapes {
            write!(out, "| {shape} |")?;
            for reader in &readers {
                let cell = of().find(|cell| cell.shape == *shape && cell.reader == *reader);
                let text = cell.map_or_else(|| "—".to_owned(), |cell| short(cell, notes));
                write!(out, " {text} |")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Body for Interop {
    fn write(&self, out: &mut String) -> Result<()> {
        writeln!(
            out,
            "A tree is of 22 files and a link: 0 B, 1 B, 64 KiB and 1 MiB less one, exact and more \
             one, of text and of noise, names that are not ASCII, modes, an old time. A reader \
             extracts it, and every file is compared byte by byte; single contents are compared as \
             they come out of a pipe. *ok, no modes* and the like: contents are right, and that is \
             not restored. A number leads to the note below: what the reader says, and why.\n"
        )?;
        writeln!(out, "## What perfkit writes\n")?;
        let mut notes = Vec::new();
        self.table(out, true, &mut notes)?;
        writeln!(out, "\n## What others write\n")?;
        self.table(out, false, &mut notes)?;
        writeln!(out, "\n## Notes\n")?;
        for (number, note) in notes.iter().enumerate() {
            writeln!(out, "{}. {note}", number + 1)?;
        }
        Ok(())
    }
}

/// The text in the table; the rest becomes a note.
fn short(cell: &Cell, notes: &mut Vec<String>) -> String {
    if !cell.wrong {
        return cell.found.clone();
    }
    let note = match &cell.limit {
        Some(limit) => format!("{}: {limit} (`{}`)", cell.reader, cell.found),
        None => format!(
            "{}: **not as it should be** (`{}`)",
            cell.reader, cell.found
        ),
    };
    let number = notes
        .iter()
        .position(|known| *known == note)
        .unwrap_or_else(|| {
            notes.push(note);
            notes.len() - 1
        });
    format!("no ({})", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_becomes_a_note_and_rows_are_replaced() {
        let cell = |found: &str, wrong| Cell {
            shape: "zstd".to_owned(),
            ours: true,
            reader: "unzip".to_owned(),
            found: found.to_owned(),
            wrong,
            limit: wrong.then(|| "reads no zstd".to_owned()),
        };
        let mut record = Interop::default();
        record.replace("zstd", vec![cell("ok", false)]);
        record.replace("zstd", vec![cell("need PK compat. v6.3", true)]);
        let mut text = String::new();
        record.write(&mut text).unwrap();
        assert!(text.contains("| zstd | no (1) |"), "{text}");
        assert!(
            text.contains("1. unzip: reads no zstd (`need PK compat. v6.3`)"),
            "{text}"
        );
        assert!(!cell("x", true).is_wrong());
    }
}
