//! Opens files that `report` and `compare` read; what is in them is read by [`report::saved`].

use std::path::{Path, PathBuf};

use files::standard;
use report::saved;

use crate::failure::{Failure, Result};

/// The files that a path stands for: itself, or the samples in a directory of criterion.
pub(crate) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = saved::folder(path).map_err(|error| Failure::io("read", path, &error))?;
    match found.is_empty() {
        true => Err(Failure::new(format!(
            "there is no sample.json below '{}'",
            path.display()
        ))
        .help("name a report, or a directory of criterion, as in target/criterion")),
        false => Ok(found),
    }
}

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
