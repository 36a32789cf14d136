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
    let bytes = bytes
        .ok_or_else(|| Failure::new(format!("'{}' is larger than any report", path.display())))?;
    match binary(&bytes) {
        Some((what, help)) => Err(Failure::usage(format!(
            "'{}' is {what}, and no file of results",
            path.display()
        ))
        .help(help)),
        None => Ok(bytes),
    }
}

/// Bytes of a file that are looked at: text has no zero byte among them.
const HEAD_BYTES: usize = 8 << 10;

/// What to do with a program.
const RUN: &str = "to compare two programs, name both: each needs the right to be run (chmod +x)";
/// What to do with anything that was packed.
const UNPACK: &str = "unpack it first, or read it from a pipe: -";
/// What to do with anything else.
const WRITE: &str = "write results with --export-json: every file of results is text";

/// First bytes of files that people give in the place of results, what such files are, and what to do.
const BINARY: [(&[u8], &str, &str); 9] = [
    (b"\x7fELF", "a program (ELF)", RUN),
    (&[0xcf, 0xfa, 0xed, 0xfe], "a program (Mach-O)", RUN),
    (&[0xca, 0xfe, 0xba, 0xbe], "a program (Mach-O or Java)", RUN),
    (&zstdkit::frame::MAGIC, "compressed by zstd", UNPACK),
    (&[0x1f, 0x8b], "compressed by gzip", UNPACK),
    (
        &[0xfd, b'7', b'z', b'X', b'Z', 0],
        "compressed by xz",
        UNPACK,
    ),
    (b"PK\x03\x04", "a ZIP archive", UNPACK),
    (b"SQLite format 3\0", "a database (SQLite)", WRITE),
    (b"%PDF-", "a document (PDF)", WRITE),
];

/// What a file is that is no text, and what to do; `None` for text.
fn binary(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = BINARY.iter().find(|(first, ..)| bytes.starts_with(first));
    let has_zero = || bytes.iter().take(HEAD_BYTES).any(|byte| *byte == 0);
    match known {
        Some(&(_, what, help)) => Some((what, help)),
        None => has_zero().then_some(("binary", WRITE)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_told_by_its_first_bytes() {
        let what = |bytes: &[u8]| binary(bytes).map(|(what, _)| what);
        assert_eq!(what(b"\x7fELF\x02\x01"), Some("a program (ELF)"));
        assert_eq!(what(&[0x1f, 0x8b, 8]), Some("compressed by gzip"));
        assert_eq!(what(b"1 2\x003"), Some("binary"));
        // Text of any encoding that has no zero bytes.
        for text in [&b""[..], b"1 2 3\n", b"# caf\xe9\n1\n", b"{\"schema\": 1}"] {
            assert_eq!(what(text), None, "{text:?}");
        }
        let mut late = vec![b'1'; HEAD_BYTES];
        late.push(0);
        assert_eq!(what(&late), None);
    }
}
