//! Which bytes of an object are asked for, and which of them are kept: the end, since directories are
//! there, and a window that doubles while reads continue each other.

use std::ops::Range;

use bytes::Bytes;

/// What is kept of the end.
const TAIL_BYTES: u64 = 128 << 10;
/// The most bytes of one request beyond what is wanted.
const AHEAD_BYTES_MAX: u64 = 4 << 20;

/// What is held of an object of a known size.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    size: u64,
    tail: Option<Bytes>,
    window: Bytes,
    start: u64,
}

impl Windows {
    pub(crate) fn new(size: u64) -> Self {
        Self {
            size,
            ..Self::default()
        }
    }

    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    fn tail_start(&self) -> u64 {
        self.size.saturating_sub(TAIL_BYTES)
    }

    /// What is held from `offset` on; empty if it has to be fetched, or at the end.
    pub(crate) fn held(&self, offset: u64) -> &[u8] {
        let from = |bytes: &'_ Bytes, start: u64| {
            let at = usize::try_from(offset.checked_sub(start)?).ok()?;
            (at < bytes.len()).then_some(at)
        };
        if let Some(tail) = &self.tail
            && let Some(at) = from(tail, self.tail_start())
        {
            return &tail[at..];
        }
        match from(&self.window, self.start) {
            Some(at) => &self.window[at..],
            None => &[],
        }
    }

    /// The range to fetch so that some of the `wanted` bytes from `offset` on are held. `offset` is before
    /// the end.
    pub(crate) fn missing(&self, offset: u64, wanted: usize) -> Range<u64> {
        let tail_start = self.tail_start();
        if offset >= tail_start {
            return tail_start..self.size;
        }
        let window_bytes = self.window.len() as u64;
        let goes_on = window_bytes > 0 && offset == self.start + window_bytes;
        let ahead = if goes_on { 2 * window_bytes } else { 0 };
        let want = (wanted as u64).max(ahead.min(AHEAD_BYTES_MAX));
        offset..offset.saturating_add(want).min(tail_start)
    }

    /// Keeps the bytes of such a range.
    pub(crate) fn keep(&mut self, range: &Range<u64>, bytes: Bytes) {
        if range.start >= self.tail_start() {
            self.tail = Some(bytes);
        } else {
            (self.window, self.start) = (bytes, range.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(windows: &mut Windows, offset: u64, wanted: usize) -> Option<Range<u64>> {
        if !windows.held(offset).is_empty() {
            return None;
        }
        let range = windows.missing(offset, wanted);
        let bytes = vec![0; usize::try_from(range.end - range.start).unwrap()];
        windows.keep(&range, bytes.into());
        assert!(!windows.held(offset).is_empty());
        Some(range)
    }

    #[test]
    fn the_end_is_fetched_once_and_reads_in_order_ask_for_more_each_time() {
        let mut windows = Windows::new(10 << 20);
        let tail = (10 << 20) - TAIL_BYTES;
        assert_eq!(
            read(&mut windows, (10 << 20) - 22, 22),
            Some(tail..10 << 20)
        );
        assert_eq!(read(&mut windows, tail, 46), None);
        assert_eq!(read(&mut windows, 0, 1000), Some(0..1000));
        assert_eq!(read(&mut windows, 1000, 1000), Some(1000..3000));
        assert_eq!(read(&mut windows, 2999, 1000), None);
        assert_eq!(read(&mut windows, 3000, 1000), Some(3000..7000));
        // Another place starts over, and the end stays.
        assert_eq!(
            read(&mut windows, 5 << 20, 10),
            Some(5 << 20..(5 << 20) + 10)
        );
        assert_eq!(read(&mut windows, tail + 1, 46), None);
        assert_eq!(read(&mut windows, tail - 1, 46), Some(tail - 1..tail));
    }

    #[test]
    fn a_small_object_is_one_request() {
        let mut windows = Windows::new(100);
        assert_eq!(read(&mut windows, 78, 22), Some(0..100));
        assert_eq!(read(&mut windows, 0, 30), None);
        assert!(windows.held(100).is_empty());
    }
}
