//! Bytes read as a plan: small numbers first, then whatever is left as data.
//!
//! Where the bytes end, every answer is 0, so that any input is a whole plan.

/// A cursor over the bytes of an input.
#[derive(Debug, Clone)]
pub(crate) struct Plan<'a> {
    rest: &'a [u8],
}

impl<'a> Plan<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => 0,
        }
    }

    pub(crate) fn bit(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// A number below `end`, which is at most 256.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::from(self.byte()) % end
    }

    /// A size from 1 up, small sizes as likely as large ones.
    pub(crate) fn size(&mut self, most: usize) -> usize {
        let shift = self.below(20);
        let low = usize::from(self.byte());
        ((1 << shift) + (low << shift >> 8)).clamp(1, most)
    }

    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }
}
