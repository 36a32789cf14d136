//! Seek tables: exchanged with libzstd's own code for them, ranges compared with slices of the content,
//! and wrong tables.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::common::{frame, prose, skippable, xxh};
use proptest::prelude::*;
use std::ops::Range;
use std::time::Duration;
use zstd_safe::seekable::{Seekable, SeekableCStream};
use zstd_safe::{InBuffer, OutBuffer};
use zstdkit::parallel::SeekableEncoder;
use zstdkit::seekable::{FOOTER_BYTES, Footer, Indexer, RangeDecoder, SeekTable, SeekTableBuilder};
use zstdkit::{DecoderOptions, EncoderOptions, Error, ErrorKind, State};

/// How long a call may wait for threads.
const WAIT: Duration = Duration::from_millis(1);

/// A file of frames of these contents with a table.
fn file(contents: &[Vec<u8>], checksums: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut table = SeekTableBuilder::new(checksums);
    let options = EncoderOptions::default().with_checksum(false);
    for content in contents {
        let frame = frame(content, &options);
        table
            .push(frame.len() as u64, content.len() as u64, Some(xxh(content)))
            .unwrap();
        file.extend(frame);
    }
    file.extend(table.finish());
    file
}

fn seekable(content: &[u8], frame_bytes: usize, threads: usize) -> Vec<u8> {
    let mut encoder =
        SeekableEncoder::new(&EncoderOptions::default(), frame_bytes, threads).unwrap();
    let mut file = Vec::new();
    for mut piece in content.chunks(70_001) {
        while !piece.is_empty() {
            let step = encoder.push(piece, WAIT).unwrap();
            piece = &piece[step.consumed..];
            file.extend_from_slice(step.output.as_deref().unwrap_or_default());
        }
    }
    loop {
        let step = encoder.end(WAIT).unwrap();
        file.extend_from_slice(step.output.as_deref().unwrap_or_default());
        if step.state == State::Done {
            break;
        }
    }
    let after = encoder.end(WAIT).unwrap();
    assert!(after.state == State::Done && after.output.is_none());
    file
}

/// Reads a range of a file in pieces of `cut` into rooms of `room`.
fn read(
    file: &[u8],
    table: &SeekTable,
    range: Range<u64>,
    cut: usize,
    room: usize,
) -> Result<Vec<u8>, Error> {
    let mut decoder = RangeDecoder::new(table, range, &DecoderOptions::default())?;
    let mut room = vec![0; room.max(1)];
    let mut content = Vec::new();
    for piece in file[decoder.start() as usize..].chunks(cut.max(1)) {
        let mut input = piece;
        loop {
            let step = decoder.push(input, &mut room)?;
            input = &input[step.consumed..];
            content.extend_from_slice(&room[..step.produced]);
            match step.state {
                State::Done => return Ok(content),
                State::NeedInput => break,
                State::MoreOutput => {}
            }
        }
    }
    decoder.finish()?;
    Ok(content)
}

#[test]
fn what_we_write_libzstd_seeks_in() {
    let content = prose(1, 700_000);
    let file = seekable(&content, 100_000, 2);
    let mut seekable = Seekable::create();
    seekable.init_buff(&file).unwrap();
    assert_eq!(seekable.num_frames(), 7);
    for range in [0..10, 99_990..100_010, 250_000..610_000, 699_999..700_000] {
        let mut room = vec![0; range.len()];
        let count = seekable
            .decompress(&mut room[..], range.start as u64)
            .unwrap();
        assert_eq!(room[..count], content[range]);
    }
}

#[test]
fn what_libzstd_writes_we_seek_in() {
    let content = prose(2, 300_000);
    for checksums in [false, true] {
        let mut stream = SeekableCStream::create();
        stream.init(3, checksums, 50_000).unwrap();
        let mut file = vec![0; 400_000];
        let mut output = OutBuffer::around(&mut file[..]);
        let mut input = InBuffer::around(&content);
        while input.pos() < content.len() {
            stream.compress_stream(&mut output, &mut input).unwrap();
        }
        while stream.end_stream(&mut output).unwrap() > 0 {}
        let length = output.pos();
        file.truncate(length);

        let table = SeekTable::find(&file).unwrap().unwrap();
        // It ends with a frame without content.
        assert_eq!((table.len(), table.has_checksums()), (7, checksums));
        assert_eq!(table.content_bytes(), 300_000);
        if checksums {
            let sums: Vec<_> = table.iter().filter_map(|frame| frame.checksum).collect();
            let parts = content.chunks(50_000).chain([&[][..]]);
            assert_eq!(sums, parts.map(xxh).collect::<Vec<_>>());
        }
        let found = read(&file, &table, 49_999..200_001, 5000, 1 << 17).unwrap();
        assert_eq!(found, content[49_999..200_001]);
    }
}

