//! Copying entries from one archive to another changes nothing but their position; continuing and
//! recovering archives.

use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption,
    EntryOptions, Error, ErrorKind, Limits, Method, Password, PipeReader, ReadOptions, Salvage,
    Scratch, salvage,
};

/// An archive of all shapes, its name bytes not all ASCII.
fn source(encrypted: bool) -> Vec<u8> {
    let mut options = ArchiveOptions::default();
    options.comment = b"comment".to_vec();
    options.encryption = encrypted.then(|| Encryption::new(Password::from("right")));
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("it works");
    let large = b"some text, ".repeat(200_000);
    let mut dated = EntryOptions::new(Method::Zstd);
    dated.modified = Some(1_000_000_001);
    dated.mode = 0o750;
    let mut hinted = EntryOptions::default();
    hinted.size_hint = Some(large.len() as u64);
    for (name, options, content) in [
        ("stored", EntryOptions::new(Method::Stored), &large[..100]),
        ("größe", dated, &large[..5000]),
        ("dir/", EntryOptions::directory(), &[]),
        ("link", EntryOptions::symlink(), b"stored"),
        ("hinted", hinted, &large),
        ("unbounded", EntryOptions::default(), &large),
    ] {
        writer
            .add(name, &options, &mut &content[..])
            .expect("it works");
    }
    writer.finish().expect("it works").0
}

fn open(archive: &[u8]) -> ArchiveReader<&[u8]> {
    let mut reader =
        ArchiveReader::open_with(archive, &ReadOptions::strict()).expect("it is strictly right");
    let decryption = Decryption::new(Password::from("right"));
    reader.set_decryption(Some(decryption));
    reader
}

/// What an entry is, but for where.
fn facts(reader: &ArchiveReader<&[u8]>) -> Vec<String> {
    let fact = |entry: Result<zipstream::Entry<'_>, Error>| {
        let entry = entry.expect("it is there");
        let content = reader.read(&entry).expect("it is read");
        let mut sum = zipstream::Crc32::new();
        sum.update(&content);
        format!(
            "{:?} {:?} {} {:?} {:?} {:?} {} {} {:?}",
            entry.name(),
            entry.method(),
            entry.is_encrypted(),
            entry.kind(),
            entry.mode(),
            entry.time(),
            entry.compressed_bytes(),
            content.len(),
            sum
        )
    };
    let mut facts: Vec<_> = reader.entries().map(fact).collect();
    facts.sort();
    facts
}

#[test]
fn a_copy_has_all_that_the_original_had() {
    for encrypted in [false, true] {
        let archive = source(encrypted);
        let reader = open(&archive);
        let mut scratch = Scratch::default();
        let mut options = ArchiveOptions::default();
        options.threads = 2;
        let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("it works");
        // Behind what threads still work on, and in another order.
        let text = b"new text ".repeat(100);
        let new = EntryOptions::default();
        writer.add("new", &new, &mut &text[..]).expect("it works");
        let mut entries: Vec<_> = reader.entries().map(|entry| entry.expect("read")).collect();
        entries.reverse();
        for entry in &entries {
            writer.copy(&reader, entry, &mut scratch).expect("copied");
        }
        let again = writer.copy(&reader, &entries[0], &mut scratch);
        assert_eq!(again.expect_err("twice").kind(), ErrorKind::Duplicate);
        writer.add("newer", &new, &mut &text[..]).expect("it works");
        let (copy, totals) = writer.finish().expect("it works");
        assert_eq!(totals.entries, 8);
        let mut found = facts(&open(&copy));
        found.retain(|fact| !fact.contains("new"));
        assert_eq!(found, facts(&reader));
        if !encrypted {
            let mut pipe = PipeReader::new(&copy[..], &ReadOptions::strict());
            while pipe.next_entry().expect("an entry").is_some() {}
            while pipe.next_record().expect("a record").is_some() {}
        }
    }
}

#[test]
fn what_does_not_come_whole_fails() {
    let archive = source(false);
    let reader = open(&archive);
    let entry = reader.find("stored").expect("read").expect("there");
    let raw = reader.raw(&entry, &mut Scratch::default()).expect("raw");
    let bytes = raw.compressed_bytes();
    assert_eq!((raw.name_bytes(), bytes), (&b"stored"[..], 100));
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).expect("it works");
    let order = encoder.push_raw(b"x").expect_err("none is open").kind();
    assert_eq!(order, ErrorKind::Order);
    encoder.start_raw(raw).expect("it starts");
    assert_eq!(
        encoder.push(b"x").expect_err("raw").kind(),
        ErrorKind::Order
    );
    encoder.push_raw(&[0; 99]).expect("taken");
    let error = encoder.finish_raw().expect_err("one byte is missing");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    let error = encoder.finish().expect_err("it failed");
    assert_eq!(error.kind(), ErrorKind::Mismatch);
}

