//! A queue with many writing sides: a ring for each of them, read in turns.
//!
//! Writers share nothing, so none waits for another one or retries: a message costs what it does with one writer, and
//! a writer that stops in the middle of a message holds up nobody else. The price is memory for each of them, and
//! that there is an order only between messages of the same writer.

use super::queue::{Consumer, Producer, Wait, queue};

/// Creates a queue with this many writing sides, each with a ring of this many bytes, rounded up to a power of two.
/// The reading side polls.
///
/// ```
/// let (mut producers, mut consumer) = fixcore::spsc::many(2, 1 << 16);
/// producers[0].push(1, b"one")?;
/// producers[1].push(2, b"two")?;
/// let mut read = Vec::new();
/// consumer.drain(10, |from, stamp, bytes| read.push((from, stamp, bytes.to_vec())));
/// read.sort();
/// assert_eq!(read, [(0, 1, b"one".to_vec()), (1, 2, b"two".to_vec())]);
/// # Ok::<(), fixcore::spsc::Refused>(())
/// ```
#[doc(alias = "mpsc")]
#[must_use]
pub fn many(producers: usize, buffer_bytes: usize) -> (Vec<Producer>, ManyConsumer) {
    let pairs = (0..producers).map(|_| queue(buffer_bytes, Wait::Spin));
    let (producers, consumers) = pairs.unzip();
    (producers, ManyConsumer { consumers, next: 0 })
}

/// The reading side of a queue of many writers.
pub struct ManyConsumer {
    consumers: Vec<Consumer>,
    /// The writer that comes first.
    next: usize,
}

impl ManyConsumer {
    /// Reads up to `messages_max` messages, each with the number of its writer and its stamp. Returns how many there
    /// were. Each call begins with the writer behind the one at which the last call began, and no writer gets more
    /// than its share as long as others have messages.
    pub fn drain(&mut self, messages_max: usize, mut each: impl FnMut(usize, u64, &[u8])) -> usize {
        let writers = self.consumers.len();
        let Some(last) = writers.checked_sub(1) else {
            return 0;
        };
        let first = self.next.min(last);
        self.next = (first + 1) % writers;
        let mut read = 0;
        // First its share for each, then what others did not need of theirs.
        for share in [messages_max.div_ceil(writers), messages_max] {
            for at in (first..writers).chain(0..first) {
                let most = share.min(messages_max - read);
                if let Some(consumer) = self.consumers.get_mut(at) {
                    read += consumer.drain(most, |stamp, bytes| each(at, stamp, bytes));
                }
            }
        }
        read
    }

    /// Whether all writers are gone: no message follows those in the queue.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.consumers.iter().all(Consumer::is_closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_and_each_writer_keeps_its_order() {
        const MESSAGES: u64 = 20_000;
        let (producers, mut consumer) = many(3, 4 << 10);
        std::thread::scope(|scope| {
            for (from, mut producer) in producers.into_iter().enumerate() {
                scope.spawn(move || {
                    for stamp in 0..MESSAGES {
                        let bytes = [from as u8; 40];
                        while producer
                            .push(stamp, &bytes[..(stamp % 41) as usize])
                            .is_err()
                        {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut next = [0; 3];
            loop {
                let is_closed = consumer.is_closed();
                let read = consumer.drain(50, |from, stamp, bytes| {
                    assert_eq!(stamp, next[from], "writer {from}");
                    assert_eq!(bytes.len() as u64, stamp % 41);
                    assert!(bytes.iter().all(|byte| usize::from(*byte) == from));
                    next[from] += 1;
                });
                if read == 0 {
                    if is_closed {
                        break;
                    }
                    std::thread::yield_now();
                }
            }
            assert_eq!(next, [MESSAGES; 3]);
        });
    }

    #[test]
    fn a_busy_writer_does_not_hide_the_others() {
        let (mut producers, mut consumer) = many(3, 64 << 10);
        for stamp in 0..100 {
            producers[0].push(stamp, b"busy").unwrap();
        }
        producers[2].push(0, b"rare").unwrap();
        let mut read = [0; 3];
        assert_eq!(consumer.drain(6, |from, _, _| read[from] += 1), 6);
        assert_eq!(read, [5, 0, 1], "its own share, and what others leave");
        assert_eq!(consumer.drain(0, |_, _, _| panic!("none")), 0);
        assert!(!consumer.is_closed());
        drop(producers);
        assert!(consumer.is_closed());
        assert_eq!(consumer.drain(usize::MAX, |_, _, _| ()), 95);
        let (_, mut none) = many(0, 1 << 10);
        assert_eq!((none.drain(5, |_, _, _| ()), none.is_closed()), (0, true));
    }
}
