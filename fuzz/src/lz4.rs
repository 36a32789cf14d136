//! The target over LZ4 files: any bytes, and frames of liblz4 with a change, in any cut, against liblz4.

use std::io::{Read as _, Write as _};

use formats::lz4::{Lz4Decoder, Lz4Error, Lz4Flaw, MAGIC};
use lz4::liblz4::BlockChecksum;
use lz4::{BlockMode, BlockSize, ContentChecksum, Decoder, EncoderBuilder};

use crate::cuts;
use crate::plan::Plan;

/// The most content that is asked for.
const CONTENT_BYTES_MAX: usize = 1 << 20;
/// The flag of a content checksum, in the byte behind the magic number.
const CONTENT_SUM: u8 = 4;

/// A frame with some of the format's options, with a change.
fn frame(plan: &mut Plan<'_>) -> Vec<u8> {
    let (level, options) = (plan.below(13) as u32, plan.byte());
    let (at, bits) = (plan.size(1 << 12), plan.byte());
    let content = plan.rest();
    let option = |bit: u8| options >> bit & 1 == 1;
    let mut encoder = EncoderBuilder::new()
        .level(level)
        .block_size(match option(0) {
            true => BlockSize::Max64KB,
            false => BlockSize::Max4MB,
        })
        .block_mode(match option(1) {
            true => BlockMode::Linked,
            false => BlockMode::Independent,
        })
        .block_checksum(match option(2) {
            true => BlockChecksum::BlockChecksumEnabled,
            false => BlockChecksum::NoBlockChecksum,
        })
        .checksum(match option(3) {
            true => ContentChecksum::NoChecksum,
            false => ContentChecksum::ChecksumEnabled,
        })
        .content_size(if option(4) { content.len() as u64 } else { 0 })
        .auto_flush(option(5))
        .build(Vec::new())
        .expect("liblz4 has a context");
    for part in content.chunks(content.len().div_ceil(3).max(1)) {
        encoder.write_all(part).expect("memory takes it");
    }
    let (mut file, ended) = encoder.finish();
    ended.expect("it ends");
    let at = at % file.len();
    file[at] ^= bits;
    file
}

/// Reads a file in parts of these sizes. No content beyond the limit is asked for.
fn read(file: &[u8], sizes: (usize, usize)) -> Option<Result<(Vec<u8>, u64), Lz4Error>> {
    let mut decoder = Lz4Decoder::default();
    let content = cuts::read(file, sizes, CONTENT_BYTES_MAX, |part, room| {
        let step = decoder.push(part, room)?;
        // A call that fills its room may have more for the next one.
        Ok((step.consumed, step.produced, step.produced == room.len()))
    })?;
    Some(content.and_then(|content| {
        decoder.finish()?;
        Ok((content, decoder.frames()))
    }))
}

/// What liblz4 makes of the first frame of a file.
fn theirs(file: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = Decoder::new(file).ok()?;
    let mut content = Vec::new();
    decoder.read_to_end(&mut content).ok()?;
    decoder.finish().1.ok().map(|()| content)
}

/// Any cut of a file gives the same content or the same error; liblz4 reads a frame with a checksum to the same
/// content, and none that is refused here.
pub fn lz4_read(data: &[u8]) {
    let mut plan = Plan::new(data);
    let (kind, cut) = (plan.below(2), (plan.size(1 << 12), plan.size(1 << 12)));
    let file = match kind {
        0 => frame(&mut plan),
        _ => plan.rest().to_vec(),
    };
    let (Some(whole), Some(parts)) = (read(&file, (file.len(), 1 << 15)), read(&file, cut)) else {
        return;
    };
    assert_eq!(whole, parts, "another result in parts");
    // Without a checksum, a damaged block may be read in more than one way.
    let is_checked =
        file.starts_with(&MAGIC) && file.get(4).is_some_and(|flags| flags & CONTENT_SUM != 0);
    match whole {
        Ok((content, 1)) if is_checked => {
            assert!(theirs(&file) == Some(content), "another content");
        }
        Ok(_) => {}
        Err(error) => {
            assert!(error.offset() <= file.len() as u64, "{error}");
            // What follows the first frame is not asked of liblz4, and it does not miss a dictionary that no block
            // refers to.
            let may_differ = matches!(error.flaw(), Lz4Flaw::TrailingData | Lz4Flaw::Dictionary);
            if kind == 0 && is_checked && !may_differ {
                assert_eq!(theirs(&file), None, "liblz4 reads it: {error}");
            }
        }
    }
}
