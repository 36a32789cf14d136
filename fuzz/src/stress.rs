//! Bodies of the targets over codecs of the stress crate: content through each and back, and any bytes as
//! a block of each; and over the messages of runs that several machines share.

use ::bench::stress::agents;
use ::stress::Codec;
use ::stress::codec;

/// Codecs by the first byte of an input. The decoder of zstd-rust is left out of what reads any bytes: it
/// panics on some, which a run survives and counts.
const CODECS: [&str; 12] = [
    "zstd:1",
    "zstd:auto",
    "zstd:-5",
    "zstd:9",
    "zstd-rust",
    "lz4",
    "lz4-c",
    "snappy",
    "gzip:1",
    "gzip-c:12",
    "none",
    "zstd:text",
];
const PANICS: &str = "zstd-rust";
/// What the contexts are made for.
const CONTENT_BYTES_MAX: usize = 1 << 15;

/// A codec, and bytes: as content they come back whole, twice through one context, and a context for
/// less refuses them; as a block, or as a block with one bit flipped or its end cut off, they are
/// refused or stay within the limit, the same in two fresh contexts.
///
/// # Panics
/// When one of that is not so.
pub fn stress_codec(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else {
        return;
    };
    let name = CODECS[usize::from(*choice) % CODECS.len()];
    let codec = codec::by_name(name).expect("a built-in codec");
    let content = &bytes[..bytes.len().min(CONTENT_BYTES_MAX)];
    let block = round_trip(&*codec, content);
    if name == PANICS {
        return;
    }
    any_block(&*codec, bytes);
    let at = content.iter().map(|byte| usize::from(*byte)).sum::<usize>();
    let mut flipped = block.clone();
    if !flipped.is_empty() {
        let bit = at % (flipped.len() * 8);
        flipped[bit / 8] ^= 1 << (bit % 8);
    }
    any_block(&*codec, &flipped);
    any_block(&*codec, &block[..at % (block.len() + 1)]);
}

/// Bytes as a message of a lead or of an agent: read back as it was, or refused.
///
/// # Panics
/// When a message is not what is written of it.
pub fn stress_message(data: &[u8]) {
    if let Err(error) = agents::check_message(data) {
        assert!(!error.to_string().contains('\n'));
    }
}

/// Content through a codec and back; its block.
fn round_trip(codec: &dyn Codec, content: &[u8]) -> Vec<u8> {
    let mut compressor = codec.compressor(CONTENT_BYTES_MAX).expect("a context");
    let mut decompressor = codec.decompressor(CONTENT_BYTES_MAX).expect("a context");
    let (mut block, mut back) = (vec![1; 3], vec![2; 5]);
    for _ in 0..2 {
        compressor
            .compress(content, &mut block)
            .expect("content is compressed");
        decompressor
            .decompress(&block, &mut back)
            .expect("an own block is decompressed");
        assert!(back == content, "{} changed the content", codec.name());
    }
    if let Some(less) = content.len().checked_sub(1) {
        let mut small = codec.decompressor(less).expect("a context");
        let refused = small.decompress(&block, &mut back);
        assert!(refused.is_err(), "{} went over its limit", codec.name());
    }
    block
}

/// Bytes that may be no block.
fn any_block(codec: &dyn Codec, bytes: &[u8]) {
    let read = || {
        let mut back = Vec::new();
        let mut decompressor = codec.decompressor(CONTENT_BYTES_MAX).expect("a context");
        let read = decompressor.decompress(bytes, &mut back);
        read.is_ok().then_some(back)
    };
    let back = read();
    let len = back.as_ref().map_or(0, Vec::len);
    assert!(
        len <= CONTENT_BYTES_MAX,
        "{} gave {len} bytes",
        codec.name()
    );
    assert!(back == read(), "{} gave two answers", codec.name());
}
