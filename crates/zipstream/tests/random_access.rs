//! Ranges of deflate streams by an index: against zlib's streams at every boundary, and hostile indexes.

use std::ops::Range;

use proptest::prelude::*;
use zipstream::deflate::Compressor;
use zipstream::{
    ArchiveReader, ArchiveWriter, Crc32, DeflateIndex, EntryOptions, Error, ErrorKind,
    IndexBuilder, IndexedReader, Limits, Method, Profile, ReadAt, ReadOptions, Scratch,
};
use zlib_rs::{Deflate, DeflateFlush};

use crate::data::{noise, words};

const SPACING: u64 = 4 << 10;
const WINDOW: u64 = 32 << 10;

/// What zlib makes of a content.
fn zlib(content: &[u8], level: i32) -> Vec<u8> {
    let mut deflate = Deflate::new(level, false, 15);
    let mut stream = vec![0; content.len() + content.len() / 8 + 100];
    let done = deflate.compress(content, &mut stream, DeflateFlush::Finish);
    done.expect("there is room");
    stream.truncate(deflate.total_out() as usize);
    stream
}

/// The index of a stream that comes in parts of `cut` bytes.
fn index_of(stream: &[u8], spacing: u64, cut: usize) -> Result<(DeflateIndex, Vec<u8>), Error> {
    let mut builder = IndexBuilder::new(spacing);
    let (mut at, mut content) = (0, Vec::new());
    while !builder.is_done() {
        let part = &stream[at..stream.len().min(at + cut)];
        let piece = builder.push(part)?;
        at += piece.consumed;
        content.extend_from_slice(piece.content);
        if piece.consumed == 0 && piece.content.is_empty() && !piece.done && at == stream.len() {
            break;
        }
    }
    assert_eq!(builder.content_bytes(), content.len() as u64);
    Ok((builder.finish(0)?, content))
}

fn range_of<R: ReadAt, S: ReadAt>(
    reader: &IndexedReader<'_, R, S>,
    range: Range<u64>,
) -> Result<Vec<u8>, Error> {
    let mut found = Vec::new();
    let bytes = reader.read_range(range, &mut |piece: &[u8]| {
        found.extend_from_slice(piece);
        Ok::<_, Error>(())
    })?;
    assert_eq!(bytes, found.len() as u64);
    Ok(found)
}

/// The bytes of a content that are in a range.
fn slice(content: &[u8], range: &Range<u64>) -> Vec<u8> {
    let end = range.end.min(content.len() as u64) as usize;
    content[(range.start as usize).min(end)..end].to_vec()
}

/// Contents of every kind: text, noise (stored blocks), a run, and a mixture.
fn contents() -> Vec<Vec<u8>> {
    let text = words(1, 3000, 600_000);
    let random = noise(2, 200_000);
    let mixed = [
        &text[..150_000],
        &random[..90_000],
        &[7; 100_000],
        &text[..1],
    ]
    .concat();
    vec![text, random, vec![b'x'; 900_000], mixed]
}

fn streams(content: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<_> = [1, 6, 9].map(|level| zlib(content, level)).into();
    // As archives have them: chunks that are primed by the content before them.
    let mut stream = Vec::new();
    let mut compressor = Compressor::new(6);
    let chunk = 70_000;
    for start in (0..content.len()).step_by(chunk) {
        let (from, end) = (
            start.saturating_sub(32 << 10),
            content.len().min(start + chunk),
        );
        let last = end == content.len();
        compressor.compress(&content[from..end], start - from, last, &mut stream);
    }
    all.push(stream);
    all
}

