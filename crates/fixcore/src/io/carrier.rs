//! What a set of connections asks of the system interface under it, and what that answers.
//!
//! The carriers know sockets by their slot, and no message.

use std::io;
use std::os::fd::OwnedFd;

use super::options::Wait;

/// What a set of connections did so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// System calls, all of them: also those that set up.
    pub syscalls: u64,
    /// Messages that were handed to the handler.
    pub messages: u64,
    /// Times that received bytes were taken.
    pub receives: u64,
    /// Sends that were handed to the kernel.
    pub sends: u64,
    /// Sends that took a part only.
    pub sends_short: u64,
    /// Sends that would have blocked, and wait for room in the kernel.
    pub sends_blocked: u64,
    /// Receives that ended because no provided buffer was left (`io_uring`).
    pub starved: u64,
    /// Receives that were armed again (`io_uring`).
    pub rearmed: u64,
    /// Times that completions overflowed their queue (`io_uring`).
    pub overflows: u64,
    /// Times that a connection was not read from, for its answers were not.
    pub paused: u64,
}

/// What happened to a slot.
#[derive(Debug)]
pub(super) enum Event {
    /// Bytes came. They are the carrier's until [`Carrier::release`].
    Received { slot: usize, bytes: Received },
    /// Some of what was queued is sent, of a slot that was asked to tell.
    Sent { slot: usize },
    /// No more will come: the peer has ended, or what is wrong.
    Ended {
        slot: usize,
        error: Option<io::Error>,
    },
    /// A slot that was removed is free: the kernel has let go of all of it.
    Gone { slot: usize },
}

/// Where received bytes are.
#[derive(Debug)]
pub(super) enum Received {
    /// In a buffer that the ring provided.
    Lent(super::uring::Lent),
    /// So many, in the one buffer of the carrier.
    Here(usize),
}

/// A system interface that carries bytes.
pub(super) trait Carrier: std::fmt::Debug {
    /// Takes a socket into a free slot.
    fn add(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()>;

    /// Ends a slot at once: what is queued is dropped. [`Event::Gone`] follows.
    fn remove(&mut self, slot: usize);

    /// Bytes that [`queue`](Self::queue) would take.
    fn room(&self, slot: usize) -> usize;

    /// Bytes that are queued or on their way into the kernel.
    fn queued(&self, slot: usize) -> usize;

    /// Queues all of these bytes to be sent, or none of them: whether there was room.
    fn queue(&mut self, slot: usize, bytes: &[u8]) -> bool;

    /// Whether to stop receiving. Some that is on its way may come all the same.
    fn pause(&mut self, slot: usize, paused: bool);

    /// From now on a send of this slot ends a wait, and is told of.
    fn tell_sent(&mut self, slot: usize);

    /// Hands what is queued to the kernel, then waits for events. A signal ends the wait.
    fn turn(&mut self, wait: Wait) -> io::Result<()>;

    /// What happened, one by one, without waiting.
    fn next(&mut self) -> Option<Event>;

    /// Bytes that were received.
    fn bytes(&self, received: &Received) -> &[u8];

    /// Gives the room of received bytes back.
    fn release(&mut self, received: Received);

    /// What was done so far.
    fn counts(&self) -> Counts;
}
