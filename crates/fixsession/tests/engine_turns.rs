//! What a turn of the engine takes at most, by a clock of its own: no time of the machine is looked at.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixcore::Timestamp;
use fixcore::io::Choice;
use fixsession::engine::{Clock, Engine, EngineOptions, Timing};
use fixsession::settings::Settings;
use fixsession::{Echo, Now};

use crate::engine::{ORDER, Peer, settings};

/// By this clock everything takes time: each look at it finds it so much later.
struct Steps {
    step: Duration,
    looks: Cell<u32>,
    start: i64,
}

impl Steps {
    fn new(step: Duration) -> Self {
        let start = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .expect("after 1970");
        Self {
            step,
            looks: Cell::new(0),
            start: i64::try_from(start.as_nanos()).expect("before 2262"),
        }
    }
}

impl Clock for Steps {
    fn now(&self) -> Now {
        self.looks.set(self.looks.get() + 1);
        let monotonic = self.step * self.looks.get();
        let ns = i64::try_from(monotonic.as_nanos()).expect("short");
        Now {
            monotonic,
            utc: Timestamp(self.start + ns),
        }
    }
}

const VERSIONS: [&str; 3] = ["FIX.4.4", "FIX.4.2", "FIX.4.3"];
const STEP: Duration = Duration::from_micros(20);
const TURN: Duration = Duration::from_micros(200);

/// An engine with a peer for each version; the first sends what would take far longer than a turn.
struct Setup {
    engine: Engine,
    clock: Steps,
    app: Echo,
}

impl Setup {
    fn open(interface: Choice) -> Self {
        let sessions = VERSIONS.map(|version| format!("BeginString={version}"));
        let text = settings(&sessions.each_ref().map(String::as_str));
        let read = Settings::parse(text.as_bytes(), Path::new("test.cfg"), &|_| None);
        let mut options = EngineOptions::default();
        options.interface = interface;
        options.turn_time_max = TURN;
        options.timings = true;
        let clock = Steps::new(STEP);
        let sessions = read.expect("valid").sessions;
        Self {
            engine: Engine::open(sessions, options, clock.now()).expect("open"),
            clock,
            app: Echo::default(),
        }
    }

    /// One turn: how many messages were handled, and the longest call of a session.
    fn turn(&mut self) -> (usize, Duration) {
        let wait = Duration::from_millis(1);
        let handled = self.engine.turn(wait, &self.clock, &mut self.app);
        let calls = self.engine.timings().filter_map(|timing| match timing {
            Timing::Call(time) => Some(time),
            _ => None,
        });
        (handled.expect("turn"), calls.max().unwrap_or_default())
    }

    /// A peer that is logged on.
    fn peer(&mut self, version: &str) -> Peer {
        let address = *self.engine.addresses().first().expect("it listens");
        let mut peer = Peer::new(std::net::TcpStream::connect(address).expect("connected"));
        peer.send(version, "A", "98=0|108=30|");
        while self.turn().0 == 0 {}
        // A ring sends in the next turn.
        self.turn();
        peer.expect("|35=A|");
        peer
    }
}

#[test]
fn no_session_holds_a_turn_longer_than_its_time() {
    for interface in [Choice::Epoll, Choice::Auto] {
        let mut setup = Setup::open(interface);
        let mut calm = setup.peer(VERSIONS[1]);
        let mut floods = [setup.peer(VERSIONS[0]), setup.peer(VERSIONS[2])];
        for (flood, version) in floods.iter_mut().zip([VERSIONS[0], VERSIONS[2]]) {
            let orders: Vec<u8> = (0..400)
                .flat_map(|_| flood.message(version, "D", ORDER))
                .collect();
            flood.stream.write_all(&orders).expect("it fits");
        }
        // Both are behind by now, and stay so for a while.
        let (mut handled, mut turns) = (0, 0);
        while handled < 40 {
            handled += setup.turn().0;
            turns += 1;
            assert!(turns < 10_000, "nothing comes");
        }
        calm.stream.set_nonblocking(true).expect("set");
        let mut room = [0; 1024];
        for _ in 0..10 {
            calm.send(VERSIONS[1], "1", "112=HOW|");
            let mut waited = 0;
            loop {
                let (handled, longest) = setup.turn();
                // A message takes two looks at the clock here, and the last one may begin just before the end.
                assert!(longest <= TURN + 4 * STEP, "{longest:?}");
                // One session that was behind, and whatever came; each within a turn.
                assert!(handled <= 2 * 11 + 3, "{handled} messages in a turn");
                waited += handled;
                match calm.stream.read(&mut room) {
                    Ok(count) => {
                        let answer = String::from_utf8_lossy(&room[..count]);
                        assert!(answer.contains("\x01112=HOW\x01"), "{answer}");
                        break;
                    }
                    Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
                }
                assert!(waited < 100, "{waited} orders of others came first");
            }
        }
    }
}
