//! Frames of liblz4, whole and changed, next to what liblz4 itself reads.

use std::io::{Read as _, Write as _};

use lz4::liblz4::BlockChecksum;
use lz4::{BlockMode, BlockSize, ContentChecksum, EncoderBuilder};

use super::*;

/// SplitMix64, so that each run has the same cases.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((mixed ^ (mixed >> 27)) >> 8) as usize % below
    }
}

/// A frame with settings that are drawn; whether the content has a checksum.
fn frame(random: &mut Random) -> (Vec<u8>, bool) {
    let bytes = [0, 1, 13, 500, 70_000, 200_000][random.below(6)];
    let content: Vec<u8> = (0..bytes)
        .map(|at| match at % 97 < 60 {
            true => b"lorem ipsum dolor "[at % 18],
            false => random.below(256) as u8,
        })
        .collect();
    let sum = random.below(4) > 0;
    let mut encoder = EncoderBuilder::new()
        .level([1, 4, 9][random.below(3)])
        .block_size(BlockSize::Max64KB)
        .block_mode([BlockMode::Linked, BlockMode::Independent][random.below(2)].clone())
        .block_checksum(match random.below(2) {
            0 => BlockChecksum::NoBlockChecksum,
            _ => BlockChecksum::BlockChecksumEnabled,
        })
        .checksum(match sum {
            true => ContentChecksum::ChecksumEnabled,
            false => ContentChecksum::NoChecksum,
        })
        .content_size(if random.below(2) == 0 {
            0
        } else {
            bytes as u64
        })
        .build(Vec::new())
        .expect("an encoder");
    encoder.write_all(&content).expect("written");
    (encoder.finish().0, sum)
}

/// What is read in parts of this size.
fn read(file: &[u8], part: usize) -> Result<Vec<u8>, Lz4Error> {
    let mut decoder = Lz4Decoder::default();
    let (mut content, mut room) = (Vec::new(), vec![0; 1 << 15]);
    for mut rest in file.chunks(part.max(1)) {
        loop {
            let did = decoder.push(rest, &mut room)?;
            content.extend_from_slice(&room[..did.produced]);
            rest = &rest[did.consumed..];
            if rest.is_empty() && did.produced < room.len() {
                break;
            }
        }
    }
    decoder.finish().map(|()| content)
}

/// What lz4's own library reads.
fn theirs(file: &[u8]) -> Option<Vec<u8>> {
    let mut decoder = lz4::Decoder::new(file).ok()?;
    let mut content = Vec::new();
    decoder.read_to_end(&mut content).ok()?;
    decoder.finish().1.ok().map(|()| content)
}

#[test]
fn changed_frames_are_judged_as_lz4_judges_them_in_any_cut() {
    let mut random = Random(4);
    let (mut read_count, mut refused) = (0, 0);
    for _ in 0..1500 {
        let (mut file, sum) = frame(&mut random);
        match random.below(4) {
            0 => {}
            1 => file.truncate(random.below(file.len())),
            // The header, where most is decided, or anywhere.
            2 => {
                let at = random.below(file.len().min(20));
                file[at] ^= 1 << random.below(8);
            }
            _ => {
                let at = random.below(file.len());
                file[at] = random.below(256) as u8;
            }
        }
        let whole = read(&file, file.len());
        for part in [1 + random.below(40), 1 + random.below(70_000)] {
            assert_eq!(read(&file, part).is_ok(), whole.is_ok());
            assert!(read(&file, part).ok() == whole.clone().ok());
        }
        match &whole {
            Ok(content) => {
                read_count += 1;
                // Without a checksum, a changed block may be read in more than one way.
                assert!(!sum || theirs(&file).as_ref() == Some(content));
            }
            Err(error) => {
                refused += 1;
                assert!(error.offset() <= file.len() as u64, "{error}");
                let may_differ =
                    !sum || matches!(error.flaw(), Lz4Flaw::TrailingData | Lz4Flaw::Dictionary);
                assert!(may_differ || theirs(&file).is_none(), "{error}");
            }
        }
    }
    assert!(read_count > 300 && refused > 600, "{read_count} {refused}");
}

#[test]
fn a_small_block_takes_the_time_of_a_small_block() {
    // A frame of blocks up to 4 MiB and one of the legacy format, each of 100,000 blocks with one letter or none.
    let independent = b"\x04\x22\x4d\x18\x60\x70\x73";
    let linked = b"\x04\x22\x4d\x18\x40\x70\xdf";
    for (header, content) in [(&independent[..], "a"), (linked, "a"), (linked, "")] {
        let block = match content {
            "" => b"\x01\0\0\0\0".to_vec(),
            _ => [b"\x02\0\0\0\x10", content.as_bytes()].concat(),
        };
        let file = [header, &block.repeat(100_000), &[0; 4]].concat();
        let read = read(&file, file.len()).expect("read");
        assert_eq!(read.len(), 100_000 * content.len());
    }
    let file = [&LEGACY_MAGIC[..], &b"\x02\0\0\0\x10a".repeat(100_000)].concat();
    assert_eq!(read(&file, file.len()).expect("read").len(), 100_000);
}
