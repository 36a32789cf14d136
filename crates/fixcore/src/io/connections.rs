//! The set of connections: a framer for each, one handler for all, and back-pressure.

use std::io;
use std::os::fd::OwnedFd;

use super::carrier::{Carrier, Counts, Event, Received};
use super::options::{Backend, OpenError, Options, Refused, Wait};
use super::places::{Id, Places};
use super::uring;
use crate::error::ErrorKind;
use crate::framer::{Frame, Framer};

/// Handles what happens on connections.
pub trait Handler {
    /// A message by its length and its end; a [`Decoder`](crate::Decoder) says whether it is valid.
    /// There is room for an answer of [`Options::answer_bytes_max`].
    fn message(&mut self, from: Id, message: &[u8], out: &mut Out<'_>);

    /// Bytes that are not a message, and what is wrong with them if they begin like one.
    fn skipped(&mut self, from: Id, bytes: u64, why: Option<ErrorKind>) {
        let _ = (from, bytes, why);
    }

    /// A connection has ended and its socket is closed. Called once for each connection.
    fn closed(&mut self, id: Id, why: Closed) {
        let _ = (id, why);
    }
}

/// Why a connection ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Closed {
    /// The peer closed it, and everything queued was sent.
    Peer,
    /// This side closed it.
    Here,
    /// An error ended it.
    Failed(io::Error),
}

/// Why bytes were not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// There is not enough room until the peer reads.
    #[error("only {room} bytes fit until the peer reads")]
    Full {
        /// How many bytes fit.
        room: usize,
    },
    /// The connection has ended, or is being closed.
    #[error("connection closed")]
    Closed,
}

/// Sends answers to a message.
#[derive(Debug)]
pub struct Out<'a> {
    carrier: &'a mut dyn Carrier,
    slot: usize,
    closing: &'a mut bool,
}

impl Out<'_> {
    /// Queues all of these bytes or none. Bytes queued in one turn are sent together.
    ///
    /// # Errors
    /// If there is no room, or the connection is being closed.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        match *self.closing {
            true => Err(SendError::Closed),
            false => queue(self.carrier, self.slot, bytes),
        }
    }

    /// Closes the connection after queued bytes are sent. The handler gets no further message of it.
    pub fn close(&mut self) {
        *self.closing = true;
    }
}

fn queue(carrier: &mut dyn Carrier, slot: usize, bytes: &[u8]) -> Result<(), SendError> {
    match carrier.queue(slot, bytes) {
        true => Ok(()),
        false => Err(SendError::Full {
            room: carrier.room(slot),
        }),
    }
}

#[derive(Debug)]
struct Slot {
    framer: Framer,
    /// Whether received messages wait for room for their answers.
    waits: bool,
    /// Whether no more bytes will arrive.
    ended: bool,
    /// The error that ended it.
    error: Option<io::Error>,
    /// Whether to close it after queued bytes are sent.
    closing: bool,
    /// Why it was removed, if it was.
    removed: Option<Closed>,
}

/// Many connections on one thread.
#[doc(alias = "event loop")]
#[doc(alias = "reactor")]
#[derive(Debug)]
pub struct Connections {
    carrier: Box<dyn Carrier>,
    backend: Backend,
    refused: Vec<Refused>,
    slots: Vec<Option<Slot>>,
    places: Places,
    message_bytes_max: usize,
    answer_bytes_max: usize,
    messages: u64,
}

