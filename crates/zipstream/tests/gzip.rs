//! gzip files in any cut: what is read, against libdeflate, and what is refused, with its place.

use std::time::Duration;

use zipstream::deflate::Compressor;
use zipstream::gzip::{
    GzipDecoder, GzipEncoder, GzipError, GzipFlaw, GzipMember, GzipOptions, GzipTotals,
};
use zipstream::{Crc32, Workers};

use crate::data::Random;

const HAS_CHECKSUM: u8 = 2;
const HAS_EXTRA: u8 = 4;
const HAS_NAME: u8 = 8;
const HAS_COMMENT: u8 = 16;

/// A member with the fields of `flags`.
fn member(content: &[u8], flags: u8, level: i32) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 255];
    if flags & HAS_EXTRA != 0 {
        out.extend_from_slice(b"\x07\0AB\x03\0\0\x01\0");
    }
    if flags & HAS_NAME != 0 {
        out.extend_from_slice(b"name.txt\0");
    }
    if flags & HAS_COMMENT != 0 {
        out.push(0);
    }
    if flags & HAS_CHECKSUM != 0 {
        let sum = crc32fast::hash(&out) as u16;
        out.extend_from_slice(&sum.to_le_bytes());
    }
    Compressor::new(level).compress(content, 0, true, &mut out);
    let mut sum = Crc32::new();
    sum.update(content);
    out.extend_from_slice(&sum.sum().to_le_bytes());
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out
}

/// Reads a file in parts of these sizes.
fn read(
    file: &[u8],
    mut input: impl FnMut() -> usize,
    mut room: impl FnMut() -> usize,
) -> Result<(Vec<u8>, GzipTotals), GzipError> {
    let mut decoder = GzipDecoder::new();
    let (mut out, mut rest) = (Vec::new(), file);
    let mut buffer = vec![0; 1 << 17];
    while !rest.is_empty() {
        let (mut part, after) = rest.split_at(input().clamp(1, rest.len()));
        rest = after;
        loop {
            let bytes = room().clamp(1, buffer.len());
            let step = decoder.read(part, &mut buffer[..bytes])?;
            out.extend_from_slice(&buffer[..step.produced]);
            part = &part[step.consumed..];
            if part.is_empty() && !step.more_output {
                break;
            }
        }
    }
    Ok((out, decoder.finish()?))
}

fn whole(file: &[u8]) -> Result<(Vec<u8>, GzipTotals), GzipError> {
    read(file, || usize::MAX, || usize::MAX)
}

fn content(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut content = Vec::with_capacity(bytes);
    while content.len() < bytes {
        let word = random.next(50) as u8;
        content.extend((0..random.next(9) as u8).map(|at| word.wrapping_mul(31) ^ at));
        content.push(b' ');
    }
    content.truncate(bytes);
    content
}

