//! How many messages of a session wait to be sent, where that is limited.

use std::collections::VecDeque;

/// Messages that were written and may not be sent yet.
#[derive(Debug, Default, Clone)]
pub(super) struct Scheduled {
    /// How many may wait; 0: no limit, and nothing is counted.
    pub(super) most: u32,
    /// Bytes ever written, and where each message that may wait ends in them.
    written: u64,
    ends: VecDeque<u64>,
}

impl Scheduled {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    /// The session wrote a message.
    pub(super) fn wrote(&mut self, bytes: usize) {
        if self.most > 0 {
            self.written += bytes as u64;
            self.ends.push_back(self.written);
        }
    }

    /// How many messages wait, if they are too many. TLS makes bytes longer, and so messages seem to wait a
    /// little longer than they do.
    pub(super) fn too_many(&mut self, unsent_bytes: usize) -> Option<usize> {
        let sent = self.written.saturating_sub(unsent_bytes as u64);
        while self.ends.front().is_some_and(|end| *end <= sent) {
            self.ends.pop_front();
        }
        (self.ends.len() > self.most as usize).then_some(self.ends.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_count_until_their_last_byte_is_sent() {
        let mut scheduled = Scheduled::new(2);
        for _ in 0..3 {
            scheduled.wrote(10);
        }
        assert_eq!(scheduled.too_many(30), Some(3));
        assert_eq!(scheduled.too_many(21), Some(3));
        assert_eq!(scheduled.too_many(20), None);
        assert_eq!(scheduled.too_many(0), None);
        let mut unlimited = Scheduled::new(0);
        unlimited.wrote(10);
        assert_eq!(unlimited.too_many(10), None);
    }
}
