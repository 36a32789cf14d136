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
    /// The last field of the message is not CheckSum (10).
    Trailer,
    /// A tag that is no number from 1 to 999,999,999, or that begins with 0.
    Tag,
    /// A field without a value.
    EmptyValue,
    /// A field without its end.
    Unterminated,
    /// BodyLength (9) is not the length of the body, or not a number.
    BodyLength,
    /// CheckSum (10) is not the sum of the bytes, or not three digits.
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
            Self::Trailer => "the message does not end with CheckSum (10)",
            Self::Tag => "this is no tag",
            Self::EmptyValue => "the value is empty",
            Self::Unterminated => "the field has no end",
            Self::BodyLength => "BodyLength (9) is not the length of the body",
            Self::CheckSum => "CheckSum (10) is not the sum of the bytes",
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
    /// Of BodyLength and CheckSum.
    stated: Option<Stated>,
}

/// Bytes of a stated number that are kept: more than any right one has.
const STATED_BYTES_MAX: usize = 12;

/// What a message states of itself, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stated {
    text: [u8; STATED_BYTES_MAX],
    /// Its bytes, those that were not kept among them.
    bytes: u32,
    /// `None`: it cannot be said.
    computed: Option<u32>,
}

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = usize::try_from(self.bytes).unwrap_or(usize::MAX);
        let text = self.text.get(..bytes).unwrap_or(&self.text);
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

    /// BodyLength is wrong: what is stated, and how long the body is where that can be said.
    pub(crate) fn body_length(offset: usize, stated: &[u8], computed: Option<usize>) -> Self {
        let computed = computed.and_then(|bytes| u32::try_from(bytes).ok());
        Self::new(ErrorKind::BodyLength, offset).stating(9, stated, computed)
    }

    /// CheckSum is wrong: what is stated, and the sum of the bytes before it.
    pub(crate) fn check_sum(offset: usize, stated: &[u8], computed: u8) -> Self {
        Self::new(ErrorKind::CheckSum, offset).stating(10, stated, Some(computed.into()))
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

    /// What is wrong, without the place: for a place that is counted otherwise.
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
        let is_sum = kind == ErrorKind::CheckSum;
        let name = if is_sum {
            "CheckSum (10)"
        } else {
            "BodyLength (9)"
        };
        write!(f, "{name}: {stated}")?;
        match stated.computed {
            Some(sum) if is_sum => write!(f, ", computed {sum:03}"),
            Some(bytes) => write!(f, ", computed {bytes}"),
            None => f.write_str(", and where the body ends cannot be told"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, at byte {}", Words(*self), self.offset)
    }
}
