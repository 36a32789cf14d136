//! What a file is by its content, so that another one in its place is noticed.

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read};
use std::path::Path;

use latency::report::Input;
use twox_hash::XxHash64;

use crate::names;

/// The longest file that is hashed, in bytes. Of a longer one the length is all that is known.
const HASHED_MAX: u64 = 1 << 30;

/// The path of a file, its length and its hash; `None` where there is no regular file, or it cannot be read.
#[must_use]
pub fn identity(path: &Path) -> Option<Input> {
    let found = std::fs::metadata(path)
        .ok()
        .filter(|found| found.is_file())?;
    let bytes = found.len();
    let hashed = (bytes <= HASHED_MAX).then(|| hash(path));
    Some(Input {
        path: names::path(path),
        bytes,
        xxh64: hashed.transpose().ok()?,
    })
}

/// XXH64 (seed 0) of the content of a file, in 16 hexadecimal digits.
pub(super) fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = XxHash64::with_seed(0);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:016x}", hasher.finish())),
            n => hasher.write(&buffer[..n]),
        }
    }
}
