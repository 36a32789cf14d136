//! What is wrong with bytes from outside: a kind, the tag that it is about, and the byte.

use std::fmt;

/// The kind of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes end before the message does.
    Truncated,
    /// More bytes than a message may have.
    TooLong,
    /// There are bytes behind the message.
    Trailing,
    /// The message does not begin with tags 8, 9 and 35, in this order.
    HeaderOrder,
    /// Another byte than 1 stands between fields: a log that was made to be looked at.
    Separator,
    /// The message does not end with tag 10, or with one of another form than three digits.
    Trailer,
    /// A tag that is no number from 1 to 999,999,999, or that begins with 0.
    Tag,
    /// A field without a value.
    EmptyValue,
    /// A field without its end.
    Unterminated,
    /// BodyLength is no number, or not the length of the body.
    BodyLength,
    /// CheckSum is not the sum of the bytes.
    CheckSum,
    /// The length of a data field is no number, or its value does not end there.
    DataLength,
    /// A data field that does not follow its length, or a length that its data does not follow.
    DataPair,
    /// A value that is not of the type that was asked for.
    Value,
    /// A group with another number of entries than its first field says.
    GroupCount,
    /// A field that is not allowed where it stands.
    UnexpectedTag,
    /// A field that has to be there and is not.
    MissingTag,
    /// A tag that no dictionary knows.
    UnknownTag,
    /// A value that is not among those that the dictionary lists.
    UnknownValue,
    /// A tag that is there twice.
    RepeatedTag,
    /// A header field in the body, a body field in the trailer, or a group out of order.
    FieldOrder,
    /// A message type that the dictionary does not have.
    UnknownMessage,
    /// A dictionary that cannot be.
    Dictionary,
}

impl ErrorKind {
    fn words(self) -> &'static str {
        match self {
            Self::Truncated => "the message is cut off",
            Self::TooLong => "the message is too long",
            Self::Trailing => "there is more behind the message",
            Self::HeaderOrder => "a message begins with the tags 8, 9 and 35",
            Self::Separator => "the fields are not separated by the byte 1",
            Self::Trailer => "a message ends with tag 10 and three digits",
            Self::Tag => "this is no tag",
            Self::EmptyValue => "the value is empty",
            Self::Unterminated => "the field has no end",
            Self::BodyLength => "the length of the body is another",
            Self::CheckSum => "the sum of the bytes is another",
            Self::DataLength => "the data does not end where its length says",
            Self::DataPair => "data follows its length, and a length its data",
            Self::Value => "the value is not of this type",
            Self::GroupCount => "the group has another number of entries",
            Self::UnexpectedTag => "the tag is not allowed here",
            Self::MissingTag => "the tag is missing",
            Self::UnknownTag => "the tag is not in the dictionary",
            Self::UnknownValue => "the value is not in the dictionary",
            Self::RepeatedTag => "the tag is there twice",
            Self::FieldOrder => "the field is out of order",
            Self::UnknownMessage => "the message type is not in the dictionary",
            Self::Dictionary => "the dictionary is wrong",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// What is wrong, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    kind: ErrorKind,
    tag: Option<u32>,
    offset: usize,
}

/// Results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: usize) -> Self {
        Self {
            kind,
            tag: None,
            offset,
        }
    }

    /// The same error about a tag.
    pub(crate) fn tag_is(mut self, tag: u32) -> Self {
        self.tag = Some(tag);
        self
    }

    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The tag that it is about, where one could be read.
    #[must_use]
    pub fn tag(&self) -> Option<u32> {
        self.tag
    }

    /// The byte of the message, or of the dictionary's file, from 0.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tag) = self.tag {
            write!(f, "tag {tag}: ")?;
        }
        write!(f, "{}, at byte {}", self.kind.words(), self.offset)
    }
}
