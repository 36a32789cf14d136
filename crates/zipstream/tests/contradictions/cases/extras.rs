//! Extra fields, in the local header, in the directory and in both.

use super::Cases;
use crate::fields::{Entry, SECONDS, field, unicode, zip64};

const PLACES: [&str; 3] = ["local", "directory", "both"];

/// Adds an extra area at a place.
fn put(entry: &mut Entry, place: &str, area: &[u8]) {
    if place != "directory" {
        entry.local.extra.extend_from_slice(area);
    }
    if place != "local" {
        entry.record.header.extra.extend_from_slice(area);
    }
}

fn everywhere(cases: &mut Cases, what: &str, area: &[u8]) {
    for place in PLACES {
        cases.entry(format!("{place}: {what}"), |entry| put(entry, place, area));
    }
}

/// An extended timestamp.
fn times(seconds: i32) -> Vec<u8> {
    field(0x5455, &[&[1][..], &seconds.to_le_bytes()].concat())
}

/// The times of NTFS.
fn ntfs(seconds: i64) -> Vec<u8> {
    let steps = ((seconds + 11_644_473_600) * 10_000_000).to_le_bytes();
    field(
        0x000a,
        &[&[0, 0, 0, 0, 1, 0, 24, 0][..], &steps, &steps, &steps].concat(),
    )
}

pub(super) fn add(cases: &mut Cases) {
    everywhere(cases, "an unknown extra field", &field(0x7777, b"data"));
    everywhere(cases, "an extra field that is cut off", b"UT\xff\0x");
    everywhere(
        cases,
        "an extra field with a length beyond the area",
        &[0x77, 0x77, 9, 0, 1],
    );
    everywhere(cases, "one byte of padding", &[0]);
    everywhere(cases, "three bytes of padding", &[0; 3]);
    everywhere(cases, "four bytes of padding", &[0; 4]);
    everywhere(
        cases,
        "a Unicode comment",
        &field(0x6375, &[1, 0, 0, 0, 0, b'x']),
    );
    everywhere(
        cases,
        "a strong encryption field",
        &field(0x0017, &[2, 0, 0, 0, 0, 0, 0, 0]),
    );
    everywhere(
        cases,
        "an AES field",
        &field(0x9901, &[2, 0, b'A', b'E', 3, 8, 0]),
    );
    everywhere(
        cases,
        "an Xceed name",
        &field(0x554e, b"NUCX\x04\x00e\0v\0i\0l\0"),
    );
    everywhere(cases, "a Macintosh field", &field(0x334d, &[0; 14]));
    everywhere(
        cases,
        "an ASi Unix field of a link",
        &field(0x756e, &[0; 14]),
    );
    all_times(cases);
    names(cases);
    sizes(cases);
}

fn all_times(cases: &mut Cases) {
    let seconds = i64::from(SECONDS);
    everywhere(cases, "a timestamp", &times(SECONDS));
    everywhere(cases, "another timestamp", &times(SECONDS + 86_400));
    everywhere(
        cases,
        "two timestamps",
        &[times(SECONDS), times(SECONDS + 86_400)].concat(),
    );
    everywhere(cases, "times of NTFS", &ntfs(seconds));
    everywhere(cases, "other times of NTFS", &ntfs(seconds + 86_400));
    everywhere(
        cases,
        "a timestamp and other times of NTFS",
        &[times(SECONDS), ntfs(seconds + 86_400)].concat(),
    );
    let old = |seconds: i32| {
        field(
            0x5855,
            &[seconds.to_le_bytes(), seconds.to_le_bytes()].concat(),
        )
    };
    everywhere(cases, "Info-ZIP's old times", &old(SECONDS));
    everywhere(
        cases,
        "other of Info-ZIP's old times",
        &old(SECONDS + 86_400),
    );
    for (what, area) in [
        (
            "a timestamp of another zone",
            times(SECONDS - 5 * 3600 - 1800),
        ),
        ("times of NTFS of another zone", ntfs(seconds + 3600)),
    ] {
        for place in PLACES {
            cases.entry(format!("{place}: {what}"), |entry| put(entry, place, &area));
            cases.timeless();
        }
    }
    cases.entry("two timestamps that differ", |entry| {
        put(entry, "local", &times(SECONDS));
        put(entry, "directory", &times(SECONDS + 86_400));
    });
    cases.entry(
        "a timestamp, and other times of NTFS in the directory",
        |entry| {
            put(entry, "both", &times(SECONDS));
            put(entry, "directory", &ntfs(seconds + 86_400));
        },
    );
}

