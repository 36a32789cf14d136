//! Bytes on their way to the connection.

/// How much memory is kept when all of them were written; what was written is dropped by such pieces at least.
const KEPT_BYTES: usize = 1 << 16;

/// Bytes that wait to be written. Memory grows with what waits, not with what was written.
#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    /// How many of them were written.
    written: usize,
}

impl Output {
    /// What waits.
    pub(super) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.written..).unwrap_or(&[])
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// This many bytes were written.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written = self.written.saturating_add(bytes).min(self.bytes.len());
        if self.written == self.bytes.len() {
            self.clear();
        } else if self.written >= KEPT_BYTES && self.written >= self.bytes.len() / 2 {
            // A peer that reads slowly may never take all of it.
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.written = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_for_what_waits_even_if_some_always_does() {
        let mut output = Output::default();
        output.push(&[0; 1000]);
        let mut next = 0_u8;
        for round in 0..100_000_u32 {
            output.push(&[round as u8; 1000]);
            assert_eq!(output.waiting()[0], next);
            output.wrote(1000);
            next = round as u8;
            assert_eq!(output.waiting().len(), 1000);
        }
        assert!(output.bytes.capacity() <= 4 * KEPT_BYTES);
        output.push(&[1; 1 << 20]);
        output.wrote(usize::MAX);
        assert_eq!(output.waiting(), b"");
        assert!(output.bytes.capacity() <= KEPT_BYTES, "given back");
    }
}
