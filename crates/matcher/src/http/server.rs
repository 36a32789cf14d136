//! Listens, accepts connections up to a limit, and ends them when the server is asked to stop.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::runtime::Runtime;

use super::counts::{HttpStatus, Open};
use super::options::{HEAD_BYTES_MAX, HEADERS_MAX};
use super::route;
use super::service::Service;
use super::stream::{Socket, Stream};
use super::{Address, ServerOptions};
use crate::matcher::Matcher;

/// How often the server looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(10);
/// Pause after a failure to accept: the system may be out of descriptors.
const PAUSE: Duration = Duration::from_millis(50);
/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An address.
    #[error("cannot listen at {address}: {error}")]
    Listen {
        /// The address.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// The threads.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
}

/// A server that listens.
///
/// [`Server::run`] accepts and answers until it is asked to stop.
#[derive(Debug)]
pub struct Server {
    runtime: Runtime,
    listeners: Vec<Listener>,
    addresses: Vec<Address>,
    service: Arc<Service>,
    unlink: Vec<PathBuf>,
}

#[derive(Debug)]
enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener),
}

impl Server {
    /// Listens at all addresses. Connections wait until [`Server::run`].
    ///
    /// # Errors
    /// An address that is taken or not of this machine, or no more threads.
    pub fn bind(
        matcher: Matcher,
        options: ServerOptions,
        addresses: &[Address],
    ) -> Result<Self, ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(options.threads.max(1))
            .thread_name("matcher-http")
            .enable_all()
            .build()
            .map_err(ServeError::Threads)?;
        let mut server = Self {
            listeners: Vec::new(),
            addresses: Vec::new(),
            service: Arc::new(Service::new(matcher, options)),
            unlink: Vec::new(),
            runtime,
        };
        for address in addresses {
            server.listen(address).map_err(|error| ServeError::Listen {
                address: address.clone(),
                error,
            })?;
        }
        Ok(server)
    }

    fn listen(&mut self, address: &Address) -> io::Result<()> {
        let _inside = self.runtime.enter();
        match address {
            Address::Tcp(address) => {
                let listener = std::net::TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                self.addresses.push(Address::Tcp(listener.local_addr()?));
                self.listeners
                    .push(Listener::Tcp(TcpListener::from_std(listener)?));
            }
            #[cfg(unix)]
            Address::Unix(path) => {
                remove_stale(path)?;
                self.listeners
                    .push(Listener::Unix(UnixListener::bind(path)?));
                self.addresses.push(address.clone());
                self.unlink.push(path.clone());
            }
            #[cfg(not(unix))]
            Address::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(())
    }

    /// Where it listens: port 0 is the port that it got.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Answers requests until `stop` is set. Then no connection is accepted, requests in progress go on for the
    /// grace period, and connections without one are closed. Returns what was done, and whether every request
    /// was answered.
    #[must_use]
    pub fn run(mut self, stop: &Arc<AtomicBool>) -> (HttpStatus, bool) {
        let listeners = std::mem::take(&mut self.listeners);
        let service = Arc::clone(&self.service);
        let closing = service.closing.clone();
        let graceful = Arc::new(GracefulShutdown::new());
        let stop = Arc::clone(stop);
        let grace = self.service.options.grace;
        let answered = self.runtime.block_on(async move {
            let accepting: Vec<_> = listeners
                .into_iter()
                .map(|listener| {
                    let all = accept(listener, Arc::clone(&service), Arc::clone(&graceful));
                    tokio::spawn(all)
                })
                .collect();
            while !stop.load(Relaxed) {
                tokio::time::sleep(LOOK).await;
            }
            for task in &accepting {
                task.abort();
            }
            for task in accepting {
                let _ = task.await;
            }
            // Streams end once they are quiet, and those that never are before the connections are cut.
            closing.send_replace(Some(Instant::now() + grace / 2));
            // The tasks that had it have ended.
            let Some(graceful) = Arc::into_inner(graceful) else {
                return false;
            };
            tokio::time::timeout(grace, graceful.shutdown())
                .await
                .is_ok()
        });
        let status = self.service.counts.read();
        for path in &self.unlink {
            let _ = std::fs::remove_file(path);
        }
        self.runtime.shutdown_timeout(Duration::from_millis(100));
        (status, answered)
    }
}

/// Removes a socket that a killed process left.
#[cfg(unix)]
fn remove_stale(path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt as _;
    let is_socket = path
        .symlink_metadata()
        .is_ok_and(|found| found.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        _ => Ok(()),
    }
}

impl Listener {
    async fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => listener
                .accept()
                .await
                .map(|(socket, _)| Socket::Tcp(socket)),
            #[cfg(unix)]
            Self::Unix(listener) => listener
                .accept()
                .await
                .map(|(socket, _)| Socket::Unix(socket)),
        }
    }
}

/// Accepts connections for ever.
async fn accept(listener: Listener, service: Arc<Service>, graceful: Arc<GracefulShutdown>) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(service.options.idle)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX);
    // Not `pipeline_flush`: with it hyper takes pieces of an answer without a bound while the client still sends.
    loop {
        let Ok(socket) = listener.accept().await else {
            // It does not matter here if a client disconnects; without descriptors, a pause helps.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let mut stream = Stream::new(socket, service.options.idle);
        let open = Open::new(&service.counts);
        let turned_away = open.others >= service.options.connections_max as u64;
        let watcher = graceful.watcher();
        let builder = builder.clone();
        let service = Arc::clone(&service);
        tokio::spawn(async move {
            if turned_away {
                service.counts.turned_away.fetch_add(1, Relaxed);
                let _ = stream.write_all(too_many().as_bytes()).await;
                let _ = stream.shutdown().await;
            } else {
                let answering = Arc::clone(&service);
                let answer =
                    service_fn(move |request| route::answer(Arc::clone(&answering), request));
                let connection = builder.serve_connection(TokioIo::new(stream), answer);
                // A client that is gone, or does not speak HTTP, concerns no one else.
                let _ = watcher.watch(connection).await;
            }
            drop(open);
        });
    }
}

/// What a connection beyond the limit gets.
fn too_many() -> String {
    let body = "{\"error\":{\"kind\":\"busy\",\"message\":\"too many connections are open\",\
                \"hint\":\"close some, or see --connections\"}}\n";
    let bytes = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\
         Connection: close\r\nContent-Length: {bytes}\r\n\r\n{body}"
    )
}
