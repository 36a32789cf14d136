//! Tags that a scan reports, as a table that fits into two vector registers.

/// Tags that the decoder must handle separately, one bit for each residue modulo 1024: bit `(tag >> 7) & 7` of
/// byte `tag & 127`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(align(64))]
pub(crate) struct Watch(pub(crate) [u8; 128]);

impl Watch {
    pub(crate) const fn new() -> Self {
        Self([0; 128])
    }

    pub(crate) const fn add(&mut self, tag: u32) {
        self.0[(tag & 127) as usize] |= 1 << ((tag >> 7) & 7);
    }

    #[inline]
    pub(crate) fn has(&self, tag: u32) -> bool {
        self.0[(tag & 127) as usize] >> ((tag >> 7) & 7) & 1 != 0
    }
}