#[test]
fn members_of_any_header_and_size_are_read_in_any_cut() {
    let mut random = Random(41);
    let sizes = [0, 1, 2, 299, 32_768, 131_071, 131_072, 131_073, 400_000];
    for round in 1..=60 {
        let mut file = Vec::new();
        let mut expected = Vec::new();
        let mut sum = 0;
        let members = 1 + random.next(4);
        for _ in 0..members {
            let bytes = sizes[random.next(sizes.len())];
            let part = content(&mut random, bytes);
            let flags = (random.next(16) as u8) << 1;
            file.extend(member(&part, flags, random.next(10) as i32));
            sum = crc32fast::hash(&part);
            expected.extend(part);
        }
        let padding = [0, 0, 1, 511][random.next(4)];
        file.resize(file.len() + padding, 0);
        let totals = GzipTotals {
            members: members as u64,
            bytes_in: file.len() as u64,
            bytes_out: expected.len() as u64,
            crc32: sum,
            trailing: None,
        };
        let small = 1 + random.next(if file.len() > 20_000 { 3_000 } else { 9 });
        let mut other = Random(round);
        let found = [
            whole(&file),
            read(&file, || small, || usize::MAX),
            read(
                &file,
                || 1 + random.next(100_000),
                || 1 + other.next(1 << 17),
            ),
        ];
        for found in found {
            assert!(
                found == Ok((expected.clone(), totals)),
                "{round}: {:?}",
                found.map(|found| found.1)
            );
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_truncated_there() {
    let file = member(
        b"some text, some text",
        HAS_EXTRA | HAS_NAME | HAS_CHECKSUM,
        6,
    );
    for bytes in 0..file.len() {
        let error = whole(&file[..bytes]).expect_err("it is cut");
        assert_eq!(
            (error.flaw(), error.offset()),
            (GzipFlaw::Truncated, bytes as u64)
        );
    }
    let twice = [&file[..], &file[..12]].concat();
    assert_eq!(
        whole(&twice).expect_err("it is cut").offset(),
        twice.len() as u64
    );
}

#[test]
fn what_is_wrong_is_named_with_its_byte() {
    let plain = member(b"some text", 0, 6);
    let full = member(b"some text", 30, 6);
    let end = plain.len();
    let changed = |file: &[u8], at: usize, byte: u8| {
        let mut file = file.to_vec();
        file[at] = byte;
        file
    };
    let behind = |bytes: &[u8]| [&plain[..], bytes].concat();
    // The checksum of the full header is behind its comment: 10 + 9 + 9 + 1.
    let cases: [(Vec<u8>, &str); 10] = [
        (b"PK\x03\x04".to_vec(), "no gzip header at byte 0"),
        (b"\x1f\x9d".to_vec(), "no gzip header at byte 0"),
        (
            changed(&plain, 2, 7),
            "compression method 7 of the gzip header at byte 2 is unknown; only 8 (deflate) is defined",
        ),
        (
            changed(&plain, 3, 0x60),
            "the gzip header sets reserved flags at byte 3: 0x60",
        ),
        (
            changed(&full, 4, 0),
            "checksum of the gzip header at byte 29: stated ",
        ),
        (
            changed(&plain, 10, 7),
            "a block of a reserved type at byte 10, bit 0",
        ),
        (
            changed(&plain, end - 8, !plain[end - 8]),
            &format!("CRC-32 at byte {}: stated ", end - 8),
        ),
        (
            changed(&plain, end - 4, 10),
            &format!(
                "size of the content (ISIZE) at byte {}: stated 10, counted 9",
                end - 4
            ),
        ),
        (
            behind(b"\0\0\0x"),
            &format!(
                "at byte {}, behind the last gzip member, is other data",
                end + 3
            ),
        ),
        (
            behind(b"text"),
            &format!("at byte {end}, behind the last gzip member, is other data"),
        ),
    ];
    for (file, expected) in &cases {
        for small in [1, usize::MAX] {
            let error = read(file, || small, || usize::MAX).expect_err(expected);
            let text = error.to_string();
            assert!(text.starts_with(expected), "{text}, expected {expected}");
        }
    }
}

#[test]
fn a_changed_byte_is_judged_as_libdeflate_judges_it() {
    let mut random = Random(7);
    let mut other = libdeflater::Decompressor::new();
    let mut accepted = 0;
    for _ in 0..4_000 {
        let bytes = random.next(300);
        let text = content(&mut random, bytes);
        // libdeflate skips the checksum of a header.
        let flags = (random.next(8) as u8) << 2;
        let mut file = member(&text, flags, random.next(10) as i32);
        let at = random.next(file.len());
        file[at] ^= 1 << random.next(8);
        if file[3] & HAS_CHECKSUM != 0 {
            continue;
        }
        let mut out = vec![0; 100_000];
        let expected = other.gzip_decompress(&file, &mut out).ok();
        let found = whole(&file).ok();
        accepted += u64::from(found.is_some());
        assert_eq!(
            found.map(|(found, _)| found),
            expected.map(|bytes| out[..bytes].to_vec()),
            "byte {at}"
        );
    }
    // A change of the time, the name or the extra field.
    assert!(accepted > 200, "{accepted}");
}

/// Writes members in parts and with room of these sizes.
fn written(
    encoder: &mut GzipEncoder,
    member: &GzipMember,
    content: &[u8],
    part: usize,
    room: usize,
) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), content);
    let mut buffer = vec![0; room];
    encoder.begin(member).expect("begun");
    loop {
        let input = &rest[..rest.len().min(part)];
        let end = input.len() == rest.len();
        let step = encoder.push(input, &mut buffer, end, Duration::from_secs(60));
        let step = step.expect("pushed");
        out.extend_from_slice(&buffer[..step.produced]);
        rest = &rest[step.consumed..];
        if step.done {
            assert!(end && rest.is_empty());
            return out;
        }
    }
}

