//! A running `perfkit betree serve`, and requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Run, perfkit, words};

/// A server that answers. Killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) port: u16,
    stderr: Option<BufReader<std::process::ChildStderr>>,
    /// What it said before it answered.
    pub(crate) said: String,
    /// How often its metrics were asked for.
    looks: AtomicU64,
}

impl Server {
    /// Starts it at a free port.
    pub(crate) fn start(dir: &Path, flags: &str) -> Self {
        let child = perfkit()
            .current_dir(dir)
            .args(words(&format!("betree serve --listen 127.0.0.1:0 {flags}")))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut server = Self {
            child,
            port: 0,
            stderr: None,
            said: String::new(),
            looks: AtomicU64::new(0),
        };
        let mut stderr = BufReader::new(server.child.stderr.take().expect("a pipe"));
        while server.port == 0 {
            let mut line = String::new();
            stderr.read_line(&mut line).expect("text");
            server.said.push_str(&line);
            assert!(!line.is_empty(), "it ended: {}", server.said);
            if let Some(at) = line.strip_prefix("listening at http://127.0.0.1:") {
                let port = at.split_whitespace().next().unwrap_or_default();
                server.port = port.parse().expect("a port");
            }
        }
        server.stderr = Some(stderr);
        server
    }

    pub(crate) fn connect(&self) -> Client {
        Client::new(TcpStream::connect(("127.0.0.1", self.port)).expect("it listens"))
    }

    /// One request on a connection of its own.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        self.connect().ask(method, path, body).expect("an answer")
    }

    /// A number that its metrics have under this name.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        self.looks.fetch_add(1, Relaxed);
        let (_, metrics) = self.ask("GET", "/metrics", "");
        let line = metrics.lines().find_map(|line| {
            let value = line.strip_prefix("perfkit_matcher_")?.strip_prefix(name)?;
            value.strip_prefix(' ')?.parse::<u64>().ok()
        });
        line.unwrap_or_else(|| panic!("{name}: {metrics}"))
    }

    /// Requests that came, without those for metrics by these functions.
    pub(crate) fn requests(&self) -> u64 {
        let all = self.metric("requests_total");
        all - self.looks.load(Relaxed)
    }

    /// Ends it with a signal, and returns what it said after it began to answer.
    pub(crate) fn stop(mut self, signal: nix::sys::signal::Signal) -> Run {
        super::signals::send(&self.child, signal);
        let child = &mut self.child;
        super::signals::until("the server ends", || {
            child.try_wait().expect("asked").is_some()
        });
        let mut stderr = String::new();
        let mut pipe = self.stderr.take().expect("not taken");
        pipe.read_to_string(&mut stderr).expect("text");
        let code = super::code(self.child.wait().expect("it ends"));
        Run {
            code,
            stdout: Vec::new(),
            stderr,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that stays open.
pub(crate) struct Client {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Client {
    fn new(stream: TcpStream) -> Self {
        let patience = Some(super::signals::PATIENCE);
        stream.set_read_timeout(patience).expect("set");
        Self {
            stream: BufReader::new(stream),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.get_mut().write_all(bytes)
    }

    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> std::io::Result<(u16, String)> {
        self.send(request(method, path, body).as_bytes())?;
        self.answer()
    }

    /// Reads one answer: its status and its body.
    pub(crate) fn answer(&mut self) -> std::io::Result<(u16, String)> {
        let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).ok_or_else(broken)?;
        let status: u16 = status.parse().map_err(|_| broken())?;
        let (mut length, mut chunked) = (0, false);
        loop {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(broken());
            }
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(|_| broken())?;
            }
            chunked |= header == "transfer-encoding: chunked";
        }
        let mut body = Vec::new();
        if !chunked {
            body.resize(length, 0);
            self.stream.read_exact(&mut body)?;
        }
        while chunked {
            line.clear();
            self.stream.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).map_err(|_| broken())?;
            let before = body.len();
            body.resize(before + size + 2, 0);
            self.stream.read_exact(&mut body[before..])?;
            body.truncate(before + size);
            chunked = size > 0;
        }
        String::from_utf8(body)
            .map(|body| (status, body))
            .map_err(|_| broken())
    }
}

/// The bytes of a request.
pub(crate) fn request(method: &str, path: &str, body: &str) -> String {
    let bytes = body.len();
    format!("{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {bytes}\r\n\r\n{body}")
}
