//! One connection: what its bytes mean now, and what still has to be sent.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use fixcore::io::{Id, Streams};

use super::happening::Slow;
use super::tls::Tls;

/// How long a peer may take to close after this side did.
pub(super) const FINISH_TIME: Duration = Duration::from_secs(1);
/// The same for an engine that stops.
const LEAVE_TIME: Duration = Duration::from_millis(50);

/// What a connection is for.
#[derive(Debug)]
pub(super) enum Stage {
    /// Its first message decides the session.
    First {
        /// What came so far.
        bytes: Vec<u8>,
        /// The listener that accepted it.
        listener: usize,
        /// When it is closed without a first message.
        until: Duration,
    },
    /// It belongs to this session.
    Session(usize),
    /// Its session is done with it: the rest is sent, until then at most.
    Flushing(Duration),
    /// Everything was sent and the peer knows: it closes, until then at most.
    Finished(Duration),
}

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: Id,
    pub(super) peer: Option<IpAddr>,
    pub(super) stage: Stage,
    /// What encrypts it.
    pub(super) tls: Option<Box<Tls>>,
    /// Whether its peer sends nothing more.
    pub(super) peer_ended: bool,
    /// What a session left that its stream had no room for, and where the unsent part begins.
    rest: Vec<u8>,
    start: usize,
    /// Bytes ever given to the stream; how many of them had been sent when that was last looked at, and when
    /// that last grew.
    given: u64,
    sent: u64,
    progress: Duration,
}

impl Connection {
    pub(super) fn new(id: Id, peer: Option<IpAddr>, stage: Stage, now: Duration) -> Self {
        Self {
            id,
            peer,
            stage,
            tls: None,
            peer_ended: false,
            rest: Vec::new(),
            start: 0,
            given: 0,
            sent: 0,
            progress: now,
        }
    }

    /// Takes bytes of a session; how many. The others have to wait until some were sent.
    pub(super) fn send(&mut self, streams: &mut Streams, bytes: &[u8]) -> usize {
        let Some(tls) = &mut self.tls else {
            let given = streams.send(self.id, bytes);
            self.given += given as u64;
            return given;
        };
        if self.start < self.rest.len() {
            return 0;
        }
        let taken = tls.write(bytes);
        self.pull(streams);
        taken
    }

    /// Keeps what the session left behind.
    pub(super) fn leave(&mut self, mut rest: &[u8]) {
        let Some(tls) = &mut self.tls else {
            return self.rest.extend_from_slice(rest);
        };
        while !rest.is_empty() {
            let taken = tls.write(rest);
            tls.pull(&mut self.rest);
            match rest.get(taken..).filter(|_| taken > 0) {
                Some(left) => rest = left,
                None => break,
            }
        }
        tls.close();
        tls.pull(&mut self.rest);
    }

    /// Decrypts, and sends what that asks for.
    pub(super) fn decrypt(
        &mut self,
        streams: &mut Streams,
        bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> io::Result<()> {
        let result = match &mut self.tls {
            Some(tls) => tls.received(bytes, plain),
            None => Ok(()),
        };
        self.pull(streams);
        result
    }

    /// Gives the stream what TLS has for it.
    pub(super) fn pull(&mut self, streams: &mut Streams) {
        if let Some(tls) = &mut self.tls {
            tls.pull(&mut self.rest);
            self.give(streams);
        }
    }

    /// Gives the stream as much as it has room for.
    fn give(&mut self, streams: &mut Streams) {
        let rest = self.rest.get(self.start..).unwrap_or(&[]);
        let given = streams.send(self.id, rest);
        self.given += given as u64;
        self.start += given;
        if self.start == self.rest.len() {
            self.rest.clear();
            self.start = 0;
        } else {
            streams.tell_sent(self.id);
        }
    }

    /// Bytes that wait here.
    pub(super) fn waiting(&self) -> usize {
        self.rest.len() - self.start
    }

    /// Sends what was left behind; whether everything is with the kernel.
    pub(super) fn flush(&mut self, streams: &mut Streams) -> bool {
        self.give(streams);
        let done = self.waiting() == 0 && streams.queued(self.id) == 0;
        if !done {
            streams.tell_sent(self.id);
        }
        done
    }

    /// Whether nothing of it is lost if the process ends: everything was sent, the peer knows, and it had a moment
    /// to read that and close.
    pub(super) fn is_done(&self, now: Duration) -> bool {
        match self.stage {
            Stage::Finished(until) => now + FINISH_TIME >= until + LEAVE_TIME,
            _ => false,
        }
    }

    /// Whether bytes wait and none was sent for too long.
    pub(super) fn stuck(
        &mut self,
        streams: &Streams,
        waiting: usize,
        now: Duration,
        time_max: Duration,
    ) -> Result<(), Slow> {
        let queued = streams.queued(self.id);
        let bytes = queued + waiting + self.waiting();
        let sent = self.given.saturating_sub(queued as u64);
        if bytes == 0 || sent > self.sent {
            self.sent = sent;
            self.progress = now;
        }
        let time = now.saturating_sub(self.progress);
        match time > time_max {
            true => Err(Slow::Stuck { bytes, time }),
            false => Ok(()),
        }
    }
}