impl Connections {
    /// Creates an empty set on the best interface that the options and the system allow. See
    /// [`backend`](Self::backend) and [`refused`](Self::refused) for which one that is, and why.
    ///
    /// # Errors
    /// If an option is invalid, or the system refuses what was asked for.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let opened = uring::open(options)?;
        let places = options.connections_max;
        Ok(Self {
            carrier: opened.carrier,
            backend: opened.backend,
            refused: opened.refused,
            slots: (0..places).map(|_| None).collect(),
            places: Places::new(places),
            message_bytes_max: options.message_bytes_max,
            answer_bytes_max: options.answer_bytes_max,
            messages: 0,
        })
    }

    /// The interface in use.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Better interfaces that the system refused, in the order in which they were tried.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// Whether long answers are sent from memory that is registered with the kernel: if
    /// [`Options::registered`] asked for that, and the process may lock as much.
    #[must_use]
    pub fn is_registered(&self) -> bool {
        self.carrier.is_registered()
    }

    /// The counters so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            messages: self.messages,
            ..self.carrier.counts()
        }
    }

    /// How many connections there are, including those being closed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a connected stream socket, and changes whether it blocks as needed.
    ///
    /// # Errors
    /// If the set is full ([`io::ErrorKind::QuotaExceeded`]) or the system refuses the socket.
    pub fn add(&mut self, socket: impl Into<OwnedFd>) -> io::Result<Id> {
        let Some(slot) = self.places.next_free() else {
            return Err(io::ErrorKind::QuotaExceeded.into());
        };
        self.carrier.add(slot, socket.into())?;
        let id = self.places.take_next();
        self.slots[slot] = Some(Slot {
            framer: Framer::with_limit(self.message_bytes_max),
            waits: false,
            ended: false,
            error: None,
            closing: false,
            removed: None,
        });
        Ok(id)
    }

    /// Queues all of these bytes for a connection, or none. They are sent in the next turn.
    ///
    /// # Errors
    /// If there is no room, or the connection has ended or is being closed.
    pub fn send(&mut self, id: Id, bytes: &[u8]) -> Result<(), SendError> {
        match self.of(id) {
            Some(of) if !of.closing => queue(&mut *self.carrier, id.place(), bytes),
            _ => Err(SendError::Closed),
        }
    }

    /// Closes a connection after its queued bytes are sent. [`Handler::closed`] follows in a later turn.
    pub fn close(&mut self, id: Id) {
        if let Some(of) = self.of(id) {
            of.closing = true;
            self.settle(id.place());
        }
    }

    /// Closes a connection at once and drops its queued bytes.
    pub fn abort(&mut self, id: Id) {
        if self.of(id).is_some() {
            self.remove(id.place(), Closed::Here);
        }
    }

    /// Sends queued bytes, waits if nothing has happened, and passes received messages to the handler.
    /// Returns how many messages there were. A signal ends the wait.
    ///
    /// # Errors
    /// If the system fails. Errors of a single connection go to the handler.
    pub fn turn(&mut self, wait: Wait, handler: &mut impl Handler) -> io::Result<u64> {
        let before = self.messages;
        self.carrier.turn(wait)?;
        while let Some(event) = self.carrier.next() {
            match event {
                Event::Received { slot, bytes } => self.received(slot, bytes, handler),
                Event::Sent { slot } => match self.slot(slot) {
                    Some(of) if of.waits => self.frames(slot, handler),
                    _ => self.settle(slot),
                },
                Event::Ended { slot, error } => self.ended(slot, error, handler),
                Event::Gone { slot } => self.gone(slot, handler),
            }
        }
        Ok(self.messages - before)
    }

    fn slot(&mut self, slot: usize) -> Option<&mut Slot> {
        let of = self.slots.get_mut(slot)?.as_mut();
        of.filter(|of| of.removed.is_none())
    }

    fn of(&mut self, id: Id) -> Option<&mut Slot> {
        let current = self.places.is_current(id);
        self.slot(id.place()).filter(|_| current)
    }

    fn received(&mut self, slot: usize, bytes: Received, handler: &mut impl Handler) {
        if let Some(Some(of)) = self.slots.get_mut(slot) {
            of.framer.push(self.carrier.bytes(&bytes));
        }
        self.carrier.release(bytes);
        if self.slot(slot).is_some_and(|of| !of.waits) {
            self.frames(slot, handler);
        }
    }

    /// Passes messages to the handler while there is room for their answers.
    fn frames(&mut self, slot: usize, handler: &mut impl Handler) {
        let id = self.places.id(slot);
        let Some(Some(of)) = self.slots.get_mut(slot) else {
            return;
        };
        let mut waits = false;
        while !of.closing {
            if self.carrier.room(slot) < self.answer_bytes_max {
                waits = true;
                break;
            }
            match of.framer.next_frame() {
                None => break,
                Some(Frame::Message { bytes, .. }) => {
                    self.messages += 1;
                    let mut out = Out {
                        carrier: &mut *self.carrier,
                        slot,
                        closing: &mut of.closing,
                    };
                    handler.message(id, bytes, &mut out);
                }
                Some(Frame::Skipped { bytes, why, .. }) => handler.skipped(id, bytes, why),
            }
        }
        if waits != of.waits {
            of.waits = waits;
            self.carrier.pause(slot, waits);
        }
        self.settle(slot);
    }

    fn ended(&mut self, slot: usize, error: Option<io::Error>, handler: &mut impl Handler) {
        let Some(of) = self.slot(slot) else {
            return;
        };
        of.ended = true;
        of.error = of.error.take().or(error);
        of.framer.end();
        if of.waits {
            self.settle(slot);
        } else {
            self.frames(slot, handler);
        }
    }

    /// Closes a connection that has nothing left to do.
    fn settle(&mut self, slot: usize) {
        let all_sent = self.carrier.queued(slot) == 0;
        let Some(of) = self.slot(slot) else {
            return;
        };
        if let Some(error) = of.error.take() {
            self.remove(slot, Closed::Failed(error));
        } else if all_sent && of.closing {
            self.remove(slot, Closed::Here);
        } else if all_sent && of.ended && !of.waits {
            self.remove(slot, Closed::Peer);
        } else if of.closing || of.ended || of.waits {
            self.carrier.tell_sent(slot);
        }
    }

    fn remove(&mut self, slot: usize, why: Closed) {
        if let Some(of) = self.slot(slot) {
            of.removed = Some(why);
            self.carrier.remove(slot);
        }
    }

    fn gone(&mut self, slot: usize, handler: &mut impl Handler) {
        let id = self.places.id(slot);
        let Some(of) = self.slots.get_mut(slot).and_then(Option::take) else {
            return;
        };
        self.places.release(slot);
        handler.closed(id, of.removed.unwrap_or(Closed::Here));
    }
}
