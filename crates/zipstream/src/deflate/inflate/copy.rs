//! Copies of earlier content, which may overlap their target.

use super::super::bytes::load64;
use super::super::symbols::MATCH_MAX;

/// Bytes that may be written behind a copy.
pub(super) const COPY_SLACK_BYTES: usize = 64;
/// From this distance on what is copied was written long ago.
const FAR_BYTES: usize = 1 << 10;
/// The longest copy, in whole steps; from this distance on it does not overlap itself.
const LONG_BYTES: usize = 32 + 4 * 64;
const _: () = assert!(MATCH_MAX + COPY_SLACK_BYTES >= LONG_BYTES);

/// Writes `length` bytes at `at`, copied from `distance` bytes before, and anything to up to
/// [`COPY_SLACK_BYTES`] behind them. There must be room for both and for [`LONG_BYTES`], and `distance` must be within the
/// written content. `run` knows the copies before.
#[inline(always)]
pub(super) fn copy(out: &mut [u8], at: usize, (distance, length): (usize, usize), run: &mut Run) {
    let done = begin(out, at, distance, length);
    if length > done && !end_far(out, at, (distance, length), run) {
        run.end(out, at, (distance, length), done);
    }
}

/// Writes the first bytes of a copy; returns how many. Most distances take the same path, as a processor
/// cannot guess which comes next.
#[inline(always)]
fn begin(out: &mut [u8], at: usize, distance: usize, length: usize) -> usize {
    let span = (at.checked_sub(distance)).and_then(|from| out.get_mut(from..at + COPY_SLACK_BYTES));
    let Some(span) = span else {
        return 0;
    };
    if distance >= 8 {
        for part in (0..32).step_by(8) {
            span.copy_within(part..part + 8, distance + part);
        }
        return 32;
    }
    // The bytes that repeat, in a word.
    let (times, step) = REPEATED[distance];
    let word = load64(span, 0) & ((1_u64 << (8 * distance)) - 1);
    let word = word.wrapping_mul(times).to_le_bytes();
    if let Some(room) = span.last_chunk_mut::<COPY_SLACK_BYTES>() {
        for to in (0..4).map(|count| count * usize::from(step & 15)) {
            room[to..to + 8].copy_from_slice(&word);
        }
    }
    let done = 20;
    if length > done {
        if step == 8 {
            fill(out, at, word, length);
        } else {
            repeat(out, at, (word, usize::from(step)), length);
        }
    }
    length.max(done)
}

/// What makes a word of the bytes of a distance that is less, and how many bytes of it are whole repetitions.
const REPEATED: [(u64, u8); 8] = {
    let mut all = [(0, 8); 8];
    let mut distance = 1;
    while distance < 8 {
        let mut at = 0;
        while at < 8 {
            all[distance].0 |= 1 << (8 * at);
            at += distance;
        }
        all[distance].1 = (8 / distance * distance) as u8;
        distance += 1;
    }
    all
};

/// Writes a word again and again.
#[inline(always)]
fn fill(out: &mut [u8], at: usize, word: [u8; 8], length: usize) {
    let room = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
    let Some(room): Option<&mut [u8; LONG_BYTES]> = room else {
        return;
    };
    let block = [word; 8];
    for part in (0..LONG_BYTES - 32).step_by(64) {
        if length <= part {
            return;
        }
        room[part..part + 64].copy_from_slice(block.as_flattened());
    }
    if length > LONG_BYTES - 32 {
        room[LONG_BYTES - 32..].copy_from_slice(block[..4].as_flattened());
    }
}

/// Writes a word again and again, each time after the first `step` bytes of the one before.
#[cold]
#[inline(never)]
fn repeat(out: &mut [u8], at: usize, (word, step): ([u8; 8], usize), length: usize) {
    let room = out.get_mut(at..).unwrap_or_default();
    for to in (0..length).step_by(step.max(1)) {
        if let Some(part) = room.get_mut(to..to + 8) {
            part.copy_from_slice(&word);
        }
    }
}

