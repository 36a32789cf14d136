//! The table of a carrier: its connections by slot, and the queue of slots that need attention.

use std::io;
use std::os::fd::OwnedFd;

use super::outbox::Outbox;

/// A connection, with the state that only one kind of carrier needs.
#[derive(Debug)]
pub(super) struct Line<T> {
    pub(super) socket: OwnedFd,
    pub(super) outbox: Outbox,
    /// Whether the kernel has no room for more bytes.
    pub(super) blocked: bool,
    pub(super) paused: bool,
    /// Whether sends produce events.
    pub(super) tells: bool,
    pub(super) ended: bool,
    /// Whether it is in the queue.
    due: bool,
    pub(super) own: T,
}

/// Connections by slot.
#[derive(Debug)]
pub(super) struct Lines<T> {
    lines: Vec<Option<Line<T>>>,
    outbox_bytes: usize,
    /// Slots that need attention before the next wait, each once.
    due: Vec<usize>,
    /// The slots that are being attended to now.
    attended: Vec<usize>,
}

impl<T> Lines<T> {
    /// A table for this many connections, with an outbox of this size each.
    pub(super) fn new(connections_max: usize, outbox_bytes: usize) -> Self {
        Self {
            lines: (0..connections_max).map(|_| None).collect(),
            outbox_bytes,
            due: Vec::new(),
            attended: Vec::new(),
        }
    }

    pub(super) fn get(&self, slot: usize) -> Option<&Line<T>> {
        self.lines.get(slot)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, slot: usize) -> Option<&mut Line<T>> {
        self.lines.get_mut(slot)?.as_mut()
    }

    /// Adds a socket in a free slot.
    pub(super) fn add(&mut self, slot: usize, socket: OwnedFd, own: T) -> io::Result<()> {
        let Some(place) = self.lines.get_mut(slot).filter(|place| place.is_none()) else {
            return Err(io::ErrorKind::AddrInUse.into());
        };
        *place = Some(Line {
            socket,
            outbox: Outbox::new(self.outbox_bytes),
            blocked: false,
            paused: false,
            tells: false,
            ended: false,
            due: false,
            own,
        });
        Ok(())
    }

    /// Frees a slot.
    pub(super) fn take(&mut self, slot: usize) -> Option<Line<T>> {
        self.lines.get_mut(slot)?.take()
    }

    /// How many bytes of a slot are queued or being sent.
    pub(super) fn queued(&self, slot: usize) -> usize {
        self.get(slot).map_or(0, |of| of.outbox.len())
    }

    /// Stops or continues receiving on a slot.
    pub(super) fn pause(&mut self, slot: usize, paused: bool) {
        if let Some(of) = self.get_mut(slot) {
            of.paused = paused;
            self.call(slot);
        }
    }

    /// From now on sends of a slot produce events.
    pub(super) fn tell_sent(&mut self, slot: usize) {
        if let Some(of) = self.get_mut(slot) {
            of.tells = true;
        }
    }

    /// Adds a slot to the queue.
    pub(super) fn call(&mut self, slot: usize) {
        if let Some(of) = self.get_mut(slot)
            && !std::mem::replace(&mut of.due, true)
        {
            self.due.push(slot);
        }
    }

    /// Whether the queue is not empty.
    pub(super) fn any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Begins to attend to the queue. Returns its length; slots added from now on wait for the next
    /// time.
    pub(super) fn attend(&mut self) -> usize {
        self.attended.clear();
        std::mem::swap(&mut self.due, &mut self.attended);
        self.attended.len()
    }

    /// One of the slots being attended to; `None` if it was freed meanwhile.
    pub(super) fn attended(&mut self, at: usize) -> Option<usize> {
        let slot = *self.attended.get(at)?;
        self.get_mut(slot)?.due = false;
        Some(slot)
    }
}
