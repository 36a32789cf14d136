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

/// Messages of one shape, with numbers: heartbeats whose separator is written in this way.
fn logged(separator: &str, end: &str, count: usize) -> Vec<u8> {
    let mut log = Vec::new();
    for number in 0..count {
        let body = format!("35=0\x0149=A\x0156=B\x0134={number}\x01");
        let mut message = Vec::new();
        fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut message);
        let text = String::from_utf8(message).expect("text");
        let text = text.replace('\x01', separator);
        log.extend_from_slice(text.as_bytes());
        log.extend_from_slice(end.as_bytes());
    }
    log
}

#[test]
fn text_that_begins_like_a_message_does_not_tell_the_shape() {
    let mentions = [
        "banner 8=FIX.4.4 up\n",
        "8=FIX\n",
        "8=FIX.4.4\n",
        "8=FIX.4.4|\n",
        "8=FIX.4.4|9\n",
        "8=FIX.4.4; up\n",
        "8=FIX.4.4\tup\n",
        "8=FIX.4.4\x01\n",
        "8=FIX.4.4\x019=5\x01\n",
        "8=FIX 8=FIX.4.4 8=FIX\n",
    ];
    for mention in mentions {
        for (separator, end) in [
            ("|", "\n"),
            ("^A", "\n"),
            ("\\u0001", "\r\n"),
            ("\x01", "\n"),
            ("\x01", ""),
        ] {
            for repeat in [1, 3, 40_000 / mention.len()] {
                let mut log = mention.repeat(repeat).into_bytes();
                log.extend_from_slice(&logged(separator, end, 5));
                let whole = everything(&log, usize::MAX, Separator::Auto);
                let is_message = |found: &&(u64, String)| found.1.contains(" [");
                let messages = whole.0.iter().filter(is_message).count();
                assert_eq!(messages, 5, "{repeat} {mention:?} {separator:?} {end:?}");
                let few = if repeat < 4 { 1 } else { 4_099 };
                for bytes in [7, few] {
                    if repeat < 4 || bytes > 7 {
                        assert_eq!(
                            everything(&log, bytes, Separator::Auto),
                            whole,
                            "{mention:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_log_may_go_on_with_messages_of_another_shape() {
    let parts = [
        ("\x01", "\n"),
        ("\x01", ""),
        ("|", "\n"),
        ("^A", "\r\n"),
        (";", "\nline 8=FIX\n"),
    ];
    for first in parts {
        for second in parts {
            // The last of a stream has no end that a line has.
            let end = if first.1.is_empty() { "" } else { "\n" };
            let mut log = logged(first.0, first.1, 7);
            log.extend_from_slice(end.as_bytes());
            log.extend_from_slice(&logged(second.0, second.1, 3_000));
            log.extend_from_slice(&logged(first.0, first.1, 7));
            let whole = everything(&log, usize::MAX, Separator::Auto);
            let messages = whole
                .0
                .iter()
                .filter(|found| found.1.contains(" ["))
                .count();
            assert_eq!(messages, 3_014, "{first:?} {second:?}");
            for bytes in [977, 60_000] {
                assert_eq!(
                    everything(&log, bytes, Separator::Auto),
                    whole,
                    "{first:?} {second:?}"
                );
            }
        }
        // Who states the separator is believed.
        let log = [logged("\x01", "\n", 3), logged("|", "\n", 3)].concat();
        let stated = everything(&log, usize::MAX, Separator::Soh);
        let messages = stated
            .0
            .iter()
            .filter(|found| found.1.contains(" ["))
            .count();
        assert_eq!(messages, 3);
    }
    // Without the last separator: the message that says so first is lost.
    let bare = String::from_utf8(logged("\x01", "\n", 30)).expect("text");
    let bare = bare.replace("\x01\n", "\n");
    let log = [logged("\x01", "\n", 30), bare.into_bytes()].concat();
    let whole = everything(&log, usize::MAX, Separator::Auto);
    let messages = whole
        .0
        .iter()
        .filter(|found| found.1.contains(" ["))
        .count();
    assert_eq!(messages, 59);
    for bytes in [1, 99, 1_000] {
        assert_eq!(everything(&log, bytes, Separator::Auto), whole);
    }
}

#[test]
fn a_message_without_its_last_separator_ends_before_what_follows_it() {
    for separator in ["\x01", "|", "^A", ";", "\\u0001"] {
        for (before, after) in [
            ("\"", "\""),
            ("in (", ")"),
            ("[", "]"),
            ("", ", latency=3"),
            ("'", "',"),
            ("<", "> ok"),
        ] {
            let log = String::from_utf8(logged(separator, "\n", 20)).expect("text");
            let lines = log.lines().map(|line| {
                let bare = line.strip_suffix(separator).expect("the last separator");
                format!("{before}{bare}{after}\n")
            });
            let log: String = lines.collect();
            let mut decoder = fixcore::Decoder::new();
            let mut good = 0;
            split(log.as_bytes(), Separator::Auto, |_, what| {
                if let Found::Message(bytes, _) = what {
                    good += usize::from(decoder.parse(bytes).is_ok());
                }
            })
            .expect("a slice is read");
            assert_eq!(good, 20, "{separator:?} {after:?}");
        }
    }
}

#[test]
fn nothing_is_lost_at_the_end_of_lines_behind_other_messages() {
    let soh = logged("\x01", "", 2);
    for (separator, end) in [("|", "\n"), ("|", ""), ("^A", "\r\n")] {
        for rest in [
            "",
            "one",
            "one\n",
            "one\ntwo",
            "one\ntwo\0",
            "one\n8=FIX.4.4|9=5|35=0|10=163|",
        ] {
            let mut log = soh.clone();
            log.extend_from_slice(&logged(separator, end, 2));
            log.extend_from_slice(rest.as_bytes());
            let whole = found(&log, usize::MAX);
            assert_eq!(whole.messages.len(), 4 + usize::from(rest.len() > 20));
            let messages: usize = whole.messages.iter().map(|(_, bytes)| bytes.len()).sum();
            // Each separator of two bytes is one in a message.
            if separator.len() == 1 && !rest.contains("163") {
                assert_eq!(
                    whole.between_bytes as usize,
                    log.len() - messages,
                    "{rest:?}"
                );
            }
            for bytes in [1, 7, 100] {
                assert_eq!(found(&log, bytes), whole, "{rest:?} by {bytes}");
                let pieces = everything(&log, bytes, Separator::Auto);
                assert_eq!(pieces, everything(&log, usize::MAX, Separator::Auto));
            }
        }
    }
}
