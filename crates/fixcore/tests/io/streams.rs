//! Streams without frames: what is sent arrives, a stream that is finished still receives, and one that was
//! closed is gone once.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use fixcore::io::{Id, Options, StreamEvent, Streams, Wait};

use crate::support::Case;

pub(crate) const CASES: &[Case] = &[
    ("streams_carry_more_than_fits", more_than_fits),
    ("a_finished_stream_still_receives", finished),
    ("a_closed_stream_is_gone_once", closed),
    ("a_busy_stream_does_not_hide_others", busy),
    ("flushed_bytes_need_no_turn", flushed),
];

/// What happened, and the bytes that came.
fn events(streams: &mut Streams) -> (Vec<&'static str>, Vec<u8>) {
    let (mut names, mut bytes) = (Vec::new(), Vec::new());
    streams.turn(Wait::For(Duration::from_millis(200))).unwrap();
    while let Some(event) = streams.next_event() {
        names.push(match event {
            StreamEvent::Received(_, lent) => {
                bytes.extend_from_slice(streams.bytes(&lent));
                streams.release(lent);
                "received"
            }
            StreamEvent::Sent(_) => "sent",
            StreamEvent::Ended(_, None) => "ended",
            StreamEvent::Gone(_) => "gone",
            _ => "other",
        });
    }
    (names, bytes)
}

fn one(options: &Options) -> (Streams, Id, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let mut streams = Streams::open(options).unwrap();
    let id = streams.add(ours).unwrap();
    (streams, id, theirs)
}

fn more_than_fits(options: &Options) {
    let (mut streams, id, mut theirs) = one(options);
    let all: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    let expected = all.clone();
    let reader = std::thread::spawn(move || {
        let mut read = vec![0; expected.len()];
        theirs.read_exact(&mut read).unwrap();
        assert!(read == expected, "the bytes differ");
        theirs
    });
    streams.tell_sent(id);
    let mut sent = 0;
    while sent < all.len() {
        sent += streams.send(id, &all[sent..]);
        events(&mut streams);
    }
    while streams.queued(id) > 0 {
        events(&mut streams);
    }
    reader.join().unwrap();
}

fn finished(options: &Options) {
    let (mut streams, id, mut theirs) = one(options);
    assert_eq!(streams.send(id, b"last"), 4);
    while streams.queued(id) > 0 {
        events(&mut streams);
    }
    streams.finish(id);
    let mut read = Vec::new();
    theirs.read_to_end(&mut read).unwrap();
    assert_eq!(read, b"last");
    theirs.write_all(b"late").unwrap();
    let mut came = Vec::new();
    while came.len() < 4 {
        came.extend(events(&mut streams).1);
    }
    assert_eq!(came, b"late");
    drop(theirs);
    while !events(&mut streams).0.contains(&"ended") {}
    assert_eq!(streams.len(), 1, "until it is closed");
}

fn closed(options: &Options) {
    let (mut streams, id, mut theirs) = one(options);
    events(&mut streams);
    streams.close(id);
    streams.close(id);
    assert_eq!(streams.send(id, b"x"), 0);
    let mut names = Vec::new();
    while !names.contains(&"gone") {
        names.extend(events(&mut streams).0);
    }
    names.extend(events(&mut streams).0);
    assert_eq!(names.iter().filter(|name| **name == "gone").count(), 1);
    assert!(streams.is_empty());
    assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
    // The place is taken by a further one; the old name means nothing.
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let next = streams.add(ours).unwrap();
    assert_eq!((next.place(), next == id), (id.place(), false));
    assert_eq!(streams.send(id, b"x"), 0);
}

/// Polls until something comes, at most this often: who sent what.
fn polled(streams: &mut Streams, most: usize) -> Option<(Id, Vec<u8>)> {
    for _ in 0..most {
        streams.turn(Wait::Poll).unwrap();
        while let Some(event) = streams.next_event() {
            if let StreamEvent::Received(id, lent) = event {
                let bytes = streams.bytes(&lent).to_vec();
                streams.release(lent);
                return Some((id, bytes));
            }
        }
    }
    None
}

fn busy(options: &Options) {
    let (mut streams, first, mut theirs) = one(options);
    let (ours, mut other) = UnixStream::pair().unwrap();
    let second = streams.add(ours).unwrap();
    // One stream at a time; then both, of which neither waits for long.
    for round in 0..200_u32 {
        theirs.write_all(&round.to_ne_bytes()).unwrap();
        let found = polled(&mut streams, 100);
        assert_eq!(found, Some((first, round.to_ne_bytes().to_vec())));
        if round % 50 == 49 {
            other.write_all(b"other").unwrap();
            theirs.write_all(b"again").unwrap();
            let mut came = [polled(&mut streams, 100), polled(&mut streams, 100)];
            came.sort_by_key(|it| it.as_ref().map(|it| it.0.place()));
            let expected = [(first, b"again".to_vec()), (second, b"other".to_vec())];
            assert_eq!(came, expected.map(Some));
        }
    }
    assert_eq!(polled(&mut streams, 20), None);
    drop(theirs);
    let mut ended = false;
    for _ in 0..100 {
        streams.turn(Wait::Poll).unwrap();
        while let Some(event) = streams.next_event() {
            ended |= matches!(event, StreamEvent::Ended(id, None) if id == first);
        }
    }
    assert!(ended, "its end is seen");
}

fn flushed(options: &Options) {
    let (mut streams, id, mut theirs) = one(options);
    // Its receive is there by then, however the system wants it.
    events(&mut streams);
    assert_eq!(streams.send(id, b"now"), 3);
    streams.flush().unwrap();
    theirs
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut read = [0; 3];
    theirs.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"now");
}
