//! What the strict profile still accepts with one bit turned over: in archives that have everything.

use std::collections::BTreeSet;

use zipstream::ReadOptions;

use crate::cases::Case;
use crate::fields::{Archive, End64, Entry, SECONDS, field};
use crate::verdict::by_file;

/// Times, a flagged name, a directory, a link, a descriptor, comments and ZIP64 records.
fn rich() -> Vec<u8> {
    let mut described = Entry::deflated("größe".as_bytes());
    described.both(|header| header.flags |= 0x800);
    described.describe(true, false);
    described.record.comment = b"comment".to_vec();
    let mut link = Entry::stored(b"d/link", b"timed");
    link.record.attributes = 0o120_777 << 16;
    let mut timed = Entry::stored(b"d/timed", b"content");
    let stamp = field(0x5455, &[&[1][..], &SECONDS.to_le_bytes()].concat());
    let owner = field(0x7875, &[1, 1, 0, 1, 0]);
    timed.both(|header| header.extra = [&stamp[..], &owner].concat());
    let mut archive = Archive::of(&[described, Entry::stored(b"d/", b""), link, timed]);
    archive.end64 = Some(End64::default());
    archive.end.comment = b"comment".to_vec();
    archive.bytes()
}

/// Every archive that is accepted with one bit turned over.
pub(crate) fn all() -> Vec<Case> {
    let mut bases: Vec<(String, Vec<u8>)> = crate::cases::all()
        .into_iter()
        .filter(|case| case.plain && case.bytes.len() < 400)
        .map(|case| (case.name, case.bytes))
        .collect();
    bases.push(("everything".to_owned(), rich()));
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for (name, base) in bases {
        let strict = ReadOptions::strict();
        assert!(by_file(&base, &strict).is_ok(), "{name}");
        for bit in 0..base.len() * 8 {
            let mut bytes = base.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if by_file(&bytes, &strict).is_err() || !known.insert(bytes.clone()) {
                continue;
            }
            found.push(Case {
                name: format!("{name}, byte {}, bit {}", bit / 8, bit % 8),
                bytes,
                plain: false,
                timeless: false,
            });
        }
    }
    found
}
