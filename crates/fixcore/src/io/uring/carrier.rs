//! `io_uring` as a carrier: which requests to submit, and what their completions mean.
//!
//! Each connection has one multishot receive (single receives if the kernel has no multishot) into
//! shared buffers, and at most one send in flight. The sends of a turn are submitted together, in the
//! same call that waits. They are tried without blocking, so their completions are there when the wait
//! begins: it waits for those and one more. A send that would block is submitted again as a blocking
//! one.
//!
//! The memory and the calls are in `ring.rs`, the fallback to `epoll` in `open.rs`.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::Shutdown;

use super::ring::{Completion, Lent, Ring, Send};
use crate::io::carrier::{Carrier, Counts, Event, Received};
use crate::io::lines::Lines;
use crate::io::options::{Options, Receives, Wait};

/// Operations, in the upper half of `user_data`; the slot is in the lower one.
const RECEIVE: u64 = 1 << 32;
const SEND: u64 = 2 << 32;
const CANCEL: u64 = 3 << 32;
/// From this size on a send from registered memory costs less than a copy.
const REGISTERED_BYTES_MIN: usize = 2048;

/// The state of a connection that only `io_uring` needs.
#[derive(Debug, Default)]
struct Own {
    /// How many bytes the send in flight has; 0 if none is in flight.
    sending: usize,
    /// Whether the socket cannot send from registered memory.
    copies: bool,
    /// How many completed sends the kernel may still read from.
    held: u32,
    receiving: bool,
    /// Whether that is a single receive.
    single: bool,
    /// Whether the receive has been asked to end.
    cancelling: bool,
    removed: bool,
}

impl Own {
    fn is_idle(&self) -> bool {
        !self.receiving && !self.cancelling && self.sending == 0 && self.held == 0
    }
}

/// Connections on a ring.
#[derive(Debug)]
pub(super) struct Uring {
    /// Dropped first: it ends requests in flight.
    ring: Ring,
    lines: Lines<Own>,
    /// Events that did not come from the kernel.
    own: VecDeque<Event>,
    /// How many completions this turn may still take.
    left: usize,
    /// How many sends will have completed once they are submitted.
    at_once: usize,
    receives: Receives,
    counts: Counts,
}

impl Uring {
    pub(super) fn new(ring: Ring, options: &Options) -> Self {
        Self {
            lines: Lines::new(options.connections_max, ring.outbox_bytes()),
            ring,
            own: VecDeque::new(),
            left: 0,
            at_once: 0,
            receives: options.receives,
            counts: Counts::default(),
        }
    }

    /// Submits what the queued slots need. Slots for which the ring has no room stay queued.
    fn attend(&mut self) -> io::Result<()> {
        let mut done = Ok(());
        for at in 0..self.lines.attend() {
            let Some(slot) = self.lines.attended(at) else {
                continue;
            };
            match self.requests(slot) {
                Ok(()) => {}
                Err(error) => {
                    self.lines.call(slot);
                    if error.kind() != io::ErrorKind::WouldBlock {
                        done = Err(error);
                    }
                }
            }
        }
        done
    }

    /// Submits what one slot needs.
    fn requests(&mut self, slot: usize) -> io::Result<()> {
        let Self { ring, lines, .. } = self;
        let Some(of) = lines.get_mut(slot) else {
            return Ok(());
        };
        if of.own.removed {
            return Ok(());
        }
        let socket = of.socket.as_fd();
        let word = slot as u64;
        if !of.paused && !of.ended && !of.own.receiving {
            ring.receive(socket, self.receives, RECEIVE | word)?;
            of.own.receiving = true;
            of.own.single = self.receives == Receives::Single;
            self.counts.rearmed += 1;
        } else if of.paused && of.own.receiving && !of.own.cancelling {
            ring.cancel(RECEIVE | word, CANCEL | word)?;
            of.own.cancelling = true;
        }
        let bytes = of.outbox.len();
        if of.own.sending == 0 && bytes > 0 {
            let how = match of.blocked {
                true => Send::Blocking,
                false if bytes < REGISTERED_BYTES_MIN || of.own.copies => Send::Now,
                false if ring.is_registered() => Send::Registered,
                false => Send::Now,
            };
            ring.send(socket, (slot, of.outbox.start(), bytes), how, SEND | word)?;
            of.own.sending = bytes;
            self.counts.sends += 1;
            self.at_once += usize::from(how == Send::Now && !of.tells);
        }
        Ok(())
    }

