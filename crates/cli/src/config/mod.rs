//! Defaults of flags that the user keeps in a file or in the environment.
//!
//! A default becomes a word of the command line, in front of those that were typed: errors, reports and `rerun` see
//! one command line, and a report says all that it was made with. What was typed wins, and so does what cannot
//! stand beside it. This module reads; [`words`] decides, without the file system.

pub(crate) mod words;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// Names the file, or, if empty, says that there is none.
pub(crate) const FILE_VARIABLE: &str = "PERFKIT_CONFIG";

/// What variables of defaults begin with.
pub(crate) const PREFIX: &str = "PERFKIT_";

/// The longest file, in bytes. A file of defaults has some lines.
const FILE_LEN_MAX: u64 = 1 << 20;

/// What the user has set, as yet for no command.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Config {
    /// The file, if there is one.
    pub(crate) file: Option<ConfigFile>,
    /// Environment variables that may be defaults, by name without [`PREFIX`].
    pub(crate) variables: Vec<(String, OsString)>,
}

/// A file of defaults.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConfigFile {
    /// Where it was read.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) table: toml::Table,
}

impl Config {
    /// Reads the file and the environment.
    ///
    /// # Errors
    ///
    /// A file that was named and is not there, that cannot be read, is longer than 1 MiB, or is no TOML.
    pub(crate) fn load() -> Result<Self> {
        let mut variables: Vec<_> = std::env::vars_os()
            .filter_map(|(name, value)| {
                let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
                (!words::RESERVED.contains(&name.as_str())).then_some((name, value))
            })
            .collect();
        variables.sort();
        let named = std::env::var_os(FILE_VARIABLE);
        let file = match &named {
            Some(name) if name.is_empty() => None,
            Some(name) => Some(read(Path::new(name))?.ok_or_else(|| {
                let path = Path::new(name).display();
                Failure::usage(format!("the configuration file '{path}' is not there"))
                    .help(format!("correct {FILE_VARIABLE}, or unset it"))
            })?),
            None => match usual_path() {
                Some(path) => read(&path)?,
                None => None,
            },
        };
        Ok(Self { file, variables })
    }

    /// Whether nothing is set.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.file.as_ref().is_none_or(|file| file.table.is_empty())
    }
}

/// Where the file is unless a variable names it: `$XDG_CONFIG_HOME/perfkit/config.toml`, with the usual
/// `~/.config` where that is not set. As the XDG specification asks, a relative path does not count.
pub(crate) fn usual_path() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let home = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(home.join("perfkit").join("config.toml"))
}

fn read(path: &Path) -> Result<Option<ConfigFile>> {
    let shown = path.display();
    let mut text = String::new();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(Failure::io("read", path, &error)),
    };
    let mut reader = file.take(FILE_LEN_MAX + 1);
    if let Err(error) = reader.read_to_string(&mut text) {
        return Err(Failure::io("read", path, &error));
    }
    if text.len() as u64 > FILE_LEN_MAX {
        let message = format!("the configuration file '{shown}' is longer than 1 MiB");
        return Err(Failure::usage(message).help(format!("name another one with {FILE_VARIABLE}")));
    }
    match text.parse() {
        Ok(table) => Ok(Some(ConfigFile {
            path: path.to_owned(),
            table,
        })),
        Err(error) => {
            let error: toml::de::Error = error;
            let line = error.span().map(|span| {
                let before = text.get(..span.start).unwrap_or(&text);
                format!(", line {}", before.matches('\n').count() + 1)
            });
            let line = line.unwrap_or_default();
            let what = error.message();
            let message = format!("the configuration file '{shown}'{line}: {what}");
            Err(Failure::usage(message).help("a line is, for example: threads = 2"))
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
