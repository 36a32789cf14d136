//! Writes messages field by field.

use super::header::{BODY_RANK, Header};
use super::pen::Pen;
use super::prefix::{BODY_BYTES_MAX, Prefix};
use super::tags::Tag;
use super::text::Clock;
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
    /// The sum of what comes before the body, without the digits of BodyLength (9).
    prefix_sum: u8,
    pen: Pen,
    header: Header,
    clock: Clock,
    wrong: Option<Error>,
}

impl Encoder {
    /// An encoder of messages with this BeginString (8), of at most 27 bytes.
    #[must_use]
    pub fn new(begin_string: &str) -> Self {
        let scanner = Scanner::new();
        let prefix = Prefix::new(begin_string);
        Self {
            scanner,
            prefix_sum: scanner.sum(&prefix.bytes).wrapping_add(SOH),
            prefix,
            pen: Pen::new(scanner.isa()),
            header: Header::default(),
            clock: Clock::default(),
            wrong: None,
        }
    }

    /// The same encoder with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Option<Self> {
        let scanner = Scanner::with_isa(isa)?;
        let pen = Pen::new(isa);
        Some(Self {
            scanner,
            pen,
            ..self
        })
    }

    /// Begins a message with this MsgType (35).
    #[inline]
    pub fn start(&mut self, msg_type: &str) -> MessageWriter<'_> {
        self.pen.restart();
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

impl Encoder {
    /// Writes a field: its tag, and its value with the separator by a function.
    #[inline]
    fn field(&mut self, tag: u32, write: impl FnOnce(&mut Pen, &mut Clock)) {
        let start = self.pen.at();
        let rank = match Tag::of(tag) {
            Some(tag) => {
                self.pen.tag(tag);
                tag.rank()
            }
            None => {
                if !(1..=999_999_999).contains(&tag) {
                    self.refuse(ErrorKind::Tag, tag, start);
                }
                self.pen.long_tag(tag);
                BODY_RANK
            }
        };
        write(&mut self.pen, &mut self.clock);
        self.header.add(rank, start, self.pen.at());
    }

    /// Keeps the first thing that cannot be written.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, kind: ErrorKind, tag: u32, at: usize) {
        let error = Error::new(kind, at).tag_is(tag);
        self.wrong.get_or_insert(error);
    }

    #[inline]
    fn text(&mut self, tag: u32, value: &[u8]) {
        let (start, had_error) = (self.pen.at(), self.wrong.is_some());
        let mut is_text = true;
        self.field(tag, |pen, _| is_text = pen.text(value));
        if !is_text {
            self.refuse_text(tag, value, start, had_error);
        }
    }

    /// What is wrong with the value comes before what is wrong with its tag.
    #[cold]
    #[inline(never)]
    fn refuse_text(&mut self, tag: u32, value: &[u8], start: usize, had_error: bool) {
        let kind = match value {
            [] => ErrorKind::EmptyValue,
            _ => ErrorKind::Value,
        };
        if !had_error {
            self.wrong = None;
        }
        self.refuse(kind, tag, start);
    }
}

impl<'e> MessageWriter<'e> {
    /// Writes a value as it is: at least one byte, without the byte 1.
    #[inline]
    pub fn bytes(self, tag: u32, value: &[u8]) -> Self {
        self.encoder.text(tag, value);
        self
    }

    /// Writes an unsigned integer.
    #[inline]
    pub fn unsigned(self, tag: u32, value: u64) -> Self {
        self.encoder.field(tag, |pen, _| pen.unsigned(value));
        self
    }

    /// Writes a decimal number with all its digits after the point.
    #[inline]
    pub fn decimal(self, tag: u32, value: Decimal) -> Self {
        self.encoder.field(tag, |pen, _| pen.decimal(value));
        self
    }

    /// Writes a timestamp with milliseconds.
    #[inline]
    pub fn timestamp(self, tag: u32, value: Timestamp) -> Self {
        self.encoder
            .field(tag, |pen, clock| pen.timestamp(clock, value));
        self
    }

    /// Writes a data field, which may contain any byte, after its length field.
    pub fn data(self, length_tag: u32, tag: u32, value: &[u8]) -> Self {
        if value.is_empty() {
            let at = self.encoder.pen.at();
            self.encoder.refuse(ErrorKind::EmptyValue, tag, at);
        }
        self.encoder
            .field(length_tag, |pen, _| pen.unsigned(value.len() as u64));
        self.encoder.field(tag, |pen, _| pen.data(value));
        self
    }

    /// Completes the message with BodyLength (9) and CheckSum (10).
    ///
    /// # Errors
    /// The first value that cannot be written, with its tag and its place in the body.
    pub fn finish(self) -> Result<&'e [u8]> {
        let Encoder {
            scanner,
            prefix,
            prefix_sum,
            pen,
            header,
            wrong,
            ..
        } = self.encoder;
        if let Some(error) = wrong {
            return Err(*error);
        }
        let body = pen.at();
        let too_long = Error::new(ErrorKind::TooLong, body);
        if body >= BODY_BYTES_MAX {
            return Err(too_long);
        }
        header.sort(pen.body_mut());
        let sum = scanner.sum(pen.body()).wrapping_add(*prefix_sum);
        let (start, digits) = prefix.write(pen.whole(), body).ok_or(too_long)?;
        pen.put(&checksum_field(sum.wrapping_add(digits as u8)));
        Ok(pen.message(start))
    }
}