#[test]
fn the_number_of_threads_does_not_show_in_the_file() {
    let content = prose(3, 500_000);
    let one = seekable(&content, 30_000, 1);
    for threads in [2, 3, 8] {
        assert_eq!(seekable(&content, 30_000, threads), one);
    }
    let table = SeekTable::find(&one).unwrap().unwrap();
    assert_eq!(table.len(), 17);
    for (frame, part) in table.iter().zip(content.chunks(30_000)) {
        assert_eq!(frame.checksum, Some(xxh(part)));
    }
}

#[test]
fn no_content_is_one_frame() {
    let file = seekable(b"", 2048, 2);
    let table = SeekTable::find(&file).unwrap().unwrap();
    assert_eq!((table.len(), table.content_bytes()), (1, 0));
    assert_eq!(read(&file, &table, 0..10, 100, 100), Ok(Vec::new()));
    assert_eq!(table.frames_for(0..u64::MAX), 1..1);
    assert_eq!(
        zstdkit::decompress(&file, &DecoderOptions::default()),
        Ok(Vec::new())
    );
}

#[test]
fn frames_for_a_range_are_those_that_hold_it() {
    let contents = [10, 0, 20, 0, 0, 5, 0].map(|bytes| vec![7; bytes]);
    let file = file(&contents, false);
    let table = SeekTable::find(&file).unwrap().unwrap();
    for (range, frames) in [
        (0..1, 0..1),
        (0..10, 0..1),
        (0..11, 0..3),
        (10..11, 2..3),
        (29..31, 2..6),
        (30..99, 5..6),
        (35..99, 7..7),
        (3..3, 0..0),
    ] {
        assert_eq!(table.frames_for(range.clone()), frames, "{range:?}");
    }
    let all = read(&file, &table, 0..99, 3, 2).unwrap();
    assert_eq!(all, vec![7; 35]);
    assert_eq!(table.frame(2).unwrap().content, 10..30);
    assert_eq!(table.frame(7), None);
}

#[test]
fn an_index_of_a_file_without_a_table_serves_ranges() {
    let contents = [prose(4, 1000), prose(5, 200_000), prose(6, 30)];
    let unsized_ = EncoderOptions::default().with_content_size(false);
    for (last, open) in [(EncoderOptions::default(), false), (unsized_, true)] {
        let mut stream = Vec::new();
        for (content, options) in contents.iter().zip([&Default::default(), &last, &last]) {
            stream.extend(frame(content, options));
            stream.extend(skippable(3, b"between"));
        }
        let mut indexer = Indexer::default();
        for found in zstdkit::frame::frames(&stream) {
            if !indexer.push(&found.unwrap()) {
                break;
            }
        }
        let table = indexer.finish();
        assert_eq!(table.is_open(), open);
        let content = contents.concat();
        for range in [0..5, 990..1010, 1000..201_000, 200_990..201_030, 0..999_999] {
            let end = range.end.min(content.len());
            let found = read(
                &stream,
                &table,
                range.start as u64..range.end as u64,
                777,
                999,
            );
            assert_eq!(
                found.as_deref(),
                Ok(&content[range.start..end]),
                "{range:?}"
            );
        }
    }
}

/// The table at the end of a file with a change to it, and the error it gives.
fn refused(change: impl FnOnce(&mut Vec<u8>, usize)) -> (ErrorKind, String, u64) {
    let mut file = file(&[prose(7, 500), prose(8, 600)], true);
    let footer = Footer::parse(&file, file.len() as u64).unwrap().unwrap();
    let start = footer.table_offset() as usize;
    change(&mut file, start);
    let error = SeekTable::find(&file).unwrap_err();
    let offset = error.offset().unwrap();
    assert!(offset <= file.len() as u64);
    assert!(error.help().is_some());
    (error.kind(), error.to_string(), offset - start as u64)
}

/// A change to a file whose table begins at this byte.
type Change = fn(&mut Vec<u8>, usize);

#[test]
fn tables_that_cannot_be_right_are_refused_with_the_byte() {
    let cases: [(Change, &str, u64); 9] = [
        (|f, at| f[at] ^= 1, "does not begin where", 0),
        (|f, at| f[at + 4] += 1, "wrong size", 4),
        (|f, at| f[at + 8] += 1, "reaches into the table", 8 + 12),
        (|f, at| f[at + 8] -= 1, "stated", 0),
        (|f, at| f[at + 11] = 0xff, "reaches into the table", 8),
        (|f, at| f[at + 8..at + 12].fill(0), "shorter than", 8),
        (|f, at| f[at + 15] = 0xff, "more content", 12),
        (|f, at| f[at + 36] = 4, "a reserved bit", 36),
        (|f, at| f[at + 35] = 1, "more frames than", 32),
    ];
    for (change, text, place) in cases {
        let (kind, message, at) = refused(change);
        assert_eq!((kind, at), (ErrorKind::SeekTable, place), "{message}");
        assert!(message.contains(text), "{message}");
    }
    let (_, message, _) = refused(|file, at| file[at + 35] = 0xff);
    assert!(message.contains("too many frames"), "{message}");
    // Two concatenated seekable files: the table of the second does not include the first.
    let (_, message, _) = refused(|file, _| file.extend(self::file(&[prose(9, 40)], false)));
    assert!(message.contains("bytes of frames"), "{message}");
}

