//! `perfkit unzip`: its flags, and the plan that they give.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use files::conflicts::{Files, Stdout};
use files::url;
use zipstream::extract::Existing;
use zipstream::{Charset, Limits, Profile, ReadOptions};

use crate::args::glob::{Glob, Selection};
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::password::PasswordSource;
use crate::args::units::ByteRange;
use crate::args::{levels, units};
use crate::failure::{Failure, Result};

/// Extract, test or list a ZIP archive.
///
/// IN is a file, or `-` for standard input, which is read as it arrives. With the build feature
/// `cloud`, IN may also be a URL, of which only the directory and the wanted entries are read, and DIR a URL
/// of an object store. Nothing is ever written outside of the target directory, whatever names and links the
/// archive contains. The report goes to standard error, a listing (-l) to standard output.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit unzip src.zip -d target
  curl -s http://host/src.zip | perfkit unzip - '*.rs'
  perfkit unzip -t logs.zip day.log --write-index day.idx
  perfkit unzip -p logs.zip day.log --index day.idx --range 900M..901M
  perfkit unzip -n s3://bucket/src.zip -d s3://bucket/src/
  perfkit unzip -t --strict upload.zip --max-size 1G")]
pub(crate) struct UnzipArgs {
    /// The archive; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Take only names that match a GLOB
    #[arg(value_name = "GLOB")]
    include: Vec<Glob>,
    /// List the entries; -v, also alone, shows more columns
    #[arg(short, long, conflicts_with_all = ["test", "print", "directory"])]
    list: bool,
    /// List the names alone, one per line
    #[arg(short = '1', long, conflicts_with_all = ["test", "print", "directory"])]
    pub(crate) names: bool,
    /// List, as zipinfo does: -Z1 is -1.
    #[arg(short = 'Z', hide = true, conflicts_with_all = ["test", "print", "directory"])]
    info: bool,
    /// Decompress and verify, but write nothing
    #[arg(short, long, conflicts_with_all = ["print", "directory"])]
    test: bool,
    /// Write contents to standard output, one after another
    #[arg(short, long, conflicts_with = "directory")]
    print: bool,
    /// With -p: only bytes A up to, not including, B of the one entry that GLOB names
    ///
    /// A or B may be left out. Without --index the entry is decoded from its start up to B, and its
    /// checksum is verified only if that is its end.
    #[arg(long, value_name = "A..B", value_parser = units::range, overrides_with = "range", hide_short_help = true)]
    range: Option<ByteRange>,
    /// With -p: read the one entry that GLOB names by an index, which --write-index made
    ///
    /// With --range, only the parts that hold the range are read: about 4 MiB of content each. Without it,
    /// -T threads decode the entry. What is written was verified.
    #[arg(
        long,
        value_name = "FILE",
        overrides_with = "index",
        hide_short_help = true
    )]
    index: Option<PathBuf>,
    /// With -t: write an index of the one entry that GLOB names, for --index
    ///
    /// The entry is read once. Its index takes up to 0.8 % of its content.
    #[arg(
        long,
        value_name = "FILE",
        overrides_with = "write_index",
        hide_short_help = true
    )]
    write_index: Option<PathBuf>,
    /// Extract into DIR, which is created
    ///
    /// With the build feature `cloud`, DIR may be a prefix in an object store (s3://bucket/prefix/). Each file
    /// becomes an object once it is verified. Without --overwrite the store is asked not to replace objects.
    /// Links are failures, and directories are left out.
    #[arg(short, long, value_name = "DIR", overrides_with = "directory")]
    directory: Option<PathBuf>,
    /// Overwrite files
    #[arg(long, overrides_with = "never")]
    overwrite: bool,
    /// Overwrite files, as --overwrite does; with -p, write contents to a terminal unchanged
    ///
    /// Without it, control characters in contents that go to a terminal are shown as escapes, such as
    /// \u{1b}.
    #[arg(long, overrides_with = "never", hide_short_help = true)]
    pub(crate) force: bool,
    /// Skip files that exist
    #[arg(short, long, visible_alias = "skip-existing", overrides_with_all = ["overwrite", "force"])]
    never: bool,
    /// Decrypt with the password in FILE
    ///
    /// Without it, perfkit asks for the password on the terminal when an entry needs one.
    #[arg(long, value_name = "FILE", overrides_with = "password_file")]
    password_file: Option<PathBuf>,
    /// With -p from a pipe: print encrypted entries before they are verified
    ///
    /// The code that authenticates an entry follows its content. An extracted file gets its name only
    /// when it is verified, and -p reads an archive file twice. Neither is possible with -p from a
    /// pipe, which is refused without this flag.
    #[arg(long, overrides_with = "_no_unverified", hide_short_help = true)]
    unverified: bool,
    #[arg(long = "no-unverified", overrides_with = "unverified", hide = true)]
    _no_unverified: bool,
    /// Leave out names that match GLOB; repeatable
    #[arg(short = 'x', long, value_name = "GLOB", action = ArgAction::Append)]
    exclude: Vec<Glob>,
    /// Number of threads; 0: one per CPU
    ///
    /// The default is 0. Standard input is decompressed by one thread.
    #[arg(
        short = 'T',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        overrides_with = "threads"
    )]
    threads: u32,
    /// Read names that state no charset as CHARSET, such as CP866 or Shift_JIS
    ///
    /// Without it they are UTF-8 if they are valid UTF-8, else CP437. Names that are flagged as UTF-8 or have
    /// a Unicode field stay as they are.
    #[arg(
        short = 'O',
        long,
        value_name = "CHARSET",
        overrides_with = "charset",
        conflicts_with = "strict",
        hide_short_help = true
    )]
    charset: Option<Charset>,
    /// Refuse archives that two programs could read differently
    #[arg(long, overrides_with = "_no_strict")]
    strict: bool,
    #[arg(long = "no-strict", overrides_with = "strict", hide = true)]
    _no_strict: bool,
    /// Fail if all contents together exceed SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size)]
    max_size: Option<u64>,
    /// Fail if the content of one entry exceeds SIZE
    #[arg(long, value_name = "SIZE", value_parser = units::size, hide_short_help = true)]
    max_entry: Option<u64>,
    /// Fail if the archive has more than N entries
    #[arg(long, value_name = "N", hide_short_help = true)]
    max_entries: Option<u64>,
    /// Fail if an entry expands to more than N times its compressed size
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

