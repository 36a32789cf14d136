//! Benchmark of this crate's deflate against libdeflate and zlib-rs, on the same bytes, in one process,
//! taking turns.
//!
//! `deflate_bench [--levels 1,6,9] [--rounds N] [--mib N] [--json FILE] [FILES…]`
//!
//! Whole contents of up to 1 MiB are compared with libdeflate; chunks of 256 KiB, primed with the content
//! before them, with zlib-rs, because libdeflate cannot do that. Another implementation first decodes every
//! stream. A time is the sum of the minima, or of the medians, of all parts. It prints one JSON object per
//! comparison; `cargo xtask peers deflate` makes a table of them.

mod bench;

use std::time::Instant;

use bench::Options;
use zipstream::deflate::Compressor;
use zlib_rs::{Deflate, DeflateFlush};

const WHOLE_BYTES: usize = 1 << 20;
const CHUNK_BYTES: usize = 256 << 10;
const WINDOW_BYTES: usize = 32 << 10;

/// One comparison: sizes, and the times of both by minima and by medians.
struct Row {
    data: String,
    bytes: usize,
    way: &'static str,
    level: i32,
    peer: &'static str,
    sizes: [usize; 2],
    minima_ns: [u64; 2],
    medians_ns: [u64; 2],
}

type Pack<'a> = Box<dyn FnMut(&[u8], usize, bool, &mut Vec<u8>) + 'a>;

fn main() -> std::io::Result<()> {
    let options = Options::of_arguments();
    let mut rows = Vec::new();
    for (name, content) in &options.contents()? {
        for &level in &options.levels {
            rows.push(whole(name, content, level, options.rounds));
            rows.push(chunks(name, content, level, options.rounds));
        }
    }
    let json: Vec<String> = rows.iter().map(json_row).collect();
    options.write_out(&json)
}

/// Whole contents, compared with libdeflate.
fn whole(name: &str, content: &[u8], level: i32, rounds: usize) -> Row {
    let mut ours = Compressor::new(level);
    let theirs = libdeflater::CompressionLvl::new(level).expect("a level of both");
    let mut theirs = libdeflater::Compressor::new(theirs);
    let mut room = vec![0; 2 * WHOLE_BYTES];
    let packs: [Pack<'_>; 2] = [
        Box::new(move |data, start, last, out| {
            out.clear();
            ours.compress(&data[start..], 0, last, out);
        }),
        Box::new(move |data, start, _, out| {
            let bytes = theirs.deflate_compress(&data[start..], &mut room);
            out.clear();
            out.extend_from_slice(&room[..bytes.expect("there is room")]);
        }),
    ];
    let parts = parts(content.len(), WHOLE_BYTES, true);
    compare(
        name,
        content,
        "whole",
        level,
        "libdeflate",
        &parts,
        packs,
        rounds,
    )
}

/// Primed chunks, compared with zlib-rs.
fn chunks(name: &str, content: &[u8], level: i32, rounds: usize) -> Row {
    let mut ours = Compressor::new(level);
    let packs: [Pack<'_>; 2] = [
        Box::new(move |data, start, last, out| {
            out.clear();
            ours.compress(data, start, last, out);
        }),
        Box::new(move |data, start, last, out| {
            // What a context keeps would make a chunk depend on the one before: each has its own.
            let mut theirs = Deflate::new(level, false, 15);
            if start > 0 {
                let window = &data[start.saturating_sub(WINDOW_BYTES)..start];
                theirs.set_dictionary(window).expect("a dictionary");
            }
            out.clear();
            out.resize(data.len() - start + (data.len() - start) / 8 + 64, 0);
            let flush = if last {
                DeflateFlush::Finish
            } else {
                DeflateFlush::SyncFlush
            };
            theirs
                .compress(&data[start..], out, flush)
                .expect("it fits");
            out.truncate(theirs.total_out() as usize);
        }),
    ];
    let parts = parts(content.len(), CHUNK_BYTES, false);
    compare(
        name, content, "chunks", level, "zlib-rs", &parts, packs, rounds,
    )
}

/// Where parts start and end, and whether each is a stream of its own or the end of one.
fn parts(bytes: usize, part: usize, each: bool) -> Vec<(usize, usize, bool)> {
    let ends = (0..bytes)
        .step_by(part)
        .map(|at| (at, (at + part).min(bytes)));
    ends.map(|(at, end)| (at, end, each || end == bytes))
        .collect()
}

#[allow(clippy::too_many_arguments, reason = "they are the fields of a row")]
fn compare(
    name: &str,
    content: &[u8],
    way: &'static str,
    level: i32,
    peer: &'static str,
    parts: &[(usize, usize, bool)],
    mut packs: [Pack<'_>; 2],
    rounds: usize,
) -> Row {
    let mut sizes = [0; 2];
    let mut out = Vec::new();
    for (pack, size) in packs.iter_mut().zip(&mut sizes) {
        let mut stream = Vec::new();
        for &(start, end, last) in parts {
            pack(&content[..end], start, last, &mut out);
            *size += out.len();
            stream.extend_from_slice(&out);
            if last {
                let from = if way == "whole" { start } else { 0 };
                check(&stream, &content[from..end]);
                stream.clear();
            }
        }
    }
    let mut times = vec![[Vec::new(), Vec::new()]; parts.len()];
    for round in 0..rounds {
        for (&(start, end, last), times) in parts.iter().zip(&mut times) {
            for turn in [round % 2, 1 - round % 2] {
                let begin = Instant::now();
                packs[turn](&content[..end], start, last, &mut out);
                times[turn].push(begin.elapsed().as_nanos() as u64);
            }
        }
    }
    let sum = |turn: usize, nth: usize| -> u64 {
        let nth_of = |times: &mut [Vec<u64>; 2]| {
            times[turn].sort_unstable();
            times[turn][nth]
        };
        times.clone().iter_mut().map(nth_of).sum()
    };
    Row {
        data: name.to_owned(),
        bytes: content.len(),
        way,
        level,
        peer,
        sizes,
        minima_ns: [sum(0, 0), sum(1, 0)],
        medians_ns: [sum(0, rounds / 2), sum(1, rounds / 2)],
    }
}

/// Reads a stream by libdeflate and by zlib-rs.
fn check(stream: &[u8], content: &[u8]) {
    let mut out = vec![0; content.len()];
    let found = libdeflater::Decompressor::new().deflate_decompress(stream, &mut out);
    assert_eq!(found.expect("libdeflate reads it"), content.len());
    assert!(out == content, "libdeflate reads the same");
    out.fill(0);
    let mut inflate = zlib_rs::Inflate::new(false, 15);
    let flush = zlib_rs::InflateFlush::Finish;
    inflate
        .decompress(stream, &mut out, flush)
        .expect("zlib-rs reads it");
    assert!(out == content, "zlib-rs reads the same");
}

fn json_row(row: &Row) -> String {
    let ([ours, theirs], [min, peer_min], [median, peer_median]) =
        (row.sizes, row.minima_ns, row.medians_ns);
    format!(
        "{{\"data\": \"{}\", \"bytes\": {}, \"way\": \"{}\", \"level\": {}, \"peer\": \"{}\", \
         \"compressed_bytes\": {ours}, \"peer_compressed_bytes\": {theirs}, \"min_ns\": {min}, \
         \"peer_min_ns\": {peer_min}, \"median_ns\": {median}, \"peer_median_ns\": {peer_median}}}",
        row.data.escape_default(),
        row.bytes,
        row.way,
        row.level,
        row.peer
    )
}
