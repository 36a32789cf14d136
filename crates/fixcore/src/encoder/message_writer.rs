//! Writes messages field by field.

use super::header::Header;
use super::prefix::{BODY_BYTES_MAX, Prefix, ROOM_BYTES};
use super::text;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::{SOH, checksum_field};
use crate::isa::Isa;
use crate::scan::Scanner;
use crate::value::{Decimal, Timestamp};

/// Writes messages into its own buffer, field by field. A [`Template`](crate::Template) is faster for
/// messages that differ in a few values.
#[doc(alias = "serializer")]
#[doc(alias = "builder")]
#[derive(Debug)]
pub struct Encoder {
    scanner: Scanner,
    prefix: Prefix,
    buffer: Vec<u8>,
    header: Header,
    wrong: Option<Error>,
}

impl Encoder {
    /// An encoder of messages with this BeginString (8), of at most 27 bytes.
    #[must_use]
    pub fn new(begin_string: &str) -> Self {
        Self {
            scanner: Scanner::new(),
            prefix: Prefix::new(begin_string),
            buffer: Vec::with_capacity(1024),
            header: Header::default(),
            wrong: None,
        }
    }

    /// The same encoder with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Option<Self> {
        let scanner = Scanner::with_isa(isa)?;
        Some(Self { scanner, ..self })
    }

    /// Begins a message with this MsgType (35).
    pub fn start(&mut self, msg_type: &str) -> MessageWriter<'_> {
        self.buffer.clear();
        self.buffer.resize(ROOM_BYTES, 0);
        self.header.clear();
        self.wrong = None;
        MessageWriter { encoder: self }.bytes(35, msg_type.as_bytes())
    }
}

/// A message that is being written.
#[derive(Debug)]
#[must_use = "a message is complete when it is finished"]
pub struct MessageWriter<'e> {
    encoder: &'e mut Encoder,
}

impl<'e> MessageWriter<'e> {
    fn tag(&mut self, tag: u32) {
        let buffer = &mut self.encoder.buffer;
        if !(1..=999_999_999).contains(&tag) {
            let error = Error::new(ErrorKind::Tag, buffer.len() - ROOM_BYTES);
            self.encoder.wrong.get_or_insert(error.tag_is(tag));
        }
        text::push_number(buffer, u64::from(tag));
        buffer.push(b'=');
    }

    fn refuse(&mut self, kind: ErrorKind, tag: u32) {
        let at = self.encoder.buffer.len() - ROOM_BYTES;
        let error = Error::new(kind, at).tag_is(tag);
        self.encoder.wrong.get_or_insert(error);
    }

    /// Writes a value as it is: at least one byte, without the byte 1.
    pub fn bytes(mut self, tag: u32, value: &[u8]) -> Self {
        if value.is_empty() {
            self.refuse(ErrorKind::EmptyValue, tag);
        } else if value.contains(&SOH) {
            self.refuse(ErrorKind::Value, tag);
        }
        self.raw(tag, value)
    }

    fn raw(self, tag: u32, value: &[u8]) -> Self {
        self.field(tag, |buffer| buffer.extend_from_slice(value))
    }

    fn field(mut self, tag: u32, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let start = self.encoder.buffer.len();
        self.tag(tag);
        let Encoder { buffer, header, .. } = &mut *self.encoder;
        write(buffer);
        buffer.push(SOH);
        header.add(tag, start, buffer.len());
        self
    }

    /// Writes an unsigned integer.
    pub fn unsigned(self, tag: u32, value: u64) -> Self {
        self.field(tag, |buffer| text::push_number(buffer, value))
    }

    /// Writes a decimal number with all its digits after the point.
    pub fn decimal(self, tag: u32, value: Decimal) -> Self {
        self.field(tag, |buffer| text::push_decimal(buffer, value))
    }

    /// Writes a timestamp with milliseconds.
    pub fn timestamp(self, tag: u32, value: Timestamp) -> Self {
        self.raw(tag, &value.to_millis())
    }

    /// Writes a data field, which may contain any byte, after its length field.
    pub fn data(mut self, length_tag: u32, tag: u32, value: &[u8]) -> Self {
        if value.is_empty() {
            self.refuse(ErrorKind::EmptyValue, tag);
        }
        self.unsigned(length_tag, value.len() as u64)
            .raw(tag, value)
    }

    /// Completes the message with BodyLength (9) and CheckSum (10).
    ///
    /// # Errors
    /// The first value that cannot be written, with its tag and its place in the body.
    pub fn finish(self) -> Result<&'e [u8]> {
        let Encoder {
            scanner,
            prefix,
            buffer,
            header,
            wrong,
        } = self.encoder;
        if let Some(error) = wrong {
            return Err(*error);
        }
        let body = buffer.len() - ROOM_BYTES;
        let too_long = Error::new(ErrorKind::TooLong, body);
        if body >= BODY_BYTES_MAX {
            return Err(too_long);
        }
        header.sort(buffer, ROOM_BYTES);
        let (start, _) = prefix.write(buffer, body).ok_or(too_long)?;
        let sum = scanner.sum(buffer.get(start..).unwrap_or(&[]));
        buffer.extend_from_slice(&checksum_field(sum));
        Ok(buffer.get(start..).unwrap_or(&[]))
    }
}
