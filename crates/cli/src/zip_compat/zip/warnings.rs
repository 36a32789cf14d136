//! Warnings, which quiet silences.

use crate::term::message;
use crate::zip_compat::zip::flags::Line;

/// Prints a warning, unless quiet is asked for.
pub(super) fn warn(line: &Line, text: &str) {
    if !line.quiet {
        message::remark(text);
    }
}
