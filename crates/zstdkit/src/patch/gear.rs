//! Anchors of content: places that a rolling hash over the bytes before them chooses, so that the same content has the
//! same anchors wherever it stands. What they are used for is not here.

/// A number for each byte, from which the hash is made.
static NUMBERS: [u64; 256] = numbers();

/// Distinct odd-looking numbers, by the finalizer of SplitMix64 over a counter.
const fn numbers() -> [u64; 256] {
    let mut numbers = [0; 256];
    let mut byte = 0;
    while byte < numbers.len() {
        let mut mixed = (byte as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        numbers[byte] = mixed ^ (mixed >> 31);
        byte += 1;
    }
    numbers
}

/// Finds anchors in content that arrives in pieces.
#[derive(Debug, Clone)]
pub(super) struct Gear {
    /// Each byte is shifted out by the 64 after it.
    hash: u64,
    /// Anchors are where the hash is below this.
    limit: u64,
    /// The hash of the anchor before. Runs of one byte would be full of anchors otherwise.
    before: u64,
    /// Bytes seen so far.
    position: u64,
}

impl Gear {
    /// Finds an anchor every `1 << rate_log` bytes on average, `rate_log` from 1 to 63.
    pub(super) fn new(rate_log: u32) -> Self {
        Self {
            hash: 0,
            limit: 1 << (64 - rate_log.clamp(1, 63)),
            before: u64::MAX,
            position: 0,
        }
    }

    /// Bytes seen so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Calls `found` with the position after the last byte of each anchor, and its hash.
    pub(super) fn scan(&mut self, bytes: &[u8], mut found: impl FnMut(u64, u64)) {
        let mut hash = self.hash;
        for (at, &byte) in bytes.iter().enumerate() {
            hash = (hash << 1).wrapping_add(NUMBERS[usize::from(byte)]);
            if hash < self.limit && hash != self.before {
                self.before = hash;
                found(self.position + at as u64 + 1, hash);
            }
        }
        self.hash = hash;
        self.position += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::Gear;

    fn anchors(bytes: &[u8], cut: usize) -> Vec<(u64, u64)> {
        let (mut gear, mut found) = (Gear::new(6), Vec::new());
        for piece in bytes.chunks(cut) {
            gear.scan(piece, |position, hash| found.push((position, hash)));
        }
        assert_eq!(gear.position(), bytes.len() as u64);
        found
    }

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        (0..bytes).map(|_| next()).collect()
    }

    #[test]
    fn anchors_move_with_their_content_whatever_the_cut() {
        let content = noise(100_000);
        let found = anchors(&content, 100_000);
        assert!((1000..2200).contains(&found.len()), "{}", found.len());
        assert_eq!(anchors(&content, 7), found);
        let moved: Vec<_> = anchors(&content[12_345..], 1000);
        let expected: Vec<_> = found
            .iter()
            .filter(|(position, _)| *position > 12_345 + 64)
            .map(|(position, hash)| (position - 12_345, *hash))
            .collect();
        let tail = &moved[moved.len() - expected.len()..];
        assert_eq!(tail, expected);
    }

    #[test]
    fn a_run_of_one_byte_has_hardly_any() {
        for byte in 0..=255 {
            let found = anchors(&vec![byte; 100_000], 4096);
            assert!(found.len() <= 64, "{byte}: {}", found.len());
        }
    }
}
