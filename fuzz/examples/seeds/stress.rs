//! Seeds of the target over codecs: the first byte chooses the codec, the rest is content, or a block; and messages of
//! runs that several machines share.

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

/// Messages of both sides.
const MESSAGES: [(&str, &str); 6] = [
    (
        "hello",
        r#"{"perfkit":"0.1.0","run":null,"agent":"a1","says":{"hello":{"name":"host-7"}}}"#,
    ),
    (
        "ready",
        r#"{"perfkit":"0.1.0","run":"r1","agent":"a1","says":"ready"}"#,
    ),
    (
        "piece",
        r#"{"perfkit":"0.1.0","run":"r1","agent":"a1","says":{"piece":{"nth":0,"of":2,"text":"{\"schema\":"}}}"#,
    ),
    (
        "start",
        r#"{"perfkit":"0.1.0","run":"r1","agent":"a1","says":{"start":{"in_ns":1000000000}}}"#,
    ),
    (
        "version",
        r#"{"perfkit":"9.0.0","run":"r1","agent":"a1","says":"alive"}"#,
    ),
    (
        "plan",
        r#"{"perfkit":"0.1.0","run":"r1","agent":"a1","says":{"plan":{"plan":{"codec":"zstd:1","pool":"mutex","work":"honest","uniform":false,"rate_per_s":250.0,"producers":10,"consumers":10,"threads":0,"batch_blocks":null,"queue_batches":null,"data":"uuid","bytes_min":2048,"bytes_max":2048,"seed":1,"duration_ns":1000000000,"blocks_max":null,"corrupt_every":null,"panic_every":null,"consumer_pause_ns":null,"full_queue":false,"min_ratio":null,"late_above_ns":10000000}}}}"#,
    ),
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
    seeds.extend(MESSAGES.map(|(name, text)| Seed::new("stress_message", name, text)));
    seeds
}
