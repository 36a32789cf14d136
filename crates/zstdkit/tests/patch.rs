//! Patches of segments: what is applied is the newer file, whatever the cuts and sizes; hostile patches and other
//! older files are typed errors; each segment is a frame that any decoder reads with its prefix.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Error as IoError};
use std::ops::Range;

use proptest::prelude::*;
use zstdkit::patch::{
    self, PatchDecoder, PatchEncoder, PatchOptions, PatchState, Patcher, SegmentHeader,
};
use zstdkit::{DecoderOptions, Error, ErrorKind};

use crate::common;

/// Bytes that do not compress.
fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

/// An older file with content of several kinds.
fn older_file(seed: u64, bytes: usize) -> Vec<u8> {
    let part = bytes / 4;
    let mut older = noise(seed, part);
    older.extend(common::prose(seed, part));
    older.extend(vec![0; part / 2]);
    older.extend(noise(seed + 1, bytes - older.len()));
    older
}

/// What happens to a file from one version to the next.
#[derive(Debug, Clone)]
enum Edit {
    Insert(usize, u64, usize),
    Delete(usize, usize),
    Move(usize, usize, usize),
    Change(usize, u8),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let place = 0_usize..1_000_000;
    let one = prop_oneof![
        (place.clone(), any::<u64>(), 1_usize..20_000).prop_map(|(a, b, c)| Edit::Insert(a, b, c)),
        (place.clone(), 1_usize..20_000).prop_map(|(a, b)| Edit::Delete(a, b)),
        (place.clone(), place.clone(), 1_usize..50_000).prop_map(|(a, b, c)| Edit::Move(a, b, c)),
        (place, 1_u8..=255).prop_map(|(a, b)| Edit::Change(a, b)),
    ];
    prop::collection::vec(one, 0..12)
}

fn edited(older: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut newer = older.to_vec();
    for edit in edits {
        let len = newer.len();
        let part = |start: usize, count: usize| {
            let start = start % (len + 1);
            start..len.min(start + count)
        };
        match *edit {
            Edit::Insert(at, seed, count) => {
                let at = at % (len + 1);
                newer.splice(at..at, noise(seed, count));
            }
            Edit::Delete(at, count) => drop(newer.drain(part(at, count))),
            Edit::Move(from, to, count) => {
                let moved: Vec<_> = newer.drain(part(from, count)).collect();
                let to = to % (newer.len() + 1);
                newer.splice(to..to, moved);
            }
            Edit::Change(at, by) => {
                if len > 0 {
                    newer[at % len] ^= by;
                }
            }
        }
    }
    newer
}

/// Passes all input through, in these cuts.
fn drive(
    side: &mut impl Patcher,
    older: &[u8],
    input: &[u8],
    cuts: &[usize],
    room: usize,
) -> Result<Vec<u8>, Error> {
    let (mut output, mut buffer) = (Vec::new(), vec![0; room.max(1)]);
    let mut cuts = common::cycle(cuts);
    let (mut rest, mut piece) = (input, &input[..0]);
    loop {
        let step = side.step(piece, &mut buffer, rest.is_empty() && piece.is_empty())?;
        piece = &piece[step.consumed..];
        output.extend_from_slice(&buffer[..step.produced]);
        match step.state {
            PatchState::NeedOlder => {
                while let Some(range) = side.wanted() {
                    let cut = cuts.next().unwrap() as u64;
                    let end = range.end.min(range.start + cut);
                    let taken = side.older(&older[range.start as usize..end as usize]);
                    assert!(taken > 0);
                }
            }
            PatchState::MoreOutput => {}
            PatchState::Done | PatchState::NeedInput => {
                assert!(piece.is_empty());
                if rest.is_empty() {
                    if step.state == PatchState::Done || step.produced + step.consumed == 0 {
                        return Ok(output);
                    }
                    continue;
                }
                (piece, rest) = rest.split_at(cuts.next().unwrap().min(rest.len()));
            }
        }
    }
}

fn make(older: &[u8], newer: &[u8], options: &PatchOptions) -> Vec<u8> {
    let mut made = Vec::new();
    patch::create(&mut Cursor::new(older), &mut &newer[..], &mut made, options).unwrap();
    made
}

fn apply(older: &[u8], patch: &[u8]) -> Result<Vec<u8>, IoError> {
    let mut newer = Vec::new();
    let options = DecoderOptions::default();
    patch::apply(
        &mut Cursor::new(older),
        &mut &patch[..],
        &mut newer,
        &options,
    )?;
    Ok(newer)
}

fn kind(error: IoError) -> ErrorKind {
    error.downcast::<Error>().unwrap().kind()
}

