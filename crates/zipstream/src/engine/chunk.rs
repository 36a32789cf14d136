//! Deflate in chunks that any thread can compress and that read as one stream.
//!
//! Each chunk is primed with the 32 KiB before it and ends on a byte, so that what a chunk becomes
//! depends on these bytes alone, and so neither on threads nor on what came before.

use zlib_rs::{Deflate, DeflateFlush, Status};

use super::internal;
use crate::error::Error;

/// Content of one chunk. Larger chunks would compress hardly better and hold their thread longer.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// What a chunk may refer back to.
pub(crate) const WINDOW_BYTES: usize = 32 << 10;
/// The most that one stored block holds, and its header.
const STORED_BYTES: usize = 65_535;
const STORED_HEADER_BYTES: usize = 5;

/// The most that `content` bytes can become, over any number of chunks.
pub(crate) const fn bound(content: u64) -> u64 {
    let chunks = content / CHUNK_BYTES as u64 + 1;
    let blocks = content / STORED_BYTES as u64 + 2 * chunks;
    content + blocks * STORED_HEADER_BYTES as u64
}

/// Appends `content` compressed, given the content before it. The `last` chunk ends the stream.
pub(crate) fn compress(
    level: i32,
    window: &[u8],
    content: &[u8],
    last: bool,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    if level > 0 {
        deflate(level, window, content, last, out)?;
        let blocks = content.len().div_ceil(STORED_BYTES).max(1);
        let stored = content.len() + blocks * STORED_HEADER_BYTES;
        if out.len() - start <= stored {
            return Ok(());
        }
        out.truncate(start);
    }
    store(content, last, out);
    Ok(())
}

fn deflate(
    level: i32,
    window: &[u8],
    content: &[u8],
    last: bool,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    // A context that is reset keeps bytes of the chunk before in its window, and hashes some of them
    // at the end of what primes it: what a chunk becomes would depend on which one that was.
    let mut deflate = Deflate::new(level, false, 15);
    if !window.is_empty() {
        deflate
            .set_dictionary(window)
            .map_err(|error| internal(error.as_str()))?;
    }
    let flush = if last {
        DeflateFlush::Finish
    } else {
        DeflateFlush::SyncFlush
    };
    let mut rest = content;
    let mut room = content.len() + content.len() / 8 + 64;
    loop {
        let filled = out.len();
        out.resize(filled + room, 0);
        let before = (deflate.total_in(), deflate.total_out());
        let status = deflate
            .compress(rest, &mut out[filled..], flush)
            .map_err(|error| internal(error.as_str()))?;
        // Neither is more than what was given.
        let taken = (deflate.total_in() - before.0) as usize;
        let produced = (deflate.total_out() - before.1) as usize;
        rest = &rest[taken..];
        out.truncate(filled + produced);
        let full = produced == room;
        if status == Status::StreamEnd || (!last && rest.is_empty() && !full) {
            return Ok(());
        }
        if !full && produced == 0 && taken == 0 {
            return Err(internal("deflate makes no progress"));
        }
        room = 64 << 10;
    }
}

/// Appends `content` as stored blocks.
fn store(content: &[u8], last: bool, out: &mut Vec<u8>) {
    let count = content.len().div_ceil(STORED_BYTES).max(1);
    for index in 0..count {
        let rest = &content[index * STORED_BYTES..];
        let block = &rest[..rest.len().min(STORED_BYTES)];
        let length = block.len() as u16;
        out.push(u8::from(last && index + 1 == count));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&(!length).to_le_bytes());
        out.extend_from_slice(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stitched(level: i32, content: &[u8], chunk: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        loop {
            let end = (at + chunk).min(content.len());
            let window = &content[at.saturating_sub(WINDOW_BYTES)..at];
            let last = end == content.len();
            compress(level, window, &content[at..end], last, &mut out).unwrap();
            at = end;
            if last {
                return out;
            }
        }
    }

    fn inflated(stream: &[u8], bytes: usize) -> Vec<u8> {
        let mut out = vec![0; bytes];
        let mut decompressor = libdeflater::Decompressor::new();
        assert_eq!(
            decompressor.deflate_decompress(stream, &mut out).unwrap(),
            bytes
        );
        out
    }

    fn sample(bytes: usize) -> Vec<u8> {
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let words: Vec<u8> = (0..4096).map(|_| next() & 15).collect();
        let noise: Vec<u8> = (0..bytes / 3).map(|_| next()).collect();
        let text = words.iter().cycle().take(bytes - noise.len()).copied();
        text.chain(noise).collect()
    }

    #[test]
    fn chunks_read_as_one_stream_within_the_bound() {
        let content = sample(700_001);
        for level in 0..=9 {
            for chunk in [100_000, CHUNK_BYTES, 1 << 20] {
                let stream = stitched(level, &content, chunk);
                assert_eq!(inflated(&stream, content.len()), content, "level {level}");
                assert!(stream.len() as u64 <= bound(content.len() as u64) + 64);
            }
        }
    }

    #[test]
    fn a_chunk_finds_what_the_one_before_held() {
        let once: Vec<u8> = sample(90_000).split_off(60_000);
        let twice = [&once[..], &once[..]].concat();
        let stream = stitched(6, &twice, once.len());
        assert!(stream.len() < once.len() + 1000, "{}", stream.len());
    }

    #[test]
    fn a_chunk_becomes_the_same_whatever_was_compressed_before() {
        let content = sample(600_000);
        let parts: Vec<&[u8]> = content.chunks(50_000).collect();
        let pack = |at: usize| {
            let mut out = Vec::new();
            compress(6, &parts[at - 1][20_000..], parts[at], false, &mut out).unwrap();
            out
        };
        let forward: Vec<_> = (1..parts.len()).map(pack).collect();
        let mut backward: Vec<_> = (1..parts.len()).rev().map(pack).collect();
        backward.reverse();
        assert!(forward == backward);
    }

    #[test]
    fn an_empty_last_chunk_ends_a_stream() {
        for level in [0, 6] {
            let mut out = Vec::new();
            compress(level, b"", b"abcabc", false, &mut out).unwrap();
            compress(level, b"abcabc", b"", true, &mut out).unwrap();
            assert_eq!(inflated(&out, 6), b"abcabc");
        }
    }
}
