//! The target over gzip files: any bytes, and members with changes, in any cut, against libdeflate.

use zipstream::deflate::Compressor;
use zipstream::gzip::{GzipDecoder, GzipError, GzipFlaw, GzipTotals};

use crate::cuts;
use crate::plan::Plan;

/// The most content that is asked for.
const CONTENT_BYTES_MAX: usize = 1 << 17;

/// A member whose header has the fields of some flags, with a change.
fn member(plan: &mut Plan<'_>) -> Vec<u8> {
    let (flags, level) = ((plan.below(16) as u8) << 1, plan.below(10) as i32);
    let (at, bits) = (plan.size(1 << 12), plan.byte());
    let mut out = vec![0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3];
    if flags & 4 != 0 {
        out.extend_from_slice(b"\x02\0ab");
    }
    (0..(flags & 8) / 8 + (flags & 16) / 16).for_each(|_| out.extend_from_slice(b"text\0"));
    if flags & 2 != 0 {
        let sum = crc32fast::hash(&out) as u16;
        out.extend_from_slice(&sum.to_le_bytes());
    }
    let content = plan.rest();
    Compressor::new(level).compress(content, 0, true, &mut out);
    out.extend_from_slice(&crc32fast::hash(content).to_le_bytes());
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    let at = at % out.len();
    out[at] ^= bits;
    out
}

/// Reads a file in parts of these sizes. No content beyond the limit is asked for.
fn read(file: &[u8], sizes: (usize, usize)) -> Option<Result<(Vec<u8>, GzipTotals), GzipError>> {
    let mut decoder = GzipDecoder::new();
    let content = cuts::read(file, sizes, CONTENT_BYTES_MAX, |part, room| {
        let step = decoder.read(part, room)?;
        Ok((step.consumed, step.produced, step.more_output))
    })?;
    Some(content.and_then(|content| Ok((content, decoder.finish()?))))
}

/// Any cut of a file gives the same content or the same error; libdeflate reads one member to the same content.
pub fn gzip_read(data: &[u8]) {
    let mut plan = Plan::new(data);
    let (kind, cut) = (plan.below(2), (plan.size(1 << 12), plan.size(1 << 12)));
    let file = match kind {
        0 => member(&mut plan),
        _ => plan.rest().to_vec(),
    };
    let (Some(whole), Some(parts)) = (read(&file, (file.len(), 1 << 15)), read(&file, cut)) else {
        return;
    };
    match (&whole, &parts) {
        // The item of a deflate stream that an error names may be another one in parts.
        (Err(whole), Err(parts)) => match (whole.flaw(), parts.flaw()) {
            (GzipFlaw::Deflate(whole), GzipFlaw::Deflate(parts)) => {
                assert_eq!(whole.flaw(), parts.flaw(), "another flaw in parts");
            }
            _ => assert_eq!(whole, parts, "another error in parts"),
        },
        _ => assert_eq!(whole, parts, "another result in parts"),
    }
    match whole {
        Ok((content, totals)) => {
            assert_eq!(totals.bytes_in, file.len() as u64);
            assert_eq!(totals.bytes_out, content.len() as u64);
            if totals.members == 1 {
                let mut out = vec![0; content.len()];
                let found = libdeflater::Decompressor::new().gzip_decompress(&file, &mut out);
                assert_eq!(found, Ok(content.len()), "libdeflate");
                assert!(out == content, "another content");
            }
        }
        Err(error) => assert!(error.offset() <= file.len() as u64, "{error}"),
    }
}
