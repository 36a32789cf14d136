//! Errors in messages and dictionaries: a kind, the tag concerned, and the byte.

use std::fmt;

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the message does.
    Truncated,
    /// More bytes than a message may have.
    TooLong,
    /// Bytes follow the message.
    Trailing,
    /// The message does not begin with tags 8, 9 and 35, in this order.
    HeaderOrder,
    /// Fields are not separated by the byte 1: the text comes from a log for people.
    Separator,
    /// The last field of the message is not CheckSum (10).
    Trailer,
    /// A tag is not a number from 1 to 999,999,999, or begins with 0.
    Tag,
    /// A field has no value.
    EmptyValue,
    /// A field has no separator at its end.
    Unterminated,
    /// BodyLength (9) is not the length of the body, or is not a number.
    BodyLength,
    /// CheckSum (10) is not the sum of the bytes, or is not three digits.
    CheckSum,
    /// The length of a data field is not a number, or its value does not end there.
    DataLength,
    /// A data field does not directly follow its length field.
    DataPair,
    /// A value does not have the expected type.
    Value,
    /// A group does not have the number of entries that its first field states.
    GroupCount,
    /// A field is not allowed in this place.
    UnexpectedTag,
    /// A required field is missing.
    MissingTag,
    /// The dictionary does not have the tag.
    UnknownTag,
    /// The dictionary lists values for the field, and this is not one of them.
    UnknownValue,
    /// A tag appears twice.
    RepeatedTag,
    /// A header field in the body, or a body field in the trailer.
    FieldOrder,
    /// The fields of a group are out of order.
    GroupOrder,
    /// A field is missing that an application needs because of the value of another one.
    ConditionalTag,
    /// A value contradicts that of another field.
    Contradiction,
    /// The dictionary does not have the message type.
    UnknownMessage,
    /// A dictionary contradicts itself.
    Dictionary,
}

impl ErrorKind {
    fn words(self) -> &'static str {
        match self {
            Self::Truncated => "message truncated",
            Self::TooLong => "message too long",
            Self::Trailing => "unexpected bytes after the message",
            Self::HeaderOrder => "message does not begin with tags 8, 9 and 35",
            Self::Separator => "fields are not separated by the byte 1 (SOH)",
            Self::Trailer => "message does not end with CheckSum (10)",
            Self::Tag => "invalid tag",
            Self::EmptyValue => "empty value",
            Self::Unterminated => "field has no separator at its end",
            Self::BodyLength => "BodyLength (9) does not match the body",
            Self::CheckSum => "CheckSum (10) does not match the bytes",
            Self::DataLength => "data field does not end where its length field says",
            Self::DataPair => "data field does not directly follow its length field",
            Self::Value => "value does not have the expected type",
            Self::GroupCount => "number of group entries does not match",
            Self::UnexpectedTag => "tag not allowed here",
            Self::MissingTag => "required tag missing",
            Self::UnknownTag => "tag not in the dictionary",
            Self::UnknownValue => "value not in the dictionary",
            Self::RepeatedTag => "tag appears twice",
            Self::FieldOrder => "field out of order",
            Self::GroupOrder => "field of a group out of order",
            Self::ConditionalTag => "required tag missing",
            Self::Contradiction => "value contradicts another field",
            Self::UnknownMessage => "message type not in the dictionary",
            Self::Dictionary => "invalid dictionary",
        }
    }
}

impl ErrorKind {
    /// The SessionRejectReason (373) of a message with this error. `None` for what a session does not answer: a
    /// garbled message is ignored, and what is wrong for an application alone has a
    /// [`business_reject_reason`](Self::business_reject_reason).
    #[must_use]
    pub fn session_reject_reason(self) -> Option<u32> {
        Some(match self {
            Self::Tag | Self::UnknownTag => 0,
            Self::MissingTag => 1,
            Self::UnexpectedTag => 2,
            Self::EmptyValue => 4,
            Self::UnknownValue | Self::DataLength | Self::Contradiction => 5,
            Self::Value => 6,
            Self::UnknownMessage => 11,
            Self::RepeatedTag => 13,
            Self::FieldOrder | Self::DataPair => 14,
            Self::GroupOrder => 15,
            Self::GroupCount => 16,
            _ => return None,
        })
    }

    /// The BusinessRejectReason (380) of a message with this error, if it is one of an application.
    #[must_use]
    pub fn business_reject_reason(self) -> Option<u32> {
        (self == Self::ConditionalTag).then_some(5)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// What is wrong with a message, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    kind: ErrorKind,
    tag: Option<u32>,
    offset: usize,
    /// For BodyLength, CheckSum and counts of group entries; of conditions, the value of the other field.
    stated: Option<Stated>,
}

/// How many bytes of a stated number are kept: more than any correct one has.
const STATED_BYTES_MAX: usize = 12;

/// What a field states, and what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stated {
    text: [u8; STATED_BYTES_MAX],
    /// All its bytes, including those that are not kept.
    bytes: u32,
    /// `None` if it could not be computed. Of conditions, the tag of the other field.
    computed: Option<u32>,
}

