//! Captures of network traffic: any bytes as pcap or pcapng, whatever pieces they come in.

use std::io;

use fixlog::{
    Block, Blocks, Captured, Found, Got, Job, Logs, Made, Messages, Origin, Separator, Source,
    Task, Worker, Workers,
};

/// A capture that brings a few bytes at a time.
struct Pieces<'d> {
    rest: &'d [u8],
    bytes: usize,
}

impl Source for Pieces<'_> {
    fn read(&mut self, room: &mut [u8], _: &dyn Fn() -> bool) -> io::Result<Got> {
        let count = self.rest.len().min(self.bytes).min(room.len());
        let (piece, rest) = self.rest.split_at(count);
        room[..count].copy_from_slice(piece);
        self.rest = rest;
        Ok(match count {
            0 => Got::End,
            count => Got::Bytes(count),
        })
    }
}

/// One log.
struct One<L>(Option<L>);

impl<L: Source + Send> Logs for One<L> {
    type Log = L;

    fn open(&mut self, _: usize) -> Option<io::Result<L>> {
        self.0.take().map(Ok)
    }
}

/// Messages and what is bad with their places, what is lost, and why the capture was not read to its end.
type All = (
    Vec<(Option<Origin>, Result<Vec<u8>, String>)>,
    Vec<String>,
    Option<String>,
);

fn all(data: &[u8], bytes: usize) -> All {
    let pieces = Pieces { rest: data, bytes };
    let mut blocks = Blocks::new(One(Some(Captured::new(pieces))), Separator::Soh);
    let (mut block, mut messages) = (Block::default(), Messages::new());
    let (mut found, mut lost, mut error) = (Vec::new(), Vec::new(), None);
    while blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, what| {
            match what {
                Found::Message(bytes, _) => found.push((block.origin(offset), Ok(bytes.to_vec()))),
                Found::Bad(why) => found.push((block.origin(offset), Err(why.to_string()))),
                Found::Lost(what) => lost.push(what.text.clone()),
                _ => {}
            }
            true
        });
        if let Some(ended) = block.take_ended() {
            error = ended.error.map(|error| error.to_string());
        }
    }
    // Where the read stood when it failed depends on the pieces.
    (found, lost, error.map(|_| "damaged".to_owned()))
}

/// Any bytes as a capture: what is found does not depend on the pieces in which it comes, and each message begins
/// where its place says. Commands write valid lines about it.
pub fn fix_capture(data: &[u8]) {
    let whole = all(data, usize::MAX);
    for bytes in [1, 7] {
        assert_eq!(all(data, bytes), whole, "{bytes} bytes at a time");
    }
    for (origin, message) in &whole.0 {
        let Some(origin) = origin else {
            continue;
        };
        assert!(origin.packet > 0 && !origin.stream.is_empty());
        if message.is_ok() {
            assert_eq!(data.get(origin.offset as usize), Some(&b'8'));
        }
    }
    let worker = Worker::new(Task::new(Job::Validate));
    let mut text = Vec::new();
    let ended = Workers::new().run(
        &|| false,
        One(Some(Captured::new(Pieces {
            rest: data,
            bytes: usize::MAX,
        }))),
        vec![worker],
        |worker, block, made: &mut Made| worker.block(block, made),
        |_, made| {
            text.extend_from_slice(&made.out);
            Ok::<(), io::Error>(())
        },
    );
    assert!(ended.result.is_ok());
    for line in text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        serde_json::from_slice::<serde_json::Value>(line).expect("JSON");
    }
}
