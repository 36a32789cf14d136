//! Follows orders while logs are read in the order of time.

use fixlog::orders::{Batch, Book, Merge};

use super::watch::Watcher;
use crate::commands::fix::several::{InOrder, Piece};
use crate::commands::stop::Stop;

/// Passes messages about orders on to a book.
pub(super) struct Follower<'f, 'a> {
    book: &'f mut Book,
    watcher: &'f mut Watcher<'a>,
    /// Sees each piece once.
    seen: &'f mut dyn FnMut(&mut Piece),
}

impl<'f, 'a> Follower<'f, 'a> {
    pub(super) fn new(
        book: &'f mut Book,
        watcher: &'f mut Watcher<'a>,
        seen: &'f mut dyn FnMut(&mut Piece),
    ) -> Self {
        Self {
            book,
            watcher,
            seen,
        }
    }

    /// All logs have ended.
    pub(super) fn finish(self) -> Result<(), Stop> {
        self.book.finish(self.watcher);
        self.watcher.rest(self.book.parties());
        self.watcher.flush()
    }
}

impl InOrder for Follower<'_, '_> {
    type Part = Batch;

    fn part(&mut self, mut piece: Piece) -> Batch {
        (self.seen)(&mut piece);
        Batch::new(piece.log, std::mem::take(&mut piece.made.orders))
    }

    fn take(&mut self, merge: &mut Merge) -> Result<(), Stop> {
        self.book.take(merge, self.watcher);
        self.watcher.flush()
    }
}
