//! One fill, after its corrections.

use fixcore::value::Decimal;

use super::part::Told;

/// A fill as it is now.
#[derive(Debug)]
pub(super) struct Fill {
    pub(super) row: u32,
    /// Whether its trade is in the logs, and not only what corrects or cancels it.
    pub(super) is_told: bool,
    pub(super) is_corrected: bool,
    pub(super) is_busted: bool,
    /// Hashes of Symbol, Side and OrderID.
    pub(super) of: [u64; 3],
    pub(super) day: Option<i64>,
    pub(super) quantity: Decimal,
    pub(super) price: Decimal,
    /// When its last correction was sent.
    pub(super) changed_ns: i64,
    pub(super) log: u32,
    pub(super) offset: u64,
}

impl Fill {
    /// Whether symbol and side are those of a message, as far as both have them.
    pub(super) fn is_of(&self, told: &Told) -> bool {
        agree(self.of[0], told.of[0]) && agree(self.of[1], told.of[1])
    }
}

/// Whether two values are the same, as far as both are there.
pub(super) fn agree(one: u64, other: u64) -> bool {
    one == 0 || other == 0 || one == other
}
