//! A counterparty by hand, and what it connects to.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixcore::Timestamp;

/// Sessions that trade, and sessions that only wait for heartbeats.
pub(crate) const GOOD: [&str; 2] = ["GOOD1", "GOOD2"];
pub(crate) const TIMED: [&str; 4] = ["TIMED1", "TIMED2", "TIMED3", "TIMED4"];
/// What waits for something that comes waits no longer than this.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// The fields of an order behind its ClOrdID.
pub(crate) const ORDER: &str = "21=1|38=100|40=1|54=1|55=X|60=20260102-03:04:05|";

/// The settings of the acceptor.
pub(crate) fn settings() -> String {
    let mut text = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
                    StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=US\nResetOnLogon=Y\n"
        .to_owned();
    for name in GOOD.iter().chain(&["HOSTILE"]) {
        text.push_str(&format!(
            "[SESSION]\nTargetCompID={name}\nFileStorePath=store\n"
        ));
    }
    // The heartbeats that these clients send may be late on a busy machine; those that they get are what is looked at.
    for name in TIMED {
        text.push_str(&format!(
            "[SESSION]\nTargetCompID={name}\nFileStorePath=store\nHeartBeatTimeoutMultiplier=100\n"
        ));
    }
    text.push_str("[SESSION]\nAcceptorTemplate=Y\nTargetCompID=*\n");
    text
}

/// SendingTime, in seconds from now.
fn time(seconds: i64) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let ns = i64::try_from(now.as_nanos()).expect("before 2262");
    let millis = Timestamp(ns + seconds * 1_000_000_000).to_millis();
    String::from_utf8(millis.to_vec()).expect("text")
}

/// A counterparty.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    name: String,
    pub(crate) next: u64,
    received: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(port: u16, name: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(Duration::from_millis(200)))?;
        Ok(Self {
            stream,
            name: name.to_owned(),
            next: 1,
            received: Vec::new(),
        })
    }

    /// The bytes of the next message, whose SendingTime is off by these seconds.
    pub(crate) fn message(&mut self, kind: &str, body: &str, off: i64) -> Vec<u8> {
        let head = format!(
            "35={kind}|34={}|49={}|52={}|56=US|",
            self.next,
            self.name,
            time(off)
        );
        self.next += 1;
        let mut out = Vec::new();
        let text = format!("{head}{body}").replace('|', "\x01");
        fixcore::frame::write(b"FIX.4.4", text.as_bytes(), &mut out);
        out
    }

    pub(crate) fn send(&mut self, kind: &str, body: &str) -> std::io::Result<()> {
        let message = self.message(kind, body, 0);
        self.stream.write_all(&message)
    }

    /// Connects and logs on, if it is let in.
    pub(crate) fn log_on(port: u16, name: &str, heartbeat: u32) -> std::io::Result<Self> {
        let mut client = Self::connect(port, name)?;
        client.send("A", &format!("98=0|108={heartbeat}|"))?;
        let answer = client.read()?;
        match answer.contains("|35=A|") {
            true => Ok(client),
            false => Err(std::io::Error::other(answer)),
        }
    }

    /// The next message.
    pub(crate) fn read(&mut self) -> std::io::Result<String> {
        let mut room = [0; 16384];
        loop {
            let end = self
                .received
                .windows(4)
                .position(|bytes| bytes == b"\x0110=");
            if let Some(end) = end
                .map(|end| end + 8)
                .filter(|end| *end <= self.received.len())
            {
                let message: Vec<u8> = self.received.drain(..end).collect();
                return Ok(String::from_utf8_lossy(&message).replace('\x01', "|"));
            }
            match self.stream.read(&mut room)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                some => self.received.extend_from_slice(&room[..some]),
            }
        }
    }
}
