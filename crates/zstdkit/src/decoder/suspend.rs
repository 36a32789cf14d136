//! Frames that wait for memory of the pool: the decoder goes back to the pool, and another one goes on.

use super::progress::{Suspended, Totals};
use super::stream::{Decoder, need_bytes};
use crate::error::Error;
use crate::format::{HEADER_BYTES_MAX, Header};

impl Suspended {
    /// The place of a decoder that stands between two frames.
    pub(crate) fn between_frames(decoder: &Decoder) -> Option<Self> {
        let before = decoder.finish().ok()?;
        Some(Self {
            before,
            need_bytes: decoder.context_bytes as u64,
            header: [0; HEADER_BYTES_MAX],
            header_bytes: 0,
        })
    }

    /// Whether no frame has begun here.
    pub(crate) fn is_between_frames(&self) -> bool {
        self.header_bytes == 0
    }

    /// Has a new decoder go on where this one has stopped. It has taken the header of the frame then, if one has begun.
    pub(crate) fn go_on(&self, decoder: &mut Decoder) -> Result<(), Error> {
        if let Some(reservation) = &mut decoder.reservation {
            reservation.cover(self.need_bytes)?;
        }
        decoder.resume(self.before);
        let _ = decoder.push(&self.header[..self.header_bytes], &mut [])?;
        decoder.suspend_frames();
        Ok(())
    }
}

impl Decoder {
    /// Has frames wait for memory instead of failing, until the next [`reset`](Decoder::reset).
    pub(crate) fn suspend_frames(&mut self) {
        self.suspends = true;
    }

    /// Where the stream has stopped, after a call that found memory short. All input up to there was taken, with the
    /// header of the frame.
    pub(crate) fn suspended(&self) -> Option<Suspended> {
        self.suspended
    }

    /// Opens a frame, or stops before it if memory is short. Returns whether it is open.
    pub(super) fn open_or_suspend(&mut self, header: Header) -> Result<bool, Error> {
        match self.open_frame(header) {
            Err(error) if error.is_pool_exhausted() => {}
            opened => return opened.map(|()| true),
        }
        // It was not refused: it waits.
        self.reservation.as_ref().inspect(|one| one.excuse());
        let mut bytes = [0; HEADER_BYTES_MAX];
        let taken = self.walker.header_bytes(&header);
        bytes[..taken.len()].copy_from_slice(taken);
        self.suspended = Some(Suspended {
            before: Totals {
                bytes_in: self.walker.frame_start(),
                ..self.totals()
            },
            need_bytes: need_bytes(self.context_bytes, &header),
            header: bytes,
            header_bytes: taken.len(),
        });
        Ok(false)
    }
}
