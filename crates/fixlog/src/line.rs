//! A line that is written into room that was made before: most copies are of one size.

/// A line being written into room that was made for it.
pub(crate) struct Line<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    pub(crate) at: usize,
}

impl Line<'_> {
    /// Makes room for this many bytes more.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) {
        if self.out.len() < self.at + bytes {
            self.out.resize(2 * (self.at + bytes), 0);
        }
    }

    #[inline]
    pub(crate) fn put<const N: usize>(&mut self, text: &[u8; N]) {
        if let Some(slot) = self.out.get_mut(self.at..self.at + N) {
            slot.copy_from_slice(text);
        }
        self.at += N;
    }

    /// Bytes of a slice, most of them as `N` at once, of which those behind are written over.
    #[inline]
    pub(crate) fn copy<const N: usize>(&mut self, from: &[u8], start: usize, bytes: usize) {
        let whole = if bytes <= N { N } else { bytes };
        let slot = self.out.get_mut(self.at..self.at + whole);
        match (slot, from.get(start..start + whole)) {
            (Some(slot), Some(source)) if whole == N => {
                slot[..N].copy_from_slice(&source[..N]);
            }
            _ => self.copy_exactly(from.get(start..start + bytes).unwrap_or(&[])),
        }
        self.at += bytes;
    }

    #[inline(never)]
    fn copy_exactly(&mut self, bytes: &[u8]) {
        if let Some(slot) = self.out.get_mut(self.at..self.at + bytes.len()) {
            slot.copy_from_slice(bytes);
        }
    }

    pub(crate) fn number(&mut self, mut number: u64) {
        let mut digits = [b'0'; 20];
        let mut at = digits.len();
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.copy_exactly(&digits[at..]);
        self.at += digits.len() - at;
    }
}

/// How many digits a tag has.
#[inline]
pub(crate) fn digits(tag: u32) -> usize {
    match tag {
        0..10 => 1,
        10..100 => 2,
        100..1000 => 3,
        tag => tag.ilog10() as usize + 1,
    }
}

/// Whether a byte stands for itself in a string of JSON.
#[inline]
pub(crate) fn is_plain(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte) & (byte != b'"') & (byte != b'\\')
}
