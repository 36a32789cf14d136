//! Buffers of any size that a thread writes in order while the next are made. Only what takes a
//! processor for itself, as encryption does, is worth it; see [`sink`](crate::sink) for the rest.

use std::io::{self, Write as _};

use crate::Cancel;
use crate::behind::{Behind, Work};
use crate::output::Output;

/// Buffers that wait to be written: each is about what one call makes.
const WAITING: usize = 2;

/// Writes buffers on a thread of its own.
#[derive(Debug)]
pub struct WriteBehind {
    thread: Behind<Vec<u8>, Option<Vec<u8>>>,
    /// What the thread gave up for, seen while a buffer was looked for.
    failed: Option<io::Error>,
}

/// Its thread.
struct Plain(Output);

impl Work for Plain {
    type Piece = Vec<u8>;
    type Back = Option<Vec<u8>>;

    fn take(&mut self, buffer: Vec<u8>) -> io::Result<Option<Self::Back>> {
        self.0.write_all(&buffer)?;
        Ok(Some(Some(buffer)))
    }

    fn end(self) -> io::Result<Self::Back> {
        Ok(None)
    }
}

impl WriteBehind {
    /// Starts the thread.
    ///
    /// # Errors
    /// There are no more threads to be had.
    pub fn start(file: Output) -> io::Result<Self> {
        let thread = Behind::start(Plain(file), WAITING, WAITING + 2, Cancel::default())?;
        Ok(Self {
            thread,
            failed: None,
        })
    }

    /// A buffer that was written, or a new one. Its content is of no use.
    #[must_use]
    pub fn spare(&mut self) -> Vec<u8> {
        match self.thread.try_receive() {
            Ok(back) => back.flatten().unwrap_or_default(),
            Err(error) => {
                self.failed.get_or_insert(error);
                Vec::new()
            }
        }
    }

    /// Hands on what is to be written next.
    ///
    /// # Errors
    /// What could not be written, once; nothing more is.
    pub fn put(&mut self, buffer: Vec<u8>) -> io::Result<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => self.thread.send(buffer),
        }
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// What could not be written.
    pub fn finish(self) -> io::Result<()> {
        match self.failed {
            Some(error) => Err(error),
            None => self.thread.finish(|back| back.is_none().then_some(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_written_in_order() {
        let mut file = tempfile::tempfile().expect("it works");
        let mut behind =
            WriteBehind::start(Output::new(file.try_clone().expect("it works"))).expect("it works");
        let mut expected = Vec::new();
        for index in 0..100_u8 {
            let mut buffer = behind.spare();
            buffer.clear();
            buffer.resize(1000 + usize::from(index), index);
            expected.extend_from_slice(&buffer);
            behind.put(buffer).expect("it works");
        }
        behind.finish().expect("it works");
        let mut found = Vec::new();
        io::Seek::rewind(&mut file).expect("it works");
        io::Read::read_to_end(&mut file, &mut found).expect("it works");
        assert!(found == expected);
    }

    #[test]
    fn what_cannot_be_written_is_told_at_the_end() {
        let dir = tempfile::tempdir().expect("it works");
        let path = dir.path().join("a");
        std::fs::write(&path, b"").expect("it works");
        let file = Output::new(std::fs::File::open(path).expect("it works"));
        let mut behind = WriteBehind::start(file).expect("it works");
        // A look for a buffer does not swallow the error.
        let error = (0..).find_map(|_| {
            let mut buffer = behind.spare();
            buffer.resize(10, 0);
            behind.put(buffer).err()
        });
        let error = error.expect("it cannot be written");
        assert!(!error.to_string().contains("gone"), "{error}");
    }
}
