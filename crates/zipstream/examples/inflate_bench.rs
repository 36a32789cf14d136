//! Benchmark of this crate's inflater against libdeflate and zlib-rs, on the same bytes, in one process,
//! taking turns.
//!
//! `inflate_bench [--rounds N] [--mib N] [--json FILE] [FILES…]`
//!
//! *whole* are streams of 1 MiB and *small* streams of 11 KiB, both decoded into their place. *stream* is the
//! whole content as one stream, in parts of 64 KiB, with the content returned in pieces; libdeflate, which
//! cannot do that, gets it whole. libdeflate makes all streams, at level 6. A time is the sum of the minima, or
//! of the medians, of all parts. It prints one JSON object per comparison; `cargo xtask peers inflate` makes a
//! table of them.

mod bench;

use std::time::Instant;

use bench::Options;
use zipstream::deflate::Inflater;
use zlib_rs::{Inflate, InflateFlush, Status};

const WHOLE_BYTES: usize = 1 << 20;
const SMALL_BYTES: usize = 11 << 10;
const PART_BYTES: usize = 64 << 10;
const PIECE_BYTES: usize = 128 << 10;
const LEVEL: i32 = 6;

/// One comparison: the times of ours, libdeflate and zlib-rs, by minima and by medians.
struct Row {
    data: String,
    bytes: usize,
    compressed_bytes: usize,
    way: &'static str,
    minima_ns: [u64; 3],
    medians_ns: [u64; 3],
}

/// A stream and its content.
struct Part<'a> {
    stream: Vec<u8>,
    content: &'a [u8],
}

type Read<'a> = Box<dyn FnMut(&[u8], &mut [u8]) + 'a>;

fn main() -> std::io::Result<()> {
    let options = Options::of_arguments();
    let mut rows = Vec::new();
    for (name, content) in &options.contents()? {
        for (way, bytes) in [
            ("whole", WHOLE_BYTES),
            ("small", SMALL_BYTES),
            ("stream", usize::MAX),
        ] {
            rows.push(compare(name, content, way, bytes, options.rounds));
        }
    }
    let json: Vec<String> = rows.iter().map(json_row).collect();
    options.write_out(&json)
}

fn parts(content: &[u8], bytes: usize) -> Vec<Part<'_>> {
    let level = libdeflater::CompressionLvl::new(LEVEL).expect("a level");
    let mut compressor = libdeflater::Compressor::new(level);
    let part = |content: &'_ [u8]| {
        let mut stream = vec![0; compressor.deflate_compress_bound(content.len())];
        let size = compressor.deflate_compress(content, &mut stream);
        stream.truncate(size.expect("there is room"));
        stream
    };
    let pieces = content.chunks(bytes.min(content.len().max(1)));
    let streams: Vec<_> = pieces.clone().map(part).collect();
    let both = streams.into_iter().zip(pieces);
    both.map(|(stream, content)| Part { stream, content })
        .collect()
}

/// The three, whole or in parts, in the order of the columns.
fn readers(streams: bool) -> [Read<'static>; 3] {
    let mut ours = Inflater::new();
    let mut libdeflate = libdeflater::Decompressor::new();
    let mut zlib = Inflate::new(false, 15);
    let (mut piece, whole) = (vec![0; PIECE_BYTES], !streams);
    [
        Box::new(move |stream, out| {
            if whole {
                let most = out.len() - 512;
                ours.whole(stream, out, most).expect("it reads it");
                return;
            }
            ours.restart();
            for mut part in stream.chunks(PART_BYTES) {
                while !part.is_empty() {
                    let piece = ours.push(part).expect("it reads it");
                    std::hint::black_box(piece.content);
                    part = &part[piece.consumed..];
                }
            }
            while !ours.push(&[]).expect("it reads it").done {}
        }),
        Box::new(move |stream, out| {
            let room = out.len() - 512;
            let read = libdeflate.deflate_decompress(stream, &mut out[..room]);
            read.expect("it reads it");
        }),
        Box::new(move |stream, out| {
            zlib.reset(false);
            if whole {
                let room = out.len() - 512;
                let read = zlib.decompress(stream, &mut out[..room], InflateFlush::Finish);
                read.expect("it reads it");
                return;
            }
            let mut status = Status::Ok;
            for part in stream.chunks(PART_BYTES) {
                let (start, mut taken, mut full) = (zlib.total_in(), 0, true);
                while status != Status::StreamEnd && (taken < part.len() || full) {
                    let before = zlib.total_out();
                    let read = zlib.decompress(&part[taken..], &mut piece, InflateFlush::NoFlush);
                    status = read.expect("it reads it");
                    taken = (zlib.total_in() - start) as usize;
                    full = zlib.total_out() - before == piece.len() as u64;
                    std::hint::black_box(&piece);
                }
            }
        }),
    ]
}

