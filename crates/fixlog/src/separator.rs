//! What stands between the fields of the messages of a log.

/// What stands between the fields of the messages of a log.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Separator {
    /// What the first message has; messages are found by their length or by lines, as that one is.
    #[default]
    Auto,
    /// The byte 1: messages are found by their length.
    Soh,
    /// `|`: messages are found by lines.
    Pipe,
    /// `^A`: messages are found by lines.
    Caret,
    /// `\x01` as text: messages are found by lines.
    Hex,
    /// This text: messages are found by lines.
    Text(&'static [u8]),
}

impl Separator {
    /// Its bytes; those of [`Auto`](Self::Auto) are the byte 1.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::Auto | Self::Soh => b"\x01",
            Self::Pipe => b"|",
            Self::Caret => b"^A",
            Self::Hex => b"\\x01",
            Self::Text(text) => text,
        }
    }
}
