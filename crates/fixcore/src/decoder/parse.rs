//! Parses messages: a scan finds the fields, and a reader reads those at which the scan stops.

use super::check;
use super::message::Message;
use super::parsed::Parsed;
use super::reader::{self, Reader};
use crate::data::DataPairs;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::MESSAGE_BYTES_MAX;
use crate::isa::Isa;
use crate::scan::Scanner;

/// Parses messages, and reuses its buffers from message to message.
#[doc(alias = "parser")]
#[derive(Debug, Default)]
pub struct Decoder {
    pub(super) parsed: Parsed,
    pub(super) pairs: DataPairs,
}

impl Decoder {
    /// A decoder that knows the standard's data fields.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A decoder with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Option<Self> {
        let mut decoder = Self::default();
        decoder.parsed.scanner = Scanner::with_isa(isa)?;
        Some(decoder)
    }

    /// The instruction set in use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.parsed.scanner.isa()
    }

    /// Replaces the data fields that it knows.
    #[must_use]
    pub fn with_pairs(mut self, pairs: DataPairs) -> Self {
        self.pairs = pairs;
        self
    }

    /// Parses exactly one message.
    ///
    /// A message is returned only if its frame is valid: tags 8, 9 and 35 come first in this order,
    /// BodyLength (9) and CheckSum (10) are correct, 10 comes last, each tag is a number without leading
    /// zeros, each value has at least one byte, and each data field has the length that the field
    /// before it states.
    ///
    /// # Errors
    /// The first thing that is wrong, with its tag and place.
    #[inline]
    pub fn parse<'d, 'm>(&'d mut self, bytes: &'m [u8]) -> Result<Message<'d, 'm>> {
        if bytes.len() >= MESSAGE_BYTES_MAX {
            return Err(Error::new(ErrorKind::TooLong, 0));
        }
        let Parsed { scanner, index, .. } = &mut self.parsed;
        index.start(bytes.len());
        let at = scanner.fields(bytes, 0, &self.pairs.watch, index);
        let whole = at == bytes.len() && index.is_summed(bytes);
        if !(whole && check::frame_is_right(bytes, index)) {
            self.look_closer(bytes, at)?;
        }
        self.parsed.renew();
        Ok(Message {
            front: self.parsed.index.front(),
            ends: self.parsed.index.ends(),
            parsed: &self.parsed,
            bytes,
        })
    }

    /// Reads the field at which the scan stopped, goes on after it, and checks the message.
    #[inline(never)]
    fn look_closer(&mut self, bytes: &[u8], stopped: usize) -> Result<()> {
        let Parsed { scanner, index, .. } = &mut self.parsed;
        let pairs = &self.pairs;
        let mut at = stopped;
        while at < bytes.len() {
            let from = at;
            while let Some(both) = reader::pair(bytes, pairs, at) {
                for (tag, end) in both {
                    index.push(tag, end as u32);
                    at = end + 1;
                }
            }
            if at == from {
                let mut reader = Reader::new(bytes, pairs, at);
                loop {
                    match reader.next() {
                        Ok((tag, end)) => index.push(tag, end as u32),
                        Err(error) => return check::check(bytes, *scanner, index, Some(error)),
                    }
                    if reader.is_free() || reader.at >= bytes.len() {
                        break;
                    }
                }
                at = reader.at;
            }
            at = match check::is_trailer(bytes.get(at..)) && !pairs.watch.has(10) {
                true => {
                    index.push(10, bytes.len() as u32 - 1);
                    bytes.len()
                }
                false => scanner.fields(bytes, at, &pairs.watch, index),
            };
        }
        scanner.finish(bytes, index);
        match check::frame_is_right(bytes, index) {
            true => Ok(()),
            false => check::check(bytes, *scanner, index, None),
        }
    }
}
