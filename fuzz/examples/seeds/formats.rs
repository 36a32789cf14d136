//! Seeds over LZ4 files and the structure of xz files: files by a plan, and bytes as they are.

use crate::Seed;

/// The seeds of `lz4_read` and `xz_streams`.
pub(crate) fn seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    // A kind and the sizes of two parts, then a plan or a file as it is: the block "text\n", which is not compressed.
    let file = |rest: &[u8]| {
        let text = b"\x04\x22\x4d\x18\x60\x40\x82\x05\0\0\x80text\n\0\0\0\0";
        [&[1, 3, 0, 9, 0], &text[..], rest].concat()
    };
    // Level, options, and a change: none where its bits are 0.
    let plan = |level: u8, options: u8, at: u8, bits: u8| {
        let text = b"some text, some text, some other text";
        [
            &[0, 3, 0, 9, 0, level, options, 4, at, bits],
            &text.repeat(3)[..],
        ]
        .concat()
    };
    let legacy = b"\x02\x21\x4c\x18\x07\0\0\0\x60text, ";
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("stored", file(b"")),
        ("skippable", file(b"\x5f\x2a\x4d\x18\x03\0\0\0abc")),
        ("legacy", [&[1, 3, 0, 9, 0], &legacy[..]].concat()),
        ("legacy-then-frame", file(legacy)),
        ("more", file(b"more")),
        ("linked", plan(1, 0b00_0011, 0, 0)),
        ("independent", plan(9, 0b00_0101, 0, 0)),
        ("all", plan(12, 0b11_0111, 0, 0)),
        ("no-checksum", plan(4, 0b01_1000, 0, 0)),
        ("changed", plan(1, 0b00_0011, 200, 32)),
        ("dictionary", plan(1, 0b00_0011, 1, 1)),
    ] {
        seeds.push(Seed::new("lz4_read", name, bytes));
    }
    // An empty file as xz writes it.
    let empty = b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\0\0\0\0\x1c\xdf\x44\x21\x1f\xb6\xf3\x7d\x01\0\0\0\0\x04YZ";
    // For each stream its check, fours of bytes for blocks, those of the index, the index, and zeros.
    let none = b"\x04\0\0\0\0\0\0\x04";
    let one = b"\x01\x02\x01\0\x01\x08\x05\0\0\0\0\0";
    for (name, bytes) in [
        ("nothing", Vec::new()),
        ("empty", [&[1], &empty[..]].concat()),
        (
            "padded",
            [&[1], &empty[..], &[0; 4], empty, &[0; 8]].concat(),
        ),
        ("planned", [&[0], &one[..], none].concat()),
        (
            "outside",
            [&[0], &none[..], b"\x01\0\x01\0\x01\x08\x05\0\0\0\0\0"].concat(),
        ),
    ] {
        seeds.push(Seed::new("xz_streams", name, bytes));
    }
    seeds
}
