//! Output that a thread writes while the next is made. Only what takes a processor for itself, as
//! encryption does, is worth it.

use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use crate::output::Output;

/// Buffers that wait to be written: each is about what one call makes.
const WAITING: usize = 2;

/// The thread.
pub struct Behind {
    full: SyncSender<Vec<u8>>,
    spare: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Behind {
    /// Starts it; `None` if there is none to be had.
    pub fn start(mut file: Output) -> Option<Self> {
        let (full, taken) = sync_channel::<Vec<u8>>(WAITING);
        let (written, spare) = sync_channel(WAITING + 2);
        let work = move || {
            for buffer in taken {
                file.write_all(&buffer)?;
                // Nobody has to want it.
                let _ = written.try_send(buffer);
            }
            Ok(())
        };
        let thread = std::thread::Builder::new().spawn(work).ok()?;
        Some(Self {
            full,
            spare,
            thread,
        })
    }

    /// A buffer that was written, or a new one.
    pub fn spare(&self) -> Vec<u8> {
        self.spare.try_recv().unwrap_or_default()
    }

    /// Hands on what is to be written next; `false` if the thread gave up, and
    /// [`finish`](Self::finish) tells why.
    pub fn put(&self, buffer: Vec<u8>) -> bool {
        self.full.send(buffer).is_ok()
    }

    /// Waits until everything is written.
    pub fn finish(self) -> io::Result<()> {
        drop(self.full);
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_is_written_in_order() {
        let mut file = tempfile::tempfile().expect("it works");
        let behind =
            Behind::start(Output::new(file.try_clone().expect("it works"))).expect("it works");
        let mut expected = Vec::new();
        for index in 0..100_u8 {
            let mut buffer = behind.spare();
            buffer.clear();
            buffer.resize(1000 + usize::from(index), index);
            expected.extend_from_slice(&buffer);
            assert!(behind.put(buffer));
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
        let behind = Behind::start(file).expect("it works");
        while behind.put(vec![0; 10]) {}
        assert!(behind.finish().is_err());
    }
}
