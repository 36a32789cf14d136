//! What the header of a member says of its content: name and time.

/// The longest name that is kept of a member that is read.
pub(super) const NAME_BYTES_MAX: usize = 4096;

/// What the header of a member says of its content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct GzipMember {
    /// The name of the file that was compressed, without directories. A name of more than 4,096 bytes is
    /// left out when it is read.
    pub name: Option<Vec<u8>>,
    /// When that file was last changed, in seconds since 1970; 0 means unknown, as the format has it.
    pub modified: u32,
}

impl GzipMember {
    /// Neither name nor time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`name`](Self::name). The format ends it at the first zero byte.
    #[must_use]
    pub fn name(mut self, name: impl Into<Vec<u8>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets [`modified`](Self::modified).
    #[must_use]
    pub fn modified(mut self, seconds: u32) -> Self {
        self.modified = seconds;
        self
    }
}
