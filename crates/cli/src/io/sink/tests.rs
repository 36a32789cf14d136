//! What sinks write: bytes, holes, checksums.

use twox_hash::XxHash64;

use super::*;
use crate::io::place::HOLE_BYTES;

fn write(options: &SinkOptions, pieces: &[&[u8]]) -> (Vec<u8>, Written) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let handle = output::Output::new(file.as_file().try_clone().expect("a handle"));
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
        for behind in [false, true] {
            let options = SinkOptions {
                sparse,
                behind,
                ..SinkOptions::default()
            };
            let (back, written) = write(&options, &[&data, b"tail", &[0; 9]]);
            assert_eq!(back.len(), data.len() + 13);
            assert_eq!(back[..data.len()], data);
            assert_eq!(back[data.len()..], *b"tail\0\0\0\0\0\0\0\0\0");
            assert_eq!(written.bytes, back.len() as u64);
        }
    }
}

#[test]
fn what_others_placed_is_passed_over() {
    for behind in [false, true] {
        let options = SinkOptions {
            behind,
            ..SinkOptions::default()
        };
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b".....placed.....placed").expect("written");
        file.rewind().expect("rewound");
        let handle = output::Output::new(file.as_file().try_clone().expect("a handle"));
        let mut sink = Sink::start(Some(handle), &options, None).expect("started");
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
    for behind in [false, true] {
        let options = SinkOptions {
            behind,
            ..SinkOptions::default()
        };
        // A handle that is open for reading only refuses every write.
        let file = tempfile::NamedTempFile::new().expect("a file");
        let handle = output::Output::new(std::fs::File::open(file.path()).expect("opened"));
        let mut sink = Sink::start(Some(handle), &options, None).expect("started");
        let outcome = (0..10).try_for_each(|_| {
            let mut buffer = sink.take()?;
            buffer.advance(100);
            sink.put(buffer)
        });
        assert!(outcome.is_err());
    }
}

#[test]
fn verification_tells_a_good_frame_from_a_bad_one() {
    let content = b"some content, some content, some content".repeat(1000);
    let frame = zstdkit::compress(&content, &zstdkit::EncoderOptions::default()).expect("ok");
    let options = SinkOptions {
        verify: Some(DecoderOptions::default()),
        ..SinkOptions::default()
    };
    let (_, written) = write(&options, &[&frame]);
    let hash = XxHash64::oneshot(0, &content);
    assert_eq!(written.verified, Some(Ok((hash, content.len() as u64))));
    let (_, written) = write(&options, &[&frame[..frame.len() - 2]]);
    assert!(matches!(written.verified, Some(Err(_))));
}
