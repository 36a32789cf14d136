//! What an entry of an archive is: a file, a directory or a symbolic link.

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory; its name ends with `/`.
    Directory,
    /// A symbolic link; its content is where it leads.
    Symlink,
}

impl EntryKind {
    /// Its bits in a Unix mode.
    pub(crate) const fn mode_bits(self) -> u32 {
        match self {
            Self::File => 0o100_000,
            Self::Directory => 0o040_000,
            Self::Symlink => 0o120_000,
        }
    }
}
