//! Limits: buffers, completions, and bytes kept for a peer that does not read.

use std::os::unix::net::UnixStream;

use fixcore::io::{Backend, Connections, Options, SendError, Wait};

use crate::support::{Case, Echo, answer, connected, message, read, write};

pub(crate) const CASES: &[Case] = &[
    ("two_buffers_serve_many_connections", starved),
    ("few_completions_lose_nothing", overflown),
    ("a_peer_that_does_not_read_is_not_read_from", slow_reader),
    ("a_full_set_and_a_full_outbox_say_so", full),
    ("a_place_that_is_taken_again_has_another_name", names),
    ("settings_that_cannot_be_are_refused", settings),
];

fn starved(options: &Options) {
    let options = options.clone().buffers(2).buffer_bytes(64);
    let (mut connections, mut peers, _) = connected(&options, 64);
    let mut echo = Echo::default();
    connections.turn(Wait::Poll, &mut echo).unwrap();
    for (at, peer) in peers.iter_mut().enumerate() {
        write(peer, &message(at as u64, 500));
    }
    for (at, peer) in peers.iter_mut().enumerate() {
        let wanted = message(at as u64, 500);
        assert_eq!(
            answer(&mut connections, &mut echo, peer, wanted.len()),
            wanted
        );
    }
    let counts = connections.counts();
    if matches!(connections.backend(), Backend::Uring(_)) {
        assert!(counts.starved > 0 && counts.rearmed > 64, "{counts:?}");
    }
}

fn overflown(options: &Options) {
    let options = options.clone().completions(2);
    let (mut connections, mut peers, _) = connected(&options, 64);
    let mut echo = Echo::default();
    for round in 0..3 {
        connections.turn(Wait::Poll, &mut echo).unwrap();
        for (at, peer) in peers.iter_mut().enumerate() {
            write(peer, &message(at as u64 + round, 100));
        }
        for (at, peer) in peers.iter_mut().enumerate() {
            let wanted = message(at as u64 + round, 100);
            assert_eq!(
                answer(&mut connections, &mut echo, peer, wanted.len()),
                wanted
            );
        }
    }
    if matches!(connections.backend(), Backend::Uring(_)) {
        let counts = connections.counts();
        assert!(counts.overflows > 0, "{counts:?}");
    }
}

fn slow_reader(options: &Options) {
    let options = options
        .clone()
        .answer_bytes_max(5000)
        .outbox_bytes(10_000)
        .buffers(16)
        .completions(64);
    let mut connections = Connections::open(&options).unwrap();
    let (ours, mut peer) = UnixStream::pair().unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(&ours, 4096).unwrap();
    peer.set_nonblocking(true).unwrap();
    connections.add(ours).unwrap();
    let mut echo = Echo::default();
    let messages: Vec<Vec<u8>> = (0..2000).map(|number| message(number, 4000)).collect();
    let stream: Vec<u8> = messages.concat();
    // It sends until no more bytes are accepted.
    let (mut sent, mut idle) = (0, 0);
    while idle < 100 {
        let more = write(&mut peer, &stream[sent..]);
        sent += more;
        let handled = connections.turn(Wait::Poll, &mut echo).unwrap();
        idle = if more == 0 && handled == 0 {
            idle + 1
        } else {
            0
        };
    }
    assert!(
        sent < stream.len() / 2,
        "{sent} bytes were taken of one that reads nothing"
    );
    let counts = connections.counts();
    assert!(counts.paused > 0, "{counts:?}");
    assert!(counts.sends_blocked + counts.sends_short > 0, "{counts:?}");
    // Then it reads: everything arrives, in order.
    let mut got = Vec::new();
    while got.len() < stream.len() {
        sent += write(&mut peer, &stream[sent..]);
        connections.turn(Wait::Poll, &mut echo).unwrap();
        got.extend(read(&mut peer, stream.len()).0);
    }
    assert!(got == stream && echo.closed.is_empty());
}

fn full(options: &Options) {
    let options = options
        .clone()
        .connections_max(2)
        .answer_bytes_max(100)
        .outbox_bytes(200);
    let (mut connections, _peers, ids) = connected(&options, 2);
    assert_eq!(connections.len(), 2);
    let (third, _other) = UnixStream::pair().unwrap();
    let error = connections.add(third).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::QuotaExceeded);
    connections.send(ids[0], &[b'x'; 150]).unwrap();
    assert_eq!(
        connections.send(ids[0], &[b'x'; 51]),
        Err(SendError::Full { room: 50 })
    );
    connections.send(ids[0], &[b'x'; 50]).unwrap();
}

fn names(options: &Options) {
    let options = options.clone().connections_max(1);
    let (mut connections, peers, ids) = connected(&options, 1);
    let mut echo = Echo::default();
    drop(peers);
    while echo.closed.is_empty() {
        connections.turn(Wait::Event, &mut echo).unwrap();
    }
    assert!(connections.is_empty());
    let (ours, mut peer) = UnixStream::pair().unwrap();
    peer.set_nonblocking(true).unwrap();
    let again = connections.add(ours).unwrap();
    assert_eq!(again.place(), ids[0].place());
    assert_ne!(again, ids[0]);
    assert_eq!(connections.send(ids[0], b"x"), Err(SendError::Closed));
    connections.abort(ids[0]);
    let wanted = message(3, 3);
    write(&mut peer, &wanted);
    assert_eq!(
        answer(&mut connections, &mut echo, &mut peer, wanted.len()),
        wanted
    );
    assert_eq!(echo.from, [again]);
}

fn settings(options: &Options) {
    let wrong = [
        options.clone().connections_max(1 << 20),
        options.clone().buffers(3),
        options.clone().outbox_bytes(options.answer_bytes_max),
    ];
    for options in wrong {
        let error = Connections::open(&options).unwrap_err().to_string();
        assert!(error.contains("must be"), "{error}");
    }
    assert!(options.connection_bytes_max() > options.outbox_bytes + options.message_bytes_max);
}
