//! What `zip` reads from standard input: names and comments.

use std::ffi::OsString;
use std::io::{self, BufRead as _, Read as _};
use std::path::Path;

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, zip as code};

/// The most bytes of names.
const NAMES_BYTES_MAX: u64 = 256 << 20;
/// The longest comment, and the longest line of one.
const COMMENT_BYTES_MAX: usize = 65_535;

fn unread(error: &io::Error) -> Stop {
    Stop::new(code::READ, Failure::io("read", Path::new("-"), error))
}

/// Names, one per line.
pub(super) fn names() -> Ended<Vec<OsString>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(NAMES_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unread(&error))?;
    if bytes.len() as u64 > NAMES_BYTES_MAX {
        let mib = NAMES_BYTES_MAX >> 20;
        return Err(Stop::new(
            code::READ,
            Failure::new(format!("-@: the names have more than {mib} MiB"))
                .help("pack them in several runs"),
        ));
    }
    let lines = bytes.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(|line| OsString::from(String::from_utf8_lossy(line).into_owned()))
        .collect())
}

/// A line without its end; `None` at the end of the input.
pub(super) fn line() -> Ended<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(COMMENT_BYTES_MAX as u64 + 2)
        .read_until(b'\n', &mut bytes)
        .map_err(|error| unread(&error))?;
    if bytes.is_empty() {
        return Ok(None);
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(Some(bytes))
}

/// The comment of an archive: lines up to one that is a dot.
pub(super) fn comment() -> Ended<Vec<u8>> {
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
            return Err(Stop::new(
                code::USAGE,
                Failure::new(format!(
                    "the comment is longer than {COMMENT_BYTES_MAX} bytes"
                ))
                .help("put the text into a file of the archive"),
            ));
        }
    }
    Ok(comment)
}
