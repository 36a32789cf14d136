//! Deflate in chunks that can be compressed on any thread and form one stream.
//!
//! Each chunk is primed with the 32 KiB before it and ends at a byte boundary. Its bytes depend on
//! these inputs alone, and not on threads or earlier work.

use crate::deflate::Compressor;

/// Content of one chunk. Larger chunks compress hardly better and hold their thread longer.
pub(crate) const CHUNK_BYTES: usize = 256 << 10;
/// How far a chunk may refer back.
pub(crate) const WINDOW_BYTES: usize = 32 << 10;

/// The largest compressed size of `content` bytes in any number of chunks.
pub(crate) const fn bound(content: u64) -> u64 {
    let chunks = content / CHUNK_BYTES as u64 + 1;
    chunks * Compressor::bound(CHUNK_BYTES as u64)
}

/// Compresses chunks and keeps the context of the last level.
#[derive(Debug, Default)]
pub(crate) struct Chunks(Option<Compressor>);

impl Chunks {
    /// Appends `data[start..]` compressed, given the content before it. The `last` chunk ends the
    /// stream.
    pub(crate) fn compress(
        &mut self,
        level: i32,
        data: &[u8],
        start: usize,
        last: bool,
        out: &mut Vec<u8>,
    ) {
        let kept = self.0.take().filter(|kept| kept.level() == level);
        let compressor = self
            .0
            .insert(kept.unwrap_or_else(|| Compressor::new(level)));
        compressor.compress(data, start, last, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;

    fn stitched(level: i32, content: &[u8], chunk: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut at = 0;
        let mut chunks = Chunks::default();
        loop {
            let end = (at + chunk).min(content.len());
            let last = end == content.len();
            chunks.compress(level, &content[..end], at, last, &mut out);
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
        for level in Method::Deflate.levels() {
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
        for level in [1, 2, 6, 9] {
            let mut chunks = Chunks::default();
            let mut pack = |at: usize| {
                let mut out = Vec::new();
                let data = parts[at - 1..=at].concat();
                chunks.compress(level, &data, 50_000, false, &mut out);
                out
            };
            let forward: Vec<_> = (1..parts.len()).map(&mut pack).collect();
            let mut backward: Vec<_> = (1..parts.len()).rev().map(&mut pack).collect();
            backward.reverse();
            assert!(forward == backward, "level {level}");
        }
    }

    #[test]
    fn an_empty_last_chunk_ends_a_stream() {
        for level in [0, 6] {
            let mut out = Vec::new();
            let mut chunks = Chunks::default();
            chunks.compress(level, b"abcabc", 0, false, &mut out);
            chunks.compress(level, b"abcabc", 6, true, &mut out);
            assert_eq!(inflated(&out, 6), b"abcabc");
        }
    }
}
