//! Flags of `report`.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Stdout};
use latency::hgrm::HgrmUnit;

use crate::args::output::OutputArgs;

/// Show, merge or overlay saved reports.
///
/// Reads report JSON, .hgrm and .hlog files, and the output of wrk2. One file is shown as it was;
/// several are shown side by side, or added up with --merge.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit report run.json
  perfkit report --merge core0.hlog core1.hlog --export-hgrm both.hgrm
  perfkit report before.json after.json --report markdown")]
pub(crate) struct RenderArgs {
    /// Files to read (.json, .hgrm, .hlog); `-` is JSON on standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Add up the histograms of matching rows
    #[arg(long)]
    pub(crate) merge: bool,
    /// Unit of the values in .hgrm files: ns, us or ms
    ///
    /// Files of perfkit state it; wrk2's are in milliseconds, known by their header; others are taken for
    /// microseconds.
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<HgrmUnit>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl RenderArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        self.output
            .files()
            .sources(&self.files, false)
            .stdout(Stdout::Report)
    }
}
