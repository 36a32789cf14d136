//! Listening ports, on a thread of their own: no engine waits for them.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::SyncSender;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::wake::Waker;

/// The pause after the system refused to accept.
const RETRY: Duration = Duration::from_millis(10);

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
