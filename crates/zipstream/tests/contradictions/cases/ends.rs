//! The end record, the ZIP64 end record and its locator.

use super::{Cases, base};
use crate::fields::{Archive, End, End64, Entry, Locator};

pub(super) fn add(cases: &mut Cases) {
    for (what, change) in [
        ("disk 1", (|end| end.disks = [1, 0]) as fn(&mut End)),
        ("directory on disk 1", |end| end.disks = [0, 1]),
        ("both disks 1", |end| end.disks = [1, 1]),
        ("disks all ones", |end| end.disks = [u16::MAX; 2]),
        ("count here + 1", |end| end.here = Some(3)),
        ("count here - 1", |end| end.here = Some(1)),
        ("count here 0", |end| end.here = Some(0)),
        ("count in total + 1", |end| end.total = Some(3)),
        ("count in total - 1", |end| end.total = Some(1)),
        ("both counts + 1", |end| {
            (end.here, end.total) = (Some(3), Some(3))
        }),
        ("both counts - 1", |end| {
            (end.here, end.total) = (Some(1), Some(1))
        }),
        ("both counts 0", |end| {
            (end.here, end.total) = (Some(0), Some(0))
        }),
        ("both counts all ones", |end| {
            (end.here, end.total) = (Some(u16::MAX), Some(u16::MAX))
        }),
        ("offset + 1", |end| end.offset = Some(87)),
        ("offset 0", |end| end.offset = Some(0)),
        ("offset all ones", |end| end.offset = Some(u32::MAX)),
        ("size + 1", |end| end.bytes = Some(103)),
        ("size of one record", |end| end.bytes = Some(51)),
        ("size 0", |end| end.bytes = Some(0)),
        ("size all ones", |end| end.bytes = Some(u32::MAX)),
        ("comment cut off", |end| end.comment_bytes = Some(9)),
        ("comment stated too short", |end| {
            end.comment = b"comment".to_vec();
            end.comment_bytes = Some(3);
        }),
        ("comment with an end record", |end| {
            end.comment = [&b"PK\x05\x06"[..], &[0; 18]].concat()
        }),
        ("comment with half an end record", |end| {
            end.comment = b"PK\x05\x06".to_vec()
        }),
        ("comment with an entry", |end| {
            end.comment = Archive::of(&[Entry::stored(b"c", b"c")]).bytes()
        }),
        ("comment with a NUL", |end| {
            end.comment = b"com\0ment".to_vec()
        }),
        ("comment with a locator", |end| {
            end.comment = [&b"PK\x06\x07"[..], &[0; 16]].concat()
        }),
    ] {
        cases.archive(format!("end: {what}"), |archive| change(&mut archive.end));
    }
    let mut commented = base();
    commented.end.comment = b"comment".to_vec();
    cases.plain("a comment", &commented);
    cases.archive("two end records", |archive| {
        archive.trailing = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    });
    cases.archive("the same end record twice", |archive| {
        let whole = archive.bytes();
        archive.trailing = whole[whole.len() - 22..].to_vec();
    });
    for (what, signature) in [
        ("a digital signature", &b"PK\x05\x05\x04\x00sign"[..]),
        ("archive extra data", b"PK\x06\x08\x04\x00\x00\x00more"),
    ] {
        cases.archive(format!("{what} behind the directory"), |archive| {
            archive.after = signature.to_vec();
        });
        cases.archive(format!("{what} before the directory"), |archive| {
            archive.gap = signature.to_vec();
        });
    }
    wide(cases);
}

