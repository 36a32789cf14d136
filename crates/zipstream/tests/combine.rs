//! Archives merged and split: entries as they are, in archives that the strict profile accepts.

use zipstream::combine::{Combination, CombineOptions, Duplicates, NewArchive};
use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, ErrorKind,
    Method, Password, ReadOptions,
};

fn noise(bytes: usize) -> Vec<u8> {
    crate::data::noise(bytes as u64 + 1, bytes)
}

/// An archive of files with these contents.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    archive_with(ArchiveOptions::new(), entries)
}

fn archive_with(options: ArchiveOptions, entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("options");
    for (name, content) in entries {
        let options = match name.ends_with('/') {
            true => EntryOptions::directory(),
            false => EntryOptions::default().modified(1_000_000_000),
        };
        writer
            .add(name, &options, &mut &content[..])
            .expect("added");
    }
    writer.finish().expect("finished").0
}

fn combination(archives: &[Vec<u8>], options: CombineOptions) -> Combination {
    let mut combination = Combination::new(options);
    for bytes in archives {
        let reader = ArchiveReader::open(&bytes[..]).expect("an archive");
        combination.add(reader.shared_directory()).expect("added");
    }
    combination
}

fn written(archives: &[Vec<u8>], new: &NewArchive) -> Vec<u8> {
    let sources: Vec<&[u8]> = archives.iter().map(Vec::as_slice).collect();
    let mut bytes = Vec::new();
    new.write_to(&sources, &mut bytes).expect("written");
    assert_eq!(bytes.len() as u64, new.totals().archive_bytes);
    bytes
}

fn merged(archives: &[Vec<u8>], options: CombineOptions) -> Vec<u8> {
    let new = combination(archives, options).finish().expect("planned");
    assert_eq!(new.len(), 1);
    written(archives, &new[0])
}

fn names(bytes: &[u8]) -> Vec<String> {
    let reader = ArchiveReader::open_with(bytes, &ReadOptions::strict()).expect("strict");
    let name = |entry: Result<zipstream::Entry<'_>, _>| entry.unwrap().name().unwrap().into_owned();
    reader.entries().map(name).collect()
}

#[test]
fn entries_of_every_kind_are_merged_as_they_are() {
    let (large, small) = (noise(3_000_000), b"small and stored: \x00".repeat(2));
    let encryption = Encryption::new(Password::from("secret"));
    let archives = [
        archive(&[
            ("d/", b""),
            ("d/a.txt", b"first first first"),
            ("large", &large),
        ]),
        archive_with(
            ArchiveOptions::new().comment("lost").encryption(encryption),
            &[("secret", b"hidden"), ("d/", b"")],
        ),
        archive(&[]),
        archive(&[("\u{fc}mlaut", &small)]),
    ];
    let bytes = merged(&archives, CombineOptions::new().comment("new"));
    assert_eq!(
        names(&bytes),
        ["d/", "d/a.txt", "large", "secret", "\u{fc}mlaut"]
    );
    let mut reader = ArchiveReader::open(&bytes[..]).expect("an archive");
    reader.set_decryption(Some(Decryption::new(Password::from("secret"))));
    assert_eq!(reader.directory().comment(), b"new");
    for (name, content) in [
        ("d/a.txt", &b"first first first"[..]),
        ("large", &large),
        ("secret", b"hidden"),
        ("\u{fc}mlaut", &small),
    ] {
        let entry = reader.find(name).expect("found").expect("there");
        assert!(reader.read(&entry).expect("read") == content, "{name}");
    }
    // The bytes before the directories are those of the sources.
    let first = ArchiveReader::open(&archives[0][..]).expect("an archive");
    let start = first.directory().start() as usize;
    assert!(bytes[..start] == archives[0][..start]);
    let entry = reader.find("d/a.txt").expect("found").expect("there");
    assert_eq!(entry.time().seconds_utc(|local| local), 1_000_000_000);
}

#[test]
fn bytes_before_an_archive_are_left_out() {
    let plain = archive(&[("a", b"first"), ("b", b"second")]);
    let mut prefixed = b"#!/bin/sh\nexit 0\n".to_vec();
    prefixed.extend_from_slice(&plain);
    let other = archive(&[("c", b"third")]);
    let bytes = merged(&[prefixed, other], CombineOptions::new());
    assert_eq!(names(&bytes), ["a", "b", "c"]);
}

