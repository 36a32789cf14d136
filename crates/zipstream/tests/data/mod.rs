//! Contents that are the same in each run, for the tests of deflate and for its benchmarks.

/// Numbers that are the same in each run (xorshift64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// The next number below `below`, which is not 0.
    pub(crate) fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % below as u64) as usize
    }
}

/// Bytes that no compressor makes smaller.
pub(crate) fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    (0..bytes).map(|_| random.next(256) as u8).collect()
}

/// Words of a vocabulary of `count`, the first ones more often, in lines.
pub(crate) fn words(seed: u64, count: usize, bytes: usize) -> Vec<u8> {
    let mut random = Random(seed);
    let mut word = || -> Vec<u8> {
        let letters = 2 + random.next(9);
        (0..letters).map(|_| b'a' + random.next(26) as u8).collect()
    };
    let words: Vec<Vec<u8>> = (0..count).map(|_| word()).collect();
    let mut out = Vec::with_capacity(bytes + 16);
    while out.len() < bytes {
        let most = 1 + random.next(count);
        out.extend_from_slice(&words[random.next(most)]);
        out.push(if random.next(12) == 0 { b'\n' } else { b' ' });
    }
    out.truncate(bytes);
    out
}
