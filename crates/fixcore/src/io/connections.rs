//! The set of connections: a framer each, a handler for all, and when not to read on.

use std::io;
use std::os::fd::OwnedFd;

use super::carrier::{Carrier, Counts, Event, Received};
use super::options::{Backend, OpenError, Options, Refused, Wait};
use super::uring;
use crate::error::ErrorKind;
use crate::framer::{Frame, Framer};

/// A connection of a set. One that comes later has another, also in the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    slot: u32,
    generation: u32,
}

impl Id {
    /// Its place in the set, below [`Options::connections_max`]: for tables beside the set. A place
    /// is taken again when its connection was told to be [closed](Handler::closed).
    #[must_use]
    pub fn place(self) -> usize {
        self.slot as usize
    }
}

/// What happens on connections.
pub trait Handler {
    /// A message as far as its length and its end go; whether it is valid is a decoder's to say.
    /// There is room for an answer of [`Options::answer_bytes_max`].
    fn message(&mut self, from: Id, message: &[u8], out: &mut Out<'_>);

    /// Bytes that are no message, and what is wrong with them if they begin as one does.
    fn skipped(&mut self, from: Id, bytes: u64, why: Option<ErrorKind>) {
        let _ = (from, bytes, why);
    }

    /// A connection has ended, and its socket is closed. It is told of once.
    fn closed(&mut self, id: Id, why: Closed) {
        let _ = (id, why);
    }
}

/// Why a connection has ended.
#[derive(Debug)]
pub enum Closed {
    /// The peer ended it, and everything for it was sent.
    Peer,
    /// It was closed here.
    Here,
    /// It broke.
    Failed(io::Error),
}

/// Why bytes were not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// There is room for fewer bytes, until the peer reads.
    #[error("there is room for {room} bytes only")]
    Full {
        /// How many.
        room: usize,
    },
    /// The connection has ended, or is being closed.
    #[error("the connection is closed")]
    Closed,
}

/// Where the answers to a message go.
#[derive(Debug)]
pub struct Out<'a> {
    carrier: &'a mut dyn Carrier,
    slot: usize,
    closing: &'a mut bool,
}

impl Out<'_> {
    /// Queues bytes to be sent, all of them or none. Those of one turn are sent together.
    ///
    /// # Errors
    /// When they have no room, or the connection is being closed.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        match *self.closing {
            true => Err(SendError::Closed),
            false => queue(self.carrier, self.slot, bytes),
        }
    }

    /// Closes the connection when what was queued is sent. No further message of it is handed over.
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
    /// Whether messages wait for room for their answers.
    waits: bool,
    /// Whether no more will come.
    ended: bool,
    /// What broke it.
    error: Option<io::Error>,
    /// Whether it shall be closed when what was queued is sent.
    closing: bool,
    /// Why it was removed, when it was.
    removed: Option<Closed>,
}

/// Connections of one thread.
#[derive(Debug)]
pub struct Connections {
    carrier: Box<dyn Carrier>,
    backend: Backend,
    refused: Vec<Refused>,
    slots: Vec<Option<Slot>>,
    generations: Vec<u32>,
    free: Vec<usize>,
    message_bytes_max: usize,
    answer_bytes_max: usize,
    messages: u64,
}

impl Connections {
    /// An empty set. It stands on the best interface that the options and the system allow, which
    /// [`backend`](Self::backend) and [`refused`](Self::refused) tell.
    ///
    /// # Errors
    /// When a setting cannot be, or the system refuses what was asked for.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let opened = uring::open(options)?;
        let places = options.connections_max;
        Ok(Self {
            carrier: opened.carrier,
            backend: opened.backend,
            refused: opened.refused,
            slots: (0..places).map(|_| None).collect(),
            generations: vec![0; places],
            free: (0..places).rev().collect(),
            message_bytes_max: options.message_bytes_max,
            answer_bytes_max: options.answer_bytes_max,
            messages: 0,
        })
    }

    /// What the set stands on.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Better ones that the system refused, in the order in which they were asked for.
    #[must_use]
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// What was done so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            messages: self.messages,
            ..self.carrier.counts()
        }
    }

    /// Connections in the set, also those that are being closed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes a connected stream socket; whether it blocks is changed as needed.
    ///
    /// # Errors
    /// When the set is full ([`io::ErrorKind::QuotaExceeded`]), or the system refuses the socket.
    pub fn add(&mut self, socket: impl Into<OwnedFd>) -> io::Result<Id> {
        let Some(slot) = self.free.last().copied() else {
            return Err(io::ErrorKind::QuotaExceeded.into());
        };
        self.carrier.add(slot, socket.into())?;
        self.free.pop();
        self.slots[slot] = Some(Slot {
            framer: Framer::with_limit(self.message_bytes_max),
            waits: false,
            ended: false,
            error: None,
            closing: false,
            removed: None,
        });
        Ok(self.id(slot))
    }

    /// Queues bytes for a connection, all of them or none. They are sent in the next turn.
    ///
    /// # Errors
    /// When they have no room, or the connection has ended or is being closed.
    pub fn send(&mut self, id: Id, bytes: &[u8]) -> Result<(), SendError> {
        match self.of(id) {
            Some(of) if !of.closing => queue(&mut *self.carrier, id.place(), bytes),
            _ => Err(SendError::Closed),
        }
    }

    /// Closes a connection when what was queued for it is sent, which ends with
    /// [`Handler::closed`] in a later turn.
    pub fn close(&mut self, id: Id) {
        if let Some(of) = self.of(id) {
            of.closing = true;
            self.settle(id.place());
        }
    }

    /// Closes a connection at once; what was queued for it is lost.
    pub fn abort(&mut self, id: Id) {
        if self.of(id).is_some() {
            self.remove(id.place(), Closed::Here);
        }
    }

    /// Sends what is queued, sleeps as long as told if nothing is there, and hands the messages that
    /// came to the handler: how many. A signal ends the sleep.
    ///
    /// # Errors
    /// When the system fails. What is wrong with one connection is told to the handler.
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

    fn id(&self, slot: usize) -> Id {
        Id {
            slot: u32::try_from(slot).unwrap_or(u32::MAX),
            generation: self.generations[slot],
        }
    }

    fn slot(&mut self, slot: usize) -> Option<&mut Slot> {
        let of = self.slots.get_mut(slot)?.as_mut();
        of.filter(|of| of.removed.is_none())
    }

    fn of(&mut self, id: Id) -> Option<&mut Slot> {
        let current = self.generations.get(id.place()) == Some(&id.generation);
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

    /// Hands messages over, as long as there is room for their answers.
    fn frames(&mut self, slot: usize, handler: &mut impl Handler) {
        let id = self.id(slot);
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

    /// Closes a connection that has nothing more to do.
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
        let id = self.id(slot);
        let Some(of) = self.slots.get_mut(slot).and_then(Option::take) else {
            return;
        };
        self.generations[slot] = self.generations[slot].wrapping_add(1);
        self.free.push(slot);
        handler.closed(id, of.removed.unwrap_or(Closed::Here));
    }
}
