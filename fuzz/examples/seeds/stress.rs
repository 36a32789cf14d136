//! Seeds of the target over codecs: the first byte chooses the codec, the rest is content, or a block.

use ::stress::codec;

use super::Seed;

const TARGET: &str = "stress_codec";

/// Names of seeds that are content, in the order of the bytes that choose the codec.
const CONTENTS: [&str; 12] = [
    "zstd-1",
    "zstd-auto",
    "zstd-minus-5",
    "zstd-9",
    "zstd-rust",
    "lz4",
    "lz4-c",
    "snappy",
    "gzip-1",
    "gzip-c-12",
    "none",
    "zstd-text",
];

/// Codecs whose own blocks are seeds: the byte that chooses them, and the names of the seeds.
const BLOCKS: [(u8, &str, &str); 6] = [
    (0, "zstd:1", "block-zstd"),
    (5, "lz4", "block-lz4"),
    (6, "lz4-c", "block-lz4-c"),
    (7, "snappy", "block-snappy"),
    (8, "gzip:1", "block-gzip"),
    (9, "gzip-c:12", "block-gzip-c"),
];

pub(crate) fn seeds() -> Vec<Seed> {
    let text = b"4fe9b1a7-0d3c-4a52-9e9d-6f1c1f0f7c11, 4fe9b1a7-0d3c-4a52-9e9d-6f1c1f0f7c12; ";
    let text = text.repeat(3);
    let seed =
        |choice: u8, name, bytes: &[u8]| Seed::new(TARGET, name, [&[choice], bytes].concat());
    let contents = (0..).zip(CONTENTS);
    let mut seeds: Vec<Seed> = contents
        .map(|(choice, name)| seed(choice, name, &text))
        .collect();
    for (choice, codec, name) in BLOCKS {
        let mut block = Vec::new();
        let compressor = codec::by_name(codec).and_then(|codec| codec.compressor(text.len()));
        compressor
            .and_then(|mut compressor| compressor.compress(&text, &mut block))
            .expect("text is compressed");
        seeds.push(seed(choice, name, &block));
    }
    seeds.push(Seed::new(TARGET, "nothing", []));
    seeds.push(Seed::new(TARGET, "no-content", [0]));
    seeds
}
