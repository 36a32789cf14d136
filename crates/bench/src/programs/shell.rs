//! What runs a command line: a shell, or the words of the line themselves.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Error;

/// What runs a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shell {
    /// Nothing: the first word of the line is the program.
    None,
    /// These words, then `-c` and the line.
    Words(Vec<String>),
}

impl Default for Shell {
    fn default() -> Self {
        let shell = if cfg!(windows) { "cmd.exe" } else { "sh" };
        Self::Words(vec![shell.to_owned()])
    }
}

impl Shell {
    /// The shell that a word stands for: `default`, `none`, or the command line of a shell.
    ///
    /// # Errors
    ///
    /// [`Error::Words`] and [`Error::Settings`] where it has no words.
    pub fn parse(text: &str) -> Result<Self, Error> {
        match text {
            "default" => Ok(Self::default()),
            "none" => Ok(Self::None),
            _ => {
                let words = words(text)?;
                match words.first().is_none_or(String::is_empty) {
                    true => Err(Error::Settings("the shell of --shell is empty".to_owned())),
                    false => Ok(Self::Words(words)),
                }
            }
        }
    }

    /// The command that runs a line.
    pub(super) fn command(&self, line: &str) -> Result<Command, Error> {
        let words = match self {
            Self::None => words(line)?,
            Self::Words(shell) => {
                let flag = if cfg!(windows) { "/C" } else { "-c" };
                let rest = [flag.to_owned(), line.to_owned()];
                shell.iter().cloned().chain(rest).collect()
            }
        };
        let (program, arguments) = words.split_first().ok_or(Error::Empty)?;
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Words(words) => f.write_str(&shell_words::join(words)),
        }
    }
}

/// The words of a command line, as a POSIX shell splits and unquotes them. Nothing is expanded.
///
/// ```
/// use perfkit_bench::programs::words;
/// assert_eq!(words("grep -i 'to do' a\\ b").unwrap(), ["grep", "-i", "to do", "a b"]);
/// assert!(words("echo 'open").is_err());
/// ```
///
/// # Errors
///
/// [`Error::Words`] where a quotation mark is left open.
pub fn words(line: &str) -> Result<Vec<String>, Error> {
    shell_words::split(line).map_err(|_| Error::Words {
        line: line.to_owned(),
    })
}

/// Whether a command of this name can be run: it is a file, by its path or in a directory of PATH.
#[must_use]
pub fn is_program(name: &str) -> bool {
    find(name).is_some()
}

/// The file that is run by this name.
pub(super) fn find(name: &str) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| path.is_file();
    if name.contains(std::path::MAIN_SEPARATOR) {
        return Some(PathBuf::from(name)).filter(is_file);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&path).filter(|_| !name.is_empty());
    directories.find_map(|directory| {
        let named = directory.join(name);
        let with_extension = named.with_extension(std::env::consts::EXE_EXTENSION);
        [named, with_extension].into_iter().find(is_file)
    })
}

/// The first sign in a line by which a shell would do more than split it into words: join commands, redirect their
/// input or output, or put in a variable or the output of a command. Without a shell a program gets it as a word.
/// What is quoted is no such sign.
///
/// ```
/// use perfkit_bench::programs::shell_sign;
/// assert_eq!(shell_sign("sort data | uniq"), Some("|"));
/// assert_eq!(shell_sign("cd /tmp && ls \"$HOME\""), Some("&&"));
/// assert_eq!(shell_sign("grep '|' \"a > b\" c\\;"), None);
/// ```
#[must_use]
pub fn shell_sign(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut letters = line.char_indices();
    while let Some((at, letter)) = letters.next() {
        let rest = &line[at..];
        match (quote, letter) {
            (Some('\''), _) if letter != '\'' => {}
            (_, '\\') => drop(letters.next()),
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (_, '`') => return Some(&rest[..1]),
            (_, '$') => {
                let is_name =
                    |next: char| next.is_ascii_alphabetic() || matches!(next, '_' | '{' | '(');
                let mut next = rest[1..].chars();
                if next.next().is_some_and(is_name) {
                    let end =
                        rest[1..].find(|next: char| !next.is_ascii_alphanumeric() && next != '_');
                    // Of `$(` and `${` the sign is the beginning.
                    return Some(&rest[..end.map_or(rest.len(), |end| 1 + end.max(1))]);
                }
            }
            (None, '|' | '&' | ';' | '<' | '>') => {
                let doubled = rest[1..].starts_with(letter);
                return Some(&rest[..1 + usize::from(doubled)]);
            }
            _ => {}
        }
    }
    None
}

