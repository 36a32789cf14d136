//! An engine over real sockets: who is let in, what one peer can do to another, and how it ends.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixcore::Timestamp;
use fixcore::io::Choice;
use fixsession::engine::{Clock, Engine, EngineOptions, SystemClock};
use fixsession::settings::Settings;
use fixsession::{Echo, Status};

/// Longer than anything that is waited for may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An engine on a thread. It stops when dropped.
pub(crate) struct Running {
    pub(crate) address: Option<SocketAddr>,
    stop: Arc<AtomicBool>,
    logged_on: Arc<AtomicBool>,
    happened: Receiver<String>,
    thread: Option<JoinHandle<Vec<(Status, u64, u64)>>>,
}

impl Running {
    pub(crate) fn start(settings: &str, change: impl FnOnce(&mut EngineOptions)) -> Self {
        Self::start_by(SystemClock::new(), settings, change)
    }

    /// The same by a clock.
    pub(crate) fn start_by(
        clock: impl Clock + Send + 'static,
        settings: &str,
        change: impl FnOnce(&mut EngineOptions),
    ) -> Self {
        let read = Settings::parse(settings.as_bytes(), Path::new("test.cfg"), &|_| None);
        let read = read.unwrap_or_else(|failure| panic!("{failure}"));
        let mut options = EngineOptions::default();
        change(&mut options);
        let stop = Arc::new(AtomicBool::new(false));
        let logged_on = Arc::new(AtomicBool::new(false));
        let on = Arc::clone(&logged_on);
        let (stopped, (to, happened), (say, said)) = (Arc::clone(&stop), channel(), channel());
        let thread = std::thread::spawn(move || {
            // An engine belongs to the thread that opens it.
            let mut engine = Engine::open(read.sessions, options, clock.now()).expect("open");
            say.send(engine.addresses().first().copied())
                .expect("heard");
            let mut echo = Echo::default();
            let mut stopping = false;
            while !engine.is_stopped(&clock) {
                if stopped.load(Ordering::Relaxed) && !std::mem::replace(&mut stopping, true) {
                    engine.stop(Duration::from_secs(5), &clock, &mut echo);
                }
                engine
                    .turn(Duration::from_millis(10), &clock, &mut echo)
                    .expect("turn");
                let first = engine.sessions().next().map(|state| state.status);
                on.store(first == Some(Status::LoggedOn), Ordering::Relaxed);
                for happening in engine.happenings() {
                    let _ = to.send(happening.to_string());
                }
            }
            let states = engine.sessions();
            states
                .map(|state| (state.status, state.next_sender, state.next_target))
                .collect()
        });
        let address = said.recv().expect("it opens");
        Self {
            address,
            stop,
            logged_on,
            happened,
            thread: Some(thread),
        }
    }

    pub(crate) fn connect(&self) -> Peer {
        let stream = TcpStream::connect(self.address.expect("it listens")).expect("connected");
        Peer::new(stream)
    }

    /// Waits until something happened whose text has this.
    pub(crate) fn until(&self, text: &str) -> String {
        let mut all = Vec::new();
        // One time for all of it: whatever else happens does not put off the end.
        let end = Instant::now() + PATIENCE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.happened.recv_timeout(left) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => all.push(line),
                Err(_) => panic!("never: {text}, but {all:?}"),
            }
        }
    }

    /// Stops once its first session is logged on.
    pub(crate) fn stop_when_logged_on(self) -> Vec<(Status, u64, u64)> {
        let started = Instant::now();
        while !self.logged_on.load(Ordering::Relaxed) {
            assert!(started.elapsed() < PATIENCE, "not logged on");
            std::thread::sleep(Duration::from_millis(5));
        }
        self.stop()
    }

    pub(crate) fn stop(mut self) -> Vec<(Status, u64, u64)> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().expect("once").join().expect("it ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A counterparty by hand.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    received: Vec<u8>,
    pub(crate) next: u64,
}

fn now() -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let millis = Timestamp(now.as_nanos() as i64).to_millis();
    String::from_utf8(millis.to_vec()).expect("text")
}

