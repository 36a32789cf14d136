//! The parts of a stream on several threads.

use std::ops::Range;

use ordered::Pool;

use super::super::source::ReadAt;
use super::indexed::IndexedReader;
use super::part::{Decoded, Fetched, decode};
use crate::deflate::Inflater;
use crate::error::{Error, internal};

/// A part on its way from the source.
#[derive(Default)]
struct Item {
    fetched: Fetched,
    error: Option<Error>,
}

/// A part on its way to the sink.
#[derive(Default)]
struct Made {
    decoded: Decoded,
    error: Option<Error>,
}

impl<R: ReadAt + Sync, S: ReadAt + Sync> IndexedReader<'_, R, S> {
    /// Does what [`read_range`](Self::read_range) does, on `threads` threads. One more part than that is
    /// in memory.
    ///
    /// # Errors
    /// As of [`read_range`](Self::read_range), and that no thread can be started.
    pub fn read_range_parallel<E: From<Error>>(
        &self,
        range: Range<u64>,
        threads: usize,
        sink: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let range = self.within(range);
        let mut parts = self.parts(&range);
        let threads = threads.min(parts.len());
        if threads < 2 {
            return self.read_range(range, sink);
        }
        let inflaters = (0..threads).map(|_| Inflater::new()).collect();
        let ended = Pool::new().in_flight(threads + 1).name("inflate").run(
            inflaters,
            |item: &mut Item, _| {
                let Some(number) = parts.next() else {
                    return false;
                };
                item.error = self.fetch(number, &mut item.fetched).err();
                true
            },
            |inflater, item, made: &mut Made| {
                let failed = item.error.take();
                made.error = failed.or_else(|| {
                    decode(self.index, &item.fetched, inflater, &mut made.decoded).err()
                });
            },
            |_, made| match made.error.take() {
                Some(error) => Err(E::from(self.named(error))),
                None => sink(made.decoded.slice(&range)),
            },
        );
        match ended.result {
            Ok(()) => Ok(range.end - range.start),
            Err(ordered::Error::Receiver(error)) => Err(error),
            Err(ordered::Error::Thread(error)) => Err(E::from(Error::io(&error))),
            Err(_) => Err(E::from(internal("a thread that inflates panicked"))),
        }
    }
}
