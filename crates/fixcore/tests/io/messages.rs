//! Messages and their answers, in any pieces.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use fixcore::io::{Backend, Connections, Options, Setup, Wait};

use crate::support::{Case, Echo, answer, connected, message, read, tcp, write};

pub(crate) const CASES: &[Case] = &[
    ("many_connections_are_answered_in_few_calls", many),
    ("messages_in_pieces_are_whole", pieces),
    ("every_byte_by_itself_is_a_message_in_the_end", bytes),
    ("noise_is_told_of", noise),
    ("what_is_queued_is_sent_before_the_thread_sleeps", flushed),
    ("a_wait_ends_when_its_time_is_over", time_over),
    ("a_socket_that_does_not_block_is_waited_for", nonblocking),
    ("a_signal_ends_a_wait", signal),
    ("long_messages_go_out_of_registered_memory", registered),
    ("random_pieces_of_many_are_answered_in_order", random),
];

fn many(options: &Options) {
    const NUMBER: usize = 64;
    let (mut connections, mut peers, ids) = connected(options, NUMBER);
    let mut echo = Echo::default();
    for round in 0..5 {
        let before = connections.counts();
        for (at, peer) in peers.iter_mut().enumerate() {
            assert_eq!(
                write(peer, &message(at as u64, 100)),
                message(at as u64, 100).len()
            );
        }
        for (at, peer) in peers.iter_mut().enumerate() {
            let wanted = message(at as u64, 100);
            assert_eq!(
                answer(&mut connections, &mut echo, peer, wanted.len()),
                wanted
            );
        }
        let after = connections.counts();
        assert_eq!(after.messages - before.messages, NUMBER as u64);
        let calls = after.syscalls - before.syscalls;
        let most = match connections.backend() {
            // The kernel processes at least 20 receives in a call; answers go with the next ones.
            Backend::Uring(Setup::Deferred) => 6,
            Backend::Uring(_) => NUMBER as u64 / 2,
            _ => 2 * NUMBER as u64 + 8,
        };
        assert!(
            round == 0 || calls <= most,
            "{calls} calls, {most} are enough"
        );
    }
    let mut seen = echo.from.clone();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), ids.len(), "every connection has its own name");
}

fn pieces(options: &Options) {
    let (mut connections, mut peers, _) = connected(options, 1);
    let mut echo = Echo::default();
    let all: Vec<u8> = (0..20).flat_map(|number| message(number, 300)).collect();
    let mut got = Vec::new();
    for piece in all.chunks(97) {
        assert_eq!(write(&mut peers[0], piece), piece.len());
        connections.turn(Wait::Event, &mut echo).unwrap();
        got.extend(read(&mut peers[0], all.len()).0);
    }
    let left = all.len() - got.len();
    got.extend(answer(&mut connections, &mut echo, &mut peers[0], left));
    assert!(got == all && echo.from.len() == 20 && echo.skipped == 0);
}

fn bytes(options: &Options) {
    let (mut connections, mut peers, _) = connected(options, 1);
    let mut echo = Echo::default();
    let wanted = message(7, 0);
    for byte in &wanted {
        assert!(echo.from.is_empty());
        assert_eq!(write(&mut peers[0], &[*byte]), 1);
        let before = connections.counts().receives;
        while connections.counts().receives == before {
            connections.turn(Wait::Event, &mut echo).unwrap();
        }
    }
    assert_eq!(
        answer(&mut connections, &mut echo, &mut peers[0], wanted.len()),
        wanted
    );
}

fn noise(options: &Options) {
    let (mut connections, mut peers, _) = connected(options, 1);
    let mut echo = Echo::default();
    let wanted = message(1, 10);
    let sent = [
        b"no message ",
        &wanted[..],
        b"8=FIX.4.4\x019=x\x01",
        &wanted,
    ]
    .concat();
    assert_eq!(write(&mut peers[0], &sent), sent.len());
    let got = answer(&mut connections, &mut echo, &mut peers[0], 2 * wanted.len());
    assert_eq!(got, [&wanted[..], &wanted].concat());
    assert_eq!(echo.skipped, (sent.len() - 2 * wanted.len()) as u64);
}

