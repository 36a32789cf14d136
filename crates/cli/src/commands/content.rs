//! The content of the user's files taken together, for commands that cut pieces from it, and how a report
//! lists it. Commands that process file by file use `io`.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use report::{Outcome, names};

use crate::failure::{Failure, Result};

/// The most that is read of all files together.
const READ_BYTES_MAX: u64 = 256 << 20;

/// Reads the files one after another, up to the limit, and lists them.
pub(crate) fn read(files: &[PathBuf], outcome: &mut Outcome) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    for path in files {
        let before = content.len();
        let room = READ_BYTES_MAX.saturating_sub(before as u64);
        let file = File::open(path).map_err(|error| Failure::io("read", path, &error))?;
        file.take(room)
            .read_to_end(&mut content)
            .map_err(|error| Failure::io("read", path, &error))?;
        outcome.add_input(names::path(path), &content[before..]);
    }
    if content.is_empty() {
        return Err(Failure::new("the files are empty")
            .help("name other files, or none to use generated data"));
    }
    Ok(content)
}
