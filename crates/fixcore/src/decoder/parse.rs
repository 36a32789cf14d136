//! Parses messages: a scan finds the fields, and a reader reads those at which the scan stops.

use super::check;
use super::message::Message;
use super::parsed::Parsed;
use super::reader::Reader;
use super::start::Start;
use crate::data::DataPairs;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::MESSAGE_BYTES_MAX;
use crate::isa::Isa;
use crate::scan::{Scanner, data_fields, field};

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
        let start = Start::of(bytes);
        if !start.is_enough {
            return self.parse_from_start(bytes, start);
        }
        self.parse_all(bytes, start)
    }

    /// Parses a message with this start.
    #[inline(always)]
    fn parse_all<'d, 'm>(&'d mut self, bytes: &'m [u8], start: Start) -> Result<Message<'d, 'm>> {
        let Parsed { scanner, index, .. } = &mut self.parsed;
        index.start(bytes.len());
        // Where fields are read one by one, those that are known are not read again.
        let known = match scanner.is_singly(bytes.len()) {
            true => start.fields(bytes, &self.pairs.watch),
            false => None,
        };
        let from = known.map_or(0, |ends| index.push_start(ends));
        let at = scanner.fields(bytes, from, &self.pairs.watch, index);
        let whole = at == bytes.len() && index.is_summed(bytes);
        match whole && check::frame_is_right(bytes, index, start) {
            true => Ok(self.message(bytes)),
            false => self.look_closer(bytes, start, at),
        }
    }

    #[inline(always)]
    fn message<'d, 'm>(&'d mut self, bytes: &'m [u8]) -> Message<'d, 'm> {
        self.parsed.renew();
        Message {
            front: self.parsed.index.front(),
            ends: self.parsed.index.ends(),
            parsed: &self.parsed,
            bytes,
        }
    }

    /// Parses a message, and reports what is wrong with its first fields before the others are read.
    // Errors are returned as they are made: a copy waits for the stores of their parts.
    #[cold]
    #[inline(never)]
    fn parse_from_start<'d, 'm>(
        &'d mut self,
        bytes: &'m [u8],
        start: Start,
    ) -> Result<Message<'d, 'm>> {
        let known = start.fields(bytes, &self.pairs.watch);
        if let Some([begin, length]) = known {
            let (value, end) = (begin as usize + b".9=".len(), length as usize);
            check::check_length(bytes, value, end, Some(start.body as usize))?;
        }
        let Parsed { scanner, index, .. } = &mut self.parsed;
        index.start(bytes.len());
        let mut from = known.map_or(0, |ends| index.push_start(ends));
        if known.is_some()
            && let Some((tag, end)) = field(bytes, from, &self.pairs.watch)
        {
            if tag != 35 {
                return Err(Error::new(ErrorKind::HeaderOrder, from).tag_is(tag));
            }
            index.push(tag, end as u32);
            from = end + 1;
        }
        let mut reader = Reader::new(bytes, &self.pairs, from);
        while index.len < 3 && reader.at < bytes.len() {
            let start = reader.at;
            match reader.next() {
                Ok((tag, _)) if known.is_some() && tag != 35 => {
                    return Err(Error::new(ErrorKind::HeaderOrder, start).tag_is(tag));
                }
                Ok((tag, end)) => index.push(tag, end as u32),
                Err(error) => {
                    let start = Start::default();
                    return Err(check::first_error(bytes, *scanner, index, start, error));
                }
            }
        }
        if known.is_none() {
            check::check_start(bytes, index)?;
        }
        self.parse_all(bytes, Start::default())
    }

    /// Reads the field at which the scan stopped, goes on after it, and checks the message.
    #[inline(never)]
    fn look_closer<'d, 'm>(
        &'d mut self,
        bytes: &'m [u8],
        start: Start,
        stopped: usize,
    ) -> Result<Message<'d, 'm>> {
        let Parsed { scanner, index, .. } = &mut self.parsed;
        let pairs = &self.pairs;
        let mut at = stopped;
        let mut last_data = None;
        while at < bytes.len() {
            let (from, before) = (at, index.len);
            at = data_fields(bytes, from, &pairs.watch, index);
            if at == from {
                let mut reader = Reader::new(bytes, pairs, at);
                loop {
                    match reader.next() {
                        Ok((tag, end)) => index.push(tag, end as u32),
                        Err(error) => {
                            return Err(check::first_error(bytes, *scanner, index, start, error));
                        }
                    }
                    if reader.is_free() || reader.at >= bytes.len() {
                        break;
                    }
                }
                at = reader.at;
            } else if let Some(last) = last_data {
                at = scanner.near_fields(bytes, at, &pairs.watch, index, before - last);
            }
            last_data = Some(index.len);
            at = match index.push_trailer(bytes, at, &pairs.watch) {
                true => bytes.len(),
                false => scanner.fields(bytes, at, &pairs.watch, index),
            };
        }
        scanner.finish(bytes, index);
        if !check::frame_is_right(bytes, index, start) {
            check::check(bytes, *scanner, index, start)?;
        }
        Ok(self.message(bytes))
    }
}
