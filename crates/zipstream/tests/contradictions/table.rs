//! The table in `HOSTILE.md`: how each reader read each case, and what the strict profile says to it.

use std::fmt::Write as _;

use zipstream::ReadOptions;

use crate::cases::Case;
use crate::fields::crc32;
use crate::readers;
use crate::verdict::{by_file, by_pipe};

/// The path of the document.
const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/HOSTILE.md");
const HEAD: &str = "| contradiction | bytes |";

/// A row: the case, the checksum of its bytes, and the letters of the readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) bytes: String,
    pub(crate) letters: Vec<String>,
    pub(crate) verdicts: [String; 2],
}

/// What the strict profile makes of a case, from a file and from a pipe.
pub(crate) fn verdicts(case: &Case) -> [String; 2] {
    let options = ReadOptions::strict();
    let short = |result: Result<Vec<(String, u32)>, String>| match result {
        Ok(_) => "reads".to_owned(),
        Err(error) => {
            let kind = error.split(':').next().unwrap_or_default();
            let kind = if kind.contains(' ') { "Name" } else { kind };
            format!("`{kind}`")
        }
    };
    [
        by_file(&case.bytes, &options),
        by_pipe(&case.bytes, &options),
    ]
    .map(short)
}

/// The name of a case in a table.
fn cell(name: &str) -> String {
    name.replace('|', "\\|").replace("``", "` `")
}

impl Row {
    pub(crate) fn new(case: &Case, letters: Vec<String>) -> Self {
        Self {
            case: cell(&case.name),
            bytes: format!("{:08x}", crc32(&case.bytes)),
            letters,
            verdicts: verdicts(case),
        }
    }

    fn line(&self) -> String {
        let mut line = format!("| {} | {} |", self.case, self.bytes);
        for part in self.letters.iter().chain(&self.verdicts) {
            let _ = write!(line, " {part} |");
        }
        line
    }
}

fn heading() -> String {
    let mut head = HEAD.to_owned();
    for reader in readers::ALL {
        let _ = write!(head, " {} |", reader.name);
    }
    head + " strict | strict, pipe |"
}

/// Where the table is in the document.
fn place(text: &str) -> std::ops::Range<usize> {
    let start = text.find(HEAD).expect("HOSTILE.md has the table");
    let end = text[start..]
        .find("\n\n")
        .map_or(text.len(), |at| start + at + 1);
    start..end
}

/// The rows of the document.
pub(crate) fn stated() -> Vec<Row> {
    let text = std::fs::read_to_string(PATH).expect("read");
    let table = text[place(&text)].to_owned();
    let rows = table.lines().skip(2).map(|line| {
        let line = line.replace("\\|", "\u{1}");
        let cells: Vec<String> = line
            .trim_matches('|')
            .split(" |")
            .map(|cell| cell.trim().replace('\u{1}', "\\|"))
            .collect();
        let [case, bytes, letters @ .., file, pipe] = &cells[..] else {
            panic!("a row of the table: {line}");
        };
        Row {
            case: case.clone(),
            bytes: bytes.clone(),
            letters: letters.to_vec(),
            verdicts: [file.clone(), pipe.clone()],
        }
    });
    rows.collect()
}

/// Writes the rows into the document.
pub(crate) fn bless(rows: &[Row]) {
    let text = std::fs::read_to_string(PATH).expect("read");
    let mut table = heading();
    let columns = readers::ALL.len() + 4;
    let _ = write!(table, "\n|{}\n", "---|".repeat(columns));
    for row in rows {
        table.push_str(&row.line());
        table.push('\n');
    }
    let place = place(&text);
    let text = [&text[..place.start], &table, &text[place.end..]].concat();
    std::fs::write(PATH, text).expect("written");
}
