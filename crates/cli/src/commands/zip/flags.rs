//! The flags of `perfkit zip`.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use files::conflicts::Files;

use crate::args::glob::Glob;
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::commands::zip::combine::flags::CombineArgs;

/// Pack files and directories into a ZIP archive.
///
/// OUT is written without seeking, so it may be a pipe: `-` is standard output. A PATH of `-` is standard
/// input and becomes an entry named `-`. Entries keep the names given, without a leading `/` or `./`. With
/// the build feature `cloud`, OUT may be a URL of an object store (s3, gs, az, file) and is uploaded in
/// parts; a PATH may be the URL of an object, and its key is the name of the entry. The report goes to
/// standard error.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit zip -r src.zip src
  perfkit zip -9r - docs -x '*.tmp' | ssh host 'cat > docs.zip'
  perfkit zip -ur src.zip src
  perfkit zip --repair broken.zip saved.zip
  perfkit zip -er secret.zip letters
  perfkit zip -X --skip-existing s3://bucket/all.zip --from-file keys
  perfkit zip -X -Z zstd -r release.zip release --slo 'service.p99<=10ms'")]
pub(crate) struct ZipArgs {
    /// The archive; `-` is standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What to pack; `-` is standard input
    #[arg(
        value_name = "PATH",
        required_unless_present_any = ["from_file", "update", "freshen", "comment", "read_comment"]
    )]
    pub(crate) paths: Vec<PathBuf>,
    /// Walk directories
    #[arg(short, long, overrides_with = "_no_recursive")]
    pub(super) recursive: bool,
    #[arg(long = "no-recursive", overrides_with = "recursive", hide = true)]
    _no_recursive: bool,
    /// Also pack what FILE names, one path per line; `-` is standard input
    ///
    /// A FILE with NULs has one path before each, as find -print0 writes them. Directories become entries; with
    /// -r they are walked.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["delete", "repair"],
        hide_short_help = true
    )]
    pub(crate) from_file: Option<PathBuf>,
    /// Name entries without their directories
    #[arg(short, long = "junk-paths", overrides_with = "_no_junk")]
    pub(super) junk: bool,
    #[arg(long = "no-junk-paths", overrides_with = "junk", hide = true)]
    _no_junk: bool,
    /// Level 0 to 10, 6 by default, also spelled -0 … -9
    ///
    /// Level 0 stores. Level 10 is several times slower than 9, for 2 to 10 % less. For zstd: 0 to 19, 3 by default.
    #[arg(long, value_name = "N", overrides_with = "level")]
    pub(super) level: Option<i32>,
    /// Compress with store, deflate (the default) or zstd
    ///
    /// An entry that does not shrink is stored, unless it is large.
    #[arg(
        short = 'Z',
        long,
        value_name = "METHOD",
        default_value = "deflate",
        hide_default_value = true,
        hide_possible_values = true,
        overrides_with = "method"
    )]
    pub(super) method: MethodName,
    /// Number of threads; 0: one per CPU
    ///
    /// The default is 0. The archive has the same bytes for any number.
    #[arg(
        short = 'T',
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        overrides_with = "threads"
    )]
    pub(super) threads: u32,
    /// Leave out names that match GLOB; repeatable
    #[arg(short = 'x', long, value_name = "GLOB", action = ArgAction::Append)]
    pub(super) exclude: Vec<Glob>,
    /// Take only names that match GLOB; repeatable
    #[arg(short = 'i', long, value_name = "GLOB", action = ArgAction::Append)]
    pub(super) include: Vec<Glob>,
    /// Reproducible: same contents, same bytes
    ///
    /// All entries get the same time (SOURCE_DATE_EPOCH, or 1980-01-01), modes 644 or 755, and no
    /// extra fields. Entries are always sorted by name, with this flag and without.
    #[arg(short = 'X', long, overrides_with = "_no_reproducible")]
    pub(super) reproducible: bool,
    #[arg(long = "no-reproducible", overrides_with = "reproducible", hide = true)]
    _no_reproducible: bool,
    /// Encrypt; ask for the password on the terminal
    ///
    /// The password has to be typed twice.
    #[arg(short, long, overrides_with = "no_encrypt")]
    pub(super) encrypt: bool,
    /// Add unencrypted entries to an archive that has encrypted ones
    #[arg(long, overrides_with = "encrypt", hide_short_help = true)]
    pub(crate) no_encrypt: bool,
    /// Encrypt with the password in FILE
    ///
    /// A newline at the end does not belong to the password.
    #[arg(long, value_name = "FILE", overrides_with = "password_file")]
    pub(super) password_file: Option<PathBuf>,
    /// Key length: 256 (the default), 192 or 128 bits
    ///
    /// Encryption is WinZip AES (AE-2), which most programs can read. Names, sizes and times are not
    /// encrypted.
    #[arg(
        long,
        value_name = "BITS",
        default_value = "256",
        hide_default_value = true,
        hide_possible_values = true,
        hide_short_help = true,
        overrides_with = "aes"
    )]
    pub(super) aes: KeyBits,
    /// Links: store (the default), follow or skip
    #[arg(
        long,
        value_name = "HOW",
        default_value = "store",
        hide_default_value = true,
        hide_possible_values = true,
        overrides_with = "symlinks"
    )]
    pub(super) symlinks: Symlinks,
    /// Leave out entries for directories
    #[arg(
        short_alias = 'D',
        long,
        overrides_with = "_dir_entries",
        hide_short_help = true
    )]
    pub(super) no_dir_entries: bool,
    #[arg(long = "dir-entries", overrides_with = "no_dir_entries", hide = true)]
    _dir_entries: bool,
    /// Add entries that OUT does not have yet
    ///
    /// An entry that OUT has already is reported as an error (exit 3). Existing entries are not copied, so
    /// the cost is that of the new ones: the new end of the archive is written to a file next to OUT, then
    /// put in place. An error restores OUT. If the process is
    /// killed, the file OUT.perfkit-undo remains, and the next --append, -u, --delete or --repair restores
    /// OUT from it. With --verify, OUT is copied as with -u.
    #[arg(long, conflicts_with_all = ["update", "freshen", "filesync", "delete"])]
    pub(super) append: bool,
    /// Add entries to OUT, and replace older ones
    ///
    /// An entry is older if its file has a later modification time.
    #[arg(short, long, conflicts_with_all = ["freshen", "filesync", "delete"])]
    pub(super) update: bool,
    /// Replace older entries of OUT, and add nothing
    ///
    /// Without a PATH, with -u as well, all entries of OUT whose files exist are meant.
    #[arg(long, conflicts_with_all = ["filesync", "delete"])]
    pub(super) freshen: bool,
    /// Make OUT what the files are: add, replace what differs, delete the rest
    ///
    /// Entries whose file is not among PATHs are deleted. An error while files are looked for leaves OUT as
    /// it is.
    #[arg(long, conflicts_with = "delete", hide_short_help = true)]
    pub(super) filesync: bool,
    /// Move: remove files when OUT is complete
    ///
    /// Nothing is removed if anything failed. A file that is no longer what its entry says stays, and so do
    /// directories that are not empty.
    #[arg(short, long = "move", conflicts_with_all = ["delete", "repair", "reproducible"])]
    pub(super) moves: bool,
    /// Delete the entries of OUT that match a PATH
    ///
    /// Each PATH is a GLOB for names; that of a directory means what is in it, too. All other entries are copied without being decompressed, as with
    /// -u. The old archive stays until the new one is complete.
    #[arg(long)]
    pub(super) delete: bool,
    /// Recover the intact entries of OUT into PATH
    ///
    /// Finds entries by their local headers and verifies their checksums. A program before the archive stays.
    /// Exit 3 if something is lost.
    #[arg(long, conflicts_with_all = ["append", "update", "freshen", "filesync", "delete", "recursive", "encrypt"])]
    pub(crate) repair: bool,
    #[command(flatten)]
    pub(crate) combine: CombineArgs,
    /// Set the comment of OUT to TEXT; empty removes it
    ///
    /// Without a PATH, nothing else of OUT changes. unzip -l shows it.
    #[arg(
        long,
        value_name = "TEXT",
        hide_short_help = true,
        overrides_with = "comment"
    )]
    pub(super) comment: Option<String>,
    /// The same, read from standard input
    ///
    /// It ends with a line that is a dot, or with the input.
    #[arg(short = 'z', long, conflicts_with = "comment", hide_short_help = true)]
    pub(crate) read_comment: bool,
    /// Test the archive before it gets its name
    #[arg(long, overrides_with = "_no_verify")]
    pub(super) verify: bool,
    #[arg(long = "no-verify", overrides_with = "verify", hide = true)]
    _no_verify: bool,
    /// Overwrite OUT, and write binary to a terminal
    #[arg(long, overrides_with = "_no_force")]
    pub(crate) force: bool,
    #[arg(long = "no-force", overrides_with = "force", hide = true)]
    _no_force: bool,
    /// Keep OUT if it exists, and end well: it was done before
    ///
    /// No OUT is made if anything is missing or cannot be read: a later run would take it for complete.
    #[arg(long, conflicts_with_all = ["force", "moves"], hide_short_help = true)]
    pub(crate) skip_existing: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// A method by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodName {
    /// No compression
    #[value(alias = "stored")]
    Store,
    /// Deflate, which every program reads
    Deflate,
    /// Zstandard, which recent programs read
    Zstd,
}

/// The length of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum KeyBits {
    /// 128 bits
    #[value(name = "128")]
    Bits128,
    /// 192 bits
    #[value(name = "192")]
    Bits192,
    /// 256 bits
    #[value(name = "256")]
    Bits256,
}

/// How symbolic links are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Symlinks {
    /// As links
    Store,
    /// As the files that they point to
    Follow,
    /// Not at all
    Skip,
}

impl ZipArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = Files::default()
            .reads_some("--password-file", &self.password_file)
            .reads_some("--from-file", &self.from_file)
            .writes_all(self.report.exported())
            .stderr(self.terminal.wants_report());
        match (self.repair, self.delete) {
            _ if self.combine.is_asked() => files.sources(&self.paths, false).archive(&self.output),
            (true, _) => {
                let files = files.reads("the broken archive", &self.output);
                match self.paths.first() {
                    Some(saved) => files.writes("the archive", saved),
                    None => files,
                }
            }
            (_, true) => files.archive(&self.output),
            _ => files
                .packs(&self.paths, self.recursive)
                .archive(&self.output),
        }
    }
}
