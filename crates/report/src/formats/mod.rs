//! The forms of a report: one file a form, each a function from a report to bytes.

mod bins;
mod body;
mod clean;
pub mod csv;
mod floors;
mod grid;
pub mod hdr;
mod headline;
pub mod html;
pub mod json;
pub mod junit;
mod line;
pub mod live;
mod long;
pub mod markdown;
mod page;
mod spans;
mod sparks;
mod tables;
pub mod text;
mod worth;

use std::io::{self, Write};

use latency::report::Report;

use crate::style::Palette;

pub use clean::report as visible;
pub use long::LongTable;
pub use page::Page;

/// How much of a report its text shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// One line that says what was done, and what is wrong if something is.
    Line,
    /// What fits on a screen.
    #[default]
    Normal,
    /// Every spectrum, and the whole environment.
    Full,
}

/// How the text of a report looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// How much is shown.
    pub detail: Detail,
    /// The styles of its words.
    pub palette: Palette,
    /// Whether pictures are made of ASCII alone.
    pub ascii: bool,
    /// How much room there is.
    pub page: Page,
}

impl Default for Look {
    /// What fits on a screen, without styles, in lines of any width.
    fn default() -> Self {
        Self {
            detail: Detail::Normal,
            palette: Palette::PLAIN,
            ascii: false,
            page: Page::ENDLESS,
        }
    }
}

/// A form of a report that needs nothing but the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Tables for people.
    Text,
    /// One pretty-printed JSON document (schema `perfkit.report/1`).
    Json,
    /// One line of JSON.
    Jsonl,
    /// One line for each comparison, setting or distribution, or a table: see [`csv`].
    Csv,
    /// Tables for an issue or a README.
    Markdown,
}

/// Writes a report in a form; `look` is only for [`Format::Text`].
///
/// # Errors
///
/// Those of `out`, and those of serialisation.
pub fn write(report: &Report, format: Format, look: Look, out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Text => text::write(report, look, out),
        Format::Json => json::pretty(report, out),
        Format::Jsonl => json::line(report, out),
        Format::Csv => csv::write(report, out),
        Format::Markdown => markdown::write(report, out),
    }
}
