//! An archive that a URL names, read at any place.

use std::io;

use files::remote;

/// The object.
#[derive(Debug)]
pub(crate) struct Spans(remote::Spans);

impl Spans {
    /// Asks for the size of the object.
    pub(crate) fn open(url: &str) -> io::Result<Self> {
        remote::Spans::open(url, super::cancel()).map(Self)
    }
}

impl zipstream::ReadAt for Spans {
    fn read_at(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(room, offset)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.size())
    }
}
