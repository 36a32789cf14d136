//! Decoders on the streams of every kind: zipstream, libdeflate, zlib-ng, and igzip's.

use flate2::{Decompress, FlushDecompress, Status};
use serde::Serialize;
use zipstream::deflate::{Compressor, Inflater};

use crate::libraries::now_ns;

/// Smaller contents are decoded many at a time.
const TURN_BYTES: usize = 1 << 20;
const PIECES_MAX: usize = 64;
const LEVEL: i32 = 6;

/// All decoders on the streams of one content.
#[derive(Serialize)]
pub(crate) struct Decoded {
    kind: &'static str,
    /// Of one content.
    bytes: usize,
    /// How many contents a turn decodes.
    pieces: usize,
    /// Who compressed.
    encoder: &'static str,
    compressed_bytes: usize,
    /// Who decoded, and nanoseconds.
    points: Vec<(&'static str, u64)>,
}

type Encode = fn(&[u8]) -> Vec<u8>;

/// A decoder of whole streams into their place.
struct Decoder {
    name: &'static str,
    decode: Box<dyn FnMut(&[u8], &mut [u8]) -> usize>,
}

fn decoders() -> Vec<Decoder> {
    let mut own = Inflater::new();
    let mut libdeflate = libdeflater::Decompressor::new();
    let mut zlib_ng = Decompress::new(false);
    vec![
        decoder("zipstream", move |stream, out| {
            let most = out.len();
            own.whole(stream, out, most).expect("a stream").produced
        }),
        decoder("libdeflate", move |stream, out| {
            let read = libdeflate.deflate_decompress(stream, out);
            read.expect("a stream")
        }),
        decoder("zlib-ng", move |stream, out| {
            zlib_ng.reset(false);
            let status = zlib_ng.decompress(stream, out, FlushDecompress::Finish);
            assert_eq!(status.expect("a stream"), Status::StreamEnd);
            zlib_ng.total_out() as usize
        }),
        #[cfg(feature = "isal")]
        decoder("igzip", |stream, out| {
            isal::decompress_into(stream, out, isal::Codec::Deflate).expect("a stream")
        }),
    ]
}

fn decoder(name: &'static str, decode: impl FnMut(&[u8], &mut [u8]) -> usize + 'static) -> Decoder {
    Decoder {
        name,
        decode: Box::new(decode),
    }
}

/// Decodes `content` in contents of `bytes`, as compressed by zlib-ng and by zipstream.
pub(crate) fn compare(
    kind: &'static str,
    content: &[u8],
    bytes: usize,
    rounds: usize,
) -> Vec<Decoded> {
    let pieces = (TURN_BYTES / bytes.max(1)).clamp(1, PIECES_MAX);
    let pieces: Vec<&[u8]> = content.chunks(bytes.max(1)).take(pieces).collect();
    let encoders: [(&'static str, Encode); 2] = [("zlib-ng", zlib_ng), ("zipstream", own)];
    encoders
        .into_iter()
        .map(|(encoder, encode)| {
            let streams: Vec<Vec<u8>> = pieces.iter().map(|piece| encode(piece)).collect();
            Decoded {
                kind,
                bytes,
                pieces: pieces.len(),
                encoder,
                compressed_bytes: streams.iter().map(Vec::len).sum(),
                points: turns(&pieces, &streams, rounds),
            }
        })
        .collect()
}

fn own(piece: &[u8]) -> Vec<u8> {
    let mut stream = Vec::new();
    Compressor::new(LEVEL).compress(piece, 0, true, &mut stream);
    stream
}

fn zlib_ng(piece: &[u8]) -> Vec<u8> {
    use flate2::{Compress, Compression, FlushCompress};
    let mut context = Compress::new(Compression::new(LEVEL as u32), false);
    let mut stream = vec![0; piece.len() + piece.len() / 8 + 1024];
    let status = context.compress(piece, &mut stream, FlushCompress::Finish);
    assert_eq!(status.expect("compressed"), Status::StreamEnd);
    stream.truncate(context.total_out() as usize);
    stream
}

/// The least time of each decoder in rounds of turns, whose order every other round reverses.
fn turns(pieces: &[&[u8]], streams: &[Vec<u8>], rounds: usize) -> Vec<(&'static str, u64)> {
    let mut decoders = decoders();
    let mut points: Vec<_> = decoders.iter().map(|one| (one.name, u64::MAX)).collect();
    let mut outs: Vec<Vec<u8>> = pieces.iter().map(|piece| vec![0; piece.len()]).collect();
    for round in 0..rounds {
        let count = decoders.len();
        for turn in 0..count {
            let turn = if round % 2 == 0 {
                turn
            } else {
                count - 1 - turn
            };
            let decoder = &mut decoders[turn];
            let begin = now_ns();
            for (stream, out) in streams.iter().zip(&mut outs) {
                let made = (decoder.decode)(stream, out);
                assert_eq!(made, out.len(), "{}", decoder.name);
            }
            let ns = now_ns() - begin;
            points[turn].1 = points[turn].1.min(ns);
            if round == 0 {
                for (out, piece) in outs.iter_mut().zip(pieces) {
                    assert!(out == piece, "{}: other bytes", decoder.name);
                    out.fill(0);
                }
            }
        }
    }
    points
}
