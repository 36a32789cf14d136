//! `kill -9` of an acceptor in bursts, 100 times in the long form: whatever was on the way, nothing is lost, nothing is
//! done twice, and both sides agree in the end. Also with a disk that is full for a while, and with a store that goes
//! out to QuickFIX's files and comes back after each kill.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixcore::{Decoder, Timestamp};

use crate::common::acceptor::Acceptor;
use crate::common::{directory, run, words};

/// Orders of a burst, and how many are written at a time.
const BURST: usize = 200;
const CHUNK: usize = 25;
/// Orders of a burst that goes on until the disk is full: more than a segment of the store takes.
const FULL_BURST: usize = 4_000;
/// Text (58) of an order: a segment of the store is full after some 1,300 of them.
const TEXT_BYTES: usize = 3_000;
const PATIENCE: Duration = Duration::from_secs(120);

/// What happens besides kills.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trouble {
    None,
    /// The disk is full in every other burst.
    FullDisk,
    /// The store goes to QuickFIX's format and back after each kill.
    Moves,
}

/// A message of ours: its type, body and time.
type Sent = (&'static str, String, String);

/// The counterparty, which outlives its connections.
struct Peer {
    /// The number of the next message of ours is one more than there are of these.
    sent: Vec<Sent>,
    expected: u64,
    waiting: BTreeMap<u64, Vec<u8>>,
    asked: bool,
    /// How often each order came back.
    echoes: HashMap<String, u32>,
    /// What must not happen.
    wrong: Vec<String>,
    logouts: u32,
    logged_on: bool,
    stream: Option<TcpStream>,
    received: Vec<u8>,
}

fn time() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let ns = i64::try_from(now.as_nanos()).expect("before 2262");
    String::from_utf8(Timestamp(ns).to_millis().to_vec()).expect("text")
}

fn frame(kind: &str, number: u64, dup: Option<&str>, body: &str) -> Vec<u8> {
    let (flag, first) = match dup {
        Some(first) => ("43=Y|", format!("122={first}|")),
        None => ("", String::new()),
    };
    let head = format!(
        "35={kind}|34={number}|49=PEER|{flag}52={}|56=US|{first}",
        time()
    );
    let mut out = Vec::new();
    fixcore::frame::write(
        b"FIX.4.4",
        format!("{head}{body}").replace('|', "\x01").as_bytes(),
        &mut out,
    );
    out
}

impl Peer {
    fn new() -> Self {
        Self {
            sent: Vec::new(),
            expected: 1,
            waiting: BTreeMap::new(),
            asked: false,
            echoes: HashMap::new(),
            wrong: Vec::new(),
            logouts: 0,
            logged_on: false,
            stream: None,
            received: Vec::new(),
        }
    }

    fn message(&mut self, kind: &'static str, body: String) -> Vec<u8> {
        let number = self.sent.len() as u64 + 1;
        let bytes = frame(kind, number, None, &body);
        self.sent.push((kind, body, time()));
        bytes
    }

    fn write(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.stream
            && stream.write_all(bytes).is_err()
        {
            self.stream = None;
        }
    }

    /// Whether it is logged on after a while.
    fn log_on(&mut self, port: u16) -> bool {
        (self.logged_on, self.asked) = (false, false);
        self.waiting.clear();
        self.received.clear();
        self.stream = TcpStream::connect(("127.0.0.1", port)).ok();
        let logon = self.message("A", "98=0|108=30|".to_owned());
        self.write(&logon);
        let began = Instant::now();
        while self.stream.is_some() && !self.logged_on && began.elapsed() < PATIENCE {
            self.pump(Duration::from_millis(50));
        }
        self.logged_on
    }

    /// Handles what comes within this time.
    fn pump(&mut self, wait: Duration) {
        let Some(stream) = &mut self.stream else {
            return;
        };
        let mut room = vec![0; 1 << 18];
        stream.set_read_timeout(Some(wait)).expect("set");
        match stream.read(&mut room) {
            Ok(0) => self.stream = None,
            Ok(some) => self.received.extend_from_slice(&room[..some]),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => self.stream = None,
        }
        let received = std::mem::take(&mut self.received);
        let mut rest = received.as_slice();
        while let Some(end) = length(rest).filter(|end| *end <= rest.len()) {
            let (message, behind) = rest.split_at(end);
            self.handle(message);
            rest = behind;
        }
        self.received = rest.to_vec();
    }

