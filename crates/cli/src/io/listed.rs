//! What is read line by line: names of files in a file or on standard input, and comments. Names may also end
//! with NUL, as `find -print0` writes them.

use std::fs::File;
use std::io::{self, BufRead as _, Read};
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The largest list of file names.
const LIST_BYTES_MAX: u64 = 256 << 20;
/// The longest comment that an archive or an entry can have.
pub(crate) const COMMENT_BYTES_MAX: usize = 65_535;

/// The names in a file, one per line or each with a NUL behind it.
pub(crate) fn in_file(path: &Path) -> Result<Vec<PathBuf>> {
    let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
    split(path, file)
}

/// Files that were named, and those that lists name.
pub(crate) fn with(named: &[PathBuf], lists: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = named.to_vec();
    for list in lists {
        all.extend(in_file(list)?);
        if all.is_empty() {
            return Err(Failure::new(format!("'{}' lists no files", list.display()))
                .help("write one name per line"));
        }
    }
    Ok(all)
}

/// The same; `-` is standard input.
pub(crate) fn names(path: &Path) -> Result<Vec<PathBuf>> {
    match path.as_os_str() == "-" {
        true => split(path, io::stdin().lock()),
        false => in_file(path),
    }
}

fn split(path: &Path, source: impl Read) -> Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    source
        .take(LIST_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("read", path, &error))?;
    if bytes.len() as u64 > LIST_BYTES_MAX {
        return Err(Failure::new(format!(
            "'{}' is larger than {} MiB, the limit for a list of files",
            path.display(),
            LIST_BYTES_MAX >> 20
        )));
    }
    if bytes.contains(&0) {
        // No name of a file has a NUL.
        let names = bytes.split(|&byte| byte == 0);
        return Ok(names.filter(|one| !one.is_empty()).map(name).collect());
    }
    let lines = bytes.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(lines.filter(|line| !line.is_empty()).map(name).collect())
}

/// A line of standard input without its end; `None` at the end of the input.
pub(crate) fn line() -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(COMMENT_BYTES_MAX as u64 + 2)
        .read_until(b'\n', &mut bytes)
        .map_err(|error| Failure::io("read", Path::new("-"), &error))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(Some(bytes))
}

/// A comment from standard input: lines up to one that is a dot.
pub(crate) fn comment() -> Result<Vec<u8>> {
    let mut comment = Vec::new();
    while let Some(line) = line()? {
        if line == b"." {
            break;
        }
        if !comment.is_empty() {
            comment.extend_from_slice(b"\r\n");
        }
        comment.extend_from_slice(&line);
        if comment.len() > COMMENT_BYTES_MAX {
            let what = format!("the comment is longer than {COMMENT_BYTES_MAX} bytes");
            return Err(Failure::usage(what).help("put the text into a file of the archive"));
        }
    }
    Ok(comment)
}

#[cfg(unix)]
fn name(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    std::ffi::OsStr::from_bytes(bytes).into()
}

#[cfg(not(unix))]
fn name(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}
