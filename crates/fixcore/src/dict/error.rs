//! The error of reading a dictionary.

/// What is wrong with a dictionary, and the byte of its file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, at byte {offset}")]
pub struct DictionaryError {
    message: String,
    offset: usize,
}

impl DictionaryError {
    pub(super) fn new(message: impl Into<String>, offset: usize) -> Self {
        let message = message.into();
        Self { message, offset }
    }

    /// The byte of the file, from 0; also 0 if the error has no place.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }
}
