//! A run: threads on which logical workers take turns, watched by the calling thread.
//!
//! [`run`] starts and watches threads, [`shared`] is what they share, [`thread`] is the loop of one thread,
//! [`producer`] and [`consumer`] are the workers, [`desk`] is what those of a thread share, [`notifier`] wakes sleeping threads, [`conclude`] makes the
//! finding.

mod conclude;
mod consumer;
mod desk;
mod notifier;
mod producer;
mod run;
mod shared;
mod thread;

pub use self::run::run;
