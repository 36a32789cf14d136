//! Answers `GET /metrics` and `/healthz`: one thread that never waits for a client, over a bounded number of connections.
//!
//! Each connection has one second from being accepted until its answer is sent. If the limit of connections
//! is reached, a new one replaces the oldest, so that silent clients cannot keep others out. The server
//! never waits for the run, and the run never waits for the server.
//! [`crate::commands::metrics::request`] parses requests.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::commands::metrics::Page;
use crate::commands::metrics::request::{Asked, REQUEST_BYTES_MAX, parse};

/// The most connections; the system queues some more.
const CONNECTIONS_MAX: usize = 64;
/// Time from accepting a connection until its answer is sent.
const PATIENCE: Duration = Duration::from_secs(1);
/// Pause after a failure to accept: the system may be out of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
}

impl Server {
    /// Listens, and answers from a separate thread.
    pub(super) fn start(address: SocketAddr, page: Page) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let server = Self {
            address: listener.local_addr()?,
            ends: Arc::default(),
        };
        let ends = server.ends.clone();
        std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || serve(&listener, &page, &ends))?;
        Ok(server)
    }

    /// The address that it listens on.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ends.store(true, SeqCst);
        let mut own = self.address;
        match own.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => own.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => own.set_ip(Ipv6Addr::LOCALHOST.into()),
            _ => {}
        }
        // A connection wakes the thread, which then sees that it must end.
        let _ = TcpStream::connect_timeout(&own, PATIENCE);
    }
}

fn serve(listener: &TcpListener, page: &Page, ends: &AtomicBool) {
    let mut connections: VecDeque<Connection> = VecDeque::with_capacity(CONNECTIONS_MAX);
    loop {
        wait(listener, &connections);
        if ends.load(SeqCst) {
            return;
        }
        accept(listener, &mut connections);
        let now = Instant::now();
        connections.retain_mut(|connection| now < connection.deadline && connection.goes_on(page));
    }
}

/// Accepts waiting connections; each replaces the oldest if the limit is reached.
fn accept(listener: &TcpListener, connections: &mut VecDeque<Connection>) {
    for _ in 0..CONNECTIONS_MAX {
        match listener.accept() {
            Ok((stream, _)) if stream.set_nonblocking(true).is_ok() => {
                if connections.len() == CONNECTIONS_MAX {
                    connections.pop_front();
                }
                connections.push_back(Connection::new(stream));
            }
            // It does not matter here if a client disconnects.
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => {
                // Perhaps out of descriptors: closing the oldest connection frees one.
                connections.pop_front();
                return std::thread::sleep(PAUSE);
            }
        }
    }
}

/// Waits until a connection arrives, can continue, or times out.
#[cfg(unix)]
fn wait(listener: &TcpListener, connections: &VecDeque<Connection>) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut watched = vec![PollFd::new(listener, PollFlags::IN)];
    watched.extend(connections.iter().map(|connection| {
        let goes_on = match connection.reply {
            None => PollFlags::IN,
            Some(_) => PollFlags::OUT,
        };
        PollFd::new(&connection.stream, goes_on)
    }));
    let now = Instant::now();
    let first = connections
        .iter()
        .map(|connection| connection.deadline)
        .min();
    let left = first.map(|first| first.saturating_duration_since(now));
    let left = left.map(|left| Timespec {
        tv_sec: 0,
        // Rounded up, so that a timeout has certainly passed.
        tv_nsec: i64::from(left.subsec_millis() + 1) * 1_000_000,
    });
    if poll(&mut watched, left.as_ref()).is_err() {
        std::thread::sleep(PAUSE);
    }
}

/// Checks again soon.
#[cfg(not(unix))]
fn wait(_: &TcpListener, _: &VecDeque<Connection>) {
    std::thread::sleep(PAUSE / 5);
}

/// A client: its request as far as received, then the answer as far as sent.
struct Connection {
    stream: TcpStream,
    deadline: Instant,
    request: Vec<u8>,
    reply: Option<Vec<u8>>,
    sent: usize,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            deadline: Instant::now() + PATIENCE,
            request: Vec::new(),
            reply: None,
            sent: 0,
        }
    }

    /// Reads and writes without waiting. `false` if the connection is finished or broken.
    fn goes_on(&mut self, page: &Page) -> bool {
        let went = match self.reply {
            None => self.read(page),
            Some(_) => Ok(()),
        };
        let went = went.and_then(|()| self.write());
        match went {
            Ok(()) => self
                .reply
                .as_ref()
                .is_none_or(|reply| self.sent < reply.len()),
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    fn read(&mut self, page: &Page) -> io::Result<()> {
        let mut piece = [0; REQUEST_BYTES_MAX];
        loop {
            let room = REQUEST_BYTES_MAX - self.request.len();
            match self.stream.read(&mut piece[..room]) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.request.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            if let Some(asked) = parse(&self.request) {
                self.reply = Some(answer(asked, page).into_bytes());
                return Ok(());
            }
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let reply = self.reply.as_deref().unwrap_or_default();
        while self.sent < reply.len() {
            match self.stream.write(&reply[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

const TEXT: &str = "text/plain; charset=utf-8";

fn answer(asked: Asked, page: &Page) -> String {
    match asked {
        Asked::Metrics { body, format } => match format.text(&page.registry) {
            Ok(text) => reply("200 OK", format.content_type(), &text, body),
            Err(_) => plain("500 Internal Server Error", "no metrics\n"),
        },
        Asked::Health { body } => match page.health.is_well() {
            true => reply("200 OK", TEXT, "ok\n", body),
            false => reply("503 Service Unavailable", TEXT, "not ready\n", body),
        },
        Asked::Elsewhere => plain("404 Not Found", "see /metrics\n"),
        Asked::Otherwise => plain("405 Method Not Allowed\r\nAllow: GET, HEAD", "GET only\n"),
        Asked::TooMuch => plain("431 Request Header Fields Too Large", "too much\n"),
        Asked::Nonsense => plain("400 Bad Request", "not HTTP/1\n"),
    }
}

fn plain(status: &str, text: &str) -> String {
    reply(status, TEXT, text, true)
}

fn reply(status: &str, content_type: &str, text: &str, body: bool) -> String {
    let bytes = text.len();
    let text = if body { text } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {bytes}\r\n\
         Vary: Accept\r\nConnection: close\r\n\r\n{text}"
    )
}
