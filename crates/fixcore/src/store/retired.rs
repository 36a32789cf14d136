//! Segments that are not needed any more: their memory is given back on a thread of its own, because the system
//! takes more than a millisecond for each, and a reset may leave hundreds.

use std::thread::{Builder, JoinHandle};

use super::segment::Segment;

/// Less than this is given back at once.
const BYTES_MIN: usize = 256 << 10;
const STACK_BYTES: usize = 64 << 10;

/// The thread that gives memory back, if one is at work. Dropping this waits for it: the store's lock is held until
/// then.
#[derive(Debug, Default)]
pub(super) struct Retired(Option<JoinHandle<()>>);

impl Retired {
    /// Gives the memory of these back.
    pub(super) fn take(&mut self, segments: Vec<Segment>) {
        let bytes: usize = segments.iter().map(|segment| segment.end).sum();
        if bytes < BYTES_MIN {
            return;
        }
        self.finish();
        let thread = Builder::new()
            .name("fix-store".to_owned())
            .stack_size(STACK_BYTES);
        // Without a thread the memory is given back here.
        self.0 = thread.spawn(move || drop(segments)).ok();
    }

    /// Waits until all is given back.
    fn finish(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Retired {
    fn drop(&mut self) {
        self.finish();
    }
}
