//! What sources read, and how they end.

use super::*;
use std::io::Write as _;

fn read_all(path: &Path, buffer_bytes: usize) -> (Vec<u8>, Summary) {
    let reads = Reads {
        hash: Hash::Yes,
        buffer_bytes,
        ..Reads::default()
    };
    let mut source = Source::open_at(path, &reads, &Context::default()).expect("opened");
    let mut all = Vec::new();
    loop {
        let buffer = source.next_buffer().expect("read");
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

/// Sizes at which a source of buffers of this size behaves in another way.
fn sizes(buffer_bytes: usize) -> Vec<usize> {
    let buffers = [0, 1, BUFFERS_IN_FLIGHT, 10 * BUFFERS_IN_FLIGHT];
    let around = |buffers: usize| {
        let bytes = buffers * buffer_bytes;
        [bytes.saturating_sub(1), bytes, bytes + 1]
    };
    buffers.into_iter().flat_map(around).collect()
}

#[test]
fn a_reader_that_keeps_every_buffer_gets_the_next_all_the_same() {
    for bytes in sizes(BUFFER_BYTES) {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let content: Vec<u8> = (0..bytes).map(|at| (at / 5 % 251) as u8).collect();
        file.write_all(&content).expect("written");
        let mut source = Source::open(file.path(), &Context::default()).expect("opened");
        let mut kept = Vec::new();
        loop {
            let buffer = source.next_buffer().expect("read");
            if buffer.is_empty() {
                break;
            }
            kept.push(buffer);
        }
        let found: Vec<u8> = kept.iter().flat_map(|buffer| buffer.to_vec()).collect();
        assert!(found == content, "{bytes}");
        // Buffers may outlive their source.
        drop(source);
        drop(kept);
    }
}

#[test]
fn memory_of_dropped_buffers_is_used_again() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(&vec![7; 50 * BUFFER_BYTES])
        .expect("written");
    let mut source = Source::open(file.path(), &Context::default()).expect("opened");
    let mut places = std::collections::HashSet::new();
    loop {
        let buffer = source.next_buffer().expect("read");
        if buffer.is_empty() {
            break;
        }
        places.insert(buffer.as_ptr());
    }
    assert!(places.len() <= BUFFERS_IN_FLIGHT, "{}", places.len());
}

#[test]
fn a_directory_is_refused_without_flags_that_a_command_may_lack() {
    let directory = tempfile::tempdir().expect("a directory");
    let error = Source::open(directory.path(), &Context::default()).expect_err("refused");
    let read = Operation::Read;
    assert!(matches!(error, Error::IsDirectory { operation, .. } if operation == read));
}
