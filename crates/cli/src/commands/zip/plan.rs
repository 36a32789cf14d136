//! What `perfkit zip` is to do, resolved from its flags.

use std::path::PathBuf;

use clap::ValueEnum as _;
use zipstream::{AesStrength, Merge, Method};

use crate::args::glob::{Glob, Selection};
use crate::args::levels;
use crate::args::password::PasswordSource;
use crate::commands::zip::flags::{KeyBits, MethodName, Symlinks, ZipArgs};
use crate::failure::{Failure, Result};

/// How an existing archive is changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Puts files and entries together.
    Merge(Merge),
    /// Keeps all entries, and gives the archive another comment.
    Comment,
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
    /// Whether entries are named without their directories.
    pub(crate) junk: bool,
    /// Whether files are removed when they are packed.
    pub(crate) moves: bool,
    /// The new comment of the archive.
    pub(crate) comment: Option<Vec<u8>>,
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
        let names_it = |name: &MethodName| {
            let value = name.to_possible_value();
            value.is_some_and(|value| {
                self.output
                    .to_str()
                    .is_some_and(|out| value.matches(out, true))
            })
        };
        if self.moves && MethodName::value_variants().iter().any(names_it) {
            let name = self.output.display();
            return Err(Failure::usage(format!(
                "-m moves files into the archive, and '{name}' is the name of a method"
            ))
            .help(format!(
                "the method is -Z {name}; an archive of that name is ./{name}"
            )));
        }
        if self.moves && (to_stdout || files::url::of(&self.output).is_some()) {
            return Err(Failure::usage("--move needs an archive in a file")
                .help("name a file, or remove the sources when the archive has arrived"));
        }
        if self.repair && self.paths.len() != 1 {
            return Err(Failure::usage("--repair takes exactly two names")
                .help("first the broken archive, then the new one"));
        }
        if self.delete && self.paths.is_empty() {
            return Err(Failure::usage(
                "--delete needs a PATH: the name of an entry, or a GLOB for names",
            ));
        }
        let edit = self.edit()?;
        if edit.is_some() && to_stdout {
            return Err(
                Failure::usage("an archive on standard output cannot be changed").help(
                    "name an archive, or leave out --append, -u, --freshen, --delete, --filesync",
                ),
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
            junk: self.junk,
            moves: self.moves,
            comment: self.comment.as_ref().map(|text| text.as_bytes().to_vec()),
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
            let merge = [
                (self.append, Merge::Append),
                (self.update, Merge::Update),
                (self.freshen, Merge::Freshen),
                (self.filesync, Merge::Sync),
            ];
            let asked = merge.into_iter().find(|(asked, _)| *asked);
            let nothing = self.paths.is_empty() && self.from_file.is_none();
            return Ok(match asked {
                Some((_, merge)) => Some(Edit::Merge(merge)),
                None => nothing.then_some(Edit::Comment),
            });
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
        let zstd = plan("perfkit zip -Z zstd --level 19 out.zip src").unwrap();
        assert_eq!((zstd.method, zstd.level), (Method::Zstd, 19));
        let best = plan("perfkit zip --level 10 out.zip src").unwrap();
        assert_eq!((best.method, best.level), (Method::Deflate, 10));
        assert!(plan("perfkit zip --level 11 out.zip src").is_err());
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