    fn handle(&mut self, bytes: &[u8]) {
        let mut decoder = Decoder::new();
        let message = decoder.parse(bytes).expect("a valid message");
        let text = |tag| {
            message
                .get(tag)
                .map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let number = message.get_u64(34).expect("a number").expect("a number");
        match message.msg_type() {
            b"A" => self.logged_on = true,
            b"5" => {
                self.logouts += 1;
                let answer = self.message("5", String::new());
                self.write(&answer);
            }
            b"1" => {
                let id = text(112).unwrap_or_default();
                let answer = self.message("0", format!("112={id}|"));
                self.write(&answer);
            }
            b"3" | b"j" => self
                .wrong
                .push(String::from_utf8_lossy(bytes).replace('\x01', "|")),
            b"2" => {
                let begin = message.get_u64(7).expect("7").expect("7");
                let end = message.get_u64(16).expect("16").expect("16");
                self.resend(begin, end);
            }
            _ => {}
        }
        if number < self.expected {
            if text(43).as_deref() != Some("Y") {
                let expected = self.expected;
                self.wrong
                    .push(format!("number {number} where {expected} is next"));
            }
        } else if number > self.expected {
            self.waiting.insert(number, bytes.to_vec());
            if !std::mem::replace(&mut self.asked, true) {
                let request = self.message("2", format!("7={}|16=0|", self.expected));
                self.write(&request);
            }
        } else {
            self.take(bytes);
            while let Some(next) = self.waiting.remove(&self.expected) {
                self.take(&next);
            }
            let expected = self.expected;
            self.waiting.retain(|number, _| *number > expected);
            self.asked &= !self.waiting.is_empty();
        }
    }

    /// Takes the message with the expected number.
    fn take(&mut self, bytes: &[u8]) {
        let mut decoder = Decoder::new();
        let message = decoder.parse(bytes).expect("a valid message");
        if message.msg_type() == b"4" {
            self.expected = message.get_u64(36).expect("36").expect("36");
            return;
        }
        self.expected += 1;
        if message.msg_type() == b"D" {
            let id = String::from_utf8_lossy(message.get(11).expect("11")).into_owned();
            *self.echoes.entry(id).or_default() += 1;
        }
    }

    fn resend(&mut self, begin: u64, end: u64) {
        let last = self.sent.len() as u64;
        let end = if end == 0 { last } else { end.min(last) };
        let mut out = Vec::new();
        let mut number = begin.max(1);
        while number <= end {
            let (kind, body, first) = &self.sent[number as usize - 1];
            if *kind == "D" {
                out.extend(frame(kind, number, Some(first), body));
                number += 1;
                continue;
            }
            let is_order = |at: &u64| self.sent[*at as usize - 1].0 == "D";
            let next = (number..=end).find(is_order).unwrap_or(end + 1);
            let body = format!("36={next}|123=Y|");
            out.extend(frame("4", number, Some(first), &body));
            number = next;
        }
        self.write(&out);
    }
}

/// The length of the message that these bytes begin with, as it states it.
fn length(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"8=FIX.4.4\x019=")?;
    let digits = rest.iter().position(|byte| *byte == 1)?;
    let stated: usize = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    Some(bytes.len() - rest.len() + digits + 1 + stated + 7)
}

fn settings(store: &Path) -> String {
    format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\nStartTime=00:00:00\n\
         EndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=US\nTargetCompID=PEER\nFileStorePath={}\n",
        store.display()
    )
}

/// A small file system in memory, if this process may mount one.
struct Small {
    path: PathBuf,
    bytes: u64,
}

impl Small {
    fn mount(path: PathBuf, bytes: u64) -> Option<Self> {
        std::fs::create_dir_all(&path).expect("made");
        let small = Self { path, bytes };
        let options = format!("size={bytes}");
        small
            .ran(&["-t", "tmpfs", "-o", &options, "none"])
            .then_some(small)
    }

