//! The thread that accepts connections, and keeps each until its Logon is complete. Whatever strangers send, the
//! thread of the sessions has nothing to do with it.
//!
//! A port with TLS is the exception: its connections are passed on at once, for the session's settings decrypt them.
//!
//! Not here: which connections may wait (`strangers`), what their Logons lead to (`first`).

use std::io::{self, Read as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

use super::clock::{Clock as _, SystemClock};
use super::happening::TurnedAway;
use super::strangers::{Limits, Step, Strangers};
use super::wake::Waker;

/// The pause after the system refused to accept.
const RETRY: Duration = Duration::from_millis(10);
/// How many connections of a port are accepted before the others have their turn.
const ACCEPTS_MAX: usize = 16;
/// How many ready connections a wait returns.
const READY_MAX: usize = 64;
/// How much of a connection is read at a time.
const READ_BYTES: usize = 4 << 10;
/// The sessions are woken for what was turned away at most this often.
const NOTES_PAUSE: Duration = Duration::from_millis(20);
/// What the stop pipe is called among the places of listeners and strangers.
const STOP: u64 = u64::MAX;

/// A connection that a listener accepted.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) stream: TcpStream,
    /// The listener, by its place in the list.
    pub(super) listener: usize,
    pub(super) peer: IpAddr,
    /// Its Logon, and what came with it; nothing of a connection with TLS.
    pub(super) bytes: Vec<u8>,
}

/// Something that the sessions are told later.
#[derive(Debug)]
pub(super) enum Note {
    /// A connection was closed.
    Away(IpAddr, TurnedAway),
    /// So many others were, too.
    More(u64),
}

/// A port.
#[derive(Debug)]
pub(super) struct Port {
    pub(super) listener: TcpListener,
    /// How long a Logon may take.
    pub(super) logon_timeout: Duration,
    pub(super) has_tls: bool,
}

/// Where connections and notes go.
#[derive(Debug)]
pub(super) struct Ways {
    pub(super) accepted: SyncSender<Accepted>,
    pub(super) notes: SyncSender<Note>,
    pub(super) waker: Waker,
}

/// The socket of a stranger.
#[derive(Debug)]
struct Socket {
    stream: TcpStream,
    listener: usize,
    peer: IpAddr,
}

/// The state of the thread.
pub(super) struct Lobby {
    ports: Vec<Port>,
    /// Its other end is closed when the thread is to end.
    _stopped: UnixStream,
    ways: Ways,
    clock: SystemClock,
    poll: OwnedFd,
    strangers: Strangers,
    /// By the places of strangers.
    sockets: Vec<Option<Socket>>,
    /// Notes that had no room.
    more: u64,
    /// When the sessions are woken for notes.
    tell: Option<Duration>,
}

impl Lobby {
    pub(super) fn new(
        ports: Vec<Port>,
        stopped: UnixStream,
        limits: Limits,
        ways: Ways,
    ) -> io::Result<Self> {
        let poll = epoll::create(CreateFlags::CLOEXEC)?;
        let stop = EventData::new_u64(STOP);
        epoll::add(&poll, &stopped, stop, EventFlags::IN)?;
        for (at, port) in ports.iter().enumerate() {
            port.listener.set_nonblocking(true)?;
            let data = EventData::new_u64(at as u64);
            epoll::add(&poll, &port.listener, data, EventFlags::IN)?;
        }
        Ok(Self {
            ports,
            _stopped: stopped,
            ways,
            clock: SystemClock::new(),
            poll,
            strangers: Strangers::new(limits),
            sockets: Vec::new(),
            more: 0,
            tell: None,
        })
    }

    /// Serves connections until the other end of `stopped` is closed, or the system fails.
    pub(super) fn serve(mut self) {
        let mut ready: Vec<Event> = Vec::with_capacity(READY_MAX);
        let mut room = vec![0; READ_BYTES];
        loop {
            ready.clear();
            let wait = self.wait();
            match epoll::wait(&self.poll, spare_capacity(&mut ready), wait.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
            for event in &ready {
                match event.data.u64() {
                    STOP => return,
                    place => self.event(place as usize, &mut room),
                }
            }
            self.time();
        }
    }

    /// How long the thread may sleep.
    fn wait(&self) -> Option<Timespec> {
        let next = self.strangers.next().into_iter().chain(self.tell).min()?;
        let time = next.saturating_sub(self.clock.now().monotonic);
        Some(Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: time.subsec_nanos().into(),
        })
    }

