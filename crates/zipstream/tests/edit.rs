//! Entries that are carried from one archive into another: nothing of them changes but their place.

use zipstream::{
    ArchiveEncoder, ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption,
    EntryOptions, Error, ErrorKind, Method, Password, PipeReader, ReadOptions, Scratch,
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