#[test]
fn entries_of_one_name_are_refused_or_chosen() {
    let archives = [
        archive(&[("a", b"first"), ("b", b"only")]),
        archive(&[("a", b"second"), ("c", b"only")]),
    ];
    let mut refused = Combination::new(CombineOptions::new());
    let readers = archives
        .each_ref()
        .map(|bytes| ArchiveReader::open(&bytes[..]).expect("opened"));
    refused.add(readers[0].shared_directory()).expect("added");
    let error = refused
        .add(readers[1].shared_directory())
        .expect_err("twice");
    assert_eq!(error.kind(), ErrorKind::Duplicate);
    assert_eq!(error.to_string(), "entry 'a': archives 1 and 2 have it");
    for (duplicates, content, order) in [
        (Duplicates::First, &b"first"[..], ["a", "b", "c"]),
        (Duplicates::Last, b"second", ["b", "a", "c"]),
    ] {
        let options = CombineOptions::new().duplicates(duplicates);
        assert_eq!(combination(&archives, options.clone()).dropped(), 1);
        let bytes = merged(&archives, options);
        assert_eq!(names(&bytes), order);
        let reader = ArchiveReader::open(bytes).expect("opened");
        let entry = reader.find("a").expect("found").expect("there");
        assert_eq!(reader.read(&entry).expect("read"), content);
    }
    // A file and a directory of one name are no two directories.
    let clash = [archive(&[("a", b"")]), archive(&[("a/", b"")])];
    let mut refused = Combination::new(CombineOptions::new());
    let mut add = |bytes: &Vec<u8>| {
        refused.add(
            ArchiveReader::open(&bytes[..])
                .expect("opened")
                .shared_directory(),
        )
    };
    add(&clash[0]).expect("added");
    assert_eq!(
        add(&clash[1]).expect_err("clash").kind(),
        ErrorKind::Duplicate
    );
}

#[test]
fn archives_are_split_by_bytes_and_by_entries_in_order() {
    let contents: Vec<(String, Vec<u8>)> = (0..40)
        .map(|number| (format!("{number:02}"), noise(100 + 90 * number)))
        .collect();
    let entries: Vec<(&str, &[u8])> = contents
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()))
        .collect();
    let archives = [archive(&entries[..25]), archive(&entries[25..])];
    let expected: Vec<&str> = entries.iter().map(|(name, _)| *name).collect();
    for (most, options) in [
        (
            8_000,
            CombineOptions::new().archive_bytes(8_000).comment("part"),
        ),
        (u64::MAX, CombineOptions::new().archive_entries(7)),
    ] {
        let new = combination(&archives, options).finish().expect("planned");
        assert!(new.len() > 5, "{}", new.len());
        let mut found = Vec::new();
        for part in &new {
            let bytes = written(&archives, part);
            assert!(bytes.len() as u64 <= most);
            assert_eq!(names(&bytes).len() as u64, part.totals().entries);
            assert!(most != u64::MAX || part.totals().entries <= 7);
            found.extend(names(&bytes));
        }
        assert_eq!(found, expected);
    }
    // Exactly what one needs is enough, and a byte less is not.
    let one = [archive(&[("a", &noise(500))])];
    let bytes = one[0].len() as u64;
    let fits = |most| combination(&one, CombineOptions::new().archive_bytes(most)).finish();
    assert_eq!(fits(bytes).expect("it fits").len(), 1);
    let error = fits(bytes - 1).expect_err("too large");
    assert_eq!(
        (error.kind(), error.entry_name()),
        (ErrorKind::Limit, Some("a"))
    );
    assert!(
        combination(&one, CombineOptions::new().archive_entries(0))
            .finish()
            .is_err()
    );
}

#[test]
fn entries_that_share_bytes_are_refused() {
    let mut bytes = archive(&[("a", b"first"), ("b", b"second")]);
    let start = ArchiveReader::open(&bytes[..])
        .expect("opened")
        .directory()
        .start() as usize;
    // The second record points to the first header.
    let record = start + 47;
    let second = bytes[record..]
        .windows(4)
        .position(|bytes| bytes == b"PK\x01\x02")
        .map(|at| record + at)
        .expect("a record");
    bytes[second + 42..second + 46].fill(0);
    let reader = ArchiveReader::open(&bytes[..]).expect("opened");
    let mut combination = Combination::new(CombineOptions::new());
    let error = combination
        .add(reader.shared_directory())
        .expect_err("overlap");
    assert_eq!(error.kind(), ErrorKind::Overlap);
}

#[test]
fn a_record_with_zip64_sizes_keeps_them_where_it_goes() {
    let options = EntryOptions::new(Method::Deflate);
    let mut writer = ArchiveWriter::new(Vec::new());
    let content = noise(2_000_000);
    // No size is known: descriptor and local header have 64 bits.
    writer
        .add("wide", &options, &mut &content[..])
        .expect("added");
    let wide = writer.finish().expect("finished").0;
    let archives = [archive(&[("a", b"first")]), wide];
    let bytes = merged(&archives, CombineOptions::new());
    assert_eq!(names(&bytes), ["a", "wide"]);
    let reader = ArchiveReader::open(bytes).expect("opened");
    let entry = reader.find("wide").expect("found").expect("there");
    assert!(reader.read(&entry).expect("read") == content);
}
