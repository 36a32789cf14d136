//! What sinks write: bytes, holes, checksums.

use super::*;
use crate::place::HOLE_BYTES;

/// In place, behind, and behind once there was some, from the start and in the middle of a piece.
const WAYS: [Writes; 4] = [
    Writes::Inline,
    Writes::Behind,
    Writes::BehindAfter(0),
    Writes::BehindAfter(BUFFER_BYTES as u64 + 1),
];

fn write(options: SinkOptions, pieces: &[&[u8]]) -> (Vec<u8>, Written) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let handle = Output::new(file.as_file().try_clone().expect("a handle"));
    let mut sink = Sink::start(Some(handle), options, None).expect("started");
    for piece in pieces {
        for part in piece.chunks(BUFFER_BYTES) {
            let mut buffer = sink.take().expect("a buffer");
            buffer.room()[..part.len()].copy_from_slice(part);
            buffer.advance(part.len());
            sink.put(buffer).expect("put");
        }
    }
    let (written, _) = sink.finish().expect("finished");
    (std::fs::read(file.path()).expect("read"), written)
}

#[test]
fn holes_do_not_change_what_is_read_back() {
    let mut data = vec![0_u8; 3 * BUFFER_BYTES + 777];
    data[HOLE_BYTES * 5 + 3] = 7;
    data[BUFFER_BYTES + 1] = 8;
    for sparse in [false, true] {
        for writes in WAYS {
            let options = SinkOptions {
                sparse,
                writes,
                ..SinkOptions::default()
            };
            let (back, written) = write(options, &[&data, b"tail", &[0; 9]]);
            assert_eq!(back.len(), data.len() + 13);
            assert_eq!(back[..data.len()], data);
            assert_eq!(back[data.len()..], *b"tail\0\0\0\0\0\0\0\0\0");
            assert_eq!(written.bytes, back.len() as u64);
        }
    }
}

#[test]
fn what_others_placed_is_passed_over() {
    for writes in WAYS {
        let options = SinkOptions {
            writes,
            ..SinkOptions::default()
        };
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b".....placed.....placed").expect("written");
        file.rewind().expect("rewound");
        let handle = Output::new(file.as_file().try_clone().expect("a handle"));
        let mut sink = Sink::start(Some(handle), options, None).expect("started");
        for bytes in [6, 6] {
            let mut buffer = sink.take().expect("a buffer");
            buffer.room()[..5].copy_from_slice(b"order");
            buffer.advance(5);
            sink.put(buffer).expect("put");
            sink.placed(bytes).expect("passed over");
        }
        assert_eq!(sink.finish().expect("finished").0.bytes, 22);
        let written = std::fs::read(file.path()).expect("read");
        assert_eq!(written, b"orderplacedorderplaced");
    }
}

#[test]
fn a_failing_file_is_reported_by_both_ways_of_writing() {
    for writes in WAYS {
        let options = SinkOptions {
            writes,
            ..SinkOptions::default()
        };
        // A handle that is open for reading only refuses every write.
        let file = tempfile::NamedTempFile::new().expect("a file");
        let handle = Output::new(std::fs::File::open(file.path()).expect("opened"));
        let mut sink = Sink::start(Some(handle), options, None).expect("started");
        let outcome = (0..10).try_for_each(|_| {
            let mut buffer = sink.take()?;
            buffer.advance(100);
            sink.put(buffer)
        });
        assert!(outcome.is_err());
    }
}

/// Keeps what it is fed.
#[derive(Debug, Default)]
struct Kept(Vec<u8>);

impl Check for Kept {
    fn feed(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(self: Box<Self>) -> Result<(u64, u64), String> {
        let sum = self.0.iter().map(|byte| u64::from(*byte)).sum();
        Ok((sum, self.0.len() as u64))
    }
}

#[test]
fn a_check_sees_all_that_is_written_holes_included() {
    for writes in WAYS {
        let options = SinkOptions {
            writes,
            sparse: true,
            check: Some(Box::new(Kept::default())),
            ..SinkOptions::default()
        };
        let (_, written) = write(options, &[&[0; 2 * HOLE_BYTES], b"abc"]);
        let sum = b"abc".iter().map(|byte| u64::from(*byte)).sum();
        assert_eq!(written.verified, Some(Ok((sum, 2 * HOLE_BYTES as u64 + 3))));
    }
}
