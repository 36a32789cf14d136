//! Opens connections, each on a thread of its own for as long as that takes: names are looked up and hosts are
//! waited for where no session waits.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::os::fd::AsFd as _;
use std::sync::mpsc::Sender;
use std::time::Duration;

use rustix::net::sockopt::{self, Timeout};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::proxy;
use super::wake::Waker;
use super::within::Within;
use crate::settings::{ConnectTarget, ProxyOptions};

/// What came of an attempt.
#[derive(Debug)]
pub(super) struct Dialed {
    /// Who asked.
    pub(super) session: usize,
    /// The host and port that were tried.
    pub(super) to: String,
    pub(super) stream: io::Result<TcpStream>,
}

/// An attempt.
#[derive(Debug, Clone)]
pub(super) struct Dial {
    pub(super) session: usize,
    pub(super) target: ConnectTarget,
    pub(super) proxy: Option<ProxyOptions>,
    pub(super) timeout: Duration,
}

/// Begins an attempt; its outcome goes to `to`.
pub(super) fn start(dial: Dial, to: Sender<Dialed>, waker: Waker) -> io::Result<()> {
    std::thread::Builder::new()
        .name("fix-connect".to_owned())
        .stack_size(256 << 10)
        .spawn(move || {
            let stream = connect(&dial);
            let target = &dial.target;
            let dialed = Dialed {
                session: dial.session,
                to: format!("{}:{}", target.host, target.port),
                stream,
            };
            let _ = to.send(dialed);
            waker.wake();
        })
        .map(drop)
}

/// Tries the addresses of the host, or of the proxy before it, in their order.
fn connect(dial: &Dial) -> io::Result<TcpStream> {
    let target = &dial.target;
    let source = match (&target.source_host, target.source_port) {
        (None, None) => None,
        (host, port) => {
            let host = host.as_deref().unwrap_or("0.0.0.0");
            (host, port.unwrap_or(0)).to_socket_addrs()?.next()
        }
    };
    let (host, port) = match &dial.proxy {
        Some(proxy) => (proxy.host.as_str(), proxy.port),
        None => (target.host.as_str(), target.port),
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match one(address, source, dial.timeout) {
            Ok(stream) => return through(stream, dial),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Asks the proxy that was connected to, if there is one.
fn through(stream: TcpStream, dial: &Dial) -> io::Result<TcpStream> {
    if let Some(proxy) = &dial.proxy {
        // A proxy that answers byte by byte has no more time than others.
        let mut within = Within::new(&stream, dial.timeout);
        proxy::ask(&mut within, proxy, &dial.target)?;
        stream.set_read_timeout(None)?;
        stream.set_write_timeout(None)?;
    }
    Ok(stream)
}

fn one(
    address: SocketAddr,
    source: Option<SocketAddr>,
    timeout: Duration,
) -> io::Result<TcpStream> {
    let Some(source) = source else {
        return TcpStream::connect_timeout(&address, timeout);
    };
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    rustix::net::bind(&socket, &source)?;
    // A blocking connect heeds it.
    sockopt::set_socket_timeout(socket.as_fd(), Timeout::Send, Some(timeout))?;
    rustix::net::connect(&socket, &address)?;
    sockopt::set_socket_timeout(socket.as_fd(), Timeout::Send, None)?;
    Ok(TcpStream::from(socket))
}
