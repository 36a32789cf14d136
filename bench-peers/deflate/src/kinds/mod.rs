//! The kinds of data: each is made from a seed, so that a sweep can be repeated.

mod numbers;
mod repeats;
mod text;

use zstdkit::workload::{Kind as Workload, generate};

/// A kind of data.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) make: fn(u64, usize) -> Vec<u8>,
}

const fn kind(name: &'static str, make: fn(u64, usize) -> Vec<u8>) -> Kind {
    Kind { name, make }
}

/// All kinds.
pub(crate) const KINDS: &[Kind] = &[
    kind("json-logs", |seed, bytes| {
        generate(Workload::JsonLines, seed, bytes)
    }),
    kind("json-api", text::json_api),
    kind("html", |seed, bytes| generate(Workload::Html, seed, bytes)),
    kind("access-log", |seed, bytes| {
        generate(Workload::Log, seed, bytes)
    }),
    kind("source", |seed, bytes| {
        generate(Workload::Source, seed, bytes)
    }),
    kind("csv", text::csv),
    kind("xml", text::xml),
    kind("sql", text::sql),
    kind("prose", text::prose),
    kind("sorted-words", text::sorted_words),
    kind("utf16", text::utf16),
    kind("uuids", |seed, bytes| {
        generate(Workload::UuidText, seed, bytes)
    }),
    kind("hexdump", text::hexdump),
    kind("fix-messages", text::fix_messages),
    kind("base64", |seed, bytes| text::alphabet(seed, bytes, BASE64)),
    kind("hex", |seed, bytes| {
        text::alphabet(seed, bytes, b"0123456789abcdef")
    }),
    kind("digits", |seed, bytes| {
        text::alphabet(seed, bytes, b"0123456789")
    }),
    kind("four-letters", |seed, bytes| {
        text::alphabet(seed, bytes, b"ACGT")
    }),
    kind("genome", text::genome),
    kind("bits", |seed, bytes| text::alphabet(seed, bytes, b"01")),
    kind("machine-code", |seed, bytes| {
        generate(Workload::Binary, seed, bytes)
    }),
    kind("program", repeats::program),
    kind("int32-ids", numbers::int32_ids),
    kind("int64-times", numbers::int64_times),
    kind("doubles", numbers::doubles),
    kind("floats", numbers::floats),
    kind("column-int16", numbers::column_int16),
    kind("pcm", numbers::pcm),
    kind("rgb", numbers::rgb),
    kind("gray", numbers::gray),
    kind("records", numbers::records),
    kind("sparse-zeros", numbers::sparse_zeros),
    kind("random", |seed, bytes| {
        generate(Workload::Random, seed, bytes)
    }),
    kind("png-like", repeats::png_like),
    kind("png-copies", repeats::png_copies),
    kind("random-20k-repeated", repeats::random_repeated),
    kind("far-repeats", repeats::far_repeats),
    kind("near-copies", repeats::near_copies),
    kind("one-line", repeats::one_line),
    kind("zeros", |_, bytes| vec![0; bytes]),
    kind("mixture", repeats::mixture),
];

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Numbers that are the same in each run (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Below `below`, which is not 0.
    fn below(&mut self, below: usize) -> usize {
        (self.next() % below as u64) as usize
    }

    /// Below `below`, the small ones more often.
    fn skewed(&mut self, below: usize) -> usize {
        let most = 1 + self.below(below);
        self.below(most)
    }

    /// From -1 to 1, mostly about 0.
    fn bell(&mut self) -> f64 {
        let sum: f64 = (0..4).map(|_| self.next() as f64 / u64::MAX as f64).sum();
        sum / 2.0 - 1.0
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Appends parts until there are `bytes` of them.
fn filled(bytes: usize, mut append: impl FnMut(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes + 4096);
    while out.len() < bytes {
        append(&mut out);
    }
    out.truncate(bytes);
    out
}
