//! Listening ports, on a thread of their own: no engine waits for them.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::wake::Waker;

/// Connections that the system keeps until they are accepted.
const BACKLOG: i32 = 128;
/// The pause after the system refused to accept.
const RETRY: Duration = Duration::from_millis(10);

/// Listens at the first address of a host that can be had. `reuses`: whether also at one that connections of an
/// earlier listener still hold.
pub(super) fn open(host: &str, port: u16, reuses: bool) -> io::Result<TcpListener> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in (host, port).to_socket_addrs()? {
        match open_at(address, reuses) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn open_at(address: SocketAddr, reuses: bool) -> io::Result<TcpListener> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    sockopt::set_socket_reuseaddr(&socket, reuses)?;
    bind(&socket, &address)?;
    listen(&socket, BACKLOG)?;
    Ok(socket.into())
}

/// A connection that a listener accepted.
#[derive(Debug)]
pub(super) struct Accepted {
    pub(super) stream: TcpStream,
    /// The listener, by its place in the list.
    pub(super) listener: usize,
    pub(super) peer: IpAddr,
}

/// The thread that accepts. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Listeners {
    addresses: Vec<SocketAddr>,
    /// Closing it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Listeners {
    /// Accepts on these sockets, and sends what comes to `to`.
    pub(super) fn start(
        listeners: Vec<TcpListener>,
        to: SyncSender<Accepted>,
        waker: Waker,
    ) -> io::Result<Self> {
        let mut addresses = Vec::new();
        for listener in &listeners {
            listener.set_nonblocking(true)?;
            addresses.push(listener.local_addr()?);
        }
        let (stop, stopped) = UnixStream::pair()?;
        let thread = std::thread::Builder::new()
            .name("fix-listen".to_owned())
            .stack_size(128 << 10)
            .spawn(move || accept(&listeners, &stopped, &to, &waker))?;
        Ok(Self {
            addresses,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where they listen, in the order of the list.
    pub(super) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(
    listeners: &[TcpListener],
    stopped: &UnixStream,
    to: &SyncSender<Accepted>,
    waker: &Waker,
) {
    loop {
        let mut ready: Vec<PollFd<'_>> = listeners
            .iter()
            .map(|listener| PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN))
            .collect();
        ready.push(PollFd::from_borrowed_fd(stopped.as_fd(), PollFlags::IN));
        match poll(&mut ready, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        if ready.last().is_some_and(|stop| !stop.revents().is_empty()) {
            return;
        }
        for (at, listener) in listeners.iter().enumerate() {
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => {
                    // Too many files are open, or the peer is gone: not again at once.
                    std::thread::sleep(RETRY);
                    continue;
                }
            };
            let accepted = Accepted {
                stream,
                listener: at,
                peer: peer.ip().to_canonical(),
            };
            // An engine that is so far behind takes no more: the connection is closed.
            let _ = to.try_send(accepted);
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_used_again_only_if_that_is_asked_for() {
        for reuses in [true, false] {
            let listener = open("127.0.0.1", 0, reuses).unwrap();
            assert_eq!(sockopt::socket_reuseaddr(&listener).unwrap(), reuses);
            let address = listener.local_addr().unwrap();
            let peer = TcpStream::connect(address).unwrap();
            let (accepted, _) = listener.accept().unwrap();
            // This side closes first, and the system holds the address for a while.
            drop((accepted, listener));
            drop(peer);
            let again = open("127.0.0.1", address.port(), reuses);
            match reuses {
                true => assert!(again.is_ok(), "{again:?}"),
                false => assert_eq!(again.unwrap_err().kind(), io::ErrorKind::AddrInUse),
            }
        }
        assert!(open("127.0.0.1.nowhere", 1, true).is_err());
    }
}
