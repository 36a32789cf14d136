//! `perfkit zip`: its flags, and the plan that they give.

use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};
use files::conflicts::Files;
use zipstream::{AesStrength, Method};

use crate::args::glob::{Glob, Selection};
use crate::args::levels;
use crate::args::output::{ReportArgs, TerminalArgs};
use crate::args::password::PasswordSource;
use crate::failure::{Failure, Result};

/// Pack files and directories into a ZIP archive.
///
/// OUT is written without seeking, so it may be a pipe: `-` is standard output. With the build feature
/// `cloud`, OUT may be the URL of an object store (s3, gs, az, file) and is uploaded in parts. A PATH
/// of `-` is standard input and becomes an entry named `-`. Entries keep the names given, without a
/// leading `/` or `./`. The report goes to standard error.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = "Examples:
  perfkit zip -r src.zip src
  perfkit zip -9r - docs -x '*.tmp' | ssh host 'cat > docs.zip'
  perfkit zip -ur src.zip src
  perfkit zip --repair broken.zip saved.zip
  perfkit zip -er secret.zip letters
  perfkit zip -X -m zstd -r release.zip release --slo 'service.p99<=10ms'")]
pub(crate) struct ZipArgs {
    /// The archive; `-` is standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What to pack; `-` is standard input
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Walk directories
    #[arg(short, long, overrides_with = "_no_recursive")]
    recursive: bool,
    #[arg(long = "no-recursive", overrides_with = "recursive", hide = true)]
    _no_recursive: bool,
    /// Level 0 to 9, 6 by default, also spelled -0 … -9
    ///
    /// For zstd: 0 to 19, 3 by default. Level 0 stores.
    #[arg(long, value_name = "N", overrides_with = "level")]
    level: Option<i32>,
    /// Compress with store, deflate (the default) or zstd
    ///
    /// An entry that does not shrink is stored, unless it is large.
    #[arg(
        short,
        long,
        value_name = "METHOD",
        default_value = "deflate",
        hide_default_value = true,
        hide_possible_values = true,
        overrides_with = "method"
    )]
    method: MethodName,
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
    threads: u32,
    /// Leave out names that match GLOB; repeatable
    #[arg(short = 'x', long, value_name = "GLOB", action = ArgAction::Append)]
    exclude: Vec<Glob>,
    /// Take only names that match GLOB; repeatable
    #[arg(short = 'i', long, value_name = "GLOB", action = ArgAction::Append)]
    include: Vec<Glob>,
    /// Reproducible: same contents, same bytes
    ///
    /// All entries get the same time (SOURCE_DATE_EPOCH, or 1980-01-01), modes 644 or 755, and no
    /// extra fields. Entries are always sorted by name, with this flag and without.
    #[arg(short = 'X', long, overrides_with = "_no_reproducible")]
    reproducible: bool,
    #[arg(long = "no-reproducible", overrides_with = "reproducible", hide = true)]
    _no_reproducible: bool,
    /// Encrypt; ask for the password on the terminal
    ///
    /// The password has to be typed twice.
    #[arg(short, long, overrides_with = "no_encrypt")]
    encrypt: bool,
    /// Add unencrypted entries to an archive that has encrypted ones
    #[arg(long, overrides_with = "encrypt", hide_short_help = true)]
    pub(crate) no_encrypt: bool,
    /// Encrypt with the password in FILE
    ///
    /// A newline at the end does not belong to the password.
    #[arg(long, value_name = "FILE", overrides_with = "password_file")]
    password_file: Option<PathBuf>,
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
    aes: KeyBits,
    /// Symbolic links: store (the default), follow or skip
    #[arg(
        long,
        value_name = "HOW",
        default_value = "store",
        hide_default_value = true,
        hide_possible_values = true,
        overrides_with = "symlinks"
    )]
    symlinks: Symlinks,
    /// Leave out entries for directories
    #[arg(short = 'D', long, overrides_with = "_dir_entries")]
    no_dir_entries: bool,
    #[arg(long = "dir-entries", overrides_with = "no_dir_entries", hide = true)]
    _dir_entries: bool,
    /// Add entries that OUT does not have yet
    ///
    /// An entry that OUT has already is reported as an error (exit 3). Existing entries are not copied, so
    /// the cost is that of the new ones: the new end of the archive is written to a file next to OUT, then
    /// put in place. An error restores OUT. If the process is
    /// killed, the file OUT.perfkit-undo remains, and the next --append, -u, -d or --repair restores
    /// OUT from it. With --verify, OUT is copied as with -u.
    #[arg(long, conflicts_with_all = ["update", "delete"])]
    append: bool,
    /// Add entries to OUT, and replace older ones
    ///
    /// An entry is older if its file has a later modification time.
    #[arg(short, long, conflicts_with = "delete")]
    update: bool,
    /// Delete the entries of OUT that match a PATH
    ///
    /// Each PATH is a GLOB for names. All other entries are copied without being decompressed, as with
    /// -u. The old archive stays until the new one is complete.
    #[arg(short, long)]
    delete: bool,
    /// Recover the intact entries of OUT into PATH
    ///
    /// Finds entries by their local headers and verifies their checksums. Exit 3 if something is lost.
    #[arg(long, conflicts_with_all = ["append", "update", "delete", "recursive", "encrypt"])]
    pub(crate) repair: bool,
    /// Test the archive before it gets its name
    #[arg(long, overrides_with = "_no_verify")]
    verify: bool,
    #[arg(long = "no-verify", overrides_with = "verify", hide = true)]
    _no_verify: bool,
    /// Overwrite OUT, and write binary to a terminal
    #[arg(short, long, overrides_with = "_no_force")]
    pub(crate) force: bool,
    #[arg(long = "no-force", overrides_with = "force", hide = true)]
    _no_force: bool,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

