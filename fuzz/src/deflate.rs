//! The target over zipstream's deflate: contents made by a plan, in any parts, read by libdeflate.

use zipstream::deflate::Compressor;

use crate::plan::Plan;

/// The most content of one input.
const CONTENT_BYTES_MAX: usize = 1 << 18;

/// Content of literals, copies of what came before and noise.
fn content(plan: &mut Plan<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    while !plan.is_empty() && out.len() < CONTENT_BYTES_MAX {
        match plan.below(4) {
            0 | 1 => {
                let count = plan.below(64);
                out.extend_from_slice(plan.take(count));
            }
            2 if !out.is_empty() => {
                let distance = plan.size(out.len());
                let end = (out.len() + plan.size(100_000)).min(CONTENT_BYTES_MAX);
                while out.len() < end {
                    out.push(out[out.len() - distance]);
                }
            }
            _ => {
                let mut state = u32::from(plan.byte()) | 1;
                for _ in 0..plan.size(20_000) {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    out.push((state >> 24) as u8);
                }
            }
        }
    }
    out
}

/// What is compressed in parts is one stream that libdeflate reads, within the bound, and each part
/// becomes what a new compressor makes of it.
pub fn deflate_roundtrip(data: &[u8]) {
    let mut plan = Plan::new(data);
    let level = plan.below(11) as i32;
    let cuts = [plan.size(1 << 18), plan.size(1 << 18)];
    let content = content(&mut plan);
    let mut compressor = Compressor::new(level);
    let mut stream = Vec::new();
    let mut at = 0;
    for turn in 0.. {
        let end = (at + cuts[turn % 2].max(256)).min(content.len());
        let last = end == content.len();
        let before = stream.len();
        compressor.compress(&content[..end], at, last, &mut stream);
        let part = &stream[before..];
        assert!(part.len() as u64 <= Compressor::bound((end - at) as u64));
        let mut anew = Vec::new();
        Compressor::new(level).compress(&content[..end], at, last, &mut anew);
        assert!(part == anew, "a part depends on what was compressed before");
        at = end;
        if last {
            break;
        }
    }
    let mut out = vec![0; content.len()];
    let read = libdeflater::Decompressor::new().deflate_decompress(&stream, &mut out);
    assert_eq!(read, Ok(content.len()));
    assert!(out == content, "another content at level {level}");
}
