//! Which names may become paths. Bad names are refused and never changed: two changed names could
//! be equal.

use std::fmt;

pub use crate::name_bytes::{of_bytes, system_path, to_bytes};

/// The longest name that a header can hold, in bytes.
pub const NAME_BYTES_MAX: usize = 65_535;

/// Why a name is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameFault {
    /// It is empty, or consists of separators and dots.
    Empty,
    /// It contains a NUL, where other programs end it.
    Nul,
    /// It is an absolute path.
    Absolute,
    /// It starts with a drive letter.
    Drive,
    /// A part of it is `..`.
    Traversal,
    /// It is longer than [`NAME_BYTES_MAX`].
    TooLong,
    /// It contains a backslash, which some programs take for a separator.
    Backslash,
    /// A part of it is empty or `.`, so that another name leads to the same place.
    EmptyPart,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the name is empty",
            Self::Nul => "the name holds a NUL",
            Self::Absolute => "the name is an absolute path",
            Self::Drive => "the name starts with a drive",
            Self::Traversal => "the name leads out of its directory",
            Self::TooLong => "the name is longer than 65535 bytes",
            Self::Backslash => "the name has a backslash, which some programs take for a separator",
            Self::EmptyPart => "the name has components that are empty or '.'",
        })
    }
}

/// Checks a name. A backslash counts as a separator, as on Windows.
///
/// ```
/// use zipstream::name::{NameFault, check};
///
/// assert_eq!(check("src/lib.rs"), Ok(()));
/// assert_eq!(check("..\\evil"), Err(NameFault::Traversal));
/// ```
pub fn check(name: &str) -> Result<(), NameFault> {
    let bytes = name.as_bytes();
    let separator = |c: char| c == '/' || c == '\\';
    if bytes.len() > NAME_BYTES_MAX {
        return Err(NameFault::TooLong);
    }
    if bytes.contains(&0) {
        return Err(NameFault::Nul);
    }
    if name.starts_with(separator) {
        return Err(NameFault::Absolute);
    }
    if bytes.len() >= 2 && bytes[1] == b':' && bytes[0].is_ascii_alphabetic() {
        return Err(NameFault::Drive);
    }
    if name.split(separator).any(|part| part == "..") {
        return Err(NameFault::Traversal);
    }
    if parts(name).next().is_none() {
        return Err(NameFault::Empty);
    }
    Ok(())
}

/// Checks a name, and that every program makes the same path of it: no backslashes, no components that are
/// empty or `.`. A `/` at its end is that of a directory.
///
/// ```
/// use zipstream::name::{NameFault, check_portable};
///
/// assert_eq!(check_portable("src/"), Ok(()));
/// assert_eq!(check_portable("a\\b"), Err(NameFault::Backslash));
/// assert_eq!(check_portable("./a"), Err(NameFault::EmptyPart));
/// ```
pub fn check_portable(name: &str) -> Result<(), NameFault> {
    check(name)?;
    if name.contains('\\') {
        return Err(NameFault::Backslash);
    }
    let path = name.strip_suffix('/').unwrap_or(name);
    if path.split('/').any(|part| part.is_empty() || part == ".") {
        return Err(NameFault::EmptyPart);
    }
    Ok(())
}

/// The components of a checked name, without empty ones and `.`.
pub fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
}

/// The last component of a name, without the directories that it is in; `None` for a directory.
///
/// ```
/// use zipstream::name::file_name;
///
/// assert_eq!(file_name("src/lib.rs"), Some("lib.rs"));
/// assert_eq!(file_name("src/"), None);
/// ```
pub fn file_name(name: &str) -> Option<&str> {
    let last = name.rsplit('/').next();
    last.filter(|last| !last.is_empty())
}

/// Whether the name is that of the directory itself, as archivers that pack `.` state it: `./`.
pub(crate) fn is_here(name: &str) -> bool {
    name.starts_with('.') && name.split('/').all(|part| matches!(part, "" | "."))
}

/// A name as a path below a directory: checked, and without what leads nowhere.
#[cfg(feature = "extract")]
pub(crate) fn path(name: &str) -> Result<String, NameFault> {
    check(name)?;
    let mut path = String::with_capacity(name.len());
    for part in parts(name) {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(path)
}

/// A part of a path as DOS has names: at most 8 characters, and 3 after a dot, of a to z in capitals. What DOS does not
/// allow is left out, so that nothing may be left, and two names may become one.
///
/// ```
/// use zipstream::name::dos_part;
///
/// assert_eq!(dos_part("long file name.text"), "LONGFILE.TEX");
/// assert_eq!(dos_part(".profile"), "PROFILE");
/// ```
#[must_use]
pub fn dos_part(part: &str) -> String {
    const REFUSED: &str = " :\"*+,;<=>?[]|\\/";
    let part = part.trim_start_matches(|c: char| c == '.' || REFUSED.contains(c));
    let kept = |text: &str, most: usize| -> String {
        let kept = text.chars().filter(|c| !REFUSED.contains(*c));
        kept.take(most).map(|c| c.to_ascii_uppercase()).collect()
    };
    let (base, rest) = match part.split_once('.') {
        Some((base, rest)) => (base, Some(rest)),
        None => (part, None),
    };
    let mut name = kept(base, 8);
    if let Some(rest) = rest {
        let end = rest.split('.').next().unwrap_or_default();
        name.push('.');
        name.push_str(&kept(end, 3));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for (name, fault) in [
            ("", NameFault::Empty),
            ("./", NameFault::Empty),
            ("a\0b", NameFault::Nul),
            ("/etc/passwd", NameFault::Absolute),
            ("\\\\host\\share", NameFault::Absolute),
            ("c:x", NameFault::Drive),
            ("..", NameFault::Traversal),
            ("a/../../b", NameFault::Traversal),
            ("a\\..\\b", NameFault::Traversal),
            ("a/..", NameFault::Traversal),
        ] {
            assert_eq!(check(name), Err(fault), "{name:?}");
        }
        assert_eq!(check(&"x".repeat(70_000)), Err(NameFault::TooLong));
        for name in ["a", "a/b/", "...", "a..b", "./a", "ab:c", "a\\b", "é/ü"] {
            assert_eq!(check(name), Ok(()), "{name:?}");
        }
        assert_eq!(parts("./a//b/").collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn names_of_dos_are_short_and_in_capitals() {
        for (name, dos) in [
            ("a.txt", "A.TXT"),
            ("Long Directory.name", "LONGDIRE.NAM"),
            (".hid", "HID"),
            ("..x", "X"),
            ("+.x", "X"),
            ("a.b.c.d", "A.B"),
            ("a..b", "A."),
            ("trailing.", "TRAILING."),
            ("a+b=c[d],e;f.txt", "ABCDEF.TXT"),
            ("q?*", "Q"),
            ("a~b", "A~B"),
            ("ünï.txt", "üNï.TXT"),
            ("+ ?", ""),
            ("...", ""),
        ] {
            assert_eq!(dos_part(name), dos, "{name}");
        }
    }
}
