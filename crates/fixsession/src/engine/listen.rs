//! Listening ports, on a thread of their own: no engine waits for them.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::thread::JoinHandle;

use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};

use super::lobby::{Lobby, Port, Ways};
use super::strangers::Limits;

/// Connections that the system keeps until they are accepted.
const BACKLOG: i32 = 128;

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

/// The thread that accepts. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Listeners {
    addresses: Vec<SocketAddr>,
    /// Closing it ends the thread.
    stop: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Listeners {
    /// Accepts at these ports.
    pub(super) fn start(ports: Vec<Port>, limits: Limits, ways: Ways) -> io::Result<Self> {
        let addresses = ports.iter().map(|port| port.listener.local_addr());
        let addresses = addresses.collect::<io::Result<_>>()?;
        let (stop, stopped) = UnixStream::pair()?;
        let lobby = Lobby::new(ports, stopped, limits, ways)?;
        let thread = std::thread::Builder::new()
            .name("fix-listen".to_owned())
            .stack_size(128 << 10)
            .spawn(move || lobby.serve())?;
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

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

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
