//! How connections end, and sets that are dropped with requests in flight.

use std::io::Write;
use std::net::Shutdown;

use fixcore::io::{Connections, Options, Wait};

use crate::support::{Case, Echo, answer, connected, message, read, tcp, write};

pub(crate) const CASES: &[Case] = &[
    ("a_peer_that_ends_gets_its_answers_first", half_closed),
    ("a_peer_that_is_gone_closes_its_connection_only", gone),
    ("a_connection_that_is_reset_failed", reset),
    ("a_close_waits_for_what_is_queued", closing),
    ("an_abort_waits_for_nothing", aborted),
    ("a_set_that_is_dropped_takes_back_its_memory", dropped),
];

fn until_closed(connections: &mut Connections, echo: &mut Echo, number: usize) {
    while echo.closed.len() < number {
        connections.turn(Wait::Event, echo).unwrap();
    }
}

fn half_closed(options: &Options) {
    let (mut connections, mut peers, ids) = connected(options, 2);
    let mut echo = Echo::default();
    let wanted: Vec<u8> = (0..10).flat_map(|number| message(number, 500)).collect();
    assert_eq!(write(&mut peers[0], &wanted), wanted.len());
    // An incomplete message is reported at the end.
    assert_eq!(write(&mut peers[0], b"8=FIX.4.4\x01"), 10);
    peers[0].shutdown(Shutdown::Write).unwrap();
    let got = answer(&mut connections, &mut echo, &mut peers[0], wanted.len() + 1);
    assert_eq!(got, wanted);
    until_closed(&mut connections, &mut echo, 1);
    assert_eq!(echo.closed, [(ids[0], "peer")]);
    assert_eq!((echo.skipped, connections.len()), (10, 1));
}

fn gone(options: &Options) {
    let (mut connections, mut peers, ids) = connected(options, 8);
    let mut echo = Echo::default();
    let last = peers.pop().unwrap();
    for mut peer in peers.drain(..) {
        // A request whose answer is never read.
        write(&mut peer, &message(1, 400));
    }
    until_closed(&mut connections, &mut echo, 7);
    assert_eq!(connections.len(), 1);
    peers.push(last);
    let wanted = message(2, 20);
    write(&mut peers[0], &wanted);
    assert_eq!(
        answer(&mut connections, &mut echo, &mut peers[0], wanted.len()),
        wanted
    );
    assert!(echo.closed.iter().all(|(id, _)| *id != ids[7]));
}

fn reset(options: &Options) {
    let mut connections = Connections::open(options).unwrap();
    let mut echo = Echo::default();
    let (ours, mut peer) = tcp();
    let id = connections.add(ours).unwrap();
    let wanted = message(1, 100);
    write(&mut peer, &wanted);
    while echo.from.is_empty() {
        connections.turn(Wait::Event, &mut echo).unwrap();
    }
    // Closing a TCP connection with an unread answer resets it.
    connections.turn(Wait::Poll, &mut echo).unwrap();
    rustix::net::sockopt::set_socket_linger(&peer, Some(std::time::Duration::ZERO)).unwrap();
    drop(peer);
    until_closed(&mut connections, &mut echo, 1);
    assert_eq!(echo.closed, [(id, "failed")]);
}

fn closing(options: &Options) {
    let (mut connections, mut peers, ids) = connected(options, 2);
    let mut echo = Echo {
        close_after: Some(3),
        ..Echo::default()
    };
    let one = message(5, 50);
    // The fourth comes after the end.
    write(&mut peers[0], &[&one[..]; 4].concat());
    let got = answer(&mut connections, &mut echo, &mut peers[0], 4 * one.len());
    assert_eq!(got, [&one[..]; 3].concat(), "then the end");
    connections.send(ids[1], b"last words").unwrap();
    connections.close(ids[1]);
    connections.send(ids[1], b"more").unwrap_err();
    until_closed(&mut connections, &mut echo, 2);
    assert_eq!(read(&mut peers[1], 100), (b"last words".to_vec(), true));
    assert_eq!(echo.closed, [(ids[0], "here"), (ids[1], "here")]);
}

fn aborted(options: &Options) {
    let (mut connections, mut peers, ids) = connected(options, 1);
    let mut echo = Echo::default();
    connections.turn(Wait::Poll, &mut echo).unwrap();
    connections.send(ids[0], b"never sent").unwrap();
    connections.abort(ids[0]);
    until_closed(&mut connections, &mut echo, 1);
    assert_eq!(read(&mut peers[0], 100), (Vec::new(), true));
    assert_eq!(echo.closed, [(ids[0], "here")]);
}

/// Armed receives and blocked sends whose buffers are freed: if the kernel still used them, it would
/// write into memory of the next round.
fn dropped(options: &Options) {
    for round in 0..20_u64 {
        let (mut connections, mut peers, ids) = connected(options, 16);
        let mut echo = Echo::default();
        let answers = vec![b'x'; options.answer_bytes_max];
        for _ in 0..100 {
            for id in &ids[..8] {
                let _ = connections.send(*id, &answers);
            }
            connections.turn(Wait::Poll, &mut echo).unwrap();
        }
        for peer in &mut peers {
            write(peer, &message(round, 1000)[..500]);
        }
        drop(connections);
        let kept = vec![0_u8; options.buffers * options.buffer_bytes];
        for peer in &mut peers {
            let _ = peer.write(&[1; 300]);
            while !read(peer, 1 << 20).1 {}
        }
        assert!(
            kept.iter().all(|byte| *byte == 0),
            "memory of ours was written to"
        );
    }
}
