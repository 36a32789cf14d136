//! Answers `GET /metrics`: a few threads, each with one connection and one short request at a time.
//!
//! Whoever is slow or sends too much is dropped after a second; nothing here waits for the run, and
//! the run waits for nothing here. Requests are parsed by httparse; what is said is not known here.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::text::{CONTENT_TYPE, Page};

/// Connections that are answered at a time; the system keeps some more waiting.
const CONNECTIONS: usize = 4;
/// From a connection until its answer is out.
const PATIENCE: Duration = Duration::from_secs(1);
/// The greatest request, which has no body.
const REQUEST_BYTES_MAX: usize = 8 << 10;
const HEADERS_MAX: usize = 64;
/// After a failure to accept, which is the system's: it may be out of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Answers until it is dropped.
pub(super) struct Server {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Server {
    /// Listens and answers from threads of its own.
    pub(super) fn start(address: SocketAddr, page: Page) -> io::Result<Self> {
        let listener = Arc::new(TcpListener::bind(address)?);
        let mut server = Self {
            address: listener.local_addr()?,
            ends: Arc::default(),
            threads: Vec::with_capacity(CONNECTIONS),
        };
        let page = Arc::new(page);
        for nth in 0..CONNECTIONS {
            let (listener, page, ends) = (listener.clone(), page.clone(), server.ends.clone());
            let thread = std::thread::Builder::new()
                .name(format!("metrics {nth}"))
                .spawn(move || serve(&listener, &page, &ends))?;
            server.threads.push(thread);
        }
        Ok(server)
    }

    /// Where it listens.
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
        for thread in self.threads.drain(..) {
            // One connection wakes one thread, which is then gone, whichever it was.
            if TcpStream::connect_timeout(&own, PATIENCE).is_err() {
                return;
            }
            drop(thread);
        }
    }
}

fn serve(listener: &TcpListener, page: &Page, ends: &AtomicBool) {
    loop {
        let accepted = listener.accept();
        if ends.load(SeqCst) {
            return;
        }
        match accepted {
            // A client that breaks off is its own business.
            Ok((stream, _)) => drop(answer(stream, page)),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Reads one request and answers it.
fn answer(stream: TcpStream, page: &Page) -> io::Result<()> {
    let mut stream = Hasty {
        stream,
        deadline: Instant::now() + PATIENCE,
    };
    let reply = match request(&mut stream)? {
        Asked::Metrics { body } => match page.text() {
            Ok(text) => reply("200 OK", CONTENT_TYPE, &text, body),
            Err(_) => plain("500 Internal Server Error", "no metrics\n"),
        },
        Asked::Elsewhere => plain("404 Not Found", "see /metrics\n"),
        Asked::Otherwise => plain("405 Method Not Allowed\r\nAllow: GET, HEAD", "GET only\n"),
        Asked::TooMuch => plain("431 Request Header Fields Too Large", "too much\n"),
        Asked::Nonsense => plain("400 Bad Request", "not HTTP/1\n"),
    };
    stream.write_all(reply.as_bytes())
}

fn plain(status: &str, text: &str) -> String {
    reply(status, "text/plain; charset=utf-8", text, true)
}

fn reply(status: &str, content_type: &str, text: &str, body: bool) -> String {
    let bytes = text.len();
    let text = if body { text } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {bytes}\r\n\
         Connection: close\r\n\r\n{text}"
    )
}

/// What a client wants.
#[derive(Debug, PartialEq, Eq)]
enum Asked {
    Metrics { body: bool },
    Elsewhere,
    Otherwise,
    TooMuch,
    Nonsense,
}

/// Reads the head of a request, and says what it asks for.
fn request(stream: &mut impl Read) -> io::Result<Asked> {
    let mut bytes = [0; REQUEST_BYTES_MAX];
    let mut len = 0;
    loop {
        let count = match stream.read(&mut bytes[len..]) {
            Ok(0) if len < bytes.len() => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        len += count;
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&bytes[..len]) {
            Ok(httparse::Status::Complete(_)) => return Ok(asked(&request)),
            Ok(httparse::Status::Partial) if len == bytes.len() => return Ok(Asked::TooMuch),
            Ok(httparse::Status::Partial) => {}
            Err(httparse::Error::TooManyHeaders) => return Ok(Asked::TooMuch),
            Err(_) => return Ok(Asked::Nonsense),
        }
    }
}

fn asked(request: &httparse::Request<'_, '_>) -> Asked {
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    match (request.method, path) {
        (Some("GET"), "/metrics") => Asked::Metrics { body: true },
        (Some("HEAD"), "/metrics") => Asked::Metrics { body: false },
        (Some("GET" | "HEAD"), _) => Asked::Elsewhere,
        _ => Asked::Otherwise,
    }
}

/// A connection that has until a deadline, however many calls that takes.
struct Hasty {
    stream: TcpStream,
    deadline: Instant,
}

impl Hasty {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(ErrorKind::TimedOut.into()),
            false => Ok(Some(left)),
        }
    }
}

impl Read for Hasty {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Hasty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte a call.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(bytes.len()).min(1);
            let (now, later) = self.0.split_at(count);
            bytes[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn asked(text: &str) -> Option<Asked> {
        let whole = request(&mut text.as_bytes()).ok();
        assert_eq!(request(&mut Drip(text.as_bytes())).ok(), whole, "{text}");
        whole
    }

    #[test]
    fn requests_are_told_apart_however_they_come() {
        let head = " HTTP/1.1\r\nHost: x\r\n\r\n";
        let of = |line: &str| asked(&format!("{line}{head}"));
        assert_eq!(of("GET /metrics"), Some(Asked::Metrics { body: true }));
        assert_eq!(
            of("HEAD /metrics?a=b"),
            Some(Asked::Metrics { body: false })
        );
        assert_eq!(of("GET /"), Some(Asked::Elsewhere));
        assert_eq!(of("POST /metrics"), Some(Asked::Otherwise));
        assert_eq!(of("\0\x01"), Some(Asked::Nonsense));
        assert_eq!(asked("GET /metrics HTTP/1.1\r\n"), None, "broken off");
    }

    #[test]
    fn a_request_that_is_too_large_is_told_so() {
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(REQUEST_BYTES_MAX));
        assert_eq!(asked(&long), Some(Asked::TooMuch));
        let many = "a: b\r\n".repeat(HEADERS_MAX + 1);
        let many = format!("GET /metrics HTTP/1.1\r\n{many}\r\n");
        assert_eq!(asked(&many), Some(Asked::TooMuch));
    }
}
