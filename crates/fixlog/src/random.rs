//! Numbers that are random enough for tests, and the same for the same start.

/// Begins with any number but 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number below `most`; 0 if that is 0.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }
}
