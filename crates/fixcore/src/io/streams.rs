//! The set of connections without framing: raw bytes in and out, for protocols that frame by themselves.

use std::io;
use std::os::fd::OwnedFd;

use super::carrier::{Carrier, Counts, Event, Received};
use super::options::{Backend, OpenError, Options, Refused, Wait};
use super::places::{Id, Places};
use super::uring;

/// Received bytes, which belong to the set until [`Streams::release`].
#[derive(Debug)]
#[must_use = "receive buffers are few: give it back with `release`"]
pub struct Lent(Received);

/// What happened to a stream.
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamEvent {
    /// Bytes arrived: [`Streams::bytes`] shows them.
    Received(Id, Lent),
    /// Queued bytes were sent, for a stream that asked by [`Streams::tell_sent`].
    Sent(Id),
    /// No more bytes will arrive: the peer has closed, or there was an error. The stream stays until
    /// [`Streams::close`].
    Ended(Id, Option<io::Error>),
    /// A stream that was closed is gone, and its place is free.
    Gone(Id),
}

/// Many byte streams on one thread, over the same interfaces as [`Connections`](super::Connections). Of the
/// options, those of messages and answers are not used.
///
/// ```
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
/// use fixcore::io::{Options, StreamEvent, Streams, Wait};
///
/// let (ours, mut theirs) = UnixStream::pair()?;
/// let mut streams = Streams::open(&Options::default())?;
/// let id = streams.add(ours)?;
/// theirs.write_all(b"ping")?;
/// streams.turn(Wait::Event)?;
/// let Some(StreamEvent::Received(from, lent)) = streams.next_event() else { unreachable!() };
/// assert_eq!((from, streams.bytes(&lent)), (id, &b"ping"[..]));
/// streams.release(lent);
/// assert_eq!(streams.send(id, b"pong"), 4);
/// streams.turn(Wait::Poll)?;
/// let mut answer = [0; 4];
/// theirs.read_exact(&mut answer)?;
/// assert_eq!(&answer, b"pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Streams {
    carrier: Box<dyn Carrier>,
    backend: Backend,
    refused: Vec<Refused>,
    places: Places,
    /// By place: whether the stream was closed and is not yet gone.
    closing: Vec<bool>,
}

impl Streams {
    /// Creates an empty set on the best interface that the options and the system allow.
    ///
    /// # Errors
    /// If an option is invalid, or the system refuses what was asked for.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let opened = uring::open(options)?;
        Ok(Self {
            carrier: opened.carrier,
            backend: opened.backend,
            refused: opened.refused,
            places: Places::new(options.connections_max),
            closing: vec![false; options.connections_max],
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

    /// The counters so far; `messages` is always 0.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.carrier.counts()
    }

    /// How many streams there are, including those being closed.
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
        if let Some(closing) = self.closing.get_mut(slot) {
            *closing = false;
        }
        Ok(self.places.take_next())
    }

    /// Queues as many of these bytes as fit and returns how many that were. They are sent in the next
    /// turn. A stream that was closed takes none.
    pub fn send(&mut self, id: Id, bytes: &[u8]) -> usize {
        if !self.is_open(id) {
            return 0;
        }
        let fit = bytes.len().min(self.carrier.room(id.place()));
        match bytes.get(..fit) {
            Some(fitting) if fit > 0 && self.carrier.queue(id.place(), fitting) => fit,
            _ => 0,
        }
    }

    /// How many bytes of a stream are queued or being sent.
    #[must_use]
    pub fn queued(&self, id: Id) -> usize {
        match self.is_open(id) {
            true => self.carrier.queued(id.place()),
            false => 0,
        }
    }

    /// From now on, sends of this stream end a wait and are reported as [`StreamEvent::Sent`].
    pub fn tell_sent(&mut self, id: Id) {
        if self.is_open(id) {
            self.carrier.tell_sent(id.place());
        }
    }

    /// Stops or continues receiving on a stream. Bytes already on their way may still arrive.
    pub fn pause(&mut self, id: Id, paused: bool) {
        if self.is_open(id) {
            self.carrier.pause(id.place(), paused);
        }
    }

    /// Says to the peer that no more bytes will come, once nothing is [queued](Self::queued). Bytes of the
    /// peer still arrive: closing a socket while there are some may destroy what was just sent.
    pub fn finish(&mut self, id: Id) {
        if self.is_open(id) {
            self.carrier.finish(id.place());
        }
    }

    /// Closes a stream at once and drops its queued bytes. [`StreamEvent::Gone`] follows.
    pub fn close(&mut self, id: Id) {
        if self.is_open(id) {
            self.carrier.remove(id.place());
            if let Some(closing) = self.closing.get_mut(id.place()) {
                *closing = true;
            }
        }
    }

    /// Sends queued bytes now, not in the next turn. With `io_uring` that is a call more, which a thread that
    /// sleeps does better without.
    ///
    /// # Errors
    /// If the system fails. Errors of a single stream are events.
    pub fn flush(&mut self) -> io::Result<()> {
        self.carrier.flush()
    }

    /// Sends queued bytes, then waits for events. A signal ends the wait.
    ///
    /// # Errors
    /// If the system fails. Errors of a single stream are events.
    pub fn turn(&mut self, wait: Wait) -> io::Result<()> {
        self.carrier.turn(wait)
    }

    /// The next event, without waiting.
    pub fn next_event(&mut self) -> Option<StreamEvent> {
        loop {
            match self.carrier.next()? {
                Event::Received { slot, bytes } if self.is_closing(slot) => {
                    self.carrier.release(bytes);
                }
                Event::Received { slot, bytes } => {
                    return Some(StreamEvent::Received(self.places.id(slot), Lent(bytes)));
                }
                Event::Sent { slot } if !self.is_closing(slot) => {
                    return Some(StreamEvent::Sent(self.places.id(slot)));
                }
                Event::Ended { slot, error } if !self.is_closing(slot) => {
                    return Some(StreamEvent::Ended(self.places.id(slot), error));
                }
                Event::Gone { slot } => {
                    let id = self.places.id(slot);
                    self.places.release(slot);
                    return Some(StreamEvent::Gone(id));
                }
                Event::Sent { .. } | Event::Ended { .. } => {}
            }
        }
    }

    /// Bytes that were received. With `epoll` they are there until the next event is taken.
    #[must_use]
    pub fn bytes(&self, lent: &Lent) -> &[u8] {
        self.carrier.bytes(&lent.0)
    }

    /// Gives the buffer of received bytes back.
    pub fn release(&mut self, lent: Lent) {
        self.carrier.release(lent.0);
    }

    fn is_closing(&self, slot: usize) -> bool {
        self.closing.get(slot).copied().unwrap_or(true)
    }

    fn is_open(&self, id: Id) -> bool {
        self.places.is_current(id) && !self.is_closing(id.place())
    }
}
