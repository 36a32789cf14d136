//! Entries that are carried from one archive into another: nothing of them changes but their place.

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
            "{:?} {:?} {} {:?} {:?} {} {} {} {:?}",
            entry.name(),
            entry.method(),
            entry.is_encrypted(),
            entry.kind(),
            entry.mode(),
            entry.modified(),
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

/// What is saved, as an archive again.
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
