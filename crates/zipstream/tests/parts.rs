//! Split archives read as one that is whole.

use zipstream::combine::{Parts, SplitArchive};
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, EntryOptions, ErrorKind, Limits, ReadAt as _,
    ReadOptions,
};

/// What a split archive starts with.
const MARKER: [u8; 4] = *b"PK\x07\x08";

fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let options = ArchiveOptions::new().comment("of all parts");
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("options");
    for (name, content) in entries {
        let options = EntryOptions::default();
        let added = writer.add(name, &options, &mut &content[..]);
        added.expect("added");
    }
    writer.finish().expect("finished").0
}

/// Splits an archive as `zip -s` does: records state the part of their entry and its place there, by 16 bits or,
/// if `wide`, in a ZIP64 field; no header goes from one part to the next.
fn split(whole: &[u8], part_bytes: usize, wide: bool) -> Vec<Vec<u8>> {
    let reader = ArchiveReader::open(whole).expect("an archive");
    let start = reader.directory().start() as usize;
    let mut starts: Vec<usize> = Vec::new();
    for entry in reader.entries() {
        starts.push(entry.expect("a record").offset() as usize);
    }
    let mut parts = vec![MARKER.to_vec()];
    let mut places = Vec::new();
    for (at, byte) in whole[..start].iter().enumerate() {
        let header = starts.contains(&at) && parts[parts.len() - 1].len() + 60 > part_bytes;
        if header || parts[parts.len() - 1].len() == part_bytes {
            parts.push(Vec::new());
        }
        if starts.contains(&at) {
            places.push((parts.len() - 1, parts[parts.len() - 1].len()));
        }
        parts.last_mut().expect("a part").push(*byte);
    }
    let (number, offset) = (parts.len() - 1, parts[parts.len() - 1].len());
    let mut tail = Vec::new();
    let mut at = start;
    for (part, offset) in places {
        let field = |at: usize| usize::from(u16::from_le_bytes([whole[at], whole[at + 1]]));
        let (name, extra, comment) = (field(at + 28), field(at + 30), field(at + 32));
        let record = &whole[at..at + 46 + name + extra + comment];
        at += record.len();
        let mut record = record.to_vec();
        match wide {
            false => {
                record[34..36].copy_from_slice(&(part as u16).to_le_bytes());
                record[42..46].copy_from_slice(&(offset as u32).to_le_bytes());
            }
            true => {
                record[34..36].fill(0xff);
                record[42..46].fill(0xff);
                let mut data = vec![1, 0, 12, 0];
                data.extend((offset as u64).to_le_bytes());
                data.extend((part as u32).to_le_bytes());
                record[30..32].copy_from_slice(&((extra + data.len()) as u16).to_le_bytes());
                let behind = 46 + name + extra;
                record.splice(behind..behind, data);
            }
        }
        tail.extend(record);
    }
    let bytes = tail.len() as u32;
    let mut end = whole[at..].to_vec();
    assert_eq!(end[..4], *b"PK\x05\x06");
    end[4..6].copy_from_slice(&(number as u16).to_le_bytes());
    end[6..8].copy_from_slice(&(number as u16).to_le_bytes());
    end[12..16].copy_from_slice(&bytes.to_le_bytes());
    end[16..20].copy_from_slice(&(offset as u32).to_le_bytes());
    let last = parts.last_mut().expect("a part");
    last.extend(tail);
    last.extend(end);
    parts
}

fn contents() -> Vec<(String, Vec<u8>)> {
    let noise = crate::data::noise(7, 200_000);
    vec![
        ("a.txt".to_owned(), b"first".to_vec()),
        ("large".to_owned(), noise),
        ("empty".to_owned(), Vec::new()),
        ("b.txt".to_owned(), b"second second second second".to_vec()),
    ]
}

fn whole() -> Vec<u8> {
    let contents = contents();
    let entries = contents.iter();
    let entries = entries.map(|(name, content)| (name.as_str(), content.as_slice()));
    archive(&entries.collect::<Vec<_>>())
}

#[test]
fn parts_of_any_size_are_the_archive_that_was_split() {
    let whole = whole();
    for wide in [false, true] {
        for part_bytes in [100, 1 << 10, 65_536, 199_999, 1 << 20] {
            let parts = split(&whole, part_bytes, wide);
            let last = parts.last().expect("a part");
            assert_eq!(Parts::count(last).expect("a count") as usize, parts.len());
            let joined = Parts::join(parts, &Limits::default()).expect("joined");
            // Byte for byte, but for the order of records: the marker is gone, and the directory counts again.
            let mut bytes = vec![0; joined.size().expect("a size") as usize];
            let mut at = 0;
            while at < bytes.len() {
                let read = joined.read_at(&mut bytes[at..], at as u64).expect("read");
                assert!(read > 0);
                at += read;
            }
            assert_eq!(joined.read_at(&mut [0], at as u64).expect("the end"), 0);
            assert!(bytes == whole, "{part_bytes} {wide}");
            let reader = ArchiveReader::open_with(joined, &ReadOptions::strict()).expect("strict");
            assert_eq!(reader.directory().comment(), b"of all parts");
            for (name, content) in contents() {
                let entry = reader.find(&name).expect("found").expect("there");
                assert!(reader.read(&entry).expect("read") == content, "{name}");
            }
        }
    }
}