/// The headers of a patch, each with its frame.
fn segments(patch: &[u8]) -> Vec<(SegmentHeader, &[u8])> {
    let (mut found, mut offset) = (Vec::new(), 0);
    while offset < patch.len() {
        let (header, length) = SegmentHeader::parse(&patch[offset..], offset as u64).unwrap();
        offset += length;
        let frame = zstdkit::frame::frames(&patch[offset..])
            .next()
            .unwrap()
            .unwrap();
        let end = offset + frame.compressed_bytes as usize;
        found.push((header, &patch[offset..end]));
        offset = end;
    }
    found
}

/// The ranges of the older file, one after the other.
fn prefix(older: &[u8], header: &SegmentHeader) -> Vec<u8> {
    let part = |range: &Range<u64>| &older[range.start as usize..range.end as usize];
    header.ranges.iter().flat_map(part).copied().collect()
}

proptest! {
    #[test]
    fn what_is_applied_is_the_newer_file(
        seed in any::<u32>(),
        older_bytes in prop_oneof![0_usize..3000, 50_000_usize..400_000],
        edits in edits(),
        segment in prop_oneof![1024_u64..20_000, 20_000_u64..500_000],
        prefix_max in prop::option::of(0_u64..100_000),
        cuts in prop::collection::vec(prop_oneof![500_usize..5000, 100_000_usize..500_000], 1..4),
        room in prop_oneof![300_usize..1000, Just(200_000)],
    ) {
        let older = older_file(seed.into(), older_bytes);
        let newer = edited(&older, &edits);
        let options = PatchOptions::default()
            .with_segment_bytes(segment)
            .with_prefix_bytes_max(prefix_max);
        let mut encoder = PatchEncoder::new(&options, older.len() as u64).unwrap();
        let made = drive(&mut encoder, &older, &newer, &cuts, room).unwrap();
        prop_assert_eq!(encoder.content_bytes(), newer.len() as u64);
        prop_assert!(made == make(&older, &newer, &options), "the cut changed the patch");
        let mut decoder = PatchDecoder::new(&DecoderOptions::default(), older.len() as u64).unwrap();
        let back = drive(&mut decoder, &older, &made, &cuts, room).unwrap();
        prop_assert!(back == newer);
        let totals = decoder.finish().unwrap();
        prop_assert_eq!(totals.bytes_in, made.len() as u64);
        prop_assert_eq!(totals.frames, (newer.len() as u64).div_ceil(segment).max(1));
        let most = prefix_max.unwrap_or(segment + segment / 4);
        prop_assert!(segments(&made).iter().all(|(header, _)| header.prefix_bytes() <= most));
    }

    #[test]
    fn a_damaged_patch_is_never_applied(
        edits in edits(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..=255), 1..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let older = older_file(3, 60_000);
        let newer = edited(&older, &edits);
        let options = PatchOptions::default().with_segment_bytes(16_000);
        let mut patch = make(&older, &newer, &options);
        let whole = patch.clone();
        for (at, by) in flips {
            let at = at.index(patch.len());
            patch[at] ^= by;
        }
        if let Some(cut) = cut {
            patch.truncate(cut.index(patch.len()));
        }
        match apply(&older, &patch) {
            Ok(back) => prop_assert!(back == newer, "{}", patch == whole),
            Err(error) => {
                let error = error.downcast::<Error>().unwrap();
                prop_assert!(error.offset().is_none_or(|at| at <= patch.len() as u64));
                prop_assert!(error.kind() != ErrorKind::Internal, "{error}");
            }
        }
    }
}

#[test]
fn a_patch_has_what_is_new_and_little_else() {
    let older = older_file(5, 8 << 20);
    let mut newer = older.clone();
    newer.splice(3_000_000..3_000_000, noise(99, 50_000));
    newer.drain(5_000_000..5_200_000);
    let moved: Vec<_> = newer.drain(100_000..1_100_000).collect();
    newer.splice(6_000_000..6_000_000, moved);
    for at in (0..newer.len()).step_by(400_000) {
        newer[at] ^= 1;
    }
    // The older file is eight times as large as the prefix of a segment.
    let options = PatchOptions::default()
        .with_segment_bytes(1 << 20)
        .with_prefix_bytes_max(5 << 18);
    let made = make(&older, &newer, &options);
    assert!(
        made.len() < 60_000,
        "{} bytes for 50,000 new ones",
        made.len()
    );
    assert!(apply(&older, &made).unwrap() == newer);
    let plain = zstdkit::compress(&newer, &Default::default()).unwrap();
    assert!(plain.len() > 3_000_000);
}

