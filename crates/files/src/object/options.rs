//! How objects are written, and what that came to.

/// The first parts: more than the least that every store takes.
const PART_BYTES: usize = 8 << 20;

/// What happens if there is an object of this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Create {
    /// It is replaced.
    #[default]
    Replace,
    /// It stays, and the upload fails with [`Exists`](super::ObjectError::Exists), whoever wrote it and when. A small
    /// object is put on that condition, an object of parts in S3 is ended on it. Other stores get the parts
    /// under a name of their own, ending in `.part`, and copy them on it. A store that can do neither
    /// refuses before the first part is sent.
    IfAbsent,
}

/// How an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct UploadOptions {
    /// What happens if there is an object of this name.
    pub create: Create,
    /// Bytes of the first 1,500 parts, 8 MiB by default; those of later ones double now and then. Stores
    /// refuse less than 5 MiB.
    pub part_bytes: usize,
    /// Parts that are sent at the same time, while the next one is filled: 3 by default.
    pub parts_in_flight: usize,
}

impl Default for UploadOptions {
    fn default() -> Self {
        Self {
            create: Create::Replace,
            part_bytes: PART_BYTES,
            parts_in_flight: 3,
        }
    }
}

impl UploadOptions {
    /// Sets [`create`](Self::create).
    #[must_use]
    pub fn create(mut self, create: Create) -> Self {
        self.create = create;
        self
    }

    /// Sets [`part_bytes`](Self::part_bytes), at least 1.
    #[must_use]
    pub fn part_bytes(mut self, bytes: usize) -> Self {
        self.part_bytes = bytes.max(1);
        self
    }

    /// Sets [`parts_in_flight`](Self::parts_in_flight), at least 1.
    #[must_use]
    pub fn parts_in_flight(mut self, parts: usize) -> Self {
        self.parts_in_flight = parts.max(1);
        self
    }
}

/// What an upload came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uploaded {
    /// Bytes that were sent from here.
    pub sent_bytes: u64,
    /// Bytes that the server copied from other objects.
    pub copied_bytes: u64,
    /// Parts; 0 for an object in one request.
    pub parts: usize,
}