/// The recovered entries as an archive.
fn rebuilt(broken: &[u8], saved: &Salvage) -> Vec<u8> {
    let mut encoder = ArchiveEncoder::new(ArchiveOptions::default()).expect("it works");
    for entry in &saved.entries {
        encoder.start_raw(entry.raw.clone()).expect("it starts");
        let range = entry.range.start as usize..entry.range.end as usize;
        encoder.push_raw(&broken[range]).expect("it is taken");
        encoder.finish_raw().expect("it ends");
    }
    encoder.finish().expect("it ends");
    encoder.output().to_vec()
}

fn saved(broken: &[u8]) -> Salvage {
    let decryption = Decryption::new(Password::from("right"));
    salvage(&broken, &Limits::default(), Some(decryption)).expect("it is looked through")
}

#[test]
fn entries_are_saved_by_their_local_headers() {
    for encrypted in [false, true] {
        let archive = source(encrypted);
        let expected = facts(&open(&archive));
        let start = open(&archive).directory().start() as usize;
        // The whole archive, one without its end, and one with bytes before it.
        let cut = &archive[..archive.len() - 22];
        let prefixed = [b"PK\x03\x04 and nothing", &archive[..]].concat();
        for (broken, lost) in [(&archive[..], 0), (cut, 0), (&prefixed, 1)] {
            let saved = saved(broken);
            assert_eq!((saved.entries.len() as u64, saved.lost_entries), (6, lost));
            assert!(saved.entries.iter().all(|entry| entry.verified));
            assert_eq!(facts(&open(&rebuilt(broken, &saved))), expected);
        }
        // Without a directory modes are lost, and nothing else.
        let saved = saved(&archive[..start]);
        assert_eq!(
            (saved.entries.len(), saved.lost_entries, saved.lost_bytes),
            (6, 0, 0)
        );
        let rebuilt = rebuilt(&archive, &saved);
        let reader = open(&rebuilt);
        assert!(
            reader
                .entries()
                .all(|entry| reader.read(&entry.expect("read")).is_ok())
        );
    }
}

#[test]
fn what_is_damaged_is_lost_and_what_follows_is_saved() {
    let archive = source(false);
    let names = |saved: &Salvage| -> Vec<Vec<u8>> {
        let entries = saved.entries.iter();
        entries
            .map(|entry| entry.raw.name_bytes().to_vec())
            .collect()
    };
    let mut flipped = archive.clone();
    flipped[60] ^= 1;
    let found = saved(&flipped);
    assert_eq!((found.entries.len(), found.lost_entries), (5, 1));
    assert!(found.lost_bytes > 100 && !names(&found).contains(&b"stored".to_vec()));
    // A header that is none any more is missed by the directory.
    let mut gone = archive.clone();
    gone[0] = 0;
    assert_eq!(
        (saved(&gone).entries.len(), saved(&gone).lost_entries),
        (5, 1)
    );
    for cut in [0, 3, 50, 200, 3000, archive.len() / 2] {
        let found = saved(&archive[..cut]);
        assert!(found.entries.len() < 6 && found.lost_entries <= 1, "{cut}");
    }
    // Without the password nothing is verified, and what states its size is saved all the same.
    let closed = source(true);
    let found = salvage(&closed, &Limits::default(), None).expect("it is looked through");
    let verified = found.entries.iter().filter(|entry| entry.verified).count();
    assert_eq!((found.entries.len(), verified), (4, 1));
}

