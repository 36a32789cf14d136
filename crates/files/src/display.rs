//! Paths in messages.

use std::path::Path;

/// A path as messages name it: in quotes, and `-` as standard input.
#[must_use]
pub fn display(path: &Path) -> String {
    if path.as_os_str() == "-" {
        "standard input".to_owned()
    } else {
        format!("'{}'", path.display())
    }
}
