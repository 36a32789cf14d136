//! Seeds of the archive targets: one archive for each shape of entries, and plans for the writer.

use zipstream::{ArchiveOptions, ArchiveWriter, EntryOptions, Method};

use crate::Seed;

/// The seeds of `zip_extract`, `zip_read`, `zip_roundtrip`, `deflate_roundtrip`, `inflate_differential`, `gzip_read` and
/// `deflate_index`.
pub(crate) fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    // The first bytes are the cuts.
    for (name, entries) in trees() {
        seeds.push(Seed::new("zip_extract", name, entries));
    }
    let mut read = |name, archive: Vec<u8>| {
        let bytes = [&[6, 0, 9, 0], &archive[..]].concat();
        seeds.push(Seed::new("zip_read", name, bytes));
    };
    read("empty", archive(&[], 0));
    read(
        "stored",
        archive(&[("a", EntryOptions::new(Method::Stored))], 9),
    );
    read(
        "deflate",
        archive(&[("dir/a", EntryOptions::default())], 500),
    );
    read(
        "zstd",
        archive(&[("a", EntryOptions::new(Method::Zstd))], 500),
    );
    let mut hinted = EntryOptions::default();
    hinted.size_hint = Some(1 << 21);
    let mut unbounded = EntryOptions::default();
    unbounded.size_hint = Some(1 << 40);
    unbounded.modified = Some(1_000_000_000);
    let several = [
        ("ö", hinted),
        ("b", unbounded),
        ("dir", EntryOptions::directory()),
        ("link", EntryOptions::symlink()),
    ];
    read("descriptors", archive(&several, 20));
    let mut zstd = EntryOptions::new(Method::Zstd);
    zstd.size_hint = Some(1 << 21);
    read("zstd-descriptor", archive(&[("a", zstd)], 200));
    read("two", archive(&several[..1], 3).repeat(2));
    let mut cut = archive(&several, 20);
    cut.truncate(cut.len() - 30);
    read("cut", cut);
    let several = [1, 3, 2, 1, 9, 3, 0, 5, 7, 8, 65, 66, 67].repeat(12);
    for (name, plan) in [
        ("nothing", &b""[..]),
        (
            "one",
            &b"\x01\x01\x06\x00\x01\x05\x00\x00\x09\x00text of an entry"[..],
        ),
        (
            "large",
            &b"\x00\x01\x06\x00\x00\x02\x00\x11\x00again and again"[..],
        ),
        ("several", &several[..]),
    ] {
        seeds.push(Seed::new("zip_roundtrip", name, plan));
    }
    for (name, plan) in [
        ("nothing", &b""[..]),
        // A level, two cuts, then literals, a long copy, noise and a copy of that.
        (
            "mixed",
            &b"\x06\x0f\x00\x10\x00\x00\x0asome text,\x02\x03\x10\x0f\x00\x03\x07\x0c\x00\x02\x09\x00\x0d\x00"[..],
        ),
        ("fast", &b"\x01\x11\x00\x11\x00\x03\x01\x05\x00\x02\x05\x00\x10\x00"[..]),
    ] {
        seeds.push(Seed::new("deflate_roundtrip", name, plan));
    }
    // A kind, the sizes of two parts and the room, then a plan or a stream as it is.
    let as_is = |stream: &[u8]| [&[1, 3, 0, 9, 0, 17, 0], stream].concat();
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("fixed", as_is(&[0x4b, 0x4c, 0x4a, 0x4e, 0x49, 0x4d, 0x4b, 0x44, 0x41, 0])),
        ("stored", as_is(b"\x01\x04\x00\xfb\xfftext and more")),
        ("reserved", as_is(&[7, 0, 0])),
        (
            "changed",
            b"\x00\x03\x00\x09\x00\x11\x00\x06\x01\x05\x00\x04\x1fsome text of many letters, and.\x03\x00\x09\x00"
                .to_vec(),
        ),
        (
            "described",
            b"\x00\x0c\x00\x0c\x00\x11\x00\x10\x00\x1fthe quick brown fox jumps over \x02\x00\x06\x00\x1fsome text of many letters, and.\x04\x00\x09\x00"
                .to_vec(),
        ),
    ] {
        seeds.push(Seed::new("inflate_differential", name, bytes));
    }
    // A kind and the sizes of two parts, then a plan or a file as it is: "hello\\n", and an empty member.
    let file = |rest: &[u8]| {
        let hello =
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\0\x20\x30\x3a\x36\x06\0\0\0";
        [&[1, 3, 0, 9, 0], &hello[..], rest].concat()
    };
    let empty = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("one", file(b"")),
        ("two", file(empty)),
        ("padded", file(&[0; 9])),
        ("more", file(b"more")),
        (
            "fields",
            b"\x00\x03\x00\x09\x00\x0f\x06\x03\x00\x00some text, some text".to_vec(),
        ),
        (
            "changed",
            b"\x00\x03\x00\x09\x00\x00\x06\x0b\x00\x04some text, some text".to_vec(),
        ),
    ] {
        seeds.push(Seed::new("gzip_read", name, bytes));
    }
    for (name, bytes) in indexes() {
        seeds.push(Seed::new("deflate_index", name, bytes));
    }
    seeds
}

