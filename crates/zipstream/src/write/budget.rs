//! How much content a caller's loop processes before it yields.

/// Bytes of content that may be processed before other tasks get their turn.
///
/// ```
/// use zipstream::{ArchiveEncoder, ArchiveOptions, Budget, EntryOptions};
///
/// let mut encoder = ArchiveEncoder::new(ArchiveOptions::default())?;
/// encoder.start_entry("a.txt", &EntryOptions::default())?;
/// let mut content = &[b'a'; 1_000_000][..];
/// let mut turns = 0;
/// while !content.is_empty() {
///     let mut budget = Budget::bytes(100_000);
///     encoder.push_within(&mut content, &mut budget)?;
///     turns += 1; // Here others would have theirs.
/// }
/// assert_eq!(turns, 10);
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    left: u64,
}

impl Budget {
    /// A budget of this many bytes.
    pub const fn bytes(bytes: u64) -> Self {
        Self { left: bytes }
    }

    /// Bytes left.
    pub const fn left(self) -> u64 {
        self.left
    }

    /// Whether nothing is left.
    pub const fn is_spent(self) -> bool {
        self.left == 0
    }

    /// Subtracts bytes. Work beyond the budget is not carried over.
    pub const fn charge(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }
}
