//! What blocks of logs say about orders, on its way to a book.

use super::event::OrderPart;
use crate::Timed;

/// What a block of a log says about orders, on its way to a [`Book`](super::Book).
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) log: usize,
    pub(super) part: OrderPart,
    /// By the place of a session in the part: the parties.
    pub(super) parties: Vec<[u32; 2]>,
}

impl Batch {
    /// A part of a log.
    #[must_use]
    pub fn new(log: usize, part: OrderPart) -> Self {
        Self {
            log,
            part,
            parties: Vec::new(),
        }
    }
}

impl Timed for Batch {
    fn log(&self) -> usize {
        self.log
    }

    fn items(&self) -> usize {
        self.part.events.len()
    }

    fn time_ns(&self, at: usize) -> Option<i64> {
        self.part.events.get(at)?.sent_ns
    }
}

/// Several logs in the order of time.
pub type Merge = crate::Merge<Batch>;
