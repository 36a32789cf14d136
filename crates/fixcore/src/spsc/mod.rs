//! A queue of messages from one thread to another: bounded, without locks, in order.
//!
//! A message is copied into a ring of bytes after a descriptor of 16 bytes, and read in place.
//! Both sides can handle many messages for each access to the other's cache line. Neither side sleeps
//! unless the queue was made with [`Wait::Park`]. [`many`] gives several threads a side to write to.

mod many;
mod queue;
mod ring;
mod sleep;

pub use many::{ManyConsumer, many};
pub use queue::{BUFFER_BYTES_MAX, Consumer, Producer, Refused, Wait, queue};