/// The content, by libdeflate.
fn theirs(file: &[u8], bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes + 1];
    let mut decompressor = libdeflater::Decompressor::new();
    let read = decompressor.gzip_decompress(file, &mut out).expect("read");
    out.truncate(read);
    out
}

fn mixed(bytes: usize) -> Vec<u8> {
    let mut random = Random(7);
    let text = b"a line of text, and another, with words that come again\n";
    let mut out = Vec::with_capacity(bytes + 300);
    while out.len() < bytes {
        let from = random.next(20);
        out.extend_from_slice(&text[from..]);
        out.extend((0..random.next(30)).map(|_| random.next(256) as u8));
    }
    out.truncate(bytes);
    out
}

#[test]
fn what_is_written_depends_on_content_and_level_alone() {
    let pool = Workers::new(2);
    let member = GzipMember::new();
    // Around the ends of chunks.
    for bytes in [0, 1, 262_143, 262_144, 262_145, 524_288, 1_500_000] {
        let content = mixed(bytes);
        for level in [0, 1, 6, 9] {
            let plain = GzipOptions::new().level(level);
            let expected = written(
                &mut GzipEncoder::new(&plain),
                &member,
                &content,
                bytes.max(1),
                1 << 20,
            );
            assert!(theirs(&expected, bytes) == content, "{bytes} at {level}");
            for options in [
                plain.clone(),
                plain.clone().workers(pool.clone()),
                plain.threads(3),
            ] {
                let mut encoder = GzipEncoder::new(&options);
                for (part, room) in [(1000, 7), (300_000, 100_000)] {
                    let file = written(&mut encoder, &member, &content, part, room);
                    assert!(file == expected, "{bytes} at {level} in {part}, {room}");
                }
            }
        }
    }
}

#[test]
fn rsyncable_files_depend_on_content_and_level_alone() {
    let member = GzipMember::new();
    for bytes in [0, 1, 8191, 8192, 300_000, 1_500_000] {
        let content = mixed(bytes);
        for level in [0, 1, 6, 9] {
            let plain = GzipOptions::new().level(level).rsyncable(true);
            let mut encoder = GzipEncoder::new(&plain);
            let expected = written(&mut encoder, &member, &content, bytes.max(1), 1 << 20);
            assert!(theirs(&expected, bytes) == content, "{bytes} at {level}");
            for options in [plain.clone(), plain.threads(3)] {
                let mut encoder = GzipEncoder::new(&options);
                for (part, room) in [(1000, 7), (300_000, 100_000)] {
                    let file = written(&mut encoder, &member, &content, part, room);
                    assert!(file == expected, "{bytes} at {level} in {part}, {room}");
                }
            }
        }
    }
}

/// Lines of words and numbers, which do not repeat for long.
fn lines(bytes: usize) -> Vec<u8> {
    let words = [
        "GET", "/index", "/image", "200", "404", "sensor", "value", "done",
    ];
    let mut random = Random(7);
    let mut out = Vec::new();
    while out.len() < bytes {
        for _ in 0..6 {
            out.extend_from_slice(words[random.next(words.len())].as_bytes());
            out.push(b' ');
        }
        out.extend_from_slice(format!("{}\n", random.next(1 << 30)).as_bytes());
    }
    out
}