impl Peer {
    pub(crate) fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        Self {
            stream,
            received: Vec::new(),
            next: 1,
        }
    }

    /// A message with the next number; `|` stands for the byte 1.
    pub(crate) fn message(&mut self, begin: &str, msg_type: &str, body: &str) -> Vec<u8> {
        let names = "49=PEER|56=OURS";
        let text = format!("35={msg_type}|34={}|{names}|52={}|{body}", self.next, now());
        self.next += 1;
        let mut bytes = Vec::new();
        fixcore::frame::write(
            begin.as_bytes(),
            text.replace('|', "\x01").as_bytes(),
            &mut bytes,
        );
        bytes
    }

    pub(crate) fn send(&mut self, begin: &str, msg_type: &str, body: &str) {
        let bytes = self.message(begin, msg_type, body);
        self.stream.write_all(&bytes).expect("sent");
    }

    /// The next message, with `|` for the byte 1; `None` at the end.
    pub(crate) fn receive(&mut self) -> Option<String> {
        loop {
            let end = self
                .received
                .windows(4)
                .position(|bytes| bytes == b"\x0110=");
            if let Some(end) = end.filter(|end| self.received.len() >= end + 8) {
                let message: Vec<u8> = self.received.drain(..end + 8).collect();
                return Some(String::from_utf8_lossy(&message).replace('\x01', "|"));
            }
            let mut room = [0; 65536];
            match self.stream.read(&mut room) {
                Ok(0) => return None,
                Ok(count) => self.received.extend_from_slice(&room[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("nothing came: {error}"),
            }
        }
    }

    pub(crate) fn expect(&mut self, has: &str) -> String {
        let message = self.receive().expect("a message");
        assert!(message.contains(has), "{has} in {message}");
        message
    }

    pub(crate) fn log_on(&mut self, begin: &str) {
        let version = if begin == "FIXT.1.1" { "1137=9|" } else { "" };
        self.send(begin, "A", &format!("98=0|108=30|{version}"));
        self.expect("|35=A|");
    }

    /// Reads whatever comes until the end.
    #[cfg(feature = "tls")]
    pub(crate) fn drained(&mut self) {
        let _ = self.stream.read_to_end(&mut Vec::new());
    }

    pub(crate) fn closed(&mut self) {
        assert_eq!(self.receive(), None);
    }
}

pub(crate) const ORDER: &str = "11=ID|21=1|38=100|40=1|54=1|55=MSFT|60=20260105-10:00:00|";

pub(crate) fn settings(sessions: &[&str]) -> String {
    let mut text =
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
                    StartTime=00:00:00\nEndTime=00:00:00\nSenderCompID=OURS\nTargetCompID=PEER\n"
            .to_owned();
    for session in sessions {
        text.push_str(&format!("[SESSION]\n{session}\n"));
    }
    text
}

#[test]
fn all_versions_log_on_and_trade_in_one_process() {
    all_versions(|_| {});
}

#[test]
fn so_they_do_over_the_best_interface_that_there_is() {
    all_versions(|options| options.interface = Choice::Auto);
}

#[test]
fn so_they_do_with_a_thread_that_never_sleeps() {
    all_versions(|options| options.busy_poll = true);
}

fn all_versions(change: impl FnOnce(&mut EngineOptions)) {
    let begins = ["FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4"];
    let mut sessions: Vec<String> = begins.map(|begin| format!("BeginString={begin}")).to_vec();
    sessions.push("BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2".to_owned());
    let sessions: Vec<&str> = sessions.iter().map(String::as_str).collect();
    let running = Running::start(&settings(&sessions), change);
    let mut peers: Vec<(&str, Peer)> = Vec::new();
    for begin in begins.into_iter().chain(["FIXT.1.1"]) {
        let mut peer = running.connect();
        peer.log_on(begin);
        peers.push((begin, peer));
    }
    for (begin, peer) in &mut peers {
        // TransactTime (60) came with FIX 4.2.
        let old = ["FIX.4.0", "FIX.4.1"].contains(begin);
        let order = ORDER.split("60=").next().filter(|_| old).unwrap_or(ORDER);
        peer.send(begin, "D", order);
        let echo = peer.expect("|35=D|34=2|");
        assert!(echo.contains(&format!("|{order}")), "{echo}");
        peer.send(begin, "1", "112=HOW|");
        peer.expect("|112=HOW|");
    }
    // Asked to stop, it logs everyone out and waits for the answers.
    running.stop.store(true, Ordering::Relaxed);
    for (begin, peer) in &mut peers {
        peer.expect("|35=5|");
        peer.send(begin, "5", "");
        peer.closed();
    }
    assert!(
        running
            .stop()
            .iter()
            .all(|state| (state.1, state.2) == (5, 5))
    );
}

#[test]
fn strangers_are_turned_away_without_an_answer() {
    let sessions = [
        "BeginString=FIX.4.4",
        "BeginString=FIX.4.2\nAllowedRemoteAddresses=192.0.2.1",
    ];
    // No peer is so slow that it has no time for its Logon.
    let running = Running::start(&settings(&sessions), |options| {
        options.first_message_timeout = 2 * PATIENCE;
    });
    let mut first = running.connect();
    first.log_on("FIX.4.4");
    let turned_away = |running: &Running, send: &dyn Fn(&mut Peer), why: &str| {
        let mut peer = running.connect();
        send(&mut peer);
        peer.closed();
        running.until(why);
    };
    let why = |send: &dyn Fn(&mut Peer), why: &str| turned_away(&running, send, why);
    why(
        &|peer| peer.send("FIX.4.3", "A", "98=0|108=30|"),
        "unknown session FIX.4.3:OURS->PEER",
    );
    why(
        &|peer| peer.send("FIX.4.2", "A", "98=0|108=30|"),
        "AllowedRemoteAddresses",
    );
    why(
        &|peer| peer.send("FIX.4.4", "A", "98=0|108=30|"),
        "connected already",
    );
    why(
        &|peer| peer.send("FIX.4.4", "D", ORDER),
        "not a valid Logon",
    );
    why(
        &|peer| {
            peer.stream
                .write_all(b"GET / HTTP/1.1\r\n\r\n")
                .expect("sent")
        },
        "not a valid Logon",
    );
    // The older connection lives.
    first.send("FIX.4.4", "1", "112=ALIVE|");
    first.expect("|112=ALIVE|");
    let hasty = Running::start(&settings(&sessions), |options| {
        options.first_message_timeout = Duration::from_millis(50);
    });
    turned_away(&hasty, &|_| {}, "no Logon in time");
    // It may be gone before this comes.
    let begin = |peer: &mut Peer| drop(peer.stream.write_all(b"8=FIX.4.4\x019="));
    turned_away(&hasty, &begin, "no Logon in time");
}

#[test]
fn templates_make_sessions_of_whoever_fits() {
    let sessions = ["BeginString=FIX.4.4\nTargetCompID=*\nAcceptorTemplate=Y"];
    let running = Running::start(&settings(&sessions), |options| {
        options.dynamic_sessions_max = 1
    });
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.send("FIX.4.4", "D", ORDER);
    peer.expect("|35=D|34=2|49=OURS|");
    let mut other = running.connect();
    let logon = other.message("FIX.4.4", "A", "98=0|108=30|");
    let logon = String::from_utf8(logon)
        .expect("text")
        .replace("49=PEER", "49=PEAR");
    let body = logon.split_once("\x0135=").expect("a body").1;
    let body = format!("35={}", &body[..body.len() - 7]);
    let mut bytes = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut bytes);
    other.stream.write_all(&bytes).expect("sent");
    other.closed();
    running.until("too many");
}

