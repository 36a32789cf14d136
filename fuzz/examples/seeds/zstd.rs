//! Seeds of the zstd targets. The bytes before the stream choose the options, as in
//! `fuzz/src/zstd.rs`.

use std::io::Cursor;

use zstdkit::dictionary::train;
use zstdkit::patch::{PatchOptions, create};
use zstdkit::seekable::SeekTableBuilder;
use zstdkit::workload::{Kind, generate};
use zstdkit::{Dictionary, EncoderOptions, compress};

use super::Seed;

/// Window 2^23, no memory limit, checksum verified, all output, pieces of 2 bytes, room of 1 KiB.
const DECODE: &[u8] = &[13, 0, 1, 0, 1, 0, 10, 0];
/// Pieces of 2 bytes.
const SCAN: &[u8] = &[1, 0];

/// Pieces of 4 bytes, room of 1 KiB, 60 bytes from byte 31 on.
const SEEK: &[u8] = &[2, 0, 10, 0, 5, 0, 5, 240];
/// As `DECODE`; pieces of 1 KiB, not known to be many frames.
const PARALLEL: &[u8] = &[13, 0, 1, 0, 10, 0, 0];
/// Window 2^23, checksum verified, pieces of 1 KiB, two threads.
const BLOCKS: &[u8] = &[13, 1, 10, 0, 0];
/// Options as `plans` has them; `hello`, pledged, in one piece that is flushed; its end; pieces of
/// 2 bytes, room of 1 KiB; window 2^23, all output.
const SLICED: &[u8] = &[
    4, 1, 0, 0, 0, 0, 1, 0, 0, 5, b'h', b'e', b'l', b'l', b'o', 1, 3, 0, 0, 10, 0, 0, 10, 0, 0, 1,
    0, 10, 0, 13, 0,
];

pub(crate) fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for (name, stream) in streams() {
        seeds.push(Seed::new("zstd_decode", name, [DECODE, &stream].concat()));
        seeds.push(Seed::new("zstd_blocks", name, [BLOCKS, &stream].concat()));
        seeds.push(Seed::new("zstd_scan", name, [SCAN, &stream].concat()));
        seeds.push(Seed::new(
            "zstd_parallel",
            name,
            [PARALLEL, &stream].concat(),
        ));
    }
    for (name, file) in seekable() {
        seeds.push(Seed::new("zstd_seek_table", name, [SEEK, &file].concat()));
    }
    for (name, plan) in patches() {
        seeds.push(Seed::new("zstd_patch", name, plan));
    }
    for (name, plan) in plans() {
        seeds.push(Seed::new("zstd_roundtrip", name, plan));
    }
    for (name, plan) in dictionaries() {
        seeds.push(Seed::new("zstd_dictionary", name, plan));
    }
    for (name, stream) in streams() {
        seeds.push(Seed::new("zstd_sliced", name, [SLICED, &stream].concat()));
    }
    for (name, text) in costs() {
        seeds.push(Seed::new("zstd_costs", name, text));
    }
    seeds
}

/// An older file of 4 KiB, and patches from it: segments of 1 KiB that refer back to 1 KiB.
fn patches() -> Vec<(&'static str, Vec<u8>)> {
    let older = generate(Kind::JsonLines, 5, 4 << 10);
    let newer = [&older[2500..], b"something new", &older[..2500]].concat();
    let options = PatchOptions::default()
        .with_segment_bytes(1 << 10)
        .with_prefix_bytes_max(1 << 10);
    let mut patch = Vec::new();
    create(
        &mut Cursor::new(&older),
        &mut &newer[..],
        &mut patch,
        &options,
    )
    .expect("made");
    let plan = |patch: &[u8]| [&[12, 0][..], &older, patch].concat();
    let mut damaged = patch.clone();
    damaged[60] ^= 1;
    let mut other = older.clone();
    other[2600] ^= 1;
    vec![
        ("moved", plan(&patch)),
        ("cut", plan(&patch[..patch.len() - 9])),
        ("damaged", plan(&damaged)),
        ("other-file", [&[12, 0][..], &other, &patch].concat()),
        ("newer", plan(&newer)),
    ]
}

/// Cost files; `VERSION` stands for that of the library that will read them.
fn costs() -> Vec<(&'static str, String)> {
    let head = "zstdkit costs 1\nlibzstd VERSION\n";
    let lines = "0000000000000801 1500.5 12\n00000000000ff002 900 0.25\n";
    vec![
        ("two", format!("{head}{lines}end 2\n")),
        ("none", format!("{head}end 0\n")),
        ("cut", format!("{head}{lines}")),
        ("other-count", format!("{head}{lines}end 3\n")),
        (
            "not-a-number",
            format!("{head}0000000000000801 NaN 1\nend 1\n"),
        ),
        (
            "other-version",
            "zstdkit costs 1\nlibzstd 1.4.0\n".to_owned(),
        ),
    ]
}

fn frame(content: &[u8], options: &EncoderOptions) -> Vec<u8> {
    compress(content, options).expect("the options are within bounds")
}

