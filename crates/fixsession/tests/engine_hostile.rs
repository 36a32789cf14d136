//! What one peer can do to the others: nothing. And to the engine: no more than its limits.

use std::io::Write as _;
use std::time::{Duration, Instant};

use crate::engine::{ORDER, PATIENCE, Running, settings};

#[test]
fn a_peer_that_does_not_read_loses_its_connection_and_others_go_on() {
    let sessions = ["BeginString=FIX.4.4", "BeginString=FIX.4.2"];
    let running = Running::start(&settings(&sessions), |options| {
        options.unsent_bytes_max = 256 << 10;
    });
    let mut good = running.connect();
    good.log_on("FIX.4.2");
    let mut bad = running.connect();
    bad.log_on("FIX.4.4");
    // It sends until it is cut off, and reads nothing.
    bad.stream
        .set_write_timeout(Some(Duration::from_millis(200)))
        .expect("set");
    let started = Instant::now();
    let mut sent = 0_u64;
    loop {
        let order = bad.message("FIX.4.4", "D", ORDER);
        match bad.stream.write_all(&order) {
            Ok(()) => sent += 1,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => bad.next -= 1,
            Err(_) => break,
        }
        assert!(
            started.elapsed() < PATIENCE,
            "still connected after {sent} orders"
        );
    }
    running.until("does not read");
    good.send("FIX.4.2", "D", ORDER);
    good.expect("|35=D|34=2|");
}

#[test]
fn a_peer_with_too_many_messages_waiting_loses_its_connection() {
    let session = "BeginString=FIX.4.4\nMaxScheduledWriteRequests=20\nSocketSendBufferSize=4096";
    let running = Running::start(&settings(&[session]), |_| {});
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    // A peer that reads has no trouble.
    for number in 2..52 {
        peer.send("FIX.4.4", "D", ORDER);
        peer.expect(&format!("|35=D|34={number}|"));
    }
    let wait = Some(Duration::from_millis(200));
    peer.stream.set_write_timeout(wait).expect("set");
    let started = Instant::now();
    loop {
        let order = peer.message("FIX.4.4", "D", ORDER);
        match peer.stream.write_all(&order) {
            Err(error) if error.kind() != std::io::ErrorKind::WouldBlock => break,
            _ => assert!(started.elapsed() < PATIENCE, "still connected"),
        }
    }
    running.until("MaxScheduledWriteRequests");
}

#[test]
fn a_flood_of_one_session_does_not_hold_up_another() {
    let sessions = ["BeginString=FIX.4.4", "BeginString=FIX.4.2"];
    let running = Running::start(&settings(&sessions), |options| options.budget_messages = 16);
    let mut calm = running.connect();
    calm.log_on("FIX.4.2");
    let mut flood = running.connect();
    flood.log_on("FIX.4.4");
    let mut reader = flood.stream.try_clone().expect("cloned");
    let drain = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
    let writer = std::thread::spawn(move || {
        let orders: Vec<Vec<u8>> = (0..20_000)
            .map(|_| flood.message("FIX.4.4", "D", ORDER))
            .collect();
        for some in orders.chunks(500) {
            flood.stream.write_all(&some.concat()).expect("sent");
        }
        flood
            .stream
            .shutdown(std::net::Shutdown::Both)
            .expect("shut");
    });
    // Thousands of orders wait, but few of them are handled before this.
    let mut meanwhile = 0;
    for _ in 0..5 {
        calm.send("FIX.4.2", "1", "112=HOW|");
        calm.expect("|112=HOW|");
        meanwhile += usize::from(!writer.is_finished());
    }
    assert!(meanwhile > 0, "no answer came before the flood was over");
    writer.join().expect("sent");
    drop(drain);
}

#[test]
fn messages_byte_by_byte_and_many_at_once_are_the_same() {
    let running = Running::start(&settings(&["BeginString=FIX.4.4"]), |_| {});
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.stream.set_nodelay(true).expect("set");
    for byte in peer.message("FIX.4.4", "D", ORDER) {
        peer.stream.write_all(&[byte]).expect("sent");
    }
    peer.expect("|35=D|34=2|");
    let many: Vec<u8> = (0..1000)
        .flat_map(|_| peer.message("FIX.4.4", "D", ORDER))
        .collect();
    peer.stream.write_all(&many).expect("sent");
    for number in 3..1003 {
        peer.expect(&format!("|35=D|34={number}|"));
    }
}

#[test]
fn a_length_of_a_gigabyte_and_half_open_connections_cost_nothing() {
    let running = Running::start(&settings(&["BeginString=FIX.4.4"]), |options| {
        // Long enough for a busy machine to connect all of them.
        options.first_message_timeout = Duration::from_secs(5);
        options.connections_max = 8;
    });
    let mut silent: Vec<_> = (0..8).map(|_| running.connect()).collect();
    // The set is full.
    let mut ninth = running.connect();
    ninth.closed();
    running.until("too many");
    for peer in &mut silent {
        peer.closed();
    }
    let mut peer = running.connect();
    peer.stream
        .write_all(b"8=FIX.4.4\x019=999999999\x0135=A\x01")
        .expect("sent");
    peer.closed();
    let mut peer = running.connect();
    peer.log_on("FIX.4.4");
    peer.stream
        .write_all(b"8=FIX.4.4\x019=999999999\x0135=D\x01")
        .expect("sent");
    peer.expect("|35=5|");
    peer.closed();
}
