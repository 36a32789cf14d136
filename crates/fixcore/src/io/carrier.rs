//! The interface between a set of connections and the system interface under it.
//!
//! Carriers know sockets by their slot. They know nothing of messages.

use std::io;
use std::os::fd::OwnedFd;

use super::options::Wait;

/// Counters of a set of connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// All system calls, including setup.
    pub syscalls: u64,
    /// Messages passed to the handler.
    pub messages: u64,
    /// How often received bytes were taken.
    pub receives: u64,
    /// Sends passed to the kernel.
    pub sends: u64,
    /// Sends of which the kernel took only a part.
    pub sends_short: u64,
    /// Sends that would have blocked and wait for room in the kernel.
    pub sends_blocked: u64,
    /// Receives that ended because no provided buffer was free (`io_uring`).
    pub starved: u64,
    /// Receives that were armed, also for the first time (`io_uring`).
    pub rearmed: u64,
    /// How often completions overflowed their queue (`io_uring`).
    pub overflows: u64,
    /// How often reading from a connection was paused because its peer did not read its answers.
    pub paused: u64,
}

/// What happened to a slot.
#[derive(Debug)]
pub(super) enum Event {
    /// Bytes arrived. They belong to the carrier until [`Carrier::release`].
    Received { slot: usize, bytes: Received },
    /// Some queued bytes were sent, for a slot that asked for this event.
    Sent { slot: usize },
    /// No more bytes will come: the peer has closed, or there was an error.
    Ended {
        slot: usize,
        error: Option<io::Error>,
    },
    /// A removed slot is free: the kernel no longer uses any of it.
    Gone { slot: usize },
}

/// Where received bytes are.
#[derive(Debug)]
pub(super) enum Received {
    /// In a buffer that the ring provided.
    Lent(super::uring::Lent),
    /// This many, in the carrier's only buffer.
    Here(usize),
}

/// A system interface that carries bytes.
pub(super) trait Carrier: std::fmt::Debug {
    /// Adds a socket in a free slot.
    fn add(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()>;

    /// Ends a slot at once and drops its queued bytes. [`Event::Gone`] follows.
    fn remove(&mut self, slot: usize);

    /// Says to the peer that no more bytes will come; for a slot with nothing queued. It still receives.
    fn finish(&mut self, slot: usize);

    /// How many bytes [`queue`](Self::queue) would accept.
    fn room(&self, slot: usize) -> usize;

    /// How many bytes are queued or being sent.
    fn queued(&self, slot: usize) -> usize;

    /// Queues all of these bytes or, if there is no room, none. Returns whether there was room.
    fn queue(&mut self, slot: usize, bytes: &[u8]) -> bool;

    /// Stops or continues receiving. Bytes already on their way may still arrive.
    fn pause(&mut self, slot: usize, paused: bool);

    /// From now on a send of this slot ends a wait and produces [`Event::Sent`].
    fn tell_sent(&mut self, slot: usize);

    /// Whether it sends from memory that is registered with the kernel.
    fn is_registered(&self) -> bool {
        false
    }

    /// Passes queued bytes to the kernel without waiting.
    fn flush(&mut self) -> io::Result<()>;

    /// Passes queued bytes to the kernel, then waits for events. A signal ends the wait.
    fn turn(&mut self, wait: Wait) -> io::Result<()>;

    /// The next event, without waiting.
    fn next(&mut self) -> Option<Event>;

    /// Bytes that were received.
    fn bytes(&self, received: &Received) -> &[u8];

    /// Gives the buffer of received bytes back.
    fn release(&mut self, received: Received);

    /// The counters so far.
    fn counts(&self) -> Counts;
}
