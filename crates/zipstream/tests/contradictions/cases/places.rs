//! Where entries stand: before, between and behind each other, and what stands there besides them.

use super::{Cases, base};
use crate::fields::{Archive, Entry};

pub(super) fn add(cases: &mut Cases) {
    let hidden = Archive::of(&[Entry::stored(b"hidden", b"content")]).bytes();
    let header = hidden[..30 + 6 + 7].to_vec();
    for (what, prefix) in [
        ("a script", &b"#!/bin/sh\n"[..]),
        ("zeros", &[0; 64]),
        ("a mark of a split archive", b"PK00"),
        ("another mark of a split archive", b"PK\x07\x08"),
        ("an entry", &header),
        ("an archive", &hidden),
    ] {
        for shifted in [true, false] {
            let counted = if shifted { "counted" } else { "not counted" };
            cases.archive(format!("{what} before the archive, {counted}"), |archive| {
                archive.prefix = prefix.to_vec();
                archive.shifted = shifted;
            });
        }
        cases.archive(format!("{what} between two entries"), |archive| {
            archive.entries[1].before = prefix.to_vec();
        });
        cases.archive(format!("{what} before the directory"), |archive| {
            archive.gap = prefix.to_vec();
        });
        cases.archive(format!("{what} behind the directory"), |archive| {
            archive.after = prefix.to_vec();
        });
        cases.archive(format!("{what} in the directory"), |archive| {
            archive.within = prefix.to_vec();
        });
        cases.archive(format!("{what} behind the archive"), |archive| {
            archive.trailing = prefix.to_vec();
        });
    }
    for bytes in [1, 2, 512, 10_240] {
        cases.archive(format!("{bytes} zeros behind the archive"), |archive| {
            archive.trailing = vec![0; bytes];
        });
    }
    let mut padded = base();
    padded.trailing = vec![0; 512 - padded.bytes().len() % 512];
    cases.plain("zeros behind the archive, up to a block", &padded);
    cases.archive("the directory in another order", |archive| {
        archive.reversed = true
    });
    cases.archive("an entry that the directory does not have", |archive| {
        archive.entries[0].listed = false;
    });
    cases.archive("a last entry that the directory does not have", |archive| {
        archive.entries[1].listed = false;
    });
    cases.archive("a directory without records", |archive| {
        for entry in &mut archive.entries {
            entry.listed = false;
        }
    });
    cases.archive("two records of one entry", |archive| {
        archive.entries[1].record = archive.entries[0].record.clone();
        archive.entries[1].record.offset = Some(0);
    });
    cases.archive("two records of one entry, in two names", |archive| {
        archive.entries[1].record = archive.entries[0].record.clone();
        archive.entries[1].record.header.name = b"c.txt".to_vec();
        archive.entries[1].record.offset = Some(0);
    });
    cases.archive("the offsets of two entries, swapped", |archive| {
        archive.entries[0].record.offset = Some(40);
        archive.entries[1].record.offset = Some(0);
    });
    cases.plain(
        "an archive in an archive",
        &Archive::of(&[Entry::stored(b"inner.zip", &hidden)]),
    );
    let mut fake = base();
    fake.entries[0] = Entry::stored(b"a.txt", &[&b"first"[..], &hidden[30 + 6 + 7..]].concat());
    cases.plain("a directory in an entry", &fake);
    cases.plain("no entries", &Archive::of(&[]));
    cases.add("no entries, but bytes", &{
        let mut archive = Archive::of(&[]);
        archive.prefix = b"first".to_vec();
        archive
    });
}