/// How files begin that a system runs: ELF, a script, and Mach-O for one and for several processors.
const PROGRAMS: [&[u8]; 4] = [
    b"\x7fELF",
    b"#!",
    &[0xcf, 0xfa, 0xed, 0xfe],
    &[0xca, 0xfe, 0xba, 0xbe],
];

/// Whether this is a file that can be run: a program or a script by its first bytes, with the right to run it.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    let is_allowed = std::fs::metadata(path).is_ok_and(|found| found.is_file() && may_run(&found));
    let begins = || {
        let mut head = Vec::new();
        File::open(path)?.take(4).read_to_end(&mut head)?;
        let of_windows = cfg!(windows) && head.starts_with(b"MZ");
        let of_others = PROGRAMS.iter().any(|first| head.starts_with(first));
        Ok::<_, std::io::Error>(of_windows || of_others)
    };
    is_allowed && begins().unwrap_or(false)
}

#[cfg(unix)]
fn may_run(found: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &Metadata) -> bool {
    true
}

/// A command line of these words, quoted where they need it.
#[must_use]
pub fn quoted(words: &[String]) -> String {
    shell_words::join(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_a_shell() {
        assert_eq!(Shell::parse("none").unwrap(), Shell::None);
        assert_eq!(Shell::parse("default").unwrap(), Shell::default());
        let bash = Shell::parse("bash --norc").unwrap();
        assert_eq!(bash.to_string(), "bash --norc");
        let command = bash.command("a 'b c'").unwrap();
        let arguments: Vec<_> = command.get_args().collect();
        assert_eq!(arguments, ["--norc", "-c", "a 'b c'"]);
        for wrong in ["", "  ", "''", "'a"] {
            assert!(Shell::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_is_a_file_that_begins_as_one_and_may_be_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("perfkit-program-{}", std::process::id()));
        for (content, mode, expected) in [
            (&b"#!/bin/sh\n"[..], 0o755, true),
            (b"#!/bin/sh\n", 0o644, false),
            (b"\x7fELF\x02", 0o755, true),
            (b"1 2 3\n", 0o755, false),
            (b"#", 0o755, false),
        ] {
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_executable(&path), expected, "{content:?} {mode:o}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(!is_executable(&path) && !is_executable(&std::env::temp_dir()));
    }

    #[test]
    fn signs_of_a_shell_are_found_where_they_are_not_quoted() {
        for (line, sign) in [
            ("a | b", Some("|")),
            ("a|b", Some("|")),
            ("a || b", Some("||")),
            ("a >out 2>&1", Some(">")),
            ("a >> out", Some(">>")),
            ("a < in", Some("<")),
            ("a; b", Some(";")),
            ("a &", Some("&")),
            ("a \"$HOME\"/x", Some("$HOME")),
            ("a ${x}", Some("${")),
            ("a $(b)", Some("$(")),
            ("a `b`", Some("`")),
            ("a '$x | `b`' \"c | d > e\"", None),
            ("a \\| \\$x \"\\$x\"", None),
            ("grep 'a$' b$ $1 é$", None),
            ("a 'open | b", None),
            ("a \\", None),
            ("", None),
        ] {
            assert_eq!(shell_sign(line), sign, "{line}");
        }
    }

    #[test]
    fn without_a_shell_a_line_is_its_words() {
        let command = Shell::None.command("a 'b c' \"d\\\"e\"").unwrap();
        assert_eq!(command.get_program(), "a");
        assert_eq!(command.get_args().collect::<Vec<_>>(), ["b c", "d\"e"]);
        assert!(matches!(Shell::None.command(""), Err(Error::Empty)));
        assert!(matches!(
            Shell::None.command("a 'b"),
            Err(Error::Words { .. })
        ));
    }
}