/// A method by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodName {
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
enum KeyBits {
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

/// How an existing archive is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Adds entries that it does not have.
    Append,
    /// Adds entries, and replaces those that are older than their file.
    Update,
    /// Deletes the entries that match.
    Delete(Selection),
}

/// What `zip` is to do, whatever the flags were called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ZipPlan {
    /// Whether directories are walked.
    pub(crate) recursive: bool,
    /// The method of files.
    pub(crate) method: Method,
    /// Their level.
    pub(crate) level: i32,
    /// Threads, at least 1.
    pub(crate) threads: u32,
    /// Which names are packed.
    pub(crate) selection: Selection,
    /// Whether times and modes of files are left out.
    pub(crate) reproducible: bool,
    /// How links are packed.
    pub(crate) symlinks: Symlinks,
    /// Whether directories are entries.
    pub(crate) directories: bool,
    /// How an existing archive is changed, if it is not replaced.
    pub(crate) edit: Option<Edit>,
    /// Whether the archive is read back and tested.
    pub(crate) verify: bool,
    /// Where the password comes from and how long the key is, if contents are encrypted.
    pub(crate) encryption: Option<(PasswordSource, AesStrength)>,
}

impl ZipArgs {
    /// Resolves the flags; no side effects.
    pub(crate) fn plan(&self) -> Result<ZipPlan> {
        let method = match self.method {
            MethodName::Store => Method::Stored,
            MethodName::Deflate => Method::Deflate,
            MethodName::Zstd => Method::Zstd,
        };
        let level = self.level.unwrap_or(method.default_level());
        let levels = method.levels();
        if method != Method::Stored && !levels.contains(&level) {
            let (low, high) = (levels.start(), levels.end());
            return Err(Failure::usage(format!("level {level} is out of range"))
                .help(format!("levels of {method} are {low} to {high}")));
        }
        let to_stdout = files::target::is_stdout(&self.output);
        if self.verify && to_stdout {
            return Err(Failure::usage("--verify cannot test standard output")
                .help("name a file, or test the archive afterwards: perfkit unzip -t"));
        }
        if self.repair && self.paths.len() != 1 {
            return Err(Failure::usage("--repair takes exactly two names")
                .help("first the broken archive, then the new one"));
        }
        let edit = self.edit()?;
        if edit.is_some() && to_stdout {
            return Err(
                Failure::usage("--append, -u and -d cannot change standard output")
                    .help("name an archive, or leave these flags out"),
            );
        }
        let strength = match self.aes {
            KeyBits::Bits128 => AesStrength::Aes128,
            KeyBits::Bits192 => AesStrength::Aes192,
            KeyBits::Bits256 => AesStrength::Aes256,
        };
        let source = match &self.password_file {
            Some(path) => Some(PasswordSource::File(path.clone())),
            None => self.encrypt.then_some(PasswordSource::Terminal),
        };
        if self.reproducible && source.is_some() {
            return Err(Failure::usage(
                "-X does not work with encryption: each encrypted archive differs",
            )
            .help("leave out -X, or encrypt the archive with another program"));
        }
        Ok(ZipPlan {
            encryption: source.map(|source| (source, strength)),
            recursive: self.recursive,
            method,
            level,
            threads: levels::threads(self.threads)?,
            selection: Selection {
                include: self.include.clone(),
                exclude: self.exclude.clone(),
            },
            reproducible: self.reproducible,
            symlinks: self.symlinks,
            directories: !self.no_dir_entries,
            edit,
            verify: self.verify,
        })
    }

