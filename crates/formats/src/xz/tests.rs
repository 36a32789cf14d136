//! Files made here by the format's description: whole, changed at each byte, and cut.

use super::*;

/// A number as indexes have it.
fn number(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// An index of these blocks: unpadded sizes and sizes of content.
fn index(blocks: &[(u64, u64)]) -> Vec<u8> {
    let mut out = vec![0];
    number(blocks.len() as u64, &mut out);
    for &(unpadded, content) in blocks {
        number(unpadded, &mut out);
        number(content, &mut out);
    }
    out.resize(out.len().next_multiple_of(4), 0);
    summed(out)
}

/// A stream with these blocks, whose bytes are all `#`, and with this index.
fn stream_of(check: u8, blocks: &[(u64, u64)], index: &[u8]) -> Vec<u8> {
    let mut out = b"\xfd7zXZ\0".to_vec();
    out.extend_from_slice(&summed(vec![0, check]));
    let bytes: u64 = blocks.iter().map(|block| block.0.div_ceil(4) * 4).sum();
    out.resize(out.len() + bytes as usize, b'#');
    out.extend_from_slice(index);
    let mut footer = (index.len() as u32 / 4 - 1).to_le_bytes().to_vec();
    footer.extend_from_slice(&[0, check]);
    out.extend_from_slice(&crc32fast::hash(&footer).to_le_bytes());
    out.extend_from_slice(&footer);
    out.extend_from_slice(b"YZ");
    out
}

fn stream(check: u8, blocks: &[(u64, u64)]) -> Vec<u8> {
    stream_of(check, blocks, &index(blocks))
}

/// The streams of a file, the first first.
fn read(file: &[u8]) -> Result<Vec<XzStream>, XzError> {
    let mut streams = XzStreams::new(file.len() as u64)?;
    let mut found = Vec::new();
    while let Some(wanted) = streams.wanted() {
        let bytes = &file[wanted.start as usize..wanted.end as usize];
        found.extend(streams.give(bytes)?);
    }
    found.reverse();
    Ok(found)
}

fn flaw(file: &[u8]) -> XzFlaw {
    read(file).expect_err("a flaw").flaw()
}

#[test]
fn streams_padding_and_blocks_are_found() {
    let blocks = [(100, 1000), (41, 0), (200, 1 << 40)];
    let first = stream(4, &blocks);
    let file = [&first[..], &[0; 8], &stream(10, &[]), &[0; 40_000]].concat();
    let streams = read(&file).expect("read");
    let said: Vec<_> = streams
        .iter()
        .map(|one| (one.offset, one.bytes, one.padding_bytes, one.blocks))
        .collect();
    let end = first.len() as u64;
    assert_eq!(said, [(0, end, 8, 3), (end + 8, 32, 40_000, 0)]);
    assert_eq!(streams[0].content_bytes, 1000 + (1 << 40));
    let names: Vec<_> = streams.iter().map(|one| one.check.name()).collect();
    assert_eq!(names, [Some("CRC64"), Some("SHA-256")]);

    // The index again, in parts of each size.
    let part = &file[streams[0].index.start as usize..streams[0].index.end as usize];
    for bytes in 1..=part.len() {
        let mut index = XzIndex::new(part.len() as u64);
        let mut found = Vec::new();
        for cut in part.chunks(bytes) {
            let pushed = index.push(cut, &mut |one| {
                found.push((one.unpadded_bytes, one.content_bytes));
            });
            pushed.expect("valid");
        }
        index.finish().expect("complete");
        assert_eq!(found, blocks);
    }
}

#[test]
fn an_index_of_many_blocks_is_read_in_parts() {
    let blocks = vec![(5, 70_000); 30_000];
    let streams = read(&stream(0, &blocks)).expect("read");
    assert_eq!((streams.len(), streams[0].blocks), (1, 30_000));
    assert_eq!(streams[0].content_bytes, 30_000 * 70_000);
}

#[test]
fn each_changed_byte_outside_of_the_blocks_is_refused() {
    let file = [stream(1, &[(60, 500)]), stream(1, &[(7, 9), (8, 1)])].concat();
    let streams = read(&file).expect("read");
    let is_block = |at: usize| {
        streams.iter().any(|one| {
            let blocks = one.offset + 12..one.index.start;
            blocks.contains(&(at as u64))
        })
    };
    for at in 0..file.len() {
        for bits in [1, 0x80, 0xff] {
            let mut changed = file.clone();
            changed[at] ^= bits;
            assert_eq!(read(&changed).is_ok(), is_block(at), "byte {at} ^ {bits:x}");
        }
        // A cut file may end with a whole stream.
        let whole = at as u64 == streams[1].offset;
        assert_eq!(read(&file[..at]).is_ok(), whole, "cut at {at}");
    }
}

#[test]
fn flaws_are_told_apart() {
    assert_eq!(flaw(b""), XzFlaw::Empty);
    assert_eq!(flaw(b"\xfd7zXZ\0"), XzFlaw::TooSmall);
    assert_eq!(flaw(&[b'#'; 40]), XzFlaw::NotXz);
    assert_eq!(flaw(&stream(16, &[])), XzFlaw::Flags { stated: 16 });
    let one = stream(1, &[(60, 500)]);
    let padded = |zeros: usize| [&one[..], &vec![0; zeros]].concat();
    assert_eq!(flaw(&padded(70_003)), XzFlaw::Padding { bytes: 70_003 });
    assert_eq!(flaw(&[&one[..], b"junk"].concat()), XzFlaw::NoFooter);
    let of = |stated: &[(u64, u64)]| flaw(&stream_of(1, &[(60, 500)], &index(stated)));
    assert!(matches!(
        of(&[(64, 500)]),
        XzFlaw::Outside { of: "index", .. }
    ));
    assert_eq!(of(&[(50, 500)]), XzFlaw::NoHeader);
    assert_eq!(of(&[(4, 500)]), XzFlaw::Size { stated: 4 });
    let most = (NUMBER_MAX, 1);
    assert_eq!(of(&[most]), XzFlaw::Size { stated: NUMBER_MAX });
    let most = (NUMBER_MAX & !3, NUMBER_MAX);
    assert!(matches!(of(&[most; 3]), XzFlaw::Outside { .. }));
    assert!(matches!(of(&[(28, NUMBER_MAX); 2]), XzFlaw::Size { .. }));
    // Numbers that are longer than they have to be, and too long; counts that do not fit.
    let of = |index: &[u8]| flaw(&stream_of(1, &[], &summed(index.to_vec())));
    assert_eq!(of(b"\0\x80\0\0"), XzFlaw::Number);
    assert_eq!(
        of(b"\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\0"),
        XzFlaw::Number
    );
    assert_eq!(of(b"\0\x01\x05\x80"), XzFlaw::IndexSize);
    assert_eq!(of(b"\0\0\0\0\0\0\0\0"), XzFlaw::IndexSize);
    assert_eq!(of(b"\0\0\0\x01"), XzFlaw::IndexSize);
    assert_eq!(of(b"\x01\0\0\0"), XzFlaw::NoIndex);
    // Header and footer do not have the same check.
    let mut mixed = stream(1, &[]);
    mixed.splice(..12, stream(4, &[])[..12].iter().copied());
    assert_eq!(flaw(&mixed), XzFlaw::FlagsDiffer);
}

#[test]
fn a_file_that_changes_while_it_is_read_ends_the_reading() {
    let file = stream(1, &[(60, 500)]);
    let mut streams = XzStreams::new(file.len() as u64).expect("large enough");
    assert_eq!(streams.give(&file[..12]), Ok(None));
    let short = streams.give(&file[..5]).expect_err("short");
    assert_eq!(short.flaw(), XzFlaw::Truncated);
    // Zeros everywhere, the header too.
    let zeros = vec![0; file.len()];
    let ended = streams.give(&zeros).expect_err("no footer");
    assert_eq!((ended.flaw(), ended.offset()), (XzFlaw::NoFooter, 0));
}
