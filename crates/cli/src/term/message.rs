//! Errors and warnings on standard error.

use std::io::Write;

use super::color::{BAD, FAINT, WARN, stderr};
use crate::failure::Failure;

/// Prints `perfkit: MESSAGE` and, if there is one, a `help:` line.
pub(crate) fn failure(failure: &Failure) {
    let mut text = format!("{BAD}perfkit:{BAD:#} {}\n", failure.message());
    if let Some(help) = failure.help_text() {
        text.push_str(&format!("{FAINT}help:{FAINT:#} {help}\n"));
    }
    // Nothing can be done when standard error itself is gone.
    let _ = stderr().write_all(text.as_bytes());
}

/// Prints a warning with its next step.
pub(crate) fn note(message: &str, help: &str) {
    let text = format!("{WARN}warning:{WARN:#} {message} {FAINT}({help}){FAINT:#}\n");
    let _ = stderr().write_all(text.as_bytes());
}
