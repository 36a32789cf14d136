//! Gaps in what comes: the messages that wait behind one, and the ResendRequest that is open.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a waiting message takes besides its bytes, roughly.
const OVERHEAD_BYTES: usize = 96;
/// While more numbers wait, none is noted as handled.
const HANDLED_MAX: usize = 1 << 15;

/// A number behind a gap.
#[derive(Debug)]
enum Waiting {
    Message(Box<[u8]>),
    /// A message that was handled when it came, and whose number only has to be passed.
    Handled,
}

/// The next number of a queue.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Message(Box<[u8]>),
    Handled,
}

/// Messages behind a gap, by number, within a bound of memory.
#[derive(Debug)]
pub(crate) struct Queue {
    waiting: BTreeMap<u64, Waiting>,
    bytes: usize,
    bytes_max: usize,
}

impl Queue {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            bytes: 0,
            bytes_max,
        }
    }

    fn cost(waiting: &Waiting) -> usize {
        match waiting {
            Waiting::Message(bytes) => bytes.len() + OVERHEAD_BYTES,
            Waiting::Handled => 0,
        }
    }

    /// Keeps a message. Returns whether it is kept: the first of a number is, while there is room.
    pub(crate) fn keep(&mut self, number: u64, message: &[u8]) -> bool {
        if self.waiting.contains_key(&number) {
            return true;
        }
        let waiting = Waiting::Message(message.into());
        let bytes = Self::cost(&waiting);
        if self.bytes + bytes > self.bytes_max {
            return false;
        }
        self.bytes += bytes;
        self.waiting.insert(number, waiting);
        true
    }

    /// Notes that the message of this number was handled when it came. Without these notes, two sides
    /// that ask for many small parts would ask for each other's requests for ever; so they have a bound of
    /// their own.
    pub(crate) fn handled(&mut self, number: u64) {
        if self.waiting.len() < HANDLED_MAX {
            self.waiting.entry(number).or_insert(Waiting::Handled);
        }
    }

    /// Takes the entry of this number, and drops those before it.
    pub(crate) fn take(&mut self, number: u64) -> Option<Next> {
        while let Some(first) = self.waiting.first_entry() {
            if *first.key() > number {
                return None;
            }
            let is_wanted = *first.key() == number;
            let entry = first.remove();
            self.bytes -= Self::cost(&entry);
            if is_wanted {
                return Some(match entry {
                    Waiting::Message(bytes) => Next::Message(bytes),
                    Waiting::Handled => Next::Handled,
                });
            }
        }
        None
    }

    /// Whether there is an entry of this number or one before it.
    pub(crate) fn reaches(&self, number: u64) -> bool {
        self.waiting
            .first_key_value()
            .is_some_and(|first| *first.0 <= number)
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }
}

/// An open ResendRequest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The first number that was missing.
    pub(crate) begin: u64,
    /// The last number of the gap as far as it is known.
    pub(crate) end: u64,
    /// The last number that was asked for; less than `end` with chunks.
    pub(crate) chunk_end: u64,
    /// Nothing was sent, because NextExpectedMsgSeqNum (789) of our Logon asks for it.
    pub(crate) is_implied: bool,
    /// How often the same number was asked for again, because the answer left it out.
    pub(crate) repeats: u8,
    /// When it was sent, or the expected number moved last.
    pub(crate) since: Duration,
}

/// How a ResendRequest is written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    /// The most numbers in one request; 0 for all.
    pub(crate) chunk: u64,
    /// Whether the last number is stated when it is that of the gap.
    pub(crate) closed: bool,
    /// EndSeqNo (16) for everything.
    pub(crate) open_end: u64,
}

/// The request for a gap: what it is, and its EndSeqNo (16).
pub(crate) fn request(begin: u64, end: u64, style: Style) -> (Asked, u64) {
    let chunk_end = match style.chunk {
        0 => end,
        chunk => end.min(begin.saturating_add(chunk - 1)),
    };
    let stated = match chunk_end < end || style.chunk > 0 || style.closed {
        true => chunk_end,
        false => style.open_end,
    };
    let asked = Asked {
        begin,
        end,
        chunk_end,
        is_implied: false,
        repeats: 0,
        since: Duration::ZERO,
    };
    (asked, stated)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: Style = Style {
        chunk: 0,
        closed: false,
        open_end: 0,
    };

    #[test]
    fn a_request_is_open_closed_or_in_chunks() {
        let stated = |begin, end, style| request(begin, end, style).1;
        assert_eq!(stated(4, 6, OPEN), 0);
        let closed = Style {
            closed: true,
            ..OPEN
        };
        assert_eq!(stated(4, 6, closed), 6);
        let chunks = Style { chunk: 2, ..OPEN };
        assert_eq!(stated(4, 9, chunks), 5);
        assert_eq!(stated(8, 9, chunks), 9);
        assert_eq!(stated(9, 9, chunks), 9);
        assert_eq!(request(4, 9, chunks).0.chunk_end, 5);
        let old = Style {
            open_end: 999_999,
            ..OPEN
        };
        assert_eq!(stated(4, 6, old), 999_999);
    }

    #[test]
    fn the_queue_is_bounded_and_gives_numbers_in_order() {
        let mut queue = Queue::new(2 * (OVERHEAD_BYTES + 10));
        assert!(queue.keep(5, &[5; 10]));
        assert!(queue.keep(4, &[4; 10]));
        assert!(queue.keep(4, &[9; 10]), "the first one stays");
        queue.handled(6);
        assert!(!queue.keep(9, &[9; 10]));
        assert_eq!(queue.take(3), None);
        assert!(queue.reaches(4));
        assert_eq!(queue.take(4), Some(Next::Message([4; 10].into())));
        assert_eq!(queue.take(6), Some(Next::Handled), "5 is dropped");
        assert!(!queue.reaches(u64::MAX));
        assert_eq!(queue.bytes, 0);
    }
}
