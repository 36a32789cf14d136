//! Flags of `report`.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Stdout};
use latency::hgrm::HgrmUnit;

use crate::args::output::OutputArgs;
use crate::failure::{Failure, Result};

/// Show, merge or overlay saved reports.
///
/// Reads report JSON, .hgrm and .hlog files, and what other tools write: wrk2 (text), and JSON of hyperfine, oha,
/// k6, criterion (a directory, too), Google Benchmark, JMH and pytest-benchmark. Each is known by its content.
/// Samples are shown as distributions; where a file has statistics only, these are shown as it states them. One
/// file is shown as it was; several are shown side by side, or added up with --merge.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit report run.json
  perfkit report --merge core0.hlog core1.hlog --export-hgrm both.hgrm
  perfkit report before.json after.json -o pictures.html")]
pub(crate) struct RenderArgs {
    /// Files to read (.json, .hgrm, .hlog); `-` is JSON on standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Add up the histograms of matching rows
    #[arg(long)]
    pub(crate) merge: bool,
    /// Write the report to FILE instead, in the form of its extension
    ///
    /// One of .html, .json, .csv, .md, .hgrm and .hlog.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Unit of the values in .hgrm and .hlog files: ns, us or ms
    ///
    /// Files of perfkit state it; wrk2's are in milliseconds, known by their header; other .hgrm are taken for
    /// microseconds and other .hlog for nanoseconds, and the report says so.
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<HgrmUnit>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl RenderArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = self.output.files().sources(&self.files, false);
        match &self.to {
            Some(to) => files.writes("--output", to),
            None => files.stdout(Stdout::Report),
        }
    }

    /// The same with the file of `--output` among the exports.
    pub(crate) fn exporting(mut self) -> Result<Self> {
        let Some(to) = self.to.take() else {
            return Ok(self);
        };
        let report = &mut self.output.report;
        let extension = to.extension().and_then(|extension| extension.to_str());
        let place = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => &mut report.export_html,
            Some("json") => &mut report.export_json,
            Some("csv") => &mut report.export_csv,
            Some("md" | "markdown") => &mut report.export_markdown,
            Some("hgrm") => &mut report.export_hgrm,
            Some("hlog") => &mut report.export_hlog,
            _ => {
                let message = format!("unknown form of a report: '{}'", to.display());
                let help = "the name ends in .html, .json, .csv, .md, .hgrm or .hlog";
                return Err(Failure::usage(message).help(help));
            }
        };
        if place.replace(to).is_some() {
            let message = "two files of one form: --output and an --export of the same";
            return Err(Failure::usage(message).help("name one of them"));
        }
        Ok(self)
    }
}
