//! The sockets of a client, which never sleeps: a plain loop over one, a set of many.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

use fixcore::io::{Choice, Id, Options, StreamEvent, Streams, Wait};

use super::conversation::Conversation;

/// Bytes of a read.
const READ_BYTES: usize = 64 << 10;

/// The sockets of all sessions.
pub(super) enum Line {
    One(TcpStream, Vec<u8>),
    Many {
        streams: Streams,
        ids: Vec<Id>,
        /// By place: the session.
        sessions: Vec<usize>,
    },
}

impl Line {
    /// Takes the sockets of sessions 0, 1 and so on.
    pub(super) fn new(mut sockets: Vec<TcpStream>) -> io::Result<Self> {
        if sockets.len() == 1
            && let Some(socket) = sockets.pop()
        {
            socket.set_nonblocking(true)?;
            return Ok(Self::One(socket, vec![0; READ_BYTES]));
        }
        let options = Options::default()
            .choice(Choice::Epoll)
            .connections_max(sockets.len());
        let mut streams = Streams::open(&options).map_err(io::Error::other)?;
        let (mut ids, mut sessions) = (Vec::new(), vec![0; sockets.len()]);
        for (at, socket) in sockets.into_iter().enumerate() {
            let id = streams.add(socket)?;
            if let Some(session) = sessions.get_mut(id.place()) {
                *session = at;
            }
            ids.push(id);
        }
        Ok(Self::Many {
            streams,
            ids,
            sessions,
        })
    }

    /// Sends a few messages of a session.
    pub(super) fn send(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        match self {
            // Far less is out than a socket takes.
            Self::One(socket, _) => socket.write_all(bytes),
            Self::Many { streams, ids, .. } => {
                let sent = ids.get(at).map_or(0, |id| streams.send(*id, bytes));
                match sent == bytes.len() {
                    true => Ok(()),
                    false => Err(io::Error::other("there is no room for a message")),
                }
            }
        }
    }

    /// Takes what came, and names the sessions that got something or ended.
    pub(super) fn poll(
        &mut self,
        conversations: &mut [Conversation],
        touched: &mut Vec<usize>,
    ) -> io::Result<()> {
        touched.clear();
        match self {
            Self::One(socket, buffer) => {
                let Some(conversation) = conversations.first_mut() else {
                    return Ok(());
                };
                match socket.read(buffer) {
                    Ok(0) => conversation.has_ended = true,
                    Ok(read) => conversation
                        .input
                        .extend_from_slice(buffer.get(..read).unwrap_or(&[])),
                    Err(error) => match error.kind() {
                        ErrorKind::WouldBlock | ErrorKind::Interrupted => {
                            std::hint::spin_loop();
                            return Ok(());
                        }
                        _ => conversation.has_ended = true,
                    },
                }
                touched.push(0);
            }
            Self::Many {
                streams, sessions, ..
            } => {
                streams.turn(Wait::Poll)?;
                while let Some(event) = streams.next_event() {
                    let (id, lent) = match event {
                        StreamEvent::Received(id, lent) => (id, Some(lent)),
                        StreamEvent::Ended(id, _) => (id, None),
                        _ => continue,
                    };
                    let at = sessions.get(id.place()).copied().unwrap_or(0);
                    let conversation = conversations.get_mut(at);
                    match (conversation, &lent) {
                        (Some(conversation), Some(lent)) => {
                            conversation.input.extend_from_slice(streams.bytes(lent))
                        }
                        (Some(conversation), None) => conversation.has_ended = true,
                        (None, _) => {}
                    }
                    if let Some(lent) = lent {
                        streams.release(lent);
                    }
                    touched.push(at);
                }
            }
        }
        Ok(())
    }
}
