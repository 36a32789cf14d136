//! `epoll` as a carrier: one wait for all connections, then a read and a write for each ready one.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown};

use super::carrier::{Carrier, Counts, Event, Received};
use super::lines::{Line, Lines};
use super::options::{Options, Wait};

/// How many ready connections a wait returns.
const READY_MAX: usize = 256;
/// The smallest read buffer.
const READ_BYTES_MIN: usize = 16 << 10;

/// A thread that polls, and for which this many receives in a row were of one connection, asks that one
/// directly: a wait for all connections before each receive would be a second call for each message.
const IN_A_ROW: u32 = 16;
/// One poll of this many waits for all connections nevertheless.
const POLLS_MAX: u32 = 8;

/// The state of a connection that only `epoll` needs.
#[derive(Debug)]
struct Own {
    bytes: Vec<u8>,
    /// The events that are registered.
    interest: EventFlags,
}

/// The events to register.
fn wanted(of: &Line<Own>) -> EventFlags {
    let mut wanted = EventFlags::empty();
    wanted.set(EventFlags::IN, !of.paused && !of.ended);
    wanted.set(EventFlags::OUT, of.blocked);
    wanted
}

/// Connections on an `epoll` instance.
pub(super) struct Epoll {
    instance: OwnedFd,
    lines: Lines<Own>,
    buffer: Vec<u8>,
    ready: Vec<epoll::Event>,
    /// The next of them.
    at: usize,
    own: VecDeque<Event>,
    /// The connection that received last, and how many receives in a row were its.
    last: (usize, u32),
    /// Polls since the last wait for all connections.
    polls: u32,
    /// What came without that wait.
    direct: Option<Event>,
    counts: Counts,
}

impl std::fmt::Debug for Epoll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Epoll")
            .field("lines", &self.lines)
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Epoll {
    pub(super) fn open(options: &Options) -> io::Result<Self> {
        let counts = Counts {
            syscalls: 1,
            ..Counts::default()
        };
        Ok(Self {
            instance: epoll::create(CreateFlags::CLOEXEC)?,
            lines: Lines::new(options.connections_max, options.outbox_bytes),
            buffer: vec![0; options.buffer_bytes.max(READ_BYTES_MIN)],
            ready: Vec::with_capacity(READY_MAX),
            at: 0,
            own: VecDeque::new(),
            last: (usize::MAX, 0),
            polls: 0,
            direct: None,
            counts,
        })
    }

    /// Sends queued bytes and updates the registered events.
    fn attend(&mut self) -> io::Result<()> {
        let mut done = Ok(());
        for at in 0..self.lines.attend() {
            let Some(slot) = self.lines.attended(at) else {
                continue;
            };
            let waits = |of: &Line<Own>| !of.blocked && of.outbox.len() > 0;
            if self.lines.get(slot).is_some_and(waits) {
                self.send(slot);
            }
            let Some(of) = self.lines.get_mut(slot) else {
                continue;
            };
            let wanted = wanted(of);
            if wanted != of.own.interest {
                of.own.interest = wanted;
                self.counts.syscalls += 1;
                let data = EventData::new_u64(slot as u64);
                if let Err(error) = epoll::modify(&self.instance, &of.socket, data, wanted) {
                    done = Err(error.into());
                }
            }
        }
        done
    }

    /// Sends as much as the kernel takes.
    fn send(&mut self, slot: usize) {
        let Some(of) = self.lines.get_mut(slot) else {
            return;
        };
        let (start, length) = (of.outbox.start(), of.outbox.len());
        let bytes = of.own.bytes.get(start..start + length).unwrap_or(&[]);
        self.counts.syscalls += 1;
        self.counts.sends += 1;
        match rustix::net::send(&of.socket, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => {
                of.outbox.sent(sent);
                of.blocked = sent < length;
                self.counts.sends_short += u64::from(sent < length);
                if of.tells {
                    self.own.push_back(Event::Sent { slot });
                }
            }
            Err(Errno::AGAIN) => {
                of.blocked = true;
                self.counts.sends_blocked += 1;
            }
            Err(Errno::INTR) => self.lines.call(slot),
            Err(error) => {
                of.ended = true;
                let error = Some(error.into());
                self.own.push_back(Event::Ended { slot, error });
            }
        }
    }

    /// Asks the only busy connection. Whether that is enough for this poll.
    fn poll_last(&mut self) -> bool {
        let (slot, in_a_row) = self.last;
        if in_a_row < IN_A_ROW || self.polls + 1 >= POLLS_MAX {
            return false;
        }
        let is_open = |of: &Line<Own>| !of.paused && !of.ended;
        if !self.lines.get(slot).is_some_and(is_open) {
            self.last.1 = 0;
            return false;
        }
        self.polls += 1;
        self.direct = self.receive(slot);
        true
    }

    /// Receives once. Remaining bytes make the connection ready again.
    fn receive(&mut self, slot: usize) -> Option<Event> {
        let of = self.lines.get_mut(slot)?;
        if of.paused || of.ended {
            return None;
        }
        self.counts.syscalls += 1;
        let error = match rustix::net::recv(&of.socket, &mut self.buffer[..], RecvFlags::empty()) {
            Ok((bytes, _)) if bytes > 0 => {
                self.counts.receives += 1;
                self.last = match self.last {
                    (last, in_a_row) if last == slot => (slot, in_a_row.saturating_add(1)),
                    _ => (slot, 1),
                };
                let bytes = Received::Here(bytes);
                return Some(Event::Received { slot, bytes });
            }
            Ok(_) => None,
            Err(Errno::AGAIN | Errno::INTR) => return None,
            Err(error) => Some(error.into()),
        };
        of.ended = true;
        self.lines.call(slot);
        Some(Event::Ended { slot, error })
    }
}

