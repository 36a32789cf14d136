//! A connection, over TCP or a Unix socket, whose writes do not wait for ever.

use std::future::Future as _;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::time::{Instant, Sleep};

#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

/// A connection. A client that takes nothing of an answer for `patience` is disconnected.
#[derive(Debug)]
pub(super) struct Stream {
    socket: Socket,
    patience: Duration,
    /// When the present write gives up.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Stream {
    pub(super) fn new(socket: Socket, patience: Duration) -> Self {
        if let Socket::Tcp(socket) = &socket {
            // An answer is written whole.
            let _ = socket.set_nodelay(true);
        }
        Self {
            socket,
            patience,
            waiting: None,
        }
    }

    /// The outcome of a write, or an error if it waits for too long.
    fn patient<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let until = Instant::now() + self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_read(context, buffer),
            #[cfg(unix)]
            Socket::Unix(socket) => Pin::new(socket).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = match &mut this.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_write(context, bytes),
            #[cfg(unix)]
            Socket::Unix(socket) => Pin::new(socket).poll_write(context, bytes),
        };
        this.patient(context, outcome)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let outcome = match &mut this.socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_write_vectored(context, slices),
            #[cfg(unix)]
            Socket::Unix(socket) => Pin::new(socket).poll_write_vectored(context, slices),
        };
        this.patient(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_flush(context),
            #[cfg(unix)]
            Socket::Unix(socket) => Pin::new(socket).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.get_mut().socket {
            Socket::Tcp(socket) => Pin::new(socket).poll_shutdown(context),
            #[cfg(unix)]
            Socket::Unix(socket) => Pin::new(socket).poll_shutdown(context),
        }
    }
}
