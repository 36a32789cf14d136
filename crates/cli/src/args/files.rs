//! Flags on sources and targets, shared by `compress` and `decompress`.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::{Files, Flagged, Stdout};
use files::plan::Place;

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
        overrides_with = "_no_stdout",
        conflicts_with = "output"
    )]
    pub(crate) stdout: bool,
    #[arg(long = "no-stdout", overrides_with = "stdout", hide = true)]
    _no_stdout: bool,
    /// Overwrite targets, and write binary to a terminal
    #[arg(short, long, overrides_with = "_no_force")]
    pub(crate) force: bool,
    #[arg(long = "no-force", overrides_with = "force", hide = true)]
    _no_force: bool,
    /// Keep targets that exist, and take their sources for done
    ///
    /// Also if another process made the target meanwhile. So a list of files or keys can be done by several processes, and
    /// again after one of them died.
    #[arg(long, conflicts_with_all = ["force", "stdout", "rm"], hide_short_help = true)]
    pub(crate) skip_existing: bool,
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
    /// Also take the files that LIST names, one per line; may be repeated
    #[arg(long, value_name = "LIST", hide_short_help = true)]
    pub(crate) filelist: Vec<PathBuf>,
    /// Write targets into DIR
    #[arg(
        long,
        value_name = "DIR",
        overrides_with_all = ["output_dir_flat", "output_dir_mirror"],
        conflicts_with_all = ["output", "stdout"],
        hide_short_help = true
    )]
    output_dir_flat: Option<PathBuf>,
    /// Write targets under DIR, at the paths of their sources
    #[arg(
        long,
        value_name = "DIR",
        overrides_with_all = ["output_dir_flat", "output_dir_mirror"],
        conflicts_with_all = ["output", "stdout"],
        hide_short_help = true
    )]
    output_dir_mirror: Option<PathBuf>,
}

impl FileArgs {
    /// Whether reports replace those of a run before. A command line that skips what is there is run again as it is.
    pub(crate) fn replaces_reports(&self) -> bool {
        self.force || self.skip_existing
    }

    /// Where targets go that have no name of their own.
    pub(crate) fn place(&self) -> Place {
        match (&self.output_dir_flat, &self.output_dir_mirror) {
            (Some(directory), _) => Place::Flat(directory.clone()),
            (None, Some(directory)) => Place::Mirror(directory.clone()),
            (None, None) => Place::Beside,
        }
    }

    /// The lists of names, which are read.
    pub(crate) fn lists(&self) -> impl Iterator<Item = Flagged<'_>> {
        self.filelist
            .iter()
            .map(|list| ("--filelist", list.as_path()))
    }

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
        let files = self
            .lists()
            .fold(files, |files, (what, list)| files.reads(what, list));
        match data {
            true => files.stdout(Stdout::Data),
            false => files,
        }
    }
}
