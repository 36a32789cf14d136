//! What a refused counterparty's operator reads, how long a connection may take for its Logon, and how an engine ends.

use std::path::Path;
use std::time::{Duration, Instant};

use fixsession::engine::{Clock as _, Engine, EngineOptions, SystemClock};
use fixsession::settings::Settings;

use crate::engine::{PATIENCE, Running, settings};

#[test]
fn a_template_says_which_key_would_let_a_logon_in() {
    let template = "AcceptorTemplate=Y\nBeginString=FIX.4.4\nTargetCompID=*";
    let running = Running::start(&settings(&[template]), |_| {});
    let mut peer = running.connect();
    peer.send("FIX.4.4", "A", "50=DESK|142=NY|98=0|108=30|");
    peer.closed();
    let said = running.until("unknown session");
    assert!(
        said.ends_with(
            "unknown session FIX.4.4:OURS->PEER/DESK/NY: state TargetSubID=* and TargetLocationID=* in the \
             template at line 9 to accept it"
        ),
        "{said}"
    );
}

#[test]
fn a_stated_logon_timeout_holds_before_the_logon() {
    let session = "BeginString=FIX.4.4\nLogonTimeout=1";
    let running = Running::start(&settings(&[session]), |options| {
        options.first_message_timeout = PATIENCE * 2;
    });
    let began = Instant::now();
    let mut peer = running.connect();
    peer.closed();
    assert!(began.elapsed() >= Duration::from_millis(900));
    running.until("no Logon in time");
}

#[test]
fn the_reason_of_a_refused_logon_stays_and_names_the_tag() {
    let text = settings(&["BeginString=FIX.4.4"]);
    let read = Settings::parse(text.as_bytes(), Path::new("test.cfg"), &|_| None);
    let clock = SystemClock::new();
    let options = EngineOptions::default();
    let mut engine =
        Engine::open(read.expect("right").sessions, options, clock.now()).expect("open");
    let address = engine.addresses().first().copied().expect("it listens");
    let peer = std::thread::spawn(move || {
        let stream = std::net::TcpStream::connect(address).expect("connected");
        let mut peer = crate::engine::Peer::new(stream);
        peer.send("FIX.4.4", "A", "98=0|");
        peer.closed();
    });
    let began = Instant::now();
    loop {
        engine
            .turn(Duration::from_millis(10), &clock, &mut ())
            .expect("turn");
        let state = engine.sessions().next().expect("a session");
        if let Some(reason) = state.last_reason {
            assert_eq!(reason, "Logon refused: Required tag missing (108)");
            break;
        }
        assert!(began.elapsed() < PATIENCE, "no reason");
    }
    while !peer.is_finished() {
        engine
            .turn(Duration::from_millis(10), &clock, &mut ())
            .expect("turn");
        assert!(began.elapsed() < PATIENCE, "it is not disconnected");
    }
    peer.join().expect("refused");
}

#[test]
fn an_engine_whose_sessions_are_logged_out_stops_at_once() {
    // Not after the second that a peer may take to close; a busy machine may delay some of these.
    let is_at_once = (0..20).any(|_| stopping() < Duration::from_millis(700));
    assert!(is_at_once);
}

/// The time from the peer's Logout to the engine's end.
fn stopping() -> Duration {
    let running = Running::start(&settings(&["BeginString=FIX.4.4"]), |_| {});
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    let leaving = std::thread::spawn(move || {
        peer.expect("|35=5|");
        peer.send("FIX.4.4", "5", "");
        // It keeps its end of the connection.
        let answered = Instant::now();
        (peer, answered)
    });
    running.stop();
    let (_peer, answered) = leaving.join().expect("it answers");
    answered.elapsed()
}
