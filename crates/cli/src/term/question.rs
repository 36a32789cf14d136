//! Questions to the user at the terminal. Only asked if standard input is a terminal.

use std::io::BufRead as _;
use std::path::Path;

use super::message;

/// The longest answer that is read.
const ANSWER_BYTES_MAX: u64 = 1024;

/// Asks whether to overwrite the file with this name.
pub(crate) fn overwrite(path: &Path) -> bool {
    yes(&format!(
        "'{}' exists already; overwrite (y/n)?",
        path.display()
    ))
}

/// Asks whether to continue.
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
