//! The range of a fixed-size buffer that holds bytes to be sent. The buffer itself is elsewhere.

/// Bytes are appended at `end` and leave at `start`. When all have left, and the kernel reads none of
/// them any more, it begins at the front again, so bytes to be sent are always contiguous.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outbox {
    start: usize,
    end: usize,
    capacity: usize,
    /// How many completed sends the kernel may still read from.
    held: u32,
}

impl Outbox {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            start: 0,
            end: 0,
            capacity,
            held: 0,
        }
    }

    /// How many bytes can be appended.
    pub(super) fn room(&self) -> usize {
        self.capacity - self.end
    }

    /// How many bytes are to be sent.
    pub(super) fn len(&self) -> usize {
        self.end - self.start
    }

    /// Where they begin.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Appends this many bytes and returns their place; `None` if there is no room.
    pub(super) fn append(&mut self, bytes: usize) -> Option<usize> {
        let at = self.end;
        if bytes > self.room() {
            return None;
        }
        self.end += bytes;
        Some(at)
    }

    /// This many bytes were sent.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.start = self.end.min(self.start + bytes);
        self.reset();
    }

    /// The kernel continues to read the bytes of a completed send.
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// The kernel is done with one of those sends.
    pub(super) fn let_go(&mut self) {
        self.held = self.held.saturating_sub(1);
        self.reset();
    }

    fn reset(&mut self) {
        if self.start == self.end && self.held == 0 {
            (self.start, self.end) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_at_the_front_when_all_have_left_and_nobody_reads() {
        let mut outbox = Outbox::new(10);
        assert_eq!((outbox.append(6), outbox.append(5)), (Some(0), None));
        assert_eq!((outbox.append(4), outbox.room()), (Some(6), 0));
        outbox.sent(7);
        assert_eq!((outbox.start(), outbox.len(), outbox.room()), (7, 3, 0));
        outbox.hold();
        outbox.sent(3);
        assert_eq!((outbox.len(), outbox.room()), (0, 0), "still read");
        outbox.let_go();
        assert_eq!((outbox.start(), outbox.room()), (0, 10));
    }
}