    fn event(&mut self, place: usize, room: &mut [u8]) {
        match place.checked_sub(self.ports.len()) {
            None => self.accept(place),
            Some(place) => self.read(place, room),
        }
    }

    /// Accepts some of the connections of a port.
    fn accept(&mut self, at: usize) {
        for _ in 0..ACCEPTS_MAX {
            let Some(port) = self.ports.get(at) else {
                return;
            };
            let (has_tls, timeout) = (port.has_tls, port.logon_timeout);
            let (stream, peer) = match port.listener.accept() {
                Ok((stream, peer)) => (stream, peer.ip().to_canonical()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => {
                    // Too many files are open, or the peer is gone: not again at once.
                    return std::thread::sleep(RETRY);
                }
            };
            let socket = Socket {
                stream,
                listener: at,
                peer,
            };
            if has_tls {
                self.pass(socket, Vec::new());
                continue;
            }
            let until = self.clock.now().monotonic.saturating_add(timeout);
            match self.strangers.admit(peer, until) {
                Ok(place) => self.keep(place, socket),
                Err(why) => self.note(peer, why),
            }
        }
    }

    /// Keeps the socket of a stranger.
    fn keep(&mut self, place: usize, socket: Socket) {
        let data = EventData::new_u64((self.ports.len() + place) as u64);
        let stream = &socket.stream;
        let added = stream
            .set_nonblocking(true)
            .and_then(|()| Ok(epoll::add(&self.poll, stream, data, EventFlags::IN)?));
        if added.is_err() {
            self.strangers.leave(place);
            return;
        }
        if self.sockets.len() <= place {
            self.sockets.resize_with(place + 1, || None);
        }
        if let Some(free) = self.sockets.get_mut(place) {
            *free = Some(socket);
        }
    }

    /// Reads once from a stranger.
    fn read(&mut self, place: usize, room: &mut [u8]) {
        let Some(Some(socket)) = self.sockets.get_mut(place) else {
            return;
        };
        let step = match socket.stream.read(room) {
            Ok(0) => Step::Away(TurnedAway::Gone),
            Ok(count) => {
                let bytes = room.get(..count).unwrap_or(&[]);
                self.strangers.received(place, bytes)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Step::Wait,
                _ => Step::Away(TurnedAway::Gone),
            },
        };
        match step {
            Step::Wait => {}
            Step::Away(why) => self.turn_away(place, why),
            Step::LoggedOn(bytes) => {
                if let Some(socket) = self.take(place) {
                    self.pass(socket, bytes);
                }
            }
        }
    }

    /// Closes the connection of a stranger.
    fn turn_away(&mut self, place: usize, why: TurnedAway) {
        if let Some(socket) = self.take(place) {
            self.note(socket.peer, why);
        }
    }

    /// The socket of a stranger that leaves.
    fn take(&mut self, place: usize) -> Option<Socket> {
        self.strangers.leave(place);
        let socket = self.sockets.get_mut(place)?.take()?;
        let _ = epoll::delete(&self.poll, &socket.stream);
        Some(socket)
    }

    /// Passes a connection on. Sessions that are far behind take no more: it is closed.
    fn pass(&mut self, socket: Socket, bytes: Vec<u8>) {
        let Socket {
            stream,
            listener,
            peer,
        } = socket;
        let accepted = Accepted {
            stream,
            listener,
            peer,
            bytes,
        };
        match self.ways.accepted.try_send(accepted) {
            Ok(()) => self.ways.waker.wake(),
            Err(_) => self.note(peer, TurnedAway::Full),
        }
    }

    /// Notes what was turned away. The sessions see it a little later.
    fn note(&mut self, peer: IpAddr, why: TurnedAway) {
        if self.ways.notes.try_send(Note::Away(peer, why)).is_err() {
            self.more += 1;
        }
        let later = || self.clock.now().monotonic.saturating_add(NOTES_PAUSE);
        self.tell = self.tell.or_else(|| Some(later()));
    }

    /// Does what is due.
    fn time(&mut self) {
        let now = self.clock.now().monotonic;
        while let Some(place) = self.strangers.late(now) {
            self.turn_away(place, TurnedAway::Silent);
        }
        if self.tell.is_some_and(|at| at <= now) {
            self.tell = None;
            if self.more > 0 {
                match self.ways.notes.try_send(Note::More(self.more)) {
                    Ok(()) => self.more = 0,
                    // No room yet.
                    Err(_) => self.tell = Some(now.saturating_add(NOTES_PAUSE)),
                }
            }
            self.ways.waker.wake();
        }
    }
}
