//! Messages with a constant part that is prepared once, and slots for values.
//!
//! Bytes that were written are not read again to sum them, because that would wait for them to reach the
//! cache. Constant text is copied in whole pieces; bytes beyond its end are overwritten.

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::header::{BODY, rank};
#[cfg(target_arch = "x86_64")]
use super::overwrite::{self, Previous};
use super::prefix::{Prefix, ROOM_BYTES};
use super::scalar::{self, too_long};
use super::skeleton::{PIECE_BYTES, Part, Skeleton, Slot};
use super::text::{Clock, push_number};
use crate::error::{Error, ErrorKind, Result};
use crate::frame::SOH;
use crate::frame::trailer;
use crate::isa::Isa;
#[cfg(target_arch = "x86_64")]
use crate::isa::{Avx512, Avx512Ifma};

/// A message with slots: the fastest way to write messages that differ in a few values.
///
/// ```
/// use fixcore::{Slot, Template};
///
/// let mut template = Template::builder("FIX.4.4", "0").constant(49, b"ME").slot(34).build();
/// let message = template.encode(&[Slot::Unsigned(7)])?;
/// assert!(message.ends_with(b"\x0134=7\x0149=ME\x0110=238\x01"));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Template {
    skeleton: Skeleton,
    path: Path,
    #[cfg(target_arch = "x86_64")]
    previous: Previous,
}

/// How a message is written.
#[derive(Debug, Clone, Copy)]
enum Path {
    /// Over the previous message, where possible.
    #[cfg(target_arch = "x86_64")]
    Overwrite(Avx512Ifma),
    /// By AVX-512, where possible.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    /// By general registers.
    Scalar,
}

impl Path {
    fn of(isa: Isa) -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            let ifma = Avx512Ifma::detect().filter(|_| isa == Isa::Avx512Vbmi2);
            if let Some(proof) = ifma {
                return Self::Overwrite(proof);
            }
            if let (Isa::Avx512Bw | Isa::Avx512Vbmi2, Some(proof)) = (isa, Avx512::detect()) {
                return Self::Avx512(proof);
            }
        }
        let _ = isa;
        Self::Scalar
    }
}

/// A field of a template: constant text, or the number of its value.
#[derive(Debug, Clone)]
enum Item {
    Constant(Vec<u8>),
    Slot(usize),
}

/// Builds a template field by field. Header fields are put in the order that QuickFIX uses.
#[derive(Debug, Clone)]
pub struct TemplateBuilder {
    begin_string: String,
    items: Vec<(u32, Item)>,
    slots: usize,
}

impl TemplateBuilder {
    /// Adds a field with a constant value, which must not be empty. Bytes 1 in it are left out.
    #[must_use]
    pub fn constant(mut self, tag: u32, value: &[u8]) -> Self {
        let value = value.iter().copied().filter(|byte| *byte != SOH);
        self.items.push((tag, Item::Constant(value.collect())));
        self
    }

    /// Adds a field whose value comes with each message. Values are given in the order of these calls.
    #[must_use]
    pub fn slot(mut self, tag: u32) -> Self {
        self.items.push((tag, Item::Slot(self.slots)));
        self.slots += 1;
        self
    }

    /// Builds the template.
    #[must_use]
    pub fn build(mut self) -> Template {
        // Stable: the body and the entries of groups keep their order.
        self.items.sort_by_key(|(tag, _)| rank(*tag));
        let (mut text, mut parts, mut start) = (Vec::new(), Vec::new(), 0);
        for (tag, item) in self.items {
            push_number(&mut text, u64::from(tag));
            text.push(b'=');
            match item {
                Item::Constant(value) => text.extend_from_slice(&value),
                Item::Slot(value) => {
                    let length = text.len() - start;
                    parts.push(Part {
                        start,
                        length,
                        tag,
                        value,
                    });
                    start = text.len();
                }
            }
            text.push(SOH);
        }
        let prefix = Prefix::new(&self.begin_string);
        let sum = |sum: u32, byte: &u8| sum.wrapping_add(u32::from(*byte));
        let head = prefix.bytes.iter().fold(u32::from(SOH), sum);
        let (constant_sum, constant_bytes) = (text.iter().fold(head, sum), text.len());
        let last = Part {
            start,
            length: constant_bytes - start,
            tag: BODY,
            value: 0,
        };
        text.resize(constant_bytes + 2 * PIECE_BYTES, 0);
        let skeleton = Skeleton {
            prefix,
            text,
            parts,
            last,
            constant_bytes,
            constant_sum,
            buffer: Vec::new(),
            clock: Clock::default(),
        };
        Template {
            skeleton,
            path: Path::Scalar,
            #[cfg(target_arch = "x86_64")]
            previous: Previous::default(),
        }
        .by(Isa::detect())
    }
}

impl Template {
    /// A builder for messages with this BeginString (8) and MsgType (35).
    #[must_use]
    pub fn builder(begin_string: &str, msg_type: &str) -> TemplateBuilder {
        let builder = TemplateBuilder {
            begin_string: begin_string.to_owned(),
            items: Vec::new(),
            slots: 0,
        };
        builder.constant(35, msg_type.as_bytes())
    }

    /// The same template with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Option<Self> {
        isa.is_available().then(|| self.by(isa))
    }

    /// The same template with an instruction set that the processor has.
    fn by(mut self, isa: Isa) -> Self {
        self.path = Path::of(isa);
        #[cfg(target_arch = "x86_64")]
        self.previous.forget();
        self
    }

    /// Writes a message with these values, in the order in which slots were added.
    ///
    /// # Errors
    /// A value that cannot be written, with the tag of its slot; [`ErrorKind::MissingTag`] if the number
    /// of values is not the number of slots.
    #[inline]
    pub fn encode(&mut self, values: &[Slot<'_>]) -> Result<&[u8]> {
        if values.len() != self.skeleton.parts.len() {
            return Err(Error::new(ErrorKind::MissingTag, 0));
        }
        let written = match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Overwrite(proof) => {
                let Self {
                    skeleton, previous, ..
                } = self;
                if let Some((start, end, sum)) =
                    overwrite::message(proof, skeleton, previous, values)
                {
                    return self.sealed(start, end, sum).ok_or_else(too_long);
                }
                None
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx512(proof) => avx512::body(proof, &mut self.skeleton, values),
            Path::Scalar => None,
        };
        let (end, sum) = match written {
            Some(written) => written,
            None => scalar::body(&mut self.skeleton, values)?,
        };
        self.frame(end, sum).ok_or_else(too_long)
    }

    /// Writes head and trailer around a body that ends here.
    #[inline]
    fn frame(&mut self, end: usize, sum: u32) -> Option<&[u8]> {
        let (start, digits) = self
            .skeleton
            .prefix
            .write(&mut self.skeleton.buffer, end - ROOM_BYTES)?;
        let sum = self
            .skeleton
            .constant_sum
            .wrapping_add(sum)
            .wrapping_add(digits);
        self.sealed(start, end, sum)
    }

    /// Writes the trailer of a message that begins here and whose body ends here.
    #[inline]
    fn sealed(&mut self, start: usize, end: usize, sum: u32) -> Option<&[u8]> {
        *self
            .skeleton
            .buffer
            .get_mut(end..)?
            .first_chunk_mut::<8>()? = trailer(sum as u8);
        self.skeleton.buffer.get(start..end + 7)
    }
}