/// Indexes of the sample, whole and not, and streams to make an index of. What comes first is which of both
/// it is, the cut, the spacing, and a range: pieces of 1 KiB, 4 KiB, 20 bytes from byte 5,000 on.
fn indexes() -> Vec<(&'static str, Vec<u8>)> {
    const OPTIONS: [u8; 8] = [10, 0, 12, 0, 12, 57, 4, 80];
    let (_, stream) = perfkit_fuzz::indexed_sample();
    let (index, _) = perfkit_fuzz::index_of(&stream, 4 << 10, 1 << 10).expect("it is valid");
    let index = index.source().clone();
    let of_index = |bytes: &[u8]| [&[1], &OPTIONS[..], bytes].concat();
    let of_stream = |bytes: &[u8]| [&[0], &OPTIONS[..], bytes].concat();
    let mut window = index.clone();
    let last = window.len() - 9;
    window[last] ^= 0x10;
    let mut version = index.clone();
    version[7] += 1;
    vec![
        ("index", of_index(&index)),
        ("index-cut", of_index(&index[..index.len() - 1])),
        ("index-window", of_index(&window)),
        ("index-version", of_index(&version)),
        ("index-head", of_index(&index[..40])),
        ("stream", of_stream(&stream)),
        ("stream-cut", of_stream(&stream[..stream.len() - 1])),
        ("stream-empty", of_stream(&[3, 0])),
        (
            "stream-stored",
            of_stream(b"\x01\x04\x00\xfb\xfftext and more"),
        ),
    ]
}

/// Archives that are extracted: good ones, and ones whose names or links lead out of the target.
fn trees() -> Vec<(&'static str, Vec<u8>)> {
    let made = |entries: &[(&str, EntryOptions, &[u8])], renamed: &[(&[u8], &[u8])]| {
        let mut writer = ArchiveWriter::new(Vec::new());
        for (name, options, content) in entries {
            let added = writer.add(name, options, &mut &content[..]);
            added.expect("it is taken");
        }
        let mut bytes = writer.finish().expect("it ends").0;
        for (from, to) in renamed {
            for at in 0..bytes.len().saturating_sub(from.len()) {
                if bytes[at..].starts_with(from) {
                    bytes[at..at + to.len()].copy_from_slice(to);
                }
            }
        }
        bytes
    };
    let file = || EntryOptions::new(Method::Stored);
    let (folder, link) = (EntryOptions::directory, EntryOptions::symlink);
    vec![
        (
            "tree",
            made(
                &[
                    ("d/", folder(), b""),
                    ("d/a", file(), b"one"),
                    ("d/l", link(), b"a"),
                    ("b", EntryOptions::default(), &[b'x'; 300]),
                ],
                &[],
            ),
        ),
        (
            "up",
            made(
                &[("xx/evil", file(), b"x"), ("good", file(), b"y")],
                &[(b"xx/evil", b"../evil")],
            ),
        ),
        (
            "absolute",
            made(&[("x/evil", file(), b"x")], &[(b"x/evil", b"/xevil")]),
        ),
        (
            "backslashes",
            made(&[("xx_evil", file(), b"x")], &[(b"xx_evil", b"..\\evil")]),
        ),
        ("link-out", made(&[("d/l", link(), b"../..")], &[])),
        ("link-absolute", made(&[("l", link(), b"/tmp")], &[])),
        (
            "through-link",
            made(
                &[("l", link(), b"."), ("m/evil", file(), b"x")],
                &[(b"m/evil", b"l/evil")],
            ),
        ),
        (
            "clash",
            made(&[("a", file(), b"x"), ("b", file(), b"y")], &[(b"b", b"A")]),
        ),
        (
            "below-file",
            made(
                &[("a", file(), b"x"), ("b/c", file(), b"y")],
                &[(b"b/c", b"a/c")],
            ),
        ),
    ]
}

fn archive(entries: &[(&str, EntryOptions)], bytes: usize) -> Vec<u8> {
    let mut settings = ArchiveOptions::default();
    settings.comment = b"comment".to_vec();
    let mut writer = ArchiveWriter::with_options(Vec::new(), settings).expect("no threads");
    let content = b"some text, ".repeat(bytes / 11 + 1);
    for (name, options) in entries {
        let content = if name.starts_with("dir") && !name.contains('/') {
            &content[..0]
        } else {
            &content[..bytes]
        };
        writer
            .add(name, options, &mut &content[..])
            .expect("it is taken");
    }
    writer.finish().expect("it ends").0
}
