//! Questions to whoever sits at the terminal. Only asked where standard input is one.

use std::io::BufRead as _;
use std::path::Path;

use super::message;

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Whether the file of this name shall be overwritten.
pub(crate) fn overwrite(path: &Path) -> bool {
    yes(&format!(
        "'{}' exists already; overwrite (y/n)?",
        path.display()
    ))
}

/// Whether to go on.
pub(crate) fn proceed() -> bool {
    yes("proceed (y/n)?")
}

fn yes(question: &str) -> bool {
    message::ask(question);
    let mut answer = Vec::new();
    let read = std::io::Read::take(std::io::stdin().lock(), ANSWER_BYTES_MAX)
        .read_until(b'\n', &mut answer);
    read.is_ok() && matches!(answer.first(), Some(b'y' | b'Y'))
}
