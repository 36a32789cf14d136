//! What becomes of requests.

#[cfg(feature = "workload")]
use std::io;

use io_uring::cqueue;

use super::{Lent, Ring};

/// The completion of a request.
#[derive(Debug)]
pub(in crate::io) struct Completion {
    pub(in crate::io::uring) user_data: u64,
    /// The number of bytes, or a negative error number.
    pub(in crate::io::uring) result: i32,
    /// Whether more completions of this request follow.
    pub(in crate::io::uring) more: bool,
    /// Whether it only reports that the kernel is done with the bytes of an earlier send.
    pub(in crate::io::uring) notification: bool,
    /// The received buffer.
    pub(in crate::io::uring) lent: Option<Lent>,
}

#[cfg(feature = "workload")]
impl Completion {
    /// The error of the request, if it failed.
    pub(in crate::io) fn check(&self) -> io::Result<()> {
        match self.result {
            0.. => Ok(()),
            error => Err(io::Error::from_raw_os_error(-error)),
        }
    }
}

impl Ring {
    /// How many completions are ready.
    pub(in crate::io::uring) fn ready(&mut self) -> usize {
        self.ring.completion().len()
    }

    /// The next completion that is ready.
    pub(in crate::io) fn completion(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let (flags, result) = (entry.flags(), entry.result());
        let more = cqueue::more(flags);
        if !more {
            self.in_flight = self.in_flight.saturating_sub(1);
        }
        let bytes = usize::try_from(result).unwrap_or(0);
        let id = cqueue::buffer_select(flags).filter(|id| *id < self.sizes.buffers);
        Some(Completion {
            user_data: entry.user_data(),
            result,
            more,
            notification: cqueue::notif(flags),
            lent: id.map(|id| Lent {
                ring: self.number,
                id,
                bytes: bytes.min(self.sizes.buffer_bytes),
            }),
        })
    }
}
