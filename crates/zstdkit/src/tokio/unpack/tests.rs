//! What is found of streams before they are decoded.

use super::*;
use crate::options::EncoderOptions;

fn frame(content: &[u8], stated: bool) -> Vec<u8> {
    let options = EncoderOptions::default().with_content_size(stated);
    crate::compress(content, &options).unwrap()
}

/// A frame of blocks that are stored, without a stated size.
fn stored(blocks: usize, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
    for block in 0..blocks {
        let header = (bytes << 3 | usize::from(block + 1 == blocks)) as u32;
        frame.extend(&header.to_le_bytes()[..3]);
        frame.resize(frame.len() + bytes, 0);
    }
    frame
}

#[test]
fn room_is_reserved_for_what_the_blocks_can_have() {
    let zeros = vec![0; 48 << 20];
    for (stream, bytes) in [
        (frame(&zeros, true), zeros.len()),
        (frame(&zeros, false), zeros.len()),
        (
            [frame(&zeros, true), frame(b"more", true)].concat(),
            zeros.len() + 4,
        ),
        (stored(100, 1000), 100_000),
        (Vec::new(), 0),
    ] {
        let (bytes, reserved_bytes) = (Some(bytes), bytes);
        assert_eq!(
            survey(&stream),
            Survey {
                bytes,
                reserved_bytes
            }
        );
    }
}

#[test]
fn a_size_that_is_only_stated_reserves_nothing() {
    // 4 MiB are stated, and the only block is empty.
    let mut lie = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    lie.extend((4_u32 << 20).to_le_bytes());
    lie.extend([1, 0, 0]);
    assert_eq!(survey(&lie).reserved_bytes, 0);
    let mut blocks = lie[..9].to_vec();
    blocks.extend([0; 3].repeat(BLOCKS_MAX));
    assert_eq!(survey(&blocks).reserved_bytes, blocks.len() * TRUSTED_RATIO);
    let long = vec![0; 66 << 20];
    let stream = frame(&long, true);
    assert_eq!(survey(&stream).reserved_bytes as u64, TRUSTED_BYTES);
    let short = frame(&[7; 1000], true);
    assert_eq!(survey(&short[..short.len() - 1]), Survey::default());
}

#[test]
fn of_many_blocks_and_frames_some_are_examined() {
    // As much as this is found of those that come first.
    let stream = stored(100_000, 50);
    let found = survey(&stream);
    assert_eq!(found.bytes, None);
    assert!((4_500_000..5_500_000).contains(&found.reserved_bytes));
    let frames = frame(&[7; 1000], true).repeat(10 * FRAMES_MAX);
    let found = survey(&frames);
    assert_eq!(
        (found.bytes, found.reserved_bytes),
        (None, 1000 * 10 * FRAMES_MAX)
    );
    // Empty blocks without end.
    let found = survey(&stored(1_000_000, 0));
    assert_eq!(found, Survey::default());
}

#[test]
fn short_blocks_share_a_turn() {
    let blocks = 100_000;
    let stream = stored(blocks, 1);
    let runtime = ::tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let scheduler = Scheduler::with_defaults().unwrap();
    let mut polls = 0;
    let content = runtime.block_on(async {
        let options = DecoderOptions::default();
        let mut call = std::pin::pin!(scheduler.decompress(stream, &options));
        std::future::poll_fn(|context| {
            polls += 1;
            call.as_mut().poll(context)
        })
        .await
    });
    assert_eq!(content.unwrap(), vec![0; blocks]);
    assert!(polls < blocks / 10, "{polls}");
}
