//! Every case of `HOSTILE.md`: hostile and damaged archives in both profiles, from a file and from a pipe.
//! The table there must be what this finds; `PERFKIT_BLESS=1` rewrites it. Extraction to files is tested in
//! `crates/cli`.

use std::fmt::Write as _;

use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, Error,
    ErrorKind, Limits, Password, PipeReader, ReadOptions, name,
};

use crate::quine;

/// One entry, with each field of its two headers as it shall be.
#[derive(Clone)]
struct Made {
    name: Vec<u8>,
    flags: u16,
    method: u16,
    crc32: u32,
    compressed: u32,
    content: u32,
    extra: Vec<u8>,
    data: Vec<u8>,
    offset: Option<u32>,
}

/// A stored entry.
fn stored(name: &[u8], content: &[u8]) -> Made {
    Made {
        name: name.to_vec(),
        flags: 0,
        method: 0,
        crc32: crc32(content),
        compressed: content.len() as u32,
        content: content.len() as u32,
        extra: Vec::new(),
        data: content.to_vec(),
        offset: None,
    }
}

pub(crate) fn crc32(content: &[u8]) -> u32 {
    let mut sum = zipstream::Crc32::new();
    sum.update(content);
    sum.sum()
}

/// 1000 times `x`, deflated: written down, for the crate's own bytes change as it gets better.
const DEFLATED: &[u8] = &[
    0xab, 0xa8, 0x18, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00, 0x00,
];

/// A deflated entry.
fn deflated() -> Made {
    Made {
        method: 8,
        compressed: DEFLATED.len() as u32,
        data: DEFLATED.to_vec(),
        ..stored(b"d", &[b'x'; 1000])
    }
}

impl Made {
    fn shared(&self, out: &mut Vec<u8>) {
        for value in [20, self.flags, self.method, 0, 0x21] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.crc32, self.compressed, self.content] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.name.len() as u16, self.extra.len() as u16] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }

    fn local(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"PK\x03\x04");
        self.shared(out);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.extra);
        out.extend_from_slice(&self.data);
    }

    fn central(&self, offset: u32, out: &mut Vec<u8>) {
        out.extend_from_slice(b"PK\x01\x02\x14\x03");
        self.shared(out);
        out.extend_from_slice(&[0; 6]);
        let mode = 0o100_644_u32 << 16;
        out.extend_from_slice(&mode.to_le_bytes());
        out.extend_from_slice(&self.offset.unwrap_or(offset).to_le_bytes());
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.extra);
    }
}

