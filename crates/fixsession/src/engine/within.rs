//! A connection whose reads and writes have to end by a time together, however slowly the peer sends and takes.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::clock::{Clock as _, SystemClock};

/// Shorter time-outs are rounded up to this: the system takes none of zero.
const LEAST: Duration = Duration::from_millis(1);

/// A stream until a time.
pub(super) struct Within<'a> {
    stream: &'a TcpStream,
    clock: SystemClock,
    limit: Duration,
}

impl<'a> Within<'a> {
    /// All that is read and written from now on has this long.
    pub(super) fn new(stream: &'a TcpStream, limit: Duration) -> Self {
        Self {
            stream,
            clock: SystemClock::new(),
            limit,
        }
    }

    /// The time that is left.
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.limit.saturating_sub(self.clock.now().monotonic);
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(Some(left.max(LEAST))),
        }
    }
}

/// The system says "would block" where a time-out ends a call.
fn late(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::WouldBlock => io::ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for Within<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes).map_err(late)
    }
}

impl Write for Within<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes).map_err(late)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_peer_that_sends_a_byte_now_and_then_does_not_put_off_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let peer = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            // It ends when no reader is left.
            for _ in 0..60_000 {
                if stream.write_all(b"x").is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let stream = TcpStream::connect(address).unwrap();
        let mut within = Within::new(&stream, Duration::from_millis(200));
        let mut all = vec![0; 60_000];
        let error = within.read_exact(&mut all).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let error = within.write(b"more").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(stream);
        peer.join().unwrap();
    }

    #[test]
    fn what_comes_in_time_is_read_and_the_end_is_none_of_time() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut peer, _) = listener.accept().unwrap();
        peer.write_all(b"hello").unwrap();
        drop(peer);
        let mut text = String::new();
        let mut within = Within::new(&stream, Duration::from_secs(600));
        within.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }
}
