//! What pieces of a content say before a level that searches deep is spent on all of it.

/// Bytes of a piece. A shorter one does not show what a deep search finds.
const PIECE: usize = 16 << 10;
/// A sample has a piece for each [`SAMPLED`] times [`PIECE`] bytes of the content, and [`PIECES_MAX`] at most. A single
/// piece may be unlike the rest.
const SAMPLED: usize = 8;
const PIECES_MIN: usize = 2;
const PIECES_MAX: usize = 3;
/// A deep search pays off where it makes a sample smaller by more than one part in this many, and surely where by more
/// than one part in the second one.
const GAIN: usize = 1024;
const SURE_GAIN: usize = 256;

/// What a sample says of a level that searches deep, compared with [`LOWER`](super::LOWER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deep {
    /// It is no smaller.
    Loses,
    /// It is smaller.
    Wins,
    /// There is no sample, or it hardly differs: the smaller one of both is taken.
    Either,
}

impl Deep {
    /// Of the bytes that both make of a sample.
    pub(crate) fn of(deep: usize, lower: usize) -> Self {
        match lower {
            _ if deep >= lower - lower / GAIN => Self::Loses,
            _ if deep < lower - lower / SURE_GAIN => Self::Wins,
            _ => Self::Either,
        }
    }
}

/// Pieces from the middles of equal parts of a content; none of one that is small.
pub(crate) fn pieces(content: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let count = (content.len() / SAMPLED / PIECE).min(PIECES_MAX);
    let count = if count < PIECES_MIN { 0 } else { count };
    let parts = content.chunks_exact(content.len() / count.max(1) + usize::from(count == 0));
    parts.map(|part| {
        let from = (part.len() - PIECE) / 2;
        part.get(from..from + PIECE).unwrap_or(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_within_the_content() {
        for bytes in [0, 1, PIECE, 2 * SAMPLED * PIECE - 1] {
            assert_eq!(pieces(&vec![0; bytes]).count(), 0, "{bytes}");
        }
        for (bytes, count) in [(16, 2), (17, 2), (24, 3), (64, 3), (640, 3)] {
            for more in [0, 1, 2] {
                let content = vec![0; bytes * PIECE + more];
                assert_eq!(pieces(&content).count(), count, "{bytes}");
                assert!(pieces(&content).all(|piece| piece.len() == PIECE));
            }
        }
    }

    #[test]
    fn a_deep_search_wins_or_loses_by_its_gain() {
        for (deep, is) in [
            (10_240, Deep::Loses),
            (10_230, Deep::Loses),
            (10_229, Deep::Either),
        ] {
            assert_eq!(Deep::of(deep, 10_240), is);
        }
        assert_eq!(Deep::of(10_199, 10_240), Deep::Wins);
        assert_eq!(Deep::of(0, 0), Deep::Loses);
    }
}
