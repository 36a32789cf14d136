//! CRC-32, for callers that need it before an entry is written.

/// CRC-32 of a content in parts.
///
/// ```
/// let mut sum = zipstream::Crc32::new();
/// sum.update(b"1234");
/// sum.update(b"56789");
/// assert_eq!(sum.sum(), 0xcbf4_3926);
/// ```
#[derive(Default)]
pub struct Crc32(libdeflater::Crc);

impl Crc32 {
    /// The checksum of no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next part.
    pub fn update(&mut self, content: &[u8]) {
        self.0.update(content);
    }

    /// The checksum of two contents in sequence, from the checksum of each and the size of the
    /// second.
    ///
    /// ```
    /// use zipstream::Crc32;
    ///
    /// let sum = |content: &[u8]| {
    ///     let mut sum = Crc32::new();
    ///     sum.update(content);
    ///     sum.sum()
    /// };
    /// assert_eq!(Crc32::joined(sum(b"1234"), sum(b"56789"), 5), sum(b"123456789"));
    /// ```
    pub fn joined(first: u32, second: u32, second_bytes: u64) -> u32 {
        let mut sum = crc32fast::Hasher::new_with_initial(first);
        sum.combine(&crc32fast::Hasher::new_with_initial_len(
            second,
            second_bytes,
        ));
        sum.finalize()
    }

    /// The checksum so far.
    pub fn sum(&self) -> u32 {
        self.0.sum()
    }
}

impl std::fmt::Debug for Crc32 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crc32({:08x})", self.sum())
    }
}