#[test]
fn ranges_are_those_of_the_content_at_every_boundary() {
    for content in contents() {
        for (nth, stream) in streams(&content).into_iter().enumerate() {
            let (index, decoded) = index_of(&stream, SPACING, 10_000).unwrap();
            assert!(decoded == content);
            assert_eq!(index.content_bytes(), content.len() as u64);
            assert_eq!(index.compressed_bytes(), stream.len() as u64);
            // A run is a single block, and zlib-rs makes one of anything at level 1.
            assert!(index.points() > 1 || stream.len() < 10_000 || nth == 0);
            let index = DeflateIndex::open(index.source().as_slice()).unwrap();
            let reader = IndexedReader::new(&stream, &index).unwrap();
            let end = content.len() as u64;
            let places = [
                0,
                1,
                SPACING,
                WINDOW,
                70_000,
                150_000,
                256 << 10,
                end / 2,
                end,
            ];
            let places: Vec<u64> = places
                .iter()
                .flat_map(|place| place.saturating_sub(1)..=place + 1)
                .chain([end + 100_000, u64::MAX])
                .collect();
            for &start in &places {
                for length in [0, 1, 2, 257, WINDOW - 1, WINDOW, WINDOW + 1, u64::MAX] {
                    let range = start..start.saturating_add(length);
                    let found = range_of(&reader, range.clone()).unwrap();
                    assert!(found == slice(&content, &range), "{range:?}");
                    if length < end {
                        let mut room = vec![0; length as usize];
                        let got = reader.read_at(&mut room, start).unwrap();
                        // As much as one part has, and nothing only at the end.
                        assert!(
                            slice(&content, &range).starts_with(&room[..got]),
                            "{range:?}"
                        );
                        assert_eq!(got == 0, length == 0 || start >= end, "{range:?}");
                    }
                }
            }
            // Backwards, byte by byte, over what is around each border.
            for start in (0..end).rev().step_by(4093) {
                let range = start..start + 5;
                assert!(range_of(&reader, range.clone()).unwrap() == slice(&content, &range));
            }
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn any_number_of_threads_reads_the_same() {
    let content = words(3, 2000, 900_000);
    let stream = zlib(&content, 6);
    let (index, _) = index_of(&stream, 20_000, usize::MAX / 2).unwrap();
    let reader = IndexedReader::new(&stream, &index).unwrap();
    for threads in [0, 1, 2, 3, 9] {
        for range in [0..u64::MAX, 0..0, 5..6, 30_000..500_001, 899_999..900_001] {
            let mut found = Vec::new();
            let bytes =
                reader.read_range_parallel(range.clone(), threads, &mut |piece: &[u8]| {
                    found.extend_from_slice(piece);
                    Ok::<_, Error>(())
                });
            assert!(found == slice(&content, &range), "{threads}, {range:?}");
            assert_eq!(bytes.unwrap(), found.len() as u64);
        }
        // The sink's own error ends it.
        let ended = reader.read_range_parallel(0..u64::MAX, threads, &mut |_: &[u8]| {
            Err(Error::from_io(&std::io::Error::other("full")))
        });
        assert!(matches!(ended.unwrap_err().kind(), ErrorKind::Io(_)));
    }
    // Damage in the middle: what comes before it is right, and nothing of it is returned.
    let mut damaged = stream.clone();
    let at = damaged.len() / 2;
    damaged[at..at + 16].fill(0xff);
    let reader = IndexedReader::new(&damaged, &index).unwrap();
    let mut found = Vec::new();
    let ended = reader.read_range_parallel(0..u64::MAX, 2, &mut |piece: &[u8]| {
        found.extend_from_slice(piece);
        Ok::<_, Error>(())
    });
    let kind = ended.unwrap_err().kind();
    assert!(
        matches!(kind, ErrorKind::Corrupt | ErrorKind::Checksum),
        "{kind:?}"
    );
    assert!(!found.is_empty() && content.starts_with(&found));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_content_any_level_any_range(
        pieces in prop::collection::vec((any::<u8>(), 0_usize..30_000, 0_u64..1000), 0..12),
        level in 0_i32..10,
        cut in 1_usize..70_000,
        spacing in 0_u64..100_000,
        ranges in prop::collection::vec((0_u64..200_000, 0_u64..100_000), 1..8),
    ) {
        let mut content = Vec::new();
        for (kind, bytes, seed) in pieces {
            match kind % 3 {
                0 => content.extend(std::iter::repeat_n(kind, bytes)),
                1 => content.extend(noise(seed + 1, bytes)),
                _ => content.extend(words(seed + 1, 50, bytes)),
            }
        }
        let stream = zlib(&content, level);
        let (index, decoded) = index_of(&stream, spacing, cut).unwrap();
        prop_assert!(decoded == content);
        let reader = IndexedReader::new(&stream, &index).unwrap();
        for (start, length) in ranges {
            let range = start..start + length;
            prop_assert!(range_of(&reader, range.clone()).unwrap() == slice(&content, &range));
        }
    }
}

/// An archive of one entry, and that entry's name.
fn archive(content: &[u8], method: Method) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let first = EntryOptions::new(Method::Stored);
    writer.add("first", &first, &mut &b"x"[..]).unwrap();
    let options = EntryOptions::new(method);
    writer.add("large", &options, &mut &content[..]).unwrap();
    writer.finish().unwrap().0
}

fn built(reader: &ArchiveReader<&[u8]>, spacing: u64) -> Result<DeflateIndex, Error> {
    let entry = reader.find("large").unwrap().unwrap();
    reader.build_index(
        &entry,
        &mut Scratch::default(),
        spacing,
        &mut |_: &[u8]| Ok(()),
    )
}

#[test]
fn an_entry_is_read_by_the_index_of_its_own_content_only() {
    let content = words(4, 2000, 3_000_000);
    let bytes = archive(&content, Method::Deflate);
    for profile in [Profile::Default, Profile::Strict] {
        let options = ReadOptions::new().profile(profile);
        let reader = ArchiveReader::open_with(&bytes[..], &options).unwrap();
        let entry = reader.find("large").unwrap().unwrap();
        let mut scratch = Scratch::default();
        let mut seen = Vec::new();
        let index = reader.build_index(&entry, &mut scratch, 100_000, &mut |piece: &[u8]| {
            seen.extend_from_slice(piece);
            Ok::<_, Error>(())
        });
        let index = index.unwrap();
        assert!(seen == content);
        let large = reader.indexed(&entry, &index, &mut scratch).unwrap();
        let range = 1_234_567..1_300_000;
        assert!(range_of(&large, range.clone()).unwrap() == slice(&content, &range));

        // The same content in another place, as when other entries were deleted.
        let mut moved = ArchiveWriter::new(Vec::new());
        let plain = EntryOptions::default();
        moved.add("large", &plain, &mut &content[..]).unwrap();
        let moved = moved.finish().unwrap().0;
        let moved = ArchiveReader::open_with(&moved[..], &options).unwrap();
        let entry = moved.find("large").unwrap().unwrap();
        let large = moved.indexed(&entry, &index, &mut scratch).unwrap();
        assert!(range_of(&large, range.clone()).unwrap() == slice(&content, &range));

        // Another content of the same size, and none.
        let mut other = content.clone();
        other[1_500_000] ^= 1;
        for changed in [
            archive(&other, Method::Deflate),
            archive(b"", Method::Deflate),
        ] {
            let reader = ArchiveReader::open_with(&changed[..], &options).unwrap();
            let entry = reader.find("large").unwrap().unwrap();
            let error = reader.indexed(&entry, &index, &mut scratch).unwrap_err();
            assert!(
                matches!(error.kind(), ErrorKind::StaleIndex | ErrorKind::Unsupported),
                "{error}"
            );
            assert_eq!(error.entry_name(), Some("large"));
        }
    }
}

#[test]
fn entries_that_cannot_have_an_index_are_refused() {
    let bytes = archive(&noise(5, 100_000), Method::Stored);
    let reader = ArchiveReader::open(&bytes[..]).unwrap();
    let error = built(&reader, SPACING).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let content = words(5, 500, 100_000);
    let bytes = archive(&content, Method::Deflate);
    let limits = Limits::default().entry_bytes(50_000);
    let options = ReadOptions::new().limits(limits);
    let reader = ArchiveReader::open_with(&bytes[..], &options).unwrap();
    assert_eq!(
        built(&reader, SPACING).unwrap_err().kind(),
        ErrorKind::Limit
    );
    // Damage in the content is found by the pass that makes the index.
    let mut damaged = bytes.clone();
    let at = damaged.len() / 2;
    damaged[at] ^= 0x10;
    let reader = ArchiveReader::open(&damaged[..]).unwrap();
    let kind = built(&reader, SPACING).unwrap_err().kind();
    assert!(
        matches!(
            kind,
            ErrorKind::Corrupt | ErrorKind::Checksum | ErrorKind::Size
        ),
        "{kind:?}"
    );
}

#[test]
fn a_stream_that_has_not_ended_has_no_index() {
    let stream = zlib(&words(6, 500, 50_000), 6);
    let error = index_of(&stream[..stream.len() - 3], SPACING, 999).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Truncated);
}

/// The checksum over header and table, set right again.
fn resum(index: &mut [u8]) {
    let points = u32::from_le_bytes(index[36..40].try_into().unwrap()) as usize;
    let end = 40 + 28 * points;
    let mut sum = Crc32::new();
    sum.update(&index[..end]);
    index[end..end + 4].copy_from_slice(&sum.sum().to_le_bytes());
}

#[test]
fn a_damaged_index_is_refused_and_a_forged_one_returns_no_wrong_byte() {
    let content = words(7, 2000, 400_000);
    let stream = zlib(&content, 6);
    let (index, _) = index_of(&stream, 60_000, 70_000).unwrap();
    let whole = index.source().clone();
    let table = 40 + 28 * index.points() + 4;

    for bytes in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        let error = DeflateIndex::open(&whole[..bytes]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{bytes}: {error}");
    }
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(
        DeflateIndex::open(longer).unwrap_err().kind(),
        ErrorKind::Index
    );

    for at in 0..table {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        let error = DeflateIndex::open(damaged.as_slice()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{at}: {error}");
        // With a checksum that fits, it may be opened, but it never returns another content.
        resum_if_whole(&mut damaged, table);
        let Ok(forged) = DeflateIndex::open(damaged.as_slice()) else {
            continue;
        };
        let Ok(reader) = IndexedReader::new(&stream, &forged) else {
            continue;
        };
        for start in (0..400_000).step_by(50_000) {
            let range = start..start + 10;
            if let Ok(found) = range_of(&reader, range.clone()) {
                assert!(found == slice(&content, &range), "{at}: {range:?}");
            }
        }
    }
    for at in (table..whole.len()).step_by(101) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x41;
        let index = DeflateIndex::open(damaged.as_slice()).unwrap();
        let reader = IndexedReader::new(&stream, &index).unwrap();
        match range_of(&reader, 0..u64::MAX) {
            // A bit that the stream of a window does not use.
            Ok(found) => assert!(found == content),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Index, "{at}: {error}"),
        }
    }
}

