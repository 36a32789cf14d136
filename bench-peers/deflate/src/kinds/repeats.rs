//! Kinds that repeat themselves, and mixtures.

use super::{Random, filled, numbers, text};

fn noise(random: &mut Random, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|_| random.next() as u8).collect()
}

/// This program: machine code of a compiler.
pub(super) fn program(_: u64, bytes: usize) -> Vec<u8> {
    let own = std::env::current_exe().and_then(std::fs::read);
    let own = own.expect("the program can be read");
    own.iter().copied().cycle().take(bytes).collect()
}

/// What a compressor of pictures leaves: noise, with a short header now and then.
pub(super) fn png_like(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    filled(bytes, |out| {
        out.extend_from_slice(b"\0\0\x20\0IDAT");
        let part = noise(&mut random, 8192);
        out.extend_from_slice(&part);
    })
}

/// The same small picture over and over, with names between.
pub(super) fn png_copies(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let picture = noise(&mut random, 20_000);
    let mut nth = 0;
    filled(bytes, |out| {
        nth += 1;
        out.extend_from_slice(format!("icons/picture-{nth:04}.png\n").as_bytes());
        out.extend_from_slice(&picture);
    })
}

pub(super) fn random_repeated(seed: u64, bytes: usize) -> Vec<u8> {
    let block = noise(&mut Random(seed), 20_000);
    block.iter().copied().cycle().take(bytes).collect()
}

/// Parts of text that come again after nearly a whole window, and some after more than one.
pub(super) fn far_repeats(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let prose = text::prose(seed, bytes + 4096);
    let mut at = 0;
    filled(bytes, |out| {
        let length = 200 + random.below(1200);
        let back = 24_000 + random.below(16_000);
        if out.len() > back && random.below(2) == 0 {
            let from = out.len() - back;
            out.extend_from_within(from..from + length);
        } else {
            out.extend_from_slice(&prose[at..at + length]);
            at += length;
        }
    })
}

/// A record of noise of which each copy has a few other bytes.
pub(super) fn near_copies(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut record = noise(&mut random, 300);
    filled(bytes, |out| {
        for _ in 0..4 {
            let at = random.below(record.len());
            record[at] = random.next() as u8;
        }
        out.extend_from_slice(&record);
    })
}

pub(super) fn one_line(_: u64, bytes: usize) -> Vec<u8> {
    let line = b"The quick brown fox jumps over the lazy dog, and then it does so again.\n";
    line.iter().copied().cycle().take(bytes).collect()
}

/// Parts of several kinds one after the other.
pub(super) fn mixture(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    filled(bytes, |out| {
        let (seed, length) = (random.next(), 4_000 + random.below(60_000));
        let part = match random.below(6) {
            0 => text::csv(seed, length),
            1 => numbers::doubles(seed, length),
            2 => noise(&mut random, length),
            3 => text::prose(seed, length),
            4 => numbers::records(seed, length),
            _ => text::alphabet(seed, length, b"0123456789abcdef"),
        };
        out.extend_from_slice(&part);
    })
}