fn flushed(options: &Options) {
    let (mut connections, mut peers, ids) = connected(options, 2);
    let mut echo = Echo::default();
    let wanted = message(1, 10);
    connections.turn(Wait::Poll, &mut echo).unwrap();
    connections.send(ids[0], &wanted).unwrap();
    assert!(read(&mut peers[0], 1).0.is_empty(), "it is queued only");
    // The peer answers once it has the message: if sending waited for another turn, this one would
    // sleep for ever.
    let mut other = peers[0].try_clone().unwrap();
    let waits = wanted.len();
    let peer = std::thread::spawn(move || {
        other.set_nonblocking(false).unwrap();
        let mut bytes = vec![0; waits];
        std::io::Read::read_exact(&mut other, &mut bytes).unwrap();
        other.write_all(&bytes).unwrap();
        bytes
    });
    while echo.from.is_empty() {
        connections.turn(Wait::Event, &mut echo).unwrap();
    }
    assert_eq!(peer.join().unwrap(), wanted);
}

fn time_over(options: &Options) {
    let (mut connections, _peers, _) = connected(options, 1);
    let mut echo = Echo::default();
    for wait in [Wait::For(Duration::from_millis(2)), Wait::Poll] {
        for _ in 0..3 {
            assert_eq!(connections.turn(wait, &mut echo).unwrap(), 0);
        }
    }
}

fn nonblocking(options: &Options) {
    let mut connections = Connections::open(options).unwrap();
    let (ours, mut peer) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    peer.set_nonblocking(true).unwrap();
    connections.add(ours).unwrap();
    let mut echo = Echo::default();
    for _ in 0..20 {
        let wait = Wait::For(Duration::from_millis(1));
        assert_eq!(connections.turn(wait, &mut echo).unwrap(), 0);
    }
    // A set that gets "nothing to read" must not ask again in each turn, or it would never sleep.
    let rearmed = connections.counts().rearmed;
    assert!(rearmed <= 3, "asked {rearmed} times");
    let wanted = message(1, 30);
    write(&mut peer, &wanted);
    assert_eq!(
        answer(&mut connections, &mut echo, &mut peer, wanted.len()),
        wanted
    );
}

fn signal(options: &Options) {
    use nix::sys::pthread::{pthread_kill, pthread_self};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let (mut connections, _peers, _) = connected(options, 1);
    let mut echo = Echo::default();
    let came = Arc::new(AtomicBool::new(false));
    let id = signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&came)).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (us, told) = (pthread_self(), Arc::clone(&done));
    let signals = std::thread::spawn(move || {
        while !told.load(Ordering::Acquire) {
            pthread_kill(us, nix::sys::signal::Signal::SIGUSR1).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    // Nothing else would ever end this wait.
    connections.turn(Wait::Event, &mut echo).unwrap();
    while !came.load(Ordering::Acquire) {
        connections.turn(Wait::Event, &mut echo).unwrap();
    }
    done.store(true, Ordering::Release);
    signals.join().unwrap();
    signal_hook::low_level::unregister(id);
    assert!(echo.closed.is_empty() && echo.from.is_empty());
}

fn registered(options: &Options) {
    let options = options.clone().registered(true).connections_max(4);
    let mut connections = Connections::open(&options).unwrap();
    let mut echo = Echo::default();
    let (ours, mut peer) = tcp();
    connections.add(ours).unwrap();
    let (ours, mut other) = UnixStream::pair().unwrap();
    other.set_nonblocking(true).unwrap();
    connections.add(ours).unwrap();
    for number in 0..50 {
        let wanted = message(number, 7000);
        assert_eq!(write(&mut peer, &wanted), wanted.len());
        assert_eq!(
            answer(&mut connections, &mut echo, &mut peer, wanted.len()),
            wanted
        );
        // This kind of socket does not support it, so sends copy.
        assert_eq!(write(&mut other, &wanted), wanted.len());
        assert_eq!(
            answer(&mut connections, &mut echo, &mut other, wanted.len()),
            wanted
        );
    }
}

fn random(options: &Options) {
    const NUMBER: usize = 9;
    let (mut connections, mut peers, _) = connected(options, NUMBER);
    let mut echo = Echo::default();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let streams: Vec<Vec<u8>> = (0..NUMBER)
        .map(|_| {
            (0..200)
                .flat_map(|number| message(number, random(900)))
                .collect()
        })
        .collect();
    let (mut sent, mut got) = ([0; NUMBER], vec![Vec::new(); NUMBER]);
    while got
        .iter()
        .zip(&streams)
        .any(|(got, stream)| got.len() < stream.len())
    {
        let at = random(NUMBER);
        let rest = &streams[at][sent[at]..];
        sent[at] += write(&mut peers[at], &rest[..rest.len().min(random(5000))]);
        connections.turn(Wait::Poll, &mut echo).unwrap();
        let at = random(NUMBER);
        let most = random(8000);
        got[at].extend(read(&mut peers[at], most).0);
    }
    assert!(got == streams, "every stream comes back as it was");
}