    /// Handles the completion of a slot's request.
    fn completed(&mut self, completion: Completion) -> Option<Event> {
        let slot = (completion.user_data & u64::from(u32::MAX)) as usize;
        let event = match completion.user_data & !u64::from(u32::MAX) {
            RECEIVE => self.received(slot, completion),
            SEND => self.sent(slot, &completion),
            _ => {
                if let Some(of) = self.lines.get_mut(slot) {
                    of.own.cancelling = false;
                }
                None
            }
        };
        let free = self
            .lines
            .get(slot)
            .is_some_and(|of| of.own.removed && of.own.is_idle());
        if !free {
            return event;
        }
        if let Some(Event::Received { bytes, .. }) = event {
            self.release(bytes);
        }
        self.lines.take(slot);
        Some(Event::Gone { slot })
    }

    fn received(&mut self, slot: usize, completion: Completion) -> Option<Event> {
        let Some(of) = self.lines.get_mut(slot) else {
            return self.drop_lent(completion.lent);
        };
        if !completion.more {
            of.own.receiving = false;
        }
        let again = !of.own.receiving && !of.own.removed && !of.paused;
        if completion.result > 0
            && !of.own.removed
            && let Some(lent) = completion.lent
        {
            if again {
                self.lines.call(slot);
            }
            self.counts.receives += 1;
            let bytes = Received::Lent(lent);
            return Some(Event::Received { slot, bytes });
        }
        let (removed, single, result) = (of.own.removed, of.own.single, completion.result);
        self.drop_lent(completion.lent);
        if removed || result > 0 {
            return None;
        }
        if result == 0 {
            return self.ended(slot, None);
        }
        match Errno::from_raw_os_error(-result) {
            Errno::NOBUFS => self.counts.starved += 1,
            // A kernel before 6.0 has no multishot, so single receives are used from now on. Each
            // connection that asked before this was known gets this error.
            Errno::INVAL if !single => self.receives = Receives::Single,
            Errno::CANCELED | Errno::INTR | Errno::AGAIN => {}
            error => return self.ended(slot, Some(error.into())),
        }
        self.lines.call(slot);
        None
    }

    fn sent(&mut self, slot: usize, completion: &Completion) -> Option<Event> {
        let of = self.lines.get_mut(slot)?;
        if completion.notification {
            of.own.held = of.own.held.saturating_sub(1);
            of.outbox.let_go();
            let told = of.tells && !of.own.removed;
            return told.then_some(Event::Sent { slot });
        }
        let asked = std::mem::take(&mut of.own.sending);
        if completion.more {
            of.own.held += 1;
            of.outbox.hold();
        }
        let Ok(bytes) = usize::try_from(completion.result) else {
            return self.unsent(slot, Errno::from_raw_os_error(-completion.result));
        };
        of.blocked = bytes < asked;
        of.outbox.sent(bytes);
        self.counts.sends_short += u64::from(bytes < asked);
        let told = of.tells && !of.own.removed;
        if of.outbox.len() > 0 {
            self.lines.call(slot);
        }
        told.then_some(Event::Sent { slot })
    }

    /// A send failed.
    fn unsent(&mut self, slot: usize, error: Errno) -> Option<Event> {
        let of = self.lines.get_mut(slot)?;
        match error {
            Errno::AGAIN => {
                of.blocked = true;
                self.counts.sends_blocked += 1;
            }
            Errno::INTR | Errno::CANCELED => {}
            // Not supported by this kind of socket, or more memory than may be locked.
            Errno::OPNOTSUPP | Errno::NOMEM | Errno::NOBUFS if !of.own.copies => {
                of.own.copies = true
            }
            _ => return self.ended(slot, Some(error.into())),
        }
        self.lines.call(slot);
        None
    }