#[test]
fn headers_that_lead_to_the_same_bytes_again_and_again_are_given_up() {
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(Method::Stored);
    let content = vec![b'x'; (1 << 20) - 1];
    writer.add("a", &options, &mut &content[..]).expect("added");
    let (mut archive, _) = writer.finish().expect("finished");
    let header = archive[..31].to_vec();
    // Many headers in a row, each of which states the size of all that follows and lies of it.
    let mut hostile = Vec::new();
    for _ in 0..100 {
        hostile.extend_from_slice(&header);
    }
    archive[14] ^= 1;
    hostile.extend_from_slice(&archive);
    let error = salvage(&hostile, &Limits::default(), None).expect_err("it is too much");
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn a_content_that_compresses_well_is_no_reason_to_give_an_archive_up() {
    let zeros = vec![0; 8 << 20];
    let mut writer = ArchiveWriter::new(Vec::new());
    for name in ["a", "b", "c"] {
        let options = EntryOptions::default();
        writer.add(name, &options, &mut &zeros[..]).expect("added");
    }
    let (inner, _) = writer.finish().expect("finished");
    let found = saved(&inner);
    assert_eq!((found.entries.len(), found.lost_entries), (3, 0));
    // The same within an entry that is cut off: what it has is decoded twice.
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::new(Method::Stored);
    writer
        .add("inner.zip", &options, &mut &inner[..])
        .expect("added");
    let (outer, _) = writer.finish().expect("finished");
    let found = saved(&outer[..39 + inner.len() - 30]);
    assert_eq!((found.entries.len(), found.lost_entries), (3, 1));
}

#[test]
fn what_precedes_a_sound_archive_belongs_to_it() {
    let archive = source(false);
    let start = open(&archive).directory().start() as usize;
    let preceded = |before: &[u8], archive: &[u8]| {
        let found = saved(&[before, archive].concat());
        (found.preceding_bytes, found.lost_bytes, found.lost_entries)
    };
    let program = b"#!/bin/sh\nPK\x03\x04 is how an archive starts\n";
    let bytes = program.len() as u64;
    // The directory says that no entry was there, and a program needs no directory.
    assert_eq!(preceded(program, &archive), (bytes, 0, 0));
    assert_eq!(preceded(program, &archive[..start]), (bytes, 0, 0));
    assert_eq!(preceded(b"any bytes", &archive), (9, 0, 0));
    let (kept, lost, _) = preceded(b"any bytes", &archive[..start]);
    assert_eq!((kept, lost), (0, 9));
    // The first entry without its start is none of it.
    let found = saved(&archive[20..]);
    assert_eq!((found.preceding_bytes, found.lost_entries), (0, 1));
    assert!(found.lost_bytes > 0);
}

/// What an archive becomes when entries of these names follow.
fn resumed(archive: &[u8], threads: usize, names: &[&str]) -> Vec<u8> {
    let directory = open(archive).shared_directory();
    let mut options = ArchiveOptions::default();
    (options.threads, options.comment) = (threads, directory.comment().to_vec());
    let mut writer = ArchiveWriter::resume(Vec::new(), options, &directory).expect("it goes on");
    let content = b"what follows, ".repeat(150_000);
    for (index, name) in names.iter().enumerate() {
        let taken = if index == 0 { content.len() } else { 20 };
        let entry = EntryOptions::default();
        writer
            .add(name, &entry, &mut &content[..taken])
            .expect("added");
    }
    let (end, totals) = writer.finish().expect("finished");
    let before = directory.stated_entries();
    assert_eq!(totals.entries, before + names.len() as u64);
    let whole = [&archive[..directory.start() as usize], &end].concat();
    assert_eq!(totals.archive_bytes, whole.len() as u64);
    whole
}

#[test]
fn an_archive_goes_on_where_its_directory_was() {
    for encrypted in [false, true] {
        let archive = source(encrypted);
        let before = facts(&open(&archive));
        let one = resumed(&archive, 0, &["more", "and more"]);
        assert_eq!(one, resumed(&archive, 2, &["more", "and more"]));
        let again = resumed(&one, 0, &["last"]);
        let reader = open(&again);
        assert_eq!(reader.directory().comment(), b"comment");
        let mut found = facts(&reader);
        assert_eq!(found.len(), before.len() + 3);
        found.retain(|fact| before.contains(fact));
        assert_eq!(found, before);
    }
    // Nothing that follows is the same archive.
    let archive = source(false);
    assert_eq!(resumed(&archive, 0, &[]), archive);
    let empty = ArchiveWriter::new(Vec::new()).finish().expect("empty").0;
    assert_eq!(open(&resumed(&empty, 0, &["a"])).len(), 1);
}

#[test]
fn what_goes_on_takes_no_name_twice_and_leaves_out_no_bytes() {
    let archive = source(false);
    let directory = open(&archive).shared_directory();
    let options = ArchiveOptions::default;
    let mut encoder = ArchiveEncoder::resume(options(), &directory).expect("it goes on");
    for name in ["größe", "dir", "hinted"] {
        let entry = match name {
            "dir" => EntryOptions::directory(),
            _ => EntryOptions::default(),
        };
        let error = encoder.start_entry(name, &entry).expect_err("it is there");
        assert_eq!(error.kind(), ErrorKind::Duplicate, "{name}");
    }
    for around in [
        [b"#!/bin/sh\n", &archive[..]].concat(),
        [&archive[..], b"more"].concat(),
    ] {
        let reader = ArchiveReader::open(&around[..]).expect("it opens");
        let refused = ArchiveEncoder::resume(options(), reader.directory());
        let error = refused.map(drop).expect_err("it does not go on");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn an_archive_that_goes_on_beyond_65535_entries_becomes_a_zip64_one() {
    let add = |writer: &mut ArchiveWriter<Vec<u8>>, from: u32, to: u32| {
        for number in from..to {
            let name = format!("{number}");
            let entry = EntryOptions::default();
            writer.add(&name, &entry, &mut &b""[..]).expect("added");
        }
    };
    let mut writer = ArchiveWriter::new(Vec::new());
    add(&mut writer, 0, 65_530);
    let (mut archive, _) = writer.finish().expect("finished");
    let directory = open(&archive).shared_directory();
    let options = ArchiveOptions::default();
    let mut writer = ArchiveWriter::resume(Vec::new(), options, &directory).expect("it goes on");
    add(&mut writer, 65_530, 65_540);
    let (end, _) = writer.finish().expect("finished");
    archive.truncate(directory.start() as usize);
    archive.extend_from_slice(&end);
    assert_eq!(open(&archive).len(), 65_540);
}
