//! What is found does not depend on the pieces in which a log is read.

use std::io::{self, Read};

use super::{BLOCK_BYTES, LINE_BYTES_MAX, SEARCHED_BYTES};
use crate::{Found, Separator, split};

/// Reads this many bytes at a time.
struct Pieces<'d>(&'d [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let count = room.len().min(self.1);
        self.0.read(&mut room[..count])
    }
}

/// What a log has, with the places.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    messages: Vec<(u64, Vec<u8>)>,
    bad: Vec<u64>,
    between_bytes: u64,
}

fn found(log: &[u8], bytes: usize) -> Seen {
    let mut found = Seen::default();
    split(Pieces(log, bytes), Separator::Auto, |at, what| match what {
        Found::Message(bytes, _) => found.messages.push((at, bytes.to_vec())),
        Found::Bad(_) => found.bad.push(at),
        Found::Between(bytes) => found.between_bytes += bytes,
        _ => {}
    })
    .expect("a slice is read");
    found
}

#[test]
fn the_first_message_is_found_behind_any_text() {
    let soh = &b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01"[..];
    let bare = &b"8=FIX.4.4\x019=5\x0135=0\x0110=163"[..];
    let caret = &b"8=FIX.4.4^A9=5^A35=0^A10=163^A"[..];
    let edges = [
        (0, 0),
        (SEARCHED_BYTES, 70),
        (2 * SEARCHED_BYTES, 9),
        (BLOCK_BYTES, 3),
    ];
    for (message, end) in [
        (soh, "\n"),
        (soh, ""),
        (bare, "\n"),
        (bare, "\r\n"),
        (caret, "\n"),
    ] {
        for before in edges.iter().flat_map(|(edge, near)| edge - near..*edge + 2) {
            let mut log = b"start of the day\n".repeat(before / 17 + 1);
            log.truncate(before);
            for _ in 0..2 {
                log.extend_from_slice(message);
                log.extend_from_slice(end.as_bytes());
            }
            let whole = found(&log, usize::MAX);
            assert_eq!(
                whole.messages.len(),
                2,
                "{before}: {}",
                message.escape_ascii()
            );
            assert_eq!(whole.messages[0].0, before as u64);
            let few = if before < 80 { 1 } else { 9_973 };
            for bytes in [SEARCHED_BYTES, SEARCHED_BYTES + 35, few] {
                assert_eq!(found(&log, bytes), whole, "{before} by {bytes}");
            }
        }
    }
}

/// All that is found, with its place, and the bytes in no message.
fn everything(log: &[u8], bytes: usize, separator: Separator) -> (Vec<(u64, String)>, u64) {
    let (mut found, mut between_bytes) = (Vec::new(), 0);
    split(Pieces(log, bytes), separator, |at, what| match what {
        Found::Message(bytes, name) => found.push((at, format!("{} {name:?}", bytes.len()))),
        Found::Between(bytes) => between_bytes += bytes,
        other => found.push((at, format!("{other:?}"))),
    })
    .expect("a slice is read");
    (found, between_bytes)
}

#[test]
fn a_line_is_too_long_by_its_length_alone() {
    let message = b"8=FIX.4.4|9=5|35=0|10=163|\n";
    for (length, is_long) in [
        (LINE_BYTES_MAX - 1, false),
        (LINE_BYTES_MAX, false),
        (LINE_BYTES_MAX + 1, true),
        (LINE_BYTES_MAX + BLOCK_BYTES - 1, true),
        (LINE_BYTES_MAX + BLOCK_BYTES, true),
        (2 * LINE_BYTES_MAX, true),
    ] {
        for end in [&b"\n8=FIX.4.4|9=5|35=0|10=163|\n"[..], b"\n", b""] {
            let mut log = message.repeat(2);
            let at = log.len();
            log.resize(at + length, b'x');
            log.extend_from_slice(end);
            let whole = everything(&log, usize::MAX, Separator::Auto);
            let long = (
                at as u64,
                format!("{:?}", Found::Bad(fixcore::ErrorKind::TooLong)),
            );
            assert_eq!(whole.0.contains(&long), is_long, "{length}");
            let messages = if end.len() > 1 { 3 } else { 2 };
            assert_eq!(whole.0.len(), messages + usize::from(is_long), "{length}");
            for bytes in [BLOCK_BYTES - 1, 77_777, 4_099] {
                let pieces = everything(&log, bytes, Separator::Auto);
                assert_eq!(pieces, whole, "{length} by {bytes}");
            }
        }
    }
}

#[test]
fn noise_does_not_depend_on_the_pieces() {
    let message = b"8=FIX.4.4|9=5|35=0|10=163|";
    for before in [9, SEARCHED_BYTES - 30, SEARCHED_BYTES + 3, 2 * BLOCK_BYTES] {
        for noise in [&b"\0"[..], b"\x80", b"\xc3", b"\xe2\x82\xac", b"\xc3A"] {
            let mut log = Vec::new();
            while log.len() < before {
                log.extend_from_slice(b"start of the day ");
                log.extend_from_slice(noise);
                log.push(b'\n');
            }
            log.extend_from_slice(message);
            log.extend_from_slice(noise);
            log.extend_from_slice(b" after\n");
            log.extend_from_slice(message);
            for text in [
                log.clone(),
                log.iter()
                    .map(|byte| if *byte == b'|' { 1 } else { *byte })
                    .collect(),
            ] {
                for separator in [Separator::Auto, Separator::Soh, Separator::Pipe] {
                    let whole = everything(&text, usize::MAX, separator);
                    let few = if before < 80 { 1 } else { 4_099 };
                    for bytes in [SEARCHED_BYTES, SEARCHED_BYTES + 35, few] {
                        let pieces = everything(&text, bytes, separator);
                        assert_eq!(
                            pieces,
                            whole,
                            "{before} by {bytes}: {}",
                            noise.escape_ascii()
                        );
                    }
                }
            }
        }
    }
}
