//! What sources read, and how they end.

use super::*;
use std::io::Write as _;

fn read_all(path: &Path, buffer_bytes: usize) -> (Vec<u8>, Summary) {
    let reads = Reads {
        hash: Hash::Yes,
        buffer_bytes,
        ..Reads::default()
    };
    let mut source = Source::open_at(path, &reads).expect("opened");
    let mut all = Vec::new();
    let mut buffer = Vec::new();
    loop {
        buffer = source.next(buffer).expect("read");
        if buffer.is_empty() {
            return (all, source.summary());
        }
        all.extend_from_slice(&buffer);
    }
}

#[test]
fn what_is_read_is_what_is_there_at_every_size_around_a_buffer() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    let mut length = 0;
    for size in [
        0,
        1,
        BUFFER_BYTES - 1,
        BUFFER_BYTES,
        BUFFER_BYTES + 1,
        5 * BUFFER_BYTES,
    ] {
        file.write_all(&vec![size as u8; size - length])
            .expect("written");
        length = size;
        for buffer_bytes in [BUFFER_BYTES, BUFFER_BYTES / 2] {
            let (all, summary) = read_all(file.path(), buffer_bytes);
            assert_eq!(all, std::fs::read(file.path()).expect("read"));
            assert_eq!(summary.bytes, size as u64);
            assert_eq!(summary.xxh64, Some(XxHash64::oneshot(0, &all)));
        }
    }
}

#[test]
fn a_directory_is_refused_with_the_flag_to_use() {
    let directory = tempfile::tempdir().expect("a directory");
    let failure = Source::open(directory.path()).expect_err("refused");
    assert_eq!(failure.help_text(), Some("add -r to walk it"));
}