/// Bytes of `new` that are in no block of `old`, of those that begin at multiples of their size, wherever they are
/// in `new`: what rsync would send.
fn literals(old: &[u8], new: &[u8]) -> usize {
    const BLOCK: usize = 1024;
    let blocks: std::collections::HashSet<&[u8]> = old.chunks_exact(BLOCK).collect();
    let (mut at, mut sent) = (0, 0);
    while at < new.len() {
        match new.get(at..at + BLOCK) {
            Some(block) if blocks.contains(block) => at += BLOCK,
            _ => (at, sent) = (at + 1, sent + 1),
        }
    }
    sent
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn a_change_leaves_most_of_an_rsyncable_file_as_it_was() {
    let content = lines(4 << 20);
    let middle = content.len() / 2;
    let changes: [Vec<u8>; 3] = [
        [&content[..middle], b"inserted", &content[middle..]].concat(),
        [&content[..middle], b"replaced", &content[middle + 8..]].concat(),
        [&content[..middle], &content[middle + 5000..]].concat(),
    ];
    for level in [1, 6, 9] {
        for threads in [0, 2] {
            let options = GzipOptions::new().level(level).threads(threads);
            let pack = |content: &[u8], rsyncable: bool| {
                let options = options.clone().rsyncable(rsyncable);
                let mut encoder = GzipEncoder::new(&options);
                written(&mut encoder, &GzipMember::new(), content, 1 << 16, 1 << 16)
            };
            let (plain, old) = (pack(&content, false), pack(&content, true));
            assert!(
                old.len() * 100 < plain.len() * 106,
                "{} {}",
                old.len(),
                plain.len()
            );
            for changed in &changes {
                let sent = literals(&old, &pack(changed, true));
                assert!(sent < 48 << 10, "{sent} of {} at {level}", old.len());
            }
            // Without it, all that follows an insertion is new.
            let sent = literals(&plain, &pack(&changes[0], false));
            assert!(
                sent > plain.len() / 3,
                "{sent} of {} at {level}",
                plain.len()
            );
        }
    }
}

#[test]
fn names_and_times_are_written_and_read() {
    let mut encoder = GzipEncoder::new(&GzipOptions::new().level(9));
    let long = vec![b'n'; 4097];
    for (name, kept) in [
        (&b"a.txt"[..], Some(&b"a.txt"[..])),
        (b"", None),
        (b"cut\0here", Some(b"cut")),
        (&long[1..], Some(&long[1..])),
        (&long, None),
    ] {
        let member = GzipMember::new().name(name).modified(1_600_000_000);
        let file = written(&mut encoder, &member, b"content", 100, 100);
        assert!(theirs(&file, 7) == b"content");
        // A second member says nothing about the file.
        let other = GzipMember::new().name("other");
        let more = written(&mut encoder, &other, b"more", 100, 100);
        for cut in [1, 100] {
            let mut decoder = GzipDecoder::new();
            let mut out = [0; 100];
            for part in [&file[..], &more].concat().chunks(cut) {
                decoder.read(part, &mut out).expect("read");
            }
            let member = decoder.member().expect("read");
            assert_eq!(member.name.as_deref(), kept);
            assert_eq!(member.modified, 1_600_000_000);
            assert_eq!(
                decoder.finish().expect("whole").crc32,
                crc32fast::hash(b"more")
            );
        }
    }
}

#[test]
fn trailing_data_is_skipped_where_that_is_asked_for() {
    let one = member(b"content", 0, 6);
    let end = one.len() as u64;
    for (tail, trailing) in [
        (&b""[..], None),
        (b"more", Some(end)),
        (b"\0\0\0", None),
        (b"\0\0more", Some(end + 2)),
        (b"\x1fx", Some(end)),
    ] {
        for cut in [1, 1000] {
            let mut decoder = GzipDecoder::new();
            decoder.skip_trailing(true);
            let (mut content, mut room) = (Vec::new(), [0; 100]);
            for part in [&one[..], tail].concat().chunks(cut) {
                let step = decoder.read(part, &mut room).expect("read");
                assert_eq!(step.consumed, part.len());
                content.extend_from_slice(&room[..step.produced]);
            }
            assert_eq!(content, b"content");
            assert_eq!(
                decoder.finish().expect("whole").trailing,
                trailing,
                "{tail:?}"
            );
        }
    }
    // What begins like a member is one.
    for tail in [&b"\x1f"[..], b"\x1f\x8b"] {
        let mut decoder = GzipDecoder::new();
        decoder.skip_trailing(true);
        let file = [&one[..], tail].concat();
        decoder.read(&file, &mut [0; 100]).expect("read");
        let error = decoder.finish().expect_err("cut");
        assert_eq!(error.flaw(), GzipFlaw::Truncated);
    }
}

#[test]
fn a_member_that_is_given_up_leaves_no_trace() {
    let content = mixed(2_000_000);
    for threads in [0, 2] {
        let mut encoder = GzipEncoder::new(&GzipOptions::new().threads(threads));
        assert!(encoder.push(b"", &mut [], true, Duration::ZERO).is_err());
        encoder.abandon();
        let member = GzipMember::new();
        let expected = written(&mut encoder, &member, b"content", 9, 9);
        encoder.begin(&member).expect("begun");
        let mut rest = &content[..];
        for _ in 0..4 {
            let step = encoder.push(rest, &mut [0; 100_000], false, Duration::ZERO);
            rest = &rest[step.expect("pushed").consumed..];
        }
        encoder.abandon();
        assert!(written(&mut encoder, &member, b"content", 9, 9) == expected);
        encoder.begin(&member).expect("begun");
        assert!(encoder.begin(&member).is_err());
    }
}
