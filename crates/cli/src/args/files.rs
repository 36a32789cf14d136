//! Flags on sources and targets, shared by `compress` and `decompress`.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Stdout};

use crate::args::output::{ReportArgs, TerminalArgs};

/// Flags on sources and targets, shared by `compress` and `decompress`.
#[derive(Debug, Clone, Args)]
pub(crate) struct FileArgs {
    /// Write to FILE; `-` is standard output
    #[arg(short, long, value_name = "FILE", overrides_with = "output")]
    pub(crate) output: Option<PathBuf>,
    /// Write to standard output
    #[arg(
        short = 'c',
        long,
        visible_alias = "to-stdout",
        overrides_with = "_no_stdout"
    )]
    pub(crate) stdout: bool,
    #[arg(long = "no-stdout", overrides_with = "stdout", hide = true)]
    _no_stdout: bool,
    /// Overwrite targets, and write binary to a terminal
    #[arg(short, long, overrides_with = "_no_force")]
    pub(crate) force: bool,
    #[arg(long = "no-force", overrides_with = "force", hide = true)]
    _no_force: bool,
    /// Keep the source (the default)
    #[arg(short, long, overrides_with = "rm", hide_short_help = true)]
    keep: bool,
    /// Remove each source when its target is complete
    #[arg(long, overrides_with = "keep")]
    pub(crate) rm: bool,
    /// Walk directories; symbolic links are not followed
    #[arg(short, long, overrides_with = "_no_recursive")]
    pub(crate) recursive: bool,
    #[arg(long = "no-recursive", overrides_with = "recursive", hide = true)]
    _no_recursive: bool,
}

impl FileArgs {
    /// What sources and reports are. Sources and targets are held against each other as jobs.
    pub(crate) fn files<'a>(
        &'a self,
        sources: &'a [PathBuf],
        report: &'a ReportArgs,
        terminal: &TerminalArgs,
    ) -> Files<'a> {
        let data = self.stdout || self.output.as_deref().is_some_and(files::target::is_stdout);
        let files = Files::default()
            .sources(sources, false)
            .writes_all(report.exported())
            .stderr(terminal.wants_report());
        match data {
            true => files.stdout(Stdout::Data),
            false => files,
        }
    }
}
