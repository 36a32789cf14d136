//! A client that does no more than measuring needs: requests with a length, answers with a length, on one
//! connection.
//!
//! A client library would run in a runtime of its own, next to the times that are measured here.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest answer.
const ANSWER_BYTES_MAX: usize = 1 << 28;

#[derive(Debug)]
pub(super) struct Client {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
    line: String,
    body: Vec<u8>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: BufReader::with_capacity(1 << 16, stream),
            request: Vec::new(),
            line: String::new(),
            body: Vec::new(),
        })
    }

    /// Sends a request and waits for its answer: the status and the body.
    pub(super) fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &[u8],
    ) -> io::Result<(u16, &[u8])> {
        self.request.clear();
        let length = body.len();
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nHost: matcher\r\nContent-Length: {length}\r\n\r\n"
        )?;
        self.request.extend_from_slice(body);
        self.stream.get_mut().write_all(&self.request)?;
        let status = self.answer()?;
        Ok((status, &self.body))
    }

    fn line(&mut self) -> io::Result<&str> {
        self.line.clear();
        match self.stream.read_line(&mut self.line)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(self.line.trim_end()),
        }
    }

    fn answer(&mut self) -> io::Result<u16> {
        let invalid = |_| io::Error::from(ErrorKind::InvalidData);
        let status = self.line()?.split(' ').nth(1).unwrap_or_default();
        let status = status.parse().map_err(invalid)?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(invalid)?;
            }
            chunked |= name.eq_ignore_ascii_case("transfer-encoding");
        }
        self.body.clear();
        if !chunked {
            self.read(length)?;
            return Ok(status);
        }
        loop {
            let size = usize::from_str_radix(self.line()?, 16).map_err(invalid)?;
            self.read(size)?;
            self.line()?;
            if size == 0 {
                return Ok(status);
            }
        }
    }

    /// Reads more of the body.
    fn read(&mut self, bytes: usize) -> io::Result<()> {
        let before = self.body.len();
        if bytes > ANSWER_BYTES_MAX - before.min(ANSWER_BYTES_MAX) {
            return Err(ErrorKind::OutOfMemory.into());
        }
        self.body.resize(before + bytes, 0);
        self.stream.read_exact(&mut self.body[before..])
    }
}
