//! Copies of earlier content, which may overlap their target.

/// Bytes that may be written behind a copy.
pub(super) const COPY_SLACK_BYTES: usize = 64;

/// Writes `length` bytes at `at`, copied from `distance` bytes before, and anything to up to
/// [`COPY_SLACK_BYTES`] behind them. There must be room for both, and `distance` must be within the
/// written content.
#[inline]
pub(super) fn copy(out: &mut [u8], at: usize, distance: usize, length: usize) {
    let end = at + length;
    match distance {
        64.. => chunks::<64>(out, at, distance, end),
        16.. => chunks::<16>(out, at, distance, end),
        1 => {
            let byte = out[at - 1];
            out[at..end].fill(byte);
        }
        _ => near(out, at, distance, end),
    }
}

/// Consecutive copies with one distance: the content repeats from `from` on.
#[derive(Debug, Default)]
pub(super) struct Run {
    distance: usize,
    from: usize,
    end: usize,
    /// A multiple of the distance that reaches back no further than the start.
    back: usize,
}

impl Run {
    /// The end of a copy whose first `done` bytes are written; see [`copy`]. In long repetitions it
    /// reads bytes written long ago, because a processor stalls on bytes it has just written.
    #[inline(never)]
    pub(super) fn end_copy(
        &mut self,
        out: &mut [u8],
        at: usize,
        copied: (usize, usize),
        done: usize,
    ) {
        const BACK_BYTES: usize = 1 << 10;
        let (distance, length) = copied;
        if (self.distance, self.end) != (distance, at) {
            (self.distance, self.from, self.back) = (distance, at - distance, distance);
        } else if self.back < BACK_BYTES && 2 * self.back <= at - self.from {
            self.back *= 2;
        }
        self.end = at + length;
        copy(out, at + done, self.back, length - done);
    }
}

/// Copies with a distance of at least `N` bytes.
#[inline(always)]
fn chunks<const N: usize>(out: &mut [u8], at: usize, distance: usize, end: usize) {
    let distance = distance & 0xffff;
    let mut span = out.get_mut(at - distance..).unwrap_or_default();
    for _ in (at..end).step_by(N) {
        let Some(both) = span.get_mut(..distance + N) else {
            return;
        };
        for part in (0..N).step_by(16) {
            both.copy_within(part..part + 16, distance + part);
        }
        span = &mut span[N..];
    }
}

/// Copies with a distance of less than 16 bytes.
#[inline(never)]
fn near(out: &mut [u8], at: usize, distance: usize, end: usize) {
    let (mut from, mut to) = (at - distance, at);
    // The content repeats at every multiple of `distance`.
    while to < end && to - from < 8 {
        move_bytes::<8>(out, from, to);
        to += to - from;
    }
    while to < end {
        move_bytes::<8>(out, from, to);
        (from, to) = (from + 8, to + 8);
    }
}

/// Copies `N` bytes in one step, so that the ranges may overlap.
#[inline(always)]
fn move_bytes<const N: usize>(out: &mut [u8], from: usize, to: usize) {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&out[from..from + N]);
    out[to..to + N].copy_from_slice(&bytes);
}

/// Like [`copy`], but writes nothing behind the copy.
pub(super) fn copy_exactly(out: &mut [u8], at: usize, distance: usize, length: usize) {
    if out.len() - at >= length + COPY_SLACK_BYTES {
        return copy(out, at, distance, length);
    }
    for to in at..at + length {
        out[to] = out[to - distance];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_of_one_byte_after_the_other() {
        for distance in (1..80).chain([300]) {
            for length in 3..=258 {
                let mut out: Vec<u8> = (0..700).map(|n| (n * 7 + n / 251) as u8).collect();
                let at = 310;
                let mut expected = out.clone();
                for to in at..at + length {
                    expected[to] = expected[to - distance];
                }
                copy(&mut out, at, distance, length);
                let end = at + length;
                assert!(out[..end] == expected[..end], "{distance}, {length}");
                let behind = end + COPY_SLACK_BYTES;
                assert!(out[behind..] == expected[behind..], "{distance}, {length}");
            }
        }
    }
}
