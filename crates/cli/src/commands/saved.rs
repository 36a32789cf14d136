//! Opens files that `report` and `compare` read; what is in them is read by [`report::saved`].

use std::path::Path;

use files::standard;
use report::saved;

use crate::failure::{Failure, Result};

/// Reads a whole file (`-`: standard input), which is no longer than any report.
pub(crate) fn read_bounded(path: &Path) -> Result<Vec<u8>> {
    let file = match path.as_os_str() == "-" {
        true => standard::input(),
        false => std::fs::File::open(path),
    };
    let bytes = file.and_then(saved::bounded);
    let bytes = bytes.map_err(|error| Failure::io("read", path, &error))?;
    bytes.ok_or_else(|| Failure::new(format!("'{}' is larger than any report", path.display())))
}