#[test]
fn tables_that_the_frames_do_not_bear_out_are_found_out() {
    let contents = [prose(10, 500), prose(11, 600), prose(12, 700)];
    let good = file(&contents, true);
    let start = Footer::parse(&good, good.len() as u64)
        .unwrap()
        .unwrap()
        .table_offset() as usize;
    // (change, what is read, the error)
    let whole = 0..1800;
    let change = |change: &dyn Fn(&mut [u8]), range: Range<u64>| {
        let mut file = good.clone();
        change(&mut file[start + 8..]);
        let table = SeekTable::find(&file).unwrap().unwrap();
        read(&file, &table, range, 100, 100).unwrap_err()
    };
    // A content size: 500 becomes 501.
    let error = change(&|table| table[4] += 1, whole.clone());
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::SeekTable, Some(0))
    );
    // The border between two frames, one byte on.
    let error = change(
        &|table| {
            table[0] += 1;
            table[12] -= 1
        },
        whole.clone(),
    );
    assert_eq!(
        (error.kind(), error.offset()),
        (ErrorKind::SeekTable, Some(0))
    );
    let error = change(
        &|table| {
            table[0] += 1;
            table[12] -= 1
        },
        550..560,
    );
    assert_eq!(error.kind(), ErrorKind::SeekTable);
    assert!(error.to_string().contains("no frame begins"), "{error}");
    // A checksum.
    let error = change(&|table| table[12 + 8] ^= 1, whole);
    assert_eq!(error.kind(), ErrorKind::Checksum);
    assert_eq!(error.offset(), Some(start as u64 + 8 + 12 + 8));
    // Other frames are not affected.
    let table = SeekTable::find(&good).unwrap().unwrap();
    assert_eq!(read(&good, &table, 0..500, 9, 9).unwrap(), contents[0]);
    // The file was truncated after the table was read.
    let cut = read(&good[..start - 3], &table, 1700..1800, 100, 100).unwrap_err();
    assert_eq!(cut.kind(), ErrorKind::Truncated);
}

#[test]
fn a_file_without_a_table_has_none() {
    assert_eq!(SeekTable::find(b""), Ok(None));
    assert_eq!(
        SeekTable::find(&frame(b"content", &Default::default())),
        Ok(None)
    );
    let full = file(&[prose(1, 100)], false);
    for length in 0..full.len() {
        assert_eq!(
            SeekTable::find(&full[..length]),
            Ok(None),
            "cut at {length}"
        );
    }
    // The footer alone, in a file of its own length.
    let tail = &full[full.len() - FOOTER_BYTES..];
    assert_eq!(
        SeekTable::find(tail).unwrap_err().kind(),
        ErrorKind::SeekTable
    );
}

proptest! {
    #[test]
    fn a_range_is_a_slice_of_the_content(
        sizes in prop::collection::vec(prop_oneof![Just(0), 1..50_usize, 1000..200_000_usize], 0..8),
        from in 0.0..1.1_f64,
        length in 0.0..1.1_f64,
        cut in 1..100_000_usize,
        room in 1..200_000_usize,
        checksums in any::<bool>(),
    ) {
        let contents: Vec<_> = sizes.iter().map(|&size| prose(size as u64, size)).collect();
        let file = file(&contents, checksums);
        let content = contents.concat();
        let table = SeekTable::find(&file).unwrap().unwrap();
        prop_assert_eq!(table.content_bytes(), content.len() as u64);
        let start = (content.len() as f64 * from) as usize;
        let end = start + (content.len() as f64 * length) as usize;
        let found = read(&file, &table, start as u64..end as u64, cut, room).unwrap();
        let end = end.min(content.len());
        prop_assert!(found == content[start.min(end)..end], "another range was read");
    }

    #[test]
    fn hostile_tables_are_refused_or_served(
        flips in prop::collection::vec((0..60_usize, any::<u8>()), 0..4),
        cut in 0..70_usize,
    ) {
        let mut file = file(&[prose(1, 300), prose(2, 40_000)], true);
        let length = file.len();
        for (back, byte) in flips {
            file[length - 1 - back] = byte;
        }
        file.truncate(length - cut);
        if let Ok(Some(table)) = SeekTable::find(&file) {
            prop_assert!(table.stored_bytes() <= file.len() as u64);
            prop_assert!(table.memory_bytes() <= 3 * file.len() + 64);
            let _ = read(&file, &table, 100..10_000, 500, 500);
        }
    }
}
