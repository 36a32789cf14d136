//! The first messages that are wanted, and messages around them.

use std::collections::VecDeque;

use crate::{Made, Piece};

/// Passes on what a [`Worker`](crate::Worker) with [`Task::pieces`](crate::Task::pieces) made, as far as it
/// is wanted: at most so many messages, each with some messages of the log before and behind it. Faults are
/// passed on where they stand.
///
/// It holds the pieces before a message that may still come: memory does not grow with the log.
#[derive(Debug)]
pub struct Selection {
    limit: Option<u64>,
    context: usize,
    before: VecDeque<Vec<u8>>,
    /// How many messages behind the last one are still wanted.
    behind: usize,
    wanted: u64,
}

impl Selection {
    /// At most `limit` messages, with `context` messages before and behind each.
    #[must_use]
    pub fn new(limit: Option<u64>, context: usize) -> Self {
        Self {
            limit,
            context,
            before: VecDeque::new(),
            behind: 0,
            wanted: 0,
        }
    }

    /// How many messages that are wanted were passed on.
    #[must_use]
    pub fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Appends what of the next block is wanted; whether that was all that is.
    pub fn take(&mut self, made: &Made, out: &mut Vec<u8>) -> bool {
        if self.is_enough() {
            return true;
        }
        (0..made.pieces.len()).any(|at| {
            let (piece, text) = made.piece(at);
            self.piece(piece, text, out)
        })
    }

    /// Appends what is wanted once the next piece has come; whether that was all that is.
    pub fn piece(&mut self, piece: Piece, text: &[u8], out: &mut Vec<u8>) -> bool {
        match piece {
            Piece::Fault => out.extend_from_slice(text),
            Piece::Wanted if Some(self.wanted) == self.limit => return true,
            Piece::Wanted => {
                for before in &self.before {
                    out.extend_from_slice(before);
                }
                self.before.clear();
                out.extend_from_slice(text);
                self.wanted += 1;
                self.behind = self.context;
            }
            Piece::Other if self.behind > 0 => {
                out.extend_from_slice(text);
                self.behind -= 1;
            }
            Piece::Other => {
                let mut kept = match self.before.len() < self.context {
                    true => Vec::new(),
                    false => self.before.pop_front().unwrap_or_default(),
                };
                kept.clear();
                if self.context > 0 {
                    kept.extend_from_slice(text);
                    self.before.push_back(kept);
                }
            }
        }
        self.is_enough()
    }

    fn is_enough(&self) -> bool {
        Some(self.wanted) == self.limit && self.behind == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers that are passed on of messages of which every one in `wanted` is, by the plain rule.
    fn plain(all: usize, wanted: &[usize], limit: u64, context: usize) -> Vec<usize> {
        let wanted: Vec<_> = wanted.iter().copied().take(limit as usize).collect();
        let near = |at: &usize| wanted.iter().any(|one| one.abs_diff(*at) <= context);
        (0..all).filter(near).collect()
    }

    #[test]
    fn any_cut_into_blocks_passes_on_what_is_near_the_first_wanted_messages() {
        let mut random = 7_u64;
        let mut below = move |most: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % most) as usize
        };
        for round in 0..3000 {
            let (all, context) = (below(30), below(4));
            let wanted: Vec<_> = (0..all).filter(|_| below(4) == 0).collect();
            let limit = 1 + below(6) as u64;
            // Behind the last one, a wanted message that is not taken ends it.
            let taken: Vec<_> = wanted.iter().copied().take(limit as usize).collect();
            let next = wanted.get(taken.len()).copied().unwrap_or(all);
            let mut expected = plain(all, &wanted, limit, context);
            expected.retain(|at| *at < next || taken.last().is_none_or(|last| at <= last));
            let (mut selection, mut out) = (Selection::new(Some(limit), context), Vec::new());
            let (mut made, mut done) = (Made::default(), false);
            for at in 0..all {
                made.out.push(at as u8);
                let piece = match wanted.contains(&at) {
                    true => Piece::Wanted,
                    false => Piece::Other,
                };
                made.pieces.push((made.out.len(), piece));
                if below(3) == 0 {
                    done = done || selection.take(&made, &mut out);
                    (made.out, made.pieces) = Default::default();
                }
            }
            if !done {
                selection.take(&made, &mut out);
            }
            let found: Vec<_> = out.iter().map(|at| usize::from(*at)).collect();
            assert_eq!(
                found, expected,
                "round {round}: {wanted:?} {limit} {context}"
            );
            assert_eq!(selection.wanted(), taken.len() as u64, "round {round}");
        }
    }
}
