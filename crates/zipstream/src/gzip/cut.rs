//! Where chunks end by what they hold, so that a change moves no other end: a rolling sum over the last 64 bytes.
//!
//! gzip adds up 4096 bytes and ends a block where the sum is a multiple of 4096. Such a sum hardly moves in text;
//! here each byte is spread over 64 bits and leaves the sum after 64 more.

/// No end before this: a shorter chunk costs more than it saves.
const BYTES_MIN: usize = 8 << 10;
/// An end at one of this many places (a power of two), so that chunks have 24 KiB on average.
const PLACES: u32 = 16 << 10;
/// The sum looks back as far as it has bits.
const WINDOW_BYTES: usize = u64::BITS as usize;
const _: () = assert!(WINDOW_BYTES <= BYTES_MIN);

/// Looks for the end of a chunk in content that comes in parts.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    sum: u64,
    /// Content since the last end.
    bytes: usize,
}

impl Cutter {
    /// The bytes of `part` up to the end of the chunk, if it is in there.
    pub(super) fn cut(&mut self, part: &[u8]) -> Option<usize> {
        // What is too early to matter is not even added up.
        let first = (BYTES_MIN - WINDOW_BYTES).saturating_sub(self.bytes);
        for (at, &byte) in part.iter().enumerate().skip(first) {
            self.sum = (self.sum << 1).wrapping_add(spread(byte));
            let is_end = self.sum >> (u64::BITS - PLACES.ilog2()) == 0;
            if is_end && self.bytes + at + 1 >= BYTES_MIN {
                self.restart();
                return Some(at + 1);
            }
        }
        self.bytes += part.len();
        None
    }

    /// Begins a chunk.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }
}

/// Equal bytes give equal numbers, and all bits of them matter (the first step of SplitMix64).
fn spread(byte: u8) -> u64 {
    let mixed = (u64::from(byte) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words in an order that does not repeat.
    fn text(bytes: usize, mut state: u64) -> Vec<u8> {
        let words = ["alpha ", "beta ", "gamma\n", "delta ", "0x1f ", "epsilon, "];
        let mut out = Vec::new();
        while out.len() < bytes {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            out.extend_from_slice(words[(state >> 40) as usize % words.len()].as_bytes());
        }
        out
    }

    /// All ends in content that comes in parts of this size.
    fn ends(content: &[u8], part: usize) -> Vec<usize> {
        let (mut cutter, mut ends, mut at) = (Cutter::default(), Vec::new(), 0);
        while at < content.len() {
            let rest = &content[at..content.len().min(at + part)];
            match cutter.cut(rest) {
                Some(bytes) => {
                    at += bytes;
                    ends.push(at);
                }
                None => at += rest.len(),
            }
        }
        ends
    }

    #[test]
    fn ends_do_not_depend_on_the_parts() {
        let content = text(1 << 20, 1);
        let whole = ends(&content, content.len());
        assert!((20..90).contains(&whole.len()), "{}", whole.len());
        let mut before = 0;
        for &end in &whole {
            assert!(end - before >= BYTES_MIN);
            before = end;
        }
        for part in [1, 63, 1000, 8192] {
            assert_eq!(ends(&content, part), whole, "{part}");
        }
    }

    #[test]
    fn ends_behind_a_change_are_those_of_before() {
        let content = text(2 << 20, 2);
        let middle = content.len() / 2;
        let changed = [&content[..middle], b"something new", &content[middle..]].concat();
        let (old, new) = (ends(&content, 4096), ends(&changed, 4096));
        let moved: Vec<usize> = old
            .iter()
            .map(|&end| if end > middle { end + 13 } else { end })
            .collect();
        let kept = new.iter().filter(|end| moved.contains(end)).count();
        assert!(kept + 8 >= old.len(), "{kept} of {}", old.len());
    }

    #[test]
    fn what_has_no_ends_is_left_whole() {
        assert!(ends(&[0; 1 << 20], 4096).is_empty());
    }
}
