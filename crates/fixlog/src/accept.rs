//! What may be wrong with the frame of a message that is counted all the same.

use fixcore::{Decoder, Error, ErrorKind, Message, Result};

use crate::inside;

/// What may be wrong with the frame of a message: whoever masks a value changes its CheckSum, and often its length.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Accept {
    /// CheckSum (10) may be wrong.
    pub checksum: bool,
    /// BodyLength (9) may be wrong.
    pub length: bool,
}

impl Accept {
    /// Whether an error may be all that is wrong with a message.
    #[inline]
    pub(crate) fn may_have(self, error: &Error) -> bool {
        match error.kind() {
            ErrorKind::CheckSum => self.checksum,
            ErrorKind::BodyLength => self.length,
            _ => false,
        }
    }

    /// A message with nothing wrong but what may be, and whether nothing is wrong with it.
    pub(crate) fn message<'d, 'm>(
        self,
        decoder: &'d mut Decoder,
        bytes: &'m [u8],
    ) -> Result<(Message<'d, 'm>, bool)> {
        let bytes = inside::up_to_second(decoder, bytes);
        if self == Self::default() {
            return decoder.parse(bytes).map(|message| (message, true));
        }
        match decoder.parse(bytes).map(drop) {
            Err(error) if self.may_have(&error) => {
                let accepted = self.parse(decoder, bytes, error);
                accepted.map(|message| (message, false))
            }
            Err(error) => Err(error),
            // What a decoder returns borrows from it: a message that was looked at is parsed for its caller.
            Ok(()) => decoder.parse(bytes).map(|message| (message, true)),
        }
    }

    /// A message with nothing wrong but what may be.
    #[cold]
    pub(crate) fn parse<'d, 'm>(
        self,
        decoder: &'d mut Decoder,
        bytes: &'m [u8],
        error: Error,
    ) -> Result<Message<'d, 'm>> {
        let Ok(lenient) = decoder.parse_lenient(bytes, false) else {
            return Err(error);
        };
        let is_whole = lenient.invalid_tag.is_none()
            && !inside::is_two(&lenient.message)
            && lenient
                .message
                .fields()
                .all(|field| !field.value.is_empty());
        let of_frame = |fault: &Error| self.may_have(fault);
        match is_whole && lenient.frame_faults().iter().all(of_frame) {
            true => Ok(lenient.message),
            false => Err(error),
        }
    }
}
