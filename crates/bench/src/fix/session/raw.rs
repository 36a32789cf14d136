//! The rival without an engine: bytes go back as they come, and the thread never sleeps.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Acquire;

use fixcore::io::{Choice, Options, StreamEvent, Streams, Wait};

use super::acceptor::LEAVES;
use crate::fix::transport::serve_plain;

/// Serves as many connections as there are sessions, until all are closed.
pub(super) fn serve(
    listener: &TcpListener,
    sessions: u32,
    cpu: Option<u32>,
    phase: &AtomicU8,
) -> io::Result<()> {
    let mut sockets = Vec::new();
    listener.set_nonblocking(true)?;
    while sockets.len() < sessions as usize {
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nodelay(true)?;
                sockets.push(socket);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if phase.load(Acquire) == LEAVES {
                    return Ok(());
                }
                std::thread::yield_now();
            }
            Err(error) => return Err(error),
        }
    }
    if sockets.len() == 1
        && let Some(socket) = sockets.pop()
    {
        return serve_plain(OwnedFd::from(socket), cpu);
    }
    if let Some(cpu) = cpu {
        latency::pin::pin(&[cpu]).map_err(io::Error::other)?;
    }
    serve_many(sockets)
}

fn serve_many(sockets: Vec<TcpStream>) -> io::Result<()> {
    let options = Options::default()
        .choice(Choice::Epoll)
        .connections_max(sockets.len());
    let mut streams = Streams::open(&options).map_err(io::Error::other)?;
    for socket in sockets {
        streams.add(socket)?;
    }
    let mut bytes = Vec::new();
    while !streams.is_empty() {
        streams.turn(Wait::Poll)?;
        while let Some(event) = streams.next_event() {
            match event {
                StreamEvent::Received(id, lent) => {
                    bytes.clear();
                    bytes.extend_from_slice(streams.bytes(&lent));
                    streams.release(lent);
                    // The client has less out than there is room for.
                    if streams.send(id, &bytes) < bytes.len() {
                        return Err(io::Error::other("there is no room for an answer"));
                    }
                }
                StreamEvent::Ended(id, _) => streams.close(id),
                _ => {}
            }
        }
    }
    Ok(())
}
