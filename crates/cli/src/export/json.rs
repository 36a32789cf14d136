//! The report as JSON: one document, or one line.

use std::io::{self, Write};

use latency::report::Report;

/// One indented document, for people and `jq`.
pub(crate) fn pretty(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, report)?;
    out.write_all(b"\n")
}

/// One line, for logs that gather many runs.
pub(crate) fn line(report: &Report, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut out, report)?;
    out.write_all(b"\n")
}