#[test]
fn every_segment_is_a_frame_with_a_prefix() {
    let older = older_file(7, 300_000);
    let newer = edited(
        &older,
        &[Edit::Move(0, 200_000, 50_000), Edit::Insert(9, 9, 9)],
    );
    let options = PatchOptions::default()
        .with_segment_bytes(64 << 10)
        .with_prefix_bytes_max(100_000);
    let made = make(&older, &newer, &options);
    let segments = segments(&made);
    assert_eq!(segments.len(), 5);
    for (header, frame) in segments {
        let options = match header.ranges.is_empty() {
            true => DecoderOptions::default(),
            false => DecoderOptions::default().for_patch(prefix(&older, &header)),
        };
        let part = &newer[header.content_start as usize..][..header.content_bytes as usize];
        assert!(zstdkit::decompress(frame, &options).unwrap() == part);
    }
}

#[test]
fn another_older_file_is_refused() {
    let older = older_file(11, 200_000);
    let newer = edited(&older, &[Edit::Insert(1000, 1, 100)]);
    let made = make(
        &older,
        &newer,
        &PatchOptions::default().with_segment_bytes(50_000),
    );
    let longer = [&older[..], b"!"].concat();
    for other in [&longer, &older[1..].to_vec(), &Vec::new()] {
        let error = apply(other, &made).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the patch was made from one of 200000 bytes")
        );
        assert_eq!(kind(error), ErrorKind::OlderFile);
    }
    let mut changed = older.clone();
    changed[10] ^= 1;
    let error = apply(&changed, &made).unwrap_err();
    assert!(error.to_string().contains("XXH64"), "{error}");
    assert_eq!(kind(error), ErrorKind::OlderFile);
}

#[test]
fn segments_in_another_order_or_number_are_refused() {
    let older = older_file(13, 100_000);
    let newer = edited(&older, &[Edit::Insert(50_000, 1, 1000)]);
    let made = make(
        &older,
        &newer,
        &PatchOptions::default().with_segment_bytes(30_000),
    );
    let segments = segments(&made);
    let bytes =
        |header: &SegmentHeader, frame: &[u8]| [&header.to_bytes().unwrap()[..], frame].concat();
    let parts: Vec<_> = segments
        .iter()
        .map(|(header, frame)| bytes(header, frame))
        .collect();
    assert!(parts.concat() == made);
    let refused = |parts: &[&[u8]]| kind(apply(&older, &parts.concat()).unwrap_err());
    assert_eq!(refused(&[&parts[1], &parts[0]]), ErrorKind::Patch);
    assert_eq!(
        refused(&[&parts[0], &parts[2], &parts[3]]),
        ErrorKind::Patch
    );
    assert_eq!(refused(&[&parts[0], &parts[1]]), ErrorKind::Truncated);
    assert_eq!(refused(&[&made, &parts[0]]), ErrorKind::TrailingData);
    assert_eq!(refused(&[&made, b"x"]), ErrorKind::TrailingData);
    assert_eq!(refused(&[]), ErrorKind::NoFrame);
    assert_eq!(refused(&[segments[0].1]), ErrorKind::Patch);
    // A header without its frame, with that of another segment, and with another size.
    let head = |at: usize| segments[at].0.to_bytes().unwrap();
    assert_eq!(refused(&[&head(0)]), ErrorKind::Truncated);
    assert_eq!(refused(&[&head(0), &parts[1]]), ErrorKind::Patch);
    let mut sized = segments[0].0.clone();
    sized.content_bytes -= 1;
    assert_eq!(
        refused(&[&bytes(&sized, segments[0].1)]),
        ErrorKind::ContentSize
    );
    sized.content_bytes += 2;
    assert_eq!(
        refused(&[&bytes(&sized, segments[0].1)]),
        ErrorKind::ContentSize
    );
}

#[test]
fn limits_of_the_reader_hold() {
    let older = older_file(17, 100_000);
    let made = make(
        &older,
        &older,
        &PatchOptions::default().with_segment_bytes(30_000),
    );
    let read = |options: &DecoderOptions| {
        let mut newer = Vec::new();
        patch::apply(
            &mut Cursor::new(&older),
            &mut &made[..],
            &mut newer,
            options,
        )
    };
    let short = DecoderOptions::default().with_output_limit(99_999);
    assert_eq!(kind(read(&short).unwrap_err()), ErrorKind::OutputLimit);
    let narrow = DecoderOptions::default().with_window_limit(20_000);
    assert_eq!(kind(read(&narrow).unwrap_err()), ErrorKind::WindowLimit);
    let enough = DecoderOptions::default().with_output_limit(100_000);
    assert_eq!(read(&enough).unwrap().checksums_verified, 4);
}
