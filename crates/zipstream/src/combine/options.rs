//! How archives are combined.

/// What happens to entries of the same name. Directories that several archives have are taken once, from
/// the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Duplicates {
    /// They are an error.
    #[default]
    Refuse,
    /// The first is taken.
    First,
    /// The last is taken.
    Last,
}

/// How archives are combined.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CombineOptions {
    /// The most bytes of one new archive; no limit by default.
    pub archive_bytes: u64,
    /// The most entries of one new archive, at least 1; no limit by default.
    pub archive_entries: u64,
    /// What happens to entries of the same name.
    pub duplicates: Duplicates,
    /// The comment of every new archive, at most 65,535 bytes.
    pub comment: Vec<u8>,
}

impl Default for CombineOptions {
    fn default() -> Self {
        Self {
            archive_bytes: u64::MAX,
            archive_entries: u64::MAX,
            duplicates: Duplicates::Refuse,
            comment: Vec::new(),
        }
    }
}

impl CombineOptions {
    /// One archive of everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets [`archive_bytes`](Self::archive_bytes).
    #[must_use]
    pub fn archive_bytes(mut self, most: u64) -> Self {
        self.archive_bytes = most;
        self
    }

    /// Sets [`archive_entries`](Self::archive_entries).
    #[must_use]
    pub fn archive_entries(mut self, most: u64) -> Self {
        self.archive_entries = most;
        self
    }

    /// Sets [`duplicates`](Self::duplicates).
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Sets [`comment`](Self::comment).
    #[must_use]
    pub fn comment(mut self, comment: impl Into<Vec<u8>>) -> Self {
        self.comment = comment.into();
        self
    }
}