fn compare(name: &str, content: &[u8], way: &'static str, bytes: usize, rounds: usize) -> Row {
    let parts = parts(content, bytes);
    let mut readers = readers(way == "stream");
    let mut room = vec![0; content.len().min(bytes) + 512];
    for part in &parts {
        check(part);
    }
    let mut times = vec![[const { Vec::new() }; 3]; parts.len()];
    for round in 0..rounds {
        for (part, times) in parts.iter().zip(&mut times) {
            let out = &mut room[..part.content.len() + 512];
            for turn in 0..3 {
                let turn = (turn + round) % 3;
                let begin = Instant::now();
                readers[turn](&part.stream, out);
                times[turn].push(begin.elapsed().as_nanos() as u64);
            }
        }
    }
    let sum = |turn: usize, nth: usize| -> u64 {
        let nth_of = |times: &mut [Vec<u64>; 3]| {
            times[turn].sort_unstable();
            times[turn][nth]
        };
        times.clone().iter_mut().map(nth_of).sum()
    };
    Row {
        data: name.to_owned(),
        bytes: content.len(),
        compressed_bytes: parts.iter().map(|part| part.stream.len()).sum(),
        way,
        minima_ns: [0, 1, 2].map(|turn| sum(turn, 0)),
        medians_ns: [0, 1, 2].map(|turn| sum(turn, rounds / 2)),
    }
}

/// Reads a stream by this crate both ways, and holds it to the content.
fn check(part: &Part<'_>) {
    let mut inflater = Inflater::new();
    let mut out = vec![0; part.content.len()];
    let done = inflater.whole(&part.stream, &mut out, usize::MAX);
    let done = done.expect("it reads it");
    assert_eq!(
        (done.consumed, done.produced),
        (part.stream.len(), out.len())
    );
    assert!(out == part.content, "the same whole");
    inflater.restart();
    let (mut rest, mut at) = (&part.stream[..], 0);
    loop {
        let piece = inflater.push(rest).expect("it reads it");
        let end = at + piece.content.len();
        assert!(
            piece.content == &part.content[at..end],
            "the same in pieces"
        );
        (rest, at) = (&rest[piece.consumed..], end);
        if piece.done {
            break;
        }
    }
    assert_eq!(at, part.content.len());
}

fn json_row(row: &Row) -> String {
    let (min, median) = (row.minima_ns, row.medians_ns);
    format!(
        "{{\"data\": \"{}\", \"bytes\": {}, \"compressed_bytes\": {}, \"way\": \"{}\", \
         \"min_ns\": {}, \"libdeflate_min_ns\": {}, \"zlib_rs_min_ns\": {}, \
         \"median_ns\": {}, \"libdeflate_median_ns\": {}, \"zlib_rs_median_ns\": {}}}",
        row.data.escape_default(),
        row.bytes,
        row.compressed_bytes,
        row.way,
        min[0],
        min[1],
        min[2],
        median[0],
        median[1],
        median[2],
    )
}
