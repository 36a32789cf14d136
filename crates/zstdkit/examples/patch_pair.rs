//! Writes two versions of a large file, and what is new in the second: the content that a patch cannot do without.
//!
//! `cargo run --release -p zstdkit --example patch_pair -- MEBIBYTES FOLDER` writes `older`, `newer` and `new` there. A
//! third of the older file is noise, a third words, and the rest words among zeros. In the newer one content is
//! inserted and deleted, bytes are changed, blocks trade places over a quarter of a gigabyte, and a sixteenth of the
//! file is moved to its end.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const BLOCK_BYTES: usize = 1 << 20;
const WORDS: usize = 4096;

/// xorshift64: content need not be good, but cheap.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from `from` to `to`.
    fn within(&mut self, from: usize, to: usize) -> usize {
        from + (self.next() >> 33) as usize % (to - from + 1)
    }
}

/// Content of any block of the older file, and of what is inserted.
struct Content {
    words: Vec<[u8; 8]>,
}

impl Content {
    fn new() -> Self {
        let mut random = Random::new(7);
        let letter = |bits: u64| b'a' + (bits % 26) as u8;
        let word = |mut bits: u64| {
            let mut word = [b' '; 8];
            for place in word.iter_mut().take(3 + (bits >> 61) as usize % 5) {
                *place = letter(bits);
                bits /= 26;
            }
            word
        };
        Self {
            words: (0..WORDS).map(|_| word(random.next())).collect(),
        }
    }

    fn fill(&self, seed: u64, kind: u64, bytes: usize) -> Vec<u8> {
        let mut random = Random::new(seed);
        let mut content = Vec::with_capacity(bytes + 8);
        while content.len() < bytes {
            let bits = random.next();
            let word = self.words[bits as usize % WORDS];
            match kind % 3 {
                0 => content.extend_from_slice(&bits.to_le_bytes()),
                2 if bits >> 62 != 0 => content.extend_from_slice(&[0; 8]),
                _ => content.extend_from_slice(&word),
            }
        }
        content.truncate(bytes);
        content
    }

    fn older(&self, block: usize) -> Vec<u8> {
        // Each kind comes for 8 MiB at a time.
        self.fill(block as u64, block as u64 / 8, BLOCK_BYTES)
    }
}

/// The blocks of the older file in the order of the newer one.
fn order(blocks: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..blocks).collect();
    let shuffled = blocks / 4..(blocks / 4 + 256).min(blocks / 2);
    let mut random = Random::new(11);
    for at in shuffled.clone() {
        order.swap(at, random.within(shuffled.start, shuffled.end - 1));
    }
    let moved: Vec<_> = order.drain(blocks / 2..blocks / 2 + blocks / 16).collect();
    order.extend(moved);
    order
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(blocks), Some(folder)) = (arguments.next(), arguments.next()) else {
        return Err("usage: patch_pair MEBIBYTES FOLDER".into());
    };
    let (blocks, folder) = (blocks.parse::<usize>()?, Path::new(&folder));
    let content = Content::new();
    let create = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
    let mut older = create("older")?;
    for block in 0..blocks {
        older.write_all(&content.older(block))?;
    }
    older.flush()?;
    let (mut newer, mut new) = (create("newer")?, create("new")?);
    let mut random = Random::new(13);
    for (at, block) in order(blocks).into_iter().enumerate() {
        let mut bytes = content.older(block);
        let changed = random.within(0, BLOCK_BYTES - 8);
        for place in &mut bytes[changed..changed + random.within(1, 8)] {
            *place ^= 0x55;
            new.write_all(&[*place])?;
        }
        if at % 131 == 130 {
            let (start, end) = (random.within(1, 1000), random.within(500_000, 1_000_000));
            bytes.drain(start..end);
        }
        if at % 97 == 48 {
            let (place, count) = (random.within(0, 500_000), random.within(500_000, 1_000_000));
            let inserted = content.fill(1 << 40 | at as u64, at as u64 / 97, count);
            new.write_all(&inserted)?;
            bytes.splice(place..place, inserted);
        }
        newer.write_all(&bytes)?;
    }
    newer.flush()?;
    new.flush()?;
    Ok(())
}
