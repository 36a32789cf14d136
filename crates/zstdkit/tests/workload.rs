//! The generated data: reproducible, streamed or whole, and about as compressible as the data that it
//! imitates.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::Read as _;

use zstdkit::EncoderOptions;
use zstdkit::workload::{Generator, Kind, generate};

const MIB: usize = 1 << 20;

/// XXH64 of the first MiB with seed 1. A change here breaks comparisons with recorded results.
const GOLDEN: [(Kind, u64); 8] = [
    (Kind::UuidText, 0x08ff_1b57_24eb_898d),
    (Kind::JsonLines, 0xdc61_1a96_8aca_b9d7),
    (Kind::Html, 0x6584_41c9_f3e5_655b),
    (Kind::Log, 0x2cda_7690_ae9a_fde9),
    (Kind::Source, 0x2057_df56_16b7_e800),
    (Kind::Binary, 0xfb49_5d5b_ec11_118f),
    (Kind::Random, 0xfe86_9dd9_05a2_7374),
    (Kind::Zeros, 0x87d2_a1b6_e116_3ef1),
];

#[test]
fn golden_hashes() {
    let found: Vec<String> = GOLDEN
        .iter()
        .map(|&(kind, _)| {
            let hash = twox_hash::XxHash64::oneshot(0, &generate(kind, 1, MIB));
            format!("{kind} {hash:016x}")
        })
        .collect();
    let expected: Vec<String> = GOLDEN
        .iter()
        .map(|(kind, hash)| format!("{kind} {hash:016x}"))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn golden_covers_every_kind() {
    assert_eq!(GOLDEN.map(|(kind, _)| kind), Kind::ALL);
}

#[test]
fn ratios_are_plausible() {
    for (kind, low, high) in [
        (Kind::UuidText, 1.7, 2.0),
        (Kind::JsonLines, 6.0, 10.5),
        (Kind::Html, 6.0, 15.0),
        (Kind::Log, 5.0, 12.0),
        (Kind::Source, 3.0, 5.0),
        (Kind::Binary, 2.0, 4.0),
        (Kind::Random, 0.99, 1.0),
        (Kind::Zeros, 5000.0, 50_000.0),
    ] {
        let data = generate(kind, 3, 4 * MIB);
        let frame = zstdkit::compress(&data, &EncoderOptions::default()).unwrap();
        let ratio = data.len() as f64 / frame.len() as f64;
        assert!((low..=high).contains(&ratio), "{kind}: {ratio}");
    }
}

#[test]
fn stream_and_buffer_agree_at_any_cut() {
    for kind in Kind::ALL {
        let whole = generate(kind, 9, 100_000);
        let mut stream = Generator::new(kind, 9);
        let mut read = Vec::new();
        for length in [0, 1, 2, 3, 4095, 4096, 4097, 50_000].into_iter().cycle() {
            let mut piece = vec![0; length];
            stream.read_exact(&mut piece).unwrap();
            read.extend(piece);
            if read.len() >= whole.len() {
                break;
            }
        }
        assert!(read.starts_with(&whole), "{kind}");
        assert!(whole.starts_with(&generate(kind, 9, 777)), "{kind}");
    }
}

#[test]
fn seeds_differ() {
    for kind in Kind::ALL {
        let same = generate(kind, 1, 10_000) == generate(kind, 2, 10_000);
        assert_eq!(same, kind == Kind::Zeros, "{kind}");
    }
}

#[test]
fn text_is_text_and_lines_are_whole() {
    let lines = String::from_utf8(generate(Kind::UuidText, 5, 37 * 100)).unwrap();
    for line in lines.lines() {
        let parts: Vec<_> = line.split('-').map(str::len).collect();
        assert_eq!(parts, [8, 4, 4, 4, 12]);
        assert_eq!(&line[14..15], "4");
        assert!("89ab".contains(&line[19..20]));
    }
    for kind in [Kind::JsonLines, Kind::Html, Kind::Log, Kind::Source] {
        assert!(generate(kind, 5, 100_000).is_ascii(), "{kind}");
    }
    let json = String::from_utf8(generate(Kind::JsonLines, 5, 100_000)).unwrap();
    for line in json.lines().take(100) {
        assert!(
            line.starts_with("{\"ts\":\"2026-01-") && line.ends_with('}'),
            "{line}"
        );
        assert_eq!(line.matches('{').count(), line.matches('}').count());
        assert_eq!(line.matches('"').count() % 2, 0);
    }
}

#[test]
fn names_are_read_back() {
    for kind in Kind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert!("".parse::<Kind>().is_err());
}
