//! Stores of objects: contents that have a name and nothing else, no directories, links, modes and times.

use std::io::{self, Write};

/// A store that contents go to: see [`Destination::Objects`](super::Destination::Objects). Several threads may start
/// objects at once.
pub trait Objects: Sync {
    /// Starts the object at a path, whose parts have `/` between them and lead down. `None`: there is one that is kept.
    ///
    /// # Errors
    /// What the store says; the entry has failed.
    fn start(&self, path: &str) -> io::Result<Option<Box<dyn NewObject + '_>>>;
}

/// An object in the making. Dropped before it is finished, it leaves nothing.
pub trait NewObject: Write {
    /// Makes it appear, now that its content is complete and verified.
    ///
    /// # Errors
    /// What the store says. [`AlreadyExists`](io::ErrorKind::AlreadyExists): another one has appeared meanwhile, and is
    /// kept.
    fn finish(self: Box<Self>) -> io::Result<()>;
}
