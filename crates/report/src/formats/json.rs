//! The report as JSON: one document, or one line.

use std::io::{self, Write};

use latency::report::Report;

use crate::plain;

/// One indented document, for people and `jq`.
///
/// # Errors
///
/// Those of `out`.
pub fn pretty(report: &Report, mut out: impl Write) -> io::Result<()> {
    document(&serde_json::to_string_pretty(report)?, &mut out)
}

/// One line, for logs that gather many runs.
///
/// # Errors
///
/// Those of `out`.
pub fn line(report: &Report, mut out: impl Write) -> io::Result<()> {
    document(&serde_json::to_string(report)?, &mut out)
}

/// Control and format characters are `\u` escapes wherever it goes: that loses nothing.
fn document(text: &str, out: &mut impl Write) -> io::Result<()> {
    out.write_all(plain::json(text).as_bytes())?;
    out.write_all(b"\n")
}
