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