#[test]
fn an_initiator_finds_the_host_that_answers_and_comes_back_after_a_lost_line() {
    let acceptor = Running::start(&settings(&["BeginString=FIX.4.4"]), |_| {});
    let port = acceptor.address.expect("it listens").port();
    // Of tcpmux: no one listens there, and no test is ever given this port.
    let dead_port = 1;
    let text = format!(
        "[DEFAULT]\nConnectionType=initiator\nStartTime=00:00:00\nEndTime=00:00:00\nHeartBtInt=30\n\
         ReconnectInterval=1\nSocketConnectHost=127.0.0.1\nSocketConnectPort={dead_port}\n\
         SocketConnectHost1=127.0.0.1\nSocketConnectPort1={port}\n\
         [SESSION]\nBeginString=FIX.4.4\nSenderCompID=PEER\nTargetCompID=OURS\n"
    );
    let initiator = Running::start(&text, |_| {});
    initiator.until("cannot connect");
    initiator.until("connected with 127.0.0.1");
    acceptor.until("connected with 127.0.0.1");
    // The other side goes away and comes again at the same port.
    std::thread::sleep(Duration::from_millis(100));
    let states = acceptor.stop();
    assert_eq!(states.len(), 1);
    initiator.until("disconnected");
    let text = settings(&["BeginString=FIX.4.4"]);
    let text = text.replace("SocketAcceptPort=0", &format!("SocketAcceptPort={port}"));
    let again = Running::start(&text, |_| {});
    again.until("connected with 127.0.0.1");
}
