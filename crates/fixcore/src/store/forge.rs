//! Any bytes as a segment with correct checksums, for tests and fuzzers (feature `workload`), whose
//! inputs the checksums would otherwise reject.

use super::record::{self, ALIGN};
use super::segment::{HEADER_BYTES, Header};

/// The longest content that is used.
const BYTES_MAX: usize = 60_000;

/// The file of a first segment with these bytes in place of records. Each place that looks like the
/// header of a record gets a correct checksum, unless its first byte is odd.
#[must_use]
pub fn forge(data: &[u8]) -> Vec<u8> {
    let data = data.get(..BYTES_MAX).unwrap_or(data);
    let mut bytes = vec![0; (HEADER_BYTES + data.len() + 1024).next_multiple_of(4096)];
    let header = Header {
        bytes: bytes.len() as u64,
        ..super::spare::first_header(1, 1, (1, 1))
    };
    bytes[..HEADER_BYTES].copy_from_slice(&header.bytes());
    bytes[HEADER_BYTES..][..data.len()].copy_from_slice(data);
    let mut at = HEADER_BYTES;
    while let Some((_, _, size)) = bytes.get(at..).and_then(record::claim) {
        if bytes[at].is_multiple_of(2) {
            let sum = record::checksum(&bytes[at..at + size], header.salt);
            bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
        }
        at += size.max(ALIGN);
    }
    bytes
}
