//! The table of a carrier: its connections by slot, and those in line to be attended to.

use std::io;
use std::os::fd::OwnedFd;

use super::outbox::Outbox;

/// A connection as both carriers know it, with what only one of them knows.
#[derive(Debug)]
pub(super) struct Line<T> {
    pub(super) socket: OwnedFd,
    pub(super) outbox: Outbox,
    /// Whether the kernel has no room for more.
    pub(super) blocked: bool,
    pub(super) paused: bool,
    /// Whether to tell what was sent.
    pub(super) tells: bool,
    pub(super) ended: bool,
    /// Whether it is in line to be attended to.
    due: bool,
    pub(super) own: T,
}

/// Connections by their slot.
#[derive(Debug)]
pub(super) struct Lines<T> {
    lines: Vec<Option<Line<T>>>,
    outbox_bytes: usize,
    /// Slots to attend to before the next wait, each once.
    due: Vec<usize>,
    /// The same while they are attended to.
    attended: Vec<usize>,
}

impl<T> Lines<T> {
    /// Room for so many, each with so much to be sent.
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

    /// Takes a socket into a slot, which has to be free.
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

    /// Bytes of a slot that are queued or on their way into the kernel.
    pub(super) fn queued(&self, slot: usize) -> usize {
        self.get(slot).map_or(0, |of| of.outbox.len())
    }

    /// Whether to stop receiving on a slot.
    pub(super) fn pause(&mut self, slot: usize, paused: bool) {
        if let Some(of) = self.get_mut(slot) {
            of.paused = paused;
            self.call(slot);
        }
    }

    /// Sends of a slot are told of from now on.
    pub(super) fn tell_sent(&mut self, slot: usize) {
        if let Some(of) = self.get_mut(slot) {
            of.tells = true;
        }
    }

    /// Puts a slot in line to be attended to.
    pub(super) fn call(&mut self, slot: usize) {
        if let Some(of) = self.get_mut(slot)
            && !std::mem::replace(&mut of.due, true)
        {
            self.due.push(slot);
        }
    }

    /// Whether any is in line.
    pub(super) fn any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Begins to attend to those in line: how many there are. Who is called from now on is next time's.
    pub(super) fn attend(&mut self) -> usize {
        self.attended.clear();
        std::mem::swap(&mut self.due, &mut self.attended);
        self.attended.len()
    }

    /// One of them, no longer in line; `None`: it was freed meanwhile.
    pub(super) fn attended(&mut self, at: usize) -> Option<usize> {
        let slot = *self.attended.get(at)?;
        self.get_mut(slot)?.due = false;
        Some(slot)
    }
}
