//! Rings for benchmarks of single requests: a request that does nothing, and a word through an eventfd.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};

use super::options::{Setup, Wait};
use super::uring::{Ring, Sizes};

/// How many requests such a ring takes at a time.
pub const BATCH_MAX: usize = 256;

/// A ring without connections.
#[derive(Debug)]
pub struct Requests {
    ring: Ring,
    word: OwnedFd,
}

impl Requests {
    /// Opens a ring with this setup.
    ///
    /// # Errors
    /// If the system refuses it.
    pub fn open(setup: Setup) -> io::Result<Self> {
        let sizes = Sizes {
            submissions: 256,
            completions: 512,
            buffers: 0,
            buffer_bytes: 0,
            outboxes: 1,
            outbox_bytes: 8,
        };
        Ok(Self {
            ring: Ring::open(setup, sizes, false)?,
            // The kernel would pass a request that could block to a thread of its own.
            word: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Submits this many requests that do nothing, up to [`BATCH_MAX`], in one call and waits for all of
    /// them. Returns how many completed.
    ///
    /// # Errors
    /// If the system fails.
    pub fn nothing(&mut self, requests: usize) -> io::Result<usize> {
        let requests = requests.min(BATCH_MAX);
        for _ in 0..requests {
            self.ring.nop()?;
        }
        self.complete(requests)
    }

    /// Writes a word to an eventfd and waits, then reads it back and waits. Returns the word.
    ///
    /// # Errors
    /// If the system fails, or does not transfer eight bytes.
    pub fn word(&mut self, word: u64) -> io::Result<Option<u64>> {
        self.ring.write(0, 0, &word.to_ne_bytes());
        self.ring.write_word(self.word.as_fd())?;
        self.complete(1)?;
        self.ring.write(0, 0, &[0; 8]);
        self.ring.read_word(self.word.as_fd())?;
        self.complete(1)?;
        Ok(self.ring.word())
    }

    /// System calls so far.
    #[must_use]
    pub fn syscalls(&self) -> u64 {
        self.ring.syscalls()
    }

    fn complete(&mut self, requests: usize) -> io::Result<usize> {
        let mut done = 0;
        while done < requests {
            self.ring.enter(Wait::Event, requests - done)?;
            while let Some(completion) = self.ring.completion() {
                completion.check()?;
                done += 1;
            }
        }
        Ok(done)
    }
}