/// Sets the checksum, unless the number of points was changed.
fn resum_if_whole(index: &mut [u8], table: usize) {
    let points = u32::from_le_bytes(index[36..40].try_into().unwrap()) as usize;
    if points == (table - 44) / 28 {
        resum(index);
    }
}

/// Counts the bytes that are read.
struct Counted<'a>(&'a [u8], std::cell::Cell<u64>);
impl ReadAt for Counted<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let got = self.0.read_at(buffer, offset)?;
        self.1.set(self.1.get() + got as u64);
        Ok(got)
    }
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }
}

#[test]
fn only_what_a_range_needs_is_read() {
    let content = words(8, 2000, 4_000_000);
    let stream = zlib(&content, 6);
    let (index, _) = index_of(&stream, 100_000, 70_000).unwrap();
    let source = Counted(&stream, 0.into());
    let saved = Counted(index.source(), 0.into());
    let index = DeflateIndex::open(&saved).unwrap();
    let table = 44 + 28 * index.points() as u64;
    assert_eq!(saved.1.get(), table);
    let reader = IndexedReader::new(&source, &index).unwrap();
    let range = 2_000_000..2_000_010;
    assert!(range_of(&reader, range.clone()).unwrap() == slice(&content, &range));
    // Two parts at most, and a window of each.
    assert!(
        source.1.get() < stream.len() as u64 / 10,
        "{}",
        source.1.get()
    );
    assert!(saved.1.get() <= table + 2 * (33 << 10), "{}", saved.1.get());
    // The part that was used last is kept.
    let before = source.1.get();
    range_of(&reader, 2_000_005..2_000_009).unwrap();
    assert_eq!(source.1.get(), before);
}

#[test]
fn of_an_archive_a_range_needs_its_end_and_a_header_as_well() {
    let content = words(8, 2000, 8_000_000);
    let mut writer = ArchiveWriter::new(Vec::new());
    let added = writer.add("large", &EntryOptions::default(), &mut &content[..]);
    added.expect("added");
    let (archive, _) = writer.finish().expect("finished");
    let source = Counted(&archive, 0.into());
    let reader = ArchiveReader::open(&source).expect("an archive");
    let entry = reader.find("large").expect("found").expect("there");
    assert!(entry.compressed_bytes() > 1 << 20);
    let mut scratch = Scratch::default();
    let nothing = &mut |_: &[u8]| Ok::<_, Error>(());
    let index = reader.build_index(&entry, &mut scratch, 100_000, nothing);
    let index = index.expect("an index");
    let before = source.1.get();
    let range = 4_000_000..4_000_010;
    let indexed = reader.indexed(&entry, &index, &mut Scratch::default());
    let indexed = indexed.expect("its index");
    assert!(range_of(&indexed, range.clone()).unwrap() == slice(&content, &range));
    let read = source.1.get() - before;
    assert!(read < 200_000, "{read}");
}
