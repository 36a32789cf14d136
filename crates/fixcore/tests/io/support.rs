//! Shared by the cases: messages, a handler that answers and records, and peers.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

use fixcore::Encoder;
use fixcore::io::{Closed, Connections, Handler, Id, Options, Out, Wait};

/// How long a turn waits when it is unknown whether anything will arrive.
const SOON: Wait = Wait::For(std::time::Duration::from_millis(1));

/// A test case.
pub(crate) type Case = (&'static str, fn(&Options));

/// A message with a number and a text of this many bytes.
pub(crate) fn message(number: u64, text_bytes: usize) -> Vec<u8> {
    let text = vec![b'a' + (number % 26) as u8; text_bytes];
    let mut encoder = Encoder::new("FIX.4.4");
    let mut writing = encoder.start("B").unsigned(34, number);
    if text_bytes > 0 {
        writing = writing.bytes(58, &text);
    }
    writing.finish().unwrap().to_vec()
}

/// Sends every message back, and records all other events.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    pub(crate) from: Vec<Id>,
    pub(crate) skipped: u64,
    pub(crate) closed: Vec<(Id, &'static str)>,
    /// Closes after this many answers.
    pub(crate) close_after: Option<usize>,
}

impl Handler for Echo {
    fn message(&mut self, from: Id, message: &[u8], out: &mut Out<'_>) {
        out.send(message).expect("there is room for an answer");
        self.from.push(from);
        if self.close_after == Some(self.from.len()) {
            out.close();
            out.send(message).expect_err("it is being closed");
        }
    }

    fn skipped(&mut self, _: Id, bytes: u64, _: Option<fixcore::ErrorKind>) {
        self.skipped += bytes;
    }

    fn closed(&mut self, id: Id, why: Closed) {
        let why = match why {
            Closed::Peer => "peer",
            Closed::Here => "here",
            Closed::Failed(_) => "failed",
            _ => "for another reason",
        };
        self.closed.push((id, why));
    }
}

/// A set with this many connections, and their other ends, which do not block.
pub(crate) fn connected(
    options: &Options,
    number: usize,
) -> (Connections, Vec<UnixStream>, Vec<Id>) {
    let mut connections = Connections::open(options).unwrap();
    let (mut peers, mut ids) = (Vec::new(), Vec::new());
    for _ in 0..number {
        let (ours, peer) = UnixStream::pair().unwrap();
        peer.set_nonblocking(true).unwrap();
        ids.push(connections.add(ours).unwrap());
        peers.push(peer);
    }
    (connections, peers, ids)
}

/// Two ends of a connection over TCP; the first is ours.
pub(crate) fn tcp() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (ours, _) = listener.accept().unwrap();
    peer.set_nonblocking(true).unwrap();
    (ours, peer)
}

/// Reads up to `most` bytes that are ready. Also returns whether that was the end.
pub(crate) fn read(peer: &mut impl Read, most: usize) -> (Vec<u8>, bool) {
    let mut bytes = vec![0; most];
    let mut filled = 0;
    while filled < most {
        match peer.read(&mut bytes[filled..]) {
            Ok(0) => {
                bytes.truncate(filled);
                return (bytes, true);
            }
            Ok(more) => filled += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => {
                bytes.truncate(filled);
                return (bytes, true);
            }
        }
    }
    bytes.truncate(filled);
    (bytes, false)
}

/// Writes as much as the other end takes. Returns how much that was.
pub(crate) fn write(peer: &mut impl Write, bytes: &[u8]) -> usize {
    let mut written = 0;
    while written < bytes.len() {
        match peer.write(&bytes[written..]) {
            Ok(more) => written += more,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    written
}

/// Turns and reads until the peer has this many bytes, or the end.
pub(crate) fn answer(
    connections: &mut Connections,
    echo: &mut Echo,
    peer: &mut impl Read,
    bytes: usize,
) -> Vec<u8> {
    let mut got = Vec::new();
    loop {
        let (more, end) = read(peer, bytes - got.len());
        got.extend(more);
        if got.len() == bytes || end {
            return got;
        }
        // It waits until something arrives; what it sends arrives only here.
        connections.turn(SOON, echo).unwrap();
    }
}
