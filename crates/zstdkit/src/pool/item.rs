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
}

/// The memory that is reserved for a context, 0 if it belongs to no pool.
pub(super) fn bytes(reservation: &Option<Reservation>) -> u64 {
    reservation.as_ref().map_or(0, Reservation::bytes)
}