/// A change of the ZIP64 records.
type Change = (&'static str, fn(&mut End64));

const CHANGES: &[Change] = &[
    ("nothing", |_| {}),
    ("version 2", |wide| {
        (wide.record_bytes, wide.more) = (72, vec![0; 28]);
    }),
    ("data after its fields", |wide| {
        (wide.record_bytes, wide.more) = (52, b"01234567".to_vec());
    }),
    ("size + 1", |wide| wide.record_bytes = 45),
    ("size - 1", |wide| wide.record_bytes = 43),
    ("size 0", |wide| wide.record_bytes = 0),
    ("size beyond all", |wide| wide.record_bytes = u64::MAX),
    ("made by 25.5", |wide| wide.made_by = 0x03ff),
    ("version needed 2.0", |wide| wide.needed = 20),
    ("version needed 6.2", |wide| wide.needed = 62),
    ("version needed 6.4", |wide| wide.needed = 64),
    ("version needed 25.5", |wide| wide.needed = 255),
    ("disk 1", |wide| wide.disks = [1, 0]),
    ("directory on disk 1", |wide| wide.disks = [0, 1]),
    ("disks all ones", |wide| wide.disks = [u32::MAX; 2]),
    ("disks of 16 bits, all ones", |wide| {
        wide.disks = [65_535; 2]
    }),
    ("count here + 1", |wide| wide.here = Some(3)),
    ("count in total + 1", |wide| wide.total = Some(3)),
    ("both counts - 1", |wide| {
        (wide.here, wide.total) = (Some(1), Some(1))
    }),
    ("both counts + 1", |wide| {
        (wide.here, wide.total) = (Some(3), Some(3))
    }),
    ("size of the directory + 1", |wide| wide.bytes = Some(103)),
    ("size of one record", |wide| wide.bytes = Some(51)),
    ("offset + 1", |wide| wide.offset = Some(87)),
    ("offset 0", |wide| wide.offset = Some(0)),
    ("offset beyond 2^63", |wide| wide.offset = Some(u64::MAX)),
    ("no record", |wide| wide.present = false),
    ("no locator", |wide| wide.locator = None),
    ("neither", |wide| {
        wide.present = false;
        wide.locator = None;
    }),
    ("bytes between record and locator", |wide| {
        wide.between = b"gap!".to_vec()
    }),
    ("locator: disk 1", |wide| locator(wide).disk = 1),
    ("locator: no disks", |wide| locator(wide).disks = 0),
    ("locator: two disks", |wide| locator(wide).disks = 2),
    ("locator: offset + 1", |wide| {
        locator(wide).offset = Some(189)
    }),
    ("locator: offset 0", |wide| locator(wide).offset = Some(0)),
    ("locator: offset outside", |wide| {
        locator(wide).offset = Some(u64::MAX - 3)
    }),
];

fn locator(wide: &mut End64) -> &mut Locator {
    wide.locator.get_or_insert(Locator {
        disk: 0,
        offset: None,
        disks: 1,
    })
}

fn wide(cases: &mut Cases) {
    // Where the end record states all, some, or nothing.
    for (what, end) in [
        ("ZIP64", End::default()),
        (
            "ZIP64, all ones",
            End {
                here: Some(u16::MAX),
                total: Some(u16::MAX),
                bytes: Some(u32::MAX),
                offset: Some(u32::MAX),
                ..End::default()
            },
        ),
        (
            "ZIP64, counts all ones",
            End {
                here: Some(u16::MAX),
                total: Some(u16::MAX),
                ..End::default()
            },
        ),
    ] {
        for (change_name, change) in CHANGES {
            let mut archive = base();
            archive.end = end.clone();
            let mut records = End64::default();
            change(&mut records);
            archive.end64 = Some(records);
            cases.add(format!("{what}: {change_name}"), &archive);
        }
    }
    cases.archive("ZIP64: other disks in the end record", |archive| {
        archive.end64 = Some(End64::default());
        archive.end.disks = [1, 1];
    });
    cases.archive("ZIP64: disks all ones in the end record", |archive| {
        archive.end64 = Some(End64::default());
        archive.end.disks = [u16::MAX; 2];
    });
    for (what, change) in [
        (
            "count",
            (|end| (end.here, end.total) = (Some(1), Some(1))) as fn(&mut End),
        ),
        ("size", |end| end.bytes = Some(51)),
        ("offset", |end| end.offset = Some(0)),
    ] {
        cases.archive(
            format!("ZIP64: another {what} in the end record"),
            |archive| {
                archive.end64 = Some(End64::default());
                change(&mut archive.end);
            },
        );
    }
    let bytes = b"between";
    cases.archive("ZIP64: bytes before the end record", |archive| {
        let mut whole = base();
        whole.end64 = Some(End64::default());
        let whole = whole.bytes();
        let (before, end) = whole.split_at(whole.len() - 22);
        *archive = Archive::of(&[]);
        archive.prefix = [before, bytes].concat();
        archive.end64 = None;
        archive.end = End {
            here: Some(2),
            total: Some(2),
            bytes: Some(u32::from_le_bytes(end[12..16].try_into().expect("four"))),
            offset: Some(u32::from_le_bytes(end[16..20].try_into().expect("four"))),
            ..End::default()
        };
    });
}