fn names(cases: &mut Cases) {
    for (what, area) in [
        ("the same name", unicode(b"b.txt", b"b.txt")),
        ("another name", unicode(b"evil.txt", b"b.txt")),
        ("a name that leads out", unicode(b"../evil.txt", b"b.txt")),
        ("an absolute name", unicode(b"/evil.txt", b"b.txt")),
        ("a name with a backslash", unicode(b"e\\b.txt", b"b.txt")),
        ("a name with a NUL", unicode(b"b.txt\0.exe", b"b.txt")),
        ("the name of a directory", unicode(b"b.txt/", b"b.txt")),
        ("the name of the other entry", unicode(b"a.txt", b"b.txt")),
        ("an empty name", unicode(b"", b"b.txt")),
        ("no UTF-8", unicode(b"\xff\xfe.txt", b"b.txt")),
        (
            "another name of another checksum",
            unicode(b"evil.txt", b"c.txt"),
        ),
        (
            "the same name of another checksum",
            unicode(b"b.txt", b"c.txt"),
        ),
        (
            "another name of version 2",
            field(
                0x7075,
                &[&[2][..], &unicode(b"evil.txt", b"b.txt")[5..]].concat(),
            ),
        ),
        ("too short", field(0x7075, &[1, 0, 0])),
        (
            "two names",
            [unicode(b"b.txt", b"b.txt"), unicode(b"evil.txt", b"b.txt")].concat(),
        ),
        (
            "two names, the other first",
            [unicode(b"evil.txt", b"b.txt"), unicode(b"b.txt", b"b.txt")].concat(),
        ),
        (
            "the same name twice",
            [unicode(b"b.txt", b"b.txt"), unicode(b"b.txt", b"b.txt")].concat(),
        ),
    ] {
        everywhere(cases, &format!("Unicode Path: {what}"), &area);
    }
    for place in PLACES {
        cases.entry(
            format!("{place}: Unicode Path: another name, and the flag of UTF-8"),
            |entry| {
                put(entry, place, &unicode(b"evil.txt", b"b.txt"));
                entry.both(|header| header.flags |= 0x800);
            },
        );
        for (what, raw, name) in [
            ("of code page 437", &b"\x81.txt"[..], "ü.txt"),
            ("of UTF-8", "ü.txt".as_bytes(), "ü.txt"),
            ("of UTF-8, another", "ü.txt".as_bytes(), "evil.txt"),
        ] {
            cases.entry(format!("{place}: Unicode Path of a name {what}"), |entry| {
                entry.both(|header| header.name = raw.to_vec());
                put(entry, place, &unicode(name.as_bytes(), raw));
            });
        }
        cases.entry(
            format!("{place}: Unicode Path of a flagged name"),
            |entry| {
                entry.both(|header| {
                    header.name = "ü.txt".as_bytes().to_vec();
                    header.flags |= 0x800;
                });
                put(
                    entry,
                    place,
                    &unicode("ü.txt".as_bytes(), "ü.txt".as_bytes()),
                );
            },
        );
    }
    cases.entry("Unicode Path: one name here, one there", |entry| {
        put(entry, "local", &unicode(b"one.txt", b"b.txt"));
        put(entry, "directory", &unicode(b"two.txt", b"b.txt"));
    });
}