    /// What happens to an archive that exists.
    fn edit(&self) -> Result<Option<Edit>> {
        if !self.delete {
            let update = self.update.then_some(Edit::Update);
            return Ok(update.or(self.append.then_some(Edit::Append)));
        }
        let glob = |path: &PathBuf| {
            let text = path.to_string_lossy();
            text.parse::<Glob>()
                .map_err(|error| Failure::usage(format!("'{text}' is not a valid GLOB: {error}")))
        };
        let include = self.paths.iter().map(glob).collect::<Result<_>>()?;
        Ok(Some(Edit::Delete(Selection {
            include,
            exclude: self.exclude.clone(),
        })))
    }
}

impl ZipArgs {
    /// What it reads and writes.
    pub(crate) fn files(&self) -> Files<'_> {
        let files = Files::default()
            .reads_some("--password-file", &self.password_file)
            .writes_all(self.report.exported())
            .stderr(self.terminal.wants_report());
        match (self.repair, self.delete) {
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::args::{Command, parse};

    fn plan(line: &str) -> Result<ZipPlan> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&words).map(|cli| cli.command) {
            Ok(Command::Zip(args)) => args.plan(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn levels_read_as_the_zip_program_reads_them() {
        for (line, level) in [("-9r", 9), ("-r -0", 0), ("-1 -r -5", 5), ("-r", 6)] {
            let plan = plan(&format!("perfkit zip {line} out.zip src")).unwrap();
            assert_eq!((plan.level, plan.recursive), (level, true), "{line}");
        }
        let zstd = plan("perfkit zip -m zstd --level 19 out.zip src").unwrap();
        assert_eq!((zstd.method, zstd.level), (Method::Zstd, 19));
        assert!(plan("perfkit zip --level 10 out.zip src").is_err());
    }

    #[test]
    fn encryption_is_asked_for_by_either_flag() {
        let encryption = |line: &str| {
            let plan = plan(&format!("perfkit zip {line} out.zip src")).unwrap();
            plan.encryption
        };
        let terminal = PasswordSource::Terminal;
        assert_eq!(encryption("-9er"), Some((terminal, AesStrength::Aes256)));
        let file = PasswordSource::File("f".into());
        let found = encryption("--password-file f --aes 128");
        assert_eq!(found, Some((file, AesStrength::Aes128)));
        assert_eq!(encryption("--aes 128"), None);
        assert!(plan("perfkit zip -Xe out.zip src").is_err());
        let words = "perfkit zip -e --aes 512 out.zip src".split(' ');
        assert!(parse(&words.map(OsString::from).collect::<Vec<_>>()).is_err());
    }

    #[test]
    fn verification_needs_a_file() {
        assert!(plan("perfkit zip --verify - src").is_err());
        assert!(plan("perfkit zip --verify --no-verify - src").is_ok());
    }
}
