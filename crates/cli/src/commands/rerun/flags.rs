//! Flags of `rerun`.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Stdout};

use crate::args::output::TerminalArgs;

/// Run again what a report states.
///
/// Takes the command line from a JSON report (--export-json), says what is different on this machine (version,
/// processor, kernel, inputs), and runs it. Files that the first run exported its report to are left alone. A
/// run that read standard input cannot be repeated. The files of `perfkit hyperfine --export-json` are reports, too;
/// those of hyperfine itself do not say how it was called.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit rerun run.json
  perfkit rerun run.json --export-json again.json
  perfkit rerun run.json --dry-run")]
pub(crate) struct RerunArgs {
    /// The report (.json)
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the command line and what is different, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also run the programs that the report names
    ///
    /// The reports of `compare` and `hyperfine` name programs of anybody's choice. Only run those of a report that
    /// you trust.
    #[arg(long)]
    pub(crate) trust: bool,
    /// Write the JSON report of the new run to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) export_json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

impl RerunArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let export = self.export_json.as_deref();
        Files::default()
            .sources(std::slice::from_ref(&self.file), false)
            .writes_all(export.map(|path| ("--export-json", path)))
            .stdout(Stdout::Report)
    }
}