    /// Whether `mount` with these arguments did it.
    fn ran(&self, arguments: &[&str]) -> bool {
        let mut mount = Command::new("mount");
        mount.args(arguments).arg(&self.path).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success())
    }

    fn resize(&self, bytes: u64) {
        let options = format!("remount,size={bytes}");
        assert!(self.ran(&["-o", &options]), "{options}");
    }

    /// Leaves no room.
    fn fill(&self) {
        let is = rustix::fs::statvfs(&self.path).expect("mounted");
        self.resize((is.f_blocks - is.f_bfree) * is.f_frsize);
    }

    fn free(&self) {
        self.resize(self.bytes);
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

#[expect(clippy::print_stderr, reason = "the figures are what it is run for")]
fn killed(kills: usize, trouble: Trouble) {
    let dir = directory();
    let dir = dir.path();
    let small = match trouble {
        Trouble::FullDisk => match Small::mount(dir.join("small"), (kills as u64 + 4) << 23) {
            Some(small) => Some(small),
            None => {
                eprintln!("not run: this process may not mount a small file system");
                return;
            }
        },
        _ => None,
    };
    let store = dir.join(if small.is_some() {
        "small/store"
    } else {
        "store"
    });
    let mut random = latency::SplitMix64::new(7);
    let (mut peer, mut orders, mut full, mut moves) = (Peer::new(), 0, 0, 0);
    let text = "x".repeat(TEXT_BYTES);
    for kill in 0..=kills {
        let is_last = kill == kills;
        let mut acceptor = Acceptor::start(dir, &settings(&store), "--app echo");
        let port = acceptor.port;
        if !peer.log_on(port) {
            // Refused for want of room: then there is room again.
            let small = small
                .as_ref()
                .unwrap_or_else(|| panic!("no logon: {:?}", peer.wrong));
            small.free();
            assert!(peer.log_on(port), "{:?}", peer.wrong);
        }
        let filled = small.as_ref().filter(|_| !is_last && kill % 2 == 0);
        if let Some(small) = filled {
            small.fill();
        }
        let at = random.below(BURST as u64) as usize;
        let burst = filled.map_or(BURST, |_| FULL_BURST);
        for begin in (0..burst).step_by(CHUNK) {
            let mut bytes = Vec::new();
            for _ in 0..CHUNK {
                orders += 1;
                let body = format!(
                    "11=O{orders}|21=1|38=100|40=1|54=1|55=X|58={text}|60={}|",
                    time()
                );
                bytes.extend(peer.message("D", body));
            }
            peer.write(&bytes);
            peer.pump(Duration::from_millis(1));
            if peer.stream.is_none() {
                break;
            }
            if !is_last && filled.is_none() && (begin..begin + CHUNK).contains(&at) {
                std::thread::sleep(Duration::from_micros(random.below(8_000)));
                break;
            }
        }
        full += usize::from(small.is_some() && peer.stream.is_none());
        // Half of the kills with a full disk come before there is room again.
        let stays_full = filled.is_some() && kill % 4 == 0;
        if is_last || (peer.stream.is_none() && !stays_full) {
            // All that was sent comes back; with a full disk, once there is room.
            if let Some(small) = &small {
                small.free();
            }
            let began = Instant::now();
            while (peer.echoes.len() < orders || peer.sent.is_empty()) && began.elapsed() < PATIENCE
            {
                if peer.stream.is_none() {
                    assert!(small.is_some(), "disconnected: {:?}", peer.wrong);
                    peer.log_on(port);
                }
                peer.pump(Duration::from_millis(20));
            }
        }
        if is_last {
            acceptor.terminate();
            while peer.stream.is_some() {
                peer.pump(Duration::from_millis(20));
            }
            let (code, said) = acceptor.ended();
            // 3: its disk was full for a while.
            let is_done = code == Some(0) || (code == Some(3) && small.is_some());
            assert!(is_done, "{code:?}: {said}");
            break;
        }
        acceptor.child.kill().expect("killed");
        let _ = acceptor.ended();
        while peer.stream.is_some() {
            peer.pump(Duration::from_millis(20));
        }
        if trouble == Trouble::Moves {
            moves += 1;
            exchange(dir, &store);
        }
    }
    let twice: Vec<_> = peer.echoes.iter().filter(|echo| *echo.1 > 1).collect();
    eprintln!(
        "{kills} kills, {orders} orders, {} came back, {} twice, disk full {full} times, {} Logouts, {moves} moves",
        peer.echoes.len(),
        twice.len(),
        peer.logouts,
    );
    assert_eq!(peer.wrong, Vec::<String>::new());
    let enough = if small.is_some() { kills / 3 } else { 0 };
    assert!(full >= enough, "the disk was full {full} times");
    assert_eq!((peer.echoes.len(), twice.len()), (orders, 0));
    // Both sides agree: the report of the store has the numbers that the counterparty has.
    let name = std::fs::read_dir(&store)
        .expect("a store")
        .flatten()
        .map(|entry| entry.path());
    let name = name
        .into_iter()
        .find(|path| path.is_dir())
        .expect("a store");
    let line = format!("fix store stats --report json {}", name.display());
    let report = run(dir, words(&line)).expect(0).json();
    let row = &report["tables"][0]["rows"][0];
    let (sender, target) = (row[4].as_u64(), row[5].as_u64());
    assert_eq!(sender, Some(peer.expected), "{row}");
    assert_eq!(target, Some(peer.sent.len() as u64 + 1), "{row}");
}

/// Takes the store out to QuickFIX's files, and from there into a new one.
fn exchange(dir: &Path, store: &Path) {
    let found = std::fs::read_dir(store)
        .expect("a store")
        .flatten()
        .map(|entry| entry.path());
    let session = found
        .into_iter()
        .find(|path| path.is_dir())
        .expect("a store");
    let files = dir.join("quickfix");
    let _ = std::fs::remove_dir_all(&files);
    std::fs::create_dir(&files).expect("made");
    let to = files.join("FIX.4.4-US-PEER");
    let line = format!(
        "fix store export -qq --format quickfix {} {}",
        session.display(),
        to.display()
    );
    run(dir, words(&line)).expect(0);
    std::fs::remove_dir_all(&session).expect("removed");
    let line = format!(
        "fix store import -qq {} {}",
        to.display(),
        session.display()
    );
    run(dir, words(&line)).expect(0);
}

#[test]
fn a_killed_acceptor_loses_nothing() {
    killed(4, Trouble::None);
}

#[test]
fn a_full_disk_loses_nothing() {
    killed(12, Trouble::FullDisk);
}

#[test]
fn a_store_of_quickfix_loses_nothing() {
    killed(3, Trouble::Moves);
}

#[test]
#[ignore = "a minute"]
fn a_hundred_kills_with_a_full_disk() {
    killed(100, Trouble::FullDisk);
}

#[test]
#[ignore = "a minute"]
fn a_hundred_kills_with_a_store_of_quickfix() {
    killed(100, Trouble::Moves);
}