    fn ended(&mut self, slot: usize, error: Option<io::Error>) -> Option<Event> {
        let of = self.lines.get_mut(slot)?;
        let known = of.own.removed || (of.ended && error.is_none());
        of.ended = true;
        (!known).then_some(Event::Ended { slot, error })
    }

    fn drop_lent(&mut self, lent: Option<Lent>) -> Option<Event> {
        if let Some(lent) = lent {
            self.ring.release(lent);
        }
        None
    }
}

impl Carrier for Uring {
    fn add(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()> {
        // The ring does the waiting; on a non-blocking socket its requests would fail.
        rustix::io::ioctl_fionbio(&socket, false)?;
        self.counts.syscalls += 1;
        self.lines.add(slot, socket, Own::default())?;
        self.lines.call(slot);
        Ok(())
    }

    fn remove(&mut self, slot: usize) {
        let Some(of) = self.lines.get_mut(slot) else {
            return;
        };
        if std::mem::replace(&mut of.own.removed, true) {
            return;
        }
        // Ends both requests, wherever they wait. A request still in the queue is submitted while the
        // socket is open.
        let _ = rustix::net::shutdown(&of.socket, Shutdown::Both);
        self.counts.syscalls += 1;
        if of.own.is_idle() {
            self.lines.take(slot);
            self.own.push_back(Event::Gone { slot });
        }
    }

    fn finish(&mut self, slot: usize) {
        if let Some(of) = self.lines.get(slot) {
            let _ = rustix::net::shutdown(&of.socket, Shutdown::Write);
            self.counts.syscalls += 1;
        }
    }

    fn room(&self, slot: usize) -> usize {
        let of = self.lines.get(slot).filter(|of| !of.own.removed);
        of.map_or(0, |of| of.outbox.room())
    }

    fn queued(&self, slot: usize) -> usize {
        self.lines.queued(slot)
    }

    fn queue(&mut self, slot: usize, bytes: &[u8]) -> bool {
        let of = self.lines.get_mut(slot).filter(|of| !of.own.removed);
        let Some(at) = of.and_then(|of| of.outbox.append(bytes.len())) else {
            return false;
        };
        self.ring.write(slot, at, bytes);
        self.lines.call(slot);
        true
    }

    fn pause(&mut self, slot: usize, paused: bool) {
        self.counts.paused += u64::from(paused);
        self.lines.pause(slot, paused);
    }

    fn tell_sent(&mut self, slot: usize) {
        self.lines.tell_sent(slot);
    }

    fn is_registered(&self) -> bool {
        self.ring.is_registered()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attend()?;
        self.ring.enter(Wait::Poll, 0)
    }

    fn turn(&mut self, wait: Wait) -> io::Result<()> {
        self.attend()?;
        let wait = match self.own.is_empty() && !self.lines.any_due() {
            true => wait,
            false => Wait::Poll,
        };
        let want = 1 + std::mem::take(&mut self.at_once);
        self.ring.enter(wait, want)?;
        self.left = self.ring.ready();
        Ok(())
    }

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.own.pop_front() {
            return Some(event);
        }
        while self.left > 0 {
            self.left -= 1;
            let completion = self.ring.completion()?;
            if let Some(event) = self.completed(completion) {
                return Some(event);
            }
        }
        None
    }

    fn bytes(&self, received: &Received) -> &[u8] {
        match received {
            Received::Lent(lent) => self.ring.bytes(lent),
            Received::Here(_) => &[],
        }
    }

    fn release(&mut self, received: Received) {
        if let Received::Lent(lent) = received {
            self.ring.release(lent);
        }
    }

    fn counts(&self) -> Counts {
        Counts {
            syscalls: self.counts.syscalls + self.ring.syscalls(),
            overflows: self.ring.overflows(),
            ..self.counts
        }
    }
}