#[test]
fn what_is_missing_or_led_astray_is_an_error() {
    let parts = split(&whole(), 50_000, false);
    assert_eq!(parts.len(), 5);
    let kind = |parts: Vec<Vec<u8>>| {
        let joined = Parts::join(parts, &Limits::default());
        joined
            .and_then(ArchiveReader::open)
            .map(|_| ())
            .map_err(|error| error.kind())
    };
    assert_eq!(kind(parts.clone()), Ok(()));
    assert_eq!(kind(Vec::new()), Err(ErrorKind::NotZip));
    // The first part is missing, the last one, all but the last one.
    assert_eq!(kind(parts[1..].to_vec()), Err(ErrorKind::Corrupt));
    assert_eq!(kind(parts[..4].to_vec()), Err(ErrorKind::NotZip));
    assert_eq!(kind(parts[4..].to_vec()), Err(ErrorKind::Corrupt));
    let small = Limits::default().directory_bytes(10);
    let joined = Parts::join(parts.clone(), &small).map(|_| ());
    assert_eq!(joined.unwrap_err().kind(), ErrorKind::Limit);
    // The directory begins behind the end, or records are cut off.
    for (at, value) in [
        (16, [0xff, 0xff, 0xff, 0x7f]),
        (12, [0xff, 0xff, 0, 0]),
        (12, [50, 0, 0, 0]),
    ] {
        let mut parts = parts.clone();
        let last = parts.last_mut().expect("a part");
        let end = last.len() - 22 - "of all parts".len() + at;
        last[end..end + 4].copy_from_slice(&value);
        assert_eq!(kind(parts), Err(ErrorKind::Corrupt));
    }
    // A part alone is none of the archives that are read without the others.
    let alone = ArchiveReader::open(&parts[4][..]).map(|_| ());
    assert_eq!(alone.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// The parts of an archive, as bytes.
fn written(whole: &[u8], part_bytes: u64) -> Result<Vec<Vec<u8>>, zipstream::Error> {
    let reader = ArchiveReader::open(whole)?;
    let split = SplitArchive::of(&reader, part_bytes)?;
    let mut parts = vec![Vec::new(); split.parts()];
    for (number, part) in parts.iter_mut().enumerate() {
        split.write_part(number, reader.source(), part)?;
    }
    Ok(parts)
}

#[test]
fn what_is_split_is_joined_byte_for_byte() {
    let whole = whole();
    for part_bytes in [100, 101, 1 << 10, 65_536, 199_999, whole.len() as u64 - 1] {
        let parts = written(&whole, part_bytes).expect("split");
        assert!(parts.len() > 1, "{part_bytes}");
        assert!(parts[0].starts_with(&MARKER));
        assert!(parts.iter().all(|part| part.len() as u64 <= part_bytes));
        // No header and no record goes from one part to the next.
        for (signature, least) in [(b"PK\x03\x04", 30), (b"PK\x01\x02", 46)] {
            let mut found = 0;
            for part in &parts {
                let places = part.windows(4).enumerate();
                for (at, _) in places.filter(|(_, bytes)| *bytes == signature) {
                    assert!(at + least <= part.len(), "{part_bytes}");
                    found += 1;
                }
            }
            assert_eq!(found, 4, "{part_bytes}");
        }
        let last = parts.last().expect("a part");
        assert_eq!(Parts::count(last).expect("a count") as usize, parts.len());
        let joined = Parts::join(parts, &Limits::default()).expect("joined");
        let mut bytes = vec![0; joined.size().expect("a size") as usize];
        let mut at = 0;
        while at < bytes.len() {
            at += joined.read_at(&mut bytes[at..], at as u64).expect("read");
        }
        assert!(bytes == whole, "{part_bytes}");
    }
    // One that fits stays as it is.
    assert_eq!(written(&whole, whole.len() as u64).expect("one"), [whole]);
}

#[test]
fn a_directory_may_fill_parts_of_its_own() {
    let names: Vec<String> = (0..70_000).map(|number| format!("{number:05}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b""[..])).collect();
    let whole = archive(&entries);
    let parts = written(&whole, 1 << 16).expect("split");
    let last = parts.last().expect("a part");
    assert_eq!(Parts::count(last).expect("a count") as usize, parts.len());
    let joined = Parts::join(parts, &Limits::default()).expect("joined");
    let reader = ArchiveReader::open_with(joined, &ReadOptions::strict()).expect("strict");
    assert_eq!(reader.len(), 70_000);
}

#[test]
fn parts_that_are_too_short_or_too_many_are_refused() {
    for part_bytes in [0, 1, 10, 40] {
        let error = written(&whole(), part_bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{part_bytes}: {error}");
        assert!(error.help_text().is_some());
    }
    let content = vec![7; 7_000_000];
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(zipstream::Method::Stored);
    writer.add("a", &options, &mut &content[..]).expect("added");
    let (large, _) = writer.finish().expect("finished");
    let error = written(&large, 100).unwrap_err();
    assert!(error.to_string().contains("65535 parts"), "{error}");
}

#[test]
fn descriptors_are_not_divided() {
    // A content of unknown size that is too large for one piece has one.
    let noise = crate::data::noise(9, 3 << 20);
    let mut writer = ArchiveWriter::new(Vec::new());
    for name in ["a", "b"] {
        let started = writer.start_entry(name, &EntryOptions::default());
        started.expect("started");
        writer.push(&noise).expect("pushed");
        writer.finish_entry().expect("finished");
    }
    let (whole, _) = writer.finish().expect("finished");
    let reader = ArchiveReader::open(&whole[..]).expect("an archive");
    let entries: Vec<_> = reader.entries().flatten().collect();
    assert!(entries[0].has_descriptor());
    let end = entries[1].offset();
    // A part that would end within the descriptor of the first entry ends before it.
    for part_bytes in end - 20..end + 8 {
        let parts = written(&whole, part_bytes).expect("split");
        let marked = parts
            .iter()
            .filter(|part| part.windows(4).any(|at| at == MARKER));
        let at = parts[0].len() as u64 - 4;
        assert!(at <= end - 24 || at == end, "{part_bytes}: {at} {end}");
        assert!(marked.count() >= 2);
    }
}