/// An archive of entries by their local headers and by the directory.
fn archive(pairs: &[(Made, Made)]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (local, central) in pairs {
        central.central(out.len() as u32, &mut directory);
        local.local(&mut out);
    }
    let start = out.len() as u32;
    let bytes = directory.len() as u32;
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    for _ in 0..2 {
        out.extend_from_slice(&(pairs.len() as u16).to_le_bytes());
    }
    out.extend_from_slice(&bytes.to_le_bytes());
    out.extend_from_slice(&start.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

/// The same in both places.
fn alike(entries: &[Made]) -> Vec<u8> {
    let pairs: Vec<_> = entries
        .iter()
        .map(|made| (made.clone(), made.clone()))
        .collect();
    archive(&pairs)
}

fn named(name: &[u8]) -> Vec<u8> {
    alike(&[stored(name, b"content")])
}

/// One entry whose local header says something else.
fn local(change: impl Fn(&mut Made)) -> Vec<u8> {
    let central = deflated();
    let mut local = central.clone();
    change(&mut local);
    archive(&[(local, central)])
}

/// One entry of which both headers say this.
fn both(change: impl Fn(&mut Made)) -> Vec<u8> {
    let mut made = deflated();
    change(&mut made);
    alike(&[made])
}

/// Two good entries.
fn plain() -> Vec<u8> {
    alike(&[stored(b"a", b"stored"), deflated()])
}

/// The same with other bytes at this place of the end record.
fn end(field: usize, bytes: &[u8]) -> Vec<u8> {
    let mut archive = plain();
    let at = archive.len() - 22 + field;
    archive[at..at + bytes.len()].copy_from_slice(bytes);
    archive
}

/// The same with a ZIP64 end record, in which this is written over.
fn wide(record_at: usize, bytes: &[u8], locator_offset: Option<u64>) -> Vec<u8> {
    let mut archive = plain();
    let narrow = archive.split_off(archive.len() - 22);
    let word = |at: usize| u32::from_le_bytes(narrow[at..at + 4].try_into().expect("it works"));
    let at = archive.len();
    let mut record = b"PK\x06\x06".to_vec();
    record.extend_from_slice(&44_u64.to_le_bytes());
    record.extend_from_slice(&[45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for value in [2, 2, u64::from(word(12)), u64::from(word(16))] {
        record.extend_from_slice(&value.to_le_bytes());
    }
    record[record_at..record_at + bytes.len()].copy_from_slice(bytes);
    archive.extend_from_slice(&record);
    archive.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    archive.extend_from_slice(&locator_offset.unwrap_or(at as u64).to_le_bytes());
    archive.extend_from_slice(&1_u32.to_le_bytes());
    archive.extend_from_slice(&narrow);
    archive
}

fn descriptor(crc32: u32, compressed: u32, content: u32) -> Vec<u8> {
    let mut made = deflated();
    made.flags = 8;
    let mut local = made.clone();
    (local.crc32, local.compressed, local.content) = (0, 0, 0);
    local.data.extend_from_slice(b"PK\x07\x08");
    for value in [crc32, compressed, content] {
        local.data.extend_from_slice(&value.to_le_bytes());
    }
    archive(&[(local, made)])
}

/// An entry whose content is another entry, which the directory tells of as well.
fn quoted() -> Vec<u8> {
    let inner = stored(b"inner", &[b'i'; 100]);
    let mut bytes = Vec::new();
    inner.local(&mut bytes);
    let outer = stored(b"outer", &bytes);
    let mut pairs = vec![(outer.clone(), outer)];
    let mut central = inner;
    central.offset = Some(30 + 5);
    // Its local header is the content before it: none of its own.
    let mut all = archive(&pairs);
    pairs.clear();
    let at = all.len() - 22;
    let mut record = Vec::new();
    central.central(0, &mut record);
    all.splice(at..at, record.iter().copied());
    let end = all.len() - 22;
    all[end + 8] = 2;
    all[end + 10] = 2;
    let bytes = u32::from_le_bytes(all[end + 12..end + 16].try_into().expect("it works"));
    let bytes = bytes + record.len() as u32;
    all[end + 12..end + 16].copy_from_slice(&bytes.to_le_bytes());
    all
}

/// An archive that is its own content.
fn itself() -> Vec<u8> {
    quine::quine(|packed, content, crc32| {
        let made = Made {
            method: 8,
            compressed: packed,
            content,
            crc32,
            ..stored(b"itself.zip", b"")
        };
        let mut before = Vec::new();
        made.local(&mut before);
        let mut behind = archive(&[(made.clone(), made)]).split_off(before.len());
        // Where the directory starts.
        let at = behind.len() - 6;
        let start = before.len() as u32 + packed;
        behind[at..at + 4].copy_from_slice(&start.to_le_bytes());
        (before, behind)
    })
}

fn commented(comment: &[u8]) -> Vec<u8> {
    let mut options = ArchiveOptions::default();
    options.comment = comment.to_vec();
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("it works");
    let entry = EntryOptions::default();
    writer
        .add("a", &entry, &mut &b"content"[..])
        .expect("it works");
    writer.finish().expect("it works").0
}

fn encrypted() -> Vec<u8> {
    let mut options = ArchiveOptions::default();
    options.encryption = Some(Encryption::new(Password::new("right")));
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).expect("it works");
    for name in ["a", "b"] {
        let entry = EntryOptions::default();
        writer
            .add(name, &entry, &mut &b"content"[..])
            .expect("it works");
    }
    writer.finish().expect("it works").0
}

fn damaged() -> Vec<u8> {
    let mut archive = encrypted();
    // In the content: behind header, name, field, salt and verifier.
    archive[30 + 1 + 20 + 18 + 3] ^= 1;
    archive
}

/// The setup of a reader besides the profile.
#[derive(Clone, Copy, Default)]
struct Setup {
    password: Option<&'static str>,
    limits: Option<Limits>,
}

impl Setup {
    fn options(self, strict: bool) -> ReadOptions {
        let mut options = match strict {
            true => ReadOptions::strict(),
            false => ReadOptions::default(),
        };
        options.limits = self.limits.unwrap_or(options.limits);
        options
    }

    fn decryption(self) -> Option<Decryption> {
        let password = self.password.map(Password::new);
        password.map(|password| Decryption::new(password).release_early(true))
    }
}

fn judged(name: &str) -> Result<(), Error> {
    // What no path may come of is what the tool refuses.
    match name::check(name) {
        Ok(()) => Ok(()),
        Err(_) => Err(bad_name()),
    }
}

fn bad_name() -> Error {
    let mut writer = ArchiveWriter::new(Vec::new());
    writer
        .start_entry("..", &EntryOptions::default())
        .expect_err("it fails")
}

fn by_file(archive: &[u8], setup: Setup, strict: bool) -> Result<u64, Error> {
    let mut reader = ArchiveReader::open_with(archive, &setup.options(strict))?;
    reader.set_decryption(setup.decryption());
    reader.check()?;
    let mut count = 0;
    for entry in reader.entries() {
        let entry = entry?;
        judged(&entry.name()?)?;
        reader.read(&entry)?;
        count += 1;
    }
    Ok(count)
}

fn by_pipe(archive: &[u8], setup: Setup, strict: bool) -> Result<u64, Error> {
    let mut pipe = PipeReader::new(archive, &setup.options(strict));
    pipe.set_decryption(setup.decryption());
    let mut count = 0;
    while let Some(entry) = pipe.next_entry()? {
        judged(&entry.name)?;
        pipe.content(&mut |_: &[u8]| Ok::<_, Error>(()))?;
        count += 1;
    }
    while pipe.next_record()?.is_some() {}
    Ok(count)
}

fn outcome(result: Result<u64, Error>) -> String {
    match result {
        Ok(1) => "1 entry".to_owned(),
        Ok(count) => format!("{count} entries"),
        Err(error) => {
            let kind = error.kind();
            assert!(
                !matches!(kind, ErrorKind::Internal | ErrorKind::Io(_)),
                "{error}"
            );
            format!("`{kind:?}`")
        }
    }
}

/// Every case: what it is, its bytes, and the setup of its readers.
fn cases() -> Vec<(&'static str, Vec<u8>, Setup)> {
    let mut cases: Vec<(&'static str, Vec<u8>, Setup)> = Vec::new();
    let mut add = |what, archive| cases.push((what, archive, Setup::default()));
    add("two good entries", plain());
    add("nothing", Vec::new());
    add("text", vec![b'x'; 100]);
    add(
        "the first half of an archive",
        plain()[..plain().len() / 2].to_vec(),
    );
    add(
        "the last byte is missing",
        plain()[..plain().len() - 1].to_vec(),
    );
    add("bytes before it", [b"#!/bin/sh\n", &plain()[..]].concat());
    add("bytes after it", [&plain()[..], b"more"].concat());
    let zeros = |bytes: usize| [plain(), vec![0; bytes]].concat();
    let block = 512 - plain().len() % 512;
    for (what, bytes) in [
        ("zeros after it up to a block, as bsdtar writes them", block),
        ("one zero more than fills a block", block + 1),
        ("a whole tape record of zeros", block + 10_240),
    ] {
        add(what, zeros(bytes));
    }
    for (what, name) in [
        ("a name with `..`", &b"../x"[..]),
        ("… after a directory", b"a/../../x"),
        ("… by backslashes", b"..\\x"),
        ("an absolute name", b"/x"),
        ("a name with a drive", b"C:\\x"),
        ("a name with a NUL", b"x\0.txt"),
        ("an empty name", b""),
        ("a name of dots and slashes", b"./."),
        ("a name with empty parts", b"a//b"),
    ] {
        add(what, named(name));
    }
    add(
        "a name that is flagged as UTF-8 and invalid",
        both(|made| {
            made.flags = 0x800;
            made.name = b"\xff\xfe".to_vec();
        }),
    );
    let pair = |one: &[u8], other: &[u8]| alike(&[stored(one, b"1"), stored(other, b"2")]);
    add("two entries with the same name", pair(b"a", b"a"));
    add("names that differ only in case", pair(b"a", b"A"));
    add(
        "a file and a directory with the same name",
        alike(&[stored(b"a", b"1"), stored(b"a/", b"")]),
    );
    add("a file, and one below it", pair(b"a", b"a/b"));
    add(
        "an archive inside of an archive",
        alike(&[stored(b"inner.zip", &plain())]),
    );
    add("an archive that is its own content", itself());
    headers(&mut add);
    places(&mut add);
    ends(&mut add);
    let setup = |password| Setup {
        password,
        limits: None,
    };
    cases.push((
        "encrypted, the right password",
        encrypted(),
        setup(Some("right")),
    ));
    cases.push(("encrypted, no password", encrypted(), setup(None)));
    cases.push((
        "encrypted, a wrong password",
        encrypted(),
        setup(Some("wrong")),
    ));
    cases.push(("encrypted, a flipped bit", damaged(), setup(Some("right"))));
    limited(&mut cases);
    cases
}

/// Headers that contradict each other, or say what cannot be.
fn headers(add: &mut impl FnMut(&'static str, Vec<u8>)) {
    add(
        "another local name",
        local(|made| made.name = b"e".to_vec()),
    );
    add("another local method", local(|made| made.method = 0));
    add("other local flags", local(|made| made.flags = 0x800));
    add(
        "a local flag that says encrypted",
        local(|made| made.flags = 1),
    );
    add("another local checksum", local(|made| made.crc32 ^= 1));
    add(
        "another local compressed size",
        local(|made| made.compressed += 1),
    );
    add("another local size", local(|made| made.content += 1));
    add("another checksum in both", both(|made| made.crc32 ^= 1));
    add("another size in both", both(|made| made.content -= 1));
    add(
        "a larger compressed size in both",
        both(|made| made.compressed += 1),
    );
    add(
        "a smaller compressed size in both",
        both(|made| made.compressed -= 1),
    );
    add(
        "bytes after the compressed content",
        both(|made| {
            made.data.extend_from_slice(b"left");
            made.compressed += 4;
        }),
    );
    add(
        "a flipped bit in the content",
        both(|made| made.data[3] ^= 0x10),
    );
    add(
        "stored with two sizes",
        alike(&[Made {
            content: 3,
            ..stored(b"a", b"12345")
        }]),
    );
    add("an unknown method", both(|made| made.method = 77));
    add("strong encryption", both(|made| made.flags = 0x41));
    add(
        "encrypted, but too short for that",
        both(|made| {
            (made.flags, made.method) = (1, 0);
            (made.compressed, made.content) = (5, 5);
            made.data.truncate(5);
        }),
    );
    add(
        "sizes in a ZIP64 field that is missing",
        both(|made| {
            (made.compressed, made.content) = (u32::MAX, u32::MAX);
        }),
    );
    add(
        "a ZIP64 field that is too short",
        both(|made| {
            (made.compressed, made.content) = (u32::MAX, u32::MAX);
            made.extra = b"\x01\0\x08\0\x01\0\0\0\0\0\0\0".to_vec();
        }),
    );
    add(
        "an extra field that is cut off",
        both(|made| made.extra = b"UT\xff\0x".to_vec()),
    );
    let made = deflated();
    let right = (made.crc32, made.compressed, made.content);
    add("a descriptor", descriptor(right.0, right.1, right.2));
    add(
        "a descriptor of another checksum",
        descriptor(right.0 ^ 1, right.1, right.2),
    );
    add(
        "a descriptor of another size",
        descriptor(right.0, right.1, right.2 + 1),
    );
    let behind = |content: &[u8]| {
        let central = Made {
            flags: 8,
            ..stored(b"a", content)
        };
        let mut local = central.clone();
        (local.crc32, local.compressed, local.content) = (0, 0, 0);
        local.data.extend_from_slice(b"PK\x07\x08");
        for value in [central.crc32, central.compressed, central.content] {
            local.data.extend_from_slice(&value.to_le_bytes());
        }
        archive(&[(local, central)])
    };
    add("stored, with a descriptor", behind(b"content"));
    add("the same, but empty, as zip writes it", behind(b""));
    add("a descriptor, and one size before it, as zip writes it", {
        let mut archive = descriptor(right.0, right.1, right.2);
        archive[22..26].copy_from_slice(&right.2.to_le_bytes());
        archive
    });
}

/// Entries that stand where they should not.
fn places(add: &mut impl FnMut(&'static str, Vec<u8>)) {
    let twice = |offset| {
        let one = stored(b"a", b"content");
        let other = Made {
            offset: Some(offset),
            ..stored(b"b", b"content")
        };
        archive(&[(one.clone(), one), (stored(b"b", b"content"), other)])
    };
    add("two entries in one place", twice(0));
    add("an entry inside of another", quoted());
    add("an offset beyond the archive", twice(0x7fff_0000));
    add("an offset into the directory", twice(80));
    add("an offset to something that is no header", twice(37));
    add("bytes between two entries", {
        let one = stored(b"a", b"content");
        let mut gap = one.clone();
        gap.data.extend_from_slice(b"hidden");
        archive(&[(gap, one)])
    });
    add("an entry that is missing in the directory", {
        let mut bytes = Vec::new();
        stored(b"hidden", b"content").local(&mut bytes);
        let one = stored(b"a", b"content");
        let mut more = one.clone();
        more.data.extend_from_slice(&bytes);
        archive(&[(more, one)])
    });
}

/// End records.
fn ends(add: &mut impl FnMut(&'static str, Vec<u8>)) {
    add("a count that is too high", end(8, &[9, 0, 9, 0]));
    add("a count that is too low", end(8, &[1, 0, 1, 0]));
    add("two counts", end(8, &[1, 0, 2, 0]));
    add("a part of a split archive", end(4, &[1, 0]));
    add(
        "a directory that is larger than the archive",
        end(12, &[0xff, 0xff, 0xff, 0x7f]),
    );
    add("a directory that starts elsewhere", end(16, &[1, 0, 0, 0]));
    add(
        "a comment that is longer than the archive",
        end(20, &[9, 0]),
    );
    let second = [&b"PK\x05\x06"[..], &[0; 18]].concat();
    add("an end record in the comment", commented(&second));
    add("an empty archive after it", [plain(), second].concat());
    add("ZIP64", wide(0, b"PK", None));
    let nine = [9_u64.to_le_bytes(); 2].concat();
    add("ZIP64 with another count", wide(24, &nine, None));
    add("ZIP64 without its signature", wide(0, b"XX", None));
    add(
        "a ZIP64 locator that points outside",
        wide(0, b"PK", Some(u64::MAX - 3)),
    );
    add(
        "a ZIP64 locator that points to the start",
        wide(0, b"PK", Some(0)),
    );
    add(
        "ZIP64 with a directory beyond 2^63",
        wide(48, &[0xff; 8], None),
    );
}

/// What limits end.
fn limited(cases: &mut Vec<(&'static str, Vec<u8>, Setup)>) {
    let limited = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        Setup {
            password: None,
            limits: Some(limits),
        }
    };
    let mut writer = ArchiveWriter::new(Vec::new());
    let zeros = vec![0; 4_000_000];
    let entry = EntryOptions::default();
    writer
        .add("zeros", &entry, &mut &zeros[..])
        .expect("it works");
    let bomb = writer.finish().expect("it works").0;
    let small = limited(|limits| limits.entry_bytes = 1_000_000);
    cases.push(("4 MB of zeros, 1 MB allowed", bomb.clone(), small));
    let total = limited(|limits| limits.total_bytes = 1_000_000);
    cases.push(("… in all", bomb.clone(), total));
    let ratio = limited(|limits| limits.ratio = 100);
    cases.push(("…, a ratio of 100 allowed", bomb, ratio));
    let one = limited(|limits| limits.entries = 1);
    cases.push(("two entries, one allowed", plain(), one));
    let directory = limited(|limits| limits.directory_bytes = 50);
    cases.push(("a directory above its limit", plain(), directory));
}

#[test]
fn the_table_says_what_comes_of_every_case() {
    let mut table = String::from(
        "| case | default | strict | default, pipe | strict, pipe |\n|---|---|---|---|---|\n",
    );
    for (what, archive, setup) in cases() {
        let found = [
            by_file(&archive, setup, false),
            by_file(&archive, setup, true),
            by_pipe(&archive, setup, false),
            by_pipe(&archive, setup, true),
        ];
        let found = found.map(outcome).join(" | ");
        writeln!(table, "| {what} | {found} |").expect("it works");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/HOSTILE.md");
    let text = std::fs::read_to_string(path).expect("it works");
    let start = text.find("| case |").expect("it works");
    let end = text[start..]
        .find("\n\n")
        .map_or(text.len(), |at| start + at + 1);
    if std::env::var_os("PERFKIT_BLESS").is_some() {
        let text = [&text[..start], &table, &text[end..]].concat();
        std::fs::write(path, text).expect("it works");
        return;
    }
    for (stated, found) in text[start..end].lines().zip(table.lines()) {
        assert_eq!(stated, found);
    }
    assert_eq!(text[start..end].lines().count(), table.lines().count());
}

/// Whoever unpacks what they unpacked never comes to an end with this one; a reader does.
#[test]
fn what_holds_itself_is_read_once() {
    let whole = itself();
    let mut inner = whole.clone();
    for _ in 0..3 {
        let reader =
            ArchiveReader::open_with(&inner[..], &ReadOptions::strict()).expect("it opens");
        let entry = reader.find("itself.zip").expect("read").expect("there");
        let content = reader.read(&entry).expect("it is right");
        assert!(content == whole);
        inner = content;
    }
}

/// Every cut of a small archive of each case, and a flipped bit in every byte: an error or content, no
/// panic.
#[test]
fn no_cut_and_no_flipped_byte_panics() {
    for (what, archive, setup) in cases() {
        // Keys take long to derive, and the tests of encryption do the same.
        if archive.len() > 700 || setup.password.is_some() {
            continue;
        }
        for at in 0..archive.len() {
            for strict in [false, true] {
                // Some hold an archive that ends before they do.
                let shorter = ["after it", "zero", "inside", "comment"];
                let shorter = shorter.iter().any(|word| what.contains(word));
                let cut = by_file(&archive[..at], setup, strict);
                assert!(cut.is_err() || shorter, "{what}: {at}");
                let _ = by_pipe(&archive[..at], setup, strict);
            }
        }
        for at in 0..archive.len() {
            let mut flipped = archive.clone();
            flipped[at] ^= 1 << (at % 8);
            let _ = by_file(&flipped, setup, false);
            let _ = by_pipe(&flipped, setup, true);
        }
    }
}