impl Carrier for Epoll {
    fn add(&mut self, slot: usize, socket: OwnedFd) -> io::Result<()> {
        rustix::io::ioctl_fionbio(&socket, true)?;
        let interest = EventFlags::IN;
        let own = Own {
            bytes: Vec::new(),
            interest,
        };
        self.lines.add(slot, socket, own)?;
        let Some(of) = self.lines.get(slot) else {
            return Ok(());
        };
        self.counts.syscalls += 2;
        let data = EventData::new_u64(slot as u64);
        if let Err(error) = epoll::add(&self.instance, &of.socket, data, interest) {
            self.lines.take(slot);
            return Err(error.into());
        }
        Ok(())
    }

    fn remove(&mut self, slot: usize) {
        if let Some(of) = self.lines.take(slot) {
            if self.last.0 == slot {
                (self.last, self.direct) = ((usize::MAX, 0), None);
            }
            // Other descriptors of the socket would keep it open and registered.
            let _ = epoll::delete(&self.instance, &of.socket);
            let _ = rustix::net::shutdown(&of.socket, Shutdown::Both);
            self.counts.syscalls += 3;
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
        self.lines.get(slot).map_or(0, |of| of.outbox.room())
    }

    fn queued(&self, slot: usize) -> usize {
        self.lines.queued(slot)
    }

    fn queue(&mut self, slot: usize, bytes: &[u8]) -> bool {
        let Some(of) = self.lines.get_mut(slot) else {
            return false;
        };
        let Some(at) = of.outbox.append(bytes.len()) else {
            return false;
        };
        // Everything was sent, so the outbox begins at the front again.
        of.own.bytes.truncate(at);
        of.own.bytes.extend_from_slice(bytes);
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

    fn flush(&mut self) -> io::Result<()> {
        self.attend()
    }

    fn turn(&mut self, wait: Wait) -> io::Result<()> {
        self.attend()?;
        self.ready.clear();
        self.at = 0;
        if wait == Wait::Poll && self.own.is_empty() && self.poll_last() {
            return Ok(());
        }
        self.polls = 0;
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let busy = !self.own.is_empty() || self.lines.any_due();
        let time = match wait {
            _ if busy => Some(now),
            Wait::Poll => Some(now),
            Wait::For(time) => Some(Timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            }),
            Wait::Event => None,
        };
        self.counts.syscalls += 1;
        match epoll::wait(
            &self.instance,
            spare_capacity(&mut self.ready),
            time.as_ref(),
        ) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.own.pop_front() {
            return Some(event);
        }
        if let Some(event) = self.direct.take() {
            return Some(event);
        }
        while let Some(ready) = self.ready.get(self.at).copied() {
            self.at += 1;
            let (flags, gone) = (ready.flags, EventFlags::HUP | EventFlags::ERR);
            let slot = usize::try_from(ready.data.u64()).unwrap_or(usize::MAX);
            // A send to a peer that is gone fails with an error.
            if flags.intersects(EventFlags::OUT | gone)
                && let Some(of) = self.lines.get_mut(slot)
            {
                of.blocked = false;
                self.lines.call(slot);
            }
            if flags.intersects(EventFlags::IN | gone)
                && let Some(event) = self.receive(slot)
            {
                return Some(event);
            }
        }
        None
    }

    fn bytes(&self, received: &Received) -> &[u8] {
        match received {
            Received::Here(bytes) => self.buffer.get(..*bytes).unwrap_or(&[]),
            Received::Lent(_) => &[],
        }
    }

    fn release(&mut self, _: Received) {}

    fn counts(&self) -> Counts {
        self.counts
    }
}
