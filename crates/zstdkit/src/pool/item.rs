//! A context of any kind, as a pool keeps it.

use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::oneshot::{Compressor, Decompressor};
use crate::reservation::Reservation;

/// A context of any kind.
pub enum Item {
    Compressor(Box<Compressor>),
    Encoder(Box<Encoder>),
    Decompressor(Box<Decompressor>),
    Decoder(Box<Decoder>),
}

impl Item {
    /// The memory that is reserved for it.
    pub(super) fn reserved_bytes(&self) -> u64 {
        match self {
            Self::Compressor(context) => bytes(&context.reservation),
            Self::Encoder(context) => bytes(&context.reservation),
            Self::Decompressor(context) => context.reserved_bytes(),
            Self::Decoder(context) => bytes(&context.reservation),
        }
    }

    /// Frees it: its memory is off the account when this returns. Inside of a runtime a large one is freed by the thread
    /// that does nothing else, for to give many pages back to the system takes milliseconds.
    #[cfg(feature = "tokio")]
    pub(super) fn free(mut self) {
        let bytes = self.reserved_bytes();
        self.return_reservations();
        turns::discard(self, usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// The same where there are no runtimes.
    #[cfg(not(feature = "tokio"))]
    pub(super) fn free(self) {
        drop(self);
    }

    /// Takes its memory off the account.
    #[cfg(feature = "tokio")]
    fn return_reservations(&mut self) {
        match self {
            Self::Compressor(context) => context.reservation = None,
            Self::Encoder(context) => context.reservation = None,
            Self::Decompressor(context) => context.return_reservations(),
            Self::Decoder(context) => context.reservation = None,
        }
    }
}

/// The memory that is reserved for a context, 0 if it belongs to no pool.
pub(super) fn bytes(reservation: &Option<Reservation>) -> u64 {
    reservation.as_ref().map_or(0, Reservation::bytes)
}