fn sizes(cases: &mut Cases) {
    let good = Entry::deflated(b"b.txt").local;
    let (content, compressed) = (u64::from(good.content), u64::from(good.compressed));
    for (what, area) in [
        ("that is not needed", zip64(&[content, compressed])),
        (
            "that is not needed, with other sizes",
            zip64(&[content + 1, compressed + 1]),
        ),
        ("that is not needed, of zeros", zip64(&[0, 0])),
        ("that is empty", zip64(&[])),
        (
            "twice",
            [zip64(&[content, compressed]), zip64(&[content, compressed])].concat(),
        ),
        (
            "twice, with other sizes",
            [zip64(&[content, compressed]), zip64(&[9, 9])].concat(),
        ),
    ] {
        everywhere(cases, &format!("a ZIP64 field {what}"), &area);
    }
    for place in PLACES {
        for (what, area) in [
            ("", zip64(&[content, compressed])),
            (" with other sizes", zip64(&[content + 1, compressed + 1])),
            (" in the other order", zip64(&[compressed, content])),
            (" that is too short", zip64(&[content])),
            (" that is too long", zip64(&[content, compressed, 0, 0])),
            (" with an offset", zip64(&[content, compressed, 40])),
            (
                " twice, with other sizes",
                [zip64(&[content, compressed]), zip64(&[9, 9])].concat(),
            ),
            (" that is missing", Vec::new()),
        ] {
            cases.entry(format!("{place}: sizes in a ZIP64 field{what}"), |entry| {
                let ones = |header: &mut crate::fields::Header| {
                    (header.compressed, header.content) = (u32::MAX, u32::MAX);
                    header.needed = 45;
                };
                match place {
                    "local" => ones(&mut entry.local),
                    "directory" => ones(&mut entry.record.header),
                    _ => entry.both(ones),
                }
                put(entry, place, &area);
            });
        }
        for (what, area) in [
            ("alone", zip64(&[content])),
            ("and the other", zip64(&[content, compressed])),
            ("after the other", zip64(&[compressed, content])),
        ] {
            cases.entry(
                format!("{place}: one size in a ZIP64 field, {what}"),
                |entry| {
                    let ones = |header: &mut crate::fields::Header| header.content = u32::MAX;
                    match place {
                        "local" => ones(&mut entry.local),
                        "directory" => ones(&mut entry.record.header),
                        _ => entry.both(ones),
                    }
                    put(entry, place, &area);
                },
            );
        }
    }
    for (what, values) in [
        ("the offset in a ZIP64 field", &[40_u64][..]),
        ("another offset in a ZIP64 field", &[0]),
        ("the offset in a ZIP64 field, after sizes", &[1000, 11, 40]),
        ("a ZIP64 field with an offset and a disk", &[40, 0]),
    ] {
        cases.entry(what, |entry| {
            entry.record.offset = Some(u32::MAX);
            put(entry, "directory", &zip64(values));
        });
    }
    cases.entry("a disk in a ZIP64 field", |entry| {
        entry.record.disk = u16::MAX;
        put(entry, "directory", &field(1, &[1, 0, 0, 0]));
    });
    cases.entry("disk 0 in a ZIP64 field", |entry| {
        entry.record.disk = u16::MAX;
        put(entry, "directory", &field(1, &[0; 4]));
    });
    for wide in [false, true] {
        cases.entry(
            format!("a descriptor after a ZIP64 field, of 64 bits: {wide}"),
            |entry| {
                entry.describe(true, wide);
                (entry.local.compressed, entry.local.content) = (u32::MAX, u32::MAX);
                put(entry, "local", &zip64(&[0, 0]));
            },
        );
        cases.entry(
            format!("a descriptor after a ZIP64 field that is not needed, of 64 bits: {wide}"),
            |entry| {
                entry.describe(true, wide);
                put(entry, "local", &zip64(&[0, 0]));
            },
        );
        cases.entry(
            format!("a descriptor after a ZIP64 field of other sizes, of 64 bits: {wide}"),
            |entry| {
                entry.describe(true, wide);
                (entry.local.compressed, entry.local.content) = (u32::MAX, u32::MAX);
                put(entry, "local", &zip64(&[999, 10]));
            },
        );
    }
}