/// What `unzip` does with the contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnzipMode {
    /// List the entries.
    List,
    /// Verify them.
    Test,
    /// Write them to standard output.
    Print,
    /// Extract them to files in this directory.
    Extract(PathBuf),
}

/// What is done with one entry alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OneEntry {
    /// Write bytes of it to standard output, by an index if there is one.
    Print {
        range: Option<ByteRange>,
        index: Option<PathBuf>,
    },
    /// Write its index to this file.
    Index(PathBuf),
}

/// What `unzip` is to do, whatever the flags were called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnzipPlan {
    /// What to do.
    pub(crate) mode: UnzipMode,
    /// What is done with one entry, if it is about one.
    pub(crate) one: Option<OneEntry>,
    /// Which names are taken.
    pub(crate) selection: Selection,
    /// What happens to existing files.
    pub(crate) existing: Existing,
    /// Threads, at least 1.
    pub(crate) threads: u32,
    /// Profile and limits.
    pub(crate) read: ReadOptions,
    /// Where the password comes from, if one is needed.
    pub(crate) password: PasswordSource,
    /// Whether encrypted content may be printed before it is verified.
    pub(crate) early: bool,
}

impl UnzipPlan {
    /// Whether entries become objects of a store.
    pub(crate) fn is_to_store(&self) -> bool {
        matches!(&self.mode, UnzipMode::Extract(directory) if url::of(directory).is_some())
    }
}

impl UnzipArgs {
    /// Whether a listing is asked for by its own flags.
    fn lists(&self) -> bool {
        self.list || self.names || self.info
    }

    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<UnzipPlan> {
        // As Info-ZIP has it, -v lists where nothing says what else to do.
        let places = self.directory.is_some() || self.overwrite || self.never;
        let lists = self.lists() || (self.terminal.verbose && !places);
        let mode = match (lists && !self.test && !self.print, self.test, self.print) {
            (true, ..) => UnzipMode::List,
            (_, true, _) => UnzipMode::Test,
            (.., true) => UnzipMode::Print,
            _ => {
                let directory = self.directory.clone();
                let directory = directory.unwrap_or_else(|| PathBuf::from("."));
                let here = url::of(&directory).and_then(url::local);
                UnzipMode::Extract(here.unwrap_or(directory))
            }
        };
        // Said here: the parser does not ask for a flag that another one excludes.
        if self.write_index.is_some() && !self.test {
            return Err(Failure::usage(
                "--write-index verifies the entry that it reads: add -t",
            ));
        }
        if (self.range.is_some() || self.index.is_some()) && !self.print {
            let what = "--range and --index write to standard output: add -p";
            return Err(Failure::usage(what));
        }
        let existing = match (self.overwrite || self.force, self.never) {
            (true, _) => Existing::Overwrite,
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
        // Files get the names that were packed.
        let read = ReadOptions::new().unix_bytes(true);
        let read = read.profile(profile).limits(limits);
        let read = match self.charset {
            Some(charset) => read.charset(charset),
            None => read,
        };
        let terminal = PasswordSource::Terminal;
        Ok(UnzipPlan {
            password: self
                .password_file
                .clone()
                .map_or(terminal, PasswordSource::File),
            early: self.unverified || mode != UnzipMode::Print,
            mode,
            one: self.one(),
            selection: Selection {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
            },
            existing,
            threads: levels::threads(self.threads)?,
            read,
        })
    }
}

impl UnzipArgs {
    fn one(&self) -> Option<OneEntry> {
        let (range, index) = (self.range, self.index.clone());
        match &self.write_index {
            Some(path) => Some(OneEntry::Index(path.clone())),
            None if range.is_none() && index.is_none() => None,
            None => Some(OneEntry::Print { range, index }),
        }
    }

    /// What it reads and writes. That no extracted file replaces the archive is checked where files get
    /// their names.
    pub(crate) fn files(&self) -> Files<'_> {
        let listing = self.lists() || self.terminal.verbose;
        Files::default()
            .reads("the archive", &self.input)
            .reads_some("--password-file", &self.password_file)
            .reads_some("--index", &self.index)
            .writes_all(
                self.write_index
                    .iter()
                    .map(|path| ("--write-index", &**path)),
            )
            .writes_all(self.report.exported())
            .stderr(self.terminal.wants_report())
            .stdout(match (listing, self.print) {
                (_, true) => Stdout::Data,
                (true, _) => Stdout::Report,
                _ => Stdout::Nothing,
            })
    }
}
