//! The fixed fields of local headers, records and descriptors.

use super::Cases;
use crate::fields::{DATE, Entry, Header, Record, TIME, descriptor};

/// A field's name, and how it changes.
type Change = (&'static str, fn(&mut Header));

const CHANGES: &[Change] = &[
    ("version needed 1.0", |header| header.needed = 10),
    ("version needed 4.5", |header| header.needed = 45),
    ("version needed 6.3", |header| header.needed = 63),
    ("version needed 6.4", |header| header.needed = 64),
    ("version needed 25.5", |header| header.needed = 255),
    ("version needed 2.0 of another system", |header| {
        header.needed = 0x0314
    }),
    ("method stored", |header| header.method = 0),
    ("method 77", |header| header.method = 77),
    ("time", |header| header.time = TIME + 10),
    ("date", |header| header.date = DATE + 3),
    ("date 0", |header| (header.date, header.time) = (0, 0)),
    ("checksum", |header| header.crc32 ^= 1),
    ("checksum 0", |header| header.crc32 = 0),
    ("compressed size + 1", |header| header.compressed += 1),
    ("compressed size - 1", |header| header.compressed -= 1),
    ("compressed size 0", |header| header.compressed = 0),
    ("compressed size, all ones", |header| {
        header.compressed = u32::MAX
    }),
    ("size + 1", |header| header.content += 1),
    ("size - 1", |header| header.content -= 1),
    ("size 0", |header| header.content = 0),
    ("size, all ones", |header| header.content = u32::MAX),
    ("name", |header| header.name = b"c.txt".to_vec()),
    ("shorter name", |header| header.name = b"c".to_vec()),
    ("longer name", |header| header.name = b"b.txt.exe".to_vec()),
    ("name `../evil`", |header| header.name = b"../evil".to_vec()),
    ("name in another case", |header| {
        header.name = b"B.txt".to_vec()
    }),
    ("name of a directory", |header| {
        header.name = b"b.txt/".to_vec()
    }),
    ("name empty", |header| header.name.clear()),
    ("name, then a NUL", |header| {
        header.name = b"b.txt\0".to_vec()
    }),
];

pub(super) fn add(cases: &mut Cases) {
    for (what, change) in CHANGES {
        cases.entry(format!("local: {what}"), |entry| change(&mut entry.local));
        cases.entry(format!("directory: {what}"), |entry| {
            change(&mut entry.record.header)
        });
        cases.entry(format!("both: {what}"), |entry| entry.both(change));
        // As Go writes it, unless it is told of a time.
        if *what == "date 0" {
            cases.timeless();
        }
    }
    for bit in 0..16 {
        let flag = 1 << bit;
        cases.entry(format!("local: flag {bit}"), |entry| {
            entry.local.flags ^= flag
        });
        cases.entry(format!("directory: flag {bit}"), |entry| {
            entry.record.header.flags ^= flag
        });
        cases.entry(format!("both: flag {bit}"), |entry| {
            entry.both(|header| header.flags ^= flag)
        });
    }
    records(cases);
    attributes(cases);
    descriptors(cases);
}

fn records(cases: &mut Cases) {
    for (what, change) in [
        (
            "made by 25.5",
            (|record| record.made_by = 0x03ff) as fn(&mut Record),
        ),
        ("made by DOS", |record| record.made_by = 20),
        ("made by NTFS", |record| record.made_by = 0x0a14),
        ("made by macOS", |record| record.made_by = 0x1314),
        ("made by system 99", |record| record.made_by = 0x6314),
        ("disk 1", |record| record.disk = 1),
        ("disk, all ones", |record| record.disk = u16::MAX),
        ("a comment", |record| record.comment = b"comment".to_vec()),
        ("a comment with a NUL", |record| {
            record.comment = b"com\0ment".to_vec()
        }),
        ("a comment with a record", |record| {
            record.comment = b"PK\x01\x02".to_vec()
        }),
        ("an end record in a comment", |record| {
            record.comment = [&b"PK\x05\x06"[..], &[0; 18]].concat();
        }),
        ("offset + 1", |record| record.offset = Some(41)),
        ("offset 0", |record| record.offset = Some(0)),
        ("offset, all ones", |record| record.offset = Some(u32::MAX)),
    ] {
        cases.entry(format!("record: {what}"), |entry| change(&mut entry.record));
    }
    for bit in 0..16 {
        let what = format!("record: internal attribute {bit}");
        cases.entry(what, |entry| entry.record.internal = 1 << bit);
    }
}

fn attributes(cases: &mut Cases) {
    for bit in 0..16 {
        let what = format!("record: DOS attribute {bit}");
        cases.entry(what, |entry| entry.record.attributes |= 1 << bit);
    }
    for (what, mode) in [
        ("a directory", 0o040_755_u32),
        ("a link", 0o120_777),
        ("a device", 0o060_644),
        ("a pipe", 0o010_644),
        ("a socket", 0o140_644),
        ("of no kind", 0o644),
        ("none", 0),
        ("of kind 3", 0o030_644),
        ("with set-uid", 0o104_755),
    ] {
        for (system, made_by) in [
            ("", 0x031e),
            (" made by DOS", 20),
            (" made by macOS", 0x131e),
        ] {
            cases.entry(format!("record: mode {what}{system}"), |entry| {
                entry.record.attributes = mode << 16;
                entry.record.made_by = made_by;
            });
        }
    }
    cases.entry(
        "record: the attribute of a directory, and no mode",
        |entry| {
            entry.record.attributes = 0x10;
        },
    );
    let mut folder = super::base();
    folder.entries[1] = Entry::stored(b"d/", b"");
    cases.plain("a directory", &folder);
    for (what, attributes) in [
        ("with a file's mode", 0o100_644_u32 << 16),
        ("with a link's mode", 0o120_777 << 16),
        ("without attributes", 0),
        ("with the attribute of DOS alone", 0x10),
        (
            "with all bits of a mode, as jars of Maven have it",
            0xffff_0010,
        ),
    ] {
        let mut archive = folder.clone();
        archive.entries[1].record.attributes = attributes;
        cases.add(format!("directory: {what}"), &archive);
    }
    for content in [&b"content"[..], b""] {
        let mut archive = folder.clone();
        archive.entries[1] = Entry::stored(b"d/", content);
        archive.entries[1].both(|header| header.method = if content.is_empty() { 8 } else { 0 });
        if content.is_empty() {
            archive.entries[1].data = vec![3, 0];
            archive.entries[1].both(|header| header.compressed = 2);
        }
        let what = if content.is_empty() {
            "deflated"
        } else {
            "with content"
        };
        cases.add(format!("directory: {what}"), &archive);
    }
    let mut link = super::base();
    link.entries[1] = Entry::stored(b"link", b"a.txt");
    link.entries[1].record.attributes = 0o120_777 << 16;
    cases.plain("a link", &link);
}

fn descriptors(cases: &mut Cases) {
    let good = Entry::deflated(b"b.txt").local;
    let (crc32, compressed, content) = (good.crc32, good.compressed, good.content);
    let mut plain = super::base();
    plain.entries[1].describe(true, false);
    cases.plain("a descriptor", &plain);
    for (what, descriptor) in [
        (
            "without signature",
            descriptor(false, false, crc32, compressed, content),
        ),
        (
            "of 64 bits",
            descriptor(true, true, crc32, compressed, content),
        ),
        (
            "of 64 bits without signature",
            descriptor(false, true, crc32, compressed, content),
        ),
        (
            "with another checksum",
            descriptor(true, false, crc32 ^ 1, compressed, content),
        ),
        (
            "with checksum 0",
            descriptor(true, false, 0, compressed, content),
        ),
        (
            "with another compressed size",
            descriptor(true, false, crc32, compressed + 1, content),
        ),
        (
            "with another size",
            descriptor(true, false, crc32, compressed, content + 1),
        ),
        (
            "with sizes swapped",
            descriptor(true, false, crc32, content, compressed),
        ),
        ("that is missing", Vec::new()),
        (
            "twice",
            [
                descriptor(true, false, crc32, compressed, content),
                descriptor(true, false, crc32, compressed, content),
            ]
            .concat(),
        ),
    ] {
        let mut archive = plain.clone();
        archive.entries[1].descriptor = descriptor;
        cases.add(format!("descriptor: {what}"), &archive);
    }
    for (what, change) in [
        (
            "checksum before it",
            (|header, good| header.crc32 = good.crc32) as fn(&mut Header, &Header),
        ),
        ("sizes before it", |header, good| {
            (header.compressed, header.content) = (good.compressed, good.content);
        }),
        ("all before it", |header, good| {
            (header.compressed, header.content) = (good.compressed, good.content);
            header.crc32 = good.crc32;
        }),
        ("another checksum before it", |header, good| {
            header.crc32 = good.crc32 ^ 1
        }),
        ("another size before it", |header, good| {
            header.content = good.content + 1
        }),
        ("another compressed size before it", |header, good| {
            header.compressed = good.compressed + 1
        }),
        ("sizes before it, one of them other", |header, good| {
            (header.compressed, header.content) = (good.compressed + 1, good.content);
        }),
        ("only the size before it", |header, good| {
            header.content = good.content
        }),
        ("only the compressed size before it", |header, good| {
            header.compressed = good.compressed
        }),
        ("all ones before it", |header, _| {
            (header.compressed, header.content) = (u32::MAX, u32::MAX);
        }),
    ] {
        let mut archive = plain.clone();
        change(&mut archive.entries[1].local, &good);
        cases.add(format!("descriptor: {what}"), &archive);
    }
    for (what, content) in [
        ("stored, with a descriptor", &b"content"[..]),
        (
            "stored, with a descriptor inside",
            b"con\x50\x4b\x07\x08tent",
        ),
        ("stored and empty, with a descriptor", b""),
    ] {
        let mut archive = super::base();
        archive.entries[1] = Entry::stored(b"b.txt", content);
        let local = archive.entries[1].local.clone();
        archive.entries[1].describe(true, false);
        cases.add(format!("descriptor: {what}"), &archive);
        (
            archive.entries[1].local.compressed,
            archive.entries[1].local.content,
        ) = (local.compressed, local.content);
        archive.entries[1].local.crc32 = local.crc32;
        cases.add(format!("descriptor: {what}, all before it"), &archive);
    }
    cases.archive("stored with two sizes", |archive| {
        archive.entries[0].both(|header| header.content -= 1);
    });
    cases.archive("stored with two sizes, the other way", |archive| {
        archive.entries[0].both(|header| header.compressed -= 1);
    });
    cases.entry("bytes after the deflated content", |entry| {
        entry.data.extend_from_slice(b"left");
        entry.both(|header| header.compressed += 4);
    });
    cases.entry("a second deflate stream", |entry| {
        let again = entry.data.clone();
        entry.data.extend(again);
        entry.both(|header| header.compressed *= 2);
    });
    cases.entry("empty, deflated as nothing", |entry| {
        *entry = Entry::stored(b"b.txt", b"");
        entry.both(|header| header.method = 8);
    });
}
