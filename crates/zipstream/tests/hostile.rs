//! Archives that are wrong on purpose, in each profile, from a file and from a pipe. Every truncation and
//! every flipped byte is an error with its place, never a panic.

use zipstream::{
    ArchiveReader, ArchiveWriter, EntryOptions, Error, ErrorKind, Limits, Method, PipeReader,
    ReadOptions,
};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";

fn archive(entries: &[(&str, Method, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    for (name, method, content) in entries {
        let options = EntryOptions::new(*method);
        writer
            .add(name, &options, &mut &content[..])
            .expect("it works");
    }
    writer.finish().expect("it works").0
}

/// Two entries, one of them compressed, and a known layout.
fn plain() -> Vec<u8> {
    archive(&[
        ("aa", Method::Stored, b"stored"),
        ("bb", Method::Deflate, &[b'x'; 1000]),
    ])
}

/// Where the `index`-th record with this signature starts.
fn find(archive: &[u8], signature: [u8; 4], index: usize) -> usize {
    let found = archive
        .windows(4)
        .enumerate()
        .filter(|(_, at)| *at == signature);
    found.map(|(at, _)| at).nth(index).expect("it is there")
}

fn put(archive: &mut [u8], at: usize, bytes: &[u8]) {
    archive[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Opens, checks and reads everything; the number of entries, or the first error.
fn by_file(archive: &[u8], options: &ReadOptions) -> Result<u64, Error> {
    let reader = ArchiveReader::open_with(archive, options)?;
    reader.check()?;
    for entry in reader.entries() {
        let entry = entry?;
        let content = reader.read(&entry)?;
        assert_eq!(content.len() as u64, entry.content_bytes());
    }
    Ok(reader.len())
}

fn by_pipe(archive: &[u8], options: &ReadOptions) -> Result<u64, Error> {
    let mut pipe = PipeReader::new(archive, options);
    let mut count = 0;
    while pipe.next_entry()?.is_some() {
        count += 1;
    }
    while pipe.next_record()?.is_some() {}
    Ok(count)
}

type Outcome = Result<u64, ErrorKind>;

/// One row of the table: what the default profile says by file, the strict one by file, and the
/// strict one by pipe.
fn judge(what: &str, archive: &[u8], expected: [Outcome; 3]) {
    let (default, strict) = (ReadOptions::default(), ReadOptions::strict());
    let kind = |result: Result<u64, Error>| result.map_err(|error| error.kind());
    let found = [
        kind(by_file(archive, &default)),
        kind(by_file(archive, &strict)),
        kind(by_pipe(archive, &strict)),
    ];
    assert_eq!(found, expected, "{what}");
}

#[test]
fn the_two_profiles() {
    use ErrorKind::{Checksum, Corrupt, Duplicate, Limit, Mismatch, Name, NotZip, Overlap, Size};
    judge("whole", &plain(), [Ok(2), Ok(2), Ok(2)]);
    judge("nothing", b"", [Err(NotZip), Err(NotZip), Err(NotZip)]);
    judge(
        "text",
        &[b'x'; 100],
        [Err(NotZip), Err(NotZip), Err(NotZip)],
    );

    let prefixed = [b"#!/bin/sh\n", &plain()[..]].concat();
    judge("a prefix", &prefixed, [Ok(2), Err(Corrupt), Err(NotZip)]);

    let trailing = [&plain()[..], b"more"].concat();
    judge(
        "bytes behind it",
        &trailing,
        [Ok(2), Err(Corrupt), Err(Corrupt)],
    );

    let change = |signature, index, field: usize, bytes: &[u8]| {
        let mut archive = plain();
        let at = find(&archive, signature, index) + field;
        put(&mut archive, at, bytes);
        archive
    };
    let local = |field, bytes: &[u8]| change(LOCAL, 0, field, bytes);
    let central = |field, bytes: &[u8]| change(CENTRAL, 0, field, bytes);
    let bad = |kind: [ErrorKind; 2]| [Ok(2), Err(kind[0]), Err(kind[1])];
    judge(
        "another local name",
        &local(30, b"cc"),
        bad([Mismatch, Mismatch]),
    );
    judge(
        "another local checksum",
        &local(14, b"evil"),
        bad([Mismatch, Checksum]),
    );
    judge(
        "another local size",
        &local(22, &[7, 0, 0, 0]),
        bad([Mismatch, Size]),
    );
    judge(
        "another local method",
        &local(8, &[8, 0]),
        bad([Mismatch, Corrupt]),
    );

    judge(
        "another checksum",
        &central(16, b"evil"),
        [Err(Checksum), Err(Mismatch), Err(Mismatch)],
    );
    judge(
        "another size",
        &central(24, &[7, 0, 0, 0]),
        [Err(Size), Err(Mismatch), Err(Mismatch)],
    );
    let far = central(42, &[0xf0, 0xff, 0xff, 0x7f]);
    judge(
        "an offset far away",
        &far,
        [Err(Corrupt), Err(Corrupt), Err(Mismatch)],
    );

    let mut twins = change(CENTRAL, 1, 46, b"aa");
    let at = find(&twins, LOCAL, 1);
    put(&mut twins, at + 30, b"aa");
    judge("two of one name", &twins, bad([Duplicate, Duplicate]));

    let overlapping = change(CENTRAL, 1, 42, &[0; 4]);
    judge(
        "two in one place",
        &overlapping,
        [Err(Overlap), Err(Overlap), Err(Mismatch)],
    );

    let mut up = plain();
    for (signature, field) in [(LOCAL, 30), (CENTRAL, 46)] {
        let at = find(&up, signature, 0);
        put(&mut up, at + field, b"..");
    }
    judge("a name that leads up", &up, bad([Name, Name]));

    let count = change(END, 0, 8, &[9, 0, 9, 0]);
    judge("a wrong count", &count, bad([Mismatch, Mismatch]));
    let disk = change(END, 0, 4, &[1, 0]);
    let split = Err(ErrorKind::Unsupported);
    judge("a part of a split archive", &disk, [Ok(2), split, split]);

    let mut hidden = plain();
    let at = find(&hidden, CENTRAL, 0);
    hidden.splice(at..at, *b"hidden");
    let end = find(&hidden, END, 0) + 16;
    let offset = u32::from_le_bytes(hidden[end..end + 4].try_into().unwrap()) + 6;
    put(&mut hidden, end, &offset.to_le_bytes());
    judge("a gap", &hidden, [Ok(2), Err(Corrupt), Err(Corrupt)]);

    let locked = {
        let mut archive = local(6, &[1, 0]);
        let at = find(&archive, CENTRAL, 0);
        put(&mut archive, at + 8, &[1, 0]);
        archive
    };
    let short = Err(Corrupt);
    judge(
        "encryption of too few bytes",
        &locked,
        [short, short, short],
    );

    let tight = ReadOptions::new().limits(Limits::default().entry_bytes(999));
    assert_eq!(by_file(&plain(), &tight).unwrap_err().kind(), Limit);
    assert_eq!(by_pipe(&plain(), &tight).unwrap_err().kind(), Limit);
}

#[test]
fn what_is_wrong_in_a_local_header_has_its_place() {
    let mut archive = plain();
    let second = find(&archive, LOCAL, 1);
    // A flag that is reserved, there alone.
    archive[second + 6] |= 1 << 7;
    let strict = ReadOptions::strict();
    for found in [by_file(&archive, &strict), by_pipe(&archive, &strict)] {
        let error = found.unwrap_err();
        assert_eq!(error.offset(), Some(second as u64), "{error}");
        assert_eq!(error.entry_name(), Some("bb"));
    }
}

#[test]
fn a_second_end_record_in_the_comment_is_refused_by_strict() {
    let mut settings = zipstream::ArchiveOptions::default();
    settings.comment = [&END[..], &[0; 18]].concat();
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).unwrap();
    let options = EntryOptions::default();
    writer.add("a", &options, &mut &b"content"[..]).unwrap();
    let (archive, _) = writer.finish().unwrap();
    let error = by_file(&archive, &ReadOptions::strict()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Corrupt), "{error}");
}

/// 45 MB out of 45 KB, which says that it is 10 bytes.
#[test]
fn content_beyond_what_is_stated_or_allowed_is_not_produced() {
    let bomb = archive(&[("bomb", Method::Deflate, &vec![0; 45_000_000])]);
    let limits = |entry_bytes, total_bytes, ratio| {
        let limits = Limits::default().entry_bytes(entry_bytes);
        ReadOptions::new().limits(limits.total_bytes(total_bytes).ratio(ratio))
    };
    let most = u64::MAX;
    for options in [
        limits(1_000_000, most, most),
        limits(most, 1_000_000, most),
        limits(most, most, 100),
    ] {
        for read in [by_file, by_pipe] {
            let error = read(&bomb, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
            assert_eq!(error.entry_name(), Some("bomb"));
        }
    }
    let mut liar = bomb;
    let at = find(&liar, CENTRAL, 0) + 24;
    put(&mut liar, at, &10_u32.to_le_bytes());
    let error = by_file(&liar, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Size);
}

/// Entries of every shape: stored, deflated, zstd, with a descriptor, with a ZIP64 descriptor.
fn shapes() -> Vec<u8> {
    let noise: Vec<u8> = (0..40_u32).map(|n| (n * n * 31) as u8).collect();
    let large = vec![b'l'; (1 << 20) + 1];
    let mut writer = ArchiveWriter::new(Vec::new());
    let mut hinted = EntryOptions::default();
    hinted.size_hint = Some(large.len() as u64);
    for (name, options, content) in [
        ("stored", EntryOptions::new(Method::Stored), &noise[..]),
        ("deflate", EntryOptions::default(), &[b'd'; 300]),
        ("zstd", EntryOptions::new(Method::Zstd), &[b'z'; 300]),
        ("dir", EntryOptions::directory(), b""),
        ("hinted", hinted, &large),
        ("unbounded", EntryOptions::default(), &large),
    ] {
        writer
            .add(name, &options, &mut &content[..])
            .expect("it works");
    }
    writer.finish().expect("it works").0
}

#[test]
fn archives_cut_off_anywhere_are_errors() {
    let archive = shapes();
    for options in [ReadOptions::default(), ReadOptions::strict()] {
        assert_eq!(by_file(&archive, &options).unwrap(), 6);
        assert_eq!(by_pipe(&archive, &options).unwrap(), 6);
        for cut in 0..archive.len() {
            // The long contents are the same all over.
            if cut % 7 != 0 && cut > 1200 && cut < archive.len() - 800 {
                continue;
            }
            let part = &archive[..cut];
            let error = by_file(part, &options).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotZip, "{cut}: {error}");
            let error = by_pipe(part, &options).unwrap_err();
            let expected = if cut == 0 {
                ErrorKind::NotZip
            } else {
                ErrorKind::Truncated
            };
            assert_eq!(error.kind(), expected, "{cut}: {error}");
            assert!(cut == 0 || error.offset().is_some(), "{cut}: {error}");
        }
    }
}

#[test]
fn a_flipped_byte_is_an_error_in_strict_or_changes_no_content() {
    let archive = archive(&[
        ("stored", Method::Stored, b"0123456789"),
        ("deflate", Method::Deflate, &[b'd'; 300]),
        ("zstd", Method::Zstd, &[b'z'; 300]),
    ]);
    let contents = |archive: &[u8], options| -> Result<Vec<Vec<u8>>, Error> {
        let reader = ArchiveReader::open_with(archive, &options)?;
        let entries = reader.entries();
        entries.map(|entry| reader.read(&entry?)).collect()
    };
    let whole = contents(&archive, ReadOptions::strict()).unwrap();
    for at in 0..archive.len() {
        for bit in 0..8 {
            let mut flipped = archive.clone();
            flipped[at] ^= 1 << bit;
            if let Ok(found) = contents(&flipped, ReadOptions::strict()) {
                assert!(found == whole, "byte {at}, bit {bit}");
            }
            // The default profile, and pipes, have only not to panic or hang.
            let _ = contents(&flipped, ReadOptions::default());
            let _ = by_pipe(&flipped, &ReadOptions::default());
            let _ = by_pipe(&flipped, &ReadOptions::strict());
        }
    }
}

#[test]
fn the_writer_refuses_names_that_programs_read_differently() {
    for name in [
        "a\\b", "./a", "a//b", "a/./b", "a/.", "../a", "/a", "C:a", "",
    ] {
        let mut writer = ArchiveWriter::new(Vec::new());
        let added = writer.add(name, &EntryOptions::default(), &mut &b"x"[..]);
        assert_eq!(added.unwrap_err().kind(), ErrorKind::Name, "{name:?}");
    }
}