/// Writes all of a copy that does not overlap itself but for its first 32 bytes; `false` if it does, or if it is one of
/// a run that could read what was written longer ago.
#[inline(always)]
fn end_far(out: &mut [u8], at: usize, (distance, length): (usize, usize), run: &mut Run) -> bool {
    if distance < FAR_BYTES {
        if distance < LONG_BYTES || run.goes_on(at, distance) {
            return false;
        }
        run.begin(at, (distance, length));
    }
    let Some((behind, ahead)) = out.split_at_mut_checked(at) else {
        return false;
    };
    let source = (behind.len().checked_sub(distance)).and_then(|from| behind.get(from..));
    let source = source.and_then(|source| source.first_chunk::<LONG_BYTES>());
    let (Some(source), Some(room)) = (source, ahead.first_chunk_mut::<LONG_BYTES>()) else {
        return false;
    };
    let mut done = 32;
    while done < length && done < LONG_BYTES - 63 {
        room[done..done + 64].copy_from_slice(&source[done..done + 64]);
        done += 64;
    }
    true
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
    /// Whether a copy follows the one before, with the same distance.
    #[inline(always)]
    fn goes_on(&self, at: usize, distance: usize) -> bool {
        (self.distance, self.end) == (distance, at)
    }

    /// Counts a copy that is the first with its distance.
    #[inline(always)]
    fn begin(&mut self, at: usize, (distance, length): (usize, usize)) {
        (self.distance, self.from, self.back) = (distance, at - distance, distance);
        self.end = at + length;
    }

    /// The end of a copy whose first `done` bytes are written; see [`copy`]. In long repetitions it
    /// reads bytes written long ago, because a processor stalls on bytes it has just written.
    ///
    /// It is said to be cold for the sake of the code around its call, whose registers are then kept for what comes before.
    #[cold]
    #[inline(never)]
    fn end(&mut self, out: &mut [u8], at: usize, copied: (usize, usize), done: usize) {
        let (distance, length) = copied;
        if !self.goes_on(at, distance) {
            self.begin(at, copied);
        } else if self.back < FAR_BYTES && 2 * self.back <= at - self.from {
            self.back *= 2;
        }
        self.end = at + length;
        let (at, end) = (at + done, at + length);
        match self.back {
            64.. => chunks::<64>(out, at, self.back, end),
            32.. => patterns::<64>(out, at, self.back, end),
            16.. => patterns::<32>(out, at, self.back, end),
            _ => patterns::<16>(out, at, self.back, end),
        }
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

/// Copies with a distance of at most `N` bytes, which are read once. There are as many behind the first.
#[inline(always)]
fn patterns<const N: usize>(out: &mut [u8], at: usize, distance: usize, end: usize) {
    let source = out
        .get(at - distance..)
        .and_then(|bytes| bytes.first_chunk::<N>());
    let Some(&pattern) = source else {
        return;
    };
    for to in (at..end).step_by(distance.max(1)) {
        if let Some(part) = out.get_mut(to..to + N) {
            part.copy_from_slice(&pattern);
        }
    }
}

/// Like [`copy`], but writes nothing behind the copy.
pub(super) fn copy_exactly(out: &mut [u8], at: usize, distance: usize, length: usize) {
    if out.len() - at >= LONG_BYTES.max(length + COPY_SLACK_BYTES) {
        return copy(out, at, (distance, length), &mut Run::default());
    }
    for to in at..at + length {
        out[to] = out[to - distance];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies after each other, of these distances and lengths, by themselves and as one run.
    fn check(distance: usize, lengths: &[usize]) {
        let start = 1500;
        let all: usize = lengths.iter().sum();
        let mut out: Vec<u8> = (0..start + all + LONG_BYTES)
            .map(|n| (n * 7 + n / 251) as u8)
            .collect();
        let mut expected = out.clone();
        for to in start..start + all {
            expected[to] = expected[to - distance];
        }
        let (mut at, mut run) = (start, Run::default());
        for &length in lengths {
            let behind = out.clone();
            copy(&mut out, at, (distance, length), &mut run);
            at += length;
            assert!(out[..at] == expected[..at], "{distance}, {length}");
            let slack = at + COPY_SLACK_BYTES;
            assert!(out[slack..] == behind[slack..], "{distance}, {length}");
        }
    }

    #[test]
    fn copies_are_those_of_one_byte_after_the_other() {
        for distance in (1..80).chain([300, 1023, 1024, 1500]) {
            for length in 3..=258 {
                check(distance, &[length]);
            }
        }
    }

    #[test]
    fn runs_of_copies_repeat_the_same_bytes() {
        for distance in (1..80).chain([128, 258, 300, 1100]) {
            check(distance, &[258; 12]);
            check(distance, &[33, 258, 40, 3, 258, 258, 21, 64, 258, 100, 258]);
        }
    }

    #[test]
    fn copies_near_the_end_of_the_room_are_whole() {
        for distance in (1..20).chain([31, 40, 287, 288, 700, 1100]) {
            for (length, room) in [(3, 0), (21, 43), (21, 64), (100, 70), (258, 0), (258, 64)] {
                let start = 1500;
                let mut out: Vec<u8> = (0..start).map(|n| (n * 7 + n / 251) as u8).collect();
                out.resize(start + length + room, 0);
                let mut expected = out.clone();
                for to in start..start + length {
                    expected[to] = expected[to - distance];
                }
                copy_exactly(&mut out, start, distance, length);
                let end = start + length;
                assert!(
                    out[..end] == expected[..end],
                    "{distance}, {length}, {room}"
                );
            }
        }
    }
}