impl Stated {
    /// The bytes that are kept.
    fn text(&self) -> &[u8] {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        self.text.get(..bytes).unwrap_or(&self.text)
    }
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let text = self.text();
        match text {
            [] => f.write_str("nothing stated")?,
            text => write!(f, "stated {}", text.escape_ascii())?,
        }
        if bytes > text.len() {
            write!(f, "… ({bytes} bytes)")?;
        }
        Ok(())
    }
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: usize) -> Self {
        Self {
            kind,
            tag: None,
            offset,
            stated: None,
        }
    }

    /// BodyLength is wrong: what it states, and the length of the body if the end was found.
    pub(crate) fn body_length(offset: usize, stated: &[u8], computed: Option<usize>) -> Self {
        let computed = computed.and_then(|bytes| u32::try_from(bytes).ok());
        Self::new(ErrorKind::BodyLength, offset).stating(9, stated, computed)
    }

    /// CheckSum is wrong: what it states, and the sum of the bytes before it.
    pub(crate) fn check_sum(offset: usize, stated: &[u8], computed: u8) -> Self {
        Self::new(ErrorKind::CheckSum, offset).stating(10, stated, Some(computed.into()))
    }

    /// A group has another number of entries than its count field states.
    pub(crate) fn group_count(offset: usize, tag: u32, stated: u64, found: u64) -> Self {
        let found = u32::try_from(found).ok();
        let stated = stated.to_string();
        Self::new(ErrorKind::GroupCount, offset).stating(tag, stated.as_bytes(), found)
    }

    /// A field is wrong or missing because of another field and its value.
    pub(crate) fn because(
        kind: ErrorKind,
        offset: usize,
        tag: u32,
        (other, value): (u32, &[u8]),
    ) -> Self {
        Self::new(kind, offset).stating(tag, value, Some(other))
    }

    fn stating(mut self, tag: u32, stated: &[u8], computed: Option<u32>) -> Self {
        let mut text = [0; STATED_BYTES_MAX];
        for (to, from) in text.iter_mut().zip(stated) {
            *to = *from;
        }
        self.stated = Some(Stated {
            text,
            bytes: u32::try_from(stated.len()).unwrap_or(u32::MAX),
            computed,
        });
        self.tag_is(tag)
    }

    /// The same error with the tag that it concerns.
    pub(crate) fn tag_is(mut self, tag: u32) -> Self {
        self.tag = Some(tag);
        self
    }

    /// The kind of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The tag that it concerns, if one could be read.
    #[must_use]
    pub fn tag(&self) -> Option<u32> {
        self.tag
    }

    /// The byte of the message where the error is, from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The error without the place, for callers that report a place of their own.
    ///
    /// ```
    /// let mut decoder = fixcore::Decoder::new();
    /// let error = decoder.parse(b"8=FIX.4.4\x019=5\x0135=0\x0110=256\x01").unwrap_err();
    /// let text = error.without_place().to_string();
    /// assert_eq!(text, "CheckSum (10): stated 256, computed 163");
    /// ```
    #[must_use]
    pub fn without_place(&self) -> impl fmt::Display {
        Words(*self)
    }
}

/// An error without its place.
struct Words(Error);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { kind, tag, .. } = self.0;
        let Some(stated) = self.0.stated else {
            if let Some(tag) = tag {
                write!(f, "tag {tag}: ")?;
            }
            return f.write_str(kind.words());
        };
        if let (
            ErrorKind::MissingTag | ErrorKind::ConditionalTag | ErrorKind::Contradiction,
            Some(other),
        ) = (kind, stated.computed)
        {
            let verb = match kind {
                ErrorKind::Contradiction => "value contradicts",
                _ => "missing, required by",
            };
            let (tag, value) = (tag.unwrap_or(0), stated.text().escape_ascii());
            return write!(f, "tag {tag}: {verb} {other}={value}");
        }
        match kind {
            ErrorKind::CheckSum => f.write_str("CheckSum (10)")?,
            ErrorKind::BodyLength => f.write_str("BodyLength (9)")?,
            _ => write!(f, "tag {}", tag.unwrap_or(0))?,
        }
        write!(f, ": {stated}")?;
        match (kind, stated.computed) {
            (ErrorKind::CheckSum, Some(sum)) => write!(f, ", computed {sum:03}"),
            (ErrorKind::GroupCount, Some(entries)) => write!(f, " entries, found {entries}"),
            (_, Some(bytes)) => write!(f, ", computed {bytes}"),
            (ErrorKind::GroupCount, None) => f.write_str(" entries, found another number"),
            (_, None) => f.write_str(", end of the body not found"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", Words(*self), self.offset)
    }
}
