//! How encrypted entries are read: by which passwords, and when their content is returned.

use std::sync::Arc;

use super::Password;

/// How encrypted entries are read.
///
/// A code after the content authenticates an AES entry. Content is returned only after that code
/// was verified, unless [`release_early`](Decryption::release_early) is set.
#[derive(Debug, Clone)]
pub struct Decryption {
    passwords: Passwords,
    early: bool,
}

/// The passwords of entries.
#[derive(Clone)]
enum Passwords {
    One(Password),
    ByName(Arc<ByName>),
}

type ByName = dyn Fn(&str) -> Option<Password> + Send + Sync;

impl std::fmt::Debug for Passwords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::One(_) => "One",
            Self::ByName(_) => "ByName",
        })
    }
}

impl Decryption {
    /// Decrypts all entries with this password.
    pub fn new(password: Password) -> Self {
        Self {
            passwords: Passwords::One(password),
            early: false,
        }
    }

    /// Decrypts each entry with the password that `password` gives for its name; `None` refuses the entry.
    ///
    /// ```
    /// # #[cfg(feature = "aes")] {
    /// use zipstream::{
    ///     ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, Password,
    /// };
    ///
    /// let mut writer = ArchiveWriter::new(Vec::new());
    /// for (name, password) in [("a", "first"), ("b", "second")] {
    ///     writer.set_encryption(Some(Encryption::new(Password::from(password))))?;
    ///     writer.add(name, &EntryOptions::default(), &mut name.as_bytes())?;
    /// }
    /// let (archive, _) = writer.finish()?;
    ///
    /// let mut reader = ArchiveReader::open(archive)?;
    /// reader.set_decryption(Some(Decryption::by_name(|name| match name {
    ///     "a" => Some(Password::from("first")),
    ///     "b" => Some(Password::from("second")),
    ///     _ => None,
    /// })));
    /// let entry = reader.find("b")?.expect("it was added");
    /// assert_eq!(reader.read(&entry)?, b"b");
    /// # }
    /// # Ok::<(), zipstream::Error>(())
    /// ```
    pub fn by_name(password: impl Fn(&str) -> Option<Password> + Send + Sync + 'static) -> Self {
        Self {
            passwords: Passwords::ByName(Arc::new(password)),
            early: false,
        }
    }

    /// Returns content before its code is verified. Use it if the content stays unused until the
    /// call returns, for example in a file that has no name yet. Large entries are then read once
    /// instead of twice, and AES entries can be read from a pipe.
    #[must_use]
    pub fn release_early(mut self, early: bool) -> Self {
        self.early = early;
        self
    }

    /// How the entry of this name is read; `None` if its password is unknown.
    pub(crate) fn of_entry(&self, name: &str) -> Option<KnownPassword> {
        let password = match &self.passwords {
            Passwords::One(password) => Some(password.clone()),
            Passwords::ByName(by_name) => by_name(name),
        };
        password.map(|password| KnownPassword {
            password,
            early: self.early,
        })
    }
}

/// How one entry is read.
#[derive(Debug, Clone)]
pub(crate) struct KnownPassword {
    pub(super) password: Password,
    pub(super) early: bool,
}
