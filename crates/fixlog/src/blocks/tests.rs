//! What is found does not depend on the pieces in which a log is read.

use std::io::{self, Read};

use super::{BLOCK_BYTES, SEARCHED_BYTES};
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
