//! The target over zipstream's inflater: any bytes, and streams with changes, against zlib-rs and
//! libdeflate.

use zipstream::deflate::{Compressor, InflateError, InflateFlaw, Inflated, Inflater};
use zlib_rs::{Inflate, InflateFlush, Status};

use crate::plan::Plan;

/// The most content of one input.
const CONTENT_BYTES_MAX: usize = 1 << 17;

/// A stream of zipstream or libdeflate, over a content of literals and copies, with changes.
fn changed(plan: &mut Plan<'_>) -> Vec<u8> {
    let (level, changes) = (plan.below(20), plan.below(4));
    let places: Vec<_> = (0..changes)
        .map(|_| (plan.size(1 << 16), plan.byte()))
        .collect();
    let mut content = Vec::new();
    while !plan.is_empty() && content.len() < CONTENT_BYTES_MAX {
        let count = plan.below(32);
        content.extend_from_slice(plan.take(count));
        if !content.is_empty() {
            let distance = plan.size(content.len());
            let length = plan.size(CONTENT_BYTES_MAX - content.len().min(CONTENT_BYTES_MAX - 1));
            (0..length).for_each(|_| content.push(content[content.len() - distance]));
        }
    }
    let mut stream = Vec::new();
    if level < 10 {
        Compressor::new(level as i32).compress(&content, 0, true, &mut stream);
    } else if let Ok(level) = libdeflater::CompressionLvl::new(level as i32 - 10) {
        let mut compressor = libdeflater::Compressor::new(level);
        stream.resize(compressor.deflate_compress_bound(content.len()), 0);
        let bytes = compressor.deflate_compress(&content, &mut stream);
        stream.truncate(bytes.expect("there is room"));
    }
    for (at, bits) in places {
        let at = at % stream.len();
        stream[at] ^= bits;
    }
    stream
}

/// What zlib-rs makes of a stream, and how much of it that took.
fn expected(stream: &[u8], room: &mut [u8]) -> Option<(usize, usize)> {
    let most = room.len() - 1;
    let mut inflate = Inflate::new(false, 15);
    match inflate.decompress(stream, room, InflateFlush::Finish) {
        Ok(Status::StreamEnd) if inflate.total_out() as usize <= most => {
            Some((inflate.total_in() as usize, inflate.total_out() as usize))
        }
        _ => None,
    }
}

/// Reads a stream in parts of these sizes, up to `most` bytes of content.
fn in_parts(
    inflater: &mut Inflater,
    stream: &[u8],
    (input, room): (usize, usize),
    most: usize,
) -> Result<(usize, Vec<u8>), InflateFlaw> {
    inflater.restart();
    let (mut content, mut at) = (Vec::new(), 0);
    while !inflater.is_done() {
        let filled = content.len();
        content.resize(filled + room, 0);
        let part = &stream[at..(at + input).min(stream.len())];
        let did = inflater.read(part, &mut content[filled..]);
        let did = did.map_err(|error| error.flaw())?;
        at += did.consumed;
        content.truncate(filled + did.produced);
        if content.len() > most {
            return Err(InflateFlaw::Room);
        }
        if did.consumed + did.produced == 0 && !did.done {
            assert_eq!(at, stream.len(), "it stands still");
            return Err(InflateFlaw::Truncated);
        }
    }
    Ok((at, content))
}

/// What zlib-rs reads is read, to the same content and the same byte of the stream, in any parts; what
/// it refuses is refused. libdeflate reads what zlib-rs does.
pub fn inflate_differential(data: &[u8]) {
    let mut plan = Plan::new(data);
    let (kind, parts) = (plan.below(3), (plan.size(1 << 17), plan.size(1 << 17)));
    let most = plan.size(1 << 18);
    let stream = match kind {
        0 => changed(&mut plan),
        _ => plan.rest().to_vec(),
    };
    let mut room = vec![0; most + 1];
    let expected = expected(&stream, &mut room);
    let mut out = vec![0; most + usize::from(kind == 1) * 512];
    for mut inflater in [Inflater::portable(), Inflater::new()] {
        let found = inflater.whole(&stream, &mut out, most);
        let parts = in_parts(&mut inflater, &stream, parts, most);
        let expected = expected.map(|(taken, produced)| (taken, &room[..produced]));
        judge(&stream, expected, &out, (found, parts));
    }
    if let Some((_, produced)) = expected {
        let read = libdeflater::Decompressor::new().deflate_decompress(&stream, &mut out[..most]);
        assert_eq!(read, Ok(produced), "libdeflate");
    }
}

/// What was read of a stream, whole and in parts.
type Read = (
    Result<Inflated, InflateError>,
    Result<(usize, Vec<u8>), InflateFlaw>,
);

/// Holds what was read to what zlib-rs took and produced.
fn judge(stream: &[u8], expected: Option<(usize, &[u8])>, out: &[u8], (found, parts): Read) {
    let Some((taken, content)) = expected else {
        let error = found.expect_err("zlib-rs refuses it");
        assert!(error.offset() <= stream.len() as u64);
        let flaw = parts.expect_err("it is refused whole");
        // In parts, more than there is room for may be seen before or after another flaw.
        let full = |flaw| flaw == InflateFlaw::Room;
        assert!(
            flaw == error.flaw() || full(flaw) || full(error.flaw()),
            "{flaw:?}, {error}"
        );
        return;
    };
    let produced = content.len();
    let found = found.expect("zlib-rs reads it");
    assert_eq!((found.consumed, found.produced), (taken, produced));
    assert!(out[..produced] == *content, "another content");
    let (at, read) = parts.expect("it is read whole");
    assert_eq!(at, taken, "another end in parts");
    assert!(read == content, "another content in parts");
}