fn streams() -> Vec<(&'static str, Vec<u8>)> {
    let plain = EncoderOptions::default();
    let bare = plain.clone().with_checksum(false).with_content_size(false);
    let small_window = bare.clone().with_window_log(10);
    let skippable = [&[0x5d, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], b"extra"].concat();
    let text = frame(&generate(Kind::JsonLines, 1, 2_000), &plain);
    let mut flipped = text.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x10;
    vec![
        ("empty-content", frame(b"", &plain)),
        ("json", text.clone()),
        ("bare-log", frame(&generate(Kind::Log, 1, 2_000), &bare)),
        ("raw-blocks", frame(&generate(Kind::Random, 1, 300), &plain)),
        ("rle-blocks", frame(&[7; 300_000], &plain)),
        (
            "several-blocks",
            frame(&generate(Kind::Binary, 1, 3_000), &small_window),
        ),
        (
            "two-frames",
            [frame(b"one", &plain), frame(b"two", &bare)].concat(),
        ),
        (
            "skippable",
            [skippable.clone(), frame(b"after", &plain), skippable].concat(),
        ),
        ("truncated", text[..text.len() - 7].to_vec()),
        ("flipped-bit", flipped),
        (
            "trailing",
            [frame(b"whole", &plain), b"not a frame".to_vec()].concat(),
        ),
        ("gzip", vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]),
        ("legacy", vec![0x27, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]),
        (
            "window-too-large",
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 1, 0, 0],
        ),
        (
            "dictionary",
            vec![0x28, 0xb5, 0x2f, 0xfd, 0x03, 0x58, 1, 2, 3, 4, 1, 0, 0],
        ),
    ]
}

/// Three frames of 40 bytes each, with a table.
fn seekable() -> Vec<(&'static str, Vec<u8>)> {
    let file = |checksums: bool, content_bytes: u64| {
        let (mut file, mut table) = (Vec::new(), SeekTableBuilder::new(checksums));
        for content in generate(Kind::JsonLines, 1, 120).chunks(40) {
            let frame = frame(content, &EncoderOptions::default());
            // The low half of the XXH64 of the content ends the frame.
            let checksum = frame.last_chunk().map(|sum| u32::from_le_bytes(*sum));
            table
                .push(frame.len() as u64, content_bytes, checksum)
                .expect("small enough");
            file.extend(frame);
        }
        file.extend(table.finish());
        file
    };
    let plain = file(false, 40);
    let table = plain.len() - (8 + 3 * 8 + 9);
    vec![
        ("three-frames", plain.clone()),
        ("checksums", file(true, 40)),
        ("wrong-sizes", file(true, 41)),
        ("no-frames", SeekTableBuilder::new(false).finish()),
        ("none", plain[..table].to_vec()),
        ("two-files", plain.repeat(2)),
    ]
}

fn plans() -> Vec<(&'static str, Vec<u8>)> {
    // Level, checksum, window, distance, workers, overlap, content size; then frames, and for
    // each its segments, whether its size is pledged, the buffer, and the pieces.
    let literal = |bytes: &[u8]| [&[0, bytes.len() as u8][..], bytes].concat();
    let run = [1, b'a', 17, 0];
    let repeat = [2, 3, 0, 12, 0];
    let noise = [3, 9, 12, 128];
    let pieces = [1, 9, 0, 4, 0, 0, 8, 77, 1, 12, 0, 0, 3, 0, 1];
    vec![
        (
            "one-literal",
            [
                &[4, 1, 0, 0, 0, 0, 1, 0, 0][..],
                &literal(b"hello"),
                &[1, 10],
            ]
            .concat(),
        ),
        (
            "mixed",
            [
                &[7, 1, 5, 0, 0, 0, 1, 0, 3][..],
                &literal(b"{\"id\": 1}"),
                &run,
                &repeat,
                &noise,
                &pieces,
            ]
            .concat(),
        ),
        (
            "three-frames",
            [
                &[2, 0, 0, 1, 0, 0, 0, 2, 1][..],
                &run,
                &noise,
                &pieces,
                &[1],
                &literal(b"two"),
                &pieces,
            ]
            .concat(),
        ),
        (
            "workers",
            [&[4, 1, 8, 0, 1, 1, 3, 1, 0, 1][..], &run, &noise, &pieces].concat(),
        ),
    ]
}

/// Options; the length of the dictionary as a byte and a shift, and the dictionary; the same of the
/// content; then a stream.
fn dictionaries() -> Vec<(&'static str, Vec<u8>)> {
    const OPTIONS: &[u8] = &[5, 1, 1, 1, 0, 0, 0];
    let records = generate(Kind::JsonLines, 1, 40_000);
    let samples: Vec<&[u8]> = records.split(|&byte| byte == b'\n').collect();
    let trained = train(&samples, 768).expect("records have something in common");
    let record = &samples[0][..samples[0].len().min(255)];
    let with =
        |dictionary: &Dictionary| EncoderOptions::default().with_dictionary(dictionary.clone());
    let plan = |options: &[u8], dictionary: &[u8], stream: &[u8]| {
        let shift = 2;
        let mut dictionary = dictionary.to_vec();
        dictionary.resize(dictionary.len() >> shift << shift, 0);
        let length = [(dictionary.len() >> shift) as u8, shift];
        let content = [&[record.len() as u8, 0][..], record].concat();
        [options, &length, &dictionary, &content, stream].concat()
    };
    let plain = Dictionary::new(records[..800].to_vec()).expect("any content is a dictionary");
    let mut corrupt = trained.bytes().to_vec();
    corrupt[20] ^= 0xff;
    vec![
        (
            "trained",
            plan(OPTIONS, trained.bytes(), &frame(record, &with(&trained))),
        ),
        (
            "plain",
            plan(OPTIONS, plain.bytes(), &frame(record, &with(&plain))),
        ),
        (
            "own-settings",
            plan(&[7, 0, 1, 1, 1, 2, 1, 6, 1, 1], trained.bytes(), b""),
        ),
        (
            "unnamed",
            plan(&[3, 0, 0, 0, 0, 0, 0], trained.bytes(), b""),
        ),
        ("corrupt", plan(OPTIONS, &corrupt, b"")),
        ("only-magic", plan(OPTIONS, &trained.bytes()[..8], b"")),
        ("empty", plan(OPTIONS, b"", b"")),
    ]
}
