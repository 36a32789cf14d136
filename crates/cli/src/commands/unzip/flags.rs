//! `perfkit unzip`: flags, and what they come to.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use zipstream::{Limits, Profile, ReadOptions};

use crate::args::glob::{Glob, Selection};
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::password::PasswordSource;
use crate::args::{levels, units};
use crate::failure::Result;
use crate::io::conflicts::{Files, Stdout};

/// Extract, test or list a ZIP archive.
///
/// IN is a file, or `-` for standard input, which is read as it comes. A binary with the feature
/// `cloud` takes URLs as well, of which it reads the directory and the entries that are wanted. Nothing is written outside of
/// the target directory, whatever names and links are in the archive. The report goes to standard
/// error, a listing (-l) to standard output.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit unzip src.zip -d target
  curl -s http://host/src.zip | perfkit unzip - '*.rs'
  perfkit unzip -t --strict upload.zip --max-size 1G")]
pub(crate) struct UnzipArgs {
    /// The archive; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Take only names that match one of these
    #[arg(value_name = "GLOB")]
    include: Vec<Glob>,
    /// List the entries; -v lists more of each, also alone
    #[arg(short, long, conflicts_with_all = ["test", "print", "directory"])]
    list: bool,
    /// Decompress and check, write nothing
    #[arg(short, long, conflicts_with_all = ["print", "directory"])]
    test: bool,
    /// Write contents to standard output, one after the other
    #[arg(short, long, conflicts_with = "directory")]
    print: bool,
    /// Extract into DIR, which is made
    #[arg(short, long, value_name = "DIR", overrides_with = "directory")]
    directory: Option<PathBuf>,
    /// Overwrite files
    #[arg(short, long, overrides_with = "never")]
    overwrite: bool,
    /// Overwrite files, as -o does; with -p, write contents to a terminal as they are
    ///
    /// Otherwise contents that are written to a terminal have their control characters shown as
    /// escapes, such as \u{1b}.
    #[arg(long, overrides_with = "never", hide_short_help = true)]
    pub(crate) force: bool,
    /// Skip files that exist
    #[arg(short, long, overrides_with_all = ["overwrite", "force"])]
    never: bool,
    /// Open encrypted entries with the password in FILE
    ///
    /// Without it the password is asked for on the terminal when an entry needs one.
    #[arg(long, value_name = "FILE", overrides_with = "password_file")]
    password_file: Option<PathBuf>,
    /// Print encrypted entries of a pipe before they are verified
    ///
    /// What authenticates an entry stands behind it. Files get their names when they are verified,
    /// and archives that are no pipe are read twice; this is for -p from a pipe, which can be neither.
    #[arg(long, overrides_with = "_no_unverified", hide_short_help = true)]
    unverified: bool,
    #[arg(long = "no-unverified", overrides_with = "unverified", hide = true)]
    _no_unverified: bool,
    /// Leave out names that match GLOB; repeatable
    #[arg(short = 'x', long, value_name = "GLOB", action = ArgAction::Append)]
    exclude: Vec<Glob>,
    /// Threads, 0 for one a processor
    ///
    /// The default is 0. Standard input is read by one.
    #[arg(
        short = 'T',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        overrides_with = "threads"
    )]
    threads: u32,
    /// Refuse whatever two programs could read in two ways
    #[arg(long, overrides_with = "_no_strict")]
    strict: bool,
    #[arg(long = "no-strict", overrides_with = "strict", hide = true)]
    _no_strict: bool,
    /// Fail when all contents come to more than SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_size: Option<u64>,
    /// Fail when one content comes to more than SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size, hide_short_help = true)]
    max_entry: Option<u64>,
    /// Fail when an archive has more than N entries
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_entries: Option<u64>,
    /// Fail when a content is more than N times its compressed size
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_ratio: Option<u64>,
    /// The same as --report json
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// What `unzip` shall do with the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnzipMode {
    /// Say what there is.
    List,
    /// Check them.
    Test,
    /// Write them to standard output.
    Print,
    /// Make files of them in this directory.
    Extract(PathBuf),
}

/// What happens to files that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// They are kept, and that is a failure.
    Refuse,
    /// They are kept, and that is fine.
    Skip,
    /// They are replaced.
    Replace,
}

/// What `unzip` shall do, free of spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnzipPlan {
    /// What to do.
    pub(crate) mode: UnzipMode,
    /// Which names are taken.
    pub(crate) selection: Selection,
    /// What happens to files that exist.
    pub(crate) existing: Existing,
    /// Threads, at least 1.
    pub(crate) threads: u32,
    /// Profile and limits.
    pub(crate) read: ReadOptions,
    /// Where the password comes from, should one be needed.
    pub(crate) password: PasswordSource,
    /// Whether encrypted content may be given out before it is verified.
    pub(crate) early: bool,
}

impl UnzipArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<UnzipPlan> {
        // As Info-ZIP has it, -v lists where nothing says what else to do.
        let places = self.directory.is_some() || self.overwrite || self.never;
        let lists = self.list || (self.terminal.verbose && !places);
        let mode = match (lists && !self.test && !self.print, self.test, self.print) {
            (true, ..) => UnzipMode::List,
            (_, true, _) => UnzipMode::Test,
            (.., true) => UnzipMode::Print,
            _ => {
                let directory = self.directory.clone();
                UnzipMode::Extract(directory.unwrap_or_else(|| PathBuf::from(".")))
            }
        };
        let existing = match (self.overwrite || self.force, self.never) {
            (true, _) => Existing::Replace,
            (_, true) => Existing::Skip,
            _ => Existing::Refuse,
        };
        let defaults = Limits::default();
        let limits = defaults
            .entry_bytes(self.max_entry.unwrap_or(defaults.entry_bytes))
            .total_bytes(self.max_size.unwrap_or(defaults.total_bytes))
            .ratio(self.max_ratio.unwrap_or(defaults.ratio))
            .entries(self.max_entries.unwrap_or(defaults.entries));
        let profile = if self.strict {
            Profile::Strict
        } else {
            Profile::Default
        };
        let terminal = PasswordSource::Terminal;
        Ok(UnzipPlan {
            password: self
                .password_file
                .clone()
                .map_or(terminal, PasswordSource::File),
            early: self.unverified || mode != UnzipMode::Print,
            mode,
            selection: Selection {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
            },
            existing,
            threads: levels::threads(self.threads)?,
            read: ReadOptions::new().profile(profile).limits(limits),
        })
    }
}

impl UnzipArgs {
    /// What it reads and writes. What is extracted does not take the archive's place: that is seen
    /// to where files get their names.
    pub(crate) fn files(&self) -> Files<'_> {
        let listing = self.list || self.terminal.verbose;
        Files::default()
            .reads("the archive", &self.input)
            .reads_some("--password-file", &self.password_file)
            .writes_all(self.report.exported())
            .stderr(self.terminal.wants_report())
            .stdout(match (listing, self.print) {
                (_, true) => Stdout::Data,
                (true, _) => Stdout::Report,
                _ => Stdout::Nothing,
            })
    }
}
